#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "convergence.h"
#include "record.h"
#include "sample.h"
#include "verdict.h"

static const option_row rows[] = {
    {"moves", 0, "N", "640", "most moves of each particle, 40 or more", "Examination"},
    {"seconds", 0, "S", "0", "stop after about S seconds; 0: no limit", "Examination"},
    {"seed", 0, "N", "1", "seed of the moves' random numbers", "Examination"},
    {"require-converged", 0, NULL, "", "exit with status 1 unless the particles pass", "Examination"},
    {"threads", 0, "N", "0", "threads; 0: all", "Machine"},
};

static void options(option_set *set) { options_add(set, sizeof rows / sizeof *rows, rows); }

/* All that is held, so that there is one place where it ends. */
typedef struct session {
    const option_set *set;
    size_t moves;
    double seconds;
    svmp_context *context;
    svmp_model *model;
    svmp_options *options;
    svmp_particles *particles, *fewer;
    svmp_run *run;
    svmp_verdict verdict;
} session;

static int prepare(session *s) {
    const char *const *files = (const char *const *)s->set->operands;
    int status = read_count("moves", options_value(s->set, "moves"), 40, 1000000, &s->moves);
    if (status == 0) status = read_real("seconds", options_value(s->set, "seconds"), 0, 1e9, &s->seconds);
    if (status == 0) status = open_context(s->set, &s->context);
    if (status == 0) status = read_particles(s->context, files[0], &s->particles);
    if (status) return status;
    svmp_status made = svmp_model_read(s->context, s->set->operand_count - 1, files + 1, &s->model);
    return made == SVMP_OK ? 0 : failed(s->context, made);
}

/* A run that never moves holds the particles: draws of chains are thinned first. */
static svmp_status place(session *s) {
    enum { MOST = 500 };
    const size_t count = svmp_particles_count(s->particles), chains = svmp_particles_chains(s->particles);
    const size_t each = count / chains, every = (count + MOST - 1) / MOST;
    const svmp_particles *start = s->particles;
    if (every > 1 && each / every > 0) {
        const svmp_status chosen =
            svmp_particles_select(s->particles, svmp_particles_variables(s->particles), NULL, every, &s->fewer);
        if (chosen != SVMP_OK) return chosen;
        start = s->fewer;
    }
    svmp_status status = svmp_options_create(s->context, &s->options);
    if (status == SVMP_OK) status = svmp_options_set(s->options, "method", "langevin"); /* which needs no kernel */
    if (status == SVMP_OK) status = svmp_options_set(s->options, "seed", options_value(s->set, "seed"));
    if (status == SVMP_OK) status = svmp_options_set(s->options, "init", "normal:0.001");
    if (status == SVMP_OK) status = svmp_options_set_count(s->options, "particles", svmp_particles_count(start));
    if (status == SVMP_OK) status = svmp_run_create(s->model, s->options, &s->run);
    return status == SVMP_OK ? svmp_run_start_from(s->run, start) : status;
}

/* What the file says about its run: how it ended, and what it has tried already. */
static void read_record(session *s) {
    const char *comments = svmp_particles_comments(s->particles);
    char value[64];
    svmp_verdict *v = &s->verdict;
    *v->method = *v->init = '\0';
    if (record_find(comments, "method", value, sizeof value)) snprintf(v->method, sizeof v->method, "%.15s", value);
    if (record_find(comments, "init", value, sizeof value)) snprintf(v->init, sizeof v->init, "%.31s", value);
    v->iterations = record_find(comments, "iterations done", value, sizeof value) ? strtoul(value, NULL, 10) : 0;
    if (svmp_particles_count(s->particles) < 10) svmp_verdict_veto(v, SVMP_VETO_FEW, 10, NULL);
    if (!record_find(comments, "outcome", value, sizeof value)) return;
    if (strcmp(value, outcome_word(SVMP_DIVERGED)) == 0) svmp_verdict_veto(v, SVMP_VETO_DIVERGED, 0, NULL);
    if (strcmp(value, outcome_word(SVMP_STOPPED)) == 0) svmp_verdict_veto(v, SVMP_VETO_INTERRUPTED, 0, NULL);
}

static int examine(session *s) {
    svmp_status status = place(s);
    if (status == SVMP_OK) status = svmp_run_examine(s->run, s->seconds, s->moves, &s->verdict);
    if (status != SVMP_OK) return failed(s->context, status);
    read_record(s);
    printf("%zu particles of %zu variable%s, %zu exact moves each in %.2g s\n\n", s->verdict.particles,
           s->verdict.variables, plural(s->verdict.variables), s->verdict.moves, s->verdict.seconds);
    verdict_print_drifts(&s->verdict);
    verdict_print(&s->verdict);
    return options_given(s->set, "require-converged") && !svmp_verdict_is_clear(&s->verdict) ? EXIT_FAILED : 0;
}

static int run(const option_set *set) {
    session s = {.set = set};
    int status = prepare(&s);
    if (status == 0) status = examine(&s);
    svmp_run_free(s.run);
    svmp_options_free(s.options);
    svmp_particles_free(s.fewer);
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
    .text = "Moves every particle of FILE by exact moves of the posterior: node-wise Metropolis moves and Hamiltonian\n"
            "trajectories, which owe nothing to the method that made the particles. Under the posterior no mean,\n"
            "spread, quantile, score or log density changes by more than chance explains for as many exact draws.\n"
            "The variables that change are listed, the worst first, with the size and the direction of the change:\n"
            "how much too high, wide or dense the particles are.\n.PP\n"
            "The verdict is that the particles pass, that they fail, or, if the moves mix too slowly to tell, that\n"
            "there is none. MODEL and DATA are those of\n.BR \"svmp run\" .\n"
            "Of more than 500 particles or draws, 500 that are evenly spaced are examined. The exit status is 0\n"
            "whatever the verdict, unless\n.B \\-\\-require\\-converged\nis given.\n"
            "A mode that no particle has found, and that moves cannot reach, is not seen (docs/diagnostics.md).\n",
    .options = options,
    .run = run,
};
