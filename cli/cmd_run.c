#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "convergence.h"
#include "guard.h"
#include "keeper.h"
#include "mixing.h"
#include "origin.h"
#include "progress.h"
#include "record.h"
#include "sample.h"
#include "sampling.h"
#include "suggest.h"
#include "table.h"
#include "writer.h"

enum { VARIABLES_SHOWN = 40, FIRST_SHOWN = 10, NAME_ROOM = 1024 }; /* all, up to so many; of more, the first */

static const svmp_option rows[] = {
    {"output", 'o', "FILE", "", "write the particles to FILE, a .csv or .nc", "Output"},
    {"force", 'f', NULL, "", "overwrite FILE; with --split, remove later parts too", "Output"},
    {"monitor", 0, "NAME,...", "", "report these deterministic nodes, too", "Output"},
    {"save", 0, "NAME,...", "", "write these variables and arrays alone", "Output"},
    {"thin", 0, "K", "1", "write every K-th draw of a sampler's chain", "Output"},
    {"split", 0, NULL, "", "write a file for each chain: FILE_1.csv, ...", "Output"},
    {"progress", 0, "auto|json|none", "auto", "a renewed line, lines of JSON, or nothing", "Output"},
    {"quiet", 'q', NULL, "", "show no progress", "Output"},
    {"checkpoint", 0, "FILE", "", "keep in FILE where the run stands", "Checkpoints"},
    {"checkpoint-every", 0, "S", "60", "how often, in seconds; 0: after every iteration", "Checkpoints"},
    {"resume", 0, "FILE", "", "go on from a checkpoint, and in it; -t may grow", "Checkpoints"},
    {"threads", 0, "N", "0", "threads; 0: the machine's, shared under mpirun", "Machine"},
};

static void options(option_set *set) {
    size_t count;
    const svmp_option *table = svmp_run_option_table(&count);
    options_add(set, count, table);
    options_add(set, sizeof rows / sizeof *rows, rows);
    options_add(set, 1, &coordinates_option);
}

/* All that a run holds, so that there is one place where it ends. */
typedef struct session {
    const option_set *set;
    svmp_context *context;
    svmp_run_options options;
    svmp_method method; /* what that is */
    svmp_model *model;
    svmp_split split; /* among processes */
    writer writer;
    progress_mode mode;
    progress watch;
    keeper keeper;
    svmp_particles *result, *first; /* first: the variables that are shown */
    svmp_run *run;
    svmp_discrepancy *nodes; /* of every node of the model, at the end */
    size_t warmup;           /* a sampler's iterations that are not kept, */
    double warm;             /* and the seconds that they took */
    int measures;            /* the discrepancy is measured along the way */
    int interrupted;         /* this process was, by a signal */
    run_record record;
} session;

/* The file that --init names, or NULL: a distribution, or nothing. */
static const char *start_file(const option_set *set) {
    const char *init = options_given(set, "init");
    int drawn = init == NULL || strcmp(init, "prior") == 0 || strcmp(init, "map") == 0 ||
                strcmp(init, "gaussian") == 0 || strncmp(init, "normal:", 7) == 0 || strncmp(init, "uniform:", 8) == 0;
    return drawn ? NULL : init;
}

static int read_options(session *s) {
    size_t count;
    const svmp_option *table = svmp_run_option_table(&count);
    s->options = svmp_run_options_default();
    for (size_t k = 0; k < count; k++) {
        const char *value = options_given(s->set, table[k].name);
        if (value == NULL || (strcmp(table[k].name, "init") == 0 && start_file(s->set))) continue;
        svmp_status status = svmp_run_options_set(s->context, &s->options, table[k].name, value);
        if (status != SVMP_OK) return failed(s->context, status);
    }
    svmp_status found = svmp_method_describe(s->context, s->options.method, &s->method);
    return found == SVMP_OK ? 0 : failed(s->context, found);
}

