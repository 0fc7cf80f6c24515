/* The search for modes: climbs arrive, masses are those of the integrals, one mode is one, and jumps between modes
 * leave the posterior as it is. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "method/moves/mode_jump.h"
#include "prepare/many_ascents.h"
#include "prepare/modes_by_mass.h"
#include "targets.h"

static svmp_model *read_text(svmp_context *context, const char *text) {
    svmp_model *model = NULL;
    assert_ok(svmp_model_read_text(context, NULL, text, NULL, NULL, &model));
    return model;
}

/* ---- climbs ------------------------------------------------------------------------------------------------------ */

/* log p = -(x - m)'A(x - m)/2 + constant has its maximum at m. A point that is climbed from alone ends where it does
 * among others. */
static void test_climbs(void **state) {
    (void)state;
    enum { POINTS = 70, D = 8 };
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, D, 0.4, 1, 3);
    evaluator *e = NULL;
    double points[POINTS * D], alone[D], unit[D], a[D * D], b[D], mean[D] = {0};
    ascent_end ends[POINTS], end;
    size_t gradients = 0;
    test_dense(model, a, b);
    test_invert(D, a);
    for (size_t i = 0; i < D; i++) {
        unit[i] = sqrt(a[i * D + i]);
        for (size_t j = 0; j < D; j++) mean[i] += a[i * D + j] * b[j];
    }
    svmp_random_normals((random_stream){.seed = 2, .purpose = RANDOM_TEST}, POINTS * D, points);
    for (size_t k = 0; k < POINTS * D; k++) points[k] *= 20;
    memcpy(alone, points + 40 * D, sizeof alone);
    assert_ok(svmp_evaluator_create(model, ASCENT_LANES, 2, &e));
    assert_ok(svmp_many_ascents(model, e, unit, POINTS, points, ends, &gradients));
    assert_in_range(gradients, POINTS, POINTS * 50);
    for (size_t k = 0; k < POINTS; k++) {
        assert_true(ends[k].arrived);
        for (size_t i = 0; i < D; i++) assert_true(fabs(points[k * D + i] - mean[i]) < 0.3 * unit[i]);
    }
    assert_ok(svmp_many_ascents(model, e, unit, 1, alone, &end, &gradients));
    assert_memory_equal(alone, points + 40 * D, sizeof alone);
    svmp_evaluator_free(e);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- modes ------------------------------------------------------------------------------------------------------- */

/* N(0, I) with this share and N(at, sd^2 I) with the rest, in `d` dimensions. */
static svmp_model *mixture(svmp_context *context, size_t d, double share, double at, double sd) {
    char text[600];
    snprintf(text, sizeof text,
             "model { for (i in 1:%zu) { x[i] ~ dflat()\n a[i] <- x[i]^2\n b[i] <- (x[i] - %g)^2 }\n"
             "p <- %.17g - sum(a[]) / 2\n q <- %.17g - sum(b[]) / %.17g\n m <- max(p, q)\n"
             "factor(m + log(exp(p - m) + exp(q - m))) }",
             d, at, log(share), log(1 - share) - (double)d * log(sd), 2 * sd * sd);
    return read_text(context, text);
}

static found_modes *search(const svmp_model *model, uint64_t seed, gaussian **q) {
    found_modes *found = NULL;
    assert_ok(svmp_gaussian_create(model, seed, q));
    assert_ok(svmp_modes_by_mass(model, *q, seed, &found));
    return found;
}

/* Two modes of any mass and width are found, and weighed by their integrals. Laplace's method is exact here, and the
 * variance of the weights is that of the ratio of a normal to Student's t. */
static void test_masses(void **state) {
    (void)state;
    static const struct {
        size_t d;
        double share, at, sd;
    } cases[] = {{1, 0.5, 60, 10}, {1, 0.95, 10, 1}, {2, 0.3, 8, 0.2}, {8, 0.5, 8, 1.5}, {8, 0.5, 8, 3}};
    svmp_context *context = test_context(2);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            svmp_model *model = mixture(context, cases[c].d, cases[c].share, cases[c].at, cases[c].sd);
            gaussian *q = NULL;
            found_modes *found = search(model, seed, &q);
            assert_int_equal(found->count, 2);
            const size_t zero = fabs(found->mode[0].mean[0]) < fabs(found->mode[1].mean[0]) ? 0 : 1;
            assert_near(found->mode[zero].share, cases[c].share, 0.08);
            assert_near(found->mode[zero].share, cases[c].share, 4 * found->mode[zero].share_error);
            assert_true(found->mode[zero].share_error < 0.08);
            assert_true(found->mode[0].share >= found->mode[1].share);
            assert_near(found->mode[1 - zero].mean[0], cases[c].at, 0.05 * cases[c].sd);
            assert_in_range(found->evaluations, 100, 20000);
            svmp_found_modes_free(found);
            svmp_gaussian_free(q);
            svmp_model_free(model);
        }
    svmp_context_free(context);
}

