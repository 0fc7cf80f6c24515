/* Simplification during building: rules that replace an operation by a cheaper or more stable form. A rule inspects the
 * operands and at most their operands, so that building stays linear. */
#include "expr/expr_nodes.h"

#include <math.h>

/* Helpers of the rules. `is` and `of` inspect an operand: is(a, OP_exp), of(a, 0). */

static bool is(const program_builder *b, expr e, expr_op op) { return b->nodes[e.index].op == op; }
static expr of(const program_builder *b, expr e, int which) { return svmp_expr_operand(b, e, which); }
static bool fixed(const program_builder *b, expr e) { return svmp_expr_level(b, e) < LEVEL_INPUT; }
static bool same(expr a, expr b) { return a.index == b.index; }

static bool number(const program_builder *b, expr e, double wanted) {
    double value;
    return svmp_expr_is_literal(b, e, &value) && value == wanted;
}

/* x op c, with x an expression of inputs and c fixed, as in (x op c) op d, which is regrouped. */
static bool grouped(const program_builder *b, expr e, expr_op op) {
    return is(b, e, op) && !fixed(b, of(b, e, 0)) && fixed(b, of(b, e, 1));
}

/* Whether `e` is an `op` that a rule may split next to `other`. A fixed one next to inputs stays: fixed expressions
 * cost nothing, and other rules move signs and reciprocals there. */
static bool moves(const program_builder *b, expr e, expr other, expr_op op) {
    return is(b, e, op) && (!fixed(b, e) || fixed(b, other));
}

#define ADD(x, y)      svmp_expr_add(b, x, y)
#define SUBTRACT(x, y) svmp_expr_subtract(b, x, y)
#define MULTIPLY(x, y) svmp_expr_multiply(b, x, y)
#define NEGATE(x)      svmp_expr_negate(b, x)
#define BECOMES(e)     return *result = (e), true

static bool add(program_builder *b, expr x, expr y, expr *result) {
    if (number(b, x, 0)) BECOMES(y);
    if (number(b, y, 0)) BECOMES(x);
    if (moves(b, y, x, OP_negate)) BECOMES(SUBTRACT(x, of(b, y, 0)));
    if (moves(b, x, y, OP_negate)) BECOMES(SUBTRACT(y, of(b, x, 0)));
    if (grouped(b, y, OP_add) && fixed(b, x)) BECOMES(ADD(of(b, y, 0), ADD(of(b, y, 1), x)));
    if (!grouped(b, x, OP_add)) return false;
    expr inner = of(b, x, 0), c = of(b, x, 1);
    if (fixed(b, y)) BECOMES(ADD(inner, ADD(c, y)));
    if (grouped(b, y, OP_add)) BECOMES(ADD(ADD(inner, of(b, y, 0)), ADD(c, of(b, y, 1))));
    return false;
}

static bool subtract(program_builder *b, expr x, expr y, expr *result) {
    if (number(b, y, 0)) BECOMES(x);
    if (number(b, x, 0)) BECOMES(NEGATE(y));
    if (number(b, x, 1) && is(b, y, OP_ilogit)) BECOMES(svmp_expr_ilogit(b, NEGATE(of(b, y, 0))));
    if (number(b, x, 1) && is(b, y, OP_phi)) BECOMES(svmp_expr_phi(b, NEGATE(of(b, y, 0))));
    if (is(b, y, OP_negate)) BECOMES(ADD(x, of(b, y, 0)));
    if (is(b, x, OP_negate) && !fixed(b, x)) BECOMES(NEGATE(ADD(of(b, x, 0), y)));
    if (fixed(b, y) && !fixed(b, x)) BECOMES(ADD(x, NEGATE(y)));
    if (grouped(b, y, OP_add) && fixed(b, x)) BECOMES(SUBTRACT(SUBTRACT(x, of(b, y, 1)), of(b, y, 0)));
    return false;
}

