/* Special functions that libm lacks, accurate to about 1e-14 relative where nothing else is said. No globals. Those
 * that loops run with several lanes an instruction are in fast_*.h. */
#ifndef SVMP_MATHS_SPECIAL_H
#define SVMP_MATHS_SPECIAL_H

#include "maths/fast_gamma.h"
#include "maths/fast_normal.h"
#include "maths/fast_power.h"
#include "maths/fast_trigonometric.h"

/* How the functions are declared, and those that only they call. A structure is MADE(type){...} in C and in C++. */
#ifndef SVMP_DEVICE
#define SPECIAL
#define SPECIAL_OWN static
#define MADE(type)  (type)
#endif

SPECIAL double svmp_log_gamma(double x); /* log |gamma(x)| */
#ifdef SVMP_DEVICE
#define svmp_gamma tgamma
#else
double svmp_gamma(double x);
#endif
SPECIAL double svmp_digamma(double x);  /* the derivative of log gamma */
SPECIAL double svmp_trigamma(double x); /* the derivative of that */

/* log P(a, x) and log Q(a, x) = log(1 - P), of the regularised incomplete gamma functions, a > 0, x >= 0; and their
 * derivatives with respect to a, by differentiating the series (x < a + 1) or the continued fraction term by term. The
 * work near x = a grows as sqrt(a), the relative error as a*log(a)*1e-16. */
SPECIAL double svmp_log_gamma_p(double a, double x);
SPECIAL double svmp_log_gamma_q(double a, double x);
SPECIAL double svmp_log_gamma_p_shape(double a, double x);
SPECIAL double svmp_log_gamma_q_shape(double a, double x);

/* Their second derivatives with respect to a, by differences of the first ones, accurate to about 1e-10 relative. */
SPECIAL double svmp_log_gamma_p_bend(double a, double x);
SPECIAL double svmp_log_gamma_q_bend(double a, double x);

/* log I_x(a, b), of the regularised incomplete beta function, and its derivatives with respect to a and b, by
 * differentiating the continued fraction term by term. */
SPECIAL double svmp_log_beta_i(double x, double a, double b);
SPECIAL double svmp_log_beta_i_first(double x, double a, double b);
SPECIAL double svmp_log_beta_i_second(double x, double a, double b);

/* d^2/da^2, d^2/da db and d^2/db^2 of it, by differences of the first derivatives, accurate to about 1e-10 relative. */
SPECIAL double svmp_log_beta_i_bend(double x, double a, double b);
SPECIAL double svmp_log_beta_i_cross(double x, double a, double b);
SPECIAL double svmp_log_beta_i_bend_second(double x, double a, double b);

/* The x with P(X <= x) = p, of the gamma distribution of rate 1, the beta and Student's t distribution; NaN outside
 * 0 <= p <= 1, and unless a, b and k are positive and finite. */
SPECIAL double svmp_gamma_quantile(double p, double a);
SPECIAL double svmp_beta_quantile(double p, double a, double b);
SPECIAL double svmp_t_quantile(double p, double k);

/* log 0F1(; b; z), b > 0, z >= 0, and its first and second derivative by b. */
SPECIAL double svmp_log_0f1(double b, double z);
SPECIAL double svmp_log_0f1_shape(double b, double z);
SPECIAL double svmp_log_0f1_bend(double b, double z);

/* log of the integral of v^k exp(-(v - m)^2 / 2) over v > 0, k > -1, and its first and second derivative by k. */
SPECIAL double svmp_log_normal_power(double k, double m);
SPECIAL double svmp_log_normal_power_shape(double k, double m);
SPECIAL double svmp_log_normal_power_bend(double k, double m);

/* Of the noncentral hypergeometric distribution with n1, n2, m and odds ratio psi: log of the sum over u of
 * C(n1, u) C(n2, m - u) psi^u, the mean and the variance. `packed` is n1*2^26 + n2. NaN unless n1, n2 and m are counts
 * below 2^26 with m <= n1 + n2. */
SPECIAL double svmp_log_hypergeometric_sum(double packed, double m, double log_psi);
SPECIAL double svmp_hypergeometric_mean(double packed, double m, double log_psi);
SPECIAL double svmp_hypergeometric_variance(double packed, double m, double log_psi);

#endif
