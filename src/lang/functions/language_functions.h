/* The functions of the language: rows of functions.def, and those of distributions. */
#ifndef SVMP_LANG_FUNCTIONS_LANGUAGE_FUNCTIONS_H
#define SVMP_LANG_FUNCTIONS_LANGUAGE_FUNCTIONS_H

#include "lang/compile/compile_passes.h"

typedef struct language_function language_function;
struct language_function {
    const char *name;
    size_t least, most; /* arguments */
    svmp_status (*evaluate)(model_lowering *lowering, const ast_expression *call, value *result);
    expr_op op; /* of the elementwise ones */
};

const language_function *svmp_function_find(const char *name, size_t arguments);
const language_function *svmp_function_table(size_t *count);

/* The links: name k, NULL beyond the last one. */
const char *svmp_link_name(size_t k);
/* The inverse of a link, which is applied to its right-hand side; false if there is no such link. */
bool svmp_link_inverse(const char *link, expr_op *inverse);

/* The functions of a distribution: dnorm(x, ...), its density, pnorm, its distribution function, qnorm, its quantiles,
 * and logdensity.norm. Returns NULL if
 * `name` is none of them; *arguments is the number of arguments. */
const language_function *svmp_distribution_function(const char *name, size_t *arguments);

#define FUNCTION(name, least, most, evaluate, op)                                                                      \
    svmp_status evaluate(model_lowering *, const ast_expression *, value *);
#include "lang/functions/functions.def"
#undef FUNCTION

/* A call whose operands are the last items of the stack, from `first` on: computed from literals by a builder of its
 * own if all are known, otherwise by that of the instance. Between the two calls `results` are built, unless the
 * builder is NULL: then some operand is opaque, and so are the results. They replace the operands. */
typedef struct array_call {
    program_builder *builder;
    item_kind kind; /* of the results */
    size_t first, count;
    expr *operands, *results;
} array_call;

svmp_status svmp_array_call_begin(model_lowering *lowering, size_t first, size_t results, array_call *call);
svmp_status svmp_array_call_finish(model_lowering *lowering, const ast_expression *expression, array_call *call,
                                   array_shape shape, value *result);

svmp_status svmp_call_density(model_lowering *, const ast_expression *, const distribution *, value *);

#endif
