#include <stdlib.h>

#include "base/comment_lines.h"
#include "choose_variables.h"
#include "command_table.h"
#include "convergence.h"
#include "moments_table.h"
#include "print_criteria.h"
#include "print_mixing.h"
#include "print_probabilities.h"
#include "print_sampling.h"
#include "print_verdict.h"
#include "provenance.h"
#include "read_samples.h"
#include "table_overview.h"

static const option_row rows[] = {
    {"variables", 0, "NAME,...", "", "show only these variables and arrays, in this order", "Output"},
    {"errors", 0, NULL, "", "for chains: also show standard errors of sd and quantiles", "Output"},
};

static void options(option_set *set) { options_add(set, sizeof rows / sizeof *rows, rows); }

/* The variables of a list with commas, or all. */
static int choose(const svmp_particles *particles, const char *path, const char *list, size_t *chosen, size_t *count) {
    char where[512];
    *count = 0;
    if (list) {
        snprintf(where, sizeof where, "'%s'", path);
        return choose_variables(NULL, particles, where, list, chosen, count);
    }
    while (*count < svmp_particles_variables(particles)) chosen[*count] = *count, ++*count;
    if (*count < OVERVIEW_FROM && !scalars_first(particles, *count, chosen))
        return report_error(EXIT_FAILED, "Out of memory.");
    return 0;
}

/* The Monte Carlo standard errors, in a table like that of what they are of. */
static void print_errors(const svmp_particles *particles, int width, size_t count, const size_t *chosen,
                         const svmp_mixing *mixing) {
    printf("Monte Carlo standard errors (MCSE):\n");
    print_moments_heading(width, 0);
    for (size_t k = 0; k < count; k++)
        print_moments(width, svmp_particles_name(particles, chosen[k]), &mixing[k].error, NULL);
    putchar('\n');
}

static void print_all(const svmp_particles *particles, int errors, size_t count, const size_t *chosen,
                      const svmp_moments *moments, const svmp_mixing *mixing, int listed) {
    const int width = names_width(particles, count, chosen), chains = svmp_particles_are_chains(particles);
    print_moments_heading(width, chains);
    for (size_t k = 0; k < count; k++)
        print_moments(width, svmp_particles_name(particles, chosen[k]), &moments[k], chains ? &mixing[k] : NULL);
    putchar('\n');
    print_probabilities(particles, count, listed ? chosen : NULL);
    if (errors) print_errors(particles, width, count, chosen, mixing);
}

/* Some of all variables, in a table of their own. */
static void print_some(const svmp_particles *particles, int errors, size_t count, const size_t *which,
                       const svmp_moments *moments, const svmp_mixing *mixing) {
    const int width = names_width(particles, count, which), chains = svmp_particles_are_chains(particles);
    print_moments_heading(width, chains);
    for (size_t k = 0; k < count; k++)
        print_moments(width, svmp_particles_name(particles, which[k]), &moments[which[k]],
                      chains ? &mixing[which[k]] : NULL);
    putchar('\n');
    if (!errors) return;
    printf("Monte Carlo standard errors (MCSE):\n");
    print_moments_heading(width, 0);
    for (size_t k = 0; k < count; k++)
        print_moments(width, svmp_particles_name(particles, which[k]), &mixing[which[k]].error, NULL);
    putchar('\n');
}

/* What matters of many variables: scalars, the worst, arrays. */
static int print_overview(const svmp_particles *particles, int errors, const svmp_moments *moments,
                          const svmp_mixing *mixing) {
    const int chains = svmp_particles_are_chains(particles);
    const convergence c = convergence_read(svmp_particles_comments(particles));
    size_t first[OVERVIEW_ROWS], worst[OVERVIEW_WORST], more;
    overview o = {0};
    if (!overview_make(particles, &o)) return report_error(EXIT_FAILED, "Out of memory.");
    const size_t scalars = overview_scalars(&o, OVERVIEW_ROWS, first, &more);
    const size_t bad = overview_worst(particles, chains ? mixing : NULL, &c, worst);
    if (!scalars_first(particles, scalars, first)) return report_error(EXIT_FAILED, "Out of memory.");
    if (scalars) print_some(particles, errors, scalars, first, moments, mixing);
    if (more) printf("%zu more scalars and small arrays: --variables NAME,...\n\n", more);
    if (bad) {
        printf("The %zu variable%s with the %s:\n", bad, plural(bad), chains ? "highest R-hat" : "largest discrepancy");
        print_some(particles, 0, bad, worst, moments, mixing);
    }
    overview_print_arrays(&o, moments, chains ? mixing : NULL);
    printf("The elements of an array: --variables NAME\n\n");
    print_probabilities(particles, 0, NULL);
    overview_free(&o);
    return 0;
}

/* `listed`: the user has listed the variables, and sees them all. */
static int print_rows(svmp_context *context, const svmp_particles *particles, int errors, size_t count,
                      const size_t *chosen, svmp_moments *moments, svmp_mixing *mixing, int listed) {
    const int chains = svmp_particles_are_chains(particles);
    char step[STEP_TEXT];
    svmp_status status = svmp_particles_summarise(particles, count, chosen, moments, mixing);
    if (status != SVMP_OK) return failed(context, status);
    if (listed || count < OVERVIEW_FROM)
        print_all(particles, errors, count, chosen, moments, mixing, listed);
    else if (print_overview(particles, errors, moments, mixing))
        return EXIT_FAILED;
    print_strays(particles, count, chosen, moments);
    const char *comments = svmp_particles_comments(particles);
    const int judged = verdict_is_recorded(comments);
    print_sampling(particles, svmp_comment_find(comments, "step", step, sizeof step) ? step : NULL, judged);
    if (chains) print_mixing(particles, count, chosen, mixing, judged);
    return 0;
}

