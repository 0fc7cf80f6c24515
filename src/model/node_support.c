#include "model/node_support.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "model/transform.h"

static size_t order_of(size_t values) {
    size_t order = 0;
    while (order * order < values) order++;
    return order;
}

svmp_status svmp_support_check(svmp_context *context, const node_support *support, const char *name) {
    const size_t values = support->values, order = order_of(values);
    for (size_t k = 0; support->kind == SVMP_SUPPORT_BOUNDED && k < values; k++)
        if (!(support->lower[k] < support->upper[k])) /* also refuses NaN */
            return svmp_fail(context, SVMP_BAD_CALL, "Value %zu of the node '%.80s' has no room: from %g to %g.", k,
                             name, support->lower[k], support->upper[k]);
    if (support->kind == SVMP_SUPPORT_SIMPLEX && values < 2)
        return svmp_fail(context, SVMP_BAD_CALL, "The simplex '%.80s' needs at least 2 values.", name);
    if (support->kind == SVMP_SUPPORT_CORRELATION && (order < 2 || order * order != values))
        return svmp_fail(context, SVMP_BAD_CALL,
                         "The correlation matrix '%.80s' needs k*k values with k of at least 2, not %zu.", name,
                         values);
    if ((unsigned)support->kind > SVMP_SUPPORT_CORRELATION)
        return svmp_fail(context, SVMP_BAD_CALL, "The node '%.80s': there is no support %d.", name, (int)support->kind);
    return SVMP_OK;
}

size_t svmp_support_variables(svmp_support kind, size_t values) {
    const size_t order = order_of(values);
    if (kind == SVMP_SUPPORT_SIMPLEX) return values - 1;
    if (kind == SVMP_SUPPORT_CORRELATION) return order * (order - 1) / 2;
    return values;
}

size_t svmp_support_workspace(const node_support *support) {
    return support->kind == SVMP_SUPPORT_CORRELATION ? 2 * support->values : 0;
}

/* ---- correlation matrices ---- */

/* Variables row after row: (1,0), (2,0), (2,1), ... */
static size_t triangle(size_t i, size_t j) { return i * (i - 1) / 2 + j; }

static void cholesky_rows(size_t order, const double *u, double *L) {
    memset(L, 0, order * order * sizeof *L);
    for (size_t i = 0; i < order; i++) {
        double s = 1;
        for (size_t j = 0; j < i; j++) {
            const double z = tanh(u[triangle(i, j)]);
            L[i * order + j] = z * s;
            s /= cosh(u[triangle(i, j)]); /* sqrt(1 - z^2) */
        }
        L[i * order + i] = s;
    }
}

static void correlation_values(size_t order, const double *u, double *x, double *L) {
    cholesky_rows(order, u, L);
    for (size_t i = 0; i < order; i++) {
        x[i * order + i] = 1;
        for (size_t j = 0; j < i; j++) {
            double sum = 0;
            for (size_t k = 0; k <= j; k++) sum += L[i * order + k] * L[j * order + k];
            x[i * order + j] = x[j * order + i] = sum;
        }
    }
}

static bool correlation_inverse(size_t order, const double *x, double *u, double *L) {
    const double rounding = 1e-8;
    for (size_t i = 0; i < order; i++) {
        double s = 1;
        if (!(fabs(x[i * order + i] - 1) <= rounding)) return false;
        for (size_t j = 0; j < i; j++) {
            double sum = x[i * order + j];
            if (!(fabs(sum - x[j * order + i]) <= rounding)) return false;
            for (size_t k = 0; k < j; k++) sum -= L[i * order + k] * L[j * order + k];
            L[i * order + j] = sum / L[j * order + j];
            const double z = L[i * order + j] / s;
            if (!(fabs(z) < 1)) return false;
            u[triangle(i, j)] = atanh(z);
            s *= sqrt(1 - z * z);
        }
        L[i * order + i] = s;
    }
    return true;
}