/* What sizes a run: an option that the method does not know would be ignored in silence. */
static int check_sizes(const session *s) {
    static const char *const of_particles[] = {"particles", "iterations"}, *const of_chains[] = {"chains", "warmup",
                                                                                                 "draws", "accept"};
    const char *method = s->method.name;
    const int sampler = s->method.yield == SVMP_CHAINS;
    for (size_t k = 0; sampler && k < sizeof of_particles / sizeof *of_particles; k++)
        if (options_given(s->set, of_particles[k]))
            return complain(EXIT_WRONG, "The method '%s' takes no --%s: it takes --chains, --warmup and --draws.",
                            method, of_particles[k]);
    for (size_t k = 0; !sampler && k < sizeof of_chains / sizeof *of_chains; k++)
        if (options_given(s->set, of_chains[k]))
            return complain(EXIT_WRONG, "The method '%s' takes no --%s: that is for nuts.", method, of_chains[k]);
    if (s->method.yield == SVMP_DRAWS && options_given(s->set, "iterations"))
        return complain(EXIT_WRONG, "The method '%s' takes no --iterations: it draws at once.", method);
    return 0;
}

/* Whether the file of --init is none, but a slip of the hand: 'norml:1'. */
static int is_misspelt(const char *init) {
    static const char *const starts[] = {"normal", "uniform", "prior", "gaussian", "map"};
    const size_t length = strcspn(init, ":");
    const char *meant = access(init, F_OK) == 0 ? NULL : suggest(init, length, sizeof starts / sizeof *starts, starts);
    if (meant) complain(EXIT_WRONG, "There is no start or file '%s'; did you mean '%s%s'?", init, meant, init + length);
    return meant != NULL;
}

/* Without -n there are as many particles as the file has. */
static int read_start(session *s) {
    const char *path = start_file(s->set);
    size_t count = 0;
    if (path == NULL) return 0;
    if (is_misspelt(path)) return EXIT_WRONG;
    svmp_status status = svmp_particles_read_count(s->context, path, &count);
    if (status != SVMP_OK) return failed(s->context, status);
    if (options_given(s->set, "particles") && s->options.particles != count)
        return complain(EXIT_WRONG, "%zu particles are asked for, but '%s' holds %zu to start from.",
                        s->options.particles, path, count);
    s->options.particles = count;
    return 0;
}

/* What several processes cannot do. */
static int check_processes(const session *s) {
    const char *path = options_given(s->set, "output");
    const size_t length = path ? strlen(path) : 0;
    if (svmp_context_processes(s->context) == 1) return 0;
    if (!s->method.parts)
        return complain(EXIT_WRONG, "The method '%s' needs the whole model in one process: run it without mpirun.",
                        s->method.name);
    if (length < 3 || strcmp(path + length - 3, ".nc") != 0) return 0;
    return complain(EXIT_WRONG,
                    "The output '%s' is NetCDF, which is made in the memory of one process; several, of which none has "
                    "all particles, write a file that ends in .csv.",
                    path);
}

/* What every process does by itself. */
static int read_all(session *s) {
    int status = is_speaker() ? keeper_check(s->set) : 0;
    if (status == 0) status = progress_parse(options_value(s->set, "progress"), &s->mode);
    if (options_given(s->set, "quiet") || !is_speaker()) s->mode = PROGRESS_NONE;
    if (status == 0) status = read_options(s);
    if (status == 0) status = check_processes(s);
    if (status == 0) status = check_sizes(s);
    if (status == 0) status = writer_begin(&s->writer, s->set, &s->options, &s->method);
    return status == 0 ? read_start(s) : status;
}

/* With the other processes that mpirun started, if any. */
static int join(session *s) {
    int status = open_context(s->set, &s->context);
    if (status) return refuse_together(status);
    const svmp_status joined = svmp_context_join(s->context);
    speak_as(s->context);
    return joined == SVMP_OK ? settle(s->context, 0) : failed(s->context, joined);
}

/* All processes were told the same, but for their threads. */
static int compare_options(const session *s) {
    svmp_status same = SVMP_OK;
    for (size_t k = 0; k < s->set->count && same == SVMP_OK; k++) {
        const svmp_option *row = &s->set->rows[k];
        const char *value = s->set->values[k];
        char what[64];
        snprintf(what, sizeof what, "the option --%s", row->name);
        if (value && !row->argument) value = "given";
        if (strcmp(row->name, "threads") != 0)
            same = svmp_context_compare(s->context, what, value ? value : "not given");
    }
    return same == SVMP_OK ? 0 : failed(s->context, same);
}

