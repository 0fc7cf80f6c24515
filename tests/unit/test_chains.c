/* R-hat, effective draws and standard errors, on series whose autocorrelation is known. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "sample/r_hat_and_ess.h"

enum { MOST = 16000 };

static svmp_context *context;

static void normals(uint64_t seed, size_t count, double *x) {
    svmp_random_normals((random_stream){.seed = seed, .purpose = RANDOM_TEST, .a = 77}, count, x);
}

/* Chains of x_t = rho x_t-1 + sqrt(1 - rho^2) noise, stationary with variance 1. */
static void autoregressive(uint64_t seed, size_t chains, size_t draws, double rho, double *x) {
    normals(seed, chains * draws, x);
    for (size_t c = 0; c < chains; c++)
        for (size_t t = 1; t < draws; t++)
            x[c * draws + t] = rho * x[c * draws + t - 1] + sqrt(1 - rho * rho) * x[c * draws + t];
}

static svmp_mixing mixing_of(size_t chains, size_t draws, const double *x) {
    chain_workspace workspace;
    assert_ok(svmp_chain_workspace_create(context, chains, draws, 1, &workspace));
    svmp_mixing mixing = svmp_chains_mixing(&workspace, x);
    svmp_chain_workspace_free(context, &workspace);
    return mixing;
}

/* The effective sample size of the mean of x is n (1 - rho)/(1 + rho); that of its normal scores is the same, as x is
 * normal. The indicators of the tails are less correlated: their effective size is larger, but not much above n. R-hat
 * is near 1. With rho < 0 the effective size exceeds n. */
static void test_effective_draws_of_autoregressive_series(void **state) {
    (void)state;
    enum { CHAINS = 4, DRAWS = 2000, SEEDS = 20 };
    const double rhos[] = {-0.5, 0, 0.3, 0.6, 0.9};
    double *x = malloc(MOST * sizeof *x);
    for (size_t r = 0; r < 5; r++) {
        const double rho = rhos[r], expected = CHAINS * DRAWS * (1 - rho) / (1 + rho);
        double bulk = 0, mean = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            autoregressive(seed, CHAINS, DRAWS, rho, x);
            svmp_mixing m = mixing_of(CHAINS, DRAWS, x);
            bulk += m.bulk_draws / SEEDS;
            mean += 1 / (m.error.mean * m.error.mean) / SEEDS;
            assert_true(m.r_hat < 1.05 && m.r_hat > 0.999);
            assert_true(m.tail_draws > 0.7 * fmin(expected, CHAINS * DRAWS));
            if (rho < 0) assert_true(m.bulk_draws > CHAINS * DRAWS);
        }
        assert_near(bulk / expected, 1, 0.06);
        assert_near(mean / expected, 1, 0.08); /* times the estimated variance of a draw, 1 */
    }
    free(x);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Mean, sd and quantiles by their definitions. */
static svmp_moments moments_of(size_t count, double *x) {
    svmp_moments m = {0};
    const double p[] = {0.05, 0.5, 0.95};
    double q[3];
    for (size_t k = 0; k < count; k++) m.mean += x[k] / (double)count;
    for (size_t k = 0; k < count; k++) m.sd += (x[k] - m.mean) * (x[k] - m.mean) / (double)(count - 1);
    m.sd = sqrt(m.sd);
    qsort(x, count, sizeof *x, ascending);
    for (size_t k = 0; k < 3; k++) {
        const double h = p[k] * (double)(count - 1);
        q[k] = x[(size_t)h] + (h - floor(h)) * (x[(size_t)h + 1] - x[(size_t)h]);
    }
    m.q05 = q[0], m.q50 = q[1], m.q95 = q[2];
    return m;
}

