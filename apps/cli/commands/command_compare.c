#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"
#include "choose_variables.h"
#include "command_table.h"
#include "moments_table.h"
#include "provenance.h"
#include "read_samples.h"

static const option_row rows[] = {
    {"variables", 0, "NAME,...", "", "compare only these variables and arrays", "Output"},
    {"per-variable", 0, NULL, "", "also show E[x], E[x^2], z values and the sd ratio of each variable", "Output"},
    {"threads", 0, "N", "0", "threads for the MMD; 0: one per processor", "Output"},
};

enum { LEFT_OUT_NAMED = 3, LEFT_OUT_TEXT = 300 }; /* of the variables that only one file has */

static void options(option_set *set) { options_add(set, sizeof rows / sizeof *rows, rows); }

static void print_heading(int width) {
    printf("\n%-*s  %11s %11s %11s %11s %11s %11s %7s %8s %7s %7s %7s\n", width, "variable", "E[x]", "reference",
           "sq. error", "E[x^2]", "reference", "sq. error", "z", "sd ratio", "z of sd", "z of 5%", "of 95%");
}

/* A blank and a number in `width` columns; "-" for NaN. */
static void print_narrow(const char *format, int width, double value) {
    char text[64] = "-";
    if (!isnan(value)) snprintf(text, sizeof text, format, value); /* a constant below */
    printf(" %*s", width, text);
}

static void print_row(int width, const char *name, const svmp_difference *d) {
    printf("%-*s ", width, name);
    print_number(d->mean);
    print_number(d->reference_mean);
    print_number(pow(d->mean - d->reference_mean, 2));
    print_number(d->square);
    print_number(d->reference_square);
    print_number(pow(d->square - d->reference_square, 2));
    print_narrow("%.2f", 7, d->z_mean);
    print_narrow("%.3f", 8, d->sd_ratio);
    print_narrow("%.2f", 7, d->z_sd);
    print_narrow("%.2f", 7, d->z_low);
    print_narrow("%.2f", 7, d->z_high);
    putchar('\n');
}

static void print_variables(const svmp_particles *particles, const svmp_difference *rows_) {
    const size_t variables = svmp_particles_variables(particles);
    const int width = names_width(particles, variables, NULL);
    print_heading(width);
    for (size_t i = 0; i < variables; i++) print_row(width, svmp_particles_name(particles, i), &rows_[i]);
    putchar('\n');
}

