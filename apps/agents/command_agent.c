/* svmp agent: one of the agents of a plan, on its machine. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "agent_state.h"
#include "command_table.h"
#include "lockstep_inside.h"

static const option_row rows[] = {
    {"peers", 0, "FILE", "", "CSV file with columns agent, host and port; by default hosts.csv beside PART", "Agent"},
    {"key", 0, "FILE", "", "keys of the links to its neighbours; by default PART with the ending .key", "Agent"},
    {"state", 0, "DIR", "", "folder of the state from which it goes on; by default PART with the ending .state",
     "Agent"},
    {"output", 'o', "FILE", "", "its output at the end; by default PART with the ending .out", "Agent"},
    {"every", 0, "N", "64", "rounds between two states; the same for all agents", "Agent"},
    {"keepers", 0, "K", "0", "neighbours that keep its state, too, for the case that its folder is lost", "Agent"},
    {"time", 0, "S", "0", "seconds after which it asks all agents to stop together; 0: never", "Agent"},
    {"report", 0, "S", "0", "seconds between two lines of JSON on the standard output; 0: none", "Agent"},
    {"budget", 0, "B", "0", "bytes that it sends in a second, at most; 0: any number", "Network"},
    {"least", 0, "MS", "2", "milliseconds between two attempts to send the same, at least", "Network"},
    {"linger", 0, "S", "2", "seconds of quiet after which it leaves when all neighbours have finished", "Network"},
    {"stay", 0, "S", "60", "seconds that it waits for silent neighbours when it has finished", "Network"},
    {"relay", 0, "HOST:PORT", "", "send all datagrams there, to a gateway that knows the receivers", "Network"},
};

static void options(option_set *set) { options_add(set, sizeof rows / sizeof *rows, rows); }

typedef struct agent {
    const option_set *set;
    const char *path;
    svmp_context *context;
    svmp_part *part;
    svmp_part_about about;
    agent_state state;
    lockstep *line;
    svmp_peers peers;
    lockstep_options network;
    int has_complained;
    size_t kept;          /* states of the part when it was last asked whether it has settled */
    double time, started; /* --time */
} agent;

static void want_status(int number) {
    (void)number;
    status_wanted = 1;
}

/* The option's file, or PART with another ending, or a file beside it; free() it. */
static char *path_of(const agent *a, const char *option, const char *ending, const char *beside) {
    const char *given = options_given(a->set, option), *slash = strrchr(a->path, '/'), *dot = strrchr(a->path, '.');
    size_t stem = beside ? (slash ? (size_t)(slash - a->path) + 1 : 0)
                         : (dot && (slash == NULL || dot > slash) ? (size_t)(dot - a->path) : strlen(a->path));
    if (given) return strdup(given);
    const char *end = beside ? beside : ending;
    char *path = malloc(stem + strlen(end) + 1);
    if (path) snprintf(path, stem + strlen(end) + 1, "%.*s%s", (int)stem, a->path, end);
    return path;
}

static int read_network(agent *a) {
    size_t every = 0;
    lockstep_options *n = &a->network;
    int status = read_count("every", options_value(a->set, "every"), 1, UINT16_MAX, &every);
    if (status == 0) status = read_count("keepers", options_value(a->set, "keepers"), 0, 1000, &n->keepers);
    if (status == 0) status = read_real("time", options_value(a->set, "time"), 0, 1e9, &a->time);
    if (status == 0) status = read_real("report", options_value(a->set, "report"), 0, 1e9, &n->report);
    if (status == 0) status = read_real("budget", options_value(a->set, "budget"), 0, 1e12, &n->budget);
    if (status == 0) status = read_real("least", options_value(a->set, "least"), 0.01, 1e6, &n->least);
    if (status == 0) status = read_real("linger", options_value(a->set, "linger"), 0, 1e9, &n->linger);
    if (status == 0) status = read_real("stay", options_value(a->set, "stay"), 0, 1e9, &n->stay);
    n->least *= 1e-3;
    n->every = (uint16_t)every;
    return status;
}

