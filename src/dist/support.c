/* Checks whether numbers and shapes are valid for a distribution, with a message if not. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dist/densities.h"
#include "dist/map_neighbours.h"

/* Writes the sentence unless the buffer is NULL; always returns false, so that a refusal is one line. */
static bool refuse(char *sentence, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool refuse(char *sentence, size_t size, const char *format, ...) {
    if (sentence != NULL && size > 0) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(sentence, size, format, arguments);
        va_end(arguments);
    }
    return false;
}

static bool whole(double x) { return x == floor(x) && isfinite(x); }

/* Checks for symmetry up to rounding, a positive diagonal and, up to 32 rows, a Cholesky factor. Larger matrices, whose
 * check would need memory, yield NaN when the run factors them. */
static bool positive_definite(size_t order, const double *a) {
    enum { LARGEST = 32 };
    double factor[LARGEST * LARGEST];
    for (size_t j = 0; j < order; j++) {
        if (!(a[j + order * j] > 0)) return false;
        for (size_t i = 0; i < j; i++) {
            double upper = a[i + order * j], lower = a[j + order * i];
            if (!(fabs(upper - lower) <= 1e-7 * (fabs(upper) + fabs(lower)))) return false;
        }
    }
    return order > LARGEST || svmp_dense_cholesky(order, a, factor);
}

/* ---- arguments ------------------------------------------------------------------------------------ */

static bool item_accepted(argument_domain domain, double x) {
    if (isinf(x)) return domain == DOMAIN_ASCENDING; /* a cut point at infinity is allowed */
    switch (domain) {
    case DOMAIN_POSITIVE: return x > 0;
    case DOMAIN_NONNEGATIVE: return x >= 0;
    case DOMAIN_PROBABILITY: return x >= 0 && x <= 1;
    case DOMAIN_FIXED_COUNT:
    case DOMAIN_COUNT: return x >= 0 && whole(x);
    default: return !isnan(x);
    }
}

static const char *domain_text(argument_domain domain, double x) {
    if (isinf(x)) return "finite";
    switch (domain) {
    case DOMAIN_POSITIVE: return "positive";
    case DOMAIN_NONNEGATIVE: return "positive or zero";
    case DOMAIN_PROBABILITY: return "between 0 and 1";
    case DOMAIN_FIXED_COUNT:
    case DOMAIN_COUNT: return "a whole number, zero or more";
    default: return "a number";
    }
}

bool svmp_distribution_accepts(const distribution *family, size_t which, number_array argument, char *sentence,
                               size_t size) {
    const distribution_argument *wanted = &family->argument[which];
    size_t count = argument.rows * argument.columns;
    for (size_t k = 0; k < count; k++) {
        if (item_accepted(wanted->domain, argument.items[k])) continue;
        if (wanted->rank == RANK_SCALAR)
            return refuse(sentence, size, "%s = %g is not %s", wanted->name, argument.items[k],
                          domain_text(wanted->domain, argument.items[k]));
        return refuse(sentence, size, "%s[%zu] = %g is not %s", wanted->name, k + 1, argument.items[k],
                      domain_text(wanted->domain, argument.items[k]));
    }
    if (wanted->domain == DOMAIN_ASCENDING)
        for (size_t k = 1; k < count; k++)
            if (!(argument.items[k - 1] < argument.items[k]))
                return refuse(sentence, size, "%s is not in ascending order: %s[%zu] = %g, %s[%zu] = %g", wanted->name,
                              wanted->name, k, argument.items[k - 1], wanted->name, k + 1, argument.items[k]);
    if (wanted->domain == DOMAIN_POSITIVE_DEFINITE && !positive_definite(argument.rows, argument.items))
        return refuse(sentence, size, "%s is not symmetric and positive definite", wanted->name);
    return true;
}

static bool hypergeometric_agree(const number_array *arguments, char *sentence, size_t size) {
    double n1 = arguments[0].items[0], n2 = arguments[1].items[0], m1 = arguments[2].items[0];
    if (n1 >= DISTRIBUTION_LARGEST_URN || n2 >= DISTRIBUTION_LARGEST_URN)
        return refuse(sentence, size, "n1 = %g and n2 = %g must be below %g", n1, n2, DISTRIBUTION_LARGEST_URN);
    if (m1 > n1 + n2) return refuse(sentence, size, "m1 = %g is more than n1 + n2 = %g", m1, n1 + n2);
    return true;
}