/* rho_t of the split chains, by its definition; rho_0 is 1. */
static double correlation(size_t chains, size_t draws, const double *x, size_t lag) {
    const size_t half = draws / 2, count = 2 * chains;
    double within = 0, between = 0, lagged = 0, grand = 0, means[2 * 4];
    for (size_t m = 0; m < count; m++) {
        const double *y = x + m / 2 * draws + m % 2 * (draws - half);
        double mean = 0, square = 0, product = 0;
        for (size_t t = 0; t < half; t++) mean += y[t] / (double)half;
        for (size_t t = 0; t < half; t++) square += (y[t] - mean) * (y[t] - mean);
        for (size_t t = 0; t + lag < half; t++) product += (y[t] - mean) * (y[t + lag] - mean);
        within += square / (double)(half - 1) / (double)count;
        lagged += product / (double)half / (double)count;
        grand += mean / (double)count;
        means[m] = mean;
    }
    for (size_t m = 0; m < count; m++) between += (means[m] - grand) * (means[m] - grand) / (double)(count - 1);
    return lag == 0 ? 1 : 1 - (within - lagged) / (within * (double)(half - 1) / (double)half + between);
}

/* tau = -1 + 2 (P_0 + ... + P_K-1) + max(0, rho_2K), each P_k the smallest so far of the sums rho_2k + rho_2k+1, and K
 * the first of these that is not positive: Geyer's initial monotone sequence, with Stan's last term. Returns K, or 0
 * when all are positive. */
static size_t monotone_sequence(size_t chains, size_t draws, const double *x, double *tau, size_t *rises) {
    double smallest = INFINITY;
    *tau = -1;
    for (size_t k = 0; k < draws / 4 - 3; k++) {
        const double even = correlation(chains, draws, x, 2 * k),
                     pair = even + correlation(chains, draws, x, 2 * k + 1);
        if (pair <= 0) {
            *tau += fmax(0, even);
            return k;
        }
        *rises += pair > smallest;
        smallest = fmin(pair, smallest);
        *tau += 2 * smallest;
    }
    return 0;
}

/* Many short chains: the effective size of the mean is n/(1 + 2 sum of (1 - k/T) rho^k over k < T) for all T. A
 * constant chain counts as one draw. */
static void test_short_chains(void **state) {
    (void)state;
    enum { CHAINS = 400 };
    double *x = malloc(MOST * sizeof *x);
    for (size_t draws = 6; draws <= 26; draws += 2) {
        double sum = 1;
        for (size_t k = 1; k < draws; k++) sum += 2 * (1 - (double)k / (double)draws) * pow(0.9, (double)k);
        autoregressive(3, CHAINS, draws, 0.9, x);
        assert_near(mixing_of(CHAINS, draws, x).bulk_draws / ((double)(CHAINS * draws) / sum), 1, 0.25);
        normals(4, CHAINS, x + CHAINS * draws);
        for (size_t l = 0; l < CHAINS * draws; l++) x[l] = x[CHAINS * draws + l / draws] + 1e-6 * x[l];
        assert_true(mixing_of(CHAINS, draws, x).bulk_draws < 2.2 * CHAINS);
    }
    free(x);
}

/* With few lags, and with enough that they are computed by Fourier transforms. */
static void test_the_monotone_sequence(void **state) {
    (void)state;
    enum { CHAINS = 2, SEEDS = 30 };
    const size_t lengths[] = {200, 3000};
    const double rhos[] = {0.6, 0.98};
    static double x[CHAINS * 3000];
    for (size_t c = 0; c < 2; c++) {
        const size_t draws = lengths[c], count = CHAINS * draws;
        size_t rises = 0, compared = 0, longest = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            double tau, mean = 0, squares = 0;
            autoregressive(seed, CHAINS, draws, rhos[c], x);
            const size_t last = monotone_sequence(CHAINS, draws, x, &tau, &rises);
            if (last == 0) continue;
            for (size_t l = 0; l < count; l++) mean += x[l] / (double)count;
            for (size_t l = 0; l < count; l++) squares += (x[l] - mean) * (x[l] - mean);
            const double expected = sqrt(squares / (double)(count - 1) * tau / (double)count);
            assert_near(mixing_of(CHAINS, draws, x).error.mean / expected, 1, 1e-11);
            longest = 2 * last > longest ? 2 * last : longest;
            compared++;
        }
        assert_true(compared > SEEDS / 2 && rises > 5); /* in some cases the minimum matters */
        if (c == 1) assert_true(longest > 200);
    }
}

