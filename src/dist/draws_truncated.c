/* Draws between bounds: by rejection or, if few draws would be accepted, by inverting the distribution function.
 *
 * With u uniform, x solves P(low < X <= x) = u P(low < X <= high). In the left half, where F is the distribution
 * function, that is
 *     log F(x) = log F(low) + log(1 - u + u F(high)/F(low)),
 * and in the right half the same holds for the survival function S: neither tail loses digits. */
#include <math.h>

#include "dist/distributions.h"
#include "dist/formula_words.h"

typedef struct tail {
    program_builder *builder;
    const distribution *family;
    const number_array *arguments;
    bool right; /* S, which falls, instead of F */
    svmp_status status;
} tail;

static double evaluate(tail *t, bool right, double x) {
    program_builder *b = t->builder;
    expr items[DISTRIBUTION_ARGUMENTS];
    expr_array arguments[DISTRIBUTION_ARGUMENTS];
    double value = NAN;
    svmp_builder_reset(b);
    for (size_t k = 0; k < t->family->arguments; k++) {
        items[k] = NUMBER(t->arguments[k].items[0]);
        arguments[k] = (expr_array){1, 1, &items[k]};
    }
    expr lower, upper;
    svmp_distribution_bounds(b, t->family, arguments, NULL, &lower, &upper);
    double least = -INFINITY, greatest = INFINITY;
    svmp_expr_is_literal(b, lower, &least);
    svmp_expr_is_literal(b, upper, &greatest);
    if (x < least) return right ? 0 : -INFINITY;
    if (x >= greatest) return right ? -INFINITY : 0;
    expr found = (right ? t->family->log_survival : t->family->log_cdf)(b, NUMBER(x), arguments);
    svmp_expr_is_literal(b, found, &value);
    if (t->status == SVMP_OK) t->status = svmp_builder_status(b);
    return value;
}

/* Whether x is at or beyond the point where the log of the tail is `target`. */
static bool is_reached(tail *t, double x, double target) {
    const double value = evaluate(t, t->right, x);
    return t->right ? value <= target : value >= target;
}

/* log(a (1 - u) + b u) from log a and log b. */
static double mix(double a, double b, double u) {
    const double left = a + log1p(-u), right = b + log(u), most = fmax(left, right);
    return isinf(most) ? most : most + log(exp(left - most) + exp(right - most));
}

/* A finite end of the search on an open side: at growing distances from the other bound, or from 0. */
static double open_end(tail *t, double from, double sign, double target) {
    const double begin = isfinite(from) ? from : 0;
    for (double step = 1e-3 * (1 + fabs(begin)); isfinite(begin + sign * step); step *= 2)
        if (is_reached(t, begin + sign * step, target) == (sign > 0))
            return t->family->discrete ? sign * ceil(sign * begin + step) : begin + sign * step;
    return sign * INFINITY;
}

/* The smallest number in (low, high] at which the target is reached; for discrete distributions the smallest such
 * integer. */
static double solve(tail *t, double low, double high, double target) {
    const bool discrete = t->family->discrete;
    for (;;) {
        double middle = low + (high - low) / 2;
        if (discrete) middle = floor(middle);
        if (!(middle > low && middle < high)) return high;
        *(is_reached(t, middle, target) ? &high : &low) = middle;
    }
}

static bool invert(tail *t, double lower, double upper, double u, double *value) {
    if (t->family->discrete) {
        lower = ceil(lower) - 1; /* the largest integer that is excluded */
        upper = floor(upper);
    }
    t->right = evaluate(t, true, lower) < evaluate(t, false, lower);
    const double from = isinf(lower) ? (t->right ? 0 : -INFINITY) : evaluate(t, t->right, lower);
    const double to = isinf(upper) ? (t->right ? -INFINITY : 0) : evaluate(t, t->right, upper);
    const double target = mix(from, to, u);
    if (isnan(target) || isinf(target) || from == to) return false;
    const double low = isinf(lower) ? open_end(t, upper, -1, target) : lower;
    const double high = isinf(upper) ? open_end(t, low, 1, target) : upper;
    if (!isfinite(low) || !isfinite(high)) return false;
    *value = solve(t, low, high, target);
    return true;
}

svmp_status svmp_distribution_draw_truncated(svmp_context *context, const distribution *family, random_source source,
                                             const number_array *arguments, double lower, double upper, bool *drawn,
                                             double *value) {
    enum { TRIES = 100 }; /* about the cost of inverting */
    tail t = {.family = family, .arguments = arguments};
    double x = 0, workspace[2];
    *drawn = false;
    for (int k = 0; k < TRIES && !*drawn && !isnan(x); k++) {
        family->draw(&source, 1, arguments, workspace, &x);
        *drawn = x >= lower && x <= upper;
        if (*drawn) *value = x;
    }
    if (*drawn || family->log_cdf == NULL || isnan(x) || isnan(lower) || isnan(upper)) return SVMP_OK;
    SVMP_TRY(svmp_builder_create(context, &t.builder));
    *drawn = invert(&t, lower, upper, svmp_random_uniform(source.stream, 4 * source.used), value);
    svmp_builder_free(t.builder);
    return t.status;
}
