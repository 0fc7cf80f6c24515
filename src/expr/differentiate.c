/* The reverse sweep, done once, on the graph: from the value down to the inputs, a node's adjoint w = d value / d node
 * is complete when the node is reached, and is passed on to its operands by the rules of operations.def. */
#include "expr/expr_nodes.h"

#include <math.h>

typedef struct reverse_sweep {
    program_builder *builder;
    expr *adjoint;   /* adjoints of the nodes up to the value; index 0: none yet */
    uint8_t *masked; /* whether the node is within a choice: then a zero adjoint may meet an infinite derivative */
} reverse_sweep;

static const expr none = {UINT32_MAX};

static void contribute(reverse_sweep *sweep, expr operand, expr term, bool masked) {
    if (term.index == none.index || svmp_builder_status(sweep->builder) != SVMP_OK) return;
    expr *sum = &sweep->adjoint[operand.index];
    *sum = sum->index == 0 ? term : svmp_expr_add(sweep->builder, *sum, term);
    sweep->masked[operand.index] |= masked;
}

static expr missing(program_builder *builder, expr_op op) {
    char sentence[128];
    snprintf(sentence, sizeof sentence, "The operation '%s' has no derivative.", svmp_op_name(op));
    svmp_builder_fail(builder, SVMP_UNSUPPORTED, sentence);
    return none;
}

/* density(x) / P of the gamma distribution with shape a, r = log P: exp((a-1) log x - x - log gamma(a) - r). */
static expr gamma_ratio(program_builder *b, expr a, expr x, expr r) {
    expr shape = svmp_expr_subtract(b, a, svmp_expr_literal(b, 1));
    expr front = svmp_expr_subtract(b, svmp_expr_multiply(b, shape, svmp_expr_log(b, x)), x);
    return svmp_expr_exp(b, svmp_expr_subtract(b, front, svmp_expr_add(b, svmp_expr_loggam(b, a), r)));
}

/* Its derivative by a, given d log P / da as `slope`; likewise for 1 - P. */
static expr gamma_ratio_slope(program_builder *b, expr a, expr x, expr slope, expr r) {
    expr bend = svmp_expr_subtract(b, svmp_expr_subtract(b, svmp_expr_log(b, x), svmp_expr_digamma(b, a)), slope);
    return svmp_expr_multiply(b, gamma_ratio(b, a, x, r), bend);
}

/* density(x) / I of the beta distribution, r = log I:
 * exp((p-1) log x + (q-1) log(1-x) - log gamma(p) - log gamma(q) + log gamma(p+q) - r). */
static expr beta_ratio(program_builder *b, expr x, expr p, expr q, expr r) {
    expr one = svmp_expr_literal(b, 1);
    expr first = svmp_expr_multiply(b, svmp_expr_subtract(b, p, one), svmp_expr_log(b, x));
    expr second = svmp_expr_multiply(b, svmp_expr_subtract(b, q, one), svmp_expr_log1p(b, svmp_expr_negate(b, x)));
    expr log_beta = svmp_expr_subtract(b, svmp_expr_add(b, svmp_expr_loggam(b, p), svmp_expr_loggam(b, q)),
                                       svmp_expr_loggam(b, svmp_expr_add(b, p, q)));
    return svmp_expr_exp(b, svmp_expr_subtract(b, svmp_expr_add(b, first, second), svmp_expr_add(b, log_beta, r)));
}

/* Its derivative by p or q, `shape`, given d log I / d shape as `slope` and log x or log(1-x) as log_x. */
static expr beta_ratio_slope(program_builder *b, expr x, expr p, expr q, expr shape, expr log_x, expr slope) {
    expr both = svmp_expr_digamma(b, svmp_expr_add(b, p, q)), own = svmp_expr_digamma(b, shape);
    expr bend = svmp_expr_subtract(b, svmp_expr_add(b, log_x, svmp_expr_subtract(b, both, own)), slope);
    return svmp_expr_multiply(b, beta_ratio(b, x, p, q, svmp_expr_log_beta_i(b, x, p, q)), bend);
}

