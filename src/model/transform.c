#include "model/transform.h"

#include <float.h>
#include <math.h>

/* The order of a matrix of `outputs` entries. */
static size_t order_of(size_t outputs) {
    size_t order = 0;
    while (order * order < outputs) order++;
    return order;
}

size_t svmp_transform_variables(transform_kind kind, size_t outputs) {
    size_t order = order_of(outputs);
    switch (kind) {
    case TRANSFORM_ZERO_SUM:
    case TRANSFORM_SIMPLEX: return outputs - 1;
    case TRANSFORM_POSITIVE_DEFINITE: return order * (order + 1) / 2;
    default: return outputs;
    }
}

static double ilogit(double u) { return 1 / (1 + exp(-u)); }
static double log_ilogit(double u) { return (u < 0 ? u : 0) - log1p(exp(-fabs(u))); }

/* ---- numbers -------------------------------------------------------------------------------- */

static void simplex_natural(size_t outputs, const double *variables, double *values) {
    double log_rest = 0;
    for (size_t k = 0; k + 1 < outputs; k++) {
        double v = variables[k] - log((double)(outputs - 1 - k));
        values[k] = exp(log_rest + log_ilogit(v));
        log_rest += log_ilogit(-v);
    }
    values[outputs - 1] = exp(log_rest);
}

static void simplex_inverse(size_t outputs, const double *values, double *variables) {
    double rest = 0; /* what is left from k on, summed from the end: no cancellation */
    for (size_t k = outputs; k-- > 0;) {
        double value = values[k] > DBL_MIN ? values[k] : DBL_MIN;
        if (k + 1 < outputs) variables[k] = log(value / rest) + log((double)(outputs - 1 - k));
        rest += value;
    }
}

/* Entry (i, j), i >= j, of a lower triangle stored by columns. */
static size_t triangle(size_t order, size_t i, size_t j) { return j * order - j * (j + 1) / 2 + i; }

static void matrix_natural(size_t order, const double *variables, double *values) {
    for (size_t j = 0; j < order; j++)
        for (size_t i = j; i < order; i++) {
            double sum = 0; /* row i of L times row j */
            for (size_t k = 0; k <= j; k++) {
                double left = variables[triangle(order, i, k)], right = variables[triangle(order, j, k)];
                sum += (i == k ? exp(left) : left) * (j == k ? exp(right) : right);
            }
            values[i + order * j] = values[j + order * i] = sum;
        }
}

static bool matrix_inverse(size_t order, const double *values, double *variables) {
    for (size_t j = 0; j < order; j++) { /* Cholesky by columns; the diagonal of L is kept as its logarithm */
        for (size_t i = j; i < order; i++) {
            double rest = values[i + order * j];
            for (size_t k = 0; k < j; k++) rest -= variables[triangle(order, i, k)] * variables[triangle(order, j, k)];
            if (i == j) {
                if (!(rest > 0)) return false;
                variables[triangle(order, j, j)] = 0.5 * log(rest);
            } else {
                variables[triangle(order, i, j)] = rest / exp(variables[triangle(order, j, j)]);
            }
        }
    }
    return true;
}

/* The middle of each range is that of no other: it numbers the variable. */
size_t svmp_transform_zero_sum(size_t outputs, size_t k, uint32_t *variable, double *weight) {
    size_t from = 0, to = outputs, count = 0;
    while (to - from > 1) {
        const size_t middle = from + (to - from + 1) / 2;
        const double p = (double)(middle - from), q = (double)(to - middle);
        variable[count] = (uint32_t)middle - 1;
        weight[count++] = k < middle ? sqrt(q / (p * (p + q))) : -sqrt(p / (q * (p + q)));
        *(k < middle ? &to : &from) = middle;
    }
    return count;
}

static void zero_sum_natural(size_t outputs, const double *variables, double *values) {
    uint32_t variable[TRANSFORM_MOST_TERMS];
    double weight[TRANSFORM_MOST_TERMS];
    for (size_t k = 0; k < outputs; k++) {
        const size_t terms = svmp_transform_zero_sum(outputs, k, variable, weight);
        values[k] = 0;
        for (size_t t = 0; t < terms; t++) values[k] += weight[t] * variables[variable[t]];
    }
}

/* The basis is orthonormal: what does not sum to 0 is projected. */
static void zero_sum_inverse(size_t outputs, const double *values, double *variables) {
    uint32_t variable[TRANSFORM_MOST_TERMS];
    double weight[TRANSFORM_MOST_TERMS];
    for (size_t k = 0; k + 1 < outputs; k++) variables[k] = 0;
    for (size_t k = 0; k < outputs; k++) {
        const size_t terms = svmp_transform_zero_sum(outputs, k, variable, weight);
        for (size_t t = 0; t < terms; t++) variables[variable[t]] += weight[t] * values[k];
    }
}

