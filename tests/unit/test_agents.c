/* Parts of a model in files, run by agents that exchange rows with their neighbours and share nothing else: joined,
 * their outputs have the bits of one process. Here each agent is a thread, and a line is memory; the same over UDP is
 * in cli/agents.sh. */
#include <pthread.h>
#include <string.h>

#include "method/method.h"
#include "sample/particles.h"
#include "svmp_agents.h"
#include "unit/files.h"
#include "unit/listed.h"

enum { AGENTS = 4, NEIGHBOURS = 8 };

/* ---- lines in memory --------------------------------------------------------------------------------------------- */

/* Rows of round t from one agent to another, in place t % 2: a sender is at most one round ahead. */
typedef struct mailbox {
    uint64_t round;
    double *rows[2];
} mailbox;

typedef struct network {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    mailbox box[AGENTS][AGENTS]; /* from, to */
    int broken;                  /* an agent has failed: the others must not wait for it */
} network;

struct svmp_peer_line {
    network *all;
    size_t me, neighbours, length, rank[NEIGHBOURS], out[NEIGHBOURS], in[NEIGHBOURS];
    uint64_t round, before; /* before: of an earlier start */
    double *arriving;
};

static int plan_line(const svmp_peers *peers, const svmp_peer_routes *routes, svmp_peer_line **made) {
    svmp_peer_line *line = peers->own;
    line->neighbours = routes->neighbours;
    line->length = routes->length;
    for (size_t k = 0; k < routes->neighbours; k++) {
        mailbox *box = &line->all->box[line->me][routes->rank[k]];
        line->rank[k] = routes->rank[k];
        line->out[k] = routes->out[k];
        line->in[k] = routes->in[k];
        for (int s = 0; s < 2; s++)
            if (box->rows[s] == NULL) box->rows[s] = calloc(routes->out[k] * routes->length, sizeof(double));
    }
    *made = line;
    return SVMP_OK;
}

static void nothing(svmp_peer_line *line) { (void)line; }

static void send_rows(svmp_peer_line *line, uint64_t round, const double *leaving, double *arriving) {
    line->round = line->before + round;
    line->arriving = arriving;
    pthread_mutex_lock(&line->all->lock);
    for (size_t k = 0; k < line->neighbours; k++) {
        mailbox *box = &line->all->box[line->me][line->rank[k]];
        const size_t numbers = line->out[k] * line->length;
        memcpy(box->rows[line->round % 2], leaving, numbers * sizeof *leaving);
        box->round = line->round;
        leaving += numbers;
    }
    pthread_cond_broadcast(&line->all->changed);
    pthread_mutex_unlock(&line->all->lock);
}

static void receive_rows(svmp_peer_line *line, uint64_t *round, int wait) {
    double *to = line->arriving;
    pthread_mutex_lock(&line->all->lock);
    for (size_t k = 0; k < line->neighbours; k++) {
        const mailbox *box = &line->all->box[line->rank[k]][line->me];
        const size_t numbers = line->in[k] * line->length;
        while (wait && box->round < line->round && !line->all->broken)
            pthread_cond_wait(&line->all->changed, &line->all->lock);
        if (box->round >= line->round) memcpy(to, box->rows[line->round % 2], numbers * sizeof *to);
        if (box->round >= line->round || line->all->broken) round[k] = line->round - line->before;
        to += numbers;
    }
    pthread_mutex_unlock(&line->all->lock);
}

/* ---- agents ------------------------------------------------------------------------------------------------------ */

typedef struct thread_agent {
    network *all;
    size_t me;
    size_t stop; /* the iteration after which it stops, and goes on as another process; 0: none */
    char error[300];
} thread_agent;

static int stops(size_t iteration, void *user_data) { return ((const thread_agent *)user_data)->stop == iteration; }

