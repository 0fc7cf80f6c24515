/* With A = L L', M = L^-1 and W = A^-1 = M' M, the log density and its derivatives are
 *
 *     covariance A:  u = M d,  a = W d,   -log |L| - u'u / 2 - p log(2 pi) / 2,   by d: -a,   by A: (a a' - W) / 2
 *     precision A:   a = A d,              log |L| - d'a / 2 - p log(2 pi) / 2,   by d: -a,   by A: (W - d d') / 2.
 *
 * L is stored row by row, M column by column, each from its diagonal on, so that all sums run over numbers that stand
 * side by side. Four of them are computed at once, which reads the numbers that they have in common once. */
#include "maths/dense_normal.h"

#include <math.h>
#include <string.h>

#include "base/target_clones.h"

typedef double eight __attribute__((vector_size(DENSE_LANES * sizeof(double)), aligned(8), may_alias));

static const double half_log_two_pi = 0.91893853320467274178;

static inline size_t triangle(size_t i) { return i * (i + 1) / 2; }

/* Of row k, or of column k of the transposed triangle, the place of its first number. */
static inline size_t column_start(size_t p, size_t j) { return j * p - triangle(j) + j; }

size_t svmp_dense_normal_workspace(size_t p) { return (2 * triangle(p) + 2 * p) * DENSE_LANES; }

/* from[r] less the products of `common` and rows[r], for four rows. */
static inline void subtract_products(size_t n, const eight *common, const eight *const rows[4], eight from[4]) {
    eight a = from[0], b = from[1], c = from[2], d = from[3];
    for (size_t k = 0; k < n; k++) {
        const eight x = common[k];
        a -= x * rows[0][k];
        b -= x * rows[1][k];
        c -= x * rows[2][k];
        d -= x * rows[3][k];
    }
    from[0] = a;
    from[1] = b;
    from[2] = c;
    from[3] = d;
}

/* Rows i, i + 1, ... i + 3 of L, of which some may lie behind the last one: these repeat row p - 1. */
SVMP_WIDE_CLONES static void factorise(size_t p, const eight *A, eight *L) {
    for (size_t i = 0; i < p; i += 4) {
        const size_t count = p - i < 4 ? p - i : 4;
        eight *row[4];
        for (size_t r = 0; r < 4; r++) row[r] = L + triangle(r < count ? i + r : p - 1);
        for (size_t j = 0; j < i; j++) {
            const eight *const before[4] = {row[0], row[1], row[2], row[3]};
            eight sum[4];
            for (size_t r = 0; r < 4; r++) sum[r] = A[triangle(r < count ? i + r : p - 1) + j];
            subtract_products(j, L + triangle(j), before, sum);
            for (size_t r = 0; r < count; r++) row[r][j] = sum[r] / L[triangle(j) + j];
        }
        for (size_t r = 0; r < count; r++)
            for (size_t j = i; j <= i + r; j++) {
                eight sum = A[triangle(i + r) + j];
                for (size_t k = 0; k < j; k++) sum -= row[r][k] * L[triangle(j) + k];
                if (j < i + r) {
                    row[r][j] = sum / L[triangle(j) + j];
                    continue;
                }
                for (size_t l = 0; l < DENSE_LANES; l++) row[r][j][l] = sqrt(sum[l]);
            }
    }
}

/* Columns j, ... j + 3 of M: M_ij = -sum_(j <= k < i) L_ik M_kj / L_ii. */
SVMP_WIDE_CLONES static void invert(size_t p, const eight *L, eight *M) {
    for (size_t j = 0; j < p; j += 4) {
        const size_t count = p - j < 4 ? p - j : 4;
        eight *column[4];
        for (size_t r = 0; r < 4; r++) {
            const size_t at = r < count ? j + r : p - 1;
            column[r] = M + column_start(p, at) - at; /* column[r][i], i >= at */
        }
        for (size_t i = j; i < p; i++) {
            const eight *row = L + triangle(i), pivot = row[i];
            if (i < j + count) {
                for (size_t r = 0; j + r <= i; r++) {
                    eight sum = {0};
                    if (j + r == i) sum += 1;
                    for (size_t k = j + r; k < i; k++) sum -= row[k] * column[r][k];
                    column[r][i] = sum / pivot;
                }
                continue;
            }
            const size_t shared = j + count - 1; /* from here on all columns have numbers */
            const eight *const before[4] = {column[0] + shared, column[1] + shared, column[2] + shared,
                                            column[3] + shared};
            eight sum[4] = {{0}, {0}, {0}, {0}};
            for (size_t r = 0; r < count; r++)
                for (size_t k = j + r; k < shared; k++) sum[r] -= row[k] * column[r][k];
            subtract_products(i - shared, row + shared, before, sum);
            for (size_t r = 0; r < count; r++) column[r][i] = sum[r] / pivot;
        }
    }
}

