/* Differentiable programs: built once as a graph of shared expressions, then run over blocks of lanes,
 * lane = instance*n + particle.
 *
 *     program_builder *b;                     svmp_builder_create(context, &b)
 *     expr x = svmp_expr_input(b, 0);         an unknown, the variable in slot 0: differentiated
 *     expr w = svmp_expr_parameter(b, 0);     a number that differs by instance
 *     expr f = svmp_expr_multiply(b, w, svmp_expr_exp(b, x));
 *     program *p;                             svmp_program_finish(b, f, slots, parameters, &p)
 *
 * Calls need not be checked one by one: after the first failure (no memory, a wrong argument) every call returns a
 * handle that is safe to use, and svmp_program_finish or svmp_builder_status reports the first failure. Building is
 * linear in the number of operations.
 *
 * Simplifications by the builder:
 *   - equal expressions are one expression; a + b and b + a are equal;
 *   - operations on literals are folded, with the code that would evaluate them;
 *   - x*1, x+0, x-0, x/1, x^1, x^2, x^-1, x^0.5, --x, log(exp(x)) are simplified; a literal 0 times x is 0;
 *   - (x + c) + d is x + (c + d) and (x*c)*d is x*(c*d) where c and d do not depend on an input;
 *   - log(ilogit(x)), log1p(-ilogit(x)), and the same with phi and icloglog, become stable operations.
 * Expressions of parameters alone are evaluated once per instance, in svmp_program_bind; expressions of variables that
 * all instances have in common, once for many instances (svmp_bound_share).
 *
 * svmp_program_finish differentiates once, by a reverse sweep on the graph: the gradient consists of expressions of the
 * same graph, shared, folded and hoisted like all others. */
#ifndef SVMP_EXPR_PROGRAM_H
#define SVMP_EXPR_PROGRAM_H

#include <stdbool.h>

#include "base/packing.h"
#include "expr/instance_view.h"
#include "expr/opcodes.h"

/* A handle that belongs to one builder; it can be copied. */
typedef struct expr {
    uint32_t index;
} expr;

typedef struct program_builder program_builder;
typedef struct program program;
typedef struct program_partial program_partial;
typedef struct bound_program bound_program;

/* Whether an expression is constant, depends on parameters, or on inputs. */
typedef enum expr_level { LEVEL_LITERAL, LEVEL_PARAMETER, LEVEL_INPUT } expr_level;

/* The range of an expression's values known from its form; later constants are narrower: exp(x) is not negative,
 * ilogit(x) is between 0 and 1. */
typedef enum expr_range { RANGE_ANY, RANGE_NOT_NEGATIVE, RANGE_UNIT } expr_range;

/* ---- building -------------------------------------------------------------------------------- */

svmp_status svmp_builder_create(svmp_context *context, program_builder **builder);
void svmp_builder_free(program_builder *builder); /* NULL-safe; its programs stay valid */

/* Removes all expressions and failures but keeps the memory, to build many programs one after another. */
void svmp_builder_reset(program_builder *builder);

/* From now on x log(y) is a product with log(y), which products with the same y share: for tables of many x. */
void svmp_builder_share_logs(program_builder *builder, bool share);

/* The first failure, or SVMP_OK. The functions below record their failures; a caller may record its own. */
svmp_status svmp_builder_status(const program_builder *builder);
svmp_status svmp_builder_fail(program_builder *builder, svmp_status status, const char *sentence);
svmp_context *svmp_builder_context(const program_builder *builder);

expr svmp_expr_literal(program_builder *builder, double value);
expr svmp_expr_input(program_builder *builder, uint32_t slot);
expr svmp_expr_parameter(program_builder *builder, uint32_t index);

