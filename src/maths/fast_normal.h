/* The normal distribution's functions, in the manner of fast_exponential.h, by one function of t >= 0:
 *
 *     E(t) = density(t)/Phi(-t) - t,    E (t + 3) a polynomial of (t - 3)/(t + 3) */
#ifndef SVMP_MATHS_FAST_NORMAL_H
#define SVMP_MATHS_FAST_NORMAL_H

#include "maths/fast_logarithm.h"

FAST double svmp_hazard_excess(double t) {
    static const double q[] = {
        0x1.b2d6ebb2ce8ffp+0,   -0x1.aede2c42fdfbep-1,  0x1.19337485e4afap-6,   0x1.7c500fb505d4bp-3,
        -0x1.a0b9138be5dc5p-6,  -0x1.bf99763374f35p-5,  0x1.f89c934d359a0p-8,   0x1.2dfa290a7e2e2p-6,
        -0x1.ee57fd564f366p-11, -0x1.a190bf6957380p-8,  -0x1.4c6655fd10d9bp-11, 0x1.0bd91bbd13bb8p-9,
        0x1.40edcc9b98f28p-11,  -0x1.1c3a393f31938p-11, -0x1.528d13d27cad1p-12, 0x1.80dd4e9d539aep-14,
        0x1.004b2a64efb8ep-13,  0x1.7a80228ae7443p-18,  -0x1.12ed88d065a99p-15, -0x1.6cf28a80fb510p-17,
        0x1.4b4827b149b3dp-18,  0x1.14ed5ae18ffa4p-18,  0x1.41b2db5252f5dp-22,  -0x1.b73875eb65526p-21,
        -0x1.84637beddb2f1p-22, 0x1.1cfce89ef4443p-24,  0x1.5db3fd46b0664p-24,  0x1.104a1a11a596ap-29,
        -0x1.d3a023d57914dp-28};
    const double inverse = 1 / (t + 3), y = 1 - 6 * inverse;
    return inverse * SVMP_POLYNOMIAL(y, q);
}

/* e^(-x^2/2) / sqrt(2 pi), the square in two parts. */
FAST_CALLED double svmp_normal_density(double x) {
    const double lead = svmp_leading(x), tail = -0.5 * (x - lead) * (x + lead);
    return svmp_exp_sum(-0.5 * lead * lead, fabs(x) < 100 ? tail : 0) * 0x1.9884533d43651p-2;
}

/* Phi(-t), t >= 0 */
FAST double svmp_normal_tail(double t) { return svmp_normal_density(t) / (t + svmp_hazard_excess(t)); }

FAST_CALLED double svmp_normal_cdf(double x) {
    const double tail = svmp_normal_tail(fabs(x));
    return x < 0 ? tail : 1 - tail;
}

FAST_CALLED double svmp_log_normal_cdf(double x) {
    const double t = fabs(x), hazard = t + svmp_hazard_excess(t), tail = svmp_normal_density(t) / hazard;
    const double l = svmp_log_sum(x < 0 ? hazard : 1 - tail, x < 0 ? 0 : svmp_lost_of_1p(-tail));
    return x < 0 ? -0.5 * x * x - (0x1.d67f1c864beb5p-1 + l) : l;
}

FAST_CALLED double svmp_normal_hazard(double x) {
    const double t = fabs(x), hazard = t + svmp_hazard_excess(t), density = svmp_normal_density(t);
    return x < 0 ? hazard : density / (1 - density / hazard);
}

/* -h(x) (h(x) + x) */
FAST_CALLED double svmp_normal_hazard_slope(double x) {
    const double t = fabs(x), excess = svmp_hazard_excess(t), hazard = t + excess, density = svmp_normal_density(t);
    const double h = density / (1 - density / hazard);
    return x < 0 ? -hazard * excess : -h * (h + x);
}

/* The x with Phi(x) = p: near 1/2 a polynomial of (p - 1/2)^2, elsewhere of t = sqrt(-2 log min(p, 1 - p)), moved to
 * -1 ... 1. */
FAST_CALLED double svmp_normal_quantile(double p) {
    static const double centre[] = {0x1.40d931ff62706p+1,   0x1.4ffddeaa22e40p+1,  0x1.71713082ca80cp+2,
                                    0x1.f55d0d84ff74ap+3,   0x1.784948767570fp+5,  0x1.2ba92995c4b2fp+7,
                                    0x1.f0398e1acf364p+8,   0x1.a723129e25dd9p+10, 0x1.68beb00f8df73p+12,
                                    0x1.6e7a7f6365235p+14,  0x1.80368747606f2p+14, 0x1.abb6929f6d8eap+19,
                                    -0x1.bbecb0f8f64bdp+21, 0x1.48bcf859efb32p+24};
    static const double tail[] = {
        0x1.d5306625cb765p-1,   0x1.66488203258b1p-3,  -0x1.344e1539054b8p-3,  0x1.679b46642333dp-4,
        -0x1.890f3039a778ap-5,  0x1.966d0a4c449b5p-6,  -0x1.9f3ba4496f20dp-7,  0x1.9f3319cf33c02p-8,
        -0x1.9f3a343ff51cfp-9,  0x1.9920a06b5da64p-10, -0x1.953963d1e8467p-11, 0x1.8b797fa1a9d5dp-12,
        -0x1.8604d4e6269a4p-13, 0x1.79e4dcb92850dp-14, -0x1.76cddb5bfdeb7p-15, 0x1.628fa8a2f1e85p-16,
        -0x1.46f32145a6c4ep-17, 0x1.777b6a7867899p-18, -0x1.2cd1e2b2f75e2p-18, -0x1.0bbfc8308c1c2p-22,
        0x1.76008b90af5ffp-19,  0x1.69698f5289893p-19, -0x1.22d186032e838p-18, -0x1.8a499f542b70bp-19,
        0x1.e2aafa842b0cbp-19,  0x1.5de27cbdde886p-19, -0x1.1c3fca6c901b4p-19, -0x1.92a80592cc1b1p-20,
        0x1.8bc7cdad2c47bp-21,  0x1.19ef812f44951p-21, -0x1.057cfe01c009fp-23, -0x1.6dce7dc685b61p-24};
    const double q = p - 0.5, least = p < 0.5 ? p : 1 - p, t = sqrt(-2 * svmp_ln(least));
    const double far = t * SVMP_POLYNOMIAL(0x1.476817736860bp+0 - 0x1.78ab7bb3f9ca9p+3 / (t + 3.5), tail);
    const double near = q * SVMP_POLYNOMIAL(q * q, centre);
    const double size = least > 0 ? far : least == 0 ? INFINITY : NAN;
    return fabs(q) <= 0.25 ? near : svmp_signed(size, q);
}

#endif
