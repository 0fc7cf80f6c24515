/* Unknowns with finitely many values. They are summed out of the density, exactly: the particles move in what is left.
 *
 * A factor that reads such unknowns is a table of expressions, one for each combination of their values (its scope).
 * Reading one for the first time sets it to its least value and adds it to the scope; svmp_scope_next goes on to the
 * next combination, so that making a factor again and again fills its table. Factors that share an unknown form a
 * component, and elimination.c sums its unknowns out, one after the other. */
#ifndef SVMP_LANG_DISCRETE_DISCRETE_UNKNOWNS_H
#define SVMP_LANG_DISCRETE_DISCRETE_UNKNOWNS_H

#include "lang/compile/compile_passes.h"

#define DISCRETE_MOST_STATES    10000u
#define DISCRETE_MOST_ENTRIES   65536u   /* of one table */
#define DISCRETE_STRICT_ENTRIES 8192u    /* where the model can be read in another way */
#define DISCRETE_MOST_TERMS     1000000u /* of all tables of a component */
#define DISCRETE_MOST_READ      300000u  /* of all factors that have an unknown in common, */
#define DISCRETE_FEW            256u     /* but for those that have few */

/* Counts without a largest value are summed to 50 + 4 times the largest observation that depends on them. Those whose
 * distribution does not depend on other discrete unknowns are cheaper to sum: to at least 100 + 6 times the largest one
 * of any count of the statement, since sites with a small count may have the rate of the others, but not beyond 200. */
#define DISCRETE_OPEN_LEAST 50
#define DISCRETE_OPEN_TIMES 4
#define DISCRETE_FREE_LEAST 100
#define DISCRETE_FREE_TIMES 6
#define DISCRETE_FREE_MOST  200

/* Sums begin short if their ends are moved afterwards (prepare/sum_truncation.c). */
#define DISCRETE_BRIEF_LEAST 24
#define DISCRETE_BRIEF_TIMES 2
#define DISCRETE_BRIEF_MOST  100

/* What a factor of a component reads: factor_scopes[first] ... [first + count - 1], ascending. */
typedef struct discrete_factor {
    uint32_t instance;
    size_t first, count;
} discrete_factor;

/* Makes an unknown element of the current statement, which is discrete, one that is summed out. */
svmp_status svmp_discrete_add(model_lowering *lowering, uint32_t which, size_t offset, size_t part);

/* Makes unknown `unknown` the total that an element of a deterministic instance, the current one, is: its own element
 * is what other terms leave of that. With these ends, if the total has no others. */
svmp_status svmp_discrete_be_total(model_lowering *lowering, uint32_t unknown, uint32_t which, size_t offset,
                                   double least, double most, bool open);

/* The value of a discrete unknown in the present combination. */
svmp_status svmp_discrete_read(model_lowering *lowering, uint32_t which, model_item *result);

/* No combination; the next one. */
void svmp_scope_clear(model_lowering *lowering);
bool svmp_scope_next(model_lowering *lowering);

/* Goes through all combinations of a factor, whose first one was made, and notes what it reads. */
svmp_status svmp_discrete_note(model_lowering *lowering, uint32_t instance);

/* Lists: those of component c are list[start[c]] ... list[start[c + 1] - 1], by a counting sort, which keeps order. The
 * least of its unknowns names a component. svmp_discrete_sum has found them. */
typedef struct component_lists {
    uint32_t *unknown_start, *unknowns, *factor_start;
    discrete_factor *factors;
} component_lists;

svmp_status svmp_discrete_list(model_lowering *lowering, component_lists *lists);
void svmp_discrete_lists_free(svmp_context *context, component_lists *lists); /* accepts an all-zero value */

/* Sums all components out: adds their factors, and what their unknowns are drawn from. */
svmp_status svmp_discrete_sum(model_lowering *lowering);

/* Notes that a sum is refused (compile.h). */
void svmp_discrete_refuse(const model_lowering *lowering);

/* What else to do where counts have too many combinations; "" where an unknown is no such count. */
const char *svmp_discrete_advice(const discrete_unknown *unknown);

/* Names and values of the unknowns, for the result. */
svmp_status svmp_discrete_finish(model_lowering *lowering);

/* Whether the arguments of a statement depend on discrete unknowns, by the names in the text: then its node is moved in
 * no other coordinates, since these would depend on them, too. */
bool svmp_discrete_touches(const model_lowering *lowering, const ast_statement *statement);

/* Refuses an unknown node whose bounds depend on discrete unknowns. */
svmp_status svmp_discrete_check_bounds(model_lowering *lowering, const ast_statement *statement);

/* ---- discrete_totals.c --------------------------------------------------------------------------------- */

/* With the choice `totals`: deterministic elements that are sums of discrete unknowns become unknowns. */
svmp_status svmp_make_totals(model_lowering *lowering);

/* The value of the term that the others leave of a total, the unknown `which`. */
svmp_status svmp_remainder_read(model_lowering *lowering, uint32_t which, model_item *result);

/* ---- elimination.c ---------------------------------------------------------------------------- */

/* Sums the unknowns of some factors out; the factors and unknowns of a component, both ascending. */
svmp_status svmp_eliminate(model_lowering *lowering, size_t factor_count, const discrete_factor *factors,
                           size_t unknown_count, const uint32_t *unknowns);

/* The same without any effect on the model: the logarithm of the sum as an expression. Factors that are `left_out`,
 * NULL: none, count as 1. */
svmp_status svmp_eliminate_total(model_lowering *lowering, size_t factor_count, const discrete_factor *factors,
                                 const bool *left_out, size_t unknown_count, const uint32_t *unknowns, expr *total);

/* ---- discrete_likelihood.c -------------------------------------------------------------------- */

/* log p(those of a component's instances that are `observed` here | its other observations and the continuous
 * unknowns), with the discrete unknowns summed out: the sum of the component less that without their factors. */
svmp_status svmp_discrete_likelihood(model_lowering *lowering, const component_lists *lists, uint32_t component,
                                     const bool *observed, expr *entry);

void svmp_discrete_free(model_lowering *lowering);

#endif
