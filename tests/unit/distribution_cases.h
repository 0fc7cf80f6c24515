/* Shared by the tests of distributions: the distributions at some arguments, as programs. */
#ifndef SVMP_TEST_DISTRIBUTION_CASES_H
#define SVMP_TEST_DISTRIBUTION_CASES_H

#include <string.h>

#include "dist/distributions.h"
#include "programs.h"

/* ---- a scalar distribution as a program: input 0 is the value, the arguments follow ------------------ */

typedef struct scalar_case {
    const char *name;
    double argument[4];
    double low, high; /* points for the tests of derivatives and truncation */
} scalar_case;

static const scalar_case continuous[] = {
    {"dnorm", {0.7, 2.5}, -1, 2},
    {"dnorm", {-3, 0.04}, -9, 5},
    {"dt", {0.3, 1.7, 4}, -2, 3},
    {"dt", {-1, 0.5, 1.2}, -4, 2},
    {"dlogis", {0.4, 1.9}, -2, 2},
    {"ddexp", {0.4, 1.9}, -2, 2.1},
    {"dgamma", {2.5, 1.3}, 0.3, 4},
    {"dgamma", {0.6, 0.4}, 0.1, 4},
    {"dgamma", {1, 2}, 0.1, 3},
    {"dgamma", {45, 9}, 3.5, 7},
    {"dexp", {1.7}, 0.05, 2},
    {"dlnorm", {0.2, 1.6}, 0.2, 4},
    {"dweib", {1.8, 0.7}, 0.2, 3},
    {"dweib", {0.7, 1.2}, 0.05, 3},
    {"dchisqr", {3.3}, 0.3, 8},
    {"df", {4, 7}, 0.2, 3},
    {"df", {1.5, 3}, 0.1, 3},
    {"dgen.gamma", {1.6, 0.8, 1.4}, 0.3, 3},
    {"dgen.gamma", {0.8, 1.5, 0.9}, 0.1, 2},
    {"dinvgamma", {2.2, 1.4}, 0.3, 3},
    {"dhalfcauchy", {1.3}, 0.2, 5},
    {"dscaled.gamma", {1.4, 3}, 0.2, 3},
    {"dpar", {2.6, 0.8}, 0.9, 3},
    {"dunif", {-1.2, 2.3}, -1, 2},
    {"dbeta", {2.1, 3.4}, 0.1, 0.9},
    {"dbeta", {0.6, 0.7}, 0.05, 0.9},
};
enum { CONTINUOUS = sizeof continuous / sizeof *continuous };

static const scalar_case discrete[] = {
    {"dbern", {0.3}, 0, 1},           {"dbin", {0.35, 9}, 2, 6},         {"dbin", {0.0, 4}, 0, 4},
    {"dpois", {3.7}, 1, 6},           {"dnegbin", {0.45, 2.7}, 1, 6},    {"dhyper", {7, 9, 6, 1.8}, 0, 6},
    {"dhyper", {5, 3, 6, 0.4}, 3, 5}, {"dbetabin", {1.7, 2.4, 6}, 1, 5},
};
enum { DISCRETE = sizeof discrete / sizeof *discrete };

typedef enum quantity { DENSITY, CDF, SURVIVAL } quantity;

/* The arguments are inputs if `unknown`, else literals. `bounds`: NULL, or the two bounds of T(,), NaN for an open one.
 */
static inline program *scalar_program(svmp_context *context, const scalar_case *which, quantity wanted, bool unknown,
                                      const double *bounds, bool inside) {
    const distribution *family = svmp_distribution_find(which->name);
    assert_non_null(family);
    program_builder *b;
    assert_ok(svmp_builder_create(context, &b));
    expr items[4], x = svmp_expr_input(b, 0), limit[2], result;
    expr_array arguments[4], value = {1, 1, &x};
    for (size_t k = 0; k < family->arguments; k++) {
        items[k] = unknown ? svmp_expr_input(b, (uint32_t)k + 1) : svmp_expr_literal(b, which->argument[k]);
        arguments[k] = (expr_array){1, 1, &items[k]};
    }
    truncation truncated = {NULL, NULL};
    for (int k = 0; bounds && k < 2; k++) limit[k] = svmp_expr_literal(b, bounds[k]);
    if (bounds && !isnan(bounds[0])) truncated.lower = &limit[0];
    if (bounds && !isnan(bounds[1])) truncated.upper = &limit[1];
    if (wanted == DENSITY)
        result = svmp_distribution_log_density(b, family, value, arguments, &truncated, inside);
    else
        result = (wanted == CDF ? family->log_cdf : family->log_survival)(b, x, arguments);
    program *compiled;
    assert_ok(svmp_program_finish(b, result, unknown ? 1 + family->arguments : 1, 0, &compiled));
    svmp_builder_free(b);
    return compiled;
}

#endif
