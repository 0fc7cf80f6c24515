#include "mixing.h"

#include <math.h>

/* The largest or smallest of a number over the variables, and how many are beyond its limit. */
typedef struct extreme {
    double value;
    size_t at, beyond;
} extreme;

static void look(extreme *e, size_t k, double value, double sign, double limit) {
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

void print_mixing(const svmp_particles *particles, size_t count, const size_t *variables, const svmp_mixing *mixing) {
    double needed, limit;
    svmp_chains_limits(svmp_particles_chains(particles), &limit, &needed);
    extreme r_hat = {NAN, 0, 0}, draws = {NAN, 0, 0};
    size_t unknown = 0;
    for (size_t k = 0; k < count; k++) {
        look(&r_hat, k, mixing[k].r_hat, 1, limit);
        look(&draws, k, fmin(mixing[k].bulk_draws, mixing[k].tail_draws), -1, needed);
        unknown += isnan(mixing[k].r_hat);
    }
    const int one = svmp_particles_chains(particles) == 1;
    const char *worst = svmp_particles_name(particles, variables ? variables[r_hat.at] : r_hat.at);
    const char *fewest = svmp_particles_name(particles, variables ? variables[draws.at] : draws.at);
    char text[64];
    snprintf(text, sizeof text, r_hat.value < 100 ? "%.3f" : "%.3g", r_hat.value);
    if (r_hat.beyond > 0)
        printf("R-hat is above %.4g for %zu of %zu variables (worst: %s, %s): %s. Run more warm-up or draws.\n", limit,
               r_hat.beyond, count, worst, text, one ? "the chain has not settled" : "the chains have not mixed");
    if (draws.beyond > 0)
        printf("Fewer than %.0f effective draws for %zu of %zu variables (fewest: %s, %.0f): the numbers above are "
               "rough. Run more draws.\n",
               needed, draws.beyond, count, fewest, draws.value);
    if (unknown > 0)
        printf("R-hat and ESS are not defined for %zu of %zu variables: they do not vary, or a chain has fewer than 6 "
               "draws.\n",
               unknown, count);
    if (r_hat.beyond == 0 && draws.beyond == 0 && unknown < count && diverged(particles))
        printf("R-hat is at most %.3f, and there are at least %.0f effective draws; but the draws may miss the regions "
               "where\n"
               "trajectories diverged.\n",
               r_hat.value, draws.value);
    else if (r_hat.beyond == 0 && draws.beyond == 0 && unknown < count)
        printf("%s: R-hat is at most %.3f, and there are at least %.0f effective draws.\n",
               one ? "The halves of the chain agree, but several chains would be a stronger test"
                   : "The chains have mixed",
               r_hat.value, draws.value);
}
