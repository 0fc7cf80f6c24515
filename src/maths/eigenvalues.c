#include "maths/eigenvalues.h"

#include <float.h>
#include <math.h>

/* Householder: a = Q T Q', T with the diagonal d and e[i] as the off-diagonal element between d[i - 1] and d[i]; a
 * becomes Q. Row i is reduced by the reflection of the vector u that is left in a[i], from the last row to the first
 * (Martin, Reinsch and Wilkinson 1968, tred2). */
static void reduce(size_t n, double *a, double *d, double *e) {
    for (size_t i = n; i-- > 1;) {
        double *u = a + i * n, scale = 0, h = 0;
        for (size_t k = 0; k < i; k++) scale += fabs(u[k]);
        if (i == 1 || scale == 0) {
            e[i] = u[i - 1];
            d[i] = 0;
            continue;
        }
        for (size_t k = 0; k < i; k++) {
            u[k] /= scale;
            h += u[k] * u[k];
        }
        const double g = u[i - 1] >= 0 ? -sqrt(h) : sqrt(h);
        e[i] = scale * g;
        h -= u[i - 1] * g;
        u[i - 1] -= g;
        double f = 0;
        for (size_t j = 0; j < i; j++) { /* p = A u / h in e; u/h in column i */
            double sum = 0;
            a[j * n + i] = u[j] / h;
            for (size_t k = 0; k <= j; k++) sum += a[j * n + k] * u[k];
            for (size_t k = j + 1; k < i; k++) sum += a[k * n + j] * u[k];
            e[j] = sum / h;
            f += e[j] * u[j];
        }
        for (size_t j = 0; j < i; j++) { /* A -= u q' + q u', q = p - u (u'p)/2h */
            const double q = e[j] -= f / (h + h) * u[j];
            for (size_t k = 0; k <= j; k++) a[j * n + k] -= u[j] * e[k] + q * u[k];
        }
        d[i] = h;
    }
    d[0] = e[0] = 0;
    for (size_t i = 0; i < n; i++) { /* Q, from the first reflection on */
        if (d[i] != 0)
            for (size_t j = 0; j < i; j++) {
                double g = 0;
                for (size_t k = 0; k < i; k++) g += a[i * n + k] * a[k * n + j];
                for (size_t k = 0; k < i; k++) a[k * n + j] -= g * a[k * n + i];
            }
        d[i] = a[i * n + i];
        a[i * n + i] = 1;
        for (size_t j = 0; j < i; j++) a[j * n + i] = a[i * n + j] = 0;
    }
}

static void transpose(size_t n, double *a) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const double kept = a[i * n + j];
            a[i * n + j] = a[j * n + i];
            a[j * n + i] = kept;
        }
}

static void rotate(size_t n, double c, double s, double *u, double *v) {
    for (size_t k = 0; k < n; k++) {
        const double f = v[k];
        v[k] = s * u[k] + c * f;
        u[k] = c * u[k] - s * f;
    }
}

/* One QL step on rows from ... to of T, with Wilkinson's shift; the rows of a are rotated with it. */
static void step(size_t n, double *a, double *d, double *e, size_t from, size_t to) {
    double g = (d[from + 1] - d[from]) / (2 * e[from]), r = hypot(g, 1), s = 1, c = 1, p = 0;
    g = d[to] - d[from] + e[from] / (g + (g >= 0 ? fabs(r) : -fabs(r)));
    for (size_t i = to; i-- > from;) {
        double f = s * e[i];
        const double b = c * e[i];
        e[i + 1] = r = hypot(f, g);
        if (r == 0) {
            d[i + 1] -= p;
            e[to] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        rotate(n, c, s, a + i * n, a + (i + 1) * n);
    }
    d[from] -= p;
    e[from] = g;
    e[to] = 0;
}

int svmp_eigen_symmetric(size_t n, double *a, double *value, double *workspace) {
    double *d = value, *e = workspace;
    for (size_t k = 0; k < n * n; k++)
        if (!isfinite(a[k])) return 0;
    if (n == 0) return 1;
    reduce(n, a, d, e);
    transpose(n, a);
    for (size_t i = 1; i < n; i++) e[i - 1] = e[i];
    e[n - 1] = 0;
    for (size_t from = 0; from < n; from++)
        for (int tries = 0;; tries++) {
            size_t to = from;
            while (to + 1 < n && fabs(e[to]) > DBL_EPSILON * (fabs(d[to]) + fabs(d[to + 1]))) to++;
            if (to == from) break;
            if (tries == 60) return 0;
            step(n, a, d, e, from, to);
        }
    return 1;
}
