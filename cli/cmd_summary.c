#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "convergence.h"
#include "mixing.h"
#include "sampling.h"
#include "table.h"

static const svmp_option rows[] = {
    {"variables", 0, "NAME,...", "", "only these, in this order; all when left out", "Output"},
};

static void options(option_set *set) { options_add(set, 1, rows); }

static int find_variable(const svmp_particles *particles, const char *path, const char *name, size_t length,
                         size_t *variable) {
    size_t count = svmp_particles_variables(particles);
    for (size_t i = 0; i < count; i++) {
        const char *candidate = svmp_particles_name(particles, i);
        if (strlen(candidate) == length && strncmp(candidate, name, length) == 0) return *variable = i, 0;
    }
    return complain(EXIT_WRONG, "There is no variable '%.*s' in '%s', which has %zu, from '%s' to '%s'.", (int)length,
                    name, path, count, svmp_particles_name(particles, 0), svmp_particles_name(particles, count - 1));
}

/* The variables that are asked for: those of a list with commas, or all. */
static int choose(const svmp_particles *particles, const char *path, const char *list, size_t *chosen, size_t *count) {
    *count = 0;
    if (list == NULL) {
        while (*count < svmp_particles_variables(particles)) chosen[*count] = *count, ++*count;
        return 0;
    }
    for (const char *name = list;; name++) {
        size_t length = strcspn(name, ",");
        int wrong = find_variable(particles, path, name, length, &chosen[(*count)++]);
        if (wrong) return wrong;
        name += length;
        if (*name == '\0') return 0;
    }
}

static int print_rows(svmp_context *context, const svmp_particles *particles, size_t count, const size_t *chosen,
                      svmp_moments *moments, svmp_mixing *mixing) {
    const int width = names_width(particles, count, chosen), chains = svmp_particles_are_chains(particles);
    svmp_status status = svmp_particles_summarise(particles, count, chosen, moments, mixing);
    if (status != SVMP_OK) return failed(context, status);
    print_moments_heading(width, chains);
    for (size_t k = 0; k < count; k++)
        print_moments(width, svmp_particles_name(particles, chosen[k]), &moments[k], chains ? &mixing[k] : NULL);
    putchar('\n');
    print_sampling(particles);
    if (chains) print_mixing(particles, count, chosen, mixing);
    return 0;
}

/* What the file's own record says of a particle method. */
static void print_recorded(const svmp_particles *particles) {
    const convergence c = convergence_read(svmp_particles_comments(particles));
    if (c.known)
        print_convergence(&c, svmp_particles_count(particles), 1);
    else
        printf("The file does not tell how far these particles are from the posterior: no KSD is recorded in it.\n");
}

static int print_summary(svmp_context *context, const svmp_particles *particles, size_t count, const size_t *chosen) {
    const size_t chains = svmp_particles_chains(particles), n = svmp_particles_count(particles);
    const int are_chains = svmp_particles_are_chains(particles);
    if (are_chains)
        printf("%zu chain%s of %zu draws, %zu variables\n\n", chains, chains == 1 ? "" : "s", n / chains,
               svmp_particles_variables(particles));
    else
        printf("%zu particles of %zu variables\n\n", n, svmp_particles_variables(particles));
    svmp_moments *moments = calloc(count + 1, sizeof *moments);
    svmp_mixing *mixing = calloc(count + 1, sizeof *mixing);
    int status = moments && mixing ? print_rows(context, particles, count, chosen, moments, mixing)
                                   : complain(EXIT_FAILED, "Out of memory.");
    if (status == 0 && !are_chains) print_recorded(particles);
    free(moments);
    free(mixing);
    return status;
}

static int summarise(svmp_context *context, const svmp_particles *particles, const char *path, const char *list) {
    size_t count = list ? 1 : svmp_particles_variables(particles);
    for (const char *c = list; c && *c; c++) count += *c == ',';
    size_t *chosen = calloc(count, sizeof *chosen);
    if (chosen == NULL) return complain(EXIT_FAILED, "Out of memory.");
    int status = choose(particles, path, list, chosen, &count);
    if (status == 0) status = print_summary(context, particles, count, chosen);
    free(chosen);
    return status;
}

static int run(const option_set *set) {
    const char *path = set->operands[0];
    svmp_context *context = NULL;
    svmp_particles *particles = NULL;
    int status = open_context(set, &context);
    if (status) return status;
    svmp_status read = svmp_particles_read(context, path, &particles);
    status =
        read == SVMP_OK ? summarise(context, particles, path, options_given(set, "variables")) : failed(context, read);
    svmp_particles_free(particles);
    svmp_context_free(context);
    return status;
}

const command command_summary = {
    .name = "summary",
    .operands = "FILE",
    .least = 1,
    .most = 1,
    .summary = "Print moments of every variable of a particle file, and whether it can be trusted",
    .text =
        "Prints the mean, the standard deviation and the 5, 50 and 95 percent quantiles of every variable. For the\n"
        "draws of chains also the Monte Carlo standard error of the mean, R-hat, and the effective draws in the bulk\n"
        "and in the tails; for a particle method the Stein discrepancy that the run recorded in the file, its worst\n"
        "nodes, and how far the last step moved. Ends with advice where something is off.\n",
    .options = options,
    .run = run,
};
