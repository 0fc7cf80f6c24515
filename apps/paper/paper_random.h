/* The random numbers that problems are drawn from: a stream for each (seed, figure, trial, purpose). */
#ifndef SVMP_PAPER_PAPER_RANDOM_H
#define SVMP_PAPER_PAPER_RANDOM_H

#include <stddef.h>
#include <stdint.h>

typedef struct dice {
    uint64_t seed, figure, trial, purpose, count;
} dice;

dice dice_make(uint64_t seed, unsigned figure, size_t trial, unsigned purpose);
double dice_uniform(dice *d, double from, double to);
double dice_normal(dice *d);
double dice_gamma(dice *d, double shape); /* shape >= 1, rate 1 */
size_t dice_below(dice *d, size_t bound);
uint64_t dice_word(dice *d);

#endif