/* A standard error equals the standard deviation of its estimate over seeds: the mean of z^2 is 1 with a standard error
 * of sqrt(2/SEEDS). Single standard errors are noisy, those of quantiles most, so their mean square is used.
 */
static void test_standard_errors_are_standard_deviations(void **state) {
    (void)state;
    enum { CHAINS = 4, DRAWS = 500, SEEDS = 400 };
    const double truth[] = {0, 1, -1.6448536269514722, 0, 1.6448536269514722};
    double *x = malloc(MOST * sizeof *x), squares[5] = {0}, errors[5] = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        autoregressive(1000 + seed, CHAINS, DRAWS, 0.7, x);
        const svmp_mixing mixing = mixing_of(CHAINS, DRAWS, x);
        const svmp_moments m = moments_of(CHAINS * DRAWS, x);
        const double *found = &m.mean, *error = &mixing.error.mean;
        for (size_t k = 0; k < 5; k++) {
            squares[k] += (found[k] - truth[k]) * (found[k] - truth[k]) / SEEDS;
            errors[k] += error[k] * error[k] / SEEDS;
        }
    }
    for (size_t k = 0; k < 5; k++) assert_near(squares[k] / errors[k], 1, 4 * sqrt(2.0 / SEEDS));
    free(x);
}

/* Standard errors for independent normal draws: 1/sqrt(n) of the mean, 1/sqrt(2n) of the sd, and sqrt(p (1 - p)/n) /
 * density of a quantile. The last is estimated as half the distance between order statistics about m = 2 sqrt(n p (1 -
 * p)) apart: its relative standard deviation is 1/sqrt(m), and it is too long by up to 2/m, since the ends are rounded
 * outwards. */
static void test_standard_errors_of_independent_draws(void **state) {
    (void)state;
    enum { CHAINS = 4, DRAWS = 4000, SEEDS = 40 };
    const double root = sqrt(CHAINS * DRAWS), tail = sqrt(0.05 * 0.95) / 0.10313564037537138,
                 middle = sqrt(acos(-1) / 2);
    const double expected[] = {1, sqrt(0.5), tail, middle, tail};
    double *x = malloc(MOST * sizeof *x), mean[5] = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        normals(seed, CHAINS * DRAWS, x);
        const svmp_mixing mixing = mixing_of(CHAINS, DRAWS, x);
        for (size_t k = 0; k < 5; k++) mean[k] += (&mixing.error.mean)[k] * root / SEEDS;
    }
    for (size_t k = 0; k < 5; k++) {
        const double between = 2 * root * (k == 3 ? 0.5 : sqrt(0.05 * 0.95));
        assert_near(mean[k] / expected[k], 1, k < 2 ? 0.03 : 4 / sqrt(between * SEEDS) + 2 / between);
    }
    free(x);
}

/* The error of a quantile by its definition, from the distribution function of Beta(N p + 1, N (1 - p) + 1) as a sum of
 * its density. The draws are 1, 2, ..., so that order statistics are ranks. */
static void test_errors_of_quantiles(void **state) {
    (void)state;
    enum { CHAINS = 2, DRAWS = 100, ALL = CHAINS * DRAWS, PARTS = 500 };
    static const double probability[] = {0.05, 0.5, 0.95}, quantile[] = {10.95, 100.5, 190.05};
    const double one_sd = 0.8413447460685429; /* Phi(1) */
    double noise[ALL], x[ALL], indicator[ALL];
    normals(11, ALL, noise);
    for (size_t k = 0; k < ALL; k++) {
        x[k] = 1;
        for (size_t j = 0; j < ALL; j++) x[k] += noise[j] < noise[k];
    }
    const svmp_mixing mixing = mixing_of(CHAINS, DRAWS, x);
    chain_workspace workspace;
    assert_ok(svmp_chain_workspace_create(context, CHAINS, DRAWS, 0, &workspace));
    for (size_t q = 0; q < 3; q++) {
        const double p = probability[q], share = floor(quantile[q]) / ALL;
        for (size_t k = 0; k < ALL; k++) indicator[k] = x[k] <= quantile[q];
        const double error = svmp_chains_error(&workspace, indicator);
        const double draws = share * (1 - share) * ALL / (ALL - 1) / (error * error);
        double distribution[ALL + 1] = {0};
        for (size_t k = 1; k <= ALL; k++) {
            distribution[k] = distribution[k - 1];
            for (size_t part = 0; part < PARTS; part++) {
                const double t = ((double)(k - 1) + (part + 0.5) / PARTS) / ALL;
                distribution[k] += exp(draws * (p * log(t / p) + (1 - p) * log((1 - t) / (1 - p))));
            }
        }
        size_t below = 0, above = 0;
        for (size_t k = 1; k < ALL; k++) {
            below = distribution[k] <= (1 - one_sd) * distribution[ALL] ? k : below;
            above = distribution[k] <= one_sd * distribution[ALL] ? k : above;
        }
        const double from = below > 0 ? (double)below : 1, to = (double)above + 1;
        assert_near((&mixing.error.q05)[q], (to - from) / 2, 1e-12);
    }
    svmp_chain_workspace_free(context, &workspace);
}

