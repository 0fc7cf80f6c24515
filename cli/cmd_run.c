#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "asked.h"
#include "command.h"
#include "convergence.h"
#include "criteria.h"
#include "estimate.h"
#include "front/suggest.h"
#include "guard.h"
#include "keeper.h"
#include "lock.h"
#include "mixing.h"
#include "origin.h"
#include "overview.h"
#include "probabilities.h"
#include "progress.h"
#include "record.h"
#include "sample.h"
#include "sampling.h"
#include "table.h"
#include "verdict.h"
#include "writer.h"

enum { VARIABLES_SHOWN = 40, FIRST_SHOWN = 10, NAME_ROOM = 1024 }; /* all, up to so many; of more, the first */

static const option_row rows[] = {
    {"output", 'o', "FILE", "", "write the particles to FILE (.csv or .nc)", "Output"},
    {"force", 'f', NULL, "", "overwrite FILE; with --split, also remove old parts", "Output"},
    {"monitor", 0, "NAME,...", "", "also report these deterministic nodes", "Output"},
    {"save", 0, "NAME,...", "", "write only these variables and arrays", "Output"},
    {"thin", 0, "K", "1", "write every Kth draw of each chain", "Output"},
    {"split", 0, NULL, "", "write one file per chain: FILE_1.csv, ...", "Output"},
    {"progress", 0, "auto|json|none", "auto", "a live line, JSON lines, or nothing", "Output"},
    {"quiet", 'q', NULL, "", "show no progress", "Output"},
    {"verify", 0, "auto|yes|no", "auto",
     "cross-examine the particles at the end; auto: within a third of the run or 5 s", "Verdict"},
    {"require-converged", 0, NULL, "", "exit with status 1 unless the verdict is that they pass", "Verdict"},
    {"checkpoint", 0, "FILE", "", "save the state of the run to FILE", "Checkpoints"},
    {"checkpoint-every", 0, "S", "60", "seconds between saves; 0: every iteration", "Checkpoints"},
    {"resume", 0, "FILE", "", "continue from a checkpoint; -t may be larger", "Checkpoints"},
    {"threads", 0, "N", "0", "threads; 0: all, shared under mpirun", "Machine"},
};

static void options(option_set *set) {
    options_add_run(set, 0, NULL);
    options_add(set, sizeof rows / sizeof *rows, rows);
    options_add(set, 1, &coordinates_option);
}

/* All that a run holds, so that there is one place where it ends. */
typedef struct session {
    const option_set *set;
    svmp_context *context;
    svmp_options *options;
    svmp_method method; /* what that is */
    const char *coordinates;
    svmp_model *model;
    svmp_split split; /* among processes */
    writer writer;
    progress_mode mode;
    progress watch;
    keeper keeper;
    file_lock lock;                 /* of the checkpoint */
    svmp_particles *start;          /* of a file of --init, until the run has them; several processes read their own */
    svmp_particles *result, *first; /* first: the variables that are shown */
    svmp_run *run;
    svmp_discrepancy *nodes; /* of every node of the model, at the end */
    size_t warmup;           /* a sampler's iterations that are not kept, */
    double warm;             /* and the seconds that they took */
    double began;            /* when the command did, by the clock of its progress */
    double examines;         /* the seconds that the examination may take; 0: none */
    int clear;               /* whether the result may be used */
    int measures;            /* the discrepancy is measured along the way */
    int interrupted;         /* this process was, by a signal */
    run_record record;
    svmp_verdict *verdict;
} session;

static int read_options(session *s) {
    const int status = asked_options(s->set, s->context, &s->options);
    if (status) return status;
    svmp_status found = svmp_method_describe(s->context, svmp_options_get(s->options, "method"), &s->method);
    return found == SVMP_OK ? 0 : failed(s->context, found);
}