/* What the file's own record says of particles that are no chains. */
static void print_recorded(const svmp_context *context, const svmp_particles *particles, const provenance *from,
                           int listed) {
    const char *comments = svmp_particles_comments(particles);
    const convergence c = convergence_read(comments);
    print_caveat(from->yield);
    if (c.known) print_convergence(&c, !listed);
    if (verdict_print_recorded(context, comments)) return;
    if (from->diverged)
        printf("The run diverged: these are its last finite particles, far from the posterior.\n");
    else if (from->yield == SVMP_YIELD_PARTICLES)
        printf("The file records no verdict, so it is unknown how far these particles are from the posterior: svmp "
               "verify FILE MODEL\n[DATA...] examines them.\n");
}

static int print_summary(svmp_context *context, const svmp_particles *particles, int errors, size_t count,
                         const size_t *chosen, int listed) {
    const provenance from = read_provenance(context, particles);
    const size_t variables = svmp_particles_variables(particles);
    print_size(particles, from.yield);
    printf(" of %zu variable%s\n\n", variables, plural(variables));
    svmp_moments *moments = calloc(count + 1, sizeof *moments);
    svmp_mixing *mixing = calloc(count + 1, sizeof *mixing);
    int status = moments && mixing ? print_rows(context, particles, errors, count, chosen, moments, mixing, listed)
                                   : report_error(EXIT_FAILED, "Out of memory.");
    if (status == 0 && from.yield != SVMP_YIELD_CHAINS) print_recorded(context, particles, &from, listed);
    if (status == 0 && from.yield == SVMP_YIELD_CHAINS)
        verdict_print_recorded(context, svmp_particles_comments(particles));
    free(moments);
    free(mixing);
    return status;
}

/* A table of data is no sample: nothing in the file says that its rows are draws, not even the name of a column. */
static int refuse_data(const svmp_particles *particles, const char *path) {
    if (*svmp_particles_comments(particles) || svmp_particles_are_chains(particles) ||
        svmp_particles_statistic(particles, "lp__"))
        return 0;
    for (size_t i = 0; i < svmp_particles_variables(particles); i++)
        if (is_element(svmp_particles_name(particles, i))) return 0;
    return report_error(EXIT_WRONG,
                        "'%s' looks like a table of data: it has neither the record of a run nor a column lp__ or "
                        "chain__. If its rows are draws, begin the file with a line '# draws'.",
                        path);
}

static int summarise(svmp_context *context, const svmp_particles *particles, const option_set *set) {
    const int refused = refuse_data(particles, set->operands[0]);
    if (refused) return refused;
    const int errors = options_given(set, "errors") != NULL;
    if (errors && !svmp_particles_are_chains(particles))
        return report_error(EXIT_WRONG, "The option '--errors' applies only to chains; '%s' contains particles.",
                            set->operands[0]);
    size_t count, *chosen = calloc(svmp_particles_variables(particles), sizeof *chosen);
    if (chosen == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    int status = choose(particles, set->operands[0], options_given(set, "variables"), chosen, &count);
    const int listed = options_given(set, "variables") != NULL;
    if (status == 0) status = print_summary(context, particles, errors, count, chosen, listed);
    free(chosen);
    return status;
}

static int run(const option_set *set) {
    svmp_context *context = NULL;
    svmp_particles *particles = NULL;
    int status = open_context(set, &context);
    if (status) return status;
    status = read_sample(set, context, set->operand_count, &particles);
    if (status == 0) status = summarise(context, particles, set);
    if (status == 0) print_criteria(particles);
    svmp_particles_free(particles);
    svmp_context_free(context);
    return status;
}

const command command_summary = {
    .name = "summary",
    .operands = "FILE...",
    .least = 1,
    .most = SIZE_MAX,
    .summary = "Print moments and convergence diagnostics",
    .text = "Prints the mean, the standard deviation and the 5, 50 and 95 percent quantiles of every variable. For\n"
            "chains it also prints the Monte Carlo standard error of the mean, R-hat, and the effective draws in the\n"
            "bulk and in the tails; with\n.BR \\-\\-errors ,\n"
            "also the standard errors of sd and quantiles. For particle methods it prints the Stein discrepancy that\n"
            "the run recorded in the file, the worst nodes, the size of the last step, and the verdict of the run.\n"
            ".PP\nMore than 50 variables are summarised: scalars and arrays of at most 10 elements in\n"
            "full (the first 50 rows), the 10 variables with the highest R-hat or the largest discrepancy, and each\n"
            "larger array in one line, with the ranges of its means and standard deviations.\n.B \\-\\-variables\n"
            "shows the elements of an array.\n.PP\nSeveral files, such as those written by\n"
            ".BR \"svmp run \\-\\-split\" ,\nare the chains of one sample.\n",
    .options = options,
    .run = run,
};
