#include "agreement.h"

#include <math.h>

typedef struct largest_z {
    size_t known, beyond, at;
    double size; /* |z| */
} largest_z;

static void look(largest_z *largest, size_t i, double z, double limit) {
    if (isnan(z)) return;
    if (largest->known++ == 0 || fabs(z) > largest->size) {
        largest->size = fabs(z);
        largest->at = i;
    }
    largest->beyond += fabs(z) > limit;
}

static void print_largest(const char *what, const svmp_particles *particles, const largest_z *largest, double z) {
    printf("largest |z|     %.3g of %s (%s, z = %.3g)", largest->size, what,
           svmp_particles_name(particles, largest->at), z);
}

void print_agreement(const svmp_particles *particles, const svmp_difference *rows) {
    const size_t variables = svmp_particles_variables(particles);
    const double limit = svmp_difference_limit(2 * variables);
    largest_z mean = {0}, sd = {0};
    for (size_t i = 0; i < variables; i++) {
        look(&mean, i, rows[i].z_mean, limit);
        look(&sd, i, rows[i].z_sd, limit);
    }
    if (mean.known == 0 && sd.known == 0) {
        printf("No verdict: standard errors need at least two particles on each side, and at least six draws in each "
               "chain.\n");
        return;
    }
    if (mean.known) {
        print_largest("the means", particles, &mean, rows[mean.at].z_mean);
        putchar('\n');
    }
    if (sd.known) {
        print_largest("the sds", particles, &sd, rows[sd.at].z_sd);
        printf(", %.3g times the reference sd\n", rows[sd.at].sd_ratio);
    }
    if (mean.beyond == 0 && sd.beyond == 0)
        printf("They agree: no |z| exceeds %.3g, a limit that chance exceeds in 1 comparison out of 100.\n", limit);
    else
        printf("They differ: |z| exceeds %.3g, a limit that chance exceeds in 1 comparison out of 100, for the means "
               "of %zu\n"
               "and the sds of %zu of %zu variables.\n",
               limit, mean.beyond, sd.beyond, variables);
}