/* What sizes a run: an option that the method does not know would be ignored in silence. */
static int check_sizes(const session *s) {
    static const char *const of_particles[] = {"particles", "iterations"}, *const of_samplers[] = {"warmup", "draws"},
                             *const of_chains[] = {"chains", "accept"};
    const char *method = s->method.name;
    const int sampler = s->method.yield == SVMP_CHAINS, sweeps = s->method.sweeps;
    for (size_t k = 0; k < 2; k++) {
        if (sampler && !sweeps && options_given(s->set, of_particles[k]))
            return complain(EXIT_WRONG, "The method '%s' does not take --%s; use --chains, --warmup and --draws.",
                            method, of_particles[k]);
        if (!sampler && options_given(s->set, of_samplers[k]))
            return complain(EXIT_WRONG, "The method '%s' does not take --%s, which is for samplers.", method,
                            of_samplers[k]);
        if (sweeps && options_given(s->set, of_chains[k]))
            return complain(EXIT_WRONG, "The method '%s' does not take --%s; use -n, -t, --warmup and --draws.", method,
                            of_chains[k]);
        if (!sampler && options_given(s->set, of_chains[k]))
            return complain(EXIT_WRONG, "The method '%s' does not take --%s, which is for samplers of whole chains.",
                            method, of_chains[k]);
    }
    if (s->method.yield == SVMP_DRAWS && options_given(s->set, "iterations"))
        return complain(EXIT_WRONG, "The method '%s' does not take --iterations: it does not iterate.", method);
    return 0;
}

/* Values of unknowns, as JAGS and Stan take them, not particles. */
static int has_values(const char *path) {
    static const char *const endings[] = {".R", ".r", ".json", ".txt", ".dump"};
    const char *ending = strrchr(path, '.');
    for (size_t k = 0; ending && k < sizeof endings / sizeof *endings; k++)
        if (strcmp(ending, endings[k]) == 0) return 1;
    return 0;
}

/* The file is read once, since it may be a pipe; of several processes each reads its own variables later. */
static int count_start(session *s, const char *path, size_t *count) {
    if (svmp_context_processes(s->context) == 1) {
        const int status = read_particles(s->context, path, &s->start);
        *count = svmp_particles_count(s->start);
        return status;
    }
    const svmp_status status = svmp_particles_read_count(s->context, path, count);
    return status == SVMP_OK ? 0 : failed(s->context, status);
}

/* --init gaussian:FILE.nc: a damaged file may crash HDF5, and is first read where that does no harm. */
static int check_point(session *s) {
    static const char fitted[] = "gaussian:";
    const char *init = options_given(s->set, "init"), *ending = init ? strrchr(init, '.') : NULL;
    svmp_particles *particles = NULL;
    if (ending == NULL || strcmp(ending, ".nc") != 0 || strncmp(init, fitted, strlen(fitted)) != 0) return 0;
    const int status = read_particles(s->context, init + strlen(fitted), &particles);
    svmp_particles_free(particles);
    return status;
}

/* Without -n there are as many particles as the file has; with -n the start gives each its row (svmp_run_start_from).
 */
static int read_start(session *s) {
    const char *path = start_file(s->set);
    size_t count = 0;
    if (path == NULL) return check_point(s);
    if (has_values(path)) return 0;
    if (is_misspelt_start(path)) return EXIT_WRONG;
    const int wrong = count_start(s, path, &count);
    if (wrong) return wrong;
    if (count == 1) return 0; /* one point, around which all are spread */
    if (options_given(s->set, "particles")) return 0;
    if (s->method.sweeps && count >= asked_count(s->options, "particles")) return 0; /* the last of equal parts */
    const svmp_status status = svmp_options_set_count(s->options, "particles", count);
    return status == SVMP_OK ? 0 : failed(s->context, status);
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
                    "Several processes cannot write the NetCDF file '%s', because none of them holds all particles; "
                    "use a file that ends in .csv.",
                    path);
}

