/* Discrete distributions, each with its formula. */
#include "dist/densities.h"

#include <math.h>

#include "dist/formula_words.h"
#include "expr/expr_vectors.h"

static bool is(const program_builder *b, expr e, expr_op op) { return svmp_expr_op(b, e) == op; }

/* ---- dbern: p^x (1-p)^(1-x) ---- */

expr svmp_dbern_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr x = value.items[0], p = ARGUMENT(0), one = NUMBER(1);
    expr sign = SUB(MUL(NUMBER(2), x), one); /* for a link with ilink(-z) = 1 - ilink(z) */
    if (is(b, p, OP_ilogit)) return LOG_ILOGIT(MUL(svmp_expr_operand(b, p, 0), sign));
    if (is(b, p, OP_phi)) return LOG_PHI(MUL(svmp_expr_operand(b, p, 0), sign));
    if (is(b, p, OP_icloglog)) return IFELSE(x, LOG(p), LOG1P(NEG(p)));
    return LOG(ADD(MUL(p, sign), SUB(one, x))); /* p or 1 - p, exactly */
}

/* ---- dbin: C(n, x) p^x (1-p)^(n-x) ---- */

expr svmp_dbin_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr x = value.items[0], p = ARGUMENT(0), n = ARGUMENT(1), rest = SUB(n, x);
    expr choose = SUB(LOGFACT(n), ADD(LOGFACT(x), LOGFACT(rest)));
    if (is(b, p, OP_ilogit)) { /* x z - n log(1 + e^z), one logarithm */
        expr z = svmp_expr_operand(b, p, 0);
        return ADD(ADD(MUL(x, z), MUL(n, LOG_ILOGIT(NEG(z)))), choose);
    }
    return ADD(ADD(XLOGY(x, p), XLOG1MY(rest, p)), choose);
}
/* P(X <= x) = I_{1-p}(n - x, x + 1) */
expr svmp_dbin_cdf(program_builder *b, expr x, const expr_array *arguments) {
    expr p = ARGUMENT(0), n = ARGUMENT(1), one = NUMBER(1);
    return LOG_BETA_I(SUB(one, p), SUB(n, x), ADD(x, one));
}
expr svmp_dbin_survival(program_builder *b, expr x, const expr_array *arguments) {
    return LOG_BETA_I(ARGUMENT(0), ADD(x, NUMBER(1)), SUB(ARGUMENT(1), x));
}

/* ---- dpois: lambda^x e^-lambda / x! ---- */

expr svmp_dpois_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr x = value.items[0], lambda = ARGUMENT(0);
    return SUB(SUB(XLOGY(x, lambda), lambda), LOGFACT(x));
}
/* P(X <= x) = Q(x + 1, lambda) */
TAILS(dpois, LOG_GAMMA_Q(ADD(x, NUMBER(1)), ARGUMENT(0)), LOG_GAMMA_P(ADD(x, NUMBER(1)), ARGUMENT(0)))

/* ---- dnegbin: gamma(x + r) / (gamma(r) x!) p^r (1-p)^x ---- */

expr svmp_dnegbin_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr x = value.items[0], p = ARGUMENT(0), r = ARGUMENT(1);
    expr choose = SUB(SUB(LOGGAM(ADD(x, r)), LOGGAM(r)), LOGFACT(x));
    return ADD(ADD(XLOGY(r, p), XLOG1MY(x, p)), choose);
}
/* P(X <= x) = I_p(r, x + 1) */
TAILS(dnegbin, LOG_BETA_I(ARGUMENT(0), ARGUMENT(1), ADD(x, NUMBER(1))),
      LOG_BETA_I(SUB(NUMBER(1), ARGUMENT(0)), ADD(x, NUMBER(1)), ARGUMENT(1)))

/* ---- dcat: pi_x / sum pi ---- */

expr svmp_dcat_density(program_builder *b, expr_array value, const expr_array *arguments) {
    size_t count = arguments[0].rows;
    const expr *weights = arguments[0].items;
    expr x = value.items[0], chosen = NUMBER(0);
    for (size_t k = count; k-- > 0;) chosen = IFELSE(EQUALS(x, NUMBER((double)k + 1)), weights[k], chosen);
    return SUB(LOG(chosen), LOG(svmp_exprs_sum(b, count, weights)));
}

/* ---- dmulti: n! prod (pi_k / sum pi)^x_k / x_k! ---- */

expr svmp_dmulti_density(program_builder *b, expr_array value, const expr_array *arguments) {
    size_t count = arguments[0].rows;
    const expr *weights = arguments[0].items;
    expr n = ARGUMENT(1), total = LOG(svmp_exprs_sum(b, count, weights)), choose = LOGFACT(n), sum = NUMBER(0);
    for (size_t k = 0; k < count; k++) {
        choose = SUB(choose, LOGFACT(value.items[k]));
        sum = ADD(sum, XLOGY(value.items[k], weights[k]));
    }
    return ADD(SUB(sum, MUL(n, total)), choose);
}

/* ---- dhyper: C(n1, x) C(n2, m1 - x) psi^x over the sum of the same ---- */

static expr log_choose(program_builder *b, expr n, expr k) {
    return SUB(LOGFACT(n), ADD(LOGFACT(k), LOGFACT(SUB(n, k))));
}
expr svmp_dhyper_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr x = value.items[0], n1 = ARGUMENT(0), n2 = ARGUMENT(1), m1 = ARGUMENT(2), log_psi = LOG(ARGUMENT(3));
    expr choose = ADD(log_choose(b, n1, x), log_choose(b, n2, SUB(m1, x)));
    expr packed = ADD(MUL(n1, NUMBER(DISTRIBUTION_LARGEST_URN)), n2);
    return ADD(SUB(MUL(x, log_psi), svmp_expr_log_hypergeometric_sum(b, packed, m1, log_psi)), choose);
}

/* ---- dinterval: 1 where x is the number of cut points below t, else 0 ---- */

expr svmp_dinterval_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr t = ARGUMENT(0), below = NUMBER(0);
    for (size_t k = 0; k < arguments[1].rows; k++) below = ADD(below, LESS(arguments[1].items[k], t));
    return IFELSE(EQUALS(value.items[0], below), NUMBER(0), NUMBER(-INFINITY));
}
