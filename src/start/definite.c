#include "start/definite.h"

#include <math.h>
#include <string.h>

#include "base/eigen.h"

enum { DENSE = 400 }; /* rows up to which eigenvalues are taken */

static const double least = 1e-6, floor_value = 1e-2;

static svmp_status absolute(svmp_context *context, const sparsity *pattern, const double *unit, double *H) {
    const size_t n = pattern->order;
    svmp_status status;
    double *a = NULL, *value = NULL, *room = NULL;
    SVMP_CHECK(SVMP_NEW(context, a, n * n));
    SVMP_CHECK(SVMP_NEW(context, value, n));
    SVMP_CHECK(SVMP_NEW(context, room, n));
    for (size_t j = 0; j < n; j++)
        for (size_t e = pattern->start[j]; e < pattern->start[j + 1]; e++) {
            const size_t i = pattern->row[e];
            a[i * n + j] = a[j * n + i] = H[e] / (unit[i] * unit[j]);
        }
    if (svmp_eigen_symmetric(n, a, value, room)) {
        for (size_t k = 0; k < n; k++) value[k] = fmax(fabs(value[k]), floor_value);
        for (size_t j = 0; j < n; j++)
            for (size_t e = pattern->start[j]; e < pattern->start[j + 1]; e++) {
                const size_t i = pattern->row[e];
                double sum = 0;
                for (size_t k = 0; k < n; k++) sum += value[k] * a[k * n + i] * a[k * n + j];
                H[e] = sum * unit[i] * unit[j];
            }
    }
done:
    svmp_release(context, a);
    svmp_release(context, value);
    svmp_release(context, room);
    return status;
}

svmp_status svmp_make_definite(factorisation *factor, const sparsity *pattern, double *H, int *repaired) {
    svmp_context *context = svmp_factorisation_context(factor);
    const size_t n = pattern->order;
    svmp_status status;
    double *unit = NULL, *scaled = NULL;
    size_t bad;
    SVMP_CHECK(SVMP_NEW(context, unit, n));
    SVMP_CHECK(SVMP_NEW(context, scaled, pattern->entries));
    for (size_t i = 0; i < n; i++) unit[i] = fmax(sqrt(fabs(H[pattern->start[i]])), 1e-6);
    for (size_t j = 0; j < n; j++)
        for (size_t e = pattern->start[j]; e < pattern->start[j + 1]; e++)
            scaled[e] = H[e] / (unit[j] * unit[pattern->row[e]]) - (pattern->row[e] == j ? least : 0);
    SVMP_CHECK(svmp_factorise(factor, scaled, &bad));
    *repaired = bad != SIZE_MAX;
    if (!*repaired) goto done;
    if (n <= DENSE) {
        SVMP_CHECK(absolute(context, pattern, unit, H));
    } else { /* shift */
        for (size_t i = 0; i < n; i++) H[pattern->start[i]] = fabs(H[pattern->start[i]]);
        double total = 0;
        for (double shift = 0.01; shift < 100; shift *= 2) {
            for (size_t j = 0; j < n; j++)
                for (size_t e = pattern->start[j]; e < pattern->start[j + 1]; e++)
                    scaled[e] = H[e] / (unit[j] * unit[pattern->row[e]]) + (pattern->row[e] == j ? shift - least : 0);
            SVMP_CHECK(svmp_factorise(factor, scaled, &bad));
            total = shift;
            if (bad == SIZE_MAX) break;
        }
        for (size_t i = 0; i < n; i++) H[pattern->start[i]] += total * unit[i] * unit[i];
    }
done:
    svmp_release(context, unit);
    svmp_release(context, scaled);
    return status;
}
