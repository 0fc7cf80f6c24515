/* The normal distribution's quantiles. */
#ifndef SVMP_DIAG_NORMAL_H
#define SVMP_DIAG_NORMAL_H

/* The x that a standard normal variable is below with probability p, 0 < p < 1. */
double svmp_normal_score(double p);

#endif