static svmp_status start_part(svmp_context *context, thread_agent *a, svmp_peer_line *line, svmp_part **part) {
    char path[40];
    const svmp_peers peers = {.own = line,
                              .plan = plan_line,
                              .connect = nothing,
                              .close = nothing,
                              .send = send_rows,
                              .receive = receive_rows};
    snprintf(path, sizeof path, "%zu.part", a->me);
    SVMP_TRY(svmp_part_read(context, path, part));
    return svmp_part_start(*part, &peers);
}

static svmp_status run_part(svmp_context *context, thread_agent *a) {
    svmp_part *part = NULL, *again = NULL;
    svmp_peer_line line = {.all = a->all, .me = a->me};
    svmp_outcome outcome;
    const void *bytes;
    size_t size;
    char path[40];
    svmp_status status;
    SVMP_CHECK(start_part(context, a, &line, &part));
    SVMP_CHECK(svmp_part_go(part, stops, a, &outcome));
    if (outcome == SVMP_STOPPED) {
        SVMP_CHECK(svmp_part_save(part, &bytes, &size));
        line.before = line.round;
        SVMP_CHECK(start_part(context, a, &line, &again));
        SVMP_CHECK(svmp_part_load(again, bytes, size));
        svmp_part_free(part);
        part = again;
        again = NULL;
        SVMP_CHECK(svmp_part_go(part, NULL, NULL, &outcome));
    }
    snprintf(path, sizeof path, "%zu.out", a->me);
    SVMP_CHECK(svmp_part_write_output(part, path));
done:
    svmp_part_free(part);
    svmp_part_free(again);
    return status;
}

static void *run_thread(void *argument) {
    thread_agent *a = argument;
    svmp_context *context = test_context(1);
    if (run_part(context, a) != SVMP_OK) {
        snprintf(a->error, sizeof a->error, "%s", svmp_context_error(context));
        pthread_mutex_lock(&a->all->lock);
        a->all->broken = 1;
        pthread_cond_broadcast(&a->all->changed);
        pthread_mutex_unlock(&a->all->lock);
    }
    svmp_context_free(context);
    return NULL;
}

static void run_agents(size_t stop) {
    network all = {.broken = 0};
    pthread_t thread[AGENTS];
    thread_agent agent[AGENTS];
    pthread_mutex_init(&all.lock, NULL);
    pthread_cond_init(&all.changed, NULL);
    for (size_t k = 0; k < AGENTS; k++) {
        agent[k] = (thread_agent){.all = &all, .me = k, .stop = stop ? stop + 3 * k : 0};
        assert_int_equal(pthread_create(&thread[k], NULL, run_thread, &agent[k]), 0);
    }
    for (size_t k = 0; k < AGENTS; k++) pthread_join(thread[k], NULL);
    for (size_t k = 0; k < AGENTS; k++)
        if (*agent[k].error) fail_msg("agent %zu: %s", k, agent[k].error);
    for (size_t a = 0; a < AGENTS; a++)
        for (size_t b = 0; b < AGENTS; b++) free(all.box[a][b].rows[0]), free(all.box[a][b].rows[1]);
    pthread_cond_destroy(&all.changed);
    pthread_mutex_destroy(&all.lock);
}

/* ---- compared ---------------------------------------------------------------------------------------------------- */

static svmp_status write_parts(svmp_run *run) {
    static const char *const names[AGENTS] = {"north", "east", "south", "west"};
    char path[40];
    uint32_t *owner = NULL;
    const size_t nodes = run->model->graph->nodes;
    svmp_status status = SVMP_NEW(run->context, owner, nodes);
    for (size_t v = 0; v < nodes; v++) owner[v] = (uint32_t)(v * AGENTS / nodes);
    const svmp_agents agents = {AGENTS, names, owner, 4711, "model = m.bug\n", 0};
    for (size_t k = 0; k < AGENTS && status == SVMP_OK; k++) {
        snprintf(path, sizeof path, "%zu.part", k);
        status = svmp_part_write(run, &agents, k, path);
    }
    svmp_release(run->context, owner);
    return status;
}

