/* Distributions of the JAGS modules glm and mix, and of newer versions of BUGS, each with its formula. */
#include "dist/densities.h"

#include <math.h>

#include "dist/formula_words.h"
#include "expr/expr_vectors.h"

/* ---- dnormmix: sum of pi_j N(x; mu_j, tau_j) / sum of pi_j ---- */

typedef expr (*mixed_term)(program_builder *b, expr x, const expr_array *arguments);

static expr mix(program_builder *b, expr x, const expr_array *arguments, mixed_term term) {
    svmp_context *context = svmp_builder_context(b);
    expr *terms;
    const svmp_status status = SVMP_NEW(context, terms, arguments[0].rows);
    if (status != SVMP_OK) return svmp_builder_fail(b, status, "Out of memory."), NUMBER(NAN);
    for (size_t j = 0; j < arguments[0].rows; j++) {
        const expr_array own[2] = {{1, 1, arguments[0].items + j}, {1, 1, arguments[1].items + j}};
        terms[j] = ADD(LOG(arguments[2].items[j]), term(b, x, own));
    }
    expr sum = svmp_expr_log_sum_exp(b, arguments[0].rows, terms);
    svmp_release(context, terms);
    return SUB(sum, LOG(svmp_exprs_sum(b, arguments[2].rows, arguments[2].items)));
}
static expr normal_term(program_builder *b, expr x, const expr_array *arguments) {
    return svmp_dnorm_density(b, (expr_array){1, 1, &x}, arguments);
}
DENSITY(dnormmix, mix(b, x, arguments, normal_term))
TAILS(dnormmix, mix(b, x, arguments, svmp_dnorm_cdf), mix(b, x, arguments, svmp_dnorm_survival))

/* ---- dscaled.gamma: 1/sqrt(x) is |t| with k degrees of freedom and scale s. With f = 1/(s^2 x) that is f ~ F(1, k):
 * density  F(f; 1, k) s^-2 x^-2 ---- */

static expr f_of(program_builder *b, expr x, const expr_array *arguments) {
    return DIV(NUMBER(1), MUL(SQUARE(ARGUMENT(0)), x));
}
static void f_arguments(program_builder *b, const expr_array *arguments, expr *one, expr_array *own) {
    *one = NUMBER(1);
    own[0] = (expr_array){1, 1, one};
    own[1] = arguments[1];
}
expr svmp_dscaled_gamma_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr x = value.items[0], f = f_of(b, x, arguments), one;
    expr_array own[2];
    f_arguments(b, arguments, &one, own);
    expr density = svmp_df_density(b, (expr_array){1, 1, &f}, own);
    return SUB(density, MUL(NUMBER(2), ADD(LOG(ARGUMENT(0)), LOG(x))));
}
expr svmp_dscaled_gamma_cdf(program_builder *b, expr x, const expr_array *arguments) {
    expr one;
    expr_array own[2];
    f_arguments(b, arguments, &one, own);
    return svmp_df_survival(b, f_of(b, x, arguments), own);
}
expr svmp_dscaled_gamma_survival(program_builder *b, expr x, const expr_array *arguments) {
    expr one;
    expr_array own[2];
    f_arguments(b, arguments, &one, own);
    return svmp_df_cdf(b, f_of(b, x, arguments), own);
}

/* ---- dbetabin: C(n, x) B(x + a, n - x + b) / B(a, b) ---- */

static expr log_beta(program_builder *b, expr p, expr q) { return SUB(ADD(LOGGAM(p), LOGGAM(q)), LOGGAM(ADD(p, q))); }

expr svmp_dbetabin_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr x = value.items[0], alpha = ARGUMENT(0), beta = ARGUMENT(1), n = ARGUMENT(2), rest = SUB(n, x);
    expr choose = SUB(LOGFACT(n), ADD(LOGFACT(x), LOGFACT(rest)));
    return ADD(SUB(log_beta(b, ADD(x, alpha), ADD(rest, beta)), log_beta(b, alpha, beta)), choose);
}

/* ---- dordered: P(x = j) = F(c_j - mu) - F(c_(j-1) - mu), F the logistic or the normal distribution function ---- */

typedef expr (*log_function)(program_builder *b, expr e);
typedef expr (*log_difference)(program_builder *b, expr low, expr high);

static expr log_ilogit(program_builder *b, expr e) { return LOG_ILOGIT(e); }
static expr log_phi(program_builder *b, expr e) { return LOG_PHI(e); }

/* (e^h - e^l) / ((1 + e^l)(1 + e^h)) */
static expr between_logits(program_builder *b, expr low, expr high) {
    return ADD(ADD(LOG_ILOGIT(high), LOG_ILOGIT(NEG(low))), LOG1M_EXP(SUB(high, low)));
}
/* Above 0 it uses the other tail, so that nothing cancels. */
static expr between_probits(program_builder *b, expr low, expr high) {
    expr f_low = LOG_PHI(low), f_high = LOG_PHI(high), s_low = LOG_PHI(NEG(low)), s_high = LOG_PHI(NEG(high));
    expr left = ADD(f_high, LOG1M_EXP(SUB(f_high, f_low))), right = ADD(s_low, LOG1M_EXP(SUB(s_low, s_high)));
    return IFELSE(BELOW(NUMBER(0), low), right, left);
}
static expr ordered(program_builder *b, expr x, const expr_array *arguments, log_function f, log_difference between) {
    const expr *cut = arguments[1].items, mu = ARGUMENT(0);
    const size_t count = arguments[1].rows;
    expr chosen = f(b, SUB(mu, cut[count - 1]));
    for (size_t k = count; k-- > 0;) {
        expr here = k == 0 ? f(b, SUB(cut[0], mu)) : between(b, SUB(cut[k - 1], mu), SUB(cut[k], mu));
        chosen = IFELSE(EQUALS(x, NUMBER((double)k + 1)), here, chosen);
    }
    return chosen;
}
DENSITY(dordered_logit, ordered(b, x, arguments, log_ilogit, between_logits))
DENSITY(dordered_probit, ordered(b, x, arguments, log_phi, between_probits))

/* ---- dsum: the sum of discrete nodes ---- */

DENSITY(dsum, IFELSE(EQUALS(x, ARGUMENT(0)), NUMBER(0), NUMBER(-INFINITY)))

/* ---- dround: a bound on t, which its transform has ---- */

DENSITY(dround, NUMBER(0))
