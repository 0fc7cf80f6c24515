#include "start/gaussian.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/vector.h"
#include "start/ascent.h"

enum { STARTS = 5, HALVINGS = 40 };

struct gaussian {
    const svmp_model *model;
    ascent *work;
    double *mean, *A, bound;
    size_t iterations;
};

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* Start 0 is the origin; the others are N(0, 1) and N(0, 4) in turn. */
static void place_start(gaussian *q, uint64_t seed, size_t start) {
    const double sd = start == 0 ? 0 : start % 2 ? 1 : 2;
    for (size_t i = 0; i < q->work->pattern->order; i++) {
        const random_stream stream = {.seed = seed, .purpose = RANDOM_MODE, .a = start, .b = i};
        q->work->mean[i] = sd == 0 ? 0 : sd * svmp_random_normal(stream, 0);
    }
}

static svmp_status refuse_start(const svmp_model *model) {
    return svmp_fail(model->context, SVMP_UNSUPPORTED,
                     "The start 'gaussian' found no point around which the density is finite. Give the particles a "
                     "start: --init FILE, prior, normal:SD or uniform:A,B.");
}

static svmp_status refuse_box(const svmp_model *model) {
    char name[128];
    size_t i = 0;
    while (i + 1 < model->graph->variables && !isfinite(model->lower[i]) && !isfinite(model->upper[i])) i++;
    return svmp_fail(model->context, SVMP_UNSUPPORTED,
                     "The start 'gaussian' moves on the whole line, and %s is kept in a box. Use another start: map, "
                     "normal:SD or uniform:A,B.",
                     svmp_model_variable_name(model, i, name, sizeof name));
}

static svmp_status climb_all(gaussian *q, uint64_t seed) {
    ascent *a = q->work;
    size_t bad;
    q->bound = -INFINITY;
    for (size_t start = 0; start < STARTS; start++) {
        int found;
        place_start(q, seed, start);
        SVMP_TRY(svmp_ascent_climb(a, &found));
        svmp_log(q->model->context, SVMP_LOG_DEBUG,
                 "Gaussian on the graph, start %zu: %s, F %.6f after %zu iterations.", start,
                 found ? "found" : "given up", a->bound, a->iterations);
        if (!found || !(a->bound > q->bound)) continue;
        q->bound = a->bound;
        q->iterations = a->iterations;
        memcpy(q->mean, a->mean, a->pattern->order * sizeof *q->mean);
        memcpy(q->A, a->A, a->pattern->entries * sizeof *q->A);
    }
    if (!isfinite(q->bound)) return refuse_start(q->model);
    return svmp_factorise(a->factor, q->A, &bad);
}

svmp_status svmp_gaussian_create(const svmp_model *model, uint64_t seed, gaussian **made) {
    svmp_context *context = model->context;
    svmp_status status;
    gaussian *q = NULL;
    if (model->graph->halo)
        return svmp_fail(context, SVMP_UNSUPPORTED,
                         "The start 'gaussian' looks at the whole model, which no process of several has. Let one "
                         "process write it: svmp run ... --init gaussian -t 0 -o FILE, and start from that: --init "
                         "FILE.");
    if (model->boxed) return refuse_box(model);
    SVMP_TRY(SVMP_NEW(context, q, 1));
    q->model = model;
    SVMP_CHECK(svmp_ascent_create(model, seed, &q->work));
    SVMP_CHECK(SVMP_NEW(context, q->mean, q->work->pattern->order));
    SVMP_CHECK(SVMP_NEW(context, q->A, q->work->pattern->entries));
    SVMP_CHECK(climb_all(q, seed));
    *made = q;
    return SVMP_OK;
done:
    svmp_gaussian_free(q);
    return status;
}

void svmp_gaussian_free(gaussian *q) {
    if (q == NULL) return;
    svmp_context *context = q->model->context;
    svmp_ascent_free(q->work);
    svmp_release(context, q->mean);
    svmp_release(context, q->A);
    svmp_release(context, q);
}

/* ---- what it is -------------------------------------------------------------------------------------------------- */

const double *svmp_gaussian_mean(const gaussian *q) { return q->mean; }
size_t svmp_gaussian_iterations(const gaussian *q) { return q->iterations; }
const sparsity *svmp_gaussian_pattern(const gaussian *q) { return q->work->pattern; }
const double *svmp_gaussian_precision(const gaussian *q) { return q->A; }

