#include <stdlib.h>

#include "choose.h"
#include "command.h"
#include "convergence.h"
#include "criteria.h"
#include "mixing.h"
#include "origin.h"
#include "probabilities.h"
#include "record.h"
#include "sample.h"
#include "sampling.h"
#include "table.h"
#include "verdict.h"

static const option_row rows[] = {
    {"variables", 0, "NAME,...", "", "only these variables and arrays, in this order (default: all)", "Output"},
    {"errors", 0, NULL, "", "for chains: also show standard errors of sd and quantiles", "Output"},
};

static void options(option_set *set) { options_add(set, sizeof rows / sizeof *rows, rows); }

/* The variables that are asked for: those of a list with commas, or all. */
static int choose(const svmp_particles *particles, const char *path, const char *list, size_t *chosen, size_t *count) {
    char where[512];
    *count = 0;
    if (list) {
        snprintf(where, sizeof where, "'%s'", path);
        return choose_variables(NULL, particles, where, list, chosen, count);
    }
    while (*count < svmp_particles_variables(particles)) chosen[*count] = *count, ++*count;
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

static int print_rows(svmp_context *context, const svmp_particles *particles, int errors, size_t count,
                      const size_t *chosen, svmp_moments *moments, svmp_mixing *mixing) {
    const int width = names_width(particles, count, chosen), chains = svmp_particles_are_chains(particles);
    char step[STEP_TEXT];
    svmp_status status = svmp_particles_summarise(particles, count, chosen, moments, mixing);
    if (status != SVMP_OK) return failed(context, status);
    print_moments_heading(width, chains);
    for (size_t k = 0; k < count; k++)
        print_moments(width, svmp_particles_name(particles, chosen[k]), &moments[k], chains ? &mixing[k] : NULL);
    putchar('\n');
    print_probabilities(particles);
    if (errors) print_errors(particles, width, count, chosen, mixing);
    print_sampling(particles, record_find(svmp_particles_comments(particles), "step", step, sizeof step) ? step : NULL);
    if (chains) print_mixing(particles, count, chosen, mixing);
    return 0;
}

/* What the file's own record says of particles that are no chains. */
static void print_recorded(const svmp_particles *particles, const origin *from) {
    const char *comments = svmp_particles_comments(particles);
    const convergence c = convergence_read(comments);
    print_caveat(from->yield);
    if (c.known) print_convergence(&c, 1);
    if (verdict_print_recorded(comments)) return;
    if (from->diverged)
        printf("The run diverged: these are its last finite particles, far from the posterior.\n");
    else if (from->yield == SVMP_PARTICLES)
        printf("The file records no verdict, so it is unknown how far these particles are from the posterior: svmp "
               "verify FILE MODEL\n[DATA...] examines them.\n");
}

static int print_summary(svmp_context *context, const svmp_particles *particles, int errors, size_t count,
                         const size_t *chosen) {
    const origin from = origin_of(context, particles);
    const size_t variables = svmp_particles_variables(particles);
    print_size(particles, from.yield);
    printf(" of %zu variable%s\n\n", variables, plural(variables));
    svmp_moments *moments = calloc(count + 1, sizeof *moments);
    svmp_mixing *mixing = calloc(count + 1, sizeof *mixing);
    int status = moments && mixing ? print_rows(context, particles, errors, count, chosen, moments, mixing)
                                   : complain(EXIT_FAILED, "Out of memory.");
    if (status == 0 && from.yield != SVMP_CHAINS) print_recorded(particles, &from);
    free(moments);
    free(mixing);
    return status;
}

static int summarise(svmp_context *context, const svmp_particles *particles, const option_set *set) {
    const int errors = options_given(set, "errors") != NULL;
    if (errors && !svmp_particles_are_chains(particles))
        return complain(EXIT_WRONG, "The option '--errors' applies only to chains; '%s' contains particles.",
                        set->operands[0]);
    size_t count, *chosen = calloc(svmp_particles_variables(particles), sizeof *chosen);
    if (chosen == NULL) return complain(EXIT_FAILED, "Out of memory.");
    int status = choose(particles, set->operands[0], options_given(set, "variables"), chosen, &count);
    if (status == 0) status = print_summary(context, particles, errors, count, chosen);
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
            "the run recorded in the file, the worst nodes, the size of the last step, and the verdict of the "
            "run.\n.PP\nSeveral files, such as those written by\n"
            ".BR \"svmp run \\-\\-split\" ,\nare the chains of one sample.\n",
    .options = options,
    .run = run,
};