static svmp_status join(svmp_context *context, svmp_particles **joined) {
    static const char *const paths[] = {"2.out", "0.out", "3.out", "1.out"};
    char *comments = NULL;
    const svmp_status status = svmp_outputs_join(context, AGENTS, paths, joined, &comments);
    if (status == SVMP_OK) assert_non_null(strstr(comments, "model = m.bug\nmethod = "));
    svmp_outputs_free_comments(context, comments);
    return status;
}

static void assert_same(svmp_particles *joined, svmp_particles *whole, const char *what) {
    static const char *const statistics[] = {"lp__", "accept_stat__", "n_sweeps__"};
    assert_int_equal(joined->count, whole->count);
    assert_int_equal(joined->chains, whole->chains);
    for (size_t i = 0, j = 0; i < joined->variables; i++, j++) {
        while (j < whole->variables && strcmp(svmp_particles_name(joined, i), svmp_particles_name(whole, j)) != 0) j++;
        if (j == whole->variables) fail_msg("%s: %s is not where it was", what, svmp_particles_name(joined, i));
        if (memcmp(joined->values + i * joined->count, whole->values + j * whole->count,
                   whole->count * sizeof(double)) != 0)
            fail_msg("%s: %s differs", what, svmp_particles_name(joined, i));
    }
    for (size_t k = 0; k < sizeof statistics / sizeof *statistics; k++) {
        const double *a = svmp_particles_statistic(joined, statistics[k]);
        const double *b = svmp_particles_statistic(whole, statistics[k]);
        assert_true((a == NULL) == (b == NULL));
        if (a && memcmp(a, b, whole->count * sizeof *a) != 0) fail_msg("%s: %s differs", what, statistics[k]);
    }
}

typedef struct setting {
    const char *method, *kernel;
    size_t particles, iterations;
} setting;

static const setting settings[] = {{"local", NULL, 7, 40},
                                   {"graphical", NULL, 9, 12},
                                   {"langevin", NULL, 3, 12},
                                   {"random", "rbf@random:2 + imq@self", 6, 9}};

/* What agents cannot carry yet, as their error says. */
static int is_refused(const char *error) {
    return strstr(error, "which a part file cannot hold yet") || strstr(error, "cannot be shared") ||
           strstr(error, "standard deviations") || strstr(error, "cannot start") || strstr(error, "no nodes");
}

static void check_model(const char *what, svmp_model *model, size_t *ran) {
    svmp_context *context = model->context;
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        run_options options = graphical_options();
        svmp_run *run = NULL;
        svmp_particles *joined = NULL, *whole = NULL;
        svmp_outcome outcome;
        options.method = settings[k].method;
        options.kernel = settings[k].kernel;
        options.particles = settings[k].particles;
        options.iterations = settings[k].iterations;
        options.backend = "cpu";
        options.init = "normal:0.1";
        if (strcmp(options.method, "graphical") != 0) options.step = NULL;
        if (strcmp(options.method, "langevin") == 0) options.step = "fixed:1e-4";
        svmp_status status = svmp_run_make(model, &options, &run);
        if (status == SVMP_OK) status = write_parts(run);
        if (status == SVMP_OK) status = svmp_run_go(run, &outcome);
        if (status == SVMP_NOT_FINITE || (status != SVMP_OK && is_refused(svmp_context_error(context)))) {
            svmp_run_free(run);
            continue;
        }
        if (status != SVMP_OK) fail_msg("%s, %s: %s", what, options.method, svmp_context_error(context));
        assert_ok(svmp_run_particles(run, &whole));
        for (size_t stop = 0; stop < 6; stop += 5) { /* at once, and stopped and gone on from bytes */
            run_agents(stop);
            if (join(context, &joined) != SVMP_OK) fail_msg("%s: %s", what, svmp_context_error(context));
            assert_same(joined, whole, what);
            svmp_particles_free(joined);
        }
        svmp_particles_free(whole);
        svmp_run_free(run);
        ++*ran;
    }
}