/* The files of --init are as long; their bytes are compared before they are read. */
static int compare_starts(const session *s) {
    const char *path = start_file(s->set);
    char what[300], count[48];
    if (path == NULL) return 0;
    snprintf(what, sizeof what, "the start '%.250s'", path);
    snprintf(count, sizeof count, "%zu particles", s->options.particles);
    const svmp_status same = svmp_context_compare(s->context, what, count);
    return same == SVMP_OK ? 0 : failed(s->context, same);
}

static int prepare(session *s) {
    const char *from = options_given(s->set, "resume");
    int status = join(s);
    if (status == 0) status = compare_options(s);
    if (status == 0) status = settle(s->context, read_all(s));
    if (status == 0) status = compare_starts(s);
    if (status) return status;
    const svmp_reading how = {options_given(s->set, "monitor"), options_value(s->set, "coordinates")};
    svmp_status made = svmp_model_read_split_as(s->context, s->set->operand_count,
                                                (const char *const *)s->set->operands, &how, &s->model, &s->split);
    if (made == SVMP_OK) made = svmp_run_create(s->model, &s->options, &s->run);
    if (made == SVMP_OK && start_file(s->set)) made = svmp_run_start_from_file(s->run, start_file(s->set));
    if (made == SVMP_OK && from) made = svmp_run_load(s->run, from);
    return made == SVMP_OK ? writer_choose(&s->writer, s->context, s->model, s->run) : failed(s->context, made);
}

/* Mean and sd from the precision itself; the quantiles of a Gaussian follow. What is monitored, or drawn after the run,
 * keeps its own: the model's variables are among the columns in their order. */
static int exact_moments(const session *s, size_t shown, svmp_moments *moments) {
    const double z95 = 1.6448536269514722;
    const size_t variables = svmp_graph_variables(svmp_model_graph(s->model));
    double *both = calloc(2 * variables, sizeof *both);
    char name[NAME_ROOM];
    if (both == NULL) return complain(EXIT_FAILED, "Out of memory.");
    svmp_status status = svmp_model_exact_moments(s->model, both, both + variables);
    for (size_t i = 0, column = 0; i < variables && column < shown; column++) {
        svmp_model_variable_name(s->model, i, name, sizeof name);
        if (strcmp(name, svmp_particles_name(s->first, column)) != 0) continue;
        double mean = both[i], sd = sqrt(both[variables + i]);
        moments[column] = (svmp_moments){mean, sd, mean - z95 * sd, mean, mean + z95 * sd};
        i++;
    }
    free(both);
    return status == SVMP_OK ? 0 : failed(s->context, status);
}

/* Moments of the first variables, and the mixing of all. */
static int measure_moments(const session *s, size_t shown, svmp_moments *moments, size_t variables,
                           svmp_mixing *mixing) {
    svmp_status status = svmp_particles_summarise(s->first, shown, NULL, moments, NULL);
    if (status == SVMP_OK && svmp_particles_are_chains(s->result))
        status = svmp_particles_summarise(s->result, variables, NULL, NULL, mixing);
    if (status != SVMP_OK) return failed(s->context, status);
    return strcmp(s->options.method, "exact") == 0 ? exact_moments(s, shown, moments) : 0;
}

/* How the processes share the work. */
static void print_split(const svmp_split *split) {
    if (split->processes == 1) return;
    printf("%zu processes, the busiest with %s more than its share; %zu of %zu edge%s cut\n", split->processes,
           percentage(split->imbalance, (char[32]){0}), split->cut, split->edges, split->edges == 1 ? " is" : "s are");
}

