/* A stochastic instance during lowering: its left-hand side, and its distribution with arguments as expressions and, if
 * known, as numbers. */
#ifndef SVMP_LANG_COMPILE_FACTOR_BUILDER_H
#define SVMP_LANG_COMPILE_FACTOR_BUILDER_H

#include "lang/compile/compile_passes.h"

/* Everything about the instance at hand; the arrays of expressions and numbers lie in `work`. */
typedef struct factor_work {
    uint32_t instance;
    const ast_statement *statement;
    const distribution *distribution;
    evaluated_distribution evaluated;
    value offsets;    /* of the left-hand side */
    bool elementwise; /* a distribution of one dimension for each element of the left-hand side */
    bool known_arguments;
    bool likelihood;  /* of the observed elements alone */
    bool drawn_whole; /* a leaf without observed elements */
    bool summed;      /* it depends on discrete unknowns */
    bool impossible;  /* these values of them lead to arguments that the distribution does not take */
    bool refused;     /* what is wrong is to be said */
    size_t count;     /* of expressions: arguments, values, bounds */
    expr *expressions;
    double *numbers; /* the same, where known; NaN elsewhere */
    expr_array arguments[DISTRIBUTION_ARGUMENTS];
    number_array argument_numbers[DISTRIBUTION_ARGUMENTS];
    expr *values;
    double *value_numbers;
    expr lower, upper, jacobian;
    expr entry; /* of a table: result for the present combination of discrete unknowns */
} factor_work;

/* Evaluates the left-hand side's subscripts and the arguments of the current statement, and checks their shapes and
 * domains. Must be freed also when it fails. */
svmp_status svmp_factor_begin(model_lowering *lowering, factor_work *factor);
void svmp_factor_free(model_lowering *lowering, factor_work *factor);

/* Checks that observed values, which are in value_numbers by then, lie in the support, wherever it is known. */
svmp_status svmp_factor_check_values(model_lowering *lowering, const factor_work *factor);

/* Whether the support is known: the arguments that it depends on are. */
bool svmp_factor_can_check(const factor_work *factor);

/* The arguments of one element of the left-hand side. */
void svmp_factor_pick(const factor_work *factor, size_t part, number_array *picked);

void svmp_rows_and_columns(const value *array, size_t *rows, size_t *columns);

#endif
