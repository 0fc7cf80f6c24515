#include "print_sampling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond these a sampler's authors advise to look again. */
static const double low_acceptance = 0.4, high_acceptance = 0.9;

static void print_deepest(const svmp_sampling *s) {
    if (s->deepest > 0)
        printf("%zu of %zu trajectories reached the maximum depth of 10: the draws are correct but costly. Warm up "
               "longer, or give\n"
               "the variables similar scales; a density that jumps, at a change point, say, takes short steps, too.\n",
               s->deepest, s->trajectories);
}

const char *scaled_step(const char *step, double by, char text[STEP_TEXT]) {
    const char *colon = step ? strchr(step, ':') : NULL;
    char *end = NULL;
    const double rate = colon ? strtod(colon + 1, &end) : 0;
    if (end && rate > 0 && *end == '\0' && colon - step < 16)
        snprintf(text, STEP_TEXT, "--step %.*s:%.2g", (int)(colon - step), step, rate * by);
    else
        snprintf(text, STEP_TEXT, "--step");
    return text;
}

/* MALA and local moves, of which the particles are the chains. */
static void print_acceptance(double acceptance, const char *step) {
    char text[STEP_TEXT];
    printf("mean acceptance %.2f\n", acceptance);
    if (step == NULL) return; /* it was adapted */
    if (acceptance < low_acceptance)
        printf("This is low; MALA works best near 0.57. Try a smaller step (%s).\n",
               scaled_step(step, acceptance < 0.1 ? 0.1 : 0.3, text));
    if (acceptance > high_acceptance)
        printf("This is high; MALA works best near 0.57. Try a larger step (%s).\n", scaled_step(step, 3, text));
}

void print_sampling(const svmp_particles *particles, const char *step) {
    svmp_sampling s;
    if (svmp_particles_sampling(particles, &s) != SVMP_OK || isnan(s.acceptance)) return;
    if (isnan(s.leapfrogs)) {
        print_acceptance(s.acceptance, step);
        return;
    }
    printf("mean acceptance %.2f, %.3g leapfrog steps per draw", s.acceptance, s.leapfrogs);
    if (!isnan(s.ebfmi)) printf(", lowest E-BFMI %.2f", s.ebfmi);
    printf(", %zu divergent%s\n", s.divergent, s.trajectories > s.chains * s.draws ? " before thinning" : "");
    print_deepest(&s);
}
