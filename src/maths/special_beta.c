/* The regularised incomplete beta function. */
#include "maths/special.h"

#include <math.h>

/* A value and its derivatives with respect to a and b. */
typedef struct dual {
    double value, a, b;
} dual;

/* The k-th coefficient of the continued fraction, k = 1, 2, ...
 *     u_2m   = m (b - m) x / ((a + 2m - 1)(a + 2m))
 *     u_2m+1 = -(a + m)(a + b + m) x / ((a + 2m)(a + 2m + 1))
 * with derivatives of the logarithm, written so that a zero factor does no harm. */
SPECIAL_OWN dual coefficient(double x, double a, double b, double k) {
    double m = floor(k / 2);
    if (k == 2 * m) {
        double below = (a + 2 * m - 1) * (a + 2 * m), value = m * (b - m) * x / below;
        return MADE(dual){value, -value * (1 / (a + 2 * m - 1) + 1 / (a + 2 * m)), m * x / below};
    }
    double below = (a + 2 * m) * (a + 2 * m + 1), value = -(a + m) * (a + b + m) * x / below;
    double slope = 1 / (a + m) + 1 / (a + b + m) - 1 / (a + 2 * m) - 1 / (a + 2 * m + 1);
    return MADE(dual){value, value * slope, -(a + m) * x / below};
}

/* F = 1/(1 + u_1/(1 + u_2/(1 + ...))). Lentz' method gives the denominator:
 *     C_0 = 1, D_0 = 0,   C_k = 1 + u_k/C_{k-1},   D_k = 1/(1 + u_k D_{k-1}),   f_k = f_{k-1} C_k D_k. */
SPECIAL_OWN dual fraction(double x, double a, double b) {
    const double tiny = 1e-300, rounding = 4e-16; /* the ratio of two rounded factors is no closer to 1 than this */
    dual c = {1, 0, 0}, d = {0, 0, 0}, f = {1, 0, 0};
    for (double k = 1; k < 1e6; k++) {
        dual u = coefficient(x, a, b, k), next_c, next_d, ratio;
        next_c.value = 1 + u.value / c.value;
        if (fabs(next_c.value) < tiny) next_c.value = tiny;
        next_c.a = (u.a - u.value * c.a / c.value) / c.value;
        next_c.b = (u.b - u.value * c.b / c.value) / c.value;
        double below = 1 + u.value * d.value;
        if (fabs(below) < tiny) below = tiny;
        next_d.value = 1 / below;
        next_d.a = -next_d.value * next_d.value * (u.a * d.value + u.value * d.a);
        next_d.b = -next_d.value * next_d.value * (u.b * d.value + u.value * d.b);
        ratio.value = next_c.value * next_d.value;
        ratio.a = next_c.a * next_d.value + next_c.value * next_d.a;
        ratio.b = next_c.b * next_d.value + next_c.value * next_d.b;
        f.a = f.a * ratio.value + f.value * ratio.a;
        f.b = f.b * ratio.value + f.value * ratio.b;
        f.value *= ratio.value;
        c = next_c;
        d = next_d;
        double scale = fabs(f.value) + fabs(f.a) + fabs(f.b);
        if (fabs(ratio.value - 1) < rounding && fabs(f.value) * (fabs(ratio.a) + fabs(ratio.b)) < rounding * scale)
            break;
    }
    return MADE(dual){1 / f.value, -f.a / (f.value * f.value), -f.b / (f.value * f.value)};
}

/* I = x^a (1-x)^b / (a B(a, b)) F, where x is small enough for the fraction to converge fast. */
SPECIAL_OWN dual direct(double x, double complement, double a, double b) {
    double log_x = log(x), log_complement = log(complement);
    double log_beta = svmp_log_gamma(a) + svmp_log_gamma(b) - svmp_log_gamma(a + b), sum = svmp_digamma(a + b);
    dual f = fraction(x, a, b);
    return MADE(dual){a * log_x + b * log_complement - log_beta - log(a) + log(f.value),
                      log_x - svmp_digamma(a) + sum - 1 / a + f.a / f.value,
                      log_complement - svmp_digamma(b) + sum + f.b / f.value};
}

SPECIAL_OWN dual log_beta_i(double x, double a, double b) {
    if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1)) return MADE(dual){NAN, NAN, NAN};
    if (x == 0) return MADE(dual){-INFINITY, -INFINITY, INFINITY};
    if (x == 1) return MADE(dual){0, 0, 0};
    if (x < (a + 1) / (a + b + 2)) return direct(x, 1 - x, a, b);
    dual other = direct(1 - x, x, b, a); /* I_x(a, b) = 1 - I_{1-x}(b, a) */
    double factor = -1 / expm1(-other.value);
    return MADE(dual){svmp_log1m_exp(-other.value), other.b * factor, other.a * factor};
}

SPECIAL double svmp_log_beta_i(double x, double a, double b) { return log_beta_i(x, a, b).value; }
SPECIAL double svmp_log_beta_i_first(double x, double a, double b) { return log_beta_i(x, a, b).a; }
SPECIAL double svmp_log_beta_i_second(double x, double a, double b) { return log_beta_i(x, a, b).b; }

/* Differences of the first derivatives: (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h, h proportional to the argument. */
SPECIAL_OWN dual difference(dual up, dual down) {
    return MADE(dual){up.value - down.value, up.a - down.a, up.b - down.b};
}

SPECIAL double svmp_log_beta_i_bend(double x, double a, double b) {
    const double h = 0x1p-9 * a;
    const dual near = difference(log_beta_i(x, a + h, b), log_beta_i(x, a - h, b));
    const dual far = difference(log_beta_i(x, a + 2 * h, b), log_beta_i(x, a - 2 * h, b));
    return (8 * near.a - far.a) / (12 * h);
}

SPECIAL double svmp_log_beta_i_cross(double x, double a, double b) {
    const double h = 0x1p-9 * b;
    const dual near = difference(log_beta_i(x, a, b + h), log_beta_i(x, a, b - h));
    const dual far = difference(log_beta_i(x, a, b + 2 * h), log_beta_i(x, a, b - 2 * h));
    return (8 * near.a - far.a) / (12 * h);
}

SPECIAL double svmp_log_beta_i_bend_second(double x, double a, double b) {
    const double h = 0x1p-9 * b;
    const dual near = difference(log_beta_i(x, a, b + h), log_beta_i(x, a, b - h));
    const dual far = difference(log_beta_i(x, a, b + 2 * h), log_beta_i(x, a, b - 2 * h));
    return (8 * near.b - far.b) / (12 * h);
}
