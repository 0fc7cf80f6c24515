/* The table, and the code shared by all distributions: truncation, bounds, the density outside the support. */
#include "dist/distributions.h"

#include <math.h>
#include <string.h>

#include "dist/densities.h"
#include "dist/formula_words.h"

/* ---- the table ---------------------------------------------------------------------------------- */

#define CDF(identifier)     svmp_##identifier##_cdf, svmp_##identifier##_survival
#define NO_CDF(identifier)  NULL, NULL
#define DRAW(identifier)    svmp_##identifier##_draw
#define NO_DRAW(identifier) NULL
#define CONTINUOUS          false
#define DISCRETE            true
#define PARAMETER(name, rank, domain)                                                                                  \
    { name, RANK_##rank, DOMAIN_##domain }
#define ALIAS(name, other)
#define DISTRIBUTION(identifier, name, count, rank, support, kind, proper, cdf, draw, ...)                             \
    {name,                                                                                                             \
     count,                                                                                                            \
     {__VA_ARGS__},                                                                                                    \
     RANK_##rank,                                                                                                      \
     SUPPORT_##support,                                                                                                \
     kind,                                                                                                             \
     proper,                                                                                                           \
     svmp_##identifier##_density,                                                                                      \
     cdf(identifier),                                                                                                  \
     draw(identifier)},
static const distribution rows[] = {
#include "dist/distributions.def"
};
#undef ALIAS
#undef DISTRIBUTION

static const char *const aliases[][2] = {
#define ALIAS(name, other) {name, other},
#define DISTRIBUTION(identifier, name, count, rank, support, kind, proper, cdf, draw, ...)
#include "dist/distributions.def"
};

const distribution *svmp_distribution_table(size_t *count) {
    *count = sizeof rows / sizeof *rows;
    return rows;
}

const distribution *svmp_distribution_find(const char *name) {
    for (size_t k = 0; k < sizeof aliases / sizeof *aliases; k++)
        if (strcmp(aliases[k][0], name) == 0) name = aliases[k][1];
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (strcmp(rows[k].name, name) == 0) return &rows[k];
    return NULL;
}

/* A distribution without a distribution function can be truncated only where it has no mass to count: dflat. */
bool svmp_distribution_truncatable(const distribution *family) {
    return family->log_cdf != NULL || (!family->proper && family->rank == RANK_SCALAR);
}

/* ---- bounds -------------------------------------------------------------------------------------- */

static bool infinite(const program_builder *b, expr e) {
    double value;
    return svmp_expr_is_literal(b, e, &value) && isinf(value);
}

const struct support_ends svmp_support_ends[] = {
    [SUPPORT_REAL] = {{.number = -INFINITY}, {.number = INFINITY}},
    [SUPPORT_POSITIVE] = {{.number = 0}, {.number = INFINITY}},
    [SUPPORT_UNIT] = {{.number = 0}, {.number = 1}},
    [SUPPORT_INTERVAL] = {{END_ARGUMENT, 0, 0}, {END_ARGUMENT, 1, 0}},
    [SUPPORT_ABOVE] = {{END_ARGUMENT, 1, 0}, {.number = INFINITY}},
    [SUPPORT_SIMPLEX] = {{.number = -INFINITY}, {.number = INFINITY}},
    [SUPPORT_ZERO_SUM] = {{.number = -INFINITY}, {.number = INFINITY}},
    [SUPPORT_POSITIVE_DEFINITE] = {{.number = -INFINITY}, {.number = INFINITY}},
    [SUPPORT_BINARY] = {{.number = 0}, {.number = 1}},
    [SUPPORT_COUNT] = {{.number = 0}, {.number = INFINITY}},
    [SUPPORT_COUNT_TO] = {{.number = 0}, {END_ARGUMENT, -1, 0}},
    [SUPPORT_CATEGORY] = {{.number = 1}, {END_LENGTH, 0, 0}},
    [SUPPORT_ORDERED] = {{.number = 1}, {END_LENGTH, 1, 1}},
    [SUPPORT_COMPOSITION] = {{.number = -INFINITY}, {.number = INFINITY}},
    [SUPPORT_HYPERGEOMETRIC] = {{END_FEWEST, 0, 0}, {END_MOST, 0, 0}},
    [SUPPORT_SUM] = {{.number = -INFINITY}, {.number = INFINITY}},
    [SUPPORT_ROUNDED] = {{.number = -INFINITY}, {.number = INFINITY}},
    [SUPPORT_INTERVAL_INDEX] = {{.number = 0}, {END_LENGTH, 1, 0}},
};

static expr make_end(program_builder *b, const distribution *family, const expr_array *arguments, support_end end) {
    switch (end.kind) {
    case END_ARGUMENT: return ARGUMENT(end.which < 0 ? family->arguments - 1 : (size_t)end.which);
    case END_LENGTH: return NUMBER((double)arguments[end.which].rows + end.number);
    case END_FEWEST: return svmp_expr_max(b, NUMBER(0), SUB(ARGUMENT(2), ARGUMENT(1)));
    case END_MOST: return svmp_expr_min(b, ARGUMENT(0), ARGUMENT(2));
    default: return NUMBER(end.number);
    }
}

static void support_bounds(program_builder *b, const distribution *family, const expr_array *arguments, expr *lower,
                           expr *upper) {
    *lower = make_end(b, family, arguments, svmp_support_ends[family->support].lower);
    *upper = make_end(b, family, arguments, svmp_support_ends[family->support].upper);
}

void svmp_distribution_bounds(program_builder *b, const distribution *family, const expr_array *arguments,
                              const truncation *truncated, expr *lower, expr *upper) {
    support_bounds(b, family, arguments, lower, upper);
    if (truncated && truncated->lower)
        *lower = infinite(b, *lower) ? *truncated->lower : svmp_expr_max(b, *truncated->lower, *lower);
    if (truncated && truncated->upper)
        *upper = infinite(b, *upper) ? *truncated->upper : svmp_expr_min(b, *truncated->upper, *upper);
}

/* ---- truncation ---------------------------------------------------------------------------------- */

/* log P(low < X <= high) from the logs of the distribution function F and of the survival function S:
 *     F(high) - F(low) = S(low) - S(high), the second where `low` is beyond the median: no cancellation in the tails.
 */
static expr log_between(program_builder *b, const distribution *family, expr low, expr high,
                        const expr_array *arguments) {
    expr f_low = family->log_cdf(b, low, arguments), f_high = family->log_cdf(b, high, arguments);
    expr s_low = family->log_survival(b, low, arguments), s_high = family->log_survival(b, high, arguments);
    expr left = ADD(f_high, LOG1M_EXP(SUB(f_high, f_low))), right = ADD(s_low, LOG1M_EXP(SUB(s_low, s_high)));
    return IFELSE(BELOW(s_low, f_low), right, left);
}

/* log P(lower <= X <= upper). A bound outside the support has no effect; a tail without a bound is not evaluated. */
static expr log_mass(program_builder *b, const distribution *family, const truncation *truncated,
                     const expr_array *arguments) {
    if (family->log_cdf == NULL) return NUMBER(0);
    expr least, greatest, low = {0}, high = {0}, zero = NUMBER(0);
    support_bounds(b, family, arguments, &least, &greatest);
    bool from_below = truncated->lower != NULL && !infinite(b, *truncated->lower);
    bool from_above = truncated->upper != NULL && !infinite(b, *truncated->upper);
    if (from_below) {
        low = *truncated->lower; /* for discrete distributions: the largest integer that is excluded */
        if (family->discrete) low = NEG(ADD(svmp_expr_integer_divide(b, NEG(low), NUMBER(1)), NUMBER(1)));
    }
    if (from_above) {
        high = *truncated->upper;
        if (family->discrete) high = svmp_expr_integer_divide(b, high, NUMBER(1));
    }
    expr below = zero, above = zero, both = zero;
    if (from_below) below = family->log_survival(b, low, arguments);
    if (from_above) above = family->log_cdf(b, high, arguments);
    if (from_below && from_above) both = log_between(b, family, low, high, arguments);
    expr cuts_below = NUMBER(from_below), cuts_above = NUMBER(from_above);
    if (from_below && !infinite(b, least))
        cuts_below = family->discrete ? svmp_expr_greater_equal(b, low, least) : BELOW(least, low);
    if (from_above && !infinite(b, greatest)) cuts_above = BELOW(high, greatest);
    return IFELSE(cuts_below, IFELSE(cuts_above, both, below), IFELSE(cuts_above, above, zero));
}

/* ---- arguments outside their domains --------------------------------------------------------------- */

/* 0 where `e` is nonnegative, NaN elsewhere; nothing for literals, which have been checked already. */
static expr require(program_builder *b, expr sum, expr e) {
    return svmp_expr_level(b, e) == LEVEL_INPUT ? ADD(sum, svmp_expr_require(b, e)) : sum;
}

static expr require_domain(program_builder *b, argument_domain domain, expr sum, expr item) {
    const double slack = 1e-9; /* accepts a probability that exceeds 1 by rounding errors */
    switch (domain) {
    case DOMAIN_POSITIVE:
    case DOMAIN_NONNEGATIVE:
    case DOMAIN_COUNT: return require(b, sum, item);
    case DOMAIN_PROBABILITY:
        if (svmp_expr_range(b, item) == RANGE_UNIT) return sum;
        return require(b, require(b, sum, item), SUB(NUMBER(1 + slack), item));
    default: return sum; /* a matrix that is not positive definite yields NaN in its Cholesky factor */
    }
}

/* 0, or NaN where an argument that depends on unknowns leaves its domain, because the formula alone may have a value
 * there. */
static expr require_domains(program_builder *b, const distribution *family, size_t order, const expr_array *arguments,
                            const truncation *truncated) {
    expr sum = NUMBER(0);
    for (size_t k = 0; k < family->arguments; k++)
        for (size_t i = 0; i < arguments[k].rows * arguments[k].columns; i++)
            sum = require_domain(b, family->argument[k].domain, sum, arguments[k].items[i]);
    if (family->support == SUPPORT_POSITIVE_DEFINITE && family->argument[0].rank == RANK_MATRIX) /* dwish */
        sum = require(b, sum, SUB(ARGUMENT(1), NUMBER((double)order - 1)));
    if (family->support == SUPPORT_INTERVAL) sum = require(b, sum, SUB(ARGUMENT(1), ARGUMENT(0)));
    if (truncated && truncated->lower && truncated->upper)
        sum = require(b, sum, SUB(*truncated->upper, *truncated->lower));
    return sum;
}

expr svmp_distribution_require_value(program_builder *b, const distribution *family, expr x,
                                     const expr_array *arguments, const truncation *truncated) {
    expr lower, upper, sum = NUMBER(0);
    svmp_distribution_bounds(b, family, arguments, truncated, &lower, &upper);
    if (!infinite(b, lower)) sum = require(b, sum, SUB(x, lower));
    if (!infinite(b, upper)) sum = require(b, sum, SUB(upper, x));
    return sum;
}

expr svmp_distribution_log_density(program_builder *b, const distribution *family, expr_array value,
                                   const expr_array *arguments, const truncation *truncated, bool inside) {
    expr density = family->log_density(b, value, arguments);
    density = ADD(density, require_domains(b, family, value.rows, arguments, truncated));
    if (truncated && (truncated->lower || truncated->upper)) {
        if (!svmp_distribution_truncatable(family))
            svmp_builder_fail(b, SVMP_BAD_CALL, "This distribution cannot be truncated.");
        else
            density = SUB(density, log_mass(b, family, truncated, arguments));
    }
    if (inside || family->rank != RANK_SCALAR) return density;
    expr lower, upper, x = value.items[0], within = NUMBER(1);
    svmp_distribution_bounds(b, family, arguments, truncated, &lower, &upper);
    if (!infinite(b, lower)) within = svmp_expr_greater_equal(b, x, lower);
    if (!infinite(b, upper)) {
        expr below = svmp_expr_less_equal(b, x, upper);
        within = infinite(b, lower) ? below : svmp_expr_and(b, within, below);
    }
    return IFELSE(within, density, NUMBER(-INFINITY));
}