/* How long the particles may be examined; the rest of --verify auto follows from how long the run took. */
static int read_verify(session *s) {
    static const char *const names[] = {"auto", "yes", "no"};
    static const double seconds[] = {5, INFINITY, 0};
    const char *when = options_value(s->set, "verify");
    for (size_t k = 0; k < 3; k++)
        if (strcmp(when, names[k]) == 0) return s->examines = seconds[k], 0;
    return complain(EXIT_WRONG, "The option '--verify' must be auto, yes or no, not '%s'.", when);
}

/* What every process does by itself. */
static int read_all(session *s) {
    int status = is_speaker() ? keeper_check(s->set) : 0;
    if (status == 0 && is_speaker() && keeper_path(s->set)) {
        status = file_lock_take(&s->lock, keeper_path(s->set));
        if (status == 0)
            status = keeper_check(s->set); /* another run may have made the file before the lock was taken */
    }
    if (status == 0) status = progress_parse(options_value(s->set, "progress"), &s->mode);
    if (options_given(s->set, "quiet") || !is_speaker()) s->mode = PROGRESS_NONE;
    if (status == 0) status = read_verify(s);
    if (status == 0) status = read_options(s);
    if (status == 0) status = check_processes(s);
    if (status == 0) status = check_sizes(s);
    if (status == 0) status = writer_begin(&s->writer, s->set, s->options, &s->method);
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
        const option_row *row = &s->set->rows[k];
        const char *value = s->set->values[k];
        char what[64];
        snprintf(what, sizeof what, "the option --%s", row->name);
        if (value && !row->argument) value = "given";
        if (strcmp(row->name, "threads") != 0)
            same = svmp_context_compare(s->context, what, value ? value : "not given");
    }
    return same == SVMP_OK ? 0 : failed(s->context, same);
}

/* Every process read a start file with the same number of particles; the bytes are compared later. */
static int compare_starts(const session *s) {
    const char *path = start_file(s->set);
    char what[300], count[48];
    if (path == NULL) return 0;
    snprintf(what, sizeof what, "the start '%.250s'", path);
    snprintf(count, sizeof count, "%s particles", svmp_options_get(s->options, "particles"));
    const svmp_status same = svmp_context_compare(s->context, what, count);
    return same == SVMP_OK ? 0 : failed(s->context, same);
}

static svmp_status start(session *s) {
    const char *path = start_file(s->set);
    if (path == NULL) return SVMP_OK;
    const svmp_status status =
        s->start ? svmp_run_start_from(s->run, s->start) : svmp_run_start_from_file(s->run, path);
    svmp_particles_free(s->start);
    s->start = NULL;
    return status;
}

static int prepare(session *s) {
    const char *from = options_given(s->set, "resume");
    int status = join(s);
    if (status == 0) status = compare_options(s);
    if (status == 0) status = settle(s->context, read_all(s));
    if (status == 0) status = compare_starts(s);
    if (status) return status;
    s->coordinates = options_given(s->set, "coordinates");
    if (s->coordinates == NULL) s->coordinates = s->method.coordinates;
    const svmp_reading how = {options_given(s->set, "monitor"), s->coordinates};
    svmp_status made = svmp_model_read_split(s->context, s->set->operand_count, (const char *const *)s->set->operands,
                                             &how, &s->model, &s->split);
    if (made == SVMP_OK && (s->mode == PROGRESS_LIVE || s->mode == PROGRESS_LINES))
        estimate_start(s->set, s->options, &s->method, s->model);
    if (made == SVMP_OK) made = svmp_run_create(s->model, s->options, &s->run);
    if (made == SVMP_OK) made = start(s);
    if (made == SVMP_OK && from) made = svmp_run_load(s->run, from);
    return made == SVMP_OK ? writer_choose(&s->writer, s->context, s->model, s->run) : failed(s->context, made);
}

