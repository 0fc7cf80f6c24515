/* The discrete Fourier transform for lengths that are powers of two. */
#ifndef SVMP_MATHS_FOURIER_H
#define SVMP_MATHS_FOURIER_H

#include "base/context.h"

typedef struct fourier {
    size_t length;
    double *cosine, *sine; /* of 2 pi j / (2 h), j < h, at [h + j], for h = 1, 2, 4, ..., length / 2 */
} fourier;

/* The length is the smallest power of two that is at least `least`. */
svmp_status svmp_fourier_create(svmp_context *context, size_t least, fourier *made);
void svmp_fourier_free(svmp_context *context, fourier *f); /* accepts an all-zero value */

/* z becomes Z_k = sum_t z_t exp(-2 pi i t k / length), in an internal order that svmp_fourier_back undoes: only
 * element-wise operations are possible in between. Takes time of order length * log2(length). */
void svmp_fourier_forward(const fourier *f, double *re, double *im);

/* The inverse without normalisation: z_t = sum_k Z_k exp(2 pi i t k / length), `length` times the original. */
void svmp_fourier_back(const fourier *f, double *re, double *im);

#endif