static int read_relay(const agent *a, host *relay) {
    const char *given = options_given(a->set, "relay"), *colon = given ? strrchr(given, ':') : NULL;
    if (given == NULL) return 0;
    if (colon == NULL || colon == given)
        return report_error(EXIT_WRONG, "The option '--relay' must be HOST:PORT, not '%s'.", given);
    const int bracketed = *given == '[' && colon[-1] == ']'; /* of IPv6 */
    snprintf(relay->name, sizeof relay->name, "%.*s", (int)(colon - given) - 2 * bracketed, given + bracketed);
    snprintf(relay->service, sizeof relay->service, "%s", colon + 1);
    return 0;
}

/* Without a state this may be the first start, or its folder is lost. */
static int find_state(agent *a, uint32_t boot) {
    size_t size = 0;
    unsigned char *bytes = lockstep_find(a->line, &size);
    int status = lockstep_boot(a->line) == boot ? 0 : state_set_start(&a->state, lockstep_boot(a->line));
    if (bytes == NULL || status) {
        free(bytes);
        return status;
    }
    return state_adopt(&a->state, bytes, size);
}

static int read_files(agent *a) {
    seal_keys keys = {0};
    host relay = {0};
    uint32_t boot;
    char *key = NULL, *hosts = NULL;
    svmp_status read = svmp_part_read(a->context, a->path, &a->part);
    if (read != SVMP_OK) return failed(a->context, read);
    a->about = svmp_part_describe(a->part);
    if (a->time > 0 && a->about.hops == 0)
        return report_error(EXIT_WRONG,
                            "Agent '%s': --time needs agents that are all connected, by neighbours of neighbours, and "
                            "those of this plan are not.",
                            a->about.name);
    keys.key = calloc(a->about.neighbours + 1, SEAL_KEY);
    key = path_of(a, "key", ".key", NULL);
    hosts = path_of(a, "peers", NULL, "hosts.csv");
    char *folder = a->network.folder = path_of(a, "state", ".state", NULL);
    int status = keys.key && key && hosts && folder ? 0 : report_error(EXIT_FAILED, "Out of memory.");
    if (status == 0)
        status = keys_read(key, a->about.run, a->about.name, a->about.neighbours, a->about.neighbour_name, &keys);
    if (status == 0) status = read_relay(a, &relay);
    if (status == 0) status = state_open(folder, &a->about, a->network.keepers > 0, &a->state);
    if (status == 0)
        a->line = lockstep_open(&a->about, hosts, *relay.name ? &relay : NULL, &keys, &a->network, &status);
    if (status == 0) status = state_count_start(&a->state, &boot);
    if (status == 0) lockstep_set_boot(a->line, boot);
    if (status == 0 && a->network.keepers > 0 && !a->state.there) status = find_state(a, boot);
    free(keys.key);
    free(key);
    free(hosts);
    return status;
}

static int start(agent *a) {
    a->peers = lockstep_peers(a->line);
    svmp_status status = svmp_part_start(a->part, &a->peers);
    if (status == SVMP_OK && a->state.there) status = svmp_part_load(a->part, a->state.part, a->state.part_size);
    if (status != SVMP_OK) return failed(a->context, status);
    if (!a->state.there) return 0;
    if (lockstep_load(a->line, a->state.line, a->state.line_size)) {
        lockstep_secure(a->line, a->state.finished, a->state.bytes, a->state.size);
        a->state.bytes = NULL;
        return 0;
    }
    return report_error(EXIT_WRONG, "Agent '%s': the state '%s' is of a run with another --every.", a->about.name,
                        a->state.path);
}

/* Returns 0 after a note if the disk is full or there is no memory. */
static int save(agent *a, int finished) {
    const void *bytes;
    unsigned char *file = NULL;
    size_t size, line_size, written = 0;
    char error[4500] = "out of memory.";
    if (svmp_part_save(a->part, &bytes, &size) != SVMP_OK) return 0;
    unsigned char *line = lockstep_save(a->line, &line_size);
    const int good =
        line && state_write(&a->state, &(seal_block){bytes, size}, &(seal_block){line, line_size}, finished,
                            a->network.keepers > 0 ? &file : NULL, &written, error, sizeof error);
    free(line);
    if (good) {
        if (a->has_complained) note(a->line, "its state can be written again.");
        a->has_complained = 0;
        lockstep_secure(a->line, finished, file, written);
    } else if (!a->has_complained++) {
        note(a->line, "cannot write its state: %s It waits until that is possible; nothing is lost.", error);
    }
    return good;
}

