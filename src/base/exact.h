/* Sums without rounding, and so without an order: whoever adds what, the result has the same bits. A number is added to
 * digits of 32 bits at its own place; the sum is rounded once, when it is read. */
#ifndef SVMP_BASE_EXACT_H
#define SVMP_BASE_EXACT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { EXACT_DIGITS = 68 }; /* of 32 bits: from 2^-1074 to beyond 2^1024, with room for carries */

typedef struct exact_sum {
    int64_t digit[EXACT_DIGITS]; /* each may hold 2^31 additions before svmp_exact_carry is due */
    int64_t added;
    union {
        double beyond;   /* the sum of what was not finite */
        int64_t classed; /* the same as svmp_exact_to_words tells it */
    };
} exact_sum;

/* Brings every digit back below 2^32, the last one apart. */
void svmp_exact_carry(exact_sum *sum);

/* The sum rounded to a number, within a unit of its last place. */
double svmp_exact_value(exact_sum *sum);

static inline void svmp_exact_add(exact_sum *sum, double value) {
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    const unsigned exponent = (unsigned)(word >> 52) & 0x7ff;
    if (exponent == 0x7ff) {
        sum->beyond += value;
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

/* Adds the second one to the first; both may have any number of additions. */
void svmp_exact_merge(exact_sum *to, exact_sum *from);

/* A carried sum as so many whole numbers, which several processes may add up item by item, and back again. */
enum { EXACT_WORDS = sizeof(exact_sum) / sizeof(int64_t) };
int64_t *svmp_exact_to_words(size_t count, exact_sum *sums);
void svmp_exact_from_words(size_t count, exact_sum *sums);

#endif
