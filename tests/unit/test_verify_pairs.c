/* Cross-examination of pairs: a wrong correlation fails even if marginals, scores and sums are right. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "method/method.h"
#include "unit/support.h"
#include "verify/verdict_inside.h"

enum { N = 100 };

/* Independent neighbours: a location and a scale, drawn from the prior. */
static const char independent[] = "model { a ~ dnorm(0, 1)\n b ~ dlnorm(0, 1)\n factor(0 * a * b) }";

/* Independent, not neighbours. */
static const char apart[] = "model { for (i in 1:6) { x[i] ~ dexp(1) } }";

/* Neighbours with a correlation of 0.5. */
static const char related[] = "model { for (i in 1:4) { a[i] ~ dnorm(0, 1)\n b[i] ~ dnorm(0.5 * a[i], 1 / 0.75) } }";

/* Examines changed draws of the prior. */
static svmp_verdict find_of(const char *text, size_t n, uint64_t seed, void (*change)(double *x)) {
    svmp_context *context = test_context(1);
    run_options options = svmp_run_options_default();
    svmp_model *model = NULL;
    svmp_run *run = NULL;
    svmp_verdict verdict = {0};
    options.method = "graphical";
    options.init = "prior";
    options.seed = seed;
    options.particles = n;
    assert_ok(svmp_model_read_text(context, NULL, text, NULL, NULL, &model));
    assert_ok(svmp_run_make(model, &options, &run));
    if (change) change(run->backend->x);
    assert_ok(svmp_run_examine(run, 0, 0, &verdict));
    verdict.context = NULL;
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
    return verdict;
}

static svmp_verdict find_after(const char *text, uint64_t seed, void (*change)(double *x)) {
    return find_of(text, N, seed, change);
}

static const svmp_drift *find_correlation(const svmp_verdict *v) {
    for (size_t k = 0; k < v->drifts; k++)
        if (v->drift[k].aspect == SVMP_ASPECT_CORRELATION) return &v->drift[k];
    return NULL;
}

/* The second variable is a copy of the first; on the unconstrained scale both are standard normal, or have the same
 * distribution. */
static void copy_first(double *x) { memcpy(x + N, x, N * sizeof *x); }

static void mirror_first(double *x) {
    for (size_t l = 0; l < N; l++) x[N + l] = -x[l];
}

static void test_copies_fail(void **state) {
    (void)state;
    char text[512];
    const svmp_verdict copied = find_after(independent, 1, copy_first),
                       mirrored = find_after(independent, 1, mirror_first), far = find_after(apart, 1, copy_first);
    const svmp_drift *d = find_correlation(&copied);
    assert_int_equal(copied.finding, SVMP_FINDING_FAILED);
    assert_non_null(d);
    assert_string_equal(d->name, "a and b");
    assert_true(d->variable == SIZE_MAX);
    assert_near(d->effect, 1, 0.25); /* five standard errors of a correlation of 400 draws */
    assert_near(d->level + d->effect, 1, 0.01);
    assert_non_null(strstr(svmp_verdict_sentence(&copied, text, sizeof text), "a and b (correlation 1.00, should be "));
    d = find_correlation(&mirrored);
    assert_int_equal(mirrored.finding, SVMP_FINDING_FAILED);
    assert_non_null(d);
    assert_near(d->level + d->effect, -1, 0.01);
    d = find_correlation(&far);
    assert_int_equal(far.finding, SVMP_FINDING_FAILED);
    assert_non_null(d);
    assert_string_equal(d->name, "x.1 and x.2");
}

/* Every variable is taken from another particle. */
static void exchange_partners(double *x) {
    double row[N];
    for (size_t i = 0; i < 8; i++) {
        for (size_t l = 0; l < N; l++) row[l] = x[i * N + (l + 7 * i) % N];
        memcpy(x + i * N, row, sizeof row);
    }
}

/* Four lost correlations of 0.5: Fisher's z of 100 particles differs by atanh 0.5 = 0.55, more than five standard
 * errors. */
static void test_lost_partners_fail(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        const svmp_verdict v = find_after(related, seed, exchange_partners);
        assert_int_equal(v.finding, SVMP_FINDING_FAILED);
        assert_non_null(find_correlation(&v));
    }
}