/* 0F1(; a + 1; z) / (a 0F1(; a; z)), r the log of the latter. */
static expr ratio_0f1(program_builder *b, expr a, expr z, expr r) {
    expr next = svmp_expr_log_0f1(b, svmp_expr_add(b, a, svmp_expr_literal(b, 1)), z);
    return svmp_expr_divide(b, svmp_expr_exp(b, svmp_expr_subtract(b, next, r)), a);
}

/* The density of Student's t: gamma((k+1)/2) / (gamma(k/2) sqrt(pi k)) (1 + t^2/k)^(-(k+1)/2). */
static expr t_density(program_builder *b, expr t, expr k) {
    expr half = svmp_expr_literal(b, 0.5), front = svmp_expr_multiply(b, svmp_expr_log(b, k), half);
    expr more = svmp_expr_multiply(b, svmp_expr_add(b, k, svmp_expr_literal(b, 1)), half);
    expr bend = svmp_expr_log1p(b, svmp_expr_divide(b, svmp_expr_square(b, t), k));
    front = svmp_expr_add(b, svmp_expr_loggam(b, svmp_expr_multiply(b, k, half)), front);
    front = svmp_expr_subtract(b, svmp_expr_subtract(b, svmp_expr_loggam(b, more), front),
                               svmp_expr_literal(b, 0.5 * log(acos(-1))));
    return svmp_expr_exp(b, svmp_expr_subtract(b, front, svmp_expr_multiply(b, more, bend)));
}

/* The derivative of its distribution function by k: with x = k / (k + t^2), F is I_x(k/2, 1/2) / 2 for t < 0, and 1
 * minus that for t > 0. */
static expr t_shape(program_builder *b, expr t, expr k) {
    expr half = svmp_expr_literal(b, 0.5), shape = svmp_expr_multiply(b, k, half), square = svmp_expr_square(b, t);
    expr whole = svmp_expr_add(b, k, square), x = svmp_expr_divide(b, k, whole);
    expr log_i = svmp_expr_log_beta_i(b, x, shape, half);
    expr by_shape = svmp_expr_multiply(b, half, svmp_expr_log_beta_i_first(b, x, shape, half));
    expr by_x = svmp_expr_multiply(b, beta_ratio(b, x, shape, half, log_i),
                                   svmp_expr_divide(b, square, svmp_expr_square(b, whole)));
    expr tail = svmp_expr_multiply(b, half, svmp_expr_exp(b, log_i));
    return svmp_expr_negate(
        b, svmp_expr_multiply(b, svmp_expr_sign(b, t), svmp_expr_multiply(b, tail, svmp_expr_add(b, by_shape, by_x))));
}

