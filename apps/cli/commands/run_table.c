#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command_table.h"
#include "commands/run_session.h"
#include "convergence.h"
#include "print_criteria.h"
#include "print_mixing.h"
#include "print_probabilities.h"
#include "print_sampling.h"
#include "print_verdict.h"
#include "provenance.h"
#include "summary_table.h"
#include "table_overview.h"

enum { NAME_ROOM = 1024 };

/* Mean and sd from the precision itself; the quantiles of a Gaussian follow. Monitored values, and those drawn after
 * the run, keep their sample moments, because they are not variables of the model. */
static int exact_moments(const session *s, size_t shown, const size_t *which, svmp_moments *moments) {
    const svmp_particles *from = s->split.processes > 1 ? s->first : s->result;
    const double z95 = 1.6448536269514722;
    const size_t variables = svmp_graph_variables(svmp_model_graph(s->model));
    double *both = calloc(2 * variables, sizeof *both);
    char name[NAME_ROOM];
    if (both == NULL) return report_error(EXIT_FAILED, "Out of memory.");
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
    const int several = s->split.processes > 1; /* each has the result of its own part */
    svmp_status status = svmp_particles_summarise(several ? s->first : s->result, shown, which, moments, NULL);
    if (status == SVMP_OK && svmp_particles_are_chains(s->result))
        status = svmp_particles_summarise(several && count <= shown ? s->first : s->result, count, NULL, NULL, mixing);
    if (status != SVMP_OK) return failed(s->context, status);
    return s->method.yield == SVMP_YIELD_DRAWS ? exact_moments(s, shown, which, moments) : 0;
}

/* The variables that are shown, scalars first: all; or of many, scalars and small arrays before others. The parts of
 * several processes know their first ones. */
static size_t choose_shown(const session *s, size_t which[VARIABLES_SHOWN]) {
    const svmp_particles *from = s->split.processes > 1 ? s->first : s->result;
    const size_t variables = svmp_particles_whole(s->result);
    size_t count = 0, more = 0;
    overview o = {0};
    for (size_t k = 0; k < VARIABLES_SHOWN; k++) which[k] = k;
    if (variables <= VARIABLES_SHOWN) return scalars_first(from, variables, which), variables;
    if (s->split.processes > 1 || !overview_make(s->result, &o)) return FIRST_SHOWN;
    count = overview_scalars(&o, FIRST_SHOWN, which, &more);
    for (size_t k = 0; count < FIRST_SHOWN; k++) { /* o.order: array after array, as they come */
        int taken = 0;
        for (size_t j = 0; j < count; j++) taken |= which[j] == o.order[k];
        if (!taken) which[count++] = o.order[k];
    }
    overview_free(&o);
    scalars_first(from, count, which); /* without memory, they are shown in the order of the model */
    return count;
}

/* How the processes share the work. */
static void print_layout(const session *s) {
    const svmp_split *split = &s->split;
    if (s->shares)
        printf("%zu processes by chains: each has the whole model and moves a share of the %s\n", s->record.processes,
               s->method.yield == SVMP_YIELD_CHAINS ? "chains" : "particles");
    if (split->processes == 1) return;
    printf("%zu processes by nodes; the busiest has %s more work than average; %zu of %zu edge%s cut\n",
           split->processes, percentage(split->imbalance, (char[32]){0}), split->cut, split->edges,
           plural(split->edges));
}

/* How the run ended, without contradicting the verdict below. */
static const char *end_word(const session *s) {
    const svmp_verdict *v = s->record.verdict;
    const int doubted = v && verdict_result(v).kind == SVMP_REFUSAL;
    const int ended = s->record.outcome == SVMP_CONVERGED || s->record.outcome == SVMP_COMPLETED;
    return doubted && ended ? "not converged" : outcome_word(s->record.outcome);
}

/* How to have the particles examined after all, or for longer. */
static void explain_skipped(const session *s) {
    const svmp_verdict *v = s->record.verdict;
    const svmp_code found = verdict_result(v).code;
    const int out_of_time = found == SVMP_NOTE_NOT_EXAMINED_TIME || found == SVMP_NOTE_SLOW_TIME;
    if (s->method.yield == SVMP_YIELD_CHAINS || (!out_of_time && found != SVMP_NOTE_NOT_EXAMINED)) return;
    printf("To examine %s: ", out_of_time ? "them without a time limit" : "them");
    if (s->writer.written)
        printf("svmp verify %s MODEL [DATA...]; or run with --verify yes.\n", s->writer.written);
    else
        printf("run with --verify yes.\n");
}

/* Where the variables are that the table does not show. */
static void print_more(const session *s, size_t more) {
    const char *path = s->writer.written;
    if (more && path)
        printf("%zu more variable%s: svmp summary %s [--variables NAME,...]\n", more, plural(more), path);
    else if (more)
        printf("%zu more variable%s: use -o FILE to keep them all\n", more, plural(more));
}

int session_print(session *s) {
    const size_t variables = svmp_particles_whole(s->result);
    size_t which[VARIABLES_SHOWN];
    const size_t shown = choose_shown(s, which);
    const svmp_particles *from = s->split.processes > 1 ? s->first : s->result;
    const int exact = s->method.yield == SVMP_YIELD_DRAWS;
    const int chains = svmp_particles_are_chains(s->result);
    const size_t mixed = s->split.processes > 1 ? shown : variables;
    char step[STEP_TEXT];
    svmp_moments moments[VARIABLES_SHOWN];
    svmp_mixing *mixing = calloc(variables + 1, sizeof *mixing);
    if (mixing == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    int wrong = measure_moments(s, shown, which, moments, mixed, mixing);
    if (wrong) {
        free(mixing);
        return wrong;
    }

    printf("%s: ", s->method.name);
    print_size(s->result, chains ? SVMP_YIELD_CHAINS : s->method.yield);
    printf(" of %zu variable%s, %zu iteration%s in %.3g s, %s\n\n", variables, plural(variables), s->record.iterations,
           plural(s->record.iterations), s->record.seconds, end_word(s));
    int width = names_width(from, shown, which);
    print_moments_heading(width, chains);
    for (size_t k = 0; k < shown; k++)
        print_moments(width, svmp_particles_name(from, which[k]), &moments[k], chains ? &mixing[which[k]] : NULL);
    print_more(s, variables - shown);
    if (!exact) print_strays(from, shown, which, moments);
    print_probabilities(s->result, 0, NULL);
    if (s->split.processes == 1) print_criteria(s->result);
    print_layout(s);
    const svmp_verdict *verdict = s->record.verdict;
    s->clear = exact || (verdict && svmp_verdict_is_clear(verdict));
    print_sampling(s->result, svmp_run_setting(s->run, "step", step, sizeof step));
    if (chains && !(verdict && s->split.processes > 1))
        print_mixing(mixed > shown ? s->result : s->first, mixed, NULL, mixing, verdict != NULL);
    print_convergence(&s->record.convergence, 0);
    free(mixing);
    if (exact && variables > svmp_graph_variables(svmp_model_graph(s->model)))
        printf("These numbers are exact, except for nodes that are monitored or drawn after the run; the particles are "
               "independent draws.\n");
    else if (exact)
        printf("These numbers are exact; the particles are independent draws.\n");
    else
        print_caveat(s->method.yield);
    if (verdict) verdict_print(verdict);
    if (verdict) explain_skipped(s);
    return chains && !verdict && s->split.processes == 1 ? verdict_print_refusal(s->context, s->result) : 0;
}
