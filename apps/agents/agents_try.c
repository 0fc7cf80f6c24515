/* svmp agents try: all agents on this machine, through a bad network, compared with one process. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agents_actions.h"
#include "base/comment_lines.h"
#include "command_table.h"
#include "lockstep_inside.h"
#include "relay.h"

typedef struct trial {
    const option_set *set;
    const char *folder;
    char *scratch; /* folder/try */
    plan_record plan;
    size_t count, kills, losses, killed, rounds; /* kills: losses included */
    pid_t *child;                                /* 0: it has ended */
    int *port, relay_port;
    relay *network;
    relay_options bad;
    double seconds, drawn;
    uint64_t random;
} trial;

static uint64_t draw(trial *t, uint64_t below) {
    t->random = t->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (t->random >> 33) % below;
}

/* ---- the agents -------------------------------------------------------------------------------------------------- */

static int read_network(trial *t) {
    relay_options *b = &t->bad;
    struct {
        const char *name;
        double *to, most;
    } all[] = {{"loss", &b->loss, 99},    {"twice", &b->twice, 100},   {"damage", &b->damage, 99},
               {"delay", &b->delay, 1e5}, {"jitter", &b->jitter, 1e5}, {"burst", &b->burst, 1e5}};
    int status = read_count("kill", options_value(t->set, "kill"), 0, 100000, &t->kills);
    if (status == 0) status = read_count("lose", options_value(t->set, "lose"), 0, 100000, &t->losses);
    t->kills += t->losses;
    for (size_t k = 0; k < sizeof all / sizeof *all && status == 0; k++) {
        status = read_real(all[k].name, options_value(t->set, all[k].name), 0, all[k].most, all[k].to);
        if (k < 3) *all[k].to /= 100;
    }
    b->seed = t->random = 20260000u + t->kills;
    return status;
}

