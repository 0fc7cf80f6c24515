/* Conditional autoregressions: car.proper is the normal distribution of its precision matrix, car.normal the sum over
 * pairs of neighbours on vectors that sum to 0; areas without neighbours are 0. */
#include <math.h>
#include <string.h>

#include "dist/map_neighbours.h"
#include "lang/compile.h"
#include "model/evaluator.h"
#include "model/model.h"
#include "model/natural_values.h"
#include "model/transform.h"
#include "unit/files.h"
#include "unit/read_dump.h"
#include "unit/simulated_processes.h"

static svmp_model *read_model(svmp_context *context, const char *text, const char *dump) {
    return try_dump(context, text, dump, NULL);
}

static void assert_gradient(const svmp_model *model, size_t count, double *x) {
    double score[16];
    evaluator *e = NULL;
    assert_ok(svmp_evaluator_create(model, 1, 1, &e));
    assert_ok(svmp_evaluate(e, x, NULL, score));
    svmp_evaluator_free(e);
    for (size_t i = 0; i < count; i++) {
        const double h = 1e-5, at = x[i];
        x[i] = at + h;
        const double above = log_density_at(model, x);
        x[i] = at - h;
        const double below = log_density_at(model, x);
        x[i] = at;
        assert_near(score[i], (above - below) / (2 * h), 1e-7 * (1 + fabs(score[i])));
    }
}

/* A square of four areas, one area beside it, and an island. */
#define MAP "num <- c(2, 2, 2, 3, 1, 0) adj <- c(2, 3, 1, 4, 1, 4, 2, 3, 5, 4) "
static const int pairs[][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}};

static void test_zero_sum(void **state) {
    (void)state;
    for (size_t n = 2; n < 40; n++) {
        double u[40], x[40], back[40], squares = 0, sum = 0;
        svmp_random_normals((random_stream){.seed = n, .purpose = RANDOM_TEST}, n - 1, u);
        assert_int_equal(svmp_transform_variables(TRANSFORM_ZERO_SUM, n), n - 1);
        svmp_transform_natural(TRANSFORM_ZERO_SUM, n, NULL, NULL, u, x);
        assert_true(svmp_transform_inverse(TRANSFORM_ZERO_SUM, n, NULL, NULL, x, back));
        for (size_t k = 0; k < n; k++) sum += x[k], squares += x[k] * x[k];
        for (size_t k = 0; k + 1 < n; k++) squares -= u[k] * u[k];
        assert_near(sum, 0, 1e-13 * (double)n);
        assert_near(squares, 0, 1e-12 * (double)n); /* an isometry: no Jacobian */
        for (size_t k = 0; k + 1 < n; k++) assert_near(back[k], u[k], 1e-13);
    }
}

