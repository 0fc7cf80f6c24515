/* Positions from distances: shortest paths stand for the distances that were not measured, classical multidimensional
 * scaling makes a map of them, and Procrustes' similarity lays it onto the points that are known.
 *
 *     D_ij   the length of the shortest path from i to j, over measured ranges and distances of known points
 *     B      = -1/2 J D.D J, J = I - 11'/N                  the inner products of centred points
 *     X      = V sqrt(L), the leading eigenvectors of B      the map
 *     Y      = s X R + t                                     nearest, on the known points, to where they are */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "svmp_slam.h"

static int is_known(const svmp_ranges *r, size_t point) {
    for (size_t k = 0; k < r->dimension; k++)
        if (!isfinite(r->known[point * r->dimension + k])) return 0;
    return 1;
}

static double distance(const double *a, const double *b, size_t dimension) {
    double sum = 0;
    for (size_t k = 0; k < dimension; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(sum);
}

/* ---- shortest paths ---------------------------------------------------------------------------------------------- */

static void shorten(double *d, size_t n, size_t i, size_t j, double length) {
    if (length < d[i * n + j]) d[i * n + j] = d[j * n + i] = length;
}

static svmp_status fill_paths(svmp_context *context, const svmp_ranges *r, double *d) {
    const size_t n = r->points;
    for (size_t k = 0; k < n * n; k++) d[k] = k % (n + 1) == 0 ? 0 : INFINITY;
    for (size_t e = 0; e < r->count; e++) {
        if (r->from[e] >= n || r->to[e] >= n || !isfinite(r->range[e]))
            return svmp_fail(context, SVMP_BAD_CALL,
                             "Range %zu is invalid: %g from point %zu to point %zu, with %zu points.", e + 1,
                             r->range[e], r->from[e] + 1, r->to[e] + 1, n);
        shorten(d, n, r->from[e], r->to[e], fmax(r->range[e], 0)); /* noise may take a short one below 0 */
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (is_known(r, i) && is_known(r, j))
                shorten(d, n, i, j, distance(r->known + i * r->dimension, r->known + j * r->dimension, r->dimension));
    for (size_t k = 0; k < n; k++) /* Floyd and Warshall */
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) d[i * n + j] = fmin(d[i * n + j], d[i * n + k] + d[k * n + j]);
    for (size_t i = 0; i < n; i++)
        if (isinf(d[i]))
            return svmp_fail(context, SVMP_BAD_INPUT,
                             "Point %zu cannot be located: no chain of ranges connects it to point 1.", i + 1);
    return SVMP_OK;
}

/* ---- the map ----------------------------------------------------------------------------------------------------- */

/* Jacobi's rotations: a becomes diagonal, the rows of v its eigenvectors. */
static void diagonalise(size_t n, double *a, double *v) {
    for (size_t k = 0; k < n * n; k++) v[k] = k % (n + 1) == 0;
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0, all = 0;
        for (size_t k = 0; k < n * n; k++) {
            all += a[k] * a[k];
            if (k % (n + 1)) off += a[k] * a[k];
        }
        if (off <= 1e-26 * all) return;
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                if (a[p * n + q] == 0) continue;
                const double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
                const double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                for (size_t k = 0; k < n; k++) { /* A G */
                    const double x = a[k * n + p], y = a[k * n + q];
                    a[k * n + p] = c * x - s * y;
                    a[k * n + q] = s * x + c * y;
                }
                for (size_t k = 0; k < n; k++) { /* G'A, and G'V' */
                    const double x = a[p * n + k], y = a[q * n + k], f = v[p * n + k], g = v[q * n + k];
                    a[p * n + k] = c * x - s * y;
                    a[q * n + k] = s * x + c * y;
                    v[p * n + k] = c * f - s * g;
                    v[q * n + k] = s * f + c * g;
                }
            }
    }
}

