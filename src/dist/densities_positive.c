/* Continuous distributions on the half-line, each with its formula. */
#include "dist/densities.h"

#include "dist/formula_words.h"

static const double half_log_2_pi = 0.91893853320467274178;
static const double log_2_over_pi = -0.45158270528945486473;

/* x^p for x > 0; if x is itself an exponential, a single exponential. */
static expr positive_power(program_builder *b, expr x, expr p) { return EXP(MUL(p, LOG(x))); }

/* ---- dgamma: lambda^r x^(r-1) e^(-lambda x) / gamma(r) ---- */

/* log gamma(r) - (r - 1/2) log r + r - log(2 pi)/2 for r > 30, within 1e-16: Stirling's series. */
static expr stirling(program_builder *b, expr r) {
    expr y = DIV(NUMBER(1), SQUARE(r));
    expr series =
        SUB(NUMBER(1. / 12), MUL(y, SUB(NUMBER(1. / 360), MUL(y, SUB(NUMBER(1. / 1260), MUL(y, NUMBER(1. / 1680)))))));
    return DIV(series, r);
}

/* If r is large and lambda x close to it, as for a gamma with a small sd, all digits of the terms cancel: r log(lambda
 * x / r) - lambda x + r = r (log(1 + e) - e) with e = lambda x / r - 1. Elsewhere log(1 + e) would be inaccurate for
 * small x. */
static expr log_gamma_density(program_builder *b, expr x, expr r, expr lambda) {
    expr front = SUB(MUL(r, LOG(lambda)), LOGGAM(r));
    expr plain = ADD(SUB(XLOGY(SUB(r, NUMBER(1)), x), MUL(lambda, x)), front);
    if (svmp_expr_level(b, r) != LEVEL_INPUT) return plain;
    expr excess = DIV(SUB(MUL(lambda, x), r), r);
    expr narrow = ADD(MUL(r, SUB(LOG1P(excess), excess)),
                      SUB(HALF(LOG(r)), ADD(ADD(NUMBER(half_log_2_pi), stirling(b, r)), LOG(x))));
    return IFELSE(MUL(BELOW(NUMBER(30), r), BELOW(SQUARE(excess), NUMBER(0.25))), narrow, plain);
}
DENSITY(dgamma, log_gamma_density(b, x, ARGUMENT(0), ARGUMENT(1)))
TAILS(dgamma, LOG_GAMMA_P(ARGUMENT(0), MUL(ARGUMENT(1), x)), LOG_GAMMA_Q(ARGUMENT(0), MUL(ARGUMENT(1), x)))

/* ---- dchisqr: dgamma(k/2, 1/2) ---- */

DENSITY(dchisqr, log_gamma_density(b, x, HALF(ARGUMENT(0)), NUMBER(0.5)))
TAILS(dchisqr, LOG_GAMMA_P(HALF(ARGUMENT(0)), HALF(x)), LOG_GAMMA_Q(HALF(ARGUMENT(0)), HALF(x)))

/* ---- dnchisqr: dchisqr(k) e^(-delta/2) 0F1(; k/2; delta x / 4) ---- */

expr svmp_dnchisqr_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr x = value.items[0], half = HALF(ARGUMENT(0)), delta = ARGUMENT(1);
    expr series = svmp_expr_log_0f1(b, half, MUL(NUMBER(0.25), MUL(delta, x)));
    return ADD(SUB(log_gamma_density(b, x, half, NUMBER(0.5)), HALF(delta)), series);
}

/* ---- dexp: lambda e^(-lambda x) ---- */

DENSITY(dexp, SUB(LOG(ARGUMENT(0)), MUL(ARGUMENT(0), x)))
TAILS(dexp, LOG1M_EXP(MUL(ARGUMENT(0), x)), NEG(MUL(ARGUMENT(0), x)))

/* ---- dweib: v lambda x^(v-1) exp(-lambda x^v) ---- */

static expr weibull_exponent(program_builder *b, expr x, const expr_array *arguments) {
    return MUL(ARGUMENT(1), positive_power(b, x, ARGUMENT(0)));
}
expr svmp_dweib_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr x = value.items[0], v = ARGUMENT(0), front = ADD(LOG(v), LOG(ARGUMENT(1)));
    return ADD(SUB(XLOGY(SUB(v, NUMBER(1)), x), weibull_exponent(b, x, arguments)), front);
}
TAILS(dweib, LOG1M_EXP(weibull_exponent(b, x, arguments)), NEG(weibull_exponent(b, x, arguments)))