/* The macros used in operations.def. */
#define NONE                               none
#define MISSING                            missing(builder, op)
#define NUMBER(x)                          svmp_expr_literal(builder, x)
#define TIMES(x, y)                        (masked ? svmp_expr_masked_multiply : svmp_expr_multiply)(builder, x, y)
#define OVER(x, y)                         (masked ? svmp_expr_masked_divide : svmp_expr_divide)(builder, x, y)
#define ADD(x, y)                          svmp_expr_add(builder, x, y)
#define SUB(x, y)                          svmp_expr_subtract(builder, x, y)
#define MUL(x, y)                          svmp_expr_multiply(builder, x, y)
#define DIV(x, y)                          svmp_expr_divide(builder, x, y)
#define MASKED_MUL(x, y)                   svmp_expr_masked_multiply(builder, x, y)
#define MASKED_DIV(x, y)                   svmp_expr_masked_divide(builder, x, y)
#define MASKED_SLOPE(x, y)                 svmp_expr_masked_slope(builder, x, y)
#define RECIPROCAL(x)                      svmp_expr_reciprocal(builder, x)
#define NEG(x)                             svmp_expr_negate(builder, x)
#define SQUARE(x)                          svmp_expr_square(builder, x)
#define POW(x, y)                          svmp_expr_power(builder, x, y)
#define SQRT(x)                            svmp_expr_sqrt(builder, x)
#define HALF_OVER(x)                       svmp_expr_half_over(builder, x)
#define SIGN(x)                            svmp_expr_sign(builder, x)
#define EXP(x)                             svmp_expr_exp(builder, x)
#define EXPM1(x)                           svmp_expr_expm1(builder, x)
#define LOG(x)                             svmp_expr_log(builder, x)
#define LOG1P(x)                           svmp_expr_log1p(builder, x)
#define LOG_SLOPE(x)                       svmp_expr_log_slope(builder, x)
#define XLOGY(x, y)                        svmp_expr_xlogy(builder, x, y)
#define SIN(x)                             svmp_expr_sin(builder, x)
#define COS(x)                             svmp_expr_cos(builder, x)
#define SINH(x)                            svmp_expr_sinh(builder, x)
#define COSH(x)                            svmp_expr_cosh(builder, x)
#define ILOGIT(x)                          svmp_expr_ilogit(builder, x)
#define ILOGIT_BY_TAIL(x, y)               svmp_expr_ilogit_by_tail(builder, x, y)
#define ILOGIT_BEYOND(x, y)                svmp_expr_ilogit_beyond(builder, x, y)
#define NORMAL_DENSITY(x)                  svmp_expr_normal_density(builder, x)
#define NORMAL_HAZARD(x)                   svmp_expr_normal_hazard(builder, x)
#define NORMAL_HAZARD_SLOPE(x)             svmp_expr_normal_hazard_slope(builder, x)
#define TRIGAMMA(x)                        svmp_expr_trigamma(builder, x)
#define DIGAMMA(x)                         svmp_expr_digamma(builder, x)
#define GAMMA_RATIO(x, y, z)               gamma_ratio(builder, x, y, z)
#define LOG_GAMMA_P_SHAPE(x, y)            svmp_expr_log_gamma_p_shape(builder, x, y)
#define LOG_GAMMA_Q_SHAPE(x, y)            svmp_expr_log_gamma_q_shape(builder, x, y)
#define LOG_GAMMA_P(x, y)                  svmp_expr_log_gamma_p(builder, x, y)
#define LOG_GAMMA_Q(x, y)                  svmp_expr_log_gamma_q(builder, x, y)
#define LOG_GAMMA_P_BEND(x, y)             svmp_expr_log_gamma_p_bend(builder, x, y)
#define LOG_GAMMA_Q_BEND(x, y)             svmp_expr_log_gamma_q_bend(builder, x, y)
#define GAMMA_RATIO_SLOPE(x, y, s, r)      gamma_ratio_slope(builder, x, y, s, r)
#define BETA_RATIO(x, y, z, r)             beta_ratio(builder, x, y, z, r)
#define LOG_BETA_I_FIRST(x, y, z)          svmp_expr_log_beta_i_first(builder, x, y, z)
#define LOG_BETA_I_SECOND(x, y, z)         svmp_expr_log_beta_i_second(builder, x, y, z)
#define BETA_RATIO_SLOPE(x, y, z, p, l, s) beta_ratio_slope(builder, x, y, z, p, l, s)
#define LOG_BETA_I_BEND(x, y, z)           svmp_expr_log_beta_i_bend(builder, x, y, z)
#define LOG_BETA_I_CROSS(x, y, z)          svmp_expr_log_beta_i_cross(builder, x, y, z)
#define LOG_BETA_I_BEND_SECOND(x, y, z)    svmp_expr_log_beta_i_bend_second(builder, x, y, z)
#define LOG_0F1(x, y)                      svmp_expr_log_0f1(builder, x, y)
#define LOG_0F1_SHAPE(x, y)                svmp_expr_log_0f1_shape(builder, x, y)
#define LOG_0F1_BEND(x, y)                 svmp_expr_log_0f1_bend(builder, x, y)
#define RATIO_0F1(x, y, r)                 ratio_0f1(builder, x, y, r)
#define LOG_NORMAL_POWER(x, y)             svmp_expr_log_normal_power(builder, x, y)
#define LOG_NORMAL_POWER_SHAPE(x, y)       svmp_expr_log_normal_power_shape(builder, x, y)
#define LOG_NORMAL_POWER_BEND(x, y)        svmp_expr_log_normal_power_bend(builder, x, y)
#define T_DENSITY(x, k)                    t_density(builder, x, k)
#define T_SHAPE(x, k)                      t_shape(builder, x, k)
#define HYPERGEOMETRIC_VARIANCE(x, y, z)   svmp_expr_hypergeometric_variance(builder, x, y, z)
#define HYPERGEOMETRIC_MEAN(x, y, z)       svmp_expr_hypergeometric_mean(builder, x, y, z)
#define LESS_EQUAL(x, y)                   svmp_expr_less_equal(builder, x, y)
#define GREATER_EQUAL(x, y)                svmp_expr_greater_equal(builder, x, y)
#define IFELSE(x, y, z)                    svmp_expr_ifelse(builder, x, y, z)