/* Mean and sd from the precision itself; the quantiles of a Gaussian follow. What is monitored, or drawn after the run,
 * keeps its own: it is none of the model's variables. */
static int exact_moments(const session *s, size_t shown, const size_t *which, svmp_moments *moments) {
    const svmp_particles *from = s->record.processes > 1 ? s->first : s->result;
    const double z95 = 1.6448536269514722;
    const size_t variables = svmp_graph_variables(svmp_model_graph(s->model));
    double *both = calloc(2 * variables, sizeof *both);
    char name[NAME_ROOM];
    if (both == NULL) return complain(EXIT_FAILED, "Out of memory.");
    svmp_status status = svmp_model_exact_moments(s->model, both, both + variables);
    for (size_t i = 0; i < variables; i++) {
        svmp_model_variable_name(s->model, i, name, sizeof name);
        for (size_t k = 0; k < shown; k++) {
            if (strcmp(name, svmp_particles_name(from, which[k])) != 0) continue;
            const double mean = both[i], sd = sqrt(both[variables + i]);
            moments[k] = (svmp_moments){mean, sd, mean - z95 * sd, mean, mean + z95 * sd};
        }
    }
    free(both);
    return status == SVMP_OK ? 0 : failed(s->context, status);
}

/* Moments of the variables that are shown, and the mixing of the first `count`: of several processes none has more than
 * `first`. */
static int measure_moments(const session *s, size_t shown, const size_t *which, svmp_moments *moments, size_t count,
                           svmp_mixing *mixing) {
    const int several = svmp_context_processes(s->context) > 1; /* each has the result of its own part */
    svmp_status status = svmp_particles_summarise(several ? s->first : s->result, shown, which, moments, NULL);
    if (status == SVMP_OK && svmp_particles_are_chains(s->result))
        status = svmp_particles_summarise(several && count <= shown ? s->first : s->result, count, NULL, NULL, mixing);
    if (status != SVMP_OK) return failed(s->context, status);
    return s->method.yield == SVMP_DRAWS ? exact_moments(s, shown, which, moments) : 0;
}

/* The variables that are shown: all; or of many, scalars and small arrays before others. The parts of several processes
 * know their first ones. */
static size_t choose_shown(const session *s, size_t which[VARIABLES_SHOWN]) {
    const size_t variables = svmp_particles_whole(s->result);
    size_t count = 0, more = 0;
    overview o = {0};
    for (size_t k = 0; k < VARIABLES_SHOWN; k++) which[k] = k;
    if (variables <= VARIABLES_SHOWN) return variables;
    if (s->record.processes > 1 || !overview_make(s->result, &o)) return FIRST_SHOWN;
    count = overview_scalars(&o, FIRST_SHOWN, which, &more);
    for (size_t k = 0; count < FIRST_SHOWN; k++) { /* o.order: array after array, as they come */
        int taken = 0;
        for (size_t j = 0; j < count; j++) taken |= which[j] == o.order[k];
        if (!taken) which[count++] = o.order[k];
    }
    overview_free(&o);
    return count;
}

/* How the processes share the work. */
static void print_split(const svmp_split *split) {
    if (split->processes == 1) return;
    printf("%zu processes; the busiest has %s more work than average; %zu of %zu edge%s cut\n", split->processes,
           percentage(split->imbalance, (char[32]){0}), split->cut, split->edges, plural(split->edges));
}

/* How the run ended, without contradicting the verdict below. */
static const char *end_word(const session *s) {
    const svmp_verdict *v = s->record.verdict;
    const int doubted = v && (verdict_finding(v) == SVMP_FAILED || verdict_veto(v) != SVMP_VETO_NONE);
    const int by_itself = s->record.outcome == SVMP_CONVERGED ||
                          (s->record.outcome == SVMP_COMPLETED && v && verdict_veto(v) == SVMP_VETO_UNSETTLED);
    return doubted && by_itself ? svmp_verdict_word(v) : outcome_word(s->record.outcome);
}