/* ---- df: gamma((n+m)/2) / (gamma(n/2) gamma(m/2)) (n/m)^(n/2) x^(n/2-1) (1 + n x/m)^(-(n+m)/2) ---- */

expr svmp_df_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr x = value.items[0], n = ARGUMENT(0), m = ARGUMENT(1), half_n = HALF(n), half_sum = HALF(ADD(n, m));
    expr front = SUB(LOGGAM(half_sum), ADD(LOGGAM(half_n), LOGGAM(HALF(m))));
    expr power = SUB(XLOGY(SUB(half_n, NUMBER(1)), x), MUL(half_sum, LOG1P(MUL(x, DIV(n, m)))));
    return ADD(power, ADD(front, MUL(half_n, SUB(LOG(n), LOG(m)))));
}
/* I_{nx/(nx + m)}(n/2, m/2) */
expr svmp_df_cdf(program_builder *b, expr x, const expr_array *arguments) {
    expr n = ARGUMENT(0), m = ARGUMENT(1), nx = MUL(n, x);
    return LOG_BETA_I(DIV(nx, ADD(nx, m)), HALF(n), HALF(m));
}
expr svmp_df_survival(program_builder *b, expr x, const expr_array *arguments) {
    expr n = ARGUMENT(0), m = ARGUMENT(1);
    return LOG_BETA_I(DIV(m, ADD(MUL(n, x), m)), HALF(m), HALF(n));
}

/* ---- dgen.gamma(r, lambda, b), in JAGS' order: b lambda^(b r) x^(b r - 1) exp(-(lambda x)^b) / gamma(r) ---- */

static expr generalised_exponent(program_builder *b, expr x, const expr_array *arguments) {
    return EXP(MUL(ARGUMENT(2), ADD(LOG(x), LOG(ARGUMENT(1)))));
}
expr svmp_dgen_gamma_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr x = value.items[0], r = ARGUMENT(0), power = ARGUMENT(2), product = MUL(power, r);
    expr front = ADD(SUB(LOG(power), LOGGAM(r)), MUL(product, LOG(ARGUMENT(1))));
    return ADD(SUB(XLOGY(SUB(product, NUMBER(1)), x), generalised_exponent(b, x, arguments)), front);
}
TAILS(dgen_gamma, LOG_GAMMA_P(ARGUMENT(0), generalised_exponent(b, x, arguments)),
      LOG_GAMMA_Q(ARGUMENT(0), generalised_exponent(b, x, arguments)))

/* ---- dinvgamma(a, s): s^a / gamma(a) x^(-a-1) e^(-s/x): 1/x is dgamma(a, s) ---- */

expr svmp_dinvgamma_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr x = value.items[0], a = ARGUMENT(0), s = ARGUMENT(1), front = SUB(MUL(a, LOG(s)), LOGGAM(a));
    return SUB(SUB(front, MUL(ADD(a, NUMBER(1)), LOG(x))), DIV(s, x));
}
TAILS(dinvgamma, LOG_GAMMA_Q(ARGUMENT(0), DIV(ARGUMENT(1), x)), LOG_GAMMA_P(ARGUMENT(0), DIV(ARGUMENT(1), x)))

/* ---- dhalfcauchy: 2 / (pi s (1 + (x/s)^2)) ---- */

expr svmp_dhalfcauchy_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr s = ARGUMENT(0);
    return SUB(SUB(NUMBER(log_2_over_pi), LOG(s)), LOG1P(SQUARE(DIV(value.items[0], s))));
}
/* 2/pi arctan(x/s), and 2/pi arctan(s/x) beyond */
TAILS(dhalfcauchy, ADD(NUMBER(log_2_over_pi), LOG(svmp_expr_arctan(b, DIV(x, ARGUMENT(0))))),
      ADD(NUMBER(log_2_over_pi), LOG(svmp_expr_arctan(b, DIV(ARGUMENT(0), x)))))

/* ---- dpar: alpha c^alpha x^(-alpha-1), x > c ---- */

expr svmp_dpar_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr alpha = ARGUMENT(0), front = ADD(LOG(alpha), MUL(alpha, LOG(ARGUMENT(1))));
    return SUB(front, MUL(ADD(alpha, NUMBER(1)), LOG(value.items[0])));
}
TAILS(dpar, LOG1M_EXP(NEG(MUL(ARGUMENT(0), SUB(LOG(ARGUMENT(1)), LOG(x))))),
      MUL(ARGUMENT(0), SUB(LOG(ARGUMENT(1)), LOG(x))))