/* Backwards through X = L L' and through each row of L. */
static void correlation_pull(size_t order, const double *u, const double *by_x, double *by_u, double *work) {
    double *L = work, *by_row = work + order * order;
    cholesky_rows(order, u, L);
    for (size_t i = 1; i < order; i++) {
        double s = L[i * order + i], by_s;
        for (size_t j = 0; j <= i; j++) {
            by_row[j] = 0;
            for (size_t m = j; m < order; m++) /* X has ones on its diagonal whatever L is */
                if (m != i) by_row[j] += (by_x[i * order + m] + by_x[m * order + i]) * L[m * order + j];
        }
        by_s = by_row[i];
        for (size_t j = i; j-- > 0;) {
            const double z = tanh(u[triangle(i, j)]), c = 1 / cosh(u[triangle(i, j)]);
            s = c > 0 ? s / c : 0; /* that before this element */
            by_u[triangle(i, j)] = s * c * (by_row[j] * c - by_s * z);
            by_s = by_s * c + by_row[j] * z;
        }
    }
}

/* sum over i > j of log L_jj + log s_ij + log(1 - z_ij^2): each log(1 - z_ik^2) stands in it 1 + (order - 1 - i)/2 +
 * (i - 1 - k)/2 times. */
static double correlation_jacobian(size_t order, const double *u, double *gradient) {
    double sum = 0;
    for (size_t i = 1; i < order; i++)
        for (size_t k = 0; k < i; k++) {
            const double times = 1 + 0.5 * (double)(order - 1 - i) + 0.5 * (double)(i - 1 - k);
            const double at = fabs(u[triangle(i, k)]);
            sum -= 2 * times * (at + log1p(exp(-2 * at)) - log(2)); /* log cosh */
            gradient[triangle(i, k)] = -2 * times * tanh(u[triangle(i, k)]);
        }
    return sum;
}

/* ---- simplices ---- */

static void simplex_pull(size_t values, const double *u, const double *x, const double *by_x, double *by_u) {
    double rest = x[values - 1], by_rest = by_x[values - 1];
    for (size_t k = values - 1; k-- > 0;) {
        const double z = 1 / (1 + exp(log((double)(values - 1 - k)) - u[k]));
        rest += x[k]; /* what is left for this one and those behind it */
        by_u[k] = rest * (by_x[k] - by_rest) * z * (1 - z);
        by_rest = z * by_x[k] + (1 - z) * by_rest;
    }
}

static double log_ilogit(double u) { return (u < 0 ? u : 0) - log1p(exp(-fabs(u))); }

/* sum over k of log r_k + log z_k + log(1 - z_k), with r_k the product of 1 - z_j, j < k. */
static double simplex_jacobian(size_t values, const double *u, double *gradient) {
    double sum = 0;
    for (size_t left = values - 1; left > 0; left--) {
        const size_t k = values - 1 - left;
        const double behind = (double)left, v = u[k] - log(behind), z = 1 / (1 + exp(-v));
        sum += log_ilogit(v) + behind * log_ilogit(-v);
        gradient[k] = 1 - z - behind * z;
    }
    return sum;
}

/* ---- bounds, and order ---- */

/* dx/du, and log |dx/du| with its derivative. */
static void bounded_slope(double lower, double upper, double u, double *slope, double *log_slope, double *derivative) {
    const bool above = lower > -INFINITY, below = upper < INFINITY;
    *slope = 1, *log_slope = *derivative = 0;
    if (above && below) {
        const double z = 1 / (1 + exp(-u));
        *slope = (upper - lower) * z * (1 - z);
        *log_slope = log(upper - lower) + log_ilogit(u) + log_ilogit(-u);
        *derivative = 1 - 2 * z;
    } else if (above || below) {
        *slope = above ? fmin(exp(u), DBL_MAX) : -fmin(exp(u), DBL_MAX);
        *log_slope = u;
        *derivative = 1;
    }
}

static void ordered_pull(size_t values, const double *u, const double *by_x, double *by_u) {
    double sum = 0;
    for (size_t k = values; k-- > 0;) {
        sum += by_x[k];
        by_u[k] = k > 0 ? sum * exp(u[k]) : sum;
    }
}

/* Values that round to the edge of the support, or to infinity, stay inside, where functions are finite. */
static void keep_inside(const node_support *support, double *x) {
    const double least = 1e-300, most = 1e300;
    for (size_t k = 0; k < support->values; k++) {
        const double lower = support->lower ? support->lower[k] : 0, upper = support->upper ? support->upper[k] : 1;
        const double above = lower == 0 ? least : nextafter(lower, INFINITY);
        const double below = upper == 0 ? -least : nextafter(upper, -INFINITY);
        x[k] = fmin(fmax(x[k], fmax(above, -most)), fmin(below, most));
    }
}