static int print_result(session *s) {
    const size_t variables = svmp_particles_whole(s->result);
    const size_t shown = variables <= VARIABLES_SHOWN ? variables : FIRST_SHOWN;
    const int exact = s->method.yield == SVMP_DRAWS;
    const int chains = svmp_particles_are_chains(s->result);
    char step[STEP_TEXT];
    svmp_moments moments[VARIABLES_SHOWN];
    svmp_mixing *mixing = calloc(variables + 1, sizeof *mixing);
    if (mixing == NULL) return complain(EXIT_FAILED, "Out of memory.");
    int wrong = measure_moments(s, shown, moments, variables, mixing);
    if (wrong) {
        free(mixing);
        return wrong;
    }

    printf("%s: ", s->method.name);
    print_size(s->result, s->method.yield);
    printf(" of %zu variable%s, %zu iteration%s in %.3g s, %s\n\n", variables, plural(variables), s->record.iterations,
           plural(s->record.iterations), s->record.seconds, outcome_word(s->record.outcome));
    int width = names_width(s->first, shown, NULL);
    print_moments_heading(width, chains);
    for (size_t i = 0; i < shown; i++)
        print_moments(width, svmp_particles_name(s->first, i), &moments[i], chains ? &mixing[i] : NULL);
    print_split(&s->split);
    print_sampling(s->result, svmp_run_setting(s->run, "step", step, sizeof step));
    if (chains) print_mixing(s->result, variables, NULL, mixing);
    print_convergence(&s->record.convergence, s->record.particles, 0);
    free(mixing);
    if (exact && variables > svmp_graph_variables(svmp_model_graph(s->model)))
        printf(
            "These numbers are exact, but for what is monitored or drawn after the run; the particles are independent "
            "draws.\n");
    else if (exact)
        printf("These numbers are exact; the particles are independent draws.\n");
    else
        print_caveat(s->method.yield);
    const size_t more = variables - shown;
    const char *path = s->writer.written;
    if (more && path) printf("%zu more variable%s: svmp summary %s\n", more, plural(more), path);
    if (more && !path) printf("%zu more variable%s: -o FILE keeps them all\n", more, plural(more));
    return 0;
}

/* A sampler that has not left its warm-up has no draws to show or write. */
static int explain_warmup(const session *s) {
    complain(EXIT_INTERRUPTED, "Interrupted after %zu of %zu iterations of the warm-up: there are no draws yet.",
             svmp_run_iteration(s->run), s->warmup);
    keeper_say_how(&s->keeper, s->set);
    return EXIT_INTERRUPTED;
}

/* What may keep the particles of another run finite. */
static void advise_finite(const session *s) {
    char step[STEP_TEXT], text[STEP_TEXT];
    const char *smaller = scaled_step(svmp_run_setting(s->run, "step", step, sizeof step), 0.1, text);
    const int mode = strcmp(options_value(s->set, "init"), "map") == 0;
    if (s->method.yield != SVMP_PARTICLES) return;
    if (svmp_run_iteration(s->run) == 0)
        complain(EXIT_FAILED, "Another start may be finite: %s--init normal:0.1.", mode ? "" : "--init map, or ");
    else if (strcmp(s->method.name, "langevin") == 0)
        complain(
            EXIT_FAILED,
            "The moves of langevin are as long as the scores are large: a smaller step may stay finite (%s%s), and "
            "-m mala refuses such moves.",
            smaller, mode ? "" : " --init map");
    else
        complain(EXIT_FAILED, "A smaller step may stay finite%s: %s%s.", mode ? "" : ", or a start from the mode",
                 smaller, mode ? "" : ", --init map");
}

/* What there is to say about a run that did not come to its end. */
static int explain_end(const session *s, svmp_status ended) {
    if (ended == SVMP_NOT_FINITE) {
        if (s->writer.written)
            complain(EXIT_FAILED, "The last particles that were finite are in '%s'.", s->writer.written);
        advise_finite(s);
        return EXIT_FAILED;
    }
    if (s->record.outcome != SVMP_STOPPED) return EXIT_DONE;
    const size_t asked = svmp_run_iterations(s->run);
    if (s->writer.written)
        complain(EXIT_INTERRUPTED, "Interrupted after %zu of %zu iterations; the particles are in '%s'.",
                 s->record.iterations, asked, s->writer.written);
    else
        complain(EXIT_INTERRUPTED, "Interrupted after %zu of %zu iterations.", s->record.iterations, asked);
    if (!keeper_say_how(&s->keeper, s->set) && s->writer.written && !s->writer.chosen && !s->writer.split)
        complain(EXIT_INTERRUPTED,
                 "It cannot be resumed without --checkpoint; --init %s starts another run from there.",
                 s->writer.written);
    return EXIT_INTERRUPTED;
}

