#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "choose.h"
#include "command.h"
#include "convergence.h"
#include "keeper.h"
#include "mixing.h"
#include "progress.h"
#include "record.h"
#include "sampling.h"
#include "table.h"

enum { VARIABLES_SHOWN = 10 };

static const svmp_option rows[] = {
    {"output", 'o', "FILE", "", "write the particles to FILE, which ends in .csv or .nc", "Output"},
    {"force", 'f', NULL, "", "overwrite FILE", "Output"},
    {"save", 0, "NAME,...", "", "write these variables and arrays alone", "Output"},
    {"thin", 0, "K", "1", "write every K-th draw of a sampler's chain", "Output"},
    {"progress", 0, "auto|json|none", "auto", "a line that is renewed, lines of JSON, or nothing", "Output"},
    {"quiet", 'q', NULL, "", "show no progress", "Output"},
    {"checkpoint", 0, "FILE", "", "keep in FILE where the run stands, to go on from there", "Checkpoints"},
    {"checkpoint-every", 0, "S", "60", "how often, in seconds; 0: after every iteration", "Checkpoints"},
    {"resume", 0, "FILE", "", "go on from a checkpoint of the same run; -t may grow", "Checkpoints"},
    {"threads", 0, "N", "0", "threads; 0: as many as the machine offers", "Machine"},
};

static void options(option_set *set) {
    size_t count;
    const svmp_option *table = svmp_run_option_table(&count);
    options_add(set, count, table);
    options_add(set, sizeof rows / sizeof *rows, rows);
}

/* All that a run holds, so that there is one place where it ends. */
typedef struct session {
    const option_set *set;
    svmp_context *context;
    svmp_run_options options;
    svmp_model *model;
    svmp_split split; /* among processes */
    size_t *chosen, chosen_count, thin; /* what is written: --save (NULL: all), --thin */
    progress_mode mode;
    progress watch;
    keeper keeper;
    svmp_particles *start, *result, *first; /* first: the variables that are shown */
    svmp_run *run;
    run_record record;
} session;

/* The file that --init names, or NULL: a distribution, or nothing. */
static const char *start_file(const option_set *set) {
    const char *init = options_given(set, "init");
    int drawn = init == NULL || strcmp(init, "prior") == 0 || strcmp(init, "map") == 0 ||
                strncmp(init, "normal:", 7) == 0 || strncmp(init, "uniform:", 8) == 0;
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
    return 0;
}

/* What sizes a run: an option that the method does not know would be ignored in silence. */
static int check_sizes(const session *s) {
    static const char *const of_particles[] = {"particles", "iterations"}, *const of_chains[] = {"chains", "warmup",
                                                                                                 "draws"};
    const char *method = s->options.method;
    const int sampler = strcmp(method, "nuts") == 0;
    for (size_t k = 0; sampler && k < sizeof of_particles / sizeof *of_particles; k++)
        if (options_given(s->set, of_particles[k]))
            return complain(EXIT_WRONG, "The method '%s' takes no --%s: it takes --chains, --warmup and --draws.",
                            method, of_particles[k]);
    for (size_t k = 0; !sampler && k < sizeof of_chains / sizeof *of_chains; k++)
        if (options_given(s->set, of_chains[k]))
            return complain(EXIT_WRONG, "The method '%s' takes no --%s: that is for nuts.", method, of_chains[k]);
    return 0;
}

/* Without -n there are as many particles as the file has. */
static int read_start(session *s) {
    const char *path = start_file(s->set);
    if (path == NULL) return 0;
    svmp_status status = svmp_particles_read(s->context, path, &s->start);
    if (status != SVMP_OK) return failed(s->context, status);
    size_t count = svmp_particles_count(s->start);
    if (options_given(s->set, "particles") && s->options.particles != count)
        return complain(EXIT_WRONG, "%zu particles are asked for, but '%s' holds %zu to start from.",
                        s->options.particles, path, count);
    s->options.particles = count;
    return 0;
}