/* R-hat and effective sample sizes do not depend on units, and standard errors scale with them, even if squares would
 * overflow or underflow. */
static void test_units(void **state) {
    (void)state;
    enum { CHAINS = 2, DRAWS = 200 };
    double x[CHAINS * DRAWS], y[CHAINS * DRAWS];
    autoregressive(5, CHAINS, DRAWS, 0.4, x);
    const svmp_mixing a = mixing_of(CHAINS, DRAWS, x);
    const int powers[] = {-1000, -600, 3, 600, 1020};
    for (size_t s = 0; s < 5; s++) {
        for (size_t k = 0; k < CHAINS * DRAWS; k++) y[k] = ldexp(x[k], powers[s]);
        const svmp_mixing b = mixing_of(CHAINS, DRAWS, y);
        assert_near(b.r_hat, a.r_hat, 1e-12);
        assert_near(b.bulk_draws, a.bulk_draws, 1e-9);
        for (size_t k = 0; k < 5; k++) assert_near(ldexp((&b.error.mean)[k], -powers[s]), (&a.error.mean)[k], 1e-12);
    }
}

/* Draws that are not finite have no ranks and no mean, but do not break the diagnostics. */
static void test_not_finite(void **state) {
    (void)state;
    double x[40];
    const double wrong[] = {NAN, INFINITY, -INFINITY};
    for (size_t k = 0; k < 3; k++) {
        normals(3, 40, x);
        x[17] = wrong[k];
        const svmp_mixing m = mixing_of(4, 10, x);
        assert_true(isnan(m.r_hat) && isnan(m.bulk_draws) && isnan(m.tail_draws) && isnan(m.error.mean));
    }
}

static void test_different_chains(void **state) {
    (void)state;
    enum { CHAINS = 4, DRAWS = 500 };
    double x[CHAINS * DRAWS];
    normals(1, CHAINS * DRAWS, x);
    assert_true(mixing_of(CHAINS, DRAWS, x).r_hat < 1.01);
    for (size_t t = 0; t < DRAWS; t++) x[t] += 2; /* another mean */
    svmp_mixing m = mixing_of(CHAINS, DRAWS, x);
    assert_true(m.r_hat > 1.1 && m.bulk_draws < 100);
    normals(1, CHAINS * DRAWS, x);
    for (size_t t = 0; t < DRAWS; t++) x[t] *= 4; /* another scale: only the folded draws detect it */
    assert_true(mixing_of(CHAINS, DRAWS, x).r_hat > 1.1);
    normals(1, CHAINS * DRAWS, x);
    for (size_t k = 0; k < CHAINS * DRAWS; k++)
        x[k] += (double)(k % DRAWS) / DRAWS * 3; /* a trend: only split chains detect it */
    assert_true(mixing_of(CHAINS, DRAWS, x).r_hat > 1.1);
    assert_true(mixing_of(1, DRAWS, x).r_hat > 1.1); /* a single chain */
    for (size_t k = 0; k < CHAINS * DRAWS; k++) {    /* each chain is stuck */
        const size_t chain = k / DRAWS;
        x[k] = (double)chain;
    }
    assert_true(isinf(mixing_of(CHAINS, DRAWS, x).r_hat));
}

