/* Heavy tails are told from light ones, from a thousand draws. */
#include <math.h>

#include "maths/special.h"
#include "sample/heavy_tails.h"
#include "sample/number_errors.h"
#include "support.h"

enum { DRAWS = 1000, VARIABLES = 200 };

static double uniform(size_t variable, size_t l) { return 0.5 + 0.5 * test_random(variable, l); }

static double normal(double p) { return svmp_normal_quantile(p); }
static double exponential(double p) { return -log1p(-p); }
static double left_exponential(double p) { return log(p); }
static double lognormal(double p) { return exp(0.5 * svmp_normal_quantile(p)); }
static double bounded(double p) { return p * p; }
static double cauchy(double p) { return tan(acos(-1) * (p - 0.5)); }
static double pareto(double p) { return pow(1 - p, -0.8); }
static double negative_pareto(double p) { return -pow(1 - p, -0.8); }

static uncertain_numbers find(svmp_context *context, double (*quantile)(double), size_t variables) {
    svmp_particles *draws = NULL;
    uncertain_numbers found;
    assert_ok(svmp_particles_create(context, variables, DRAWS, NULL, &draws));
    for (size_t i = 0; i < variables; i++)
        for (size_t l = 0; l < DRAWS; l++) svmp_particles_values(draws)[i * DRAWS + l] = quantile(uniform(i + 1, l));
    assert_ok(svmp_find_uncertain(draws, true, &found));
    svmp_particles_free(draws);
    return found;
}

/* None of 200 variables with a variance is named, and most without one are. */
static void tails_are_told_apart(void **unused) {
    (void)unused;
    static double (*const light[])(double) = {normal, exponential, left_exponential, lognormal, bounded};
    static double (*const heavy[])(double) = {cauchy, pareto, negative_pareto};
    svmp_context *context = test_context(1);
    for (size_t k = 0; k < sizeof light / sizeof *light; k++)
        if (find(context, light[k], VARIABLES).what == UNCERTAIN_TAILS) fail_msg("light %zu", k);
    for (size_t k = 0; k < sizeof heavy / sizeof *heavy; k++) {
        const uncertain_numbers all = find(context, heavy[k], VARIABLES);
        assert_true(all.count >= 0.5 * VARIABLES && all.amount > 0.8); /* 200 variables take a shape of 0.73 */
    }
    svmp_context_free(context);
}

static void some_samples_say_nothing(void **unused) {
    (void)unused;
    static double values[DRAWS], workspace[DRAWS];
    for (size_t l = 0; l < DRAWS; l++) values[l] = l % 3 == 0;
    assert_true(svmp_heavier_tail(DRAWS, 1, values, workspace).shape == -INFINITY); /* ties */
    for (size_t l = 0; l < DRAWS; l++) values[l] = 7;
    assert_true(svmp_heavier_tail(DRAWS, 1, values, workspace).shape == -INFINITY);
    for (size_t l = 0; l < DRAWS; l++) values[l] = cauchy(uniform(1, l));
    assert_true(svmp_heavier_tail(DRAWS, 1, values, workspace).shape > 0.5);
    assert_true(svmp_heavier_tail(300, 1, values, workspace).shape == -INFINITY); /* too few */
    values[3] = INFINITY;
    assert_true(svmp_heavier_tail(DRAWS, 1, values, workspace).shape == -INFINITY);
    values[3] = NAN;
    assert_true(svmp_heavier_tail(DRAWS, 1, values, workspace).shape == -INFINITY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails_are_told_apart),
        cmocka_unit_test(some_samples_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
