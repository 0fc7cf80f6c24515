/* Coordinates of a Gaussian, and moves of hyperparameters that the nodes below them follow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "maths/sparse_factor.h"
#include "maths/sparse_whitening.h"
#include "method/moves/marginal_move.h"
#include "method/moves/marginal_moves.h"
#include "model/natural_values.h"
#include "support.h"
#include "targets.h"

/* ---- coordinates ------------------------------------------------------------------------------------------------- */

/* A = L L' of a chain with one loop; x'Ax of x = R z is |z|^2, coordinates undo it, and the gradient is that of
 * g'(m + R z). */
static void test_whitening_of_a_factor(void **state) {
    (void)state;
    enum { D = 5 };
    svmp_context *context = test_context(1);
    const sparse_place places[] = {{1, 0}, {2, 1}, {3, 2}, {4, 3}, {4, 0}};
    const double mean[D] = {1, -2, 3, -4, 5}, g[D] = {0.3, -1, 2, 0.1, -0.7}, z[D] = {0.5, -1.5, 0.2, 2, -0.3};
    double A[D * D], x[D], back[D], workspace[D], gradient[D], square = 0, length = 0;
    sparsity pattern;
    factorisation *f = NULL;
    whitening *w = NULL;
    size_t bad;
    assert_ok(svmp_sparsity_create(context, D, 5, places, NULL, &pattern));
    for (size_t j = 0; j < D; j++)
        for (size_t e = pattern.start[j]; e < pattern.start[j + 1]; e++)
            A[e] = pattern.row[e] == j ? 3 + (double)j : -0.8;
    assert_ok(svmp_factorisation_create(context, &pattern, &f));
    assert_ok(svmp_factorise(f, A, &bad));
    assert_true(bad == SIZE_MAX);
    assert_ok(svmp_whitening_create(context, D, svmp_factorisation_triangle(f), mean, &w));
    svmp_whitening_point(w, workspace, z, x);
    for (size_t j = 0; j < D; j++)
        for (size_t e = pattern.start[j]; e < pattern.start[j + 1]; e++) {
            const size_t i = pattern.row[e];
            square += (i == j ? 1 : 2) * A[e] * (x[i] - mean[i]) * (x[j] - mean[j]);
        }
    for (size_t i = 0; i < D; i++) length += z[i] * z[i];
    assert_near(square, length, 1e-12);
    svmp_whitening_coordinates(w, workspace, x, back);
    for (size_t i = 0; i < D; i++) assert_near(back[i], z[i], 1e-13);
    svmp_whitening_gradient(w, g, gradient);
    for (size_t i = 0; i < D; i++) { /* linear in z */
        double moved[D], by = 0;
        memcpy(moved, z, sizeof moved);
        moved[i] += 1;
        svmp_whitening_point(w, workspace, moved, back);
        for (size_t k = 0; k < D; k++) by += g[k] * (back[k] - x[k]);
        assert_near(gradient[i], by, 1e-13);
    }
    svmp_whitening_free(context, w);
    svmp_factorisation_free(f);
    svmp_sparsity_free(context, &pattern);
    svmp_context_free(context);
}