/* The lists of car.normal(adj, weights, num, tau) and car.proper(mu, C, adj, num, M, tau, gamma). */
static bool maps_agree(const distribution *family, size_t order, const number_array *arguments, char *sentence,
                       size_t size) {
    const bool proper = family->proper;
    const number_array adj = arguments[proper ? 2 : 0], weight = arguments[1], num = arguments[proper ? 3 : 2];
    const car_map map = {order, adj.rows, adj.items, num.items, weight.items};
    const double *scale = proper ? arguments[4].items : NULL;
    char why[200];
    for (size_t k = 0; proper && k < order; k++)
        if (!(scale[k] > 0)) return refuse(sentence, size, "M[%zu] = %g is not positive", k + 1, scale[k]);
    for (size_t k = 0; !proper && k < weight.rows; k++)
        if (!(weight.items[k] >= 0))
            return refuse(sentence, size, "weights[%zu] = %g is negative", k + 1, weight.items[k]);
    return svmp_car_is_map(&map, scale, why, sizeof why) || refuse(sentence, size, "%s", why);
}

bool svmp_distribution_arguments_agree(const distribution *family, size_t order, const number_array *arguments,
                                       char *sentence, size_t size) {
    if (family->argument[1].domain == DOMAIN_FIXED) return maps_agree(family, order, arguments, sentence, size);
    switch (family->support) {
    case SUPPORT_POSITIVE_DEFINITE: {
        if (family->argument[0].rank != RANK_MATRIX) return true; /* dscaled.wishart */
        double k = arguments[1].items[0];
        if (k <= (double)order - 1)
            return refuse(sentence, size, "k = %g must be above %zu, the number of rows minus 1", k, order - 1);
        return true;
    }
    case SUPPORT_INTERVAL: {
        double a = arguments[0].items[0], b = arguments[1].items[0];
        return !(a >= b) || refuse(sentence, size, "a = %g must be below b = %g", a, b);
    }
    case SUPPORT_HYPERGEOMETRIC: return hypergeometric_agree(arguments, sentence, size);
    default: return true;
    }
}

/* ---- values --------------------------------------------------------------------------------------- */

static bool vector_contained(const distribution *family, number_array value, const number_array *arguments,
                             char *sentence, size_t size) {
    double sum = 0;
    for (size_t k = 0; k < value.rows; k++) {
        double x = value.items[k];
        if (isnan(x)) return refuse(sentence, size, "item %zu is not a number", k + 1);
        if (family->support != SUPPORT_REAL && family->support != SUPPORT_ZERO_SUM && x < 0)
            return refuse(sentence, size, "item %zu, %g, is negative", k + 1, x);
        if (family->support == SUPPORT_COMPOSITION && !whole(x))
            return refuse(sentence, size, "item %zu, %g, is not a whole number", k + 1, x);
        sum += x;
    }
    if (family->support == SUPPORT_ZERO_SUM && !(fabs(sum) <= 1e-6 * (double)value.rows))
        return refuse(sentence, size, "the items sum to %g, not to 0", sum);
    if (family->support == SUPPORT_SIMPLEX && !(fabs(sum - 1) <= 1e-6))
        return refuse(sentence, size, "the items sum to %g, not to 1", sum);
    if (family->support == SUPPORT_COMPOSITION && sum != arguments[1].items[0])
        return refuse(sentence, size, "the counts sum to %g, not to n = %g", sum, arguments[1].items[0]);
    return true;
}

/* The end of a scalar support. */
static double number_of(const distribution *family, const number_array *arguments, support_end end) {
    switch (end.kind) {
    case END_ARGUMENT: return arguments[end.which < 0 ? family->arguments - 1 : (size_t)end.which].items[0];
    case END_LENGTH: return (double)arguments[end.which].rows + end.number;
    case END_FEWEST: return fmax(0, arguments[2].items[0] - arguments[1].items[0]);
    case END_MOST: return fmin(arguments[0].items[0], arguments[2].items[0]);
    default: return end.number;
    }
}

/* If t and the cut points are known, only one value is possible. */
static bool interval_contained(double x, const number_array *arguments, char *sentence, size_t size) {
    double t = arguments[0].items[0], below = 0;
    for (size_t k = 0; k < arguments[1].rows; k++) {
        if (isnan(t) || isnan(arguments[1].items[k])) return true;
        below += arguments[1].items[k] < t;
    }
    return x == below || refuse(sentence, size, "%g cut points are below t = %g, not %g", below, t, x);
}

/* A known t must be rounded to it. */
static bool rounded_contained(double x, const number_array *arguments, char *sentence, size_t size) {
    const double t = arguments[0].items[0], unit = pow(10, -arguments[1].items[0]);
    if (!(fabs(t - x) > 0.5 * unit * (1 + 1e-12))) return true;
    return refuse(sentence, size, "%g is not %g rounded to %g digits", x, t, arguments[1].items[0]);
}

