/* Continuous distributions on the line and on intervals, each with its formula. */
#include "dist/densities.h"

#include "dist/formula_words.h"

static const double log_2 = 0.69314718055994530942;
static const double log_pi = 1.1447298858494001741;
static const double log_2_pi = 1.8378770664093454836;

/* ---- dnorm: sqrt(tau/2pi) exp(-tau (x - mu)^2 / 2) ---- */

static expr log_normal_density(program_builder *b, expr x, expr mu, expr tau) {
    expr scale = HALF(SUB(LOG(tau), NUMBER(log_2_pi)));
    return SUB(scale, HALF(MUL(tau, SQUARE(SUB(x, mu)))));
}

/* (x - mu) sqrt(tau) */
static expr standardised(program_builder *b, expr x, const expr_array *arguments) {
    return MUL(SUB(x, ARGUMENT(0)), SQRT(ARGUMENT(1)));
}

DENSITY(dnorm, log_normal_density(b, x, ARGUMENT(0), ARGUMENT(1)))
TAILS(dnorm, LOG_PHI(standardised(b, x, arguments)), LOG_PHI(NEG(standardised(b, x, arguments))))

/* ---- dlnorm: log x is dnorm, and the density takes 1/x ---- */

expr svmp_dlnorm_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr log_x = LOG(value.items[0]);
    return SUB(log_normal_density(b, log_x, ARGUMENT(0), ARGUMENT(1)), log_x);
}
TAILS(dlnorm, LOG_PHI(standardised(b, LOG(x), arguments)), LOG_PHI(NEG(standardised(b, LOG(x), arguments))))

/* ---- dt: gamma((k+1)/2)/gamma(k/2) sqrt(tau/(k pi)) (1 + tau (x - mu)^2 / k)^(-(k+1)/2) ---- */

expr svmp_dt_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr mu = ARGUMENT(0), tau = ARGUMENT(1), k = ARGUMENT(2), half = HALF(ADD(k, NUMBER(1)));
    expr front = SUB(LOGGAM(half), LOGGAM(HALF(k)));
    expr scale = HALF(SUB(SUB(LOG(tau), LOG(k)), NUMBER(log_pi)));
    expr ratio = MUL(SQUARE(SUB(value.items[0], mu)), DIV(tau, k));
    return SUB(ADD(front, scale), MUL(half, LOG1P(ratio)));
}

/* log P(T < z) of the standard t distribution: I_{k/(k + z^2)}(k/2, 1/2) / 2 is the probability beyond |z|. */
static expr log_t_cdf(program_builder *b, expr z, expr k) {
    expr place = DIV(k, ADD(k, SQUARE(z)));
    expr tail = SUB(LOG_BETA_I(place, HALF(k), NUMBER(0.5)), NUMBER(log_2));
    return IFELSE(BELOW(z, NUMBER(0)), tail, LOG1M_EXP(NEG(tail)));
}
TAILS(dt, log_t_cdf(b, standardised(b, x, arguments), ARGUMENT(2)),
      log_t_cdf(b, NEG(standardised(b, x, arguments)), ARGUMENT(2)))

/* ---- dnt: (Z/sqrt(tau) + mu) / sqrt(chi^2/k). With z = sqrt(tau) x, d = sqrt(tau) mu and s = z^2 + k:
 * sqrt(tau) k^(k/2) e^(-k d^2/(2 s)) / (sqrt(pi) gamma(k/2) 2^((k-1)/2) s^((k+1)/2)) I, I the integral of
 * v^k exp(-(v - d z/sqrt(s))^2 / 2) over v > 0 ---- */

expr svmp_dnt_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr tau = ARGUMENT(1), k = ARGUMENT(2), root = SQRT(tau);
    expr z = MUL(root, value.items[0]), d = MUL(root, ARGUMENT(0)), s = ADD(SQUARE(z), k);
    expr front = SUB(HALF(ADD(LOG(tau), MUL(k, LOG(k)))), ADD(NUMBER(0.5 * log_pi), LOGGAM(HALF(k))));
    front = SUB(front, MUL(HALF(SUB(k, NUMBER(1))), NUMBER(log_2)));
    front = SUB(front, ADD(MUL(HALF(ADD(k, NUMBER(1))), LOG(s)), HALF(DIV(MUL(k, SQUARE(d)), s))));
    return ADD(front, svmp_expr_log_normal_power(b, k, DIV(MUL(d, z), SQRT(s))));
}

/* ---- dlogis: with z = tau (x - mu), tau e^z / (1 + e^z)^2 ---- */

static expr scaled(program_builder *b, expr x, const expr_array *arguments) {
    return MUL(SUB(x, ARGUMENT(0)), ARGUMENT(1));
}
expr svmp_dlogis_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr z = scaled(b, value.items[0], arguments);
    return ADD(LOG(ARGUMENT(1)), SUB(MUL(NUMBER(2), LOG_ILOGIT(z)), z));
}
TAILS(dlogis, LOG_ILOGIT(scaled(b, x, arguments)), LOG_ILOGIT(NEG(scaled(b, x, arguments))))

/* ---- ddexp: tau/2 exp(-tau |x - mu|) ---- */

expr svmp_ddexp_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr tau = ARGUMENT(1);
    return SUB(SUB(LOG(tau), NUMBER(log_2)), MUL(tau, ABS(SUB(value.items[0], ARGUMENT(0)))));
}
/* e^z/2 for z < 0, 1 - e^-z/2 for z > 0. */
static expr log_double_exponential_cdf(program_builder *b, expr z) {
    return IFELSE(BELOW(z, NUMBER(0)), SUB(z, NUMBER(log_2)), LOG1P(NEG(HALF(EXP(NEG(z))))));
}
TAILS(ddexp, log_double_exponential_cdf(b, scaled(b, x, arguments)),
      log_double_exponential_cdf(b, NEG(scaled(b, x, arguments))))

/* ---- dflat: 1 everywhere; not a probability ---- */

DENSITY(dflat, NUMBER(0))

/* ---- dunif: 1/(b - a) ---- */

DENSITY(dunif, NEG(LOG(SUB(ARGUMENT(1), ARGUMENT(0)))))
TAILS(dunif, LOG(DIV(SUB(x, ARGUMENT(0)), SUB(ARGUMENT(1), ARGUMENT(0)))),
      LOG(DIV(SUB(ARGUMENT(1), x), SUB(ARGUMENT(1), ARGUMENT(0)))))

/* ---- dbeta: gamma(p + q) / (gamma(p) gamma(q)) x^(p-1) (1-x)^(q-1) ---- */

expr svmp_dbeta_density(program_builder *b, expr_array value, const expr_array *arguments) {
    expr x = value.items[0], p = ARGUMENT(0), q = ARGUMENT(1), one = NUMBER(1);
    expr front = SUB(LOGGAM(ADD(p, q)), ADD(LOGGAM(p), LOGGAM(q)));
    return ADD(ADD(XLOGY(SUB(p, one), x), XLOG1MY(SUB(q, one), x)), front);
}
TAILS(dbeta, LOG_BETA_I(x, ARGUMENT(0), ARGUMENT(1)), LOG_BETA_I(SUB(NUMBER(1), x), ARGUMENT(1), ARGUMENT(0)))
