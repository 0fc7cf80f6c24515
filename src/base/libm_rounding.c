#define _DEFAULT_SOURCE /* lgamma_r */
#include "base/libm_rounding.h"

#include <math.h>

#include "base/hash.h"

enum { POINTS = 5000 };

static double log_gamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

static double power(double x) { return pow(x, 3.7 - x); }

/* Arguments for which each function's result is rounded: neither 0 nor infinite. */
static const struct {
    double (*function)(double x);
    double from, to;
} functions[] = {
    {exp, -40, 40}, {expm1, -4, 4}, {log, 0, 50},      {log1p, -0.99, 9},    {log2, 0, 50},  {log10, 0, 50},
    {power, 0, 9},  {sin, -30, 30}, {cos, -30, 30},    {tan, -30, 30},       {asin, -1, 1},  {acos, -1, 1},
    {atan, -5, 5},  {sinh, -9, 9},  {cosh, -9, 9},     {tanh, -4, 4},        {asinh, -9, 9}, {acosh, 1, 30},
    {atanh, -1, 1}, {erfc, -5, 9},  {tgamma, 0.1, 30}, {log_gamma, 0.1, 50},
};

uint64_t svmp_rounding_checksum(void) {
    const double golden = 0.6180339887498949; /* its multiples are spread evenly, whatever their number */
    uint64_t hash = SVMP_HASH_START;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        for (int k = 1; k <= POINTS; k++) {
            const double at = k * golden - floor(k * golden);
            const double value = functions[f].function(functions[f].from + at * (functions[f].to - functions[f].from));
            hash = svmp_hash_bytes(hash, sizeof value, &value);
        }
    return hash;
}
