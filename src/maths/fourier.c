#include "maths/fourier.h"

#include <math.h>

svmp_status svmp_fourier_create(svmp_context *context, size_t least, fourier *made) {
    const double pi = acos(-1);
    svmp_status status;
    *made = (fourier){.length = 1};
    while (made->length < least) made->length *= 2;
    SVMP_CHECK(SVMP_NEW(context, made->cosine, made->length));
    SVMP_CHECK(SVMP_NEW(context, made->sine, made->length));
    for (size_t h = 1; h < made->length; h *= 2)
        for (size_t j = 0; j < h; j++) {
            made->cosine[h + j] = cos(pi * (double)j / (double)h);
            made->sine[h + j] = sin(pi * (double)j / (double)h);
        }
    return SVMP_OK;
done:
    svmp_fourier_free(context, made);
    return status;
}

void svmp_fourier_free(svmp_context *context, fourier *f) {
    svmp_release_all(context, f->cosine, f->sine);
    *f = (fourier){0};
}

/* With w = exp(-pi i / h), of 2 h numbers: the even Z_k are the transform of a_j = z_j + z_j+h, the odd ones that of
 * b_j = (z_j - z_j+h) w^j. Even ones go to the front and odd ones to the back, and so on down: bits reversed. Recursion
 * by halves, rather than stage by stage, soon works on data that fits in the cache. */
static void split(const fourier *f, size_t h, double *restrict re, double *restrict im) {
    const double *restrict c = f->cosine + h, *restrict s = f->sine + h;
    for (size_t j = 0; j < h; j++) {
        const double x = re[j] - re[h + j], y = im[j] - im[h + j];
        re[j] += re[h + j];
        im[j] += im[h + j];
        re[h + j] = x * c[j] + y * s[j];
        im[h + j] = y * c[j] - x * s[j];
    }
}

/* The inverse step: z_j = a_j + b_j w^-j, z_j+h = a_j - b_j w^-j, twice what they were. */
static void join(const fourier *f, size_t h, double *restrict re, double *restrict im) {
    const double *restrict c = f->cosine + h, *restrict s = f->sine + h;
    for (size_t j = 0; j < h; j++) {
        const double x = re[h + j] * c[j] - im[h + j] * s[j], y = im[h + j] * c[j] + re[h + j] * s[j];
        re[h + j] = re[j] - x;
        im[h + j] = im[j] - y;
        re[j] += x;
        im[j] += y;
    }
}

enum { CACHED = 1024 }; /* numbers: below this size, recursion gains nothing */

static void forward(const fourier *f, size_t length, double *re, double *im) {
    if (length > CACHED) {
        const size_t h = length / 2;
        split(f, h, re, im);
        forward(f, h, re, im);
        forward(f, h, re + h, im + h);
        return;
    }
    for (size_t h = length / 2; h > 0; h /= 2)
        for (size_t k = 0; k < length; k += 2 * h) split(f, h, re + k, im + k);
}

static void back(const fourier *f, size_t length, double *re, double *im) {
    if (length > CACHED) {
        const size_t h = length / 2;
        back(f, h, re, im);
        back(f, h, re + h, im + h);
        join(f, h, re, im);
        return;
    }
    for (size_t h = 1; h < length; h *= 2)
        for (size_t k = 0; k < length; k += 2 * h) join(f, h, re + k, im + k);
}

void svmp_fourier_forward(const fourier *f, double *re, double *im) { forward(f, f->length, re, im); }

void svmp_fourier_back(const fourier *f, double *re, double *im) { back(f, f->length, re, im); }