/* Ranks are invariant under a monotone map, even one with heavy tails; the standard error of the mean is not. */
static void test_ranks_alone_matter(void **state) {
    (void)state;
    enum { CHAINS = 3, DRAWS = 301 };
    double x[CHAINS * DRAWS], y[CHAINS * DRAWS];
    autoregressive(5, CHAINS, DRAWS, 0.4, x);
    for (size_t k = 0; k < CHAINS * DRAWS; k++) y[k] = exp(3 * x[k]);
    svmp_mixing a = mixing_of(CHAINS, DRAWS, x), b = mixing_of(CHAINS, DRAWS, y);
    assert_near(a.bulk_draws, b.bulk_draws, 1e-12);
    assert_true(b.error.mean > 10 * a.error.mean);
}

/* With an odd length the middle draw of each chain is left out: its value affects neither ranks nor means. */
static void test_odd_lengths(void **state) {
    (void)state;
    enum { CHAINS = 2, DRAWS = 101 };
    double x[CHAINS * DRAWS], even[CHAINS * (DRAWS - 1)];
    autoregressive(5, CHAINS, DRAWS, 0.4, x);
    for (size_t c = 0; c < CHAINS; c++)
        for (size_t t = 0; t + 1 < DRAWS; t++) even[c * (DRAWS - 1) + t] = x[c * DRAWS + t + (t >= DRAWS / 2)];
    assert_near(mixing_of(CHAINS, DRAWS, x).bulk_draws, mixing_of(CHAINS, DRAWS - 1, even).bulk_draws, 1e-12);
}

/* Binary draws: the two values have tied ranks, and the effective size is the number of draws. */
static void test_ties(void **state) {
    (void)state;
    enum { CHAINS = 4, DRAWS = 1000 };
    double x[CHAINS * DRAWS];
    normals(3, CHAINS * DRAWS, x);
    for (size_t k = 0; k < CHAINS * DRAWS; k++) x[k] = x[k] > 0;
    svmp_mixing m = mixing_of(CHAINS, DRAWS, x);
    assert_true(m.r_hat < 1.01);
    assert_near(m.bulk_draws / (CHAINS * DRAWS), 1, 0.15);
    assert_near(m.error.mean, 0.5 / sqrt(CHAINS * DRAWS), 0.002);
    assert_true(isnan(m.tail_draws) && isnan(m.error.q95)); /* no draw exceeds the 95 % quantile, 1 */
    autoregressive(3, CHAINS, DRAWS, 0.5, x);               /* the mean rank is the same from above and from below */
    for (size_t k = 0; k < CHAINS * DRAWS; k++) x[k] = x[k] > 1 ? 2 : x[k] > 0.5;
    const double upright = mixing_of(CHAINS, DRAWS, x).bulk_draws;
    for (size_t k = 0; k < CHAINS * DRAWS; k++) x[k] = -x[k];
    assert_near(mixing_of(CHAINS, DRAWS, x).bulk_draws / upright, 1, 1e-9);
    normals(3, CHAINS * DRAWS, x);
    for (size_t k = 0; k < CHAINS * DRAWS; k++) x[k] = floor(4 * x[k]);
    assert_near(mixing_of(CHAINS, DRAWS, x).tail_draws / (CHAINS * DRAWS), 1, 0.2);
}

static void test_too_few_draws(void **state) {
    (void)state;
    double x[40];
    for (size_t k = 0; k < 40; k++) x[k] = 3.5;
    svmp_mixing m = mixing_of(4, 10, x);
    assert_true(isnan(m.r_hat) && isnan(m.bulk_draws) && isnan(m.tail_draws) && isnan(m.error.mean));
    normals(3, 40, x);
    for (size_t draws = 1; draws <= 10; draws++) {
        m = mixing_of(4, draws, x);
        assert_int_equal(isnan(m.r_hat) || isnan(m.bulk_draws) || isnan(m.error.mean), draws < 6);
    }
}