static bool multiply(program_builder *b, expr x, expr y, expr *result) {
    if (number(b, x, 0) || number(b, y, 0)) BECOMES(svmp_expr_literal(b, 0));
    if (number(b, x, 1)) BECOMES(y);
    if (number(b, y, 1)) BECOMES(x);
    if (number(b, x, -1)) BECOMES(NEGATE(y));
    if (number(b, y, -1)) BECOMES(NEGATE(x));
    if (same(x, y)) BECOMES(svmp_expr_square(b, x));
    if (moves(b, x, y, OP_negate)) BECOMES(NEGATE(MULTIPLY(of(b, x, 0), y)));
    if (moves(b, y, x, OP_negate)) BECOMES(NEGATE(MULTIPLY(x, of(b, y, 0))));
    if (moves(b, y, x, OP_reciprocal)) BECOMES(svmp_expr_divide(b, x, of(b, y, 0)));
    if (moves(b, x, y, OP_reciprocal)) BECOMES(svmp_expr_divide(b, y, of(b, x, 0)));
    if (grouped(b, y, OP_multiply) && fixed(b, x)) BECOMES(MULTIPLY(of(b, y, 0), MULTIPLY(of(b, y, 1), x)));
    if (!grouped(b, x, OP_multiply)) return false;
    expr inner = of(b, x, 0), c = of(b, x, 1);
    if (fixed(b, y)) BECOMES(MULTIPLY(inner, MULTIPLY(c, y)));
    if (grouped(b, y, OP_multiply)) BECOMES(MULTIPLY(MULTIPLY(inner, of(b, y, 0)), MULTIPLY(c, of(b, y, 1))));
    return false;
}

static bool divide(program_builder *b, expr x, expr y, expr *result) {
    if (number(b, y, 1)) BECOMES(x);
    if (number(b, x, 0)) BECOMES(x);
    if (same(x, y)) BECOMES(svmp_expr_literal(b, 1));
    if (number(b, x, 1)) BECOMES(svmp_expr_reciprocal(b, y));
    if (is(b, x, OP_negate)) BECOMES(NEGATE(svmp_expr_divide(b, of(b, x, 0), y)));
    if (is(b, y, OP_negate)) BECOMES(NEGATE(svmp_expr_divide(b, x, of(b, y, 0))));
    if (is(b, y, OP_reciprocal)) BECOMES(MULTIPLY(x, of(b, y, 0)));
    /* one division per instance instead of one per lane */
    if (fixed(b, y) && !fixed(b, x)) BECOMES(MULTIPLY(x, svmp_expr_reciprocal(b, y)));
    return false;
}

static bool negate(program_builder *b, expr x, expr *result) {
    if (is(b, x, OP_negate)) BECOMES(of(b, x, 0));
    if (is(b, x, OP_subtract)) BECOMES(SUBTRACT(of(b, x, 1), of(b, x, 0)));
    if (grouped(b, x, OP_multiply)) BECOMES(MULTIPLY(of(b, x, 0), NEGATE(of(b, x, 1))));
    if (grouped(b, x, OP_add)) BECOMES(SUBTRACT(NEGATE(of(b, x, 1)), of(b, x, 0)));
    return false;
}

static bool power(program_builder *b, expr x, expr y, expr *result) {
    double exponent;
    if (!svmp_expr_is_literal(b, y, &exponent)) return false;
    expr square;
    if (exponent == 0) BECOMES(svmp_expr_literal(b, 1));
    if (exponent == 1) BECOMES(x);
    if (exponent == 0.5) BECOMES(svmp_expr_sqrt(b, x));
    if (exponent == 2) BECOMES(svmp_expr_square(b, x));
    if (exponent == 3) BECOMES(MULTIPLY(svmp_expr_square(b, x), x));
    if (exponent == 4) {
        square = svmp_expr_square(b, x);
        BECOMES(svmp_expr_square(b, square));
    }
    if (exponent == -1 || exponent == -2 || exponent == -3 || exponent == -4 || exponent == -0.5)
        BECOMES(svmp_expr_reciprocal(b, svmp_expr_power(b, x, svmp_expr_literal(b, -exponent))));
    return false;
}