/* What of the result is written. */
static int read_selection(session *s) {
    const char *names = options_given(s->set, "save"), *thin = options_given(s->set, "thin");
    const int status = read_count("thin", options_value(s->set, "thin"), s->options.draws, &s->thin);
    if (status) return status;
    if (s->thin == 0) return complain(EXIT_WRONG, "The option '--thin' is at least 1.");
    if ((names || thin) && options_given(s->set, "output") == NULL)
        return complain(EXIT_WRONG, "The option '--%s' says what to write, and needs '--output'.",
                        names ? "save" : "thin");
    if (names && svmp_context_processes(s->context) > 1)
        return complain(EXIT_WRONG, "The option '--save' is for one process; several write all variables.");
    if (thin && strcmp(s->options.method, "nuts") != 0)
        return complain(EXIT_WRONG, "The method '%s' takes no --thin: that is for nuts.", s->options.method);
    return 0;
}

/* The variables of --save, by the names that the result will have. */
static int choose(session *s) {
    const char *names = options_given(s->set, "save");
    svmp_particles *start = NULL;
    if (names == NULL) return 0;
    svmp_status taken = svmp_run_particles(s->run, &start);
    if (taken != SVMP_OK) return failed(s->context, taken);
    s->chosen = calloc(svmp_particles_variables(start), sizeof *s->chosen);
    int status = s->chosen ? choose_variables(start, names, s->chosen, &s->chosen_count)
                           : complain(EXIT_FAILED, "Out of memory.");
    svmp_particles_free(start);
    return status;
}

/* What every process does by itself; the files that are written are the first one's. */
static int read_all(session *s) {
    const char *path = options_given(s->set, "output");
    int status = progress_parse(options_value(s->set, "progress"), &s->mode);
    if (options_given(s->set, "quiet") || !is_speaker()) s->mode = PROGRESS_NONE;
    if (status == 0 && path && is_speaker())
        status = check_output(path, OUTPUT_PARTICLES, options_given(s->set, "force") != NULL);
    if (status == 0 && is_speaker()) status = keeper_check(s->set);
    if (status == 0) status = read_options(s);
    if (status == 0) status = check_sizes(s);
    if (status == 0) status = read_selection(s);
    if (status == 0) status = read_start(s);
    if (status == 0) status = read_model(s->set, s->context, &s->model);
    return status;
}

/* With the other processes that mpirun started, if any. */
static int join(session *s) {
    int status = open_context(s->set, &s->context);
    if (status) return status;
    const svmp_status joined = svmp_context_join(s->context);
    speak_as(s->context);
    return joined == SVMP_OK ? 0 : failed(s->context, joined);
}

static int prepare(session *s) {
    const char *from = options_given(s->set, "resume");
    int status = join(s);
    if (status == 0) status = settle(s->context, read_all(s));
    if (status) return status;
    svmp_status made = svmp_model_split(&s->model, &s->split);
    if (made == SVMP_OK) made = svmp_run_create(s->model, &s->options, &s->run);
    if (made == SVMP_OK && s->start) made = svmp_run_start_from(s->run, s->start);
    if (made == SVMP_OK && from) made = svmp_run_load(s->run, from);
    return made == SVMP_OK ? choose(s) : failed(s->context, made);
}

/* How large the file will be, when that is worth a word. */
static void announce(const session *s, const svmp_particles *written, const char *path) {
    const char *ending = strrchr(path, '.');
    const double digits = ending && strcmp(ending, ".nc") == 0 ? 8 : 19, large = 100e6;
    const double columns = (double)(svmp_particles_whole(written) + svmp_particles_statistics(written));
    const double bytes = digits * columns * (double)svmp_particles_count(written);
    if (s->mode != PROGRESS_NONE && bytes > large)
        complain(EXIT_DONE, "Writing about %.2g GB to '%s'.", bytes / 1e9, path);
}

static int write_particles(const session *s, const svmp_particles *written, const char *path) {
    char *comments = record_text(&s->record);
    if (comments == NULL) return complain(EXIT_FAILED, "Out of memory.");
    announce(s, written, path);
    svmp_status status = svmp_particles_write(written, path, comments, options_given(s->set, "force") != NULL);
    free(comments);
    return status == SVMP_OK ? 0 : failed(s->context, status);
}

static int write_result(session *s) {
    const char *path = options_given(s->set, "output");
    svmp_particles *part = NULL;
    if (path == NULL) return 0;
    const size_t draws = svmp_particles_count(s->result) / svmp_particles_chains(s->result);
    const size_t thin = s->thin < draws ? s->thin : draws; /* a run that was stopped early has fewer */
    if (s->chosen == NULL && thin == 1) return write_particles(s, s->result, path);
    svmp_status selected = svmp_particles_select(s->result, s->chosen_count, s->chosen, thin, &part);
    if (selected != SVMP_OK) return failed(s->context, selected);
    int status = write_particles(s, part, path);
    svmp_particles_free(part);
    return status;
}

