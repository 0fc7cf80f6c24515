/* The noncentral hypergeometric distribution. */
#include "maths/special.h"

#include <math.h>

typedef struct moments {
    double log_sum, mean, variance;
} moments;

SPECIAL_OWN double log_choose(double n, double k) {
    return svmp_log_gamma(n + 1) - svmp_log_gamma(k + 1) - svmp_log_gamma(n - k + 1);
}

SPECIAL_OWN int is_count(double x) { return x >= 0 && x < 0x1p26 && x == floor(x); }

/* Terms relative to the largest so far, from the ratio of neighbours:
 *     t_{u+1} / t_u = psi (n1 - u)(m - u) / ((u + 1)(n2 - m + u + 1)). */
SPECIAL_OWN moments sum_terms(double packed, double m, double log_psi) {
    double n1 = floor(packed * 0x1p-26), n2 = packed - n1 * 0x1p26;
    if (!is_count(n1) || !is_count(n2) || !is_count(m) || m > n1 + n2) return MADE(moments){NAN, NAN, NAN};
    double low = m > n2 ? m - n2 : 0, high = m < n1 ? m : n1;
    double first = log_choose(n1, low) + log_choose(n2, m - low) + low * log_psi;
    double log_term = 0, largest = 0, sum = 1, weighted = low, squares = 0; /* sum of term (u - mean)^2 */
    for (double u = low; u < high; u++) {
        log_term += log_psi + log((n1 - u) * (m - u) / ((u + 1) * (n2 - m + u + 1)));
        if (log_term > largest) {
            double shrink = exp(largest - log_term);
            sum *= shrink;
            weighted *= shrink;
            squares *= shrink;
            largest = log_term;
        }
        double term = exp(log_term - largest), off = u + 1 - weighted / sum;
        squares += off * off * term * sum / (sum + term);
        sum += term;
        weighted += (u + 1) * term;
    }
    return MADE(moments){first + largest + log(sum), weighted / sum, squares / sum};
}

SPECIAL double svmp_log_hypergeometric_sum(double packed, double m, double log_psi) {
    return sum_terms(packed, m, log_psi).log_sum;
}

SPECIAL double svmp_hypergeometric_mean(double packed, double m, double log_psi) {
    return sum_terms(packed, m, log_psi).mean;
}

SPECIAL double svmp_hypergeometric_variance(double packed, double m, double log_psi) {
    return sum_terms(packed, m, log_psi).variance;
}