/* d, the distances, becomes B; `mean` has room for n numbers. */
static void centre(size_t n, double *d, double *mean) {
    double grand = 0;
    for (size_t i = 0; i < n; i++) {
        mean[i] = 0;
        for (size_t j = 0; j < n; j++) mean[i] += d[i * n + j] * d[i * n + j] / (double)n;
        grand += mean[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) d[i * n + j] = -0.5 * (d[i * n + j] * d[i * n + j] - mean[i] - mean[j] + grand);
}

/* Point i of the map is x[i*dimension ...], from the largest eigenvalues of the diagonal of `a`. */
static void make_map(size_t n, size_t dimension, double *a, const double *v, double *x) {
    for (size_t k = 0; k < dimension; k++) {
        size_t best = 0;
        for (size_t i = 1; i < n; i++)
            if (a[i * n + i] > a[best * n + best]) best = i;
        const double scale = sqrt(fmax(a[best * n + best], 0));
        for (size_t i = 0; i < n; i++) x[i * dimension + k] = scale * v[best * n + i];
        a[best * n + best] = -INFINITY;
    }
}

/* ---- onto the known points --------------------------------------------------------------------------------------- */

/* With H = sum of (x - mean x)(y - mean y)' over the known points: R = H (H'H)^(-1/2), s = tr(R'H) / sum |x - mean
 * x|^2. `workspace` has 5 k^2 + 2 k numbers. */
static svmp_status procrustes(svmp_context *context, const svmp_ranges *r, double *x, double *workspace) {
    const size_t k = r->dimension;
    double *h = workspace, *g = h + k * k, *v = g + k * k, *rotation = v + k * k, *moved = rotation + k * k;
    double *x_mean = moved + k * k, *y_mean = x_mean + k, known = 0, size = 0, trace = 0, largest = 0, smallest;
    memset(workspace, 0, (5 * k * k + 2 * k) * sizeof *workspace);
    for (size_t i = 0; i < r->points; i++) {
        if (!is_known(r, i)) continue;
        known++;
        for (size_t a = 0; a < k; a++) x_mean[a] += x[i * k + a], y_mean[a] += r->known[i * k + a];
    }
    for (size_t a = 0; a < k; a++) x_mean[a] /= known, y_mean[a] /= known;
    for (size_t i = 0; i < r->points; i++) {
        if (!is_known(r, i)) continue;
        for (size_t a = 0; a < k; a++) {
            size += (x[i * k + a] - x_mean[a]) * (x[i * k + a] - x_mean[a]);
            for (size_t b = 0; b < k; b++)
                h[a * k + b] += (x[i * k + a] - x_mean[a]) * (r->known[i * k + b] - y_mean[b]);
        }
    }
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++)
            for (size_t c = 0; c < k; c++) g[a * k + b] += h[c * k + a] * h[c * k + b];
    diagonalise(k, g, v);
    smallest = INFINITY;
    for (size_t a = 0; a < k; a++) largest = fmax(largest, g[a * k + a]), smallest = fmin(smallest, g[a * k + a]);
    if (!(smallest > 1e-12 * largest))
        return svmp_fail(context, SVMP_BAD_INPUT,
                         "The known points do not determine the map: %zu points that do not lie on one %s are needed.",
                         k + 1, k == 2 ? "line" : "plane");
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++)
            for (size_t c = 0; c < k; c++)
                for (size_t d = 0; d < k; d++)
                    rotation[a * k + b] += h[a * k + c] * v[d * k + c] * v[d * k + b] / sqrt(g[d * k + d]);
    for (size_t a = 0; a < k * k; a++) trace += rotation[a] * h[a];
    const double scale = trace / size;
    for (size_t i = 0; i < r->points; i++) {
        for (size_t b = 0; b < k; b++) {
            moved[b] = y_mean[b];
            for (size_t a = 0; a < k; a++) moved[b] += scale * (x[i * k + a] - x_mean[a]) * rotation[a * k + b];
        }
        memcpy(x + i * k, is_known(r, i) ? r->known + i * k : moved, k * sizeof *x);
    }
    return SVMP_OK;
}

svmp_status svmp_localise(svmp_context *context, const svmp_ranges *ranges, double *positions) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (ranges == NULL || positions == NULL || ranges->known == NULL || ranges->points == 0 || ranges->dimension == 0 ||
        ranges->dimension > 3 || (ranges->count && (!ranges->from || !ranges->to || !ranges->range)))
        return svmp_fail(context, SVMP_BAD_CALL,
                         "svmp_localise: points in 1 to 3 dimensions, ranges and a result are needed.");
    const size_t n = ranges->points;
    double *d = NULL, *v = NULL, *workspace = NULL;
    svmp_status status = SVMP_OK;
    SVMP_CHECK(svmp_allocate(context, n, n * sizeof *d, (void **)&d));
    SVMP_CHECK(svmp_allocate(context, n, n * sizeof *v, (void **)&v));
    SVMP_CHECK(SVMP_NEW(context, workspace, n + 64));
    SVMP_CHECK(fill_paths(context, ranges, d));
    centre(n, d, workspace);
    diagonalise(n, d, v);
    make_map(n, ranges->dimension, d, v, positions);
    SVMP_CHECK(procrustes(context, ranges, positions, workspace));
done:
    svmp_release(context, d);
    svmp_release(context, v);
    svmp_release(context, workspace);
    return status;
}