bool svmp_distribution_contains(const distribution *family, number_array value, const number_array *arguments,
                                char *sentence, size_t size) {
    if (family->rank == RANK_VECTOR) return vector_contained(family, value, arguments, sentence, size);
    if (family->rank == RANK_MATRIX)
        return positive_definite(value.rows, value.items) ||
               refuse(sentence, size, "the matrix is not symmetric and positive definite");
    const double x = value.items[0], lower = number_of(family, arguments, svmp_support_ends[family->support].lower),
                 upper = number_of(family, arguments, svmp_support_ends[family->support].upper);
    if (isnan(x)) return refuse(sentence, size, "it is not a number");
    if (family->discrete && !whole(x)) return refuse(sentence, size, "%g is not a whole number", x);
    if (family->support == SUPPORT_SUM)
        return !(arguments[0].items[0] < x || arguments[0].items[0] > x) ||
               refuse(sentence, size, "%g is not the sum %g", x, arguments[0].items[0]);
    if (family->support == SUPPORT_ROUNDED) return rounded_contained(x, arguments, sentence, size);
    if (x >= lower && x <= upper && family->support == SUPPORT_INTERVAL_INDEX)
        return interval_contained(x, arguments, sentence, size);
    if (x >= lower && x <= upper) return true;
    if (lower == 0 && isinf(upper)) return refuse(sentence, size, "%g is negative", x);
    if (isinf(upper)) return refuse(sentence, size, "%g is below %g", x, lower);
    return refuse(sentence, size, "%g is not between %g and %g", x, lower, upper);
}

/* ---- shapes --------------------------------------------------------------------------------------- */

static bool has_rank(distribution_rank rank, size_t rows, size_t columns) {
    switch (rank) {
    case RANK_SCALAR: return rows == 1 && columns == 1;
    case RANK_VECTOR: return rows >= 1 && columns == 1;
    default: return rows >= 1 && rows == columns;
    }
}

static const char *rank_text(distribution_rank rank) {
    return rank == RANK_SCALAR ? "a single number" : rank == RANK_VECTOR ? "a vector" : "a square matrix";
}

bool svmp_distribution_shapes_agree(const distribution *family, size_t rows, size_t columns, size_t argument_count,
                                    const expr_array *arguments, char *sentence, size_t size) {
    if (argument_count != family->arguments)
        return refuse(sentence, size, "%s takes %zu argument%s, not %zu", family->name, family->arguments,
                      family->arguments == 1 ? "" : "s", argument_count);
    if (!has_rank(family->rank, rows, columns))
        return refuse(sentence, size, "%s is a distribution over %s, not over %zu by %zu numbers", family->name,
                      rank_text(family->rank), rows, columns);
    for (size_t k = 0; k < argument_count; k++) {
        const distribution_argument *wanted = &family->argument[k];
        if (!has_rank(wanted->rank, arguments[k].rows, arguments[k].columns))
            return arguments[k].columns == 1
                       ? refuse(sentence, size, "the argument %s of %s must be %s, not %zu number%s", wanted->name,
                                family->name, rank_text(wanted->rank), arguments[k].rows,
                                arguments[k].rows == 1 ? "" : "s")
                       : refuse(sentence, size, "the argument %s of %s must be %s, not %zu by %zu numbers",
                                wanted->name, family->name, rank_text(wanted->rank), arguments[k].rows,
                                arguments[k].columns);
        const distribution_argument *before = k > 0 ? wanted - 1 : NULL;
        const bool pairs =
            svmp_domain_is_fixed(wanted->domain) && strcmp(wanted->name, "num") != 0 && strcmp(wanted->name, "M") != 0;
        const bool vectors = family->rank == RANK_SCALAR && wanted->rank == RANK_VECTOR;
        const bool equal =
            before && ((vectors && before->rank == RANK_VECTOR) || (pairs && svmp_domain_is_fixed(before->domain)));
        if (equal && arguments[k].rows != arguments[k - 1].rows)
            return refuse(sentence, size, "the arguments %s and %s of %s have %zu and %zu elements", before->name,
                          wanted->name, family->name, arguments[k - 1].rows, arguments[k].rows);
        if (family->rank != RANK_SCALAR && wanted->rank != RANK_SCALAR && !pairs && arguments[k].rows != rows)
            return refuse(sentence, size, "the argument %s of %s has %zu rows, but the value has %zu", wanted->name,
                          family->name, arguments[k].rows, rows);
    }
    return true;
}
