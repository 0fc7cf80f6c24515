/* The errors of means, sds and quantiles from the differences between chains, against what is known of Gaussian draws.
 */
#include <math.h>

#include "maths/special.h"
#include "sample/number_errors.h"
#include "support.h"

enum { CHAINS = 100, EACH = 50, DRAWS = CHAINS * EACH, SAMPLES = 20 };

static double uniform(size_t sample, size_t l) { return 0.5 + 0.5 * test_random(sample, l); }

static svmp_particles *make(svmp_context *context, size_t chains, size_t variables) {
    svmp_particles *draws = NULL;
    assert_ok(svmp_particles_create(context, variables, DRAWS, NULL, &draws));
    assert_ok(svmp_particles_set_chains(draws, chains));
    return draws;
}

/* Of n independent Gaussian draws: 1/sqrt(n) of the mean, 1/sqrt(2 n) of the sd, 2.1/sqrt(n) of a 5 % quantile; of
 * chains whose draws come in pairs, n is half as many. */
static void test_gaussian_errors(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    static double workspace[3 * DRAWS];
    for (size_t chains = 4; chains <= CHAINS; chains += CHAINS - 4)
        for (size_t of = 1; of <= 2; of++) {
            svmp_particles *draws = make(context, chains, SAMPLES);
            double mean = 0, sd = 0, quantile = 0;
            for (size_t i = 0; i < SAMPLES; i++) {
                number_errors e;
                for (size_t l = 0; l < DRAWS; l++)
                    svmp_particles_values(draws)[i * DRAWS + l] = 5 + 2 * svmp_normal_quantile(uniform(i + 1, l / of));
                svmp_number_errors(draws, i, workspace, &e);
                mean += e.mean / SAMPLES, sd += e.sd / SAMPLES, quantile += e.quantile / SAMPLES;
            }
            const double root = sqrt((double)DRAWS / (double)of);
            assert_near(mean * root, 1, 0.1);
            assert_near(sd * root, sqrt(0.5), 0.08);
            assert_near(quantile * root, 2.1, 0.2);
            svmp_particles_free(draws);
        }
    svmp_context_free(context);
}

/* An indicator of probability p has a relative error of its sd of |1 - 2 p|/(2 sqrt(n p (1 - p))). */
static void test_indicators(void **state) {
    (void)state;
    static const struct {
        double p;
        uncertain_number what;
    } rows[] = {{0.5, UNCERTAIN_NONE}, {0.9, UNCERTAIN_NONE}, {0.05, UNCERTAIN_NONE},
                {0.002, UNCERTAIN_SD}, {0.999, UNCERTAIN_SD}, {0, UNCERTAIN_NONE}};
    svmp_context *context = test_context(1);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        svmp_particles *draws = make(context, CHAINS, 1);
        uncertain_numbers found;
        double more;
        for (size_t l = 0; l < DRAWS; l++) svmp_particles_values(draws)[l] = uniform(7, l) < rows[r].p;
        assert_ok(svmp_find_uncertain(draws, true, &found));
        assert_int_equal(found.what, rows[r].what);
        assert_int_equal(found.count, rows[r].what != UNCERTAIN_NONE);
        assert_ok(svmp_find_more_draws(draws, 0.01, 4, &more));
        assert_true(more >= 1 && more <= 4);
        svmp_particles_free(draws);
    }
    svmp_context_free(context);
}

/* Constants, rounding, infinite values and too few draws have no errors. */
static void test_nothing_to_say(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    static double workspace[3 * DRAWS];
    static const double bad[] = {INFINITY, NAN, 0};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        svmp_particles *draws = make(context, CHAINS, 1);
        number_errors e;
        uncertain_numbers found;
        for (size_t l = 0; l < DRAWS; l++)
            svmp_particles_values(draws)[l] = bad[k] == 0 ? 1e8 : l == 3 ? bad[k] : uniform(1, l);
        svmp_number_errors(draws, 0, workspace, &e);
        assert_true(isnan(e.mean) && isnan(e.sd) && isnan(e.quantile));
        assert_ok(svmp_find_uncertain(draws, true, &found));
        assert_int_equal(found.count, 0);
        svmp_particles_free(draws);
    }
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gaussian_errors),
        cmocka_unit_test(test_indicators),
        cmocka_unit_test(test_nothing_to_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
