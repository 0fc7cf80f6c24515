/* Differences between two samples, variable by variable, in units of their standard errors. */
#include <math.h>

#include "base/thread.h"
#include "base/vector.h"
#include "diag/chains.h"
#include "expr/special.h"
#include "io/particles.h"

double svmp_difference_limit(size_t count) {
    return count ? -svmp_normal_quantile(0.01 / 2 / (double)count) : 0; /* on both sides, of each */
}

/* One side of the comparison: its draws, and what a thread needs to judge one variable. */
typedef struct side {
    const svmp_particles *particles;
    const size_t *place;
    int chains;
} side;

typedef struct side_room {
    chain_room chains;
    double *squares; /* (x - mean)^2 */
} side_room;

typedef struct estimate {
    double mean, mean_error, square, sd, log_sd_error;
} estimate;

/* sd/sqrt(n), or of chains sd/sqrt(effective draws). */
static double standard_error(const side *of, side_room *room, const double *x) {
    const size_t n = of->particles->count;
    if (of->chains) return svmp_chains_error(&room->chains, x);
    const double mean = svmp_sum(n, x) / (double)n;
    double squares = 0;
    for (size_t l = 0; l < n; l++) squares += (x[l] - mean) * (x[l] - mean);
    return sqrt(squares / (double)(n - 1) / (double)n); /* NaN for n = 1 */
}

/* log sd = log(variance)/2, so that its error is half the relative error of the variance, the mean of (x - mean)^2. */
static estimate estimate_of(const side *of, side_room *room, size_t k) {
    const size_t n = of->particles->count;
    const double *x = of->particles->values + of->place[k] * n;
    estimate e = {.mean = svmp_sum(n, x) / (double)n, .square = svmp_dot(n, x, x) / (double)n};
    for (size_t l = 0; l < n; l++) room->squares[l] = (x[l] - e.mean) * (x[l] - e.mean);
    const double sum = svmp_sum(n, room->squares);
    e.mean_error = standard_error(of, room, x);
    e.sd = sqrt(sum / (double)(n - 1));
    e.log_sd_error = standard_error(of, room, room->squares) / (sum / (double)n) / 2;
    return e;
}

static double over(double difference, double a, double b) {
    return difference == 0 && !isnan(a + b) ? 0 : difference / sqrt(a * a + b * b);
}

static svmp_difference difference_of(const estimate *a, const estimate *b) {
    svmp_difference d = {.mean = a->mean,
                         .reference_mean = b->mean,
                         .square = a->square,
                         .reference_square = b->square,
                         .z_mean = over(a->mean - b->mean, a->mean_error, b->mean_error),
                         .sd_ratio = a->sd / b->sd};
    if (a->sd > 0 && b->sd > 0)
        d.z_sd = over(log(d.sd_ratio), a->log_sd_error, b->log_sd_error);
    else if (a->sd != b->sd) /* or NaN */
        d.z_sd = a->sd > b->sd ? INFINITY : a->sd < b->sd ? -INFINITY : NAN;
    return d;
}

static svmp_status create_room(svmp_context *context, const side *of, side_room *room) {
    const size_t chains = of->particles->chains, count = of->particles->count;
    SVMP_TRY(svmp_chain_room_create(context, chains, count / chains, 0, &room->chains));
    return SVMP_NEW(context, room->squares, count);
}

static void free_room(svmp_context *context, side_room *room) {
    svmp_chain_room_free(context, &room->chains);
    svmp_release(context, room->squares);
}

svmp_status svmp_particles_differences(const svmp_particles *particles, const svmp_particles *reference,
                                       svmp_difference *rows) {
    if (particles == NULL) return SVMP_BAD_CALL;
    svmp_context *context = particles->context;
    if (reference == NULL || rows == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_particles_differences was given no %s.",
                         reference ? "place for its results" : "reference");
    svmp_status status = SVMP_OK;
    size_t *a_place = NULL, *b_place = NULL;
    side_room *rooms = NULL;
    const double numbers = (double)(particles->count + reference->count) * (double)particles->variables;
    const int threads = svmp_threads_for(svmp_context_threads(context), 20 * numbers);
    SVMP_CHECK(svmp_particles_match(particles, "the particles", reference, "the reference", &a_place, &b_place));
    const side a = {particles, a_place, svmp_particles_are_chains(particles)};
    const side b = {reference, b_place, svmp_particles_are_chains(reference)};
    SVMP_CHECK(SVMP_NEW(context, rooms, 2 * (size_t)threads));
    for (int t = 0; t < threads; t++) {
        SVMP_CHECK(create_room(context, &a, &rooms[2 * t]));
        SVMP_CHECK(create_room(context, &b, &rooms[2 * t + 1]));
    }
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
    for (size_t k = 0; k < particles->variables; k++) {
        side_room *own = &rooms[2 * svmp_thread_number()];
        const estimate here = estimate_of(&a, own, k), there = estimate_of(&b, own + 1, k);
        rows[a_place[k]] = difference_of(&here, &there);
    }
done:
    for (int t = 0; rooms && t < 2 * threads; t++) free_room(context, &rooms[t]);
    svmp_release(context, rooms);
    svmp_release(context, a_place);
    svmp_release(context, b_place);
    return status;
}
