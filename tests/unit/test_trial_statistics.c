/* The statistical tests of claims, against closed forms. */
#include "support.h"

#include <math.h>

#include "paper/trial_tests.c"

/* One degree of freedom is the Cauchy distribution; two, 1/2 + t / (2 sqrt(2 + t^2)); many, nearly the normal
 * distribution. */
static void test_student(void **state) {
    (void)state;
    const double pi = acos(-1);
    for (double t = -40; t <= 40; t += 0.37) {
        assert_near(student_below(t, 1), 0.5 + atan(t) / pi, 1e-12);
        assert_near(student_below(t, 2), 0.5 + t / (2 * sqrt(2 + t * t)), 1e-12);
        if (fabs(t) < 4) assert_near(student_below(t, 1e7), 0.5 * erfc(-t / sqrt(2)), 1e-6);
        assert_near(student_below(t, 5) + student_below(-t, 5), 1, 1e-12);
    }
}

/* Two values a, b: t = (a + b - 2 limit) / |a - b| with one degree of freedom. */
static void test_the_mean_of_values(void **state) {
    (void)state;
    const double values[] = {1, NAN, 4}, equal[] = {2, 2, 2};
    t_test t = t_test_below(3, values, 3);
    assert_int_equal(t.used, 2);
    assert_near(t.mean, 2.5, 1e-15);
    assert_near(t.error, 1.5, 1e-15);
    assert_near(t.p_below, 0.5 + atan(-1.0 / 3) / acos(-1), 1e-12);
    assert_true(t_test_below(3, equal, 3).p_below == 0);
    assert_true(t_test_below(3, equal, 1).p_below == 1);
    assert_true(t_test_below(1, equal, 1).p_below == 0.5); /* one trial gives no verdict */
}

static void test_coins_and_slopes(void **state) {
    (void)state;
    assert_near(coin_at_least(4, 0), 1, 1e-12);
    assert_near(coin_at_least(4, 3), 5.0 / 16, 1e-12);
    assert_near(coin_at_least(20, 15), 21700.0 / 1048576, 1e-12);
    assert_near(slope(3, (double[]){0, 1, 5}, (double[]){2, -1, -13}), -3, 1e-14);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_student),
        cmocka_unit_test(test_the_mean_of_values),
        cmocka_unit_test(test_coins_and_slopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
