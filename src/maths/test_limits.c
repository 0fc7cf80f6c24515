#include "maths/test_limits.h"

#include <math.h>

#include "maths/special.h"
#include "svmp_tools.h"

double svmp_normal_z(double t_square, double freedom) {
    return sqrt(freedom * log1p(t_square / freedom)) * (8 * freedom + 1) / (8 * freedom + 3);
}

double svmp_difference_limit(size_t count) {
    return count ? -svmp_normal_quantile(0.01 / 2 / (double)count) : 0; /* two-sided, Bonferroni */
}