/* How to have the particles examined after all, or for longer. */
static void explain_skipped(const session *s) {
    const svmp_verdict *v = s->record.verdict;
    const svmp_unexamined why = (svmp_unexamined)(int)svmp_verdict_number(v, "unexamined");
    const int out_of_time = why == SVMP_OUT_OF_TIME && verdict_finding(v) != SVMP_FAILED;
    const int unasked = why == SVMP_UNASKED && verdict_finding(v) == SVMP_NOT_EXAMINED;
    if (verdict_veto(v) != SVMP_VETO_NONE || s->method.yield == SVMP_CHAINS || (!out_of_time && !unasked)) return;
    printf("To examine %s: ", out_of_time ? "them without a limit of time" : "them");
    if (s->writer.written)
        printf("svmp verify %s MODEL [DATA...]; or run with --verify yes.\n", s->writer.written);
    else
        printf("run with --verify yes.\n");
}

static int print_result(session *s) {
    const size_t variables = svmp_particles_whole(s->result);
    size_t which[VARIABLES_SHOWN];
    const size_t shown = choose_shown(s, which);
    const svmp_particles *from = s->record.processes > 1 ? s->first : s->result;
    const int exact = s->method.yield == SVMP_DRAWS;
    const int chains = svmp_particles_are_chains(s->result);
    const size_t mixed = s->record.processes > 1 ? shown : variables;
    char step[STEP_TEXT];
    svmp_moments moments[VARIABLES_SHOWN];
    svmp_mixing *mixing = calloc(variables + 1, sizeof *mixing);
    if (mixing == NULL) return complain(EXIT_FAILED, "Out of memory.");
    int wrong = measure_moments(s, shown, which, moments, mixed, mixing);
    if (wrong) {
        free(mixing);
        return wrong;
    }

    printf("%s: ", s->method.name);
    print_size(s->result, s->method.yield);
    printf(" of %zu variable%s, %zu iteration%s in %.3g s, %s\n\n", variables, plural(variables), s->record.iterations,
           plural(s->record.iterations), s->record.seconds, end_word(s));
    int width = names_width(from, shown, which);
    print_moments_heading(width, chains);
    for (size_t k = 0; k < shown; k++)
        print_moments(width, svmp_particles_name(from, which[k]), &moments[k], chains ? &mixing[which[k]] : NULL);
    print_probabilities(s->result);
    if (s->record.processes == 1) print_criteria(s->result);
    print_split(&s->split);
    print_sampling(s->result, svmp_run_setting(s->run, "step", step, sizeof step));
    const svmp_verdict *verdict = s->record.verdict;
    s->clear = exact || (verdict && svmp_verdict_is_clear(verdict));
    if (chains && !(verdict && s->record.processes > 1))
        print_mixing(mixed > shown ? s->result : s->first, mixed, NULL, mixing);
    print_convergence(&s->record.convergence, 0);
    if (verdict) verdict_print(verdict);
    if (verdict) explain_skipped(s);
    free(mixing);
    if (exact && variables > svmp_graph_variables(svmp_model_graph(s->model)))
        printf("These numbers are exact, except for nodes that are monitored or drawn after the run; the particles are "
               "independent draws.\n");
    else if (exact)
        printf("These numbers are exact; the particles are independent draws.\n");
    else
        print_caveat(s->method.yield);
    const size_t more = variables - shown;
    const char *path = s->writer.written;
    if (more && path) printf("%zu more variable%s: svmp summary %s\n", more, plural(more), path);
    if (more && !path) printf("%zu more variable%s: use -o FILE to keep them all\n", more, plural(more));
    return 0;
}

/* A sampler that has not left its warm-up has no draws to show or write. */
static int explain_warmup(const session *s) {
    complain(EXIT_INTERRUPTED, "Interrupted after %zu of %zu warm-up iterations: there are no draws yet.",
             svmp_run_iteration(s->run), s->warmup);
    keeper_say_how(&s->keeper, s->set);
    return EXIT_INTERRUPTED;
}