/* svmp_expr_add(builder, a, b), svmp_expr_exp(builder, a), svmp_expr_ifelse(builder, a, b, c), ... */
expr svmp_expr_apply(program_builder *builder, expr_op op, expr a, expr b, expr c);
#define OP1(name, value, da)                                                                                           \
    static inline expr svmp_expr_##name(program_builder *builder, expr a) {                                            \
        return svmp_expr_apply(builder, OP_##name, a, a, a);                                                           \
    }
#define OP2(name, value, da, db)                                                                                       \
    static inline expr svmp_expr_##name(program_builder *builder, expr a, expr b) {                                    \
        return svmp_expr_apply(builder, OP_##name, a, b, b);                                                           \
    }
#define OP3(name, value, da, db, dc)                                                                                   \
    static inline expr svmp_expr_##name(program_builder *builder, expr a, expr b, expr c) {                            \
        return svmp_expr_apply(builder, OP_##name, a, b, c);                                                           \
    }
#include "expr/operations.def"
#undef OP1
#undef OP2
#undef OP3

/* log of the sum of exp(terms[k]); -inf without terms. */
expr svmp_expr_log_sum_exp(program_builder *builder, size_t count, const expr *terms);

/* The number of operands of an operation (0 for leaves), and its name as in operations.def. */
int svmp_op_arity(expr_op op);
const char *svmp_op_name(expr_op op);

/* Whether an operation gives 0 or 1: a step, a comparison, a logical operation. */
bool svmp_op_is_truth(expr_op op);

/* Properties of an expression. After a failure: OP_literal, LEVEL_LITERAL, NaN. */
expr_op svmp_expr_op(const program_builder *builder, expr e);
expr_level svmp_expr_level(const program_builder *builder, expr e);
expr_range svmp_expr_range(const program_builder *builder, expr e);
expr svmp_expr_operand(const program_builder *builder, expr e, int which); /* which < svmp_op_arity */
bool svmp_expr_is_literal(const program_builder *builder, expr e, double *value);
uint32_t svmp_expr_leaf(const program_builder *builder, expr e); /* the slot of an input, the index of a parameter */
size_t svmp_builder_size(const program_builder *builder);        /* the number of distinct expressions */

/* ---- finishing ------------------------------------------------------------------------------- */

/* A program for the log value `value` and its gradient. Inputs must be below `slots`, parameters below `parameters`;
 * inputs on which the value does not depend have gradient 0. The builder stays usable and grows by the gradient's
 * expressions. The program is immutable and may be shared between threads. */
svmp_status svmp_program_finish(program_builder *builder, expr value, size_t slots, size_t parameters,
                                program **finished);

/* A program of `count` values and no gradient: deterministic nodes, the natural scale of unknowns. */
svmp_status svmp_program_finish_values(program_builder *builder, size_t count, const expr *values, size_t slots,
                                       size_t parameters, program **finished);

void svmp_program_free(program *compiled); /* NULL-safe */

/* The same program for an additional owner: it is freed when all owners have freed it. Not thread-safe. */
program *svmp_program_share(program *compiled);

size_t svmp_program_slots(const program *compiled);
size_t svmp_program_outputs(const program *compiled);

/* The degree of the log value as a polynomial of the inputs, with coefficients that depend on parameters only: 0, 1, 2,
 * or MANY if it is higher or the value is not known to be a polynomial. MANY for a program without gradient. */
enum { POLYNOMIAL_MANY = 3 };
int svmp_program_degree(const program *compiled);

/* Whether the log value may be discontinuous, and for each slot in slots[j] whether it may be in that input. Decided by
 * the form only: a continuous ifelse() also counts. */
svmp_status svmp_program_discontinuities(const program *compiled, bool *slots, bool *any);

/* The part of a differentiated program that computes the value and its derivatives by some slots, ascending, as needed
 * for the node in these slots. It has at most as many operations as the whole, often far fewer, and the same bits.
 * Takes time linear in the size of the program. */
svmp_status svmp_program_partial(const program *compiled, size_t count, const uint32_t *slots,
                                 program_partial **partial);
