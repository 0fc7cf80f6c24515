#include <stdlib.h>
#include <string.h>

#include "base/comment_lines.h"
#include "command_table.h"
#include "convergence.h"
#include "front/memory_file.h"
#include "print_verdict.h"
#include "read_samples.h"
#include "stage_progress.h"

static const option_row rows[] = {
    {"moves", 0, "N", "1280", "maximum moves per particle (at least 30)", "Examination"},
    {"seconds", 0, "S", "0", "stop after about S seconds; 0: no limit", "Examination"},
    {"seed", 0, "N", "", "random seed of the moves (default: the seed of the run)", "Examination"},
    {"coordinates", 0, "centred|noncentred|auto", "",
     "parametrisation of the model (default: that of the run, or auto)", "Examination"},
    {"local", 0, NULL, "", "use only local moves; under mpirun: on parts of the model", "Examination"},
    {"require-converged", 0, NULL, "", "exit with status 1 unless the particles pass", "Examination"},
    {"threads", 0, "N", "0", "threads; 0: all, shared under mpirun", "Machine"},
};

static void options(option_set *set) { options_add(set, sizeof rows / sizeof *rows, rows); }

enum { COORDINATES = 64, FEWEST = 10 }; /* FEWEST: particles */

/* Everything that is freed at the end of the command. */
typedef struct session {
    const option_set *set;
    size_t moves;
    double seconds;
    size_t count; /* of particles in the file */
    int split;    /* several processes have parts of the model, and read their own variables */
    char coordinates[COORDINATES], seed[COORDINATES];
    const char *comments; /* the record of the file, or "" */
    char *lines;          /* those that several processes read */
    svmp_context *context;
    svmp_model *model;
    svmp_options *options;
    svmp_particles *particles, *fewer; /* NULL: processes read their own variables */
    svmp_run *run;
    svmp_verdict *verdict;
    stage stage; /* of a long examination */
} session;

/* The lines above the table of a CSV file, without their "# ". */
static char *read_comments(const char *path) {
    char *text = NULL, *line = NULL;
    size_t size = 0, room = 0;
    FILE *file = fopen(path, "r"), *to = file ? open_written(&text, &size) : NULL;
    while (to && getline(&line, &room, file) > 0 && *line == '#') fputs(line + 1 + (line[1] == ' '), to);
    free(line);
    if (to) close_written(to, &text);
    if (file) fclose(file);
    return text;
}

