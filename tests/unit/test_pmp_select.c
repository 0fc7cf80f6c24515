/* The two selections of particle message passing, against their definitions and exhaustive search. */
#include "support.h"

#include <math.h>

#include "method/pmp/pmp.h"

static void test_top_keeps_the_largest_beliefs(void **state) {
    (void)state;
    enum { COUNT = 40, KEEP = 20 };
    for (uint64_t trial = 0; trial < 50; trial++) {
        double belief[COUNT];
        pmp_item heap[COUNT];
        uint32_t chosen[KEEP];
        for (size_t a = 0; a < COUNT; a++) belief[a] = floor(10 * test_random(trial, a)); /* with ties */
        svmp_pmp_top(COUNT, belief, KEEP, heap, chosen);
        for (size_t k = 0; k < KEEP; k++) { /* exactly k particles precede the k-th choice */
            const uint32_t choice = chosen[k];
            size_t before = 0;
            for (uint32_t a = 0; a < COUNT; a++)
                before += belief[a] > belief[choice] || (a < choice && belief[a] == belief[choice]);
            assert_int_equal(before, k);
        }
    }
}

enum { ROWS = 13, COUNT = 10, KEEP = 4, ENTRIES = ROWS * COUNT };

static void random_psi(uint64_t trial, double *psi, double *belief) {
    for (size_t k = 0; k < ENTRIES; k++)
        psi[k] = exp(-4 * (1 + test_random(1000 + trial, k))); /* some rows are peaked */
    for (size_t a = 0; a < COUNT; a++) belief[a] = test_random(2000 + trial, a);
    const size_t third = 3, seventh = 7;
    for (size_t row = 0; trial % 5 == 0 && row < ROWS; row++)
        psi[third * ROWS + row] = psi[seventh * ROWS + row]; /* twins */
    for (size_t k = 0; trial % 3 == 1 && k < ENTRIES;
         k++) { /* five equal ones with large gains, five with small ones */
        const size_t a = k / ROWS, row = k % ROWS;
        const double much = a < 5 && row < 5, little = a >= 5 && row >= 5 && row % 5 == a - 5;
        psi[k] = 1e-3 * fabs(test_random(1000 + trial, k)) + much + 0.9 * little;
    }
}

/* sum_row max_{a in set} psi, for a set of bits. */
static double kept_sum(const double *psi, unsigned set) {
    double sum = 0;
    for (size_t row = 0; row < ROWS; row++) {
        double most = 0;
        for (size_t a = 0; a < COUNT; a++)
            if (set >> a & 1) most = fmax(most, psi[a * ROWS + row]);
        sum += most;
    }
    return sum;
}

static unsigned bits_of(const uint32_t *chosen, size_t count) {
    unsigned set = 0;
    for (size_t k = 0; k < count; k++) set |= 1U << chosen[k];
    return set;
}

/* Every choice of the lazy greedy algorithm adds as much as the best remaining one, as in the plain algorithm. Ties and
 * zero gains are resolved by belief and number. */
static void test_lazy_greedy_is_greedy(void **state) {
    (void)state;
    for (uint64_t trial = 0; trial < 200; trial++) {
        double psi[ENTRIES], belief[COUNT], best[ROWS];
        pmp_item heap[COUNT];
        uint32_t chosen[COUNT];
        random_psi(trial, psi, belief);
        svmp_pmp_diverse(COUNT, belief, ROWS, psi, COUNT, best, heap, chosen);
        for (size_t a = 0; a < COUNT; a++) assert_true(belief[chosen[0]] >= belief[a]);
        for (size_t k = 1; k < COUNT; k++) {
            const unsigned had = bits_of(chosen, k);
            const double now = kept_sum(psi, had | 1U << chosen[k]);
            for (size_t a = 0; a < COUNT; a++)
                if (!(had >> a & 1)) assert_true(now >= kept_sum(psi, had | 1U << a) - 1e-12);
        }
        assert_int_equal(bits_of(chosen, COUNT), (1U << COUNT) - 1); /* each once */
        for (size_t row = 0; row < ROWS; row++)
            for (size_t a = 0; a < COUNT; a++) assert_true(best[row] >= psi[a * ROWS + row]);
    }
}

/* Nemhauser, Wolsey and Fisher: N - 1 greedy choices after the first one s, f submodular and growing, give
 *     f(S) - f(s) >= (1 - 1/e) (f(T) - f(s))                     for every T of N that holds s,
 *     f(S) - f(s) >= (1 - (1 - 1/N)^(N-1)) (f(T) - f(s))         for every T of N. */
static void test_diverse_is_near_the_best_set(void **state) {
    (void)state;
    double worst = 1;
    for (uint64_t trial = 0; trial < 100; trial++) {
        double psi[ENTRIES], belief[COUNT], best[ROWS], with_first = 0, any = 0;
        pmp_item heap[COUNT];
        uint32_t chosen[KEEP];
        random_psi(trial, psi, belief);
        svmp_pmp_diverse(COUNT, belief, ROWS, psi, KEEP, best, heap, chosen);
        for (unsigned set = 0; set < 1U << COUNT; set++) {
            if (__builtin_popcount(set) != KEEP) continue;
            const double sum = kept_sum(psi, set);
            any = fmax(any, sum);
            if (set >> chosen[0] & 1) with_first = fmax(with_first, sum);
        }
        const double first = kept_sum(psi, 1U << chosen[0]), got = kept_sum(psi, bits_of(chosen, KEEP)) + 1e-12;
        assert_true(got - first >= (1 - exp(-1)) * (with_first - first));
        assert_true(got - first >= (1 - pow(1 - 1.0 / KEEP, KEEP - 1)) * (any - first));
        worst = fmin(worst, got / any);
    }
    assert_true(worst >= 1 - exp(-1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_top_keeps_the_largest_beliefs),
        cmocka_unit_test(test_lazy_greedy_is_greedy),
        cmocka_unit_test(test_diverse_is_near_the_best_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