/* Mean and sd from the precision itself; the quantiles of a Gaussian follow. */
static int exact_moments(session *s, size_t variables, svmp_moments *moments) {
    const double z95 = 1.6448536269514722;
    double *both = calloc(2 * variables, sizeof *both);
    if (both == NULL) return complain(EXIT_FAILED, "Out of memory.");
    svmp_status status = svmp_model_exact_moments(s->model, both, both + variables);
    for (size_t i = 0; i < variables && i < VARIABLES_SHOWN; i++) {
        double mean = both[i], sd = sqrt(both[variables + i]);
        moments[i] = (svmp_moments){mean, sd, mean - z95 * sd, mean, mean + z95 * sd};
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
    return status == SVMP_OK ? 0 : failed(s->context, status);
}

/* How the processes share the work. */
static void print_split(const svmp_split *split) {
    if (split->processes == 1) return;
    printf("%zu processes, the busiest with %.2g %% more than its share; %zu of %zu edges are cut\n", split->processes,
           100 * split->imbalance, split->cut, split->edges);
}

static int print_result(session *s) {
    const size_t variables = svmp_particles_whole(s->result);
    const size_t shown = variables < VARIABLES_SHOWN ? variables : VARIABLES_SHOWN;
    int exact = strcmp(s->options.method, "exact") == 0;
    const int chains = svmp_particles_are_chains(s->result);
    svmp_moments moments[VARIABLES_SHOWN];
    svmp_mixing *mixing = calloc(variables + 1, sizeof *mixing);
    if (mixing == NULL) return complain(EXIT_FAILED, "Out of memory.");
    int wrong = exact ? exact_moments(s, variables, moments) : measure_moments(s, shown, moments, variables, mixing);
    if (wrong) {
        free(mixing);
        return wrong;
    }

    printf("%s: %zu particles of %zu variables, %zu iterations in %.3g s, %s\n\n", s->options.method,
           s->record.particles, variables, s->record.iterations, s->record.seconds, outcome_word(s->record.outcome));
    int width = names_width(s->first, shown, NULL);
    print_moments_heading(width, chains);
    for (size_t i = 0; i < shown; i++)
        print_moments(width, svmp_particles_name(s->first, i), &moments[i], chains ? &mixing[i] : NULL);
    const char *path = options_given(s->set, "output");
    print_split(&s->split);
    print_sampling(s->result);
    if (chains) print_mixing(s->result, variables, NULL, mixing);
    print_convergence(&s->record.convergence, s->record.particles, 0);
    free(mixing);
    if (exact) printf("These numbers are exact; the particles are independent draws.\n");
    if (strcmp(s->options.method, "dpmp") == 0 || strcmp(s->options.method, "tpmp") == 0)
        printf("The particles stand for modes: their spread is not the posterior's.\n");
    if (variables > shown && path) printf("%zu more variables: svmp summary %s\n", variables - shown, path);
    if (variables > shown && !path) printf("%zu more variables: -o FILE keeps them all\n", variables - shown);
    return 0;
}

/* What there is to say about a run that did not come to its end. */
static int explain_end(const session *s, svmp_status ended) {
    const char *path = options_given(s->set, "output");
    if (ended == SVMP_NOT_FINITE) {
        if (path) complain(EXIT_FAILED, "The last particles that were finite are in '%s'.", path);
        return EXIT_FAILED;
    }
    if (s->record.outcome != SVMP_STOPPED) return EXIT_DONE;
    const size_t asked = svmp_run_iterations(s->run);
    if (path)
        complain(EXIT_INTERRUPTED, "Interrupted after %zu of %zu iterations; the particles are in '%s'.",
                 s->record.iterations, asked, path);
    else
        complain(EXIT_INTERRUPTED, "Interrupted after %zu of %zu iterations.", s->record.iterations, asked);
    keeper_say_how(&s->keeper, s->set);
    return EXIT_INTERRUPTED;
}

static int watch(const svmp_progress *state, void *user_data) {
    session *s = user_data;
    enum { STOP = 1, KEEP = 2 };
    const int stop = progress_look(&s->watch, state), keep = keeper_is_due(&s->keeper);
    /* Clocks and signals differ between processes: what one of them wishes, all do. */
    const unsigned wish = svmp_context_any(s->context, (stop ? STOP : 0) | (keep ? KEEP : 0));
    if (wish == KEEP) {
        progress_wipe(&s->watch);
        keeper_keep(&s->keeper);
    }
    return (wish & STOP) != 0;
}

static int go(session *s) {
    svmp_outcome outcome = SVMP_UNFINISHED;
    progress_begin(&s->watch, s->mode, svmp_run_iteration(s->run));
    keeper_begin(&s->keeper, s->set, s->context, s->run);
    svmp_status ended = svmp_run_set_monitor(s->run, watch, s);
    if (ended == SVMP_OK) ended = svmp_run_go(s->run, &outcome);
    double seconds = progress_end(&s->watch);
    if (ended == SVMP_OK) keeper_keep(&s->keeper);
    int status = ended == SVMP_OK ? 0 : failed(s->context, ended);
    if (status && ended != SVMP_NOT_FINITE) return status;

    svmp_status taken = svmp_run_particles(s->run, &s->result);
    if (taken == SVMP_OK) taken = svmp_particles_first(s->result, VARIABLES_SHOWN, &s->first);
    if (taken != SVMP_OK) return failed(s->context, taken);
    s->record = (run_record){
        .set = s->set,
        .processes = svmp_context_processes(s->context),
        .particles = svmp_particles_count(s->result),
        .outcome = ended == SVMP_OK ? outcome : SVMP_DIVERGED,
        .iterations = svmp_run_iteration(s->run),
        .seconds = seconds,
    };
    if (ended == SVMP_OK) s->record.convergence = convergence_measure(s->context, s->run, s->model);
    status = write_result(s);
    if (status == 0 && ended == SVMP_OK) status = print_result(s);
    return status ? status : explain_end(s, ended);
}

static int run(const option_set *set) {
    session s = {.set = set};
    int status = prepare(&s);
    if (status == 0) status = go(&s);
    free(s.chosen);
    svmp_particles_free(s.result);
    svmp_particles_free(s.first);
    svmp_run_free(s.run);
    svmp_model_free(s.model);
    svmp_particles_free(s.start);
    svmp_context_free(s.context);
    return status;
}

const command command_run = {
    .name = "run",
    .operands = "MODEL [DATA...]",
    .least = 1,
    .most = SIZE_MAX,
    .summary = "Infer: particles to a file, a summary to the terminal",
    .text =
        "MODEL is a text in the model language (.bug, .jags or .txt) and DATA its data (.json, .csv, .R, .txt or "
        ".dump;\n"
        "any mix of files). Or MODEL is the precision A of a Gaussian exp(b'x \\- x'Ax/2) as a Matrix Market file\n"
        "(.mtx) and DATA, if any, is b, another one. The particles are written to the file of\n.BR \\-o ;\n"
        "a table of moments goes to the standard output and the progress to the standard error.\n.PP\n"
        "The samplers' options hold for the method nuts, in place of\n.BR \\-n \" and \" \\-t .\n.PP\n"
        "Interrupted by Ctrl-C or SIGTERM, the run stops after its current iteration and writes what there is. A\n"
        "run whose numbers are no longer finite fails, and writes its last finite particles.\n.PP\n"
        "With\n.B \\-\\-checkpoint\nthe run keeps in a file where it stands, now and then, when it is interrupted "
        "and at its\n"
        "end. The same call with\n.B \\-\\-resume\ngoes on from there, to the same numbers as if there had been no "
        "break; of the options,\n"
        "only the iterations (the draws, of a sampler) may have grown, unless the step falls along them.\n.PP\n"
        "The names of\n.B \\-\\-save\nare those of variables, or of arrays: x stands for x.1, x.2 and so on.\n.PP\n"
        "The particles of\n.B dpmp\nand\n.B tpmp\nare modes, no sample of the posterior: the l-th row is the l-th "
        "choice of\n"
        "every node by itself, and the first row the best configuration. These methods take models whose factors touch "
        "at\n"
        "most two nodes.\n",
    .options = options,
    .run = run,
};