/* Two skewed modes of one shape, in each of twenty variables at once, are of one mass, also where weights are too
 * unequal for it. */
static void test_skewed_modes(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_model *model = read_text(context, "model { for (i in 1:20) { x[i] ~ dnorm(0, 1.0E-6)\n"
                                           "a[i] <- 0.15 * (x[i] + 30) - exp(x[i] + 30)\n"
                                           "b[i] <- 0.15 * (x[i] - 30) - exp(x[i] - 30) }\n"
                                           "p <- sum(a[])\n q <- sum(b[])\n m <- max(p, q)\n"
                                           "factor(m + log(exp(p - m) + exp(q - m))) }");
    for (uint64_t seed = 1; seed <= 3; seed++) {
        gaussian *q = NULL;
        found_modes *found = search(model, seed, &q);
        assert_int_equal(found->count, 2);
        assert_near(found->mode[0].share, 0.5, 0.45);
        svmp_found_modes_free(found);
        svmp_gaussian_free(q);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Skewed, heavy-tailed, correlated or hierarchical: one mode. */
static void test_one_mode(void **state) {
    (void)state;
    static const char *const texts[] = {
        "model { x ~ dnorm(2, 4) }",
        "model { for (i in 1:20) { x[i] ~ dgamma(2, i) } }",
        "model { for (i in 1:5) { x[i] ~ dt(0, 1, 3) } }",
        "model { a ~ dnorm(0, 1)\n b ~ dnorm(0.99 * a, 1 / 0.0199) }",
        "model { mu ~ dnorm(0, 1)\n tau ~ dgamma(3, 3)\n for (i in 1:20) { x[i] ~ dnorm(mu, tau) } }",
        "model { p[1:4] ~ ddirch(c(3, 3, 3, 3))\n b ~ dbeta(2, 5) }",
        "model { x[1] ~ dnorm(0, 1)\n for (t in 2:60) { x[t] ~ dnorm(x[t-1], 9) } }"};
    svmp_context *context = test_context(2);
    for (size_t c = 0; c < sizeof texts / sizeof *texts; c++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            svmp_model *model = read_text(context, texts[c]);
            gaussian *q = NULL;
            found_modes *found = search(model, seed, &q);
            if (found->count != 1) fail_msg("%zu modes of %s", found->count, texts[c]);
            assert_near(found->mode[0].share, 1, 0);
            svmp_found_modes_free(found);
            svmp_gaussian_free(q);
            svmp_model_free(model);
        }
    svmp_context_free(context);
}

/* 2^12 modes are more than can be listed: the search ends and says so. */
static void test_many_modes(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_model *model =
        read_text(context, "model { for (i in 1:12) { x[i] ~ dnorm(0, 0.1)\n factor(-2 * (4 - x[i]^2)^2) } }");
    gaussian *q = NULL;
    model_modes *modes = NULL;
    found_modes *found = search(model, 1, &q);
    assert_true(found->exhausted);
    assert_ok(svmp_found_modes_mixture(found, svmp_gaussian_pattern(q), &modes));
    assert_null(modes);
    svmp_found_modes_free(found);
    svmp_gaussian_free(q);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_threads_do_not_matter(void **state) {
    (void)state;
    double share[2][2];
    for (int t = 0; t < 2; t++) {
        svmp_context *context = test_context(1 + 2 * t);
        svmp_model *model = mixture(context, 8, 0.5, 8, 1.5);
        gaussian *q = NULL;
        found_modes *found = search(model, 4, &q);
        assert_int_equal(found->count, 2);
        for (size_t k = 0; k < 2; k++) share[t][k] = found->mode[k].share;
        svmp_found_modes_free(found);
        svmp_gaussian_free(q);
        svmp_model_free(model);
        svmp_context_free(context);
    }
    assert_memory_equal(share[0], share[1], sizeof share[0]);
}

/* ---- jumps ------------------------------------------------------------------------------------------------------- */

/* Draws of a mixture stay draws of it after jumps, whatever modes these assume: here with other means, roots and
 * shares. */
static void test_maps_leave_the_posterior(void **state) {
    (void)state;
    enum { N = 20000, D = 2, JUMPS = 9 };
    const double share = 0.7, at = 8, sd = 2;
    svmp_context *context = test_context(2);
    svmp_model *model = mixture(context, D, share, at, sd);
    model_modes *modes = NULL;
    backend *b = NULL;
    mode_jump *jump = NULL;
    double *x, u[N], count = 0, sum = 0, squares = 0, jumped = 0;
    bool second[N];
    const double roots[2][D * D] = {{1.2, 0, 0.3, 0.8}, {2.2, 0.5, 0, 1.8}};
    assert_ok(svmp_modes_create(context, 2, D, &modes));
    for (size_t k = 0; k < 2; k++) {
        modes->mode[k].share = k ? 0.55 : 0.45;
        for (size_t i = 0; i < D; i++) modes->mode[k].mean[i] = k ? at + 0.3 : -0.2;
        memcpy(modes->mode[k].root, roots[k], sizeof roots[k]);
    }
    assert_ok(svmp_modes_finish(context, modes));
    assert_ok(svmp_backend_create(&svmp_backend_cpu, model, N, 5, NULL, NULL, &b));
    assert_ok(svmp_mode_jump_create(b, modes, &jump));
    assert_ok(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    svmp_random_uniforms((random_stream){.seed = 5, .purpose = RANDOM_TEST, .b = 9}, N, u);
    for (size_t i = 0; i < D; i++) {
        svmp_random_normals((random_stream){.seed = 5, .purpose = RANDOM_TEST, .b = i}, N, x + i * N);
        for (size_t l = 0; l < N; l++) x[i * N + l] = u[l] < share ? x[i * N + l] : at + sd * x[i * N + l];
    }
    for (size_t l = 0; l < N; l++) second[l] = x[l] + x[N + l] > at;
    assert_ok(svmp_backend_commit(b, ARRAY_PARTICLES));
    for (size_t t = 1; t <= JUMPS; t += 2) assert_ok(svmp_mode_jump_move(jump, b, t)); /* maps alone */
    assert_ok(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    for (size_t l = 0; l < N; l++) {
        const bool is = x[l] + x[N + l] > at;
        jumped += is != second[l];
        if (is) continue;
        count++;
        sum += x[l];
        squares += x[l] * x[l];
    }
    assert_true(jumped > 0.3 * N);
    assert_near(count / N, share,
                5 * sqrt(share * (1 - share) / N) + 0.003); /* of either, 0.3 % are on the other side */
    assert_near(sum / count, 0, 0.05);
    assert_near(squares / count, 1, 0.06);
    svmp_mode_jump_free(jump);
    svmp_backend_free(b);
    svmp_modes_free(context, modes);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static svmp_status search_scarcely(svmp_context *context) {
    svmp_model *model = NULL;
    gaussian *q = NULL;
    found_modes *found = NULL;
    model_modes *modes = NULL;
    svmp_status status = svmp_model_read_text(
        context, NULL, "model { x ~ dflat()\n factor(log(exp(-x^2 / 2) + exp(-(x - 10)^2 / 2))) }", NULL, NULL, &model);
    if (status == SVMP_OK) status = svmp_gaussian_create(model, 1, &q);
    if (status == SVMP_OK) status = svmp_modes_by_mass(model, q, 1, &found);
    if (status == SVMP_OK) status = svmp_found_modes_mixture(found, svmp_gaussian_pattern(q), &modes);
    if (status == SVMP_OK) assert_non_null(modes);
    svmp_modes_free(context, modes);
    svmp_found_modes_free(found);
    svmp_gaussian_free(q);
    svmp_model_free(model);
    return status;
}

static void test_allocations_may_fail(void **state) {
    (void)state;
    svmp_status status = SVMP_NO_MEMORY;
    for (long allowed = 1; status == SVMP_NO_MEMORY; allowed += 1 + allowed / 64) {
        scarce_memory memory = {allowed};
        svmp_context *context = scarce_context(&memory);
        if (context == NULL) continue;
        status = search_scarcely(context);
        memory.left = 1000000000;
        svmp_context_free(context);
    }
    assert_ok(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_climbs),
        cmocka_unit_test(test_masses),
        cmocka_unit_test(test_skewed_modes),
        cmocka_unit_test(test_one_mode),
        cmocka_unit_test(test_many_modes),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_maps_leave_the_posterior),
        cmocka_unit_test(test_allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