static void save_surely(agent *a, int finished) {
    while (!save(a, finished)) lockstep_serve(a->line, 1);
}

/* A failure of this agent is one of all: nobody can go on without its nodes. */
_Noreturn static void stop_all(agent *a) {
    char sentence[600];
    snprintf(sentence, sizeof sentence, "agent '%s' has failed: %.400s", a->about.name, svmp_context_error(a->context));
    lockstep_stop(a->line, sentence);
}

/* With the time of a clock, which is no function of states, nobody may hear of a stop that a restart takes back. */
static void propose_stop(agent *a) {
    if (a->time <= 0 || now() - a->started < a->time || !lockstep_propose_stop(a->line)) return;
    save_surely(a, 0);
    while (!lockstep_is_kept(a->line)) lockstep_serve(a->line, 0.05);
}

static int after_iteration(size_t iteration, void *user_data) {
    agent *a = user_data;
    const size_t kept = svmp_part_kept(a->part);
    int votes = 0;
    const int asks = a->about.until_settled && kept > a->kept;
    if (asks && svmp_part_has_settled(a->part, &votes) != SVMP_OK) stop_all(a);
    a->kept = kept;
    const int stops = lockstep_agree(a->line, (uint32_t)iteration, asks, votes);
    if (lockstep_is_due(a->line)) save_surely(a, 0);
    if (!stops) propose_stop(a);
    return stops;
}

static int write_all(agent *a) {
    char *output = path_of(a, "output", ".out", NULL);
    if (output == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    svmp_status status;
    for (int attempt = 0; (status = svmp_part_write_output(a->part, output)) != SVMP_OK; attempt++) {
        if (attempt == 0) note(a->line, "%s It tries again every second.", svmp_context_error(a->context));
        lockstep_serve(a->line, 1);
    }
    free(output);
    save_surely(a, 1);
    return 0;
}

static int go(agent *a) {
    svmp_outcome outcome;
    int status = start(a);
    if (status) return status;
    a->kept = svmp_part_kept(a->part);
    a->started = now();
    if (!lockstep_has_stopped(a->line) && svmp_part_go(a->part, after_iteration, a, &outcome) != SVMP_OK) stop_all(a);
    status = write_all(a);
    if (status == 0) lockstep_leave(a->line);
    lockstep_report(a->line);
    return status;
}

static int run(const option_set *set) {
    agent a = {.set = set, .path = set->operands[0]};
    const struct sigaction handler = {.sa_handler = want_status};
    if (!seal_available()) return EXIT_WRONG;
    int status = read_network(&a);
    if (status == 0) status = open_context(set, &a.context);
    if (status == 0 && svmp_context_set_threads(a.context, 1) != SVMP_OK) status = EXIT_FAILED;
    sigaction(SIGUSR1, &handler, NULL);
    if (status == 0) status = read_files(&a);
    if (status == 0) status = go(&a);
    svmp_part_free(a.part);
    lockstep_close(a.line);
    state_close(&a.state);
    free(a.network.folder);
    svmp_context_free(a.context);
    return status;
}

const command command_agent = {
    .name = "agent",
    .operands = "PART",
    .least = 1,
    .most = 1,
    .summary = "Run one of the agents of a plan",
    .text =
        "Runs the part of a model that\n.B svmp agents plan\nhas written, on the machine of this agent, and exchanges "
        "particles with the neighbouring\nagents over UDP. Loss, delay and restarts change the time and not one "
        "bit of the result. A killed agent\nthat is started again with the same command goes on from its state. "
        "On SIGUSR1 it prints where it is and\nwhom it waits for. When it and its neighbours have finished it "
        "writes its output, for\n.BR \"svmp agents join\" .\n",
    .options = options,
    .run = run,
};