/* Four correlations of 0.25 are too small to be detected one by one with 100 particles, but are detected together. */
static const char weakly[] = "model { for (i in 1:4) { a[i] ~ dnorm(0, 1)\n b[i] ~ dnorm(0.26 * a[i], 1 / 0.9324) } }";

static int fails_together(const svmp_verdict *v) {
    for (size_t k = 0; k < v->drifts; k++)
        if (strcmp(v->drift[k].name, "neighbours") == 0) return 1;
    return 0;
}

static void test_weak_correlations_fail_together(void **state) {
    (void)state;
    char text[512];
    size_t failed = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        const svmp_verdict lost = find_after(weakly, seed, exchange_partners), exact = find_after(weakly, seed, NULL);
        assert_false(fails_together(&exact));
        if (!fails_together(&lost)) continue;
        failed++;
        assert_non_null(strstr(svmp_verdict_sentence(&lost, text, sizeof text), "correlations of neighbours ("));
    }
    assert_true(failed >=
                4); /* 0.26 * sqrt(4 * 97) = 5.1 standard errors, less that of the window; the limit is 3.35 */
}

/* The common component of all variables is halved and each keeps its sd: no single correlation shows it. */
static void halve_common(double *x) {
    for (size_t l = 0; l < N; l++) {
        double mean = 0;
        for (size_t i = 0; i < 8; i++) mean += x[i * N + l] / 8;
        for (size_t i = 0; i < 8; i++) x[i * N + l] -= mean / 2;
    }
    for (size_t i = 0; i < 8; i++) {
        double square = 0;
        for (size_t l = 0; l < N; l++) square += x[i * N + l] * x[i * N + l] / N;
        for (size_t l = 0; l < N; l++) x[i * N + l] /= sqrt(square);
    }
}

/* The sum of all is half as wide as it should be. */
static void test_common_part_fails(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        const svmp_verdict v = find_after(weakly, seed, halve_common);
        assert_int_equal(v.finding, SVMP_FINDING_FAILED);
    }
}

/* The false alarm rate is 0.4 %. */
static void test_exact_pairs_pass(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        const svmp_verdict v = find_after(related, seed, NULL), w = find_after(apart, seed, NULL);
        assert_null(find_correlation(&v));
        assert_null(find_correlation(&w));
    }
}

/* Neighbours in a random walk are nearly equal: ranks of few particles among few draws cannot distinguish them. */
static void test_few_particles_of_a_walk_pass(void **state) {
    (void)state;
    static const char walk[] = "model { x[1] ~ dnorm(0, 1)\n for (t in 2:100) { x[t] ~ dnorm(x[t-1], 100) } }";
    for (uint64_t seed = 1; seed <= 8; seed++) {
        const svmp_verdict v = find_of(walk, 20, seed, NULL);
        assert_null(find_correlation(&v));
    }
}

/* Among 2,000 independent pairs of neighbours some have a correlation of three standard errors by chance. */
static void test_many_independent_neighbours_pass(void **state) {
    (void)state;
    static const char chain[] = "model { for (i in 1:2001) { x[i] ~ dnorm(0, 1) }\n"
                                "for (i in 1:2000) { factor(0 * x[i] * x[i + 1]) } }";
    for (uint64_t seed = 1; seed <= 5; seed++) {
        const svmp_verdict v = find_of(chain, 40, seed, NULL);
        assert_null(find_correlation(&v));
    }
}

/* The record has the name of the aspect. */
static void test_record(void **state) {
    (void)state;
    char text[4096];
    const svmp_verdict v = find_after(independent, 1, copy_first);
    assert_non_null(strstr(svmp_verdict_record(&v, text, sizeof text), "\nverdict_drift a and b = correlation "));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies_fail),
        cmocka_unit_test(test_lost_partners_fail),
        cmocka_unit_test(test_weak_correlations_fail_together),
        cmocka_unit_test(test_common_part_fails),
        cmocka_unit_test(test_exact_pairs_pass),
        cmocka_unit_test(test_few_particles_of_a_walk_pass),
        cmocka_unit_test(test_many_independent_neighbours_pass),
        cmocka_unit_test(test_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
