/* The distributions of the model language, one row each in distributions.def: log density in JAGS' parameterisation,
 * support, distribution function for T(,), and a function that draws. */
#ifndef SVMP_DIST_DISTRIBUTIONS_H
#define SVMP_DIST_DISTRIBUTIONS_H

#include "base/random.h"
#include "dist/stratified_draws.h"
#include "expr/program.h"

enum { DISTRIBUTION_ARGUMENTS = 7 };
#define DISTRIBUTION_LARGEST_URN 0x1p26 /* dhyper: n1 and n2 are below it */

/* A scalar, vector or matrix of expressions: column-major, scalars are 1*1, vectors rows*1. The items are borrowed. */
typedef struct expr_array {
    size_t rows, columns;
    const expr *items;
} expr_array;

/* The same, of numbers. */
typedef struct number_array {
    size_t rows, columns;
    const double *items;
} number_array;

/* A stream that is read number by number, for algorithms that do not know in advance how many they need. */
typedef struct random_source {
    random_stream stream;
    uint64_t used;

    /* If `strata` is set, this is one of many sources whose kth numbers are stratified. places[k] is its position in
     * the order of the kth numbers; later numbers use the last position. Over all sources, means and variances have
     * less noise. */
    strata strata;
    const uint64_t *places;
    size_t place_count;
} random_source;

typedef enum distribution_rank { RANK_SCALAR, RANK_VECTOR, RANK_MATRIX } distribution_rank;

/* Where an argument must lie. */
typedef enum argument_domain {
    DOMAIN_REAL,
    DOMAIN_POSITIVE,    /* > 0, every item */
    DOMAIN_NONNEGATIVE, /* >= 0, every item (dcat, dmulti: weights) */
    DOMAIN_PROBABILITY, /* 0 <= p <= 1 */
    DOMAIN_COUNT,       /* 0, 1, 2 ... */
    DOMAIN_FIXED,       /* vectors of numbers and of integers that must be data, because the expression depends on them
                           (car.normal) */
    DOMAIN_FIXED_COUNT,
    DOMAIN_POSITIVE_DEFINITE,
    DOMAIN_ASCENDING /* a vector, strictly ascending (dinterval: cut points) */
} argument_domain;

static inline bool svmp_domain_is_fixed(argument_domain domain) {
    return domain == DOMAIN_FIXED || domain == DOMAIN_FIXED_COUNT;
}

typedef struct distribution_argument {
    const char *name;
    distribution_rank rank;
    argument_domain domain;
} distribution_argument;

/* The support. Discrete ones consist of integers. Unknowns with a support up to SUPPORT_POSITIVE_DEFINITE can be
 * transformed to the whole line; svmp_distribution_bounds returns the ends of one-dimensional supports. */
typedef enum distribution_support {
    SUPPORT_REAL,
    SUPPORT_POSITIVE,          /* (0, inf) */
    SUPPORT_UNIT,              /* (0, 1) */
    SUPPORT_INTERVAL,          /* between the first two arguments: dunif */
    SUPPORT_ABOVE,             /* above the second argument: dpar */
    SUPPORT_SIMPLEX,           /* a vector of positive numbers that sum to 1 */
    SUPPORT_ZERO_SUM,          /* a vector of numbers that sum to 0: car.normal */
    SUPPORT_POSITIVE_DEFINITE, /* a symmetric matrix */
    SUPPORT_BINARY,            /* 0, 1 */
    SUPPORT_COUNT,             /* 0, 1, 2 ... */
    SUPPORT_COUNT_TO,          /* 0 ... the last argument: dbin, dbetabin */
    SUPPORT_CATEGORY,          /* 1 ... the length of the first argument: dcat */
    SUPPORT_ORDERED,           /* 1 ... one more than the length of the second argument: dordered.logit */
    SUPPORT_COMPOSITION,       /* a vector of counts that sum to the second argument: dmulti */
    SUPPORT_HYPERGEOMETRIC,    /* max(0, m1 - n2) ... min(n1, m1): dhyper */
    SUPPORT_SUM,               /* its argument: dsum */
    SUPPORT_ROUNDED,           /* the first argument, rounded to the number of digits in the second: dround */
    SUPPORT_INTERVAL_INDEX     /* 0 ... the length of the second argument: dinterval */
} distribution_support;

/* An end of a one-dimensional support. */
typedef struct support_end {
    enum {
        END_NUMBER,   /* `number`, which may be infinite */
        END_ARGUMENT, /* argument `which`, counted from the last one if negative */
        END_LENGTH,   /* the length of argument `which`, plus `number` */
        END_FEWEST,   /* max(0, m1 - n2) of dhyper, */
        END_MOST      /* and min(n1, m1) */
    } kind;
    int which;
    double number;
} support_end;

/* By distribution_support. Supports of vectors and matrices have no ends. */
extern const struct support_ends { support_end lower, upper; } svmp_support_ends[];

typedef struct distribution distribution;

struct distribution {
    const char *name;
    size_t arguments;
    distribution_argument argument[DISTRIBUTION_ARGUMENTS];
    distribution_rank rank; /* of the value */
    distribution_support support;
    bool discrete;
    bool proper; /* false: dflat, car.normal */

    /* The log density or log probability of a value inside the support, every normalising term included. */
    expr (*log_density)(program_builder *builder, expr_array value, const expr_array *arguments);