static void agents_have_the_bits_of_one_process(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    size_t ran = 0, models = 0;
    for (size_t k = 0; k < ALL_MODELS; k++) {
        if (!can_read_model(all_models[k])) continue;
        svmp_model *model = read_model(context, all_models[k]);
        const size_t before = ran;
        if (svmp_graph_nodes(svmp_model_graph(model)) >= AGENTS) check_model(all_models[k][0], model, &ran);
        models += ran > before;
        svmp_model_free(model);
    }
    print_message("%zu runs of %zu models\n", ran, models);
    assert_true(ran > 30);
    svmp_context_free(context);
}

/* ---- files that are damaged, or do not belong together ----------------------------------------------------------- */

static svmp_run *make_run(svmp_context *context, svmp_model **model, uint64_t stream) {
    run_options options = graphical_options();
    svmp_run *run = NULL;
    *model = test_grid(context, 4, stream);
    options.method = "local";
    options.step = NULL;
    options.particles = 5;
    options.iterations = 20;
    options.backend = "cpu";
    assert_ok(svmp_run_make(*model, &options, &run));
    return run;
}

static void damaged_parts_are_refused(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model;
    svmp_run *run = make_run(context, &model, 1);
    svmp_part *part = NULL;
    static char bytes[1 << 20];
    assert_ok(write_parts(run));
    FILE *file = fopen("1.part", "rb");
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t at = 0; at < size; at += 1 + size / 400) {
        write_bytes("damaged.part", bytes, at);
        assert_true(svmp_part_read(context, "damaged.part", &part) != SVMP_OK);
        bytes[at] ^= 64;
        write_bytes("damaged.part", bytes, size);
        bytes[at] ^= 64;
        assert_true(svmp_part_read(context, "damaged.part", &part) != SVMP_OK);
        assert_non_null(strstr(svmp_context_error(context), "damaged.part"));
    }
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void outputs_of_different_runs_are_refused(void **state) {
    (void)state;
    static const char *const twice[] = {"0.out", "1.out", "2.out", "1.out"};
    svmp_context *context = test_context(1);
    svmp_model *model;
    svmp_run *run = make_run(context, &model, 2);
    svmp_particles *joined = NULL;
    char *comments = NULL;
    assert_ok(write_parts(run));
    run_agents(0);
    assert_int_equal(svmp_outputs_join(context, AGENTS, twice, &joined, &comments), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "are both of agent 'east'"));
    assert_int_equal(svmp_outputs_join(context, 3, twice, &joined, &comments), SVMP_BAD_INPUT);
    assert_string_equal(svmp_context_error(context), "The run has 4 agents, but 3 outputs were given.");
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen("1.out", "rb");
    text = calloc(1, 1 << 20);
    size = fread(text, 1, 1 << 20, file);
    fclose(file);
    text[size / 2] ^= 1;
    write_bytes("1.out", text, size);
    assert_int_equal(join(context, &joined), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "'1.out' is damaged"));
    free(text);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Whatever allocation fails: an error, and no leak (which sanitizers see). */
static void a_lack_of_memory_is_an_error(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model;
    svmp_run *run = make_run(context, &model, 3);
    assert_ok(write_parts(run));
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
    for (long left = 0;; left++) {
        scarce_memory memory = {1000};
        svmp_part *part = NULL;
        context = scarce_context(&memory);
        memory.left = left;
        const svmp_status status = svmp_part_read(context, "2.part", &part);
        assert_true(status == SVMP_OK || status == SVMP_NO_MEMORY);
        svmp_part_free(part);
        svmp_context_free(context);
        if (status == SVMP_OK) break;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agents_have_the_bits_of_one_process),
        cmocka_unit_test(damaged_parts_are_refused),
        cmocka_unit_test(outputs_of_different_runs_are_refused),
        cmocka_unit_test(a_lack_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