/* What may keep the particles of another run finite. */
static void advise_finite(const session *s) {
    char step[STEP_TEXT], text[STEP_TEXT], kernel[STEP_TEXT];
    const char *smaller = scaled_step(svmp_run_setting(s->run, "step", step, sizeof step), 0.1, text);
    char init[STEP_TEXT];
    const char *from = svmp_run_setting(s->run, "init", init, sizeof init); /* the method's own, if none was given */
    const int fitted = from && strncmp(from, "gaussian", strlen("gaussian")) == 0;
    if (s->method.yield != SVMP_PARTICLES) return;
    if (svmp_run_iteration(s->run) == 0)
        complain(EXIT_FAILED,
                 "Try another start: %s--init normal:0.1. If there is none that works, the posterior may be improper: "
                 "give all unknowns proper priors.",
                 fitted ? "" : "--init gaussian, or ");
    else if (svmp_run_setting(s->run, "kernel", kernel, sizeof kernel) == NULL)
        complain(EXIT_FAILED,
                 "Langevin moves grow with the score: try a smaller step (%s%s), or -m mala, which rejects such moves.",
                 smaller, fitted ? "" : " --init gaussian");
    else
        complain(EXIT_FAILED, "Try a smaller step%s: %s%s.", fitted ? "" : " or a start from a Gaussian fit", smaller,
                 fitted ? "" : ", --init gaussian");
}

