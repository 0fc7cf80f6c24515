/* MALA: with the accept step, Langevin moves of any step size leave the posterior invariant. */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "support.h"
#include "targets.h"

/* Every particle starts at an exact draw of the Gaussian chain with precision (2 -1; -1 2), S = (2 1; 1 2)/3, and takes
 * a few steps long enough to show the bias of plain Langevin dynamics; Kolmogorov's statistic exceeds 1.95 with
 * probability 0.001. */
static void test_leaves_an_exact_gaussian_invariant(void **state) {
    (void)state;
    enum { N = 10000 };
    const char *methods[] = {"mala", "langevin"};
    svmp_context *context = test_context(2);
    svmp_model *model = NULL;
    svmp_particles *start = NULL;
    assert_ok(svmp_model_create(context, &model));
    assert_ok(svmp_model_add_node(model, NULL, 2, NULL, NULL, NULL));
    assert_ok(svmp_model_add_gaussian(model, 1, (size_t[]){0}, (double[]){2, -1, -1, 2}, NULL));
    assert_ok(svmp_model_finish(model));
    double *x = malloc(2 * N * sizeof *x), *u = malloc(N * sizeof *u);
    const double L[3] = {sqrt(2.0 / 3), sqrt(1.0 / 6), sqrt(0.5)};
    svmp_random_normals((random_stream){.seed = 8, .purpose = RANDOM_TEST, .a = 1}, N, x);
    svmp_random_normals((random_stream){.seed = 8, .purpose = RANDOM_TEST, .a = 2}, N, x + N);
    for (size_t l = 0; l < N; l++) {
        x[N + l] = L[1] * x[l] + L[2] * x[N + l];
        x[l] *= L[0];
    }
    assert_ok(svmp_particles_create(context, 2, N, x, &start));
    for (size_t v = 0; v < 2; v++) assert_ok(svmp_particles_set_name(start, v, v == 0 ? "x.1.1" : "x.1.2"));
    for (size_t m = 0; m < 2; m++) {
        run_options options = graphical_options();
        options.method = methods[m];
        options.particles = N;
        options.iterations = 5;
        options.step = "fixed:0.5..0.3";
        svmp_run *run = NULL;
        svmp_outcome outcome;
        svmp_particles *end = NULL;
        assert_ok(svmp_run_make(model, &options, &run));
        assert_ok(svmp_run_start_from(run, start));
        assert_ok(svmp_run_go(run, &outcome));
        assert_ok(svmp_run_particles(run, &end));
        const double *to = svmp_particles_values(end);
        double worst = 0;
        for (size_t k = 0; k < 4; k++) { /* x_1, x_2, and their sum and difference, of variance 2 and 2/3 */
            const double a = k != 1,
                         b = k == 0   ? 0
                             : k == 3 ? -1
                                      : 1,
                         sd = sqrt(k < 2    ? 2.0 / 3
                                   : k == 2 ? 2
                                            : 2.0 / 3);
            for (size_t l = 0; l < N; l++) u[l] = target_normal_cdf((a * to[l] + b * to[N + l]) / sd);
            worst = fmax(worst, target_kolmogorov(N, u));
        }
        assert_true(m == 0 ? worst < 1.95 : worst > 3);
        svmp_particles_free(end);
        svmp_run_free(run);
    }
    free(x);
    free(u);
    svmp_particles_free(start);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* From a distant start to the moments of a posterior that is not Gaussian; the chains are independent, so plain
 * standard errors apply. */
static void test_moments_of_a_logistic_regression(void **state) {
    (void)state;
    enum { N = 2000 };
    svmp_context *context = test_context(2);
    svmp_model *model = target_logistic(context);
    double mean[2], variance[2];
    target_logistic_moments(mean, variance);
    run_options options = graphical_options();
    options.method = "mala";
    options.particles = N;
    options.iterations = 200;
    options.step = "fixed:0.1";
    svmp_particles *particles = target_infer(model, &options);
    for (size_t i = 0; i < 2; i++) {
        const estimate first = target_mean(particles, i, target_value, mean[i]);
        const estimate second = target_mean(particles, i, target_square, mean[i]);
        assert_true(fabs(first.mean) < 4.5 * first.error);
        assert_true(fabs(second.mean - variance[i]) < 4.5 * second.error);
    }
    svmp_sampling sampling;
    assert_ok(svmp_particles_sampling(particles, &sampling));
    assert_true(sampling.acceptance > 0.5 && sampling.acceptance < 0.99);
    assert_true(isnan(sampling.leapfrogs));
    svmp_particles_free(particles);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A step that is far too long is always rejected, without an error; lp__ is the log density at the particles. */
static void test_huge_steps_are_rejected(void **state) {
    (void)state;
    enum { N = 50 };
    svmp_context *context = test_context(2);
    svmp_model *model = target_student(context, 3);
    run_options options = graphical_options();
    options.method = "mala";
    options.particles = N;
    options.iterations = 20;
    const char *steps[] = {"fixed:1e200", "decay:0.5,1,0.6"};
    for (size_t k = 0; k < 2; k++) {
        options.step = steps[k];
        svmp_particles *particles = target_infer(model, &options);
        double log_density[N];
        assert_ok(svmp_model_evaluate(model, N, svmp_particles_values(particles), log_density, NULL));
        assert_memory_equal(log_density, svmp_particles_statistic(particles, "lp__"), sizeof log_density);
        svmp_sampling sampling;
        assert_ok(svmp_particles_sampling(particles, &sampling));
        assert_true(k == 0 ? sampling.acceptance < 1e-6 : sampling.acceptance > 0.5);
        svmp_particles_free(particles);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaves_an_exact_gaussian_invariant),
        cmocka_unit_test(test_moments_of_a_logistic_regression),
        cmocka_unit_test(test_huge_steps_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
