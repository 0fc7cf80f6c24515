/* The discrete Fourier transform, of lengths that are powers of two. */
#ifndef SVMP_BASE_FOURIER_H
#define SVMP_BASE_FOURIER_H

#include "base/context.h"

typedef struct fourier {
    size_t length;
    double *cosine, *sine; /* of 2 pi j / (2 h), j < h, at [h + j], for h = 1, 2, 4, ..., length / 2 */
} fourier;

/* Of the least power of two that is at least `least`. */
svmp_status svmp_fourier_create(svmp_context *context, size_t least, fourier *made);
void svmp_fourier_free(svmp_context *context, fourier *f); /* takes one that is all zeros */

/* z becomes Z_k = sum_t z_t exp(-2 pi i t k / length), in an order that only the way back knows: what is done between
 * them is done to each number by itself. Takes time of length * log2(length). */
void svmp_fourier_forward(const fourier *f, double *re, double *im);

/* And back: z_t = sum_k Z_k exp(2 pi i t k / length), `length` times what it was. */
void svmp_fourier_back(const fourier *f, double *re, double *im);

#endif
