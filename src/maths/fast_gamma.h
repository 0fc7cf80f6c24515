/* Gamma functions of x > 0, in the manner of fast_exponential.h: a polynomial where x is small, moved there by
 * gamma(x + 1) = x gamma(x), and one of 1/x where it is large, which no asymptotic series would be. */
#ifndef SVMP_MATHS_FAST_GAMMA_H
#define SVMP_MATHS_FAST_GAMMA_H

#include "maths/fast_power.h"

/* z with gamma(x) = gamma(2 + z) / divisor, |z| <= 1/2; of x > 5/2 the divisor is x. */
typedef struct moved_gamma {
    double z, divisor;
} moved_gamma;

FAST moved_gamma svmp_move_gamma(double x) {
    const double z = x < 0.5 ? x : x < 1.5 ? x - 1 : x - 2;
    const moved_gamma moved = {x < 2.5 ? z : 0, x < 0.5 ? x * (1 + x) : x >= 1.5 && x < 2.5 ? 1 : x};
    return moved;
}

/* Near its root, 1.46, (x - root) times a polynomial. */
FAST double svmp_positive_digamma(double x) {
    static const double root[] = {
        0x1.e6f0cbb873617p-1,  -0x1.b1cb63005ee97p-2,  0x1.eca189b8e6da1p-3,  -0x1.2feeeb98a7cd8p-3,
        0x1.8512e5905d180p-4,  -0x1.fb442029cdbf4p-5,  0x1.4de9aa05d3418p-5,  -0x1.b9f8b1367959dp-6,
        0x1.256475e5ac975p-6,  -0x1.86355f6f68797p-7,  0x1.03c00801ba958p-7,  -0x1.5a071c746535bp-8,
        0x1.cd3e42d157015p-9,  -0x1.33661f9073563p-9,  0x1.980fc9c9f0be8p-10, -0x1.1002aaf6255f5p-10,
        0x1.7b3b41b0b38cdp-11, -0x1.f99f529bd0771p-12, 0x1.dc8ae08af0fc4p-13, -0x1.3db05b36d9a48p-13,
        0x1.104c9d0897b58p-12, -0x1.6b107f71aa124p-13};
    static const double far_q[] = {-0x1.0000000000000p-1,  -0x1.5555555555315p-4,  -0x1.c8140434e5805p-40,
                                   0x1.1111115b32db3p-7,   -0x1.a33137a02bf0cp-28, -0x1.040d5eb53573bp-8,
                                   -0x1.b5d8504b3806bp-19, 0x1.13eeece1fc224p-8,   -0x1.bfb8330599f7cp-12,
                                   -0x1.264e6bc9d2cd9p-8,  -0x1.0f64689ad045bp-6,  0x1.61cba48b5b672p-4,
                                   -0x1.72b7bff0b3940p-3,  0x1.d44cebf1f4a72p-3,   -0x1.76a9c12f81e93p-3,
                                   0x1.61f16672f8919p-4,   -0x1.2f5fc81a3c382p-6};
    const double y = x < 1 ? x + 1 : x < 2 ? x : 1, w = 1 / x;
    const double off = (y - 0x1.762d86356be3fp+0) - 0x1.b86a722197829p-54;
    const double near = off * SVMP_POLYNOMIAL(y - 1.5, root);
    const double v = x < 2 ? 0 : w;
    const double far = svmp_ln(x) + v * SVMP_POLYNOMIAL(v, far_q);
    return x < 2 ? (x < 1 ? near - w : near) : far;
}

