/* Numbers as text: the same bytes as trying "%.15g", "%.16g" and "%.17g" in turn. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "support.h"

static void check(double value) {
    char expected[NUMBER_TEXT], text[NUMBER_TEXT];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(expected, sizeof expected, "%.*g", digits, value);
        if (strtod(expected, NULL) == value) break;
    }
    const size_t length = svmp_number_format(value, text);
    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(expected));
    assert_true(isnan(value) || strtod(text, NULL) == value);
}

static void check_near(double value) {
    double below = value, above = value;
    check(value);
    check(-value);
    for (int k = 0; k < 20; k++) {
        check(below = nextafter(below, -INFINITY));
        check(above = nextafter(above, INFINITY));
    }
}

/* Numbers at which the spacing, the number of digits or the format changes. */
static void test_edges(void **state) {
    (void)state;
    const double edges[] = {0.0,       -0.0, DBL_MAX,          DBL_MIN, 5e-324, INFINITY,
                            -INFINITY, NAN,  9007199254740992, 0.1,     1.0 / 3};
    for (size_t k = 0; k < sizeof edges / sizeof *edges; k++) check(edges[k]);
    for (int k = -120; k <= 70; k++) check_near(ldexp(1, k));
    for (int k = -40; k <= 20; k++)
        for (int digit = 1; digit <= 9; digit++) {
            char text[16];
            snprintf(text, sizeof text, "%de%d", digit, k);
            check_near(strtod(text, NULL));
        }
}

/* Random mantissas; and ties: few digits plus halves and quarters of a unit of the fifteenth digit. */
static void test_many(void **state) {
    (void)state;
    uint64_t bits = 1;
    for (int k = 0; k < 200000; k++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        const double mantissa = 1 + (double)(bits >> 12) * DBL_EPSILON;
        check(ldexp(mantissa, k % 180 - 120));
        const double whole = (double)(bits >> (14 + k % 40));
        check(whole / 4);
        check(whole / 1024);
        check((double)(bits >> 40) / 1000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_edges), cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
