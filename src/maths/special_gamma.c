/* Gamma functions, complete and incomplete. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* lgamma_r */
#endif
#include "maths/special.h"

#include <math.h>

SPECIAL double svmp_log_gamma(double x) {
#ifdef SVMP_DEVICE
    return lgamma(x);
#else
    int sign;
    return x > 0 ? svmp_positive_log_gamma(x) : lgamma_r(x, &sign);
#endif
}

#ifndef SVMP_DEVICE
double svmp_gamma(double x) { return x > 0 ? svmp_positive_gamma(x) : tgamma(x); }
#endif

SPECIAL double svmp_digamma(double x) {
    if (x > 0) return svmp_positive_digamma(x);
    return x == floor(x) ? NAN : svmp_positive_digamma(1 - x) - M_PI / tan(M_PI * x);
}

SPECIAL double svmp_trigamma(double x) {
    if (x > 0) return svmp_positive_trigamma(x);
    const double sine = sin(M_PI * x);
    return x == floor(x) ? NAN : M_PI * M_PI / (sine * sine) - svmp_positive_trigamma(1 - x);
}

/* A value and its derivative with respect to a. */
typedef struct dual {
    double value, slope;
} dual;

/* S = sum over k of x^k / ((a + 1) ... (a + k)):   P = x^a e^-x / gamma(a + 1) * S. */
SPECIAL_OWN dual series(double a, double x) {
    dual sum = {1, 0};
    double term = 1, harmonic = 0; /* d term / da = -term * harmonic */
    for (double k = 1; term > 1e-17 * sum.value && k < 1e7; k++) {
        term *= x / (a + k);
        harmonic += 1 / (a + k);
        sum.value += term;
        sum.slope -= term * harmonic;
    }
    return sum;
}

/* H = 1/(x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(x+5-a - ...))):   Q = x^a e^-x / gamma(a) * H.
 * Lentz' method: numerators u_k = -k(k-a), denominators v_k = x + 2k + 1 - a, k = 1, 2, ...
 *     C_k = v_k + u_k / C_{k-1},   D_k = 1 / (v_k + u_k D_{k-1}),   H_k = H_{k-1} C_k D_k. */
SPECIAL_OWN dual fraction(double a, double x) {
    const double tiny = 1e-300, rounding = 4e-16; /* the ratio of two rounded factors is no closer to 1 than this */
    dual c = {1 / tiny, 0}, d, h;
    double v = x + 1 - a;
    d.value = 1 / v;
    d.slope = d.value * d.value;
    h = d;
    for (double k = 1; k < 1e7; k++) {
        double u = -k * (k - a), denominator;
        v += 2;
        denominator = u * d.value + v;
        if (fabs(denominator) < tiny) denominator = tiny;
        dual next_d = {1 / denominator, 0}, next_c;
        next_d.slope = -next_d.value * next_d.value * (k * d.value + u * d.slope - 1);
        next_c.value = v + u / c.value;
        if (fabs(next_c.value) < tiny) next_c.value = tiny;
        next_c.slope = -1 + k / c.value - u * c.slope / (c.value * c.value);
        double ratio = next_c.value * next_d.value;
        double ratio_slope = next_c.slope * next_d.value + next_c.value * next_d.slope;
        h.slope = h.slope * ratio + h.value * ratio_slope;
        h.value *= ratio;
        c = next_c;
        d = next_d;
        if (fabs(ratio - 1) < rounding && fabs(h.value * ratio_slope) < rounding * (fabs(h.slope) + fabs(h.value)))
            break;
    }
    return h;
}

/* The log of the smaller of P (then *lower is set) and Q, with its derivative. */
SPECIAL_OWN dual smaller_tail(double a, double x, int *lower) {
    double front = a * log(x) - x - svmp_log_gamma(a);
    *lower = x < a + 1;
    if (*lower) {
        dual s = series(a, x);
        return MADE(dual){front - log(a) + log(s.value), log(x) - svmp_digamma(a + 1) + s.slope / s.value};
    }
    dual h = fraction(a, x);
    return MADE(dual){front + log(h.value), log(x) - svmp_digamma(a) + h.slope / h.value};
}

/* log P when `lower`, else log Q; and the derivative. One is 1 minus the other:
 *     log(1 - e^t), whose derivative is -t' e^t / (1 - e^t) = -t' / (e^-t - 1). */
SPECIAL_OWN dual log_tail(double a, double x, int lower) {
    if (!(a > 0) || !(x >= 0)) return MADE(dual){NAN, NAN};
    if (x == 0) return lower ? MADE(dual){-INFINITY, -INFINITY} : MADE(dual){0, 0};
    if (isinf(x)) return lower ? MADE(dual){0, 0} : MADE(dual){-INFINITY, INFINITY};
    int which;
    dual tail = smaller_tail(a, x, &which);
    if (which == lower) return tail;
    return MADE(dual){svmp_log1m_exp(-tail.value), -tail.slope / expm1(-tail.value)};
}

SPECIAL double svmp_log_gamma_p(double a, double x) { return log_tail(a, x, 1).value; }
SPECIAL double svmp_log_gamma_q(double a, double x) { return log_tail(a, x, 0).value; }
SPECIAL double svmp_log_gamma_p_shape(double a, double x) { return log_tail(a, x, 1).slope; }
SPECIAL double svmp_log_gamma_q_shape(double a, double x) { return log_tail(a, x, 0).slope; }

/* d/da of a derivative: (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h. Steps proportional to a keep it positive. */
SPECIAL_OWN double bend(double a, double x, int lower) {
    const double h = 0x1p-9 * a;
    const double near = log_tail(a + h, x, lower).slope - log_tail(a - h, x, lower).slope;
    const double far = log_tail(a + 2 * h, x, lower).slope - log_tail(a - 2 * h, x, lower).slope;
    return (8 * near - far) / (12 * h);
}

SPECIAL double svmp_log_gamma_p_bend(double a, double x) { return bend(a, x, 1); }
SPECIAL double svmp_log_gamma_q_bend(double a, double x) { return bend(a, x, 0); }
