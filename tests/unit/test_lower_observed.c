/* Models with partly observed nodes: some elements of a vector, a bound, a sum. */
#include "lowered.h"

/* A partly observed vector: given elements enter the density unchanged. */
static void test_partly_observed_vector(void **state) {
    (void)state;
    lowered_test test;
    lower(
        &test, "model { x[1:3] ~ dmnorm(mu[], O[,]) }",
        "x <- c(1, NA, -1) mu <- c(0, 0.5, 1) O <- structure(c(2, 0.5, 0, 0.5, 1, 0.25, 0, 0.25, 3), .Dim = c(3, 3))");
    assert_int_equal(test.model->variables, 1);
    assert_string_equal(test.model->names[0], "x.2");
    const double o[3][3] = {{2, 0.5, 0}, {0.5, 1, 0.25}, {0, 0.25, 3}};
    double u = 0.8, d[3] = {1, u - 0.5, -2}, square = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) square += o[i][j] * d[i] * d[j];
    double determinant = 2 * (3 - 0.0625) - 0.5 * 1.5;
    assert_near(log_density(&test, &u), 0.5 * log(determinant) - 1.5 * log(2 * acos(-1)) - 0.5 * square, 1e-13);
    assert_gradient(&test, &u);
    end(&test);
}

/* A censored time is bounded below by its cut point; its density is only that of its distribution. */
static void test_censoring_is_a_bound(void **state) {
    (void)state;
    lowered_test test;
    lower(&test,
          "model { for (i in 1:3) { cens[i] ~ dinterval(t[i], c[i,])\n t[i] ~ dexp(0.5) }\n"
          " z ~ dnorm(0, 1)\n two ~ dinterval(z, cuts[]) }",
          "cens <- c(0, 1, 1) t <- c(1, NA, NA) c <- structure(c(2, 2, 3), .Dim = c(3, 1)) two <- 1 cuts <- c(-1, 2)");
    assert_int_equal(test.model->variables, 3);
    double x[3] = {0.3, -0.4, 0.7}, natural[3];
    assert_ok(svmp_lowered_natural(test.model, 1, x, natural));
    assert_near(natural[0], 2 + exp(0.3), 1e-14);
    assert_near(natural[1], 3 + exp(-0.4), 1e-14);
    assert_near(natural[2], -1 + 3 / (1 + exp(-0.7)), 1e-14);
    double expected = 2 * log(0.5) - 0.5 * (natural[0] + natural[1]) + 0.3 - 0.4 + normal(natural[2], 0, 1) + log(3) -
                      log1p(exp(-0.7)) - log1p(exp(0.7));
    assert_near(log_density(&test, x), expected, 1e-13);
    assert_gradient(&test, x);
    enum { N = 2000 };
    double drawn[3 * N], values[3 * N], mean = 0;
    assert_ok(svmp_lowered_draw(test.model, 1, N, drawn));
    assert_ok(svmp_lowered_natural(test.model, N, drawn, values));
    for (size_t l = 0; l < N; l++) mean += values[l] / N; /* of an exponential beyond 2: 2 + 2 */
    assert_near(mean, 4, 4 * 2 / sqrt(N) / 4);
    end(&test);
}

/* Unknown cut points: t lies between its cut points, which must ascend, and a known t bounds its cut points. */
static void test_unknown_cut_points(void **state) {
    (void)state;
    lowered_test test;
    lower(&test,
          "model { for (i in 1:4) { y[i] ~ dinterval(t[i], c[])\n t[i] ~ dnorm(0, 1) }\n c[1] ~ dnorm(0, 1)\n"
          " c[2] <- c[1] + d\n d ~ dnorm(1, 1) }",
          "y <- c(0, 1, 2, 1) t <- c(NA, NA, NA, 0.75)");
    assert_int_equal(test.model->variables, 5);
    double x[5] = {0.3, -0.4, 0.7, 0.5, 1.5}, natural[5]; /* t[1], t[2], t[3], c[1], d */
    assert_ok(svmp_lowered_natural(test.model, 1, x, natural));
    assert_near(natural[0], 0.5 - exp(0.3), 1e-14);
    assert_near(natural[1], 0.5 + 1.5 / (1 + exp(0.4)), 1e-14);
    assert_near(natural[2], 2 + exp(0.7), 1e-14);
    double jacobian = 0.3 + 0.7 + log(1.5) - log1p(exp(-0.4)) - log1p(exp(0.4)), expected = jacobian;
    for (int i = 0; i < 3; i++) expected += normal(natural[i], 0, 1);
    expected += normal(0.5, 0, 1) + normal(1.5, 1, 1);
    assert_near(log_density(&test, x), expected, 1e-13);
    assert_gradient(&test, x);
    x[4] = -0.1; /* c[2] < c[1] */
    assert_true(isnan(log_density(&test, x)) && isnan(test.gradient[4]));
    x[3] = 0.8, x[4] = 1.5; /* c[1] is above t[4] */
    assert_true(isnan(log_density(&test, x)) && isnan(test.gradient[3]));
    end(&test);
}