FAST double svmp_positive_trigamma(double x) {
    static const double near_q[] = {
        0x1.4a34cc4a60fa6p-1,  -0x1.9dd002780310ap-2,  0x1.f9cb402bc483ap-3,  -0x1.2e831d94f9a7ap-3,
        0x1.632f97c2c35b5p-4,  -0x1.9a6238f99d8fdp-5,  0x1.d39fb33e04142p-6,  -0x1.073e7b0cd7744p-6,
        0x1.254fe48c81f73p-7,  -0x1.43df12e2767edp-8,  0x1.62cf226a6dc76p-9,  -0x1.8206c6bc91478p-10,
        0x1.a1537446bae9bp-11, -0x1.c0e7e525987ccp-12, 0x1.e383990cf5d62p-13, -0x1.01b6c841d34d0p-13,
        0x1.fbc96125e8f50p-15, -0x1.0cfd349f532bep-15, 0x1.b13ebb8d6d6bcp-16, -0x1.c73fbf6980da5p-17};
    static const double far_q[] = {0x1.5555555555553p-3,  0x1.cce492e594cf4p-44, -0x1.111111146ebb9p-5,
                                   0x1.3df6172d96aa4p-29, 0x1.8617e679b2ad9p-6,  0x1.cbb0d80d9e941p-19,
                                   -0x1.119d66f135985p-5, 0x1.d5e750deae8cep-11, 0x1.13bf2d200784fp-4,
                                   0x1.cacf54336bc3bp-5,  -0x1.04262b7663499p-1, 0x1.6de5447bc3ea2p-1,
                                   0x1.0422d439cfd25p-1,  -0x1.9ae09e711c559p+1, 0x1.422ec7beafb22p+2,
                                   -0x1.ec870e156c00cp+1, 0x1.3a72beab8a1adp+0};
    const moved_gamma moved = svmp_move_gamma(x);
    const double w = 1 / moved.divisor, square = w * w;
    const double near = SVMP_POLYNOMIAL(moved.z, near_q), v = x < 2.5 ? 0 : w;
    const double far = w + (0.5 * square + square * w * SVMP_POLYNOMIAL(v, far_q));
    const double added = x < 0.5 ? square * ((1 + x) * (1 + x) + x * x) : x < 1.5 ? square : 0;
    return x < 2.5 ? near + added : far;
}
#ifndef SVMP_DEVICE /* a device has its own of these */
/* log gamma(2 + z), |z| <= 1/2: it is 0 at z = 0. */
FAST double svmp_log_gamma_near_2(double z) {
    static const double q[] = {0x1.b0ee6072093cep-2,   0x1.4a34cc4a60fa6p-2,   -0x1.13e001a557555p-4,
                               0x1.51322ac7d8333p-6,   -0x1.e404fc21d8fe7p-8,  0x1.7add6eadfcc7bp-9,
                               -0x1.38ac5bfce42c1p-10, 0x1.0b36af5972ed1p-11,  -0x1.d3fd6a9087d23p-13,
                               0x1.a127cd91ac95bp-14,  -0x1.78d8f868f383fp-15, 0x1.5808af19fa483p-16,
                               -0x1.3d4ce65b1d70bp-17, 0x1.2620de1c78d97p-18,  -0x1.08fccc794a9c7p-19,
                               0x1.f038cb2f6a913p-21,  -0x1.37fd97eeee99dp-21, 0x1.2703c6effc4ebp-22};
    return z * SVMP_POLYNOMIAL(z, q);
}

/* log gamma(x) - (x - 1/2) log x + x - log(2 pi)/2 with w = 1/x, x >= 5/2 */
FAST double svmp_stirling(double w) {
    static const double q[] = {0x1.5555555555555p-4,   0x1.3d30809783d24p-47, -0x1.6c16c16fbf623p-9,
                               0x1.1394fda38933dp-33,  0x1.a019561943984p-11, 0x1.03baae4299c96p-23,
                               -0x1.3916bba21a6cfp-11, 0x1.661d034235e47p-16, 0x1.614978cf1a339p-11,
                               0x1.f24bd9a61f27bp-11,  -0x1.79086f0b34453p-8, 0x1.59d5ad22e017dp-7,
                               -0x1.5e98add42cebap-7,  0x1.8e664fb19d0fap-8,  -0x1.90165742a6d94p-10};
    return w * SVMP_POLYNOMIAL(w, q);
}

FAST double svmp_positive_log_gamma(double x) {
    const moved_gamma moved = svmp_move_gamma(x);
    const double near = svmp_log_gamma_near_2(moved.z), log_divisor = svmp_ln(moved.divisor);
    const double far = (x - 0.5) * (log_divisor - 1) + (0x1.acfe390c97d69p-2 + svmp_stirling(1 / x));
    return x < 2.5 ? near - log_divisor : x < 0x1p1000 ? far : x * (log_divisor - 1);
}

/* e^((x - 1/2) log x - x + ...) */
FAST double svmp_positive_gamma(double x) {
    const moved_gamma moved = svmp_move_gamma(x);
    const double near = svmp_exp(svmp_log_gamma_near_2(moved.z)) / moved.divisor;
    const double most = x > 200 ? 200 : x;
    const two_parts l = svmp_log_parts(most);
    const double b = most - 0.5, b_lead = svmp_leading(b), l_lead = svmp_leading(l.high);
    const double l_low = (l.high - l_lead) + l.low;
    const two_parts p = svmp_two_sum(b_lead * l_lead, -most);
    const double low = p.low + (b_lead * l_low + (b - b_lead) * l.high) + (svmp_stirling(1 / most));
    const double far = svmp_exp_sum(p.high, low) * 0x1.40d931ff62706p+1;
    return x < 2.5 ? near : far;
}

#endif

#endif
