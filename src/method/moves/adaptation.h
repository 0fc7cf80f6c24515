/* Adaptation of a chain during its warm-up: a step size by dual averaging, and the variances of its variables in
 * windows that double, after Stan: an initial phase of 75 iterations and a last one of 50 in which only the step size
 * is learnt, and between them windows of 25, 50, 100, ... iterations, each of which starts the variances afresh. */
#ifndef SVMP_METHOD_MOVES_ADAPTATION_H
#define SVMP_METHOD_MOVES_ADAPTATION_H

#include "base/context.h"

/* Nesterov's dual averaging of log step towards a mean acceptance (Hoffman and Gelman 2014, section 3.2). */
typedef struct dual_averaging {
    double centre; /* mu: what log step shrinks to */
    double target; /* delta: that acceptance */
    double excess; /* H bar: averaged (target - acceptance) */
    double mean;   /* averaged log step */
    size_t count;
} dual_averaging;

void svmp_dual_averaging_start(dual_averaging *d, double step, double target);
double svmp_dual_averaging_learn(dual_averaging *d, double acceptance); /* the step to take next */
double svmp_dual_averaging_end(const dual_averaging *d);                /* the step to keep */

/* The windows of a warm-up. One that is too short for 75 + 25 + 50 iterations has one window, after 15 % and before
 * 10 % of them; one of less than 20 has none. */
typedef struct windows {
    size_t begin, end; /* iterations that variances are learnt from: begin <= t < end */
    size_t last;       /* the last iteration of this window */
    size_t length;     /* of this window */
} windows;

windows svmp_windows_of(size_t warmup);

/* Whether t is the last iteration of a window; if so, begins the next one. The last window extends to the end if the
 * remaining iterations are too few for another doubling. */
int svmp_windows_close(windows *w, size_t t);

/* Running mean and variance (Welford). */
typedef struct running_variance {
    size_t variables, count;
    double *mean, *squares;
} running_variance;

void svmp_running_variance_add(running_variance *v, const double *q);

/* The variances, shrunk towards `expected` as if by 5 more draws; then restarts. */
void svmp_running_variance_end(running_variance *v, double expected, double *variance);

#endif