/* Adds the contributions of the adjoint w of node r to those of its operands that depend on inputs. */
static void propagate(reverse_sweep *sweep, expr r, expr w) {
    program_builder *builder = sweep->builder;
    const expr_node node = builder->nodes[r.index]; /* a copy: the nodes move when the graph grows */
    const expr_op op = (expr_op)node.op;
    const expr a = {node.operand[0]}, b = {node.operand[1]}, c = {node.operand[2]};
    const bool masked = sweep->masked[r.index];
    const bool below = masked || op == OP_ifelse || op == OP_min || op == OP_max || op == OP_masked_multiply ||
                       op == OP_masked_divide || op == OP_scaled_exp;
#define WANTED(k) (builder->nodes[node.operand[k]].level == LEVEL_INPUT)
    switch (op) {
#define OP1(name, value, da)                                                                                           \
    case OP_##name:                                                                                                    \
        if (WANTED(0)) contribute(sweep, a, da, below);                                                                \
        break;
#define OP2(name, value, da, db)                                                                                       \
    case OP_##name:                                                                                                    \
        if (WANTED(0)) contribute(sweep, a, da, below);                                                                \
        if (WANTED(1)) contribute(sweep, b, db, below);                                                                \
        break;
#define OP3(name, value, da, db, dc)                                                                                   \
    case OP_##name:                                                                                                    \
        if (WANTED(0)) contribute(sweep, a, da, below);                                                                \
        if (WANTED(1)) contribute(sweep, b, db, below);                                                                \
        if (WANTED(2)) contribute(sweep, c, dc, below);                                                                \
        break;
#include "expr/operations.def"
#undef OP1
#undef OP2
#undef OP3
    default: break;
    }
}

svmp_status svmp_builder_differentiate(program_builder *builder, expr value, size_t slots, expr *gradient) {
    svmp_status status = SVMP_OK;
    svmp_context *context = builder->context;
    reverse_sweep sweep = {.builder = builder};
    expr zero = svmp_expr_literal(builder, 0);
    SVMP_CHECK(SVMP_NEW(context, sweep.adjoint, (size_t)value.index + 1));
    SVMP_CHECK(SVMP_NEW(context, sweep.masked, (size_t)value.index + 1));
    for (size_t j = 0; j < slots; j++) gradient[j] = zero;
    sweep.adjoint[value.index] = svmp_expr_literal(builder, 1);

    for (uint32_t index = value.index; index > 0; index--) {
        expr w = sweep.adjoint[index];
        SVMP_CHECK(builder->status);
        if (w.index == 0 || builder->nodes[index].level < LEVEL_INPUT) continue;
        if (builder->nodes[index].op == OP_input)
            gradient[builder->nodes[index].leaf] = w;
        else
            propagate(&sweep, (expr){index}, w);
    }
    status = builder->status;
done:
    svmp_release_all(context, sweep.adjoint, sweep.masked);
    return status;
}
