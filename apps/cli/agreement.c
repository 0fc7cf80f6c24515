#include "agreement.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comment_lines.h"
#include "print_verdict.h"

enum { TESTS = 4 }; /* of a variable: mean, sd and two quantiles */

typedef struct largest_z {
    size_t known, beyond, at;
    double size; /* |z| */
} largest_z;

static void update(largest_z *largest, size_t i, double z, double limit) {
    if (isnan(z)) return;
    if (largest->known++ == 0 || fabs(z) > largest->size) {
        largest->size = fabs(z);
        largest->at = i;
    }
    largest->beyond += fabs(z) > limit;
}

static int have_not_mixed(svmp_context *context, const svmp_particles *particles, double *r_hat) {
    svmp_verdict *own = NULL;
    int unmixed = 0;
    svmp_examination numbers = {.r_hat = NAN};
    if (svmp_verdict_create(context, &own) == SVMP_OK && svmp_chains_verdict(particles, own) == SVMP_OK) {
        const svmp_code found = verdict_result(own).code;
        unmixed = found == SVMP_NOTE_R_HAT || found == SVMP_NOTE_R_HAT_OF_ONE || found == SVMP_NOTE_NOT_FINITE;
        svmp_verdict_examination(own, &numbers);
    }
    *r_hat = numbers.r_hat;
    svmp_verdict_free(own);
    return unmixed;
}

/* Why the agreement of two samples may mean little. */
static int print_doubts(svmp_context *context, const char *called, const svmp_particles *particles) {
    char word[64];
    double r_hat;
    if (svmp_particles_are_chains(particles) && have_not_mixed(context, particles, &r_hat)) {
        printf("No verdict: the chains of %s have not mixed (R-hat is up to %.3g), so the standard errors are wrong.\n",
               called, r_hat);
        return 1;
    }
    if (!svmp_comment_find(svmp_particles_comments(particles), "verdict", word, sizeof word)) return 0;
    if (strcmp(word, "failed") != 0 && strcmp(word, "not converged") != 0) return 0;
    printf("No verdict: %s did not pass the examination after the run (%s).\n", called, word);
    return 1;
}

static int is_beyond(const largest_z tests[TESTS]) {
    size_t beyond = 0;
    for (size_t t = 0; t < TESTS; t++) beyond += tests[t].beyond;
    return beyond > 0;
}

void print_agreement(svmp_context *context, const svmp_particles *particles, const svmp_particles *reference,
                     const svmp_difference *rows) {
    static const char *const names[TESTS] = {"means", "sds", "5 % quantiles", "95 % quantiles"};
    const size_t variables = svmp_particles_variables(particles);
    const double limit = svmp_difference_limit(TESTS * variables);
    largest_z tests[TESTS] = {{0}};
    size_t known = 0, listed = 0;
    for (size_t i = 0; i < variables; i++) {
        const double z[TESTS] = {rows[i].z_mean, rows[i].z_sd, rows[i].z_low, rows[i].z_high};
        for (size_t t = 0; t < TESTS; t++) update(&tests[t], i, z[t], limit);
    }
    for (size_t t = 0; t < TESTS; t++) known += tests[t].known;
    if (known == 0) {
        printf("No verdict: standard errors need at least two particles on each side, and at least six draws in each "
               "chain.\n");
        return;
    }
    for (size_t t = 0; t < TESTS; t++) {
        const svmp_difference *row = &rows[tests[t].at];
        const double z[TESTS] = {row->z_mean, row->z_sd, row->z_low, row->z_high};
        if (tests[t].known == 0) continue;
        printf("largest |z|     %.3g of the %s (%s, z = %.3g)", tests[t].size, names[t],
               svmp_particles_name(particles, tests[t].at), z[t]);
        if (t == 1) printf(", %.3g times the reference sd", row->sd_ratio);
        putchar('\n');
    }
    if (is_beyond(tests)) {
        printf("They differ: |z| exceeds the 1 %% significance limit %.3g for", limit);
        for (size_t t = 0; t < TESTS; t++)
            if (tests[t].beyond) printf("%s the %s of %zu", listed++ ? "," : "", names[t], tests[t].beyond);
        printf(" of %zu variable%s.\n", variables, variables == 1 ? "" : "s");
        return;
    }
    if (print_doubts(context, "the reference", reference) || print_doubts(context, "the particles", particles)) return;
    printf("They agree: no |z| of means, sds and quantiles exceeds the 1 %% significance limit %.3g.\n", limit);
}
