/* Short words for expressions, for files full of formulas. The builder is `b`, the arguments are `arguments`. */
#ifndef SVMP_DIST_FORMULA_WORDS_H
#define SVMP_DIST_FORMULA_WORDS_H

#include "expr/program.h"

#define ARGUMENT(k)         (arguments[k].items[0])
#define NUMBER(value)       svmp_expr_literal(b, value)
#define ADD(x, y)           svmp_expr_add(b, x, y)
#define SUB(x, y)           svmp_expr_subtract(b, x, y)
#define MUL(x, y)           svmp_expr_multiply(b, x, y)
#define DIV(x, y)           svmp_expr_divide(b, x, y)
#define NEG(x)              svmp_expr_negate(b, x)
#define HALF(x)             svmp_expr_multiply(b, x, svmp_expr_literal(b, 0.5))
#define SQUARE(x)           svmp_expr_square(b, x)
#define SQRT(x)             svmp_expr_sqrt(b, x)
#define ABS(x)              svmp_expr_abs(b, x)
#define EXP(x)              svmp_expr_exp(b, x)
#define LOG(x)              svmp_expr_log(b, x)
#define LOG1P(x)            svmp_expr_log1p(b, x)
#define LOG1M_EXP(x)        svmp_expr_log1m_exp(b, x)
#define XLOGY(x, y)         svmp_expr_xlogy(b, x, y)
#define XLOG1MY(x, y)       svmp_expr_xlog1my(b, x, y)
#define LOGGAM(x)           svmp_expr_loggam(b, x)
#define LOGFACT(x)          svmp_expr_logfact(b, x)
#define LOG_PHI(x)          svmp_expr_log_phi(b, x)
#define LOG_ILOGIT(x)       svmp_expr_log_ilogit(b, x)
#define LOG_GAMMA_P(a, x)   svmp_expr_log_gamma_p(b, a, x)
#define LOG_GAMMA_Q(a, x)   svmp_expr_log_gamma_q(b, a, x)
#define LOG_BETA_I(x, p, q) svmp_expr_log_beta_i(b, x, p, q)
#define IFELSE(c, x, y)     svmp_expr_ifelse(b, c, x, y)
#define LESS(x, y)          svmp_expr_less(b, x, y)
#define BELOW(x, y)         svmp_expr_below(b, x, y) /* only if both values of the choice agree at x = y */
#define EQUALS(x, y)        svmp_expr_equals(b, x, y)

#endif