static transform_kind kind_between(bool below, bool above) {
    return below && above ? TRANSFORM_BETWEEN : below ? TRANSFORM_ABOVE : above ? TRANSFORM_BELOW : TRANSFORM_LINE;
}

static transform_kind kind_of_one(transform_kind kind, double lower, double upper) {
    return kind == TRANSFORM_MIXED ? kind_between(lower > -INFINITY, upper < INFINITY) : kind;
}

static double natural(transform_kind kind, double lower, double upper, double u) {
    switch (kind_of_one(kind, lower, upper)) {
    case TRANSFORM_ABOVE: return lower + exp(u);
    case TRANSFORM_BELOW: return upper - exp(u);
    case TRANSFORM_BETWEEN: return lower + (upper - lower) * ilogit(u);
    default: return u;
    }
}

static double inverse(transform_kind kind, double lower, double upper, double x) {
    switch (kind_of_one(kind, lower, upper)) {
    case TRANSFORM_ABOVE: return log(fmax(x - lower, DBL_MIN));
    case TRANSFORM_BELOW: return log(fmax(upper - x, DBL_MIN));
    case TRANSFORM_BETWEEN: {
        double least = DBL_EPSILON * (upper - lower);
        return log(fmax(x - lower, least) / fmax(upper - x, least));
    }
    default: return x;
    }
}

void svmp_transform_natural(transform_kind kind, size_t outputs, const double *lower, const double *upper,
                            const double *variables, double *values) {
    if (kind == TRANSFORM_SIMPLEX) {
        simplex_natural(outputs, variables, values);
    } else if (kind == TRANSFORM_POSITIVE_DEFINITE) {
        matrix_natural(order_of(outputs), variables, values);
    } else if (kind == TRANSFORM_ZERO_SUM) {
        zero_sum_natural(outputs, variables, values);
    } else {
        for (size_t k = 0; k < outputs; k++) values[k] = natural(kind, lower[k], upper[k], variables[k]);
    }
}

bool svmp_transform_inverse(transform_kind kind, size_t outputs, const double *lower, const double *upper,
                            const double *values, double *variables) {
    if (kind == TRANSFORM_POSITIVE_DEFINITE) return matrix_inverse(order_of(outputs), values, variables);
    if (kind == TRANSFORM_SIMPLEX) {
        simplex_inverse(outputs, values, variables);
    } else if (kind == TRANSFORM_ZERO_SUM) {
        zero_sum_inverse(outputs, values, variables);
    } else {
        for (size_t k = 0; k < outputs; k++) variables[k] = inverse(kind, lower[k], upper[k], values[k]);
    }
    return true;
}

/* Files have six digits at least. */
static const double rounding = 1e-5;

static bool sums_to(size_t outputs, const double *values, double to) {
    double sum = -to, size = to;
    for (size_t k = 0; k < outputs; k++) sum += values[k], size += fabs(values[k]);
    return fabs(sum) <= rounding * size;
}

static bool is_symmetric(size_t order, const double *values) {
    for (size_t i = 0; i < order; i++)
        for (size_t j = 0; j < i; j++) {
            const double one = values[i + order * j], other = values[j + order * i];
            const double size = sqrt(fabs(values[i + order * i] * values[j + order * j]));
            if (fabs(one - other) > rounding * size) return false;
        }
    return true;
}

static bool is_outside(double lower, double upper, double value) {
    const double workspace = rounding * fabs(value);
    return value < lower - workspace - rounding * fabs(lower) || value > upper + workspace + rounding * fabs(upper);
}

size_t svmp_transform_outside(transform_kind kind, size_t outputs, const double *lower, const double *upper,
                              const double *values) {
    const size_t last = outputs - 1;
    if (kind == TRANSFORM_LINE) return outputs;
    if (kind == TRANSFORM_POSITIVE_DEFINITE) return is_symmetric(order_of(outputs), values) ? outputs : last;
    if (kind == TRANSFORM_ZERO_SUM) return sums_to(outputs, values, 0) ? outputs : last;
    for (size_t k = 0; k < outputs; k++) {
        const int simplex = kind == TRANSFORM_SIMPLEX;
        const double from = simplex ? 0 : lower[k], to = simplex ? 1 : upper[k];
        if (is_outside(from, to, values[k])) return k;
    }
    return kind == TRANSFORM_SIMPLEX && !sums_to(outputs, values, 1) ? last : outputs;
}

/* ---- expressions ---------------------------------------------------------------------------- */

static bool is_infinite(const program_builder *b, expr bound) {
    double number;
    return svmp_expr_is_literal(b, bound, &number) && isinf(number);
}