/* E log q = -d/2 (1 + log 2 pi) + log det(A)/2 */
double svmp_gaussian_bound(const gaussian *q) {
    static const double log_two_pi = 1.83787706640934548356;
    return q->bound + 0.5 * (double)q->work->pattern->order * (1 + log_two_pi);
}

void svmp_gaussian_diagonal(const gaussian *q, double *diagonal) {
    const sparsity *pattern = q->work->pattern;
    for (size_t i = 0; i < pattern->order; i++) diagonal[i] = q->A[pattern->start[i]];
}

void svmp_gaussian_block(const gaussian *q, size_t node, double *block) {
    const sparsity *pattern = q->work->pattern;
    const size_t from = q->model->graph->first[node], k = q->model->graph->first[node + 1] - from;
    memset(block, 0, k * k * sizeof *block);
    for (size_t j = 0; j < k; j++)
        for (size_t e = pattern->start[from + j]; e < pattern->start[from + j + 1]; e++) {
            const size_t i = pattern->row[e] - from;
            if (i >= k) break;
            block[i * k + j] = block[j * k + i] = q->A[e];
        }
}

svmp_status svmp_gaussian_variance(gaussian *q, double *variance) {
    const sparsity *pattern = q->work->pattern;
    double *inverse = NULL;
    SVMP_TRY(SVMP_NEW(q->model->context, inverse, pattern->entries));
    svmp_status status = svmp_factorisation_inverse(q->work->factor, inverse);
    for (size_t i = 0; status == SVMP_OK && i < pattern->order; i++) variance[i] = inverse[pattern->start[i]];
    svmp_release(q->model->context, inverse);
    return status;
}

/* ---- particles --------------------------------------------------------------------------------------------------- */

/* Particle l halfway to the mean, again and again. */
static svmp_status pull_in(const gaussian *q, evaluator *one, size_t n, size_t l, double *room, double *x) {
    double value = NAN;
    for (int halved = 1; !isfinite(value) && halved <= HALVINGS; halved++) {
        for (size_t i = 0; i < q->work->pattern->order; i++)
            room[i] = q->mean[i] + (halved < HALVINGS ? ldexp(x[i * n + l] - q->mean[i], -halved) : 0);
        SVMP_TRY(svmp_evaluate(one, room, &value, NULL));
    }
    for (size_t i = 0; i < q->work->pattern->order; i++) x[i * n + l] = room[i];
    return SVMP_OK;
}

static svmp_status pull_in_all(const gaussian *q, size_t n, double *x) {
    svmp_context *context = q->model->context;
    const int threads = svmp_context_threads(context);
    svmp_status status;
    evaluator *all = NULL, *one = NULL;
    double *log_density = NULL, *room = NULL;
    SVMP_CHECK(svmp_evaluator_create(q->model, n, threads, &all));
    SVMP_CHECK(svmp_evaluator_create(q->model, 1, threads, &one));
    SVMP_CHECK(SVMP_NEW(context, log_density, n));
    SVMP_CHECK(SVMP_NEW(context, room, q->work->pattern->order));
    SVMP_CHECK(svmp_evaluate(all, x, log_density, NULL));
    for (size_t l = 0; l < n; l++)
        if (!isfinite(log_density[l])) SVMP_CHECK(pull_in(q, one, n, l, room, x));
done:
    svmp_evaluator_free(all);
    svmp_evaluator_free(one);
    svmp_release(context, log_density);
    svmp_release(context, room);
    return status;
}

svmp_status svmp_gaussian_draw(gaussian *q, uint64_t seed, size_t n, double *x) {
    const size_t order = q->work->pattern->order;
    for (size_t i = 0; i < order; i++) {
        const random_stream stream = {.seed = seed, .purpose = RANDOM_INIT, .b = i};
        for (size_t l = 0; l < n; l++) x[i * n + l] = l % 2 ? -x[i * n + l - 1] : svmp_random_normal(stream, l / 2);
    }
    SVMP_TRY(svmp_factorisation_spread(q->work->factor, q->work->threads, n, x));
    for (size_t i = 0; i < order; i++)
        for (size_t l = 0; l < n; l++) x[i * n + l] += q->mean[i];
    return pull_in_all(q, n, x);
}