/* What there is to say about a run that did not come to its end. */
static int explain_end(const session *s, svmp_status ended) {
    if (ended == SVMP_NOT_FINITE) {
        if (s->writer.written) complain(EXIT_FAILED, "The last finite particles are in '%s'.", s->writer.written);
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
                 "Without --checkpoint the run cannot be resumed; --init %s starts a new run from these particles.",
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
    s->watch.expected = svmp_run_expected(s->run);
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

/* While the particles are examined, only an interruption counts. */
static int watch_examination(const svmp_progress *state, void *user_data) {
    session *s = user_data;
    (void)state;
    return progress_interrupted() || s->interrupted;
}

/* What the particles are worth: at the price of a third of the run, or of seconds. Without memory for it the result
 * stays unjudged, and is kept. */
static void judge(session *s, double seconds) {
    run_record *record = &s->record;
    const int finished = record->outcome == SVMP_COMPLETED || record->outcome == SVMP_CONVERGED;
    const double third = seconds / 3, examines = finished && record->iterations > 0 ? s->examines : 0;
    if (s->method.yield != SVMP_PARTICLES && s->method.yield != SVMP_CHAINS) return;
    svmp_status judged = svmp_run_set_monitor(s->run, watch_examination, s);
    if (judged == SVMP_OK) judged = svmp_verdict_create(s->context, &s->verdict);
    if (judged == SVMP_OK)
        judged = svmp_run_verdict(s->run, record->convergence.known ? s->nodes : NULL,
                                  examines > 0 ? fmax(examines, third) : 0, s->verdict);
    if (judged == SVMP_NO_MEMORY || judged == SVMP_BAD_CALL) {
        failed(s->context, judged);
        return;
    }
    if (record->outcome == SVMP_DIVERGED) svmp_verdict_veto(s->verdict, SVMP_VETO_DIVERGED, 0, NULL);
    record->verdict = s->verdict;
    progress_tell_verdict(&s->watch, s->verdict);
}

/* The result with all that is told of it: how it ended, and where it stands. */
static int take_result(session *s, svmp_outcome outcome, double seconds) {
    s->record = (run_record){
        .set = s->set,
        .run = s->run,
        .coordinates = s->coordinates,
        .processes = svmp_context_processes(s->context),
        .outcome = outcome,
        .iterations = svmp_run_iteration(s->run),
        .resumed = s->watch.first,
        .seconds = seconds,
        .warmup = s->warm,
        .thin = 1,
    };
    s->nodes = calloc(svmp_graph_nodes(svmp_model_graph(s->model)) + 1, sizeof *s->nodes);
    const int measurable = outcome != SVMP_DIVERGED && !svmp_context_any(s->context, s->nodes == NULL);
    if (measurable) s->record.convergence = convergence_measure(s->context, s->run, s->model, s->nodes);
    judge(s, seconds);
    svmp_status taken = svmp_run_particles(s->run, &s->result);
    if (taken != SVMP_OK) return failed(s->context, taken);
    if (convergence_attach(s->context, &s->record.convergence, s->model, s->nodes, s->result) != SVMP_OK)
        complain(EXIT_DONE, "warning: the result lacks the discrepancies of the nodes: there is not enough memory.");
    s->record.particles = svmp_particles_count(s->result);
    return writer_leave_out(&s->writer, s->model, &s->result);
}

/* What is written comes first: whatever fails afterwards, it is there. */
static int finish(session *s, svmp_status ended) {
    const int unwritten = writer_write(&s->writer, s->result, &s->record);
    int status = 0;
    if (ended == SVMP_OK) {
        const svmp_status taken = svmp_particles_first(s->result, VARIABLES_SHOWN, &s->first);
        status = taken == SVMP_OK ? print_result(s) : failed(s->context, taken);
    }
    if (unwritten && ended == SVMP_OK) keeper_say_how(&s->keeper, s->set);
    if (unwritten || status) return unwritten ? unwritten : status;
    const int explained = explain_end(s, ended);
    return explained == EXIT_DONE && options_given(s->set, "require-converged") && !s->clear ? EXIT_FAILED : explained;
}

static int go(session *s) {
    char text[32];
    const char *warmup = svmp_run_setting(s->run, "warmup", text, sizeof text);
    svmp_outcome outcome = SVMP_UNFINISHED;
    s->warmup = warmup ? strtoul(warmup, NULL, 10) : 0;
    s->measures = (options_given(s->set, "output") || keeper_path(s->set)) &&
                  svmp_run_setting(s->run, "kernel", text, sizeof text);
    progress_begin(&s->watch, s->mode, &s->method, svmp_run_iteration(s->run));
    s->watch.result = estimate_result(s->run, s->options, &s->method, s->model);
    s->watch.begun = s->watch.started - s->began;
    s->watch.warmup = s->warmup;
    if (s->method.yield == SVMP_PARTICLES && s->examines > 0)
        s->watch.after = estimate_examination(s->options, &s->method, s->model, &s->watch.result);
    keeper_begin(&s->keeper, s->set, s->context, s->run);
    guard_begin(&s->keeper, s->set);
    svmp_status ended = svmp_run_set_monitor(s->run, watch, s);
    if (ended == SVMP_OK) ended = svmp_run_set_lag(s->run, PROGRESS_MAY_LAG);
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
    const int status = take_result(s, ended == SVMP_OK ? outcome : SVMP_DIVERGED, seconds);
    if (status == 0) return finish(s, ended);
    keeper_say_how(&s->keeper, s->set);
    return status;
}

static int run(const option_set *set) {
    session s = {.set = set, .began = progress_clock()};
    int status = prepare(&s);
    if (status == 0) status = go(&s);
    guard_end();
    file_unlock(&s.lock);
    free(s.nodes);
    writer_free(&s.writer);
    svmp_particles_free(s.start);
    svmp_particles_free(s.result);
    svmp_particles_free(s.first);
    svmp_verdict_free(s.verdict);
    svmp_run_free(s.run);
    svmp_model_free(s.model);
    svmp_options_free(s.options);
    svmp_context_free(s.context);
    return status;
}

const command command_run = {
    .name = "run",
    .operands = "MODEL [DATA...]",
    .least = 1,
    .most = SIZE_MAX,
    .summary = "Run inference and print a summary",
    .joins = 1,
    .text =
        "MODEL is a text in the model language (.bug, .jags or .txt) and DATA its data (.json, .csv, .R, .txt\n"
        "or .dump, in any combination). Or MODEL is the precision A of a Gaussian exp(b'x \\- x'Ax/2) as a Matrix\n"
        "Market file (.mtx), and DATA, if given, is the vector b in the same format. The particles are written to\n"
        "the file of\n.BR \\-o ;\na table of moments goes to standard output and the progress to standard error.\n"
        ".PP\nThe options for samplers apply to the method nuts, which takes them in place of\n"
        ".BR \\-n \" and \" \\-t .\n"
        "The particles of\n.B local\nare chains, and its iterations are sweeps: of\n.B \\-t\nsweeps, the first\n"
        ".B \\-\\-warmup\nadapt, and of the rest at most\n.B \\-\\-draws\nare kept, evenly spaced.\n.PP\n"
        "When interrupted by Ctrl-C or SIGTERM, the run stops after the current iteration and writes its results\n"
        "so far. When interrupted again, a second or more later, it is aborted. A run whose numbers are no longer\n"
        "finite fails and writes its last finite particles.\n.PP\n"
        "At its end a run is judged: particles by their discrepancy and last step, chains by R-hat, effective\n"
        "draws, divergences and energy, and both by a\n"
        "cross-examination like that of\n.BR \"svmp verify\" ,\n"
        "which may take a third of the time of the run, or 5 seconds if that is more. The verdict is the last line\n"
        "of the table and is written to the file. With\n.B \\-\\-require\\-converged\n"
        "the exit status is 1 unless the particles pass. Samplers pass if their chains have mixed and some of their\n"
        "draws stand the examination.\n.PP\nWith\n"
        ".B \\-\\-checkpoint\n"
        "the run saves its state to a file at intervals, when it is interrupted, and at the end. The same command\n"
        "with\n.B \\-\\-resume\n"
        "continues from there and computes the same numbers as an uninterrupted run. It saves its own checkpoints\n"
        "to the same file unless\n.B \\-\\-checkpoint\n"
        "names another. The options must be the same, except that the number of iterations (of draws, for a\n"
        "sampler) may be larger, unless the step size falls along the iterations.\n"
        ".PP\n.B \\-\\-coordinates\n"
        "says what a node moves in if its prior is dnorm, dlnorm, dt, dlogis or ddexp with an unknown location or\n"
        "scale: itself (centred), its distance from the location in units of the scale (noncentred), or what the\n"
        "data and the prior suggest, node by node (auto). The default is auto for transport, local and nuts, and\n"
        "centred for the other methods. The results are on the scale of the model in any case\n"
        ".RB ( docs/coordinates.md ).\n"
        ".PP\nThe unknowns of the model are reported.\n.B \\-\\-monitor\n"
        "adds deterministic nodes, computed from each particle.\n.PP\n"
        "Stan's tools read one file per chain, which\n.B \\-\\-split\nwrites: FILE_1.csv, FILE_2.csv and so on.\n"
        ".PP\n.B mpirun \\-n P svmp run ...\n"
        "splits a large model among several processes, on one or more machines\n"
        ".RB ( docs/distributed.md ).\n"
        "All processes must be given the same files and options; the first one writes the results.\n"
        ".PP\nThe names of\n.B \\-\\-save\nare variables or arrays: x stands for x.1, x.2 and so on.\n"
        ".PP\nThe particles of\n.B dpmp\nand\n.B tpmp\n"
        "are modes, not a sample of the posterior: row l holds the lth choice of each node on its own, and the\n"
        "first row is the best configuration. These methods need models whose factors touch at most two nodes.\n",
    .options = options,
    .run = run,
};