static expr build_one(program_builder *b, transform_kind kind, expr lower, expr upper, expr u, expr *value) {
    if (kind == TRANSFORM_MIXED) kind = kind_between(!is_infinite(b, lower), !is_infinite(b, upper));
    switch (kind) {
    case TRANSFORM_ABOVE: *value = svmp_expr_add(b, lower, svmp_expr_exp(b, u)); return u;
    case TRANSFORM_BELOW: *value = svmp_expr_subtract(b, upper, svmp_expr_exp(b, u)); return u;
    case TRANSFORM_BETWEEN: {
        expr width = svmp_expr_subtract(b, upper, lower);
        *value = svmp_expr_add(b, lower, svmp_expr_multiply(b, width, svmp_expr_ilogit(b, u)));
        expr both = svmp_expr_add(b, svmp_expr_log_ilogit(b, u), svmp_expr_log_ilogit(b, svmp_expr_negate(b, u)));
        if (svmp_expr_level(b, width) == LEVEL_INPUT) both = svmp_expr_add(b, both, svmp_expr_require(b, width));
        return svmp_expr_add(b, svmp_expr_log(b, width), both);
    }
    default: *value = u; return svmp_expr_literal(b, 0);
    }
}

static expr build_simplex(program_builder *b, size_t outputs, const expr *variables, expr *values) {
    expr log_rest = svmp_expr_literal(b, 0), jacobian = log_rest;
    for (size_t k = 0; k + 1 < outputs; k++) {
        expr v = svmp_expr_subtract(b, variables[k], svmp_expr_literal(b, log((double)(outputs - 1 - k))));
        expr log_z = svmp_expr_log_ilogit(b, v), log_other = svmp_expr_log_ilogit(b, svmp_expr_negate(b, v));
        expr log_value = svmp_expr_add(b, log_rest, log_z);
        values[k] = svmp_expr_exp(b, log_value);
        jacobian = svmp_expr_add(b, jacobian, svmp_expr_add(b, log_value, log_other));
        log_rest = svmp_expr_add(b, log_rest, log_other);
    }
    values[outputs - 1] = svmp_expr_exp(b, log_rest);
    return jacobian;
}

/* dX = 2^p prod_i L_ii^(p - i + 1) dL, and dL_ii = L_ii du_ii, i counting from 1. */
static expr build_matrix(program_builder *b, size_t order, const expr *variables, expr *values) {
    expr jacobian = svmp_expr_literal(b, (double)order * log(2));
    for (size_t j = 0; j < order; j++) {
        expr power = svmp_expr_literal(b, (double)(order - j + 1));
        jacobian = svmp_expr_add(b, jacobian, svmp_expr_multiply(b, power, variables[triangle(order, j, j)]));
        for (size_t i = j; i < order; i++) {
            expr sum = svmp_expr_literal(b, 0);
            for (size_t k = 0; k <= j; k++) {
                expr left = variables[triangle(order, i, k)], right = variables[triangle(order, j, k)];
                if (i == k) left = svmp_expr_exp(b, left);
                if (j == k) right = svmp_expr_exp(b, right);
                sum = svmp_expr_add(b, sum, svmp_expr_multiply(b, left, right));
            }
            values[i + order * j] = values[j + order * i] = sum;
        }
    }
    return jacobian;
}

static expr build_zero_sum(program_builder *b, size_t outputs, const expr *variables, expr *values) {
    uint32_t variable[TRANSFORM_MOST_TERMS];
    double weight[TRANSFORM_MOST_TERMS];
    for (size_t k = 0; k < outputs; k++) {
        const size_t terms = svmp_transform_zero_sum(outputs, k, variable, weight);
        values[k] = svmp_expr_literal(b, 0);
        for (size_t t = 0; t < terms; t++) {
            expr term = svmp_expr_multiply(b, svmp_expr_literal(b, weight[t]), variables[variable[t]]);
            values[k] = svmp_expr_add(b, values[k], term);
        }
    }
    return svmp_expr_literal(b, 0);
}

expr svmp_transform_build(program_builder *builder, transform_kind kind, size_t outputs, const expr *lower,
                          const expr *upper, const expr *variables, expr *values) {
    if (kind == TRANSFORM_SIMPLEX) return build_simplex(builder, outputs, variables, values);
    if (kind == TRANSFORM_ZERO_SUM) return build_zero_sum(builder, outputs, variables, values);
    if (kind == TRANSFORM_POSITIVE_DEFINITE) return build_matrix(builder, order_of(outputs), variables, values);
    expr jacobian = svmp_expr_literal(builder, 0);
    for (size_t k = 0; k < outputs; k++) {
        expr none = variables[k];
        expr one = build_one(builder, kind, lower ? lower[k] : none, upper ? upper[k] : none, variables[k], &values[k]);
        jacobian = svmp_expr_add(builder, jacobian, one);
    }
    return jacobian;
}