static void test_normal(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = read_model(context,
                                   "model { b[1:6] ~ car.normal(adj[], w[], num[], tau)\n tau ~ dgamma(2, 3)\n"
                                   " for (i in 1:6) { y[i] ~ dnorm(b[i], 1) } }",
                                   MAP "w <- c(1, 2, 1, 1, 2, 1, 1, 1, 0.5, 0.5) y <- c(1, 0, 2, -1, 0.3, 4)");
    static const double weight[] = {1, 2, 1, 1, 0.5}, y[] = {1, 0, 2, -1, 0.3, 4};
    double x[5], values[6];
    if (model == NULL) fail_msg("%s", svmp_context_error(context));
    assert_int_equal(svmp_graph_variables(svmp_model_graph(model)), 5);
    assert_int_equal(svmp_model_outputs(model), 6); /* five areas and tau: the island is not unknown */
    for (uint64_t turn = 0; turn < 3; turn++) {
        svmp_random_normals((random_stream){.seed = turn, .purpose = RANDOM_TEST}, 5, x);
        assert_ok(svmp_model_natural(model, 1, x, values));
        const double tau = values[5];
        double expected = 2 * log(3) + 2 * log(tau) - 3 * tau; /* dgamma, and log |d tau / d u| */
        for (size_t i = 0; i < 5; i++) {
            const double r = y[i] - values[i];
            expected -= 0.5 * r * r + 0.5 * log(2 * acos(-1.0));
        }
        for (size_t e = 0; e < 5; e++) {
            const double d = values[pairs[e][0]] - values[pairs[e][1]];
            expected -= 0.5 * tau * weight[e] * d * d;
        }
        expected += 0.5 * (5 - 1) * log(tau);
        assert_near(log_density_at(model, x), expected, 1e-11);
        assert_gradient(model, 5, x);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* The usual form: neighbours' weights and variances divided by the number of neighbours. */
static const char proper_dump[] = MAP "C <- c(0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.3333333333333333, 0.3333333333333333, "
                                      "0.3333333333333333, 1) M <- c(0.5, 0.5, 0.5, 0.3333333333333333, 1, 1) "
                                      "y <- c(1, 0, 2, -1, 0.3, 4)";

static void test_proper(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *one = read_model(context,
                                 "model { y[1:6] ~ car.proper(mu[], C[], adj[], num[], M[], tau, g)\n"
                                 " for (i in 1:6) { mu[i] <- m }\n m ~ dnorm(0, 1)\n tau ~ dgamma(2, 3)\n"
                                 " g ~ dunif(min.bound(C[], adj[], num[], M[]), max.bound(C[], adj[], num[], M[])) }",
                                 proper_dump);
    if (one == NULL) fail_msg("%s", svmp_context_error(context));
    svmp_model *other = read_model(
        context,
        "data { for (i in 1:6) { for (j in 1:6) { c[i, j] <- 0 + equals(i + j, 3) * 0.5 + (equals(i, 1) * equals(j, 3) "
        "+ equals(i, 3) * equals(j, 1) + equals(i, 2) * equals(j, 4) + equals(i, 3) * equals(j, 4)) * 0.5 + equals(i, "
        "4) * (equals(j, 2) + equals(j, 3) + equals(j, 5)) / 3 + equals(i, 5) * equals(j, 4) } } }\n"
        "model { y[1:6] ~ dmnorm(mu[], P[,])\n for (i in 1:6) { mu[i] <- m\n for (j in 1:6) { P[i, j] <- tau * "
        "(equals(i, j) - g * c[i, j]) / M[i] } }\n m ~ dnorm(0, 1)\n tau ~ dgamma(2, 3)\n g ~ dunif(-1, 1) }",
        "M <- c(0.5, 0.5, 0.5, 0.3333333333333333, 1, 1) y <- c(1, 0, 2, -1, 0.3, 4)");
    if (other == NULL) fail_msg("%s", svmp_context_error(context));
    for (uint64_t turn = 0; turn < 4; turn++) { /* the graph is bipartite: its eigenvalues range from -1 to 1 */
        double x[3];
        svmp_random_normals((random_stream){.seed = turn, .purpose = RANDOM_TEST}, 3, x);
        assert_near(log_density_at(one, x), log_density_at(other, x), 1e-9);
        assert_gradient(one, 3, x);
    }
    svmp_model_free(one);
    svmp_model_free(other);
    svmp_context_free(context);
}

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *dump, *sentence;
    } cases[] = {
        {"num <- c(1, 1, 1) adj <- c(2, 1, 1) w <- c(1, 1, 1)", "area 3 has the neighbour 1, but not the other way"},
        {"num <- c(1, 1, 0) adj <- c(2, 1) w <- c(1, 2)", "the weights of areas 1 and 2 are 1 and 2"},
        {"num <- c(1, 1, 0) adj <- c(2, 1, 1) w <- c(1, 1, 1)", "adj has 3 elements, but num sums to 2"},
        {"num <- c(1, 1, 0) adj <- c(5, 1) w <- c(1, 1)", "area 1 has the neighbour 5, but there are 3 areas"},
        {"num <- c(1, 1, 0) adj <- c(1, 1) w <- c(1, 1)", "area 1 is its own neighbour"},
        {"num <- c(2, 2, 0) adj <- c(2, 2, 1, 1) w <- c(1, 1, 1, 1)", "area 1 has the neighbour 2 twice"},
        {"num <- c(1, 1) adj <- c(2, 1) w <- c(1, 1)",
         "the argument num of car.normal has 2 rows, but the value has 3"},
        {"num <- c(1, 1, 0) adj <- c(2, 1) w <- c(1, 1, 1)",
         "the arguments adj and weights of car.normal have 2 and 3"},
        {"num <- c(1, 1, 0) adj <- c(2, 1) w <- c(-1, -1)", "weights[1] = -1 is negative"},
        {"num <- c(1, 1, 0) adj <- c(2, 1) w <- c(1, 1) b <- c(1, NA, NA)", "provide all of it or none"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        svmp_context *context = test_context(1);
        svmp_model *model = read_model(
            context, "model { b[1:3] ~ car.normal(adj[], w[], num[], 1)\n y ~ dnorm(b[1], 1) }", cases[k].dump);
        assert_null(model);
        if (strstr(svmp_context_error(context), cases[k].sentence) == NULL)
            fail_msg("'%s' instead of '%s'", svmp_context_error(context), cases[k].sentence);
        svmp_context_free(context);
    }
    svmp_context *context = test_context(1);
    assert_null(read_model(context,
                           "model { b[1:2] ~ car.normal(adj[], w[], num[], 1)\n w[1] ~ dgamma(1, 1)\n w[2] <- w[1] }",
                           "num <- c(1, 1) adj <- c(2, 1)"));
    assert_non_null(strstr(svmp_context_error(context), "'weights' of car.normal must be data"));
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zero_sum),
        cmocka_unit_test(test_normal),
        cmocka_unit_test(test_proper),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