/* Whether log(x) has a simpler form. */
static bool has_log(const program_builder *b, expr x) {
    return is(b, x, OP_exp) || is(b, x, OP_ilogit) || is(b, x, OP_phi);
}

static bool logarithm(program_builder *b, expr x, expr *result) {
    if (is(b, x, OP_exp)) BECOMES(of(b, x, 0));
    if (is(b, x, OP_ilogit)) BECOMES(svmp_expr_log_ilogit(b, of(b, x, 0)));
    if (is(b, x, OP_phi)) BECOMES(svmp_expr_log_phi(b, of(b, x, 0)));
    if (is(b, x, OP_reciprocal)) BECOMES(NEGATE(svmp_expr_log(b, of(b, x, 0))));
    if (is(b, x, OP_sqrt)) BECOMES(MULTIPLY(svmp_expr_log(b, of(b, x, 0)), svmp_expr_literal(b, 0.5)));
    if (is(b, x, OP_square) && has_log(b, of(b, x, 0)))
        BECOMES(MULTIPLY(svmp_expr_log(b, of(b, x, 0)), svmp_expr_literal(b, 2)));
    if (is(b, x, OP_power) && has_log(b, of(b, x, 0))) BECOMES(MULTIPLY(svmp_expr_log(b, of(b, x, 0)), of(b, x, 1)));
    if (grouped(b, x, OP_multiply) && has_log(b, of(b, x, 0)))
        BECOMES(ADD(svmp_expr_log(b, of(b, x, 0)), svmp_expr_log(b, of(b, x, 1))));
    return false;
}

static bool logarithm_1p(program_builder *b, expr x, expr *result) {
    if (!is(b, x, OP_negate)) return false;
    expr p = of(b, x, 0);
    if (is(b, p, OP_ilogit)) BECOMES(svmp_expr_log_ilogit(b, NEGATE(of(b, p, 0))));
    if (is(b, p, OP_phi)) BECOMES(svmp_expr_log_phi(b, NEGATE(of(b, p, 0))));
    if (is(b, p, OP_icloglog)) BECOMES(NEGATE(svmp_expr_exp(b, of(b, p, 0))));
    return false;
}

/* log gamma(x + n) = log gamma(x) + log x + log(x + 1) + ... + log(x + n - 1), for tables of many whole n: one
 * logarithm for each, and 1/x in derivatives. */
static bool log_gamma(program_builder *b, expr x, expr *result) {
    enum { MOST = 1024 };
    double n;
    if (!b->shares_logs || !grouped(b, x, OP_add) || !svmp_expr_is_literal(b, of(b, x, 1), &n)) return false;
    if (!(n >= 1 && n <= MOST && n == floor(n)) || svmp_expr_range(b, of(b, x, 0)) == RANGE_ANY) return false;
    const expr before = ADD(of(b, x, 0), svmp_expr_literal(b, n - 1));
    BECOMES(ADD(svmp_expr_loggam(b, before), svmp_expr_log(b, before)));
}

/* x log y and x log(1 - y), which are 0 for x = 0: plain products where the logarithm is always finite. */
static bool x_log(program_builder *b, expr_op op, expr x, expr y, expr *result) {
    double value;
    bool nonzero = svmp_expr_is_literal(b, x, &value) && value != 0;
    if (number(b, x, 0)) BECOMES(x);
    if (b->shares_logs)
        BECOMES(svmp_expr_masked_multiply(b, x, op == OP_xlogy ? svmp_expr_log(b, y) : svmp_expr_log1p(b, NEGATE(y))));
    if (op == OP_xlogy && (nonzero || has_log(b, y))) BECOMES(MULTIPLY(x, svmp_expr_log(b, y)));
    if (op == OP_xlog1my && (nonzero || is(b, y, OP_ilogit) || is(b, y, OP_phi) || is(b, y, OP_icloglog)))
        BECOMES(MULTIPLY(x, svmp_expr_log1p(b, NEGATE(y))));
    return false;
}

