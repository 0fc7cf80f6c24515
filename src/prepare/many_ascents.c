#include "prepare/many_ascents.h"

#include <math.h>
#include <string.h>

#include "prepare/prepare_constants.h"

enum { PAIRS = 6, TRIALS = 10 };

static const double sufficient = 1e-4; /* Armijo's condition */
static const double lowest = -1e12;    /* the log density of a start */

/* Everything is in units: z = x / unit. A lane without a point repeats the one that it had. */
typedef struct lane {
    size_t point; /* SIZE_MAX: none */
    double value, slope, length;
    double *z, *gradient, *direction; /* d each */
    double *s, *y, rho[PAIRS];        /* PAIRS * d: s = z' - z, y = g - g', rho = 1/s'y: a ring */
    size_t pairs, iterations, trials, still;
} lane;

typedef struct climb {
    const double *unit;
    size_t d, count, next;
    double *points;
    ascent_end *ends;
    lane lanes[ASCENT_LANES];
    double *numbers, *x, *score, log_density[ASCENT_LANES];
} climb;

static double dot(size_t d, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < d; i++) sum += a[i] * b[i];
    return sum;
}

static void take_point(climb *c, lane *l) {
    l->point = c->next < c->count ? c->next++ : SIZE_MAX;
    l->pairs = l->iterations = l->trials = l->still = 0;
    l->value = NAN; /* not evaluated yet */
    l->length = 0;
    if (l->point == SIZE_MAX) return;
    memset(l->direction, 0, c->d * sizeof *l->direction);
    for (size_t i = 0; i < c->d; i++) l->z[i] = c->points[l->point * c->d + i] / c->unit[i];
}

static void leave(climb *c, lane *l, double value, bool arrived) {
    c->ends[l->point] = (ascent_end){value, arrived};
    for (size_t i = 0; i < c->d; i++) c->points[l->point * c->d + i] = l->z[i] * c->unit[i];
    take_point(c, l);
}

/* direction = H gradient, by the two-loop recursion over the stored pairs. */
static void find_direction(const climb *c, lane *l) {
    const size_t d = c->d, kept = l->pairs < PAIRS ? l->pairs : PAIRS;
    const double norm = sqrt(dot(d, l->gradient, l->gradient));
    double *q = l->direction, alpha[PAIRS], scale = norm > 1 ? 1 / norm : 1;
    memcpy(q, l->gradient, d * sizeof *q);
    for (size_t k = l->pairs; k-- > l->pairs - kept;) {
        const double *s = l->s + k % PAIRS * d, *y = l->y + k % PAIRS * d;
        alpha[k % PAIRS] = l->rho[k % PAIRS] * dot(d, s, q);
        for (size_t i = 0; i < d; i++) q[i] -= alpha[k % PAIRS] * y[i];
        if (k + 1 == l->pairs) scale = 1 / (l->rho[k % PAIRS] * dot(d, y, y));
    }
    for (size_t i = 0; i < d; i++) q[i] *= scale;
    for (size_t k = l->pairs - kept; k < l->pairs; k++) {
        const double *s = l->s + k % PAIRS * d, *y = l->y + k % PAIRS * d;
        const double beta = l->rho[k % PAIRS] * dot(d, y, q);
        for (size_t i = 0; i < d; i++) q[i] += (alpha[k % PAIRS] - beta) * s[i];
    }
    l->slope = dot(d, l->gradient, q);
    if (l->slope > 0) return;
    for (size_t i = 0; i < d; i++) q[i] = l->gradient[i] / fmax(1, norm);
    l->slope = dot(d, l->gradient, q);
}

static void add_pair(const climb *c, lane *l, const double *score, size_t number) {
    const size_t d = c->d, at = l->pairs % PAIRS;
    double *s = l->s + at * d, *y = l->y + at * d;
    for (size_t i = 0; i < d; i++) {
        s[i] = l->length * l->direction[i];
        y[i] = l->gradient[i] - score[i * ASCENT_LANES + number] * c->unit[i];
    }
    const double product = dot(d, s, y);
    if (!(product > 1e-10 * sqrt(dot(d, s, s) * dot(d, y, y)))) return;
    l->rho[at] = 1 / product;
    l->pairs++;
}