static void test_sorting(void **state) {
    (void)state;
    double plain[1000] = {0};
    placed items[1000], spare[1000];
    for (size_t count = 0; count <= 1000; count = 2 * count + 1) {
        for (size_t k = 0; k < count; k++) {
            plain[k] = floor(100 * test_random(9, k));
            items[k] = (placed){plain[k], k};
        }
        svmp_sort(items, spare, count);
        for (size_t k = 1; k < count; k++)
            assert_true(items[k].value > items[k - 1].value ||
                        (items[k].value == items[k - 1].value && items[k].place > items[k - 1].place));
        for (size_t k = 0; k < count; k++) assert_true(plain[items[k].place] == items[k].value);
        qsort(plain, count, sizeof *plain, ascending);
        for (size_t k = 0; k < count; k++) assert_true(plain[k] == items[k].value);
    }
}

/* Via the particles: the same numbers for any number of threads, and none for particles that are not draws of chains.
 * */
static void test_particles(void **state) {
    (void)state;
    enum { VARIABLES = 60, CHAINS = 4, DRAWS = 200, COUNT = CHAINS * DRAWS };
    double *x = malloc(VARIABLES * COUNT * sizeof *x);
    svmp_moments moments[2][VARIABLES], one;
    svmp_mixing mixing[2][VARIABLES];
    for (size_t i = 0; i < VARIABLES; i++) autoregressive(i, CHAINS, DRAWS, 0.5, x + i * COUNT);
    for (int t = 0; t < 2; t++) {
        svmp_context *own = test_context(1 + 3 * t);
        svmp_particles *p = NULL;
        assert_ok(svmp_particles_create(own, VARIABLES, COUNT, x, &p));
        assert_false(svmp_particles_are_chains(p));
        assert_ok(svmp_particles_summarise(p, VARIABLES, NULL, NULL, mixing[t]));
        assert_true(isnan(mixing[t][0].r_hat));
        assert_ok(svmp_particles_set_chains(p, CHAINS));
        assert_true(svmp_particles_are_chains(p));
        assert_ok(svmp_particles_summarise(p, VARIABLES, NULL, moments[t], mixing[t]));
        assert_ok(svmp_particles_moments(p, 7, &one));
        assert_memory_equal(&one, &moments[t][7], sizeof one);
        assert_int_equal(svmp_particles_summarise(p, 1, (size_t[]){VARIABLES}, moments[t], NULL), SVMP_BAD_CALL);
        assert_int_equal(svmp_particles_summarise(p, 1, NULL, NULL, NULL), SVMP_BAD_CALL);
        svmp_particles_free(p);
        svmp_context_free(own);
    }
    assert_memory_equal(moments[0], moments[1], sizeof moments[0]);
    assert_memory_equal(mixing[0], mixing[1], sizeof mixing[0]);
    svmp_mixing direct = mixing_of(CHAINS, DRAWS, x + 7 * COUNT);
    assert_memory_equal(&direct, &mixing[0][7], sizeof direct);
    free(x);
}

/* Each allocation of a workspace for long chains fails in turn. */
static void test_memory(void **state) {
    (void)state;
    svmp_status status = SVMP_NO_MEMORY;
    for (long allowed = 0; status == SVMP_NO_MEMORY; allowed++) {
        scarce_memory memory = {1};
        svmp_context *scarce = scarce_context(&memory);
        chain_workspace workspace;
        memory.left = allowed;
        status = svmp_chain_workspace_create(scarce, 2, 1000, 1, &workspace);
        svmp_chain_workspace_free(scarce, &workspace);
        svmp_context_free(scarce);
        assert_true(allowed < 20);
    }
    assert_ok(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_effective_draws_of_autoregressive_series),
        cmocka_unit_test(test_short_chains),
        cmocka_unit_test(test_the_monotone_sequence),
        cmocka_unit_test(test_standard_errors_are_standard_deviations),
        cmocka_unit_test(test_standard_errors_of_independent_draws),
        cmocka_unit_test(test_errors_of_quantiles),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_different_chains),
        cmocka_unit_test(test_ranks_alone_matter),
        cmocka_unit_test(test_odd_lengths),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_too_few_draws),
        cmocka_unit_test(test_sorting),
        cmocka_unit_test(test_particles),
        cmocka_unit_test(test_memory),
    };
    context = test_context(1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    svmp_context_free(context);
    return failed;
}