    /* log P(X <= x) and log P(X > x); NULL if the distribution cannot be truncated. */
    expr (*log_cdf)(program_builder *builder, expr x, const expr_array *arguments);
    expr (*log_survival)(program_builder *builder, expr x, const expr_array *arguments);

    /* One draw; see svmp_distribution_draw. NULL if it cannot be drawn from. `workspace`: rows*rows + rows numbers. */
    void (*draw)(random_source *source, size_t rows, const number_array *arguments, double *workspace, double *value);
};

/* A location-scale family: with u = x, or of dlnorm u = log x, (u - mu) / tau^power has a distribution that does not
 * depend on mu and tau, the first two arguments. */
typedef struct location_scale {
    const char *name, *on_the_line; /* on_the_line: the distribution of u, with the same arguments */
    double power;
} location_scale;

/* Returns NULL if the distribution is not of such a family. */
const location_scale *svmp_distribution_location_scale(const distribution *family);

/* For a location-scale family, with p the density of u: d log p / du and -d^2 log p / du^2 at u; and the Fisher
 * information on the location, which is the mean of the latter unless the density has a kink (ddexp). */
double svmp_location_scale_slope(const distribution *family, const double *arguments, double u);
double svmp_location_scale_curvature(const distribution *family, const double *arguments, double u);
double svmp_location_scale_information(const distribution *family, const double *arguments);

/* By its name in the language ("dnorm", "dgen.gamma"), or an alternative name of JAGS ("dbinom"). Returns NULL if the
 * name is not a distribution. */
const distribution *svmp_distribution_find(const char *name);

/* Whether T(,) is allowed. */
bool svmp_distribution_truncatable(const distribution *family);

/* All of them, in the order of distributions.def: for "did you mean", and for tests. */
const distribution *svmp_distribution_table(size_t *count);

/* Whether the ranks and lengths of value and arguments agree with the distribution and with each other; if not, writes
 * a sentence, which does not say where in the model, to `sentence`. */
bool svmp_distribution_shapes_agree(const distribution *family, size_t rows, size_t columns, size_t argument_count,
                                    const expr_array *arguments, char *sentence, size_t size);

/* T(lower, upper); NULL: open on that side. */
typedef struct truncation {
    const expr *lower, *upper;
} truncation;

/* log p(value | arguments), divided by P(lower <= X <= upper) if `truncated` is not NULL. `inside`: the caller
 * guarantees that the value is in the support and between the bounds, because of a transform or because the data were
 * checked. Otherwise the result is -inf outside (with a zero gradient), which costs the comparisons. Where an argument
 * that depends on inputs leaves its domain, both the result and its gradient are NaN. */
expr svmp_distribution_log_density(program_builder *builder, const distribution *family, expr_array value,
                                   const expr_array *arguments, const truncation *truncated, bool inside);

/* 0 if `x` is in the support, whose ends depend on inputs; otherwise NaN, and so is the gradient. It is added to the
 * density of an observed value: where that is impossible, no score could lead back. For scalar distributions. */
expr svmp_distribution_require_value(program_builder *builder, const distribution *family, expr x,
                                     const expr_array *arguments, const truncation *truncated);

/* The ends of a one-dimensional support, as literals (-inf, 0, 1, inf) or expressions in the arguments, narrowed by
 * `truncated` unless that is NULL. Only for scalar distributions. */
void svmp_distribution_bounds(program_builder *builder, const distribution *family, const expr_array *arguments,
                              const truncation *truncated, expr *lower, expr *upper);

/* ---- with numbers ------------------------------------------------------------------------------ */

/* Whether the value is in the support, given the arguments; if not and `sentence` is not NULL, writes why:
 * "-2 is not positive". */
bool svmp_distribution_contains(const distribution *family, number_array value, const number_array *arguments,
                                char *sentence, size_t size);

/* Whether argument `which` lies in its domain; if not and `sentence` is not NULL, writes why: "tau = -1 is not
 * positive". */
bool svmp_distribution_accepts(const distribution *family, size_t which, number_array argument, char *sentence,
                               size_t size);

/* Whether the known arguments (NaN: unknown) are consistent: the degrees of freedom of dwish with the order of its
 * matrix, the ends of dunif; if not and `sentence` is not NULL, writes why. */
bool svmp_distribution_arguments_agree(const distribution *family, size_t order, const number_array *arguments,
                                       char *sentence, size_t size);

/* Draws one value (rows*columns numbers, column-major) from the numbers of `source`, between lower and upper
 * (-INFINITY, INFINITY: open; only for scalars). *drawn is false, and `value` unchanged, if the distribution cannot be
 * drawn from (dflat) or no draw between the bounds was found. */
svmp_status svmp_distribution_draw(svmp_context *context, const distribution *family, random_source source, size_t rows,
                                   size_t columns, const number_array *arguments, double lower, double upper,
                                   bool *drawn, double *value);

/* The same for scalars, also between bounds with little probability: it succeeds whenever the distribution has a
 * distribution function and the probability between the bounds is positive. */
svmp_status svmp_distribution_draw_truncated(svmp_context *context, const distribution *family, random_source source,
                                             const number_array *arguments, double lower, double upper, bool *drawn,
                                             double *value);

#endif