static void test_whitening_by_variances(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    whitening *w = NULL;
    double x[2], z[2], workspace[2];
    assert_ok(svmp_whitening_create_diagonal(context, 2, (double[]){1, 2}, (double[]){3, 0.5}, &w));
    svmp_whitening_point(w, workspace, (double[]){2, 4}, x);
    assert_near(x[0], 7, 1e-15);
    assert_near(x[1], 4, 1e-15);
    svmp_whitening_coordinates(w, workspace, x, z);
    assert_near(z[0], 2, 1e-15);
    svmp_whitening_gradient(w, (double[]){1, 1}, z);
    assert_near(z[0], 3, 1e-15);
    assert_near(z[1], 0.5, 1e-15);
    svmp_whitening_free(context, w);
    svmp_context_free(context);
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

enum { DRAWS = 4000, NODES = 7 };

static svmp_model *read_text(svmp_context *context, const char *text) {
    svmp_model *model = NULL;
    assert_ok(svmp_model_read_text(context, "m.bug", text, NULL, NULL, &model));
    return model;
}

/* The distribution function of Student's t with 5 degrees of freedom. */
static double student_cdf(double x) {
    const double a = x / sqrt(5), c = 1 + x * x / 5;
    return 0.5 + (atan(a) + a / c * (1 + 2 / (3 * c))) / acos(-1);
}

static const char hierarchy[] = "model { m ~ dnorm(0, 1)\n s ~ dexp(1)\n"
                                "for (i in 1:7) { u[i] ~ dt(m, pow(s, -2), 5) } }";

static void assert_exact(const double *x) {
    double *u = malloc(DRAWS * sizeof *u);
    for (size_t i = 0; i < NODES + 2; i++) {
        for (size_t l = 0; l < DRAWS; l++) {
            const double m = x[l], s = exp(x[DRAWS + l]);
            u[l] = i == 0 ? target_normal_cdf(m) : i == 1 ? exp(-s) : student_cdf((x[i * DRAWS + l] - m) / s);
        }
        assert_true(target_kolmogorov(DRAWS, u) < 1.95);
    }
    free(u);
}

/* Draws of the prior are exact draws of the posterior without data; after moves they are so again: the location, the
 * scale, and every residual. Given both, the nodes are Student's t, about which a Gaussian is wrong, so that a ratio
 * without the determinants would show; half of the moves are to be accepted. */
static void test_leaves_a_hierarchy_invariant(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = read_text(context, hierarchy);
    gaussian *q = NULL;
    marginal_move *move = NULL;
    double *x = malloc((NODES + 2) * DRAWS * sizeof *x);
    size_t moved = 0;
    assert_ok(svmp_gaussian_create(model, 1, &q));
    assert_ok(svmp_marginal_move_create(model, q, &move));
    assert_non_null(move);
    assert_ok(svmp_model_draw_priors(model, 11, DRAWS, x));
    for (size_t l = 0; l < DRAWS; l++) {
        double one[NODES + 2];
        for (size_t i = 0; i < NODES + 2; i++) one[i] = x[i * DRAWS + l];
        for (size_t k = 0; k < 4; k++) moved += (size_t)svmp_marginal_move(move, 3, k, l, 0, one);
        for (size_t i = 0; i < NODES + 2; i++) x[i * DRAWS + l] = one[i];
    }
    assert_true(moved > 4 * DRAWS / 10 && moved < 4 * DRAWS * 9 / 10);
    assert_exact(x);
    svmp_marginal_move_free(move);
    svmp_gaussian_free(q);
    free(x);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* The same of the moves of all particles, with any number of threads. */
static void test_moves_all_particles(void **state) {
    (void)state;
    const size_t bytes = (NODES + 2) * DRAWS * sizeof(double);
    double *first = malloc(bytes);
    for (int threads = 1; threads <= 2; threads++) {
        svmp_context *context = test_context(threads);
        svmp_model *model = read_text(context, hierarchy);
        gaussian *q = NULL;
        marginal_moves *moves = NULL;
        backend *b = NULL;
        double *x = NULL;
        assert_ok(svmp_gaussian_create(model, 1, &q));
        assert_ok(svmp_backend_create(&svmp_backend_cpu, model, DRAWS, 5, NULL, NULL, &b));
        assert_ok(svmp_marginal_moves_create(b, q, &moves));
        assert_non_null(moves);
        assert_ok(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
        assert_ok(svmp_model_draw_priors(model, 11, DRAWS, x));
        assert_ok(svmp_backend_commit(b, ARRAY_PARTICLES));
        for (size_t turn = 0; turn < 10; turn++) assert_ok(svmp_marginal_moves_turn(moves, b, turn));
        assert_ok(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
        assert_exact(x);
        if (threads == 1)
            memcpy(first, x, bytes);
        else
            assert_memory_equal(first, x, bytes);
        svmp_marginal_moves_free(moves);
        svmp_backend_free(b);
        svmp_gaussian_free(q);
        svmp_model_free(model);
        svmp_context_free(context);
    }
    free(first);
}

/* Nothing follows where nothing is read by several nodes, or nodes are not of a location-scale family. */
static void test_needs_nodes_that_follow(void **state) {
    (void)state;
    static const char *const texts[] = {"model { x ~ dnorm(0, 1)\n y ~ dnorm(x, 1) }",
                                        "model { b ~ dexp(1)\n for (i in 1:9) { u[i] ~ dgamma(b, 1) } }"};
    for (size_t k = 0; k < 2; k++) {
        svmp_context *context = test_context(1);
        svmp_model *model = read_text(context, texts[k]);
        gaussian *q = NULL;
        marginal_move *move = NULL;
        assert_ok(svmp_gaussian_create(model, 1, &q));
        assert_ok(svmp_marginal_move_create(model, q, &move));
        assert_null(move);
        svmp_gaussian_free(q);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whitening_of_a_factor),        cmocka_unit_test(test_whitening_by_variances),
        cmocka_unit_test(test_leaves_a_hierarchy_invariant), cmocka_unit_test(test_moves_all_particles),
        cmocka_unit_test(test_needs_nodes_that_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
