#include "paper_random.h"

#include <Random123/philox.h>
#include <math.h>

dice dice_make(uint64_t seed, unsigned figure, size_t trial, unsigned purpose) {
    return (dice){.seed = seed, .figure = figure, .trial = trial, .purpose = purpose};
}

uint64_t dice_word(dice *d) {
    philox4x64_ctr_t counter = {{d->count++, d->figure, d->trial, d->purpose}};
    philox4x64_key_t key = {{d->seed, UINT64_C(0x7061706572)}}; /* "paper" */
    return philox4x64(counter, key).v[0];
}

static double unit(dice *d) { return ((double)(dice_word(d) >> 12) + 0.5) * 0x1p-52; }

double dice_uniform(dice *d, double from, double to) { return from + (to - from) * unit(d); }

double dice_normal(dice *d) {
    const double radius = sqrt(-2 * log(unit(d))), angle = 6.283185307179586 * unit(d);
    return radius * cos(angle);
}

/* Marsaglia and Tsang: a normal, cubed, accepted nearly always. */
double dice_gamma(dice *d, double shape) {
    const double a = shape - 1.0 / 3, b = 1 / sqrt(9 * a);
    for (;;) {
        const double z = dice_normal(d), v = pow(1 + b * z, 3);
        if (v > 0 && log(unit(d)) < 0.5 * z * z + a - a * v + a * log(v)) return a * v;
    }
}

size_t dice_below(dice *d, size_t bound) { return (size_t)(dice_word(d) % bound); }
