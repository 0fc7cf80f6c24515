#include "mixing.h"

#include <math.h>

/* Vehtari and others: R-hat at most 1.01, and 100 effective draws a chain, without which it tells little: that is for
 * some four chains. Many short ones need not be worth so much each; 400 in all will do, or 10 a chain. */
static double needed_draws(size_t chains) {
    return chains <= 4 ? 100 * (double)chains : fmax(400, 10 * (double)chains);
}

/* Chains that have settled, and are worth e effective draws each, have R-hat sqrt(1 + 1/e): 1.01 is that of half of the
 * draws that are needed. */
static double high_r_hat(size_t chains) { return fmax(1.01, sqrt(1 + 2 * (double)chains / needed_draws(chains))); }

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

int print_mixing(const svmp_particles *particles, size_t count, const size_t *variables, const svmp_mixing *mixing) {
    const double needed = needed_draws(svmp_particles_chains(particles));
    const double limit = high_r_hat(svmp_particles_chains(particles));
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
    return r_hat.beyond == 0 && draws.beyond == 0 && unknown < count && !diverged(particles);
}