static bool masked(program_builder *b, expr_op op, expr x, expr y, expr *result) {
    double value;
    if (number(b, x, 0)) BECOMES(x);
    bool plain = svmp_expr_is_literal(b, x, NULL) || (svmp_expr_is_literal(b, y, &value) && isfinite(value));
    if (plain && op == OP_masked_multiply) BECOMES(MULTIPLY(x, y));
    if (op == OP_masked_multiply && is(b, y, OP_reciprocal)) BECOMES(svmp_expr_masked_divide(b, x, of(b, y, 0)));
    if (plain && op == OP_masked_divide && !number(b, y, 0)) BECOMES(svmp_expr_divide(b, x, y));
    return false;
}

bool svmp_builder_simplify(program_builder *b, expr_op op, expr x, expr y, expr z, expr *result) {
    double value;
    switch (op) {
    case OP_add: return add(b, x, y, result);
    case OP_subtract: return subtract(b, x, y, result);
    case OP_multiply: return multiply(b, x, y, result);
    case OP_divide: return divide(b, x, y, result);
    case OP_negate: return negate(b, x, result);
    case OP_power: return power(b, x, y, result);
    case OP_log: return logarithm(b, x, result);
    case OP_log1p: return logarithm_1p(b, x, result);
    case OP_log_ilogit:
        if (!fixed(b, x)) BECOMES(svmp_expr_log_ilogit_by_tail(b, x, svmp_expr_logistic_tail(b, x)));
        return false;
    case OP_logistic_tail:
        if (is(b, x, OP_negate)) BECOMES(svmp_expr_logistic_tail(b, of(b, x, 0)));
        return false;
    case OP_loggam: return log_gamma(b, x, result);
    case OP_xlogy:
    case OP_xlog1my: return x_log(b, op, x, y, result);
    case OP_masked_multiply:
    case OP_masked_divide: return masked(b, op, x, y, result);
    case OP_square:
        if (is(b, x, OP_negate) || is(b, x, OP_abs)) BECOMES(svmp_expr_square(b, of(b, x, 0)));
        return false;
    case OP_sqrt:
        if (is(b, x, OP_square)) BECOMES(svmp_expr_abs(b, of(b, x, 0)));
        return false;
    case OP_reciprocal:
        if (is(b, x, OP_reciprocal)) BECOMES(of(b, x, 0));
        if (is(b, x, OP_negate)) BECOMES(NEGATE(svmp_expr_reciprocal(b, of(b, x, 0))));
        return false;
    case OP_abs:
        if (is(b, x, OP_negate) || is(b, x, OP_abs)) BECOMES(svmp_expr_abs(b, of(b, x, 0)));
        return false;
    case OP_log_slope:
        if (svmp_expr_range(b, x) != RANGE_ANY) BECOMES(svmp_expr_reciprocal(b, x));
        return false;
    case OP_require:
        if (svmp_expr_range(b, x) != RANGE_ANY) BECOMES(svmp_expr_literal(b, 0));
        return false;
    case OP_logit:
        if (is(b, x, OP_ilogit)) BECOMES(of(b, x, 0));
        return false;
    case OP_probit:
        if (is(b, x, OP_phi)) BECOMES(of(b, x, 0));
        return false;
    case OP_cloglog:
        if (is(b, x, OP_icloglog)) BECOMES(of(b, x, 0));
        return false;
    case OP_min:
    case OP_max:
        if (same(x, y)) BECOMES(x);
        return false;
    case OP_ifelse:
        if (same(y, z)) BECOMES(y);
        if (svmp_expr_is_literal(b, x, &value)) BECOMES(value != 0 ? y : z);
        return false;
    default: return false;
    }
}