void svmp_program_partial_free(program_partial *partial);                           /* NULL-safe */
size_t svmp_program_partial_operations(const program_partial *partial, bool value); /* per lane, as below */

/* Writes a program to bytes, or reads it: its finished code, for the same bits. The operations are those of one version
 * of svmp. */
void svmp_program_pack(packing *p, program **compiled);

/* The same of the numbers of its instances, without what they share (svmp_bound_share). */
void svmp_bound_pack(packing *p, const program *compiled, bound_program **bound);

/* Operations per lane, with the gradient or for the values only. */
size_t svmp_program_lane_operations(const program *compiled, bool gradient);

/* ---- binding and running --------------------------------------------------------------------- */

/* Fixes the numbers of `instances` instances: columns[k][i] is parameter k of instance i (`columns` may be NULL when
 * there are no parameters). Evaluates expressions of parameters alone. The program must outlive the result; the columns
 * may be freed. */
svmp_status svmp_program_bind(const program *compiled, size_t instances, const double *const *columns,
                              bound_program **bound);
void svmp_bound_free(bound_program *bound); /* NULL-safe */

/* Prepares a bound program for the variables that it will be evaluated with, laid out as below: expressions that depend
 * only on slots in which all instances have the same variable (exp of a shared precision) are then evaluated once for
 * many instances. The bits do not change, and other variables are still allowed. */
svmp_status svmp_bound_share(bound_program *bound, const uint32_t *variables);

/* svmp_program_partial of a bound program, with shared values of its instances. */
svmp_status svmp_bound_partial(const bound_program *bound, size_t count, const uint32_t *slots,
                               program_partial **partial);

/* Operations per lane for value and gradient, without the shared ones. */
size_t svmp_bound_lane_operations(const bound_program *bound);

/* A bound program with only the instances which[0], which[1], ... of this one. */
svmp_status svmp_bound_keep(const bound_program *bound, size_t count, const uint32_t *which, bound_program **kept);
size_t svmp_bound_instances(const bound_program *bound);

/* Bytes of scratch memory that svmp_bound_evaluate needs for n particles, with the alignment of malloc. */
size_t svmp_bound_scratch(const bound_program *bound, size_t n);

/* The contract of factor_kind.evaluate (model/factor_group.h). With `slots` inputs and `outputs` values:
 *     variables[k*slots + j]                    the variable in slot j of instance k, of all instances
 *     x[i*n + l]                                variable i of particle l
 *     value[((k - first)*outputs + o)*n + l]    may be NULL
 *     gradient[((k - first)*slots + j)*n + l]   may be NULL, and must be for a program of values alone
 * The result of a lane depends only on its own numbers, not on first, count, n or its position in a block. Allocates
 * nothing; several threads may run one bound program, each with its own scratch. */
void svmp_bound_evaluate(const bound_program *bound, const uint32_t *variables, size_t first, size_t count, size_t n,
                         const double *x, void *scratch, double *value, double *gradient);

/* Only the values, instance after instance: each may read, as a variable, values that earlier instances have written to
 * `value`, which may be rows of x. Scratch memory for any n. */
size_t svmp_bound_turn_scratch(const bound_program *bound);
void svmp_bound_evaluate_in_turn(const bound_program *bound, const uint32_t *variables, size_t first, size_t count,
                                 size_t n, const double *x, void *scratch, double *value);

/* The same for a view of instances (instance_view.h), with the derivatives of `partial` only, or of all slots if it is
 * NULL. The rows of the partial's derivatives of each instance of the view follow one another. `value` or `gradient`
 * may be NULL. */
size_t svmp_bound_view_scratch(const bound_program *bound, const program_partial *partial, size_t n);
void svmp_bound_evaluate_view(const bound_program *bound, const program_partial *partial, const uint32_t *variables,
                              const instance_view *view, size_t n, void *scratch, double *value, double *gradient);

#endif
