/* Exact sums: they do not round, so the order of additions does not affect the bits of the result. A number is added to
 * 32-bit digits at its position; the sum is rounded once, when it is read. */
#ifndef SVMP_BASE_EXACT_SUM_H
#define SVMP_BASE_EXACT_SUM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { EXACT_DIGITS = 68 }; /* of 32 bits: from 2^-1074 to beyond 2^1024, with room for carries */

typedef struct exact_sum {
    int64_t digit[EXACT_DIGITS]; /* each can take 2^31 additions before svmp_exact_carry is needed */
    int64_t added;
    union {
        double not_finite;       /* the sum of the values that are not finite */
        int64_t not_finite_word; /* the same, as encoded by svmp_exact_to_words */
    };
} exact_sum;

/* Brings every digit except the last below 2^32. */
void svmp_exact_carry(exact_sum *sum);

/* The sum, rounded to within one unit in the last place. */
double svmp_exact_value(exact_sum *sum);

static inline void svmp_exact_add(exact_sum *sum, double value) {
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    const unsigned exponent = (unsigned)(word >> 52) & 0x7ff;
    if (exponent == 0x7ff) {
        sum->not_finite += value;
        return;
    }
    const uint64_t fraction = word & UINT64_C(0xfffffffffffff), mask = UINT64_C(0xffffffff);
    const uint64_t mantissa = exponent ? fraction | UINT64_C(1) << 52 : fraction;
    const unsigned place = exponent ? exponent - 1 : 0, shift = place % 32; /* value = mantissa 2^(place - 1074) */
    const uint64_t low = (mantissa & mask) << shift, high = (mantissa >> 32) << shift;
    const int64_t sign = word >> 63 ? -1 : 1;
    int64_t *digit = sum->digit + place / 32;
    digit[0] += sign * (int64_t)(low & mask);
    digit[1] += sign * (int64_t)((low >> 32) + (high & mask));
    digit[2] += sign * (int64_t)(high >> 32);
    if (++sum->added == INT64_C(1) << 30) svmp_exact_carry(sum);
}

/* Adds value[k*n + l] to sums[l], k < count: the same sums, with fewer exact additions. */
void svmp_exact_add_rows(exact_sum *sums, size_t n, size_t count, const double *value);

/* Adds `from` to `to`; both may have any number of additions. */
void svmp_exact_merge(exact_sum *to, exact_sum *from);

/* Converts carried sums to arrays of EXACT_WORDS integers, which several processes can add item by item, and back. */
enum { EXACT_WORDS = sizeof(exact_sum) / sizeof(int64_t) };
int64_t *svmp_exact_to_words(size_t count, exact_sum *sums);
void svmp_exact_from_words(size_t count, exact_sum *sums);

#endif