/* The lane stands at its trial, whose value and score are those given. */
static void arrive(climb *c, lane *l, size_t number, double value) {
    const double gain = value - l->value;
    if (l->length > 0) add_pair(c, l, c->score, number);
    for (size_t i = 0; i < c->d; i++) {
        l->z[i] += l->length * l->direction[i];
        l->gradient[i] = c->score[i * ASCENT_LANES + number] * c->unit[i];
    }
    if (l->length > 0) l->still = gain < climb_gain ? l->still + 1 : 0;
    l->value = value;
    if (l->still >= 2) {
        leave(c, l, value, true);
        return;
    }
    if (++l->iterations > CLIMB_STEPS) {
        leave(c, l, value, false);
        return;
    }
    find_direction(c, l);
    l->length = 1;
    l->trials = 0;
}

/* After an evaluation of the lane's trial. */
static void proceed(climb *c, lane *l, size_t number) {
    const double value = c->log_density[number];
    double finite = value * 0;
    for (size_t i = 0; i < c->d; i++) finite += c->score[i * ASCENT_LANES + number] * 0;
    const bool usable = finite == 0;
    if (isnan(l->value)) {
        if (usable && value > lowest)
            arrive(c, l, number, value);
        else
            leave(c, l, -INFINITY, false);
    } else if (usable && value >= l->value + sufficient * l->length * l->slope) {
        arrive(c, l, number, value);
    } else if (++l->trials == TRIALS) {
        leave(c, l, l->value, true);
    } else {
        l->length *= l->trials <= 2 ? 0.4 : 0.15;
    }
}

/* Where the lanes' trials are; false: no lane has a point. */
static bool place_trials(climb *c) {
    bool any = false;
    for (size_t k = 0; k < ASCENT_LANES; k++) {
        const lane *l = &c->lanes[k];
        any |= l->point != SIZE_MAX;
        for (size_t i = 0; i < c->d; i++)
            c->x[i * ASCENT_LANES + k] = (l->z[i] + l->length * l->direction[i]) * c->unit[i];
    }
    return any;
}

static svmp_status climb_all(climb *c, evaluator *e, size_t *gradients) {
    for (size_t k = 0; k < ASCENT_LANES; k++) {
        double *numbers = c->numbers + k * (3 + 2 * PAIRS) * c->d;
        c->lanes[k] = (lane){.z = numbers,
                             .gradient = numbers + c->d,
                             .direction = numbers + 2 * c->d,
                             .s = numbers + 3 * c->d,
                             .y = numbers + (3 + PAIRS) * c->d};
        take_point(c, &c->lanes[k]);
        if (c->lanes[k].point == SIZE_MAX) memcpy(c->lanes[k].z, c->lanes[0].z, c->d * sizeof *c->lanes[k].z);
    }
    while (place_trials(c)) {
        SVMP_TRY(svmp_evaluate(e, c->x, c->log_density, c->score));
        for (size_t k = 0; k < ASCENT_LANES; k++) {
            if (c->lanes[k].point == SIZE_MAX) continue;
            proceed(c, &c->lanes[k], k);
            ++*gradients;
        }
    }
    return SVMP_OK;
}

svmp_status svmp_many_ascents(const svmp_model *model, evaluator *e, const double *unit, size_t count, double *points,
                              ascent_end *ends, size_t *gradients) {
    svmp_context *context = model->context;
    svmp_status status;
    climb c = {.unit = unit, .d = model->graph->variables, .count = count, .points = points, .ends = ends};
    if (count == 0) return SVMP_OK;
    SVMP_CHECK(SVMP_NEW(context, c.numbers, ASCENT_LANES * (3 + 2 * PAIRS) * c.d));
    SVMP_CHECK(SVMP_NEW(context, c.x, ASCENT_LANES * c.d));
    SVMP_CHECK(SVMP_NEW(context, c.score, ASCENT_LANES * c.d));
    SVMP_CHECK(climb_all(&c, e, gradients));
done:
    svmp_release(context, c.numbers);
    svmp_release(context, c.x);
    svmp_release(context, c.score);
    return status;
}
