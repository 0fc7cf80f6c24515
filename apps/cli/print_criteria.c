#include "print_criteria.h"

#include <math.h>
#include <stdio.h>

void print_criteria(const svmp_particles *particles) {
    svmp_criteria c;
    if (svmp_particles_criteria(particles, &c) != SVMP_OK) return;
    if (c.observations > 0)
        printf("WAIC %.5g, standard error %.3g, effective parameters %.3g (%zu observations)\n", c.waic, c.waic_error,
               c.waic_parameters, c.observations);
    if (!isnan(c.loo)) {
        printf("LOO %.5g, standard error %.3g, effective parameters %.3g", c.loo, c.loo_error, c.loo_parameters);
        if (c.loo_beyond > 0)
            printf("; not to be trusted for %zu of the observations, which change the posterior too much",
                   c.loo_beyond);
        printf("\n");
    }
    if (!isnan(c.dic))
        printf("DIC %.5g, Monte Carlo standard error %.2g: mean deviance %.5g, pD %.3g (half the variance of the "
               "deviance)\n",
               c.dic, c.dic_error, c.deviance, c.dic_parameters);
}
