#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "table.h"

static const svmp_option rows[] = {
    {"per-variable", 0, NULL, "", "show E[x] and E[x^2] of every variable too", "Output"},
    {"threads", 0, "N", "0", "threads for the MMD; 0: as many as the machine offers", "Output"},
};

static void options(option_set *set) { options_add(set, sizeof rows / sizeof *rows, rows); }

typedef struct column {
    const char *name;
    const double *x;
    size_t count;
} column;

static int order_of_names(const void *a, const void *b) {
    return strcmp(((const column *)a)->name, ((const column *)b)->name);
}

static column column_of(svmp_particles *particles, size_t i) {
    size_t count = svmp_particles_count(particles);
    return (column){svmp_particles_name(particles, i), svmp_particles_values(particles) + i * count, count};
}

/* E[x^power]. */
static double mean_power(const column *of, int power) {
    double sum = 0;
    for (size_t l = 0; l < of->count; l++) sum += power == 1 ? of->x[l] : of->x[l] * of->x[l];
    return sum / (double)of->count;
}

static void print_row(int width, const column *x, const column *y) {
    double first = mean_power(x, 1), first_reference = mean_power(y, 1);
    double second = mean_power(x, 2), second_reference = mean_power(y, 2);
    printf("%-*s  %11.4g %11.4g %11.4g  %11.4g %11.4g %11.4g\n", width, x->name, first, first_reference,
           pow(first - first_reference, 2), second, second_reference, pow(second - second_reference, 2));
}

/* The names of both sides are the same: the comparison has seen to that. */
static int print_variables(svmp_particles *particles, svmp_particles *reference) {
    size_t variables = svmp_particles_variables(particles);
    column *by_name = calloc(variables, sizeof *by_name);
    if (by_name == NULL) return complain(EXIT_FAILED, "Out of memory.");
    for (size_t i = 0; i < variables; i++) by_name[i] = column_of(reference, i);
    qsort(by_name, variables, sizeof *by_name, order_of_names);

    int width = names_width(particles, variables, NULL);
    printf("\n%-*s  %11s %11s %11s  %11s %11s %11s\n", width, "variable", "E[x]", "reference", "sq. error", "E[x^2]",
           "reference", "sq. error");
    for (size_t i = 0; i < variables; i++) {
        column x = column_of(particles, i);
        print_row(width, &x, bsearch(&x, by_name, variables, sizeof x, order_of_names));
    }
    free(by_name);
    return 0;
}

static int print_comparison(const option_set *set, svmp_context *context, svmp_particles *particles,
                            svmp_particles *reference) {
    svmp_comparison comparison;
    svmp_status status = svmp_particles_compare(particles, reference, &comparison);
    if (status != SVMP_OK) return failed(context, status);
    printf("particles       %zu\n", svmp_particles_count(particles));
    printf("reference       %zu\n", svmp_particles_count(reference));
    printf("variables       %zu\n", svmp_particles_variables(particles));
    printf("MSE of E[x]     %.6g\n", comparison.mse_mean);
    printf("MSE of E[x^2]   %.6g\n", comparison.mse_square);
    if (isnan(comparison.mmd))
        printf("MMD             none: the median distance within the reference is 0\n");
    else
        printf("MMD             %.6g\n", comparison.mmd);
    return options_given(set, "per-variable") ? print_variables(particles, reference) : 0;
}

static int run(const option_set *set) {
    svmp_context *context = NULL;
    svmp_particles *particles = NULL, *reference = NULL;
    int status = open_context(set, &context);
    if (status) return status;
    svmp_status read = svmp_particles_read(context, set->operands[0], &particles);
    if (read == SVMP_OK) read = svmp_particles_read(context, set->operands[1], &reference);
    status = read == SVMP_OK ? print_comparison(set, context, particles, reference) : failed(context, read);
    svmp_particles_free(particles);
    svmp_particles_free(reference);
    svmp_context_free(context);
    return status;
}

const command command_compare = {
    .name = "compare",
    .operands = "FILE REFERENCE",
    .least = 2,
    .most = 2,
    .summary = "Compare particles with a reference: MSE of E[x] and E[x^2], and MMD",
    .text =
        "Variables are matched by name. The MSE is the mean over the variables of the squared difference; the MMD\n"
        "is that of a Gaussian kernel whose squared bandwidth is the squared median distance between points of the\n"
        "reference, at most 1,000 of them.\n",
    .options = options,
    .run = run,
};