/* The discrepancy along the way, where the file will show it: at 8, 16, 32, ... iterations, which costs few of them,
 * and is the same however often the run was broken off. */
static int is_measured(const session *s, size_t iteration) {
    return s->measures && iteration >= 8 && (iteration & (iteration - 1)) == 0;
}

/* Stops the run for good when it was interrupted, and for a moment when a checkpoint is due. */
static int watch(const svmp_progress *state, void *user_data) {
    session *s = user_data;
    s->interrupted = progress_look(&s->watch, state);
    if (is_measured(s, state->iteration)) svmp_run_measure(s->run, NULL, NULL); /* or the curve has a point less */
    if (state->iteration == s->warmup) s->warm = progress_seconds(&s->watch);
    return s->interrupted || keeper_is_due(&s->keeper);
}

/* Clocks and signals differ between processes: what one of them wishes, all do. */
static svmp_status iterate(session *s, svmp_outcome *outcome) {
    for (;;) {
        const svmp_status status = svmp_run_go(s->run, outcome);
        if (status != SVMP_OK || *outcome != SVMP_STOPPED || svmp_context_any(s->context, s->interrupted != 0))
            return status;
        progress_wipe(&s->watch);
        keeper_keep(&s->keeper);
    }
}

/* The result with all that is told of it: how it ended, and where it stands. */
static int take_result(session *s, svmp_outcome outcome, double seconds) {
    s->record = (run_record){
        .set = s->set,
        .run = s->run,
        .processes = svmp_context_processes(s->context),
        .outcome = outcome,
        .iterations = svmp_run_iteration(s->run),
        .resumed = s->watch.first,
        .seconds = seconds,
        .warmup = s->warm,
        .thin = 1,
    };
    s->nodes = calloc(svmp_graph_nodes(svmp_model_graph(s->model)) + 1, sizeof *s->nodes);
    if (svmp_context_any(s->context, s->nodes == NULL)) return complain(EXIT_FAILED, "Out of memory.");
    if (outcome != SVMP_DIVERGED) s->record.convergence = convergence_measure(s->context, s->run, s->model, s->nodes);
    svmp_status taken = svmp_run_particles(s->run, &s->result);
    if (taken == SVMP_OK) taken = convergence_attach(s->context, &s->record.convergence, s->model, s->nodes, s->result);
    if (taken != SVMP_OK) return failed(s->context, taken);
    s->record.particles = svmp_particles_count(s->result);
    const int status = writer_leave_out(&s->writer, s->model, &s->result);
    if (status) return status;
    taken = svmp_particles_first(s->result, VARIABLES_SHOWN, &s->first); /* of what is left */
    return taken == SVMP_OK ? 0 : failed(s->context, taken);
}

static int go(session *s) {
    char text[32];
    const char *warmup = svmp_run_setting(s->run, "warmup", text, sizeof text);
    svmp_outcome outcome = SVMP_UNFINISHED;
    s->warmup = warmup ? strtoul(warmup, NULL, 10) : 0;
    s->measures = (options_given(s->set, "output") || keeper_path(s->set)) &&
                  svmp_run_setting(s->run, "kernel", text, sizeof text);
    progress_begin(&s->watch, s->mode, &s->method, svmp_run_iteration(s->run));
    keeper_begin(&s->keeper, s->set, s->context, s->run);
    guard_begin(&s->keeper, s->set);
    svmp_status ended = svmp_run_set_monitor(s->run, watch, s);
    if (ended == SVMP_OK) ended = iterate(s, &outcome);
    double seconds = progress_end(&s->watch);
    if (ended == SVMP_OK) keeper_keep(&s->keeper);
    if (ended != SVMP_OK) {
        const int status = failed(s->context, ended);
        if (ended != SVMP_NOT_FINITE) return status;
    }
    if (ended == SVMP_OK && outcome == SVMP_STOPPED && s->method.yield == SVMP_CHAINS &&
        svmp_run_iteration(s->run) <= s->warmup)
        return explain_warmup(s);
    int status = take_result(s, ended == SVMP_OK ? outcome : SVMP_DIVERGED, seconds);
    if (status) return status;
    const int unwritten = writer_write(&s->writer, s->result, &s->record); /* what is known is told all the same */
    if (ended == SVMP_OK) status = print_result(s);
    if (unwritten && ended == SVMP_OK) keeper_say_how(&s->keeper, s->set);
    return unwritten ? unwritten : status ? status : explain_end(s, ended);
}

