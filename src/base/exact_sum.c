#include "base/exact_sum.h"

#include "base/target_clones.h"

/* A number below 2^20 is the sum of a multiple of 2^-20, one of 2^-62 and a rest, which is 0 unless the number is very
 * small. Up to 4096 of these multiples add up without rounding. */
enum { EXACT_LANES = 64, EXACT_ROWS = 4096 };
static const double high_unit = 0x1.8p32, low_unit = 0x1.8p-10; /* adding one of them rounds to a multiple */

/* Adds what is left of a row to `odd`; returns whether that is anything. */
SVMP_CLONES static int split_row(size_t lanes, const double *value, double *high, double *low, double *odd) {
    double any = 0;
    for (size_t l = 0; l < lanes; l++) {
        const double v = value[l], size = v < 0 ? -v : v, near = size < 0x1p20 ? v : 0;
        const double h = (near + high_unit) - high_unit, m = ((near - h) + low_unit) - low_unit;
        const double left = size < 0x1p20 ? (near - h) - m : v;
        high[l] += h;
        low[l] += m;
        odd[l] = left;
        any = left == 0 ? any : 1;
    }
    return any > 0;
}

void svmp_exact_add_rows(exact_sum *sums, size_t n, size_t count, const double *value) {
    for (size_t from = 0; from < n; from += EXACT_LANES) {
        const size_t lanes = n - from < EXACT_LANES ? n - from : EXACT_LANES;
        for (size_t k = 0; k < count;) {
            const size_t end = count - k < EXACT_ROWS ? count : k + EXACT_ROWS;
            double high[EXACT_LANES] = {0}, low[EXACT_LANES] = {0}, odd[EXACT_LANES];
            for (; k < end; k++) {
                if (!split_row(lanes, value + k * n + from, high, low, odd)) continue;
                for (size_t l = 0; l < lanes; l++)
                    if (odd[l] != 0) svmp_exact_add(&sums[from + l], odd[l]);
            }
            for (size_t l = 0; l < lanes; l++) {
                svmp_exact_add(&sums[from + l], high[l]);
                svmp_exact_add(&sums[from + l], low[l]);
            }
        }
    }
}

void svmp_exact_carry(exact_sum *sum) {
    for (size_t k = 0; k + 1 < EXACT_DIGITS; k++) {
        const int64_t low = sum->digit[k] & INT64_C(0xffffffff);
        sum->digit[k + 1] += (sum->digit[k] - low) / (INT64_C(1) << 32); /* exact: a multiple, of either sign */
        sum->digit[k] = low;
    }
    sum->added = 0;
}

void svmp_exact_merge(exact_sum *to, exact_sum *from) {
    svmp_exact_carry(to);
    svmp_exact_carry(from);
    for (size_t k = 0; k < EXACT_DIGITS; k++) to->digit[k] += from->digit[k];
    to->not_finite += from->not_finite;
    svmp_exact_carry(to);
}

/* The digits of the absolute value, added from the smallest. */
double svmp_exact_value(exact_sum *sum) {
    if (!isfinite(sum->not_finite)) return sum->not_finite;
    exact_sum positive = *sum;
    svmp_exact_carry(&positive);
    const int negative = positive.digit[EXACT_DIGITS - 1] < 0;
    for (size_t k = 0; negative && k < EXACT_DIGITS; k++) positive.digit[k] = -positive.digit[k];
    if (negative) svmp_exact_carry(&positive);
    double value = 0;
    for (size_t k = 0; k < EXACT_DIGITS; k++)
        if (positive.digit[k] != 0) value += ldexp((double)positive.digit[k], 32 * (int)k - 1074);
    return negative ? -value : value;
}

/* Encodes sums that are not finite by how many processes have infinity, -infinity or NaN: a word has room for two
 * million of each. */
static const int64_t counted[] = {INT64_C(1), INT64_C(1) << 21, INT64_C(1) << 42};
static const double not_finite[] = {INFINITY, -INFINITY, NAN};

int64_t *svmp_exact_to_words(size_t count, exact_sum *sums) {
    for (size_t k = 0; k < count; k++) {
        const double value = sums[k].not_finite;
        svmp_exact_carry(&sums[k]);
        sums[k].not_finite_word = isfinite(value) ? 0 : isnan(value) ? counted[2] : counted[value < 0];
    }
    return (int64_t *)sums;
}

void svmp_exact_from_words(size_t count, exact_sum *sums) {
    for (size_t k = 0; k < count; k++) {
        const int64_t word = sums[k].not_finite_word;
        sums[k].not_finite = 0;
        for (size_t kind = 0; kind < 3; kind++)
            if (word / counted[kind] % counted[1] > 0) sums[k].not_finite += not_finite[kind];
    }
}