/* Each element of a vector has its own bounds, including an unknown cut point; the density is that of the vector with
 * the elements' Jacobians. */
static void test_censored_vector(void **state) {
    (void)state;
    lowered_test test;
    lower(&test,
          "model { z[1:4] ~ dmnorm(m[], P[,])\n y[2] ~ dinterval(z[2], 0.5)\n y[3] ~ dinterval(z[3], c)\n"
          " y[4] ~ dinterval(z[4], cuts[])\n c ~ dnorm(0, 1)\n w ~ dnorm(z[1], 1) }",
          "y <- c(NA, 1, 0, 1) w <- 1 m <- c(0, 0, 0, 0) cuts <- c(-1, 2)\n"
          "P <- structure(c(2,1,0,0, 1,2,0,0, 0,0,3,0, 0,0,0,1), .Dim = c(4, 4))");
    assert_int_equal(test.model->variables, 5);
    double x[5] = {0.3, -0.4, 0.7, 0.2, 1.5}, natural[5], back[5];
    assert_ok(svmp_lowered_natural(test.model, 1, x, natural));
    const double *z = natural, c = x[4];
    assert_near(z[0], 0.3, 1e-15);
    assert_near(z[1], 0.5 + exp(-0.4), 1e-14);
    assert_near(z[2], c - exp(0.7), 1e-14);
    assert_near(z[3], -1 + 3 / (1 + exp(-0.2)), 1e-14);
    const double form = 2 * z[0] * z[0] + 2 * z[0] * z[1] + 2 * z[1] * z[1] + 3 * z[2] * z[2] + z[3] * z[3];
    const double expected = 0.5 * log(9) - 2 * log(2 * acos(-1)) - 0.5 * form - 0.4 + 0.7 + log(3) - log1p(exp(-0.2)) -
                            log1p(exp(0.2)) + normal(c, 0, 1) + normal(1, z[0], 1);
    assert_near(log_density(&test, x), expected, 1e-13);
    assert_gradient(&test, x);
    assert_ok(svmp_lowered_inverse(test.model, 1, natural, back));
    for (int i = 0; i < 5; i++) assert_near(back[i], x[i], 1e-13);
    enum { N = 200 };
    double drawn[5 * N], values[5 * N];
    assert_ok(svmp_lowered_draw(test.model, 1, N, drawn));
    assert_ok(svmp_lowered_natural(test.model, N, drawn, values));
    for (size_t l = 0; l < N; l++) {
        assert_true(values[N + l] > 0.5 && values[2 * N + l] < values[4 * N + l]);
        assert_true(values[3 * N + l] > -1 && values[3 * N + l] < 2);
        for (int i = 0; i < 5; i++) assert_true(fabs(drawn[i * N + l]) < 20);
    }
    end(&test);
}

/* One term of an observed sum is the remainder; it contributes its density, and its bounds restrict the other term. */
static void test_observed_sums(void **state) {
    (void)state;
    lowered_test test;
    lower(&test,
          "model { y[1] ~ dsum(a, b)\n a ~ dnorm(m, 2)\n b ~ dnorm(a, 4)\n w ~ dnorm(b, 3)\n m ~ dnorm(0, 1)\n"
          " y[2] ~ dsum(g, h)\n g ~ dgamma(2, 1)\n h ~ dexp(3) T(0.5,)\n"
          " y[3] ~ dsum(b, c, 0.25)\n c ~ dt(0, 1, 1) }",
          "y <- c(3, 2, 1) w <- 0.5");
    assert_int_equal(test.model->variables, 3); /* a, m, g */
    assert_int_equal(test.model->monitor_count, 3);
    double x[3] = {0.8, -0.3, 0.4}, natural[3], rest[3];
    assert_ok(svmp_lowered_natural(test.model, 1, x, natural));
    assert_ok(svmp_lowered_monitor(test.model, 1, x, rest));
    const double a = 0.8, m = -0.3, b = 3 - a, g = 1.5 / (1 + exp(-0.4)), h = 2 - g, c = 0.75 - b;
    assert_near(natural[2], g, 1e-14);
    for (int k = 0; k < 3; k++) {
        const char *name = test.model->monitors[k].name;
        assert_near(rest[k], *name == 'b' ? b : *name == 'h' ? h : c, 1e-14);
    }
    double expected = normal(a, m, 2) + normal(b, a, 4) + normal(0.5, b, 3) + normal(m, 0, 1);
    expected += log(g) - g + log(3) - 3 * (h - 0.5) + log(1.5) - log1p(exp(-0.4)) - log1p(exp(0.4));
    expected -= log(acos(-1)) + log1p(c * c);
    assert_near(log_density(&test, x), expected, 1e-13);
    assert_gradient(&test, x);
    end(&test);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partly_observed_vector), cmocka_unit_test(test_censoring_is_a_bound),
        cmocka_unit_test(test_unknown_cut_points),     cmocka_unit_test(test_censored_vector),
        cmocka_unit_test(test_observed_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
