#include "method/moves/adaptation.h"

#include <math.h>
#include <string.h>

#include "method/moves/move_constants.h"

/* ---- step size --------------------------------------------------------------------------------------------------- */

void svmp_dual_averaging_start(dual_averaging *d, double step, double target) {
    *d = (dual_averaging){.centre = log(10 * step), .target = target};
}

double svmp_dual_averaging_learn(dual_averaging *d, double acceptance) {
    const double m = (double)++d->count, weight = 1 / (m + averaging_delay), forget = pow(m, -averaging_kappa);
    d->excess = (1 - weight) * d->excess + weight * (d->target - acceptance);
    const double log_step = d->centre - sqrt(m) / averaging_gamma * d->excess;
    d->mean = forget * log_step + (1 - forget) * d->mean;
    return exp(log_step);
}

double svmp_dual_averaging_end(const dual_averaging *d) { return exp(d->mean); }

/* ---- windows ----------------------------------------------------------------------------------------------------- */

windows svmp_windows_of(size_t warmup) {
    size_t initial = 75, first = 25, final = 50;
    if (warmup < 20) return (windows){0};
    if (warmup < initial + first + final) {
        initial = 15 * warmup / 100;
        final = warmup / 10;
        first = warmup - initial - final;
    }
    return (windows){.begin = initial, .end = warmup - final, .last = initial + first - 1, .length = first};
}

int svmp_windows_close(windows *w, size_t t) {
    if (w->end == 0 || t != w->last) return 0;
    w->length *= 2;
    w->last = t + w->length;
    if (w->last + 2 * w->length >= w->end) w->last = w->end - 1; /* too short for another window twice as long */
    return 1;
}

/* ---- variances --------------------------------------------------------------------------------------------------- */

void svmp_running_variance_add(running_variance *v, const double *q) {
    const double count = (double)++v->count;
    for (size_t i = 0; i < v->variables; i++) {
        const double before = q[i] - v->mean[i];
        v->mean[i] += before / count;
        v->squares[i] += before * (q[i] - v->mean[i]);
    }
}

void svmp_running_variance_end(running_variance *v, double expected, double *variance) {
    const double n = (double)v->count, prior = 5;
    for (size_t i = 0; n > 1 && i < v->variables; i++)
        variance[i] = (n * v->squares[i] / (n - 1) + prior * expected) / (n + prior);
    memset(v->mean, 0, v->variables * sizeof *v->mean);
    memset(v->squares, 0, v->variables * sizeof *v->squares);
    v->count = 0;
}