static int run(const option_set *set) {
    session s = {.set = set};
    int status = prepare(&s);
    if (status == 0) status = go(&s);
    guard_end();
    free(s.nodes);
    writer_free(&s.writer);
    svmp_particles_free(s.result);
    svmp_particles_free(s.first);
    svmp_run_free(s.run);
    svmp_model_free(s.model);
    svmp_context_free(s.context);
    return status;
}

const command command_run = {
    .name = "run",
    .operands = "MODEL [DATA...]",
    .least = 1,
    .most = SIZE_MAX,
    .summary = "Infer: write particles, print a summary",
    .joins = 1,
    .text =
        "MODEL is a text in the model language (.bug, .jags or .txt) and DATA its data (.json, .csv, .R, .txt or "
        ".dump;\n"
        "any mix of files). Or MODEL is the precision A of a Gaussian exp(b'x \\- x'Ax/2) as a Matrix Market file\n"
        "(.mtx) and DATA, if any, is b, another one. The particles are written to the file of\n.BR \\-o ;\n"
        "a table of moments goes to the standard output and the progress to the standard error.\n.PP\n"
        "The samplers' options hold for the method nuts, in place of\n.BR \\-n \" and \" \\-t .\n.PP\n"
        "Interrupted by Ctrl-C or SIGTERM, the run stops after its current iteration and writes what there is;\n"
        "interrupted again, a second later or more, it is given up. A run whose\n"
        "numbers are no longer finite fails, and writes its last finite particles.\n.PP\n"
        "With\n.B \\-\\-checkpoint\nthe run keeps in a file where it stands, now and then, when it is interrupted "
        "and at its\n"
        "end. The same call with\n.B \\-\\-resume\ngoes on from there, to the same numbers as if there had been no "
        "break, and keeps its\nown checkpoints in that file unless\n.B \\-\\-checkpoint\nnames another; of the "
        "options,\n"
        "only the iterations (the draws, of a sampler) may have grown, unless the step falls along them.\n.PP\n"
        "\\fB\\-\\-coordinates\\fR says what a node moves in whose prior is dnorm, dlnorm, dt, dlogis or ddexp with an "
        "unknown\n"
        "location or scale: itself (centred), its distance from the location in units of the scale (noncentred), or\n"
        "what the data and the prior suggest, node by node (auto). What is reported is the same.\n.PP\n"
        "A model's unknowns are reported; with\n.B \\-\\-monitor\nso are the deterministic nodes that it names, "
        "computed from each particle.\n.PP\n"
        "Stan's tools read a file for each chain, which\n.B \\-\\-split\nwrites: FILE_1.csv, FILE_2.csv and so "
        "on.\n.PP\n"
        "A large model is split among several processes, on one machine or many, by\n.B mpirun \\-n P svmp run "
        "...\n.RB ( docs/distributed.md );\n"
        "all of them are given the same files and options, and the first one writes.\n.PP\n"
        "The names of\n.B \\-\\-save\nare those of variables, or of arrays: x stands for x.1, x.2 and so on.\n.PP\n"
        "The particles of\n.B dpmp\nand\n.B tpmp\nare modes, no sample of the posterior: the l-th row is the l-th "
        "choice of\n"
        "every node by itself, and the first row the best configuration. These methods take models whose factors touch "
        "at\n"
        "most two nodes.\n",
    .options = options,
    .run = run,
};