/* -W, in the places of the triangle: W_ij = sum_(k >= i) M_ki M_kj. */
SVMP_WIDE_CLONES static void multiply(size_t p, const eight *M, eight *minus) {
    for (size_t i = 0; i < p; i++) {
        const eight *own = M + column_start(p, i);
        for (size_t j = 0; j <= i; j += 4) {
            const size_t count = i + 1 - j < 4 ? i + 1 - j : 4;
            const eight *other[4];
            eight sum[4] = {{0}, {0}, {0}, {0}};
            for (size_t r = 0; r < 4; r++) {
                const size_t at = r < count ? j + r : i;
                other[r] = M + column_start(p, at) + (i - at);
            }
            subtract_products(p - i, own, (const eight *const[4]){other[0], other[1], other[2], other[3]}, sum);
            for (size_t r = 0; r < count; r++) minus[triangle(i) + j + r] = sum[r];
        }
    }
}

/* L u = d */
SVMP_WIDE_CLONES static void solve(size_t p, const eight *L, const eight *d, eight *u) {
    for (size_t i = 0; i < p; i++) {
        const eight *row = L + triangle(i);
        eight sum = d[i];
        for (size_t k = 0; k < i; k++) sum -= row[k] * u[k];
        u[i] = sum / row[i];
    }
}

/* L' a = u */
SVMP_WIDE_CLONES static void solve_transposed(size_t p, const eight *L, const eight *u, eight *a) {
    memcpy(a, u, p * sizeof *u);
    for (size_t i = p; i-- > 0;) {
        const eight *row = L + triangle(i);
        a[i] /= row[i];
        for (size_t k = 0; k < i; k++) a[k] -= row[k] * a[i];
    }
}

SVMP_WIDE_CLONES static void multiply_symmetric(size_t p, const eight *A, const eight *d, eight *a) {
    memset(a, 0, p * sizeof *a);
    for (size_t i = 0; i < p; i++) {
        const eight *row = A + triangle(i);
        for (size_t k = 0; k < i; k++) {
            a[i] += row[k] * d[k];
            a[k] += row[k] * d[i];
        }
        a[i] += row[i] * d[i];
    }
}

/* by[ij] = sign (v_i v_j - W_ij), half of it on the diagonal; there it holds -W. */
SVMP_WIDE_CLONES static void derive(size_t p, double sign, const eight *v, eight *by) {
    for (size_t i = 0; i < p; i++) {
        eight *row = by + triangle(i);
        for (size_t j = 0; j <= i; j++) row[j] = sign * (j < i ? 1 : 0.5) * (v[i] * v[j] + row[j]);
    }
}

void svmp_dense_normal(size_t p, bool precision, const double *d, const double *A, double *workspace, double *value,
                       double *slope) {
    eight *L = (eight *)workspace, *M = L + triangle(p), *u = M + triangle(p), *a = u + p;
    const eight *x = (const eight *)d;
    factorise(p, (const eight *)A, L);
    if (precision)
        multiply_symmetric(p, (const eight *)A, x, a);
    else
        solve(p, L, x, u);
    for (size_t l = 0; l < DENSE_LANES; l++) {
        double half_log_determinant = 0, square = 0;
        for (size_t i = 0; i < p; i++) {
            half_log_determinant += log(L[triangle(i) + i][l]);
            square += precision ? x[i][l] * a[i][l] : u[i][l] * u[i][l];
        }
        value[l] =
            (precision ? half_log_determinant : -half_log_determinant) - 0.5 * square - (double)p * half_log_two_pi;
    }
    if (slope == NULL) return;
    eight *by_d = (eight *)slope, *by_A = by_d + p;
    if (!precision) solve_transposed(p, L, u, a);
    for (size_t i = 0; i < p; i++) by_d[i] = -a[i];
    invert(p, L, M);
    multiply(p, M, by_A);
    derive(p, precision ? -1 : 1, precision ? x : a, by_A);
}
