#include "print_mixing.h"

#include <math.h>
#include <stdio.h>

/* The largest or smallest of a number over the variables, and how many are beyond its limit. */
typedef struct extreme {
    double value;
    size_t at, beyond;
} extreme;

static void update(extreme *e, size_t k, double value, double sign, double limit) {
    if (isnan(value)) return;
    if (isnan(e->value) || sign * value > sign * e->value) *e = (extreme){value, k, e->beyond};
    e->beyond += sign * value > sign * limit;
}

static int diverged(const svmp_particles *particles) {
    const double *divergent = svmp_particles_statistic(particles, "divergent__");
    for (size_t l = 0; divergent && l < svmp_particles_count(particles); l++)
        if (divergent[l] != 0) return 1;
    return 0;
}

/* The extremes of the variables that were looked at. */
typedef struct mixture {
    const svmp_particles *particles;
    size_t count, unknown; /* variables, and those without R-hat */
    double limit, needed;  /* of R-hat, of effective draws */
    extreme r_hat, draws;
    const char *worst, *fewest; /* the names of these */
} mixture;

static mixture measure(const svmp_particles *particles, size_t count, const size_t *variables,
                       const svmp_mixing *mixing) {
    mixture m = {.particles = particles, .count = count, .r_hat.value = NAN, .draws.value = NAN};
    const size_t chains = svmp_particles_chains(particles);
    svmp_chains_limits(chains, svmp_particles_count(particles) / chains, &m.limit, &m.needed);
    for (size_t k = 0; k < count; k++) {
        update(&m.r_hat, k, mixing[k].r_hat, 1, m.limit);
        update(&m.draws, k, fmin(mixing[k].bulk_draws, mixing[k].tail_draws), -1, m.needed);
        m.unknown += isnan(mixing[k].r_hat);
    }
    m.worst = svmp_particles_name(particles, variables ? variables[m.r_hat.at] : m.r_hat.at);
    m.fewest = svmp_particles_name(particles, variables ? variables[m.draws.at] : m.draws.at);
    return m;
}

/* The numbers alone; what they mean, and what to do, is the verdict's to say. */
static void print_beyond(const mixture *m) {
    if (m->r_hat.beyond > 0)
        printf("R-hat is above %.4g for %zu of %zu variables (worst: %s, %.*f).\n", m->limit, m->r_hat.beyond, m->count,
               m->worst, m->r_hat.value < 100 ? 3 : 0, m->r_hat.value);
    if (m->draws.beyond > 0)
        printf("Fewer than %.0f effective draws for %zu of %zu variables (fewest: %s, %.0f).\n", m->needed,
               m->draws.beyond, m->count, m->fewest, m->draws.value);
    if (m->unknown > 0)
        printf("R-hat and ESS are not defined for %zu of %zu variables: they do not vary, or a chain has fewer than 6 "
               "draws.\n",
               m->unknown, m->count);
}

static void print_mixed(const mixture *m, int one) {
    if (diverged(m->particles))
        printf("R-hat is at most %.3f, and there are at least %.0f effective draws; but the draws may miss the regions "
               "where\n"
               "trajectories diverged.\n",
               m->r_hat.value, m->draws.value);
    else
        printf("%s: R-hat is at most %.3f, and there are at least %.0f effective draws.\n",
               one ? "The halves of the chain agree, but several chains would be a stronger test"
                   : "The chains have mixed",
               m->r_hat.value, m->draws.value);
}

void print_mixing(const svmp_particles *particles, size_t count, const size_t *variables, const svmp_mixing *mixing,
                  int judged) {
    const mixture m = measure(particles, count, variables, mixing);
    print_beyond(&m);
    if (!judged && m.r_hat.beyond == 0 && m.draws.beyond == 0 && m.unknown < count)
        print_mixed(&m, svmp_particles_chains(particles) == 1);
}