/* The particles, or of several processes, which read their own variables later, what is known about them. */
static int read_file(session *s) {
    const char *path = s->set->operands[0];
    char method[32];
    if (!s->split) {
        const int status = read_particles(s->context, path, &s->particles);
        if (status) return status;
        s->count = svmp_particles_count(s->particles);
        s->comments = svmp_particles_comments(s->particles);
    } else {
        const svmp_status counted = svmp_particles_read_count(s->context, path, &s->count);
        if (counted != SVMP_OK) return failed(s->context, counted);
        s->comments = s->lines = read_comments(path);
    }
    if (s->comments == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    svmp_method described;
    if (s->split && svmp_comment_find(s->comments, "method", method, sizeof method) &&
        svmp_method_describe(s->context, method, &described) == SVMP_OK && described.yield == SVMP_YIELD_CHAINS)
        return report_error(
            EXIT_WRONG,
            "'%s' contains draws of chains, which cannot be verified in parts: leave out --local, or mpirun.", path);
    return 0;
}

/* The value of an option: as given, or else that of the run, or else the default. */
static void choose(const session *s, const char *name, const char *otherwise, char *value) {
    const char *given = options_given(s->set, name);
    if (given)
        snprintf(value, COORDINATES, "%.60s", given);
    else if (!svmp_comment_find(s->comments, name, value, COORDINATES))
        snprintf(value, COORDINATES, "%s", otherwise);
}

static int read_all(session *s) {
    int status = read_count("moves", options_value(s->set, "moves"), 40, 1000000, &s->moves);
    if (status == 0) status = read_real("seconds", options_value(s->set, "seconds"), 0, 1e9, &s->seconds);
    if (status == 0) status = read_file(s);
    if (status) return status;
    char method[32];
    choose(s, "seed", "1", s->seed);
    choose(s, "coordinates", svmp_comment_find(s->comments, "method", method, sizeof method) ? "centred" : "auto",
           s->coordinates); /* a record without them is of a run in the coordinates of the text */
    return 0;
}

static int prepare(session *s) {
    const char *const *files = (const char *const *)s->set->operands;
    int status = open_joined_context(s->set, &s->context);
    s->split = status == 0 && svmp_context_processes(s->context) > 1 && options_given(s->set, "local");
    if (status == 0) status = agree_on_status(s->context, read_all(s));
    if (status) return status;
    const svmp_reading how = {.coordinates = s->coordinates};
    const size_t count = s->set->operand_count - 1;
    const svmp_status made = s->split ? svmp_model_read_split(s->context, count, files + 1, &how, &s->model, NULL)
                                      : svmp_model_read_shared(s->context, count, files + 1, &how, &s->model);
    return made == SVMP_OK ? 0 : failed(s->context, made);
}

/* Draws whose chains judge themselves: those of a sampler, or of another program. The draws of other methods are
 * matched to averages, and the run has judged these. */
static int are_of_sampler(const session *s) {
    char method[32];
    svmp_method described;
    if (s->particles == NULL || !svmp_particles_are_chains(s->particles)) return 0;
    return !svmp_comment_find(s->comments, "method", method, sizeof method) ||
           svmp_method_describe(s->context, method, &described) != SVMP_OK || described.yield == SVMP_YIELD_CHAINS;
}

/* Draws of chains: those that are nearly independent; of a method that is no sampler, the last one of each chain. Other
 * particles: at most 500, evenly spaced. */
static svmp_status choose_particles(session *s, const svmp_particles **start) {
    *start = s->particles;
    if (s->particles == NULL || !svmp_particles_are_chains(s->particles)) return SVMP_OK;
    svmp_examination numbers;
    svmp_status chosen = svmp_verdict_examination(s->verdict, &numbers);
    const size_t each = svmp_particles_count(s->particles) / svmp_particles_chains(s->particles),
                 every = are_of_sampler(s) ? numbers.every : each;
    if (chosen != SVMP_OK || every < 2) return chosen;
    chosen = svmp_particles_select(s->particles, svmp_particles_variables(s->particles), NULL, every, &s->fewer);
    *start = s->fewer;
    return chosen;
}

/* A run that never moves holds the particles. */
static svmp_status place(session *s) {
    const svmp_particles *start;
    svmp_status status = choose_particles(s, &start);
    if (status != SVMP_OK) return status;
    const size_t count = start ? svmp_particles_count(start) : s->count;
    status = svmp_options_create(s->context, &s->options);
    if (status == SVMP_OK) status = svmp_options_set(s->options, "method", "langevin"); /* which needs no kernel */
    if (status == SVMP_OK) status = svmp_options_set(s->options, "seed", s->seed);
    if (status == SVMP_OK) status = svmp_options_set(s->options, "init", "normal:0.001");
    if (status == SVMP_OK) status = svmp_options_set_count(s->options, "particles", count);
    if (status == SVMP_OK) status = svmp_run_create(s->model, s->options, &s->run);
    if (status != SVMP_OK) return status;
    return start ? svmp_run_start_from(s->run, start) : svmp_run_start_from_file(s->run, s->set->operands[0]);
}

/* Judges draws of chains by R-hat and effective draws, and adds what the record of the run says. */
static svmp_status weigh(session *s) {
    if (s->count < FEWEST) svmp_verdict_veto(s->verdict, SVMP_NOTE_FEW_PARTICLES, FEWEST, NULL);
    const svmp_status judged = are_of_sampler(s) ? svmp_chains_verdict(s->particles, s->verdict) : SVMP_OK;
    svmp_verdict_recall(s->verdict, s->comments);
    return judged;
}

static int watch(const svmp_progress *state, void *user_data) {
    session *s = user_data;
    stage_update(&s->stage, state->iteration, state->iterations);
    return 0;
}

static svmp_status show_stage(session *s) {
    progress_mode mode = PROGRESS_NONE;
    if (is_reporting()) progress_parse("auto", &mode);
    stage_begin(&s->stage, mode, "examination");
    const svmp_status status = svmp_context_set_log(s->context, stage_print_log, &s->stage);
    return status == SVMP_OK ? svmp_run_set_monitor(s->run, watch, s) : status;
}

/* Chains that have not mixed are not examined: a run does not do it, either. */
static svmp_status examine_particles(session *s) {
    const int local = options_given(s->set, "local") != NULL;
    svmp_status status = svmp_verdict_create(s->context, &s->verdict);
    if (status == SVMP_OK) status = weigh(s);
    if (status == SVMP_OK) status = place(s);
    if (status == SVMP_OK) status = show_stage(s);
    if (status != SVMP_OK) return status;
    const double seconds = are_of_sampler(s) && verdict_result(s->verdict).kind == SVMP_REFUSAL ? -1 : s->seconds;
    status = (local ? svmp_run_examine_locally : svmp_run_examine)(s->run, seconds, s->moves, s->verdict);
    stage_end(&s->stage);
    return status == SVMP_OK ? weigh(s) : status;
}

static int examine(session *s) {
    const svmp_status status = examine_particles(s);
    if (status != SVMP_OK) return failed(s->context, status);
    const svmp_verdict *v = s->verdict;
    svmp_examination of = {0};
    svmp_verdict_examination(v, &of);
    if (is_reporting() && of.moves > 0) {
        printf("%zu particles of %zu variable%s, %zu exact moves each in %.2g s\n\n", of.particles, of.variables,
               plural(of.variables), of.moves, of.seconds);
        verdict_print_drifts(v);
    }
    if (is_reporting()) verdict_print(v);
    return options_given(s->set, "require-converged") && !svmp_verdict_is_clear(v) ? EXIT_FAILED : 0;
}

static int run(const option_set *set) {
    session s = {.set = set};
    int status = prepare(&s);
    if (status == 0) status = examine(&s);
    svmp_verdict_free(s.verdict);
    svmp_run_free(s.run);
    svmp_options_free(s.options);
    svmp_particles_free(s.fewer);
    free(s.lines);
    svmp_particles_free(s.particles);
    svmp_model_free(s.model);
    svmp_context_free(s.context);
    return status;
}

const command command_verify = {
    .name = "verify",
    .operands = "FILE MODEL [DATA...]",
    .least = 2,
    .most = SIZE_MAX,
    .summary = "Cross-examine particles with exact moves",
    .joins = 1,
    .text =
        "Moves every particle of FILE by exact moves of the posterior: node-wise Metropolis moves and Hamiltonian\n"
        "trajectories, independent of the method that produced the particles. If the particles are exact draws,\n"
        "their means, sds, quantiles, scores and log density change only by chance. Variables that change\n"
        "significantly are listed, the worst first, with the size and the direction of the error.\n.PP\n"
        "The particles pass or fail, or the verdict is undecided if the moves mix too slowly. MODEL and DATA are\n"
        "the same as for\n.BR \"svmp run\" .\n"
        "If there are more than 500 particles, 500 evenly spaced ones are examined. Draws of chains are also judged\n"
        "by R-hat, effective draws, divergences and energy, and at most 200 of them are moved. Problems that FILE\n"
        "records (an interrupted run, averages that have not settled) also prevent a pass. By default the seed and\n"
        "the coordinates are those recorded in FILE, so the verdict is the same as that of the run. The exit\n"
        "status is 0 whatever the verdict, unless\n.B \\-\\-require\\-converged\nis given.\n"
        "A mode that no particle has found and that the moves cannot reach is not detected (docs/diagnostics.md).\n"
        ".PP\n"
        ".B mpirun \\-n P svmp verify ...\n"
        "shares the particles among the processes, each of which has the whole model. With\n"
        ".B \\-\\-local\n"
        "the model is split, so that it may be larger; there are local moves only, and no search for other modes.\n"
        "The result is that of one process, bit for bit.\n",
    .options = options,
    .run = run,
};
