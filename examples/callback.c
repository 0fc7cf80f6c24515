/* A factor given as a C function. A level is measured with noise; it is mostly constant and sometimes jumps. Its
 * increments have a Cauchy distribution, which is not a built-in factor of svmp. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <svmp.h>

enum { TIMES = 12 };
static const double measured[TIMES] = {0.3, -0.4, 0.1, 0.5, -0.2, 0.2, 5.1, 4.6, 5.4, 4.9, 5.2, 4.7};
static double noise = 0.5, scale = 0.1;

/* -log(1 + (move / width)^2) and its gradient, for n particles at once; x[0] is the level before, x[1] after. */
static int cauchy_move(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    const double *width = user_data;
    for (size_t l = 0; l < n; l++) {
        double move = (x[1][l] - x[0][l]) / *width;
        value[l] = -log1p(move * move);
        gradient[1][l] = -2 * move / (1 + move * move) / *width;
        gradient[0][l] = -gradient[1][l];
    }
    return 0;
}

static svmp_context *context;
static void must(svmp_status status) {
    if (status) fprintf(stderr, "callback: %s\n", svmp_context_error(context)), exit(1);
}

int main(void) {
    svmp_model *model;
    svmp_run *run;
    svmp_particles *particles;
    svmp_outcome outcome;
    size_t level[TIMES];
    must(svmp_context_create(NULL, &context));
    must(svmp_model_create(context, &model));
    for (int t = 0; t < TIMES; t++) { /* measured ~ N(level, noise^2), a Gaussian factor of one node */
        double precision = 1 / (noise * noise), linear = precision * measured[t];
        must(svmp_model_add_node(model, NULL, 1, NULL, NULL, &level[t]));
        must(svmp_model_add_gaussian(model, 1, &level[t], &precision, &linear));
        if (t > 0) must(svmp_model_add_callback(model, 2, &level[t - 1], cauchy_move, &scale));
    }
    must(svmp_model_finish(model)); /* derives the graph from the factors: here a chain */

    svmp_gradient_check worst; /* a wrong derivative causes no error, only a wrong answer */
    must(svmp_model_check_gradient(model, 1, measured, &worst));
    if (worst.error > 1e-6)
        fprintf(stderr, "callback: factor %zu: the derivative is %g, and its values say %g\n", worst.factor,
                worst.analytic, worst.numeric);

    must(svmp_run_create(model, NULL, &run));
    must(svmp_run_go(run, &outcome));
    must(svmp_run_particles(run, &particles));
    for (size_t t = 0; t < TIMES; t++) {
        svmp_moments x;
        must(svmp_particles_moments(particles, t, &x));
        printf("time %2zu: measured %4.1f, level %4.1f +- %.1f %*s\n", t + 1, measured[t], x.mean, x.sd,
               (int)(x.mean * 6) + 6, "o");
    }
    svmp_particles_free(particles);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}