/* Removes a folder in which there are files and folders of files: that of an earlier trial. */
static void remove_folder(const char *path, int depth) {
    DIR *folder = depth > 2 ? NULL : opendir(path);
    for (struct dirent *e; folder && (e = readdir(folder)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        char *inside = swarm_path(path, e->d_name, "");
        if (inside && unlink(inside) != 0) remove_folder(inside, depth + 1);
        free(inside);
    }
    if (folder) closedir(folder);
    rmdir(path);
}

/* Ports that are free now: those that the system gives to sockets that are open at the same time. */
static int find_ports(trial *t) {
    int *descriptor = calloc(t->count, sizeof *descriptor), family, status = 0;
    char error[300];
    if (descriptor == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    size_t k = 0;
    for (; k < t->count && status == 0; k++) {
        descriptor[k] = socket_open("0", &family, error, sizeof error);
        if (descriptor[k] < 0)
            status = report_error(EXIT_FAILED, "No port for an agent: %s.", error);
        else
            t->port[k] = socket_port(descriptor[k]);
    }
    while (k-- > 0)
        if (descriptor[k] >= 0) close(descriptor[k]);
    free(descriptor);
    return status;
}

static int write_hosts(const trial *t) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/hosts.csv", t->scratch);
    FILE *file = fopen(path, "w");
    if (file == NULL) return report_error(EXIT_FAILED, "Cannot write '%s': %s.", path, strerror(errno));
    fprintf(file, "agent,host,port\n");
    for (size_t k = 0; k < t->count; k++) fprintf(file, "%s,127.0.0.1,%d\n", t->plan.agents[k], t->port[k]);
    return fclose(file) == 0 ? 0 : report_error(EXIT_FAILED, "Cannot write '%s': %s.", path, strerror(errno));
}

/* Becomes the agent. */
static void become(const trial *t, size_t k) {
    char part[PATH_MAX], key[PATH_MAX], hosts[PATH_MAX], state[PATH_MAX], out[PATH_MAX], log[PATH_MAX], relay_at[32];
    const char *name = t->plan.agents[k];
    snprintf(part, sizeof part, "%s/%s.part", t->folder, name);
    snprintf(key, sizeof key, "%s/%s.key", t->folder, name);
    snprintf(hosts, sizeof hosts, "%s/hosts.csv", t->scratch);
    snprintf(state, sizeof state, "%s/%s.state", t->scratch, name);
    snprintf(out, sizeof out, "%s/%s.out", t->scratch, name);
    snprintf(log, sizeof log, "%s/%s.json", t->scratch, name);
    snprintf(relay_at, sizeof relay_at, "127.0.0.1:%d", t->relay_port);
    const int descriptor = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (descriptor >= 0) dup2(descriptor, STDOUT_FILENO);
    execl("/proc/self/exe", "svmp", "agent", part, "--key", key, "--peers", hosts, "--state", state, "--output", out,
          "--relay", relay_at, "--linger", "2", "--report", "3600", "--stay", "30", "--keepers",
          options_value(t->set, "keepers"), "--every", options_value(t->set, "every"), "--time",
          k == 0 ? options_value(t->set, "time") : "0", (char *)NULL);
    _exit(127);
}

static int start(trial *t, size_t k) {
    fflush(NULL);
    t->child[k] = fork();
    if (t->child[k] == 0) become(t, k);
    if (t->child[k] > 0) return 0;
    t->child[k] = 0;
    return report_error(EXIT_FAILED, "Cannot start agent '%s': %s.", t->plan.agents[k], strerror(errno));
}

static void kill_all(const trial *t) {
    for (size_t k = 0; k < t->count; k++)
        if (t->child[k] > 0) kill(t->child[k], SIGKILL), waitpid(t->child[k], NULL, 0);
}

/* Where each agent is: a cell of a table that is drawn again and again; `dead` has just been killed. */
static void watch(trial *t, size_t dead) {
    enum { COLUMNS = 5, CELL = 14, BAR = 6 };
    if (!options_given(t->set, "watch") || (dead == SIZE_MAX && now() < t->drawn + 0.2)) return;
    if (t->drawn > 0) printf("\033[%zuA", (t->count + COLUMNS - 1) / COLUMNS + 1);
    t->drawn = now();
    printf("\033[Kround %u of about %zu; killed %zu of %zu times\n", relay_round(t->network), t->rounds, t->killed,
           t->kills);
    for (size_t k = 0; k < t->count; k++) {
        char bar[BAR + 1];
        const double share = t->rounds ? (double)relay_round_of(t->network, k) / (double)t->rounds : 1;
        for (size_t c = 0; c < BAR; c++) bar[c] = (double)c + 0.5 < share * BAR ? '#' : '.';
        bar[BAR] = '\0';
        printf("\033[%sm%-*.*s%s\033[0m%s",
               k == dead     ? "7"
               : t->child[k] ? "0"
                             : "1",
               CELL - BAR - 1, CELL - BAR - 2, t->plan.agents[k], k == dead ? "KILLED" : bar,
               k % COLUMNS + 1 < COLUMNS && k + 1 < t->count ? "  " : "\033[K\n");
    }
    fflush(stdout);
}

static void lose_state(const trial *t, size_t k) {
    char *path = swarm_path(t->scratch, t->plan.agents[k], ".state");
    if (path) remove_folder(path, 1);
    free(path);
}

/* One that still works, killed and started again a moment later. */
static int kill_one(trial *t) {
    size_t k = draw(t, t->count);
    for (size_t tries = 0; t->child[k] == 0 && tries < t->count; tries++) k = (k + 1) % t->count;
    if (t->child[k] == 0) return 0;
    kill(t->child[k], SIGKILL);
    waitpid(t->child[k], NULL, 0);
    if (t->killed % t->kills < t->losses) lose_state(t, k);
    t->killed++;
    watch(t, k);
    relay_work(t->network, 0.1 + 1e-3 * (double)draw(t, 400));
    return start(t, k);
}

/* Takes the children that have ended; returns how many have not. */
static size_t count_running(trial *t, int *failed_status) {
    size_t running = 0;
    for (size_t k = 0; k < t->count; k++) {
        int how = 0;
        if (t->child[k] > 0 && waitpid(t->child[k], &how, WNOHANG) == t->child[k]) {
            t->child[k] = 0;
            if (!WIFEXITED(how) || WEXITSTATUS(how) != 0)
                *failed_status = report_error(EXIT_FAILED, "Agent '%s' failed.", t->plan.agents[k]);
        }
        running += t->child[k] > 0;
    }
    return running;
}

static int run_agents(trial *t) {
    int status = 0;
    const double began = now();
    for (size_t k = 0; k < t->count && status == 0; k++) status = start(t, k);
    while (status == 0 && count_running(t, &status) > 0) {
        relay_work(t->network, 0.02);
        watch(t, SIZE_MAX);
        const double due = (double)t->rounds * ((double)t->killed + 1) / ((double)t->kills + 1);
        if (t->killed < t->kills && relay_round(t->network) >= due) status = kill_one(t);
    }
    t->seconds = now() - began - 2; /* as long as they linger */
    if (status) kill_all(t);
    return status;
}

/* ---- compared with one process ----------------------------------------------------------------------------------- */

/* The iteration after which the agents have stopped. */
static int stops(const svmp_progress *progress, void *user_data) {
    return progress->iteration >= *(const size_t *)user_data;
}

static int run_alone(const trial *t, svmp_context *context, size_t iterations, svmp_particles **particles) {
    svmp_options *options = NULL;
    svmp_model *model = NULL;
    svmp_run *alone = NULL;
    svmp_outcome outcome;
    svmp_reading how = {0};
    svmp_status status = svmp_options_create(context, &options);
    for (size_t k = 0; k < t->plan.option_count && status == SVMP_OK; k++) {
        const char *name = t->plan.names[k], *value = t->plan.values[k];
        if (strcmp(name, "coordinates") == 0)
            how.coordinates = value;
        else
            status = svmp_options_set(options, name, value);
    }
    if (status == SVMP_OK) status = svmp_options_set(options, "backend", "cpu");
    if (status == SVMP_OK)
        status = svmp_model_read(context, t->plan.operand_count, (const char *const *)t->plan.operands, &how, &model);
    if (status == SVMP_OK) status = svmp_run_create(model, options, &alone);
    if (status == SVMP_OK) status = svmp_run_set_monitor(alone, stops, &iterations);
    if (status == SVMP_OK) status = svmp_run_go(alone, &outcome);
    if (status == SVMP_OK) status = svmp_run_particles(alone, particles);
    svmp_run_free(alone);
    svmp_model_free(model);
    svmp_options_free(options);
    return status == SVMP_OK ? 0 : failed(context, status);
}

static int join(const trial *t, svmp_context *context, svmp_particles **particles, size_t *iterations) {
    const size_t size = strlen(t->scratch) + 80; /* names are short */
    char **paths = calloc(t->count, sizeof *paths), *text = malloc(t->count * size), *comments = NULL, done[32];
    int status = EXIT_FAILED;
    if (paths && text) {
        for (size_t k = 0; k < t->count; k++) {
            paths[k] = text + k * size;
            snprintf(paths[k], size, "%s/%s.out", t->scratch, t->plan.agents[k]);
        }
        const svmp_status joined =
            svmp_outputs_join(context, t->count, (const char *const *)paths, particles, &comments);
        status = joined == SVMP_OK ? 0 : failed(context, joined);
        if (status == 0 && svmp_comment_find(comments, "iterations done", done, sizeof done))
            *iterations = strtoull(done, NULL, 10);
    } else {
        report_error(EXIT_FAILED, "Out of memory.");
    }
    free(paths);
    free(text);
    svmp_outputs_free_comments(context, comments);
    return status;
}

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* How many numbers of `a` differ from those of the same names in `b`, lp__ included. */
static size_t count_differences(svmp_particles *a, svmp_particles *b, size_t *numbers) {
    const size_t n = svmp_particles_count(a);
    size_t different = 0;
    *numbers = 0;
    if (n != svmp_particles_count(b)) return n;
    for (size_t i = 0, j = 0; i < svmp_particles_variables(a); i++) {
        const char *name = svmp_particles_name(a, i);
        size_t tries = 0;
        for (; tries < svmp_particles_variables(b) && strcmp(name, svmp_particles_name(b, j)) != 0; tries++)
            j = (j + 1) % svmp_particles_variables(b);
        const double *x = svmp_particles_values(a) + i * n, *y = svmp_particles_values(b) + j * n;
        for (size_t l = 0; l < n; l++)
            different += tries == svmp_particles_variables(b) || bits_of(x[l]) != bits_of(y[l]);
        *numbers += n;
    }
    const double *x = svmp_particles_statistic(a, "lp__"), *y = svmp_particles_statistic(b, "lp__");
    for (size_t l = 0; x && y && l < n; l++) different += bits_of(x[l]) != bits_of(y[l]);
    *numbers += x && y ? n : 0;
    return different;
}

static int compare(const trial *t) {
    svmp_context *context = NULL;
    svmp_particles *joined = NULL, *alone = NULL;
    size_t numbers = 0, different = 0, iterations = SIZE_MAX;
    int status = open_context(t->set, &context);
    if (status == 0) status = join(t, context, &joined, &iterations);
    if (status == 0) status = run_alone(t, context, iterations, &alone);
    if (status == 0) different = count_differences(joined, alone, &numbers);
    if (status == 0 && different == 0)
        printf("The %zu numbers of all agents are those of one process, bit for bit.\n", numbers);
    else if (status == 0)
        status =
            report_error(EXIT_FAILED, "%zu of the %zu numbers differ from those of one process.", different, numbers);
    svmp_particles_free(joined);
    svmp_particles_free(alone);
    svmp_context_free(context);
    return status;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* A number of the last line of JSON that an agent has written. */
static double reported(const trial *t, size_t k, const char *name) {
    char path[PATH_MAX], line[8192], last[8192] = "";
    snprintf(path, sizeof path, "%s/%s.json", t->scratch, t->plan.agents[k]);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) memcpy(last, line, sizeof last);
    if (file) fclose(file);
    const char *at = strstr(last, name);
    return at ? strtod(at + strlen(name), NULL) : NAN;
}

static void print_traffic(const trial *t) {
    double rounds = 0, bytes = 0;
    for (size_t k = 0; k < t->count; k++) {
        rounds = fmax(rounds, reported(t, k, "\"round\": "));
        bytes += reported(t, k, "\"bytes_sent\": ");
    }
    printf("%zu agents: %.0f rounds in %.1f s, %.0f a second; %.0f bytes sent by an agent in a round", t->count, rounds,
           t->seconds, rounds / t->seconds, bytes / (double)t->count / rounds);
    if (t->killed) printf("; killed and started again %zu time%s", t->killed, plural(t->killed));
    printf(".\n");
    if (t->killed) printf("(Bytes and rounds before a kill are not counted.)\n");
}

/* The rounds of a run, as the first part tells. */
static int read_rounds(trial *t) {
    svmp_context *context = NULL;
    svmp_part *part = NULL;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s.part", t->folder, t->plan.agents[0]);
    int status = open_context(t->set, &context);
    if (status == 0) {
        const svmp_status read = svmp_part_read(context, path, &part);
        status = read == SVMP_OK ? 0 : failed(context, read);
    }
    if (status == 0) t->rounds = svmp_part_describe(part).rounds;
    svmp_part_free(part);
    svmp_context_free(context);
    return status;
}

static int prepare(trial *t) {
    int status = plan_read(t->folder, &t->plan);
    if (status == 0) status = read_network(t);
    if (status) return status;
    t->count = t->plan.agent_count;
    t->child = calloc(t->count, sizeof *t->child);
    t->port = calloc(t->count, sizeof *t->port);
    t->scratch = malloc(strlen(t->folder) + 8);
    if (t->child == NULL || t->port == NULL || t->scratch == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    sprintf(t->scratch, "%s/try", t->folder);
    remove_folder(t->scratch, 0);
    if (mkdir(t->scratch, 0777) != 0)
        return report_error(EXIT_FAILED, "Cannot make the folder '%s': %s.", t->scratch, strerror(errno));
    status = read_rounds(t);
    if (status == 0) status = find_ports(t);
    if (status == 0) status = write_hosts(t);
    if (status) return status;
    t->network = relay_open(&t->bad, t->count, t->port);
    if (t->network == NULL) return EXIT_FAILED;
    t->relay_port = relay_port(t->network);
    return 0;
}

int agents_try(const option_set *set) {
    trial t = {.set = set};
    if (set->operand_count != 1)
        return report_error(EXIT_WRONG, "The folder of a plan is needed: svmp agents try swarm/.");
    if (!seal_available()) return EXIT_WRONG;
    t.folder = set->operands[0];
    int status = prepare(&t);
    if (status == 0) status = run_agents(&t);
    if (status == 0) print_traffic(&t);
    if (status == 0) status = compare(&t);
    relay_close(t.network);
    plan_free(&t.plan);
    free(t.scratch);
    free(t.child);
    free(t.port);
    return status;
}
