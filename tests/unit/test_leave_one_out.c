/* Pareto tails, and leave-one-out cross-validation against a posterior that is known in closed form. */
#include <math.h>

#include "maths/pareto_tail.h"
#include "maths/special.h"
#include "support.h"

/* The quantiles of a tail are fitted with its own shape and scale, up to what the prior of the shape adds. */
static void tails_are_fitted(void **unused) {
    (void)unused;
    enum { N = 2000 };
    static const double shapes[] = {-0.4, 0, 0.3, 0.8, 1.5};
    double x[N];
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const pareto_tail truth = {shapes[s], 3};
        for (size_t k = 0; k < N; k++) x[k] = svmp_pareto_quantile(truth, ((double)k + 0.5) / N);
        const pareto_tail fitted = svmp_pareto_fit(N, x);
        assert_near(fitted.shape, truth.shape, 0.02);
        assert_near(fitted.scale, truth.scale, 0.06);
    }
    assert_near(svmp_pareto_quantile((pareto_tail){0.5, 2}, 0.75), 4, 1e-14); /* 2 ((1/4)^(-1/2) - 1) / (1/2) */
    assert_near(svmp_pareto_quantile((pareto_tail){0, 2}, 0.5), 2 * log(2), 1e-14);
    assert_true(isnan(svmp_pareto_fit(4, x).shape));
    assert_true(isnan(svmp_pareto_fit(6, (double[]){1, 1, 1, 1, 1, 1}).shape));
    assert_true(isnan(svmp_pareto_fit(6, (double[]){0, 1, 2, 3, 4, 5}).shape));
    assert_true(isnan(svmp_pareto_fit(6, (double[]){1, 2, 3, 4, 5, INFINITY}).shape));
}

/* y_i ~ N(mu, 1), mu flat: mu is N(mean, 1/n), and y_i given the others is N(their mean, n/(n - 1)). */
static void the_density_of_each_observation_given_the_others(void **unused) {
    (void)unused;
    enum { OBSERVED = 8, N = 20000 };
    static const double y[OBSERVED] = {0.3, -1.2, 0.8, 1.9, -0.4, 0.1, -0.9, 1.1};
    svmp_context *context = test_context(1);
    svmp_particles *draws = NULL;
    svmp_criteria criteria;
    const double two_pi = 2 * acos(-1);
    double mean = 0, density[OBSERVED], shape[OBSERVED], total = 0;
    assert_ok(svmp_particles_create(context, OBSERVED, N, NULL, &draws));
    for (size_t i = 0; i < OBSERVED; i++) mean += y[i] / OBSERVED;
    for (size_t i = 0; i < OBSERVED; i++) {
        char name[32];
        snprintf(name, sizeof name, "log_lik.%zu", i + 1);
        assert_ok(svmp_particles_set_name(draws, i, name));
        for (size_t l = 0; l < N; l++) {
            const double p = ((double)(l * 7919 % N) + 0.5) / N;
            const double off = y[i] - mean - svmp_t_quantile(p, 1e9) / sqrt(OBSERVED);
            svmp_particles_values(draws)[i * N + l] = -0.5 * off * off - 0.5 * log(two_pi);
        }
    }
    assert_ok(svmp_particles_loo(draws, density, shape));
    for (size_t i = 0; i < OBSERVED; i++) {
        const double others = (OBSERVED * mean - y[i]) / (OBSERVED - 1), variance = (double)OBSERVED / (OBSERVED - 1);
        assert_near(density[i], -0.5 * pow(y[i] - others, 2) / variance - 0.5 * log(two_pi * variance), 2e-3);
        assert_true(shape[i] < svmp_loo_limit(N));
        total += density[i];
    }
    assert_ok(svmp_particles_criteria(draws, &criteria));
    assert_near(criteria.loo, -2 * total, 1e-12);
    assert_true(criteria.loo_beyond == 0 && criteria.loo_error > 0);
    assert_near(criteria.loo_parameters, 1, 0.25);
    svmp_particles_free(draws);
    svmp_context_free(context);
}

/* A weight without a mean is known by its shape; a likelihood that is not finite spoils its observation alone. */
static void what_cannot_be_trusted(void **unused) {
    (void)unused;
    enum { N = 4000 };
    svmp_context *context = test_context(1);
    svmp_particles *draws = NULL;
    svmp_criteria criteria;
    double density[3], shape[3];
    assert_ok(svmp_particles_create(context, 3, N, NULL, &draws));
    double *values = svmp_particles_values(draws);
    for (size_t l = 0; l < N; l++) {
        values[l] = 1.5 * log(((double)l + 0.5) / N); /* weights u^-1.5 */
        values[N + l] = -1;
        values[2 * N + l] = l == 17 ? -INFINITY : -1;
    }
    for (size_t i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "log_lik.%zu", i + 1);
        assert_ok(svmp_particles_set_name(draws, i, name));
    }
    assert_ok(svmp_particles_loo(draws, density, shape));
    assert_near(shape[0], 1.5, 0.15);
    assert_near(density[1], -1, 1e-12);
    assert_true(shape[1] == 0 && isnan(density[2]) && isnan(shape[2]));
    assert_ok(svmp_particles_criteria(draws, &criteria));
    assert_int_equal(criteria.loo_beyond, 2);
    assert_true(isnan(criteria.loo));
    assert_int_equal(svmp_particles_loo(draws, NULL, shape), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_loo(NULL, density, shape), SVMP_BAD_CALL);
    assert_near(svmp_loo_limit(1000000), 0.7, 1e-15);
    assert_near(svmp_loo_limit(100), 0.5, 1e-15);
    assert_true(svmp_loo_limit(1) == 0);
    svmp_particles_free(draws);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails_are_fitted),
        cmocka_unit_test(the_density_of_each_observation_given_the_others),
        cmocka_unit_test(what_cannot_be_trusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