/* "50 particles; standard errors as for independent draws, sd/sqrt(n)" of one side. */
static void print_side(svmp_context *context, const char *called, const svmp_particles *particles) {
    static const char *const errors[] = {
        [SVMP_YIELD_PARTICLES] = "; standard errors as for independent draws, sd/sqrt(n)",
        [SVMP_YIELD_CHAINS] = "; standard errors from the effective draws (MCSE)",
        [SVMP_YIELD_DRAWS] = "; standard errors sd/sqrt(n)",
        [SVMP_YIELD_MODES] = " that represent modes, not a sample: the z values say nothing about the posterior",
    };
    const svmp_yield yield = read_provenance(context, particles).yield;
    printf("%-15s ", called);
    print_size(particles, yield);
    printf("%s\n", errors[yield]);
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* Says which variables are left out. */
static void print_left_out(const char *path, size_t count, size_t all, const char names[static LEFT_OUT_TEXT]) {
    if (count > 0) printf("not compared    %zu of %zu variables, only in '%s': %s\n", count, all, path, names);
}

/* Keeps the variables that the other file has, too; all if it has none of them, so that the comparison says so. */
static int keep_shared(svmp_context *context, const char *path, const svmp_particles *other,
                       svmp_particles **particles) {
    const size_t variables = svmp_particles_variables(*particles), others = svmp_particles_variables(other);
    const char **sorted = calloc(others + 1, sizeof *sorted);
    size_t count = 0, *shared = calloc(variables + 1, sizeof *shared), used = 0;
    char names[LEFT_OUT_TEXT] = "";
    if (sorted == NULL || shared == NULL) {
        free(sorted);
        free(shared);
        return report_error(EXIT_FAILED, "Out of memory.");
    }
    for (size_t j = 0; j < others; j++) sorted[j] = svmp_particles_name(other, j);
    qsort(sorted, others, sizeof *sorted, by_name);
    for (size_t i = 0; i < variables; i++) {
        const char *name = svmp_particles_name(*particles, i);
        if (bsearch(&name, sorted, others, sizeof *sorted, by_name)) {
            shared[count++] = i;
            continue;
        }
        const size_t left_out = i - count;
        if (left_out < LEFT_OUT_NAMED)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%.80s", left_out ? ", " : "", name);
        if (left_out == LEFT_OUT_NAMED) snprintf(names + used, sizeof names - used, ", ...");
    }
    svmp_particles *made = NULL;
    svmp_status status = SVMP_OK;
    if (count > 0 && count < variables) status = svmp_particles_select(*particles, count, shared, 1, &made);
    if (made) {
        print_left_out(path, variables - count, variables, names);
        svmp_particles_free(*particles);
        *particles = made;
    }
    free(sorted);
    free(shared);
    return status == SVMP_OK ? 0 : failed(context, status);
}

static int print_comparison(const option_set *set, svmp_context *context, const svmp_particles *particles,
                            const svmp_particles *reference, svmp_difference *rows_) {
    svmp_comparison comparison;
    svmp_status status = svmp_particles_compare(particles, reference, &comparison);
    if (status == SVMP_OK) status = svmp_particles_differences(particles, reference, rows_);
    if (status != SVMP_OK) return failed(context, status);
    print_side(context, "particles", particles);
    print_side(context, "reference", reference);
    printf("variables       %zu\n", svmp_particles_variables(particles));
    printf("MSE of E[x]     %.6g\n", comparison.mse_mean);
    printf("MSE of E[x^2]   %.6g\n", comparison.mse_square);
    if (isnan(comparison.mmd))
        printf("MMD             undefined: the median distance within the reference is 0 or too large to square\n");
    else
        printf("MMD             %.6g\n", comparison.mmd);
    if (options_given(set, "per-variable")) print_variables(particles, rows_);
    print_agreement(context, particles, reference, rows_);
    return 0;
}

/* Reads a file; of its variables, those of --variables. */
static int read_chosen(const option_set *set, svmp_context *context, const char *path, svmp_particles **particles) {
    const char *list = options_given(set, "variables");
    svmp_particles *whole = NULL;
    int status = read_particles(context, path, &whole);
    if (status || list == NULL) return *particles = whole, status;
    char where[512];
    snprintf(where, sizeof where, "'%s'", path);
    size_t count = 0, *chosen = calloc(svmp_particles_variables(whole) + 1, sizeof *chosen);
    status = chosen ? choose_variables(NULL, whole, where, list, chosen, &count)
                    : report_error(EXIT_FAILED, "Out of memory.");
    const svmp_status selected = status ? SVMP_OK : svmp_particles_select(whole, count, chosen, 1, particles);
    free(chosen);
    svmp_particles_free(whole);
    return selected == SVMP_OK ? status : failed(context, selected);
}

static int run(const option_set *set) {
    svmp_context *context = NULL;
    svmp_particles *particles = NULL, *reference = NULL;
    int status = open_context(set, &context);
    if (status) return status;
    status = read_chosen(set, context, set->operands[0], &particles);
    if (status == 0) status = read_chosen(set, context, set->operands[1], &reference);
    if (status == 0) status = keep_shared(context, set->operands[0], reference, &particles);
    if (status == 0) status = keep_shared(context, set->operands[1], particles, &reference);
    svmp_difference *differences = calloc(svmp_particles_variables(particles) + 1, sizeof *differences);
    if (status == 0 && differences == NULL) status = report_error(EXIT_FAILED, "Out of memory.");
    if (status == 0) status = print_comparison(set, context, particles, reference, differences);
    free(differences);
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
    .summary = "Compare particles with a reference",
    .text = "Variables are matched by name; those of one file alone are listed and not compared. The MSE is the "
            "squared difference, averaged over the variables. The MMD\n"
            "uses a Gaussian kernel whose squared bandwidth is the squared median distance between points of the\n"
            "reference (at most 1,000 of them). A z value is the difference of the means, of the logarithms of the\n"
            "standard deviations, or of the shares below the 5 and 95 percent quantiles of the reference, divided by\n"
            "its standard error. Standard errors come from the effective draws for\n"
            "chains, and assume independent draws otherwise. The verdict is that the samples differ if some |z|\n"
            "exceeds the 1 percent significance limit. Otherwise they agree, unless the chains of one side have not\n"
            "mixed or its file records that it failed its examination. Correlations are not tested.\n",
    .options = options,
    .run = run,
};