/* ---- of any kind ---- */

void svmp_support_values(const node_support *support, const double *u, double *x, double *work) {
    const size_t values = support->values;
    switch (support->kind) {
    case SVMP_SUPPORT_BOUNDED:
        svmp_transform_natural(TRANSFORM_MIXED, values, support->lower, support->upper, u, x);
        keep_inside(support, x);
        return;
    case SVMP_SUPPORT_SIMPLEX:
        svmp_transform_natural(TRANSFORM_SIMPLEX, values, NULL, NULL, u, x);
        keep_inside(support, x);
        return;
    case SVMP_SUPPORT_CORRELATION: correlation_values(order_of(values), u, x, work); return;
    case SVMP_SUPPORT_ORDERED:
        for (size_t k = 0; k < values; k++) x[k] = k > 0 ? x[k - 1] + exp(u[k]) : u[k];
        return;
    default: memcpy(x, u, values * sizeof *x);
    }
}

bool svmp_support_inverse(const node_support *support, const double *x, double *u, double *work) {
    const size_t values = support->values;
    bool inside = true;
    double sum = 0;
    switch (support->kind) {
    case SVMP_SUPPORT_BOUNDED:
        for (size_t k = 0; k < values; k++) inside = inside && x[k] > support->lower[k] && x[k] < support->upper[k];
        return inside && svmp_transform_inverse(TRANSFORM_MIXED, values, support->lower, support->upper, x, u);
    case SVMP_SUPPORT_SIMPLEX:
        for (size_t k = 0; k < values; k++) inside = inside && x[k] > 0, sum += x[k];
        return inside && fabs(sum - 1) <= 1e-8 && svmp_transform_inverse(TRANSFORM_SIMPLEX, values, NULL, NULL, x, u);
    case SVMP_SUPPORT_CORRELATION: return correlation_inverse(order_of(values), x, u, work);
    case SVMP_SUPPORT_ORDERED:
        for (size_t k = 0; k < values; k++) {
            inside = inside && (k == 0 || x[k] > x[k - 1]);
            u[k] = k > 0 ? log(x[k] - x[k - 1]) : x[k];
        }
        return inside;
    default: memcpy(u, x, values * sizeof *u); return true;
    }
}

void svmp_support_pull(const node_support *support, const double *u, const double *x, const double *by_values,
                       double *by_variables, double *work) {
    const size_t values = support->values;
    double ignored[2];
    switch (support->kind) {
    case SVMP_SUPPORT_BOUNDED:
        for (size_t k = 0; k < values; k++) {
            bounded_slope(support->lower[k], support->upper[k], u[k], &by_variables[k], &ignored[0], &ignored[1]);
            by_variables[k] *= by_values[k];
        }
        return;
    case SVMP_SUPPORT_SIMPLEX: simplex_pull(values, u, x, by_values, by_variables); return;
    case SVMP_SUPPORT_CORRELATION: correlation_pull(order_of(values), u, by_values, by_variables, work); return;
    case SVMP_SUPPORT_ORDERED: ordered_pull(values, u, by_values, by_variables); return;
    default: memcpy(by_variables, by_values, values * sizeof *by_values);
    }
}

double svmp_support_jacobian(const node_support *support, const double *u, double *gradient) {
    const size_t values = support->values;
    double sum = 0, slope, one;
    switch (support->kind) {
    case SVMP_SUPPORT_SIMPLEX: return simplex_jacobian(values, u, gradient);
    case SVMP_SUPPORT_CORRELATION: return correlation_jacobian(order_of(values), u, gradient);
    case SVMP_SUPPORT_BOUNDED:
        for (size_t k = 0; k < values; k++) {
            bounded_slope(support->lower[k], support->upper[k], u[k], &slope, &one, &gradient[k]);
            sum += one;
        }
        return sum;
    case SVMP_SUPPORT_ORDERED:
        for (size_t k = 0; k < values; k++) {
            gradient[k] = k > 0;
            sum += k > 0 ? u[k] : 0;
        }
        return sum;
    default: memset(gradient, 0, values * sizeof *gradient); return 0;
    }
}
