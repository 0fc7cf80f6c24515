#include "prepare/fitted_gaussian.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/notes.h"
#include "base/random.h"
#include "base/row_sums.h"
#include "model/computed.h"
#include "model/natural_values.h"
#include "prepare/bound_ascent.h"
#include "prepare/improper_directions.h"
#include "prepare/prepare_constants.h"
#include "prepare/sign_ascent.h"
#include "prepare/start_particles.h"

struct gaussian {
    const svmp_model *model;
    ascent *work;
    ascent_point best;    /* without draws */
    double *optima;       /* GAUSSIAN_STARTS * variables: where starts arrived, */
    size_t optimum_count; /* how many there are */
};

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* Start 0 is the origin; the others are N(0, 1) and N(0, 4) in turn. */
static void place_start(gaussian *q, uint64_t seed, size_t start) {
    const double sd = start == 0 ? 0 : start % 2 ? 1 : 2;
    for (size_t i = 0; i < q->work->pattern->order; i++) {
        const random_stream stream = {.seed = seed, .purpose = RANDOM_MODE, .a = start, .b = i};
        q->work->here.mean[i] = sd == 0 ? 0 : sd * svmp_random_normal(stream, 0);
    }
}

/* The last start: the highest of as many points as there are draws, N(0, 1), that have climbed by signs. */
static svmp_status place_far(gaussian *q) {
    ascent *a = q->work;
    const size_t order = a->pattern->order, n = a->draws;
    size_t best;
    memcpy(a->next.x, a->z, order * n * sizeof *a->z);
    SVMP_TRY(svmp_sign_ascent(a->evaluate, order, n, a->next.x, a->here.x, a->next.score, a->log_density, &best));
    for (size_t i = 0; i < order; i++) a->here.mean[i] = best == SIZE_MAX ? 0 : a->next.x[i * n + best];
    return SVMP_OK;
}

static svmp_status refuse_point(const svmp_model *model) {
    return svmp_fail(model->context, SVMP_UNSUPPORTED,
                     "The start 'gaussian' cannot use the point in its file: the density is not finite there.");
}

/* The line of a statement that has no finite value or derivative at the first start; 0: unknown. */
static svmp_status find_infinite(const svmp_model *model, size_t *line) {
    const size_t variables = model->graph->variables;
    svmp_status status;
    evaluator *one = NULL;
    double *origin = NULL;
    *line = 0;
    SVMP_CHECK(SVMP_NEW(model->context, origin, variables));
    SVMP_CHECK(svmp_evaluator_create(model, 1, 1, &one));
    for (size_t i = 0; i < variables && *line == 0; i++) {
        const size_t factor = svmp_evaluator_find_failure(one, origin, i, 0);
        if (factor != SIZE_MAX) *line = svmp_evaluator_failure_line(one, origin, factor);
    }
done:
    svmp_evaluator_free(one);
    svmp_release(model->context, origin);
    return status;
}

static svmp_status refuse_start(const svmp_model *model) {
    char where[120] = "";
    size_t line;
    SVMP_TRY(find_infinite(model, &line));
    if (line)
        snprintf(where, sizeof where, ": where it began, the statement on line %zu has no finite value or derivative",
                 line);
    return svmp_fail_notes(model->context, SVMP_UNSUPPORTED,
                           NOTES(svmp_either(1, svmp_advice(SVMP_NOTE_PROVIDE_START, "init", "gaussian:FILE")),
                                 svmp_either(1, svmp_advice(SVMP_NOTE_USE, "method", "nuts")),
                                 svmp_advice(SVMP_NOTE_WITH, "init", "prior")),
                           "The start 'gaussian' found no point around which the density is finite%s.", where);
}

static svmp_status refuse_box(const svmp_model *model) {
    char name[128];
    size_t i = 0;
    while (i + 1 < model->graph->variables && !isfinite(model->lower[i]) && !isfinite(model->upper[i])) i++;
    return svmp_fail(model->context, SVMP_UNSUPPORTED,
                     "The start 'gaussian' does not support boxes, but %s has one. Use another start: map, normal:SD "
                     "or uniform:A,B.",
                     svmp_model_variable_name(model, i, name, sizeof name));
}

static svmp_status refuse_improper(const gaussian *q, const improper_direction *way) {
    static const char needs[] =
        "The start 'gaussian' needs a proper posterior, but the density does not seem to decrease";
    if (way->variables > 1)
        return svmp_fail(q->model->context, SVMP_UNSUPPORTED,
                         "%s along a combination of %s. Give at least one of them a proper prior of its own.", needs,
                         way->names);
    return svmp_fail(q->model->context, SVMP_UNSUPPORTED,
                     "%s in %s: the search ended at %.3g with a standard deviation of %.3g%s. Give %s a proper prior.",
                     needs, way->names, q->best.mean[way->variable],
                     1 / sqrt(q->best.A[q->work->pattern->start[way->variable]]),
                     q->model->lowered ? " on the unconstrained scale" : "", way->names);
}

/* While starts are compared, and of the best of them. A gain or a loss of 1e-6 to 1e-4 for each variable is a
 * thousandth to a hundredth of a standard deviation. */
static ascent_goal goal_of(const gaussian *q, int polish) {
    const double variables = (double)q->work->pattern->order, least = fmax(1e-6 * variables, 1e-3);
    const int large = q->work->pattern->order >= LARGE_MODEL;
    ascent_goal goal = {.gain = least, .loss = least, .steps = 2, .level = large ? 0.5 + 1e-5 * variables : 0};
    if (polish) goal = (ascent_goal){.gain = 1e-5 * variables, .loss = 1e-2 + 1e-4 * variables, .steps = 6};
    goal.worth = large ? 0.1 * goal.gain : 0;
    return goal;
}

static void keep(gaussian *q) {
    const ascent_point *here = &q->work->here;
    q->best.bound = here->bound;
    memcpy(q->best.mean, here->mean, q->work->pattern->order * sizeof *here->mean);
    memcpy(q->best.A, here->A, q->work->pattern->entries * sizeof *here->A);
}

/* Whether the draws differ by more than rounding. In the spike of a hierarchy, where all effects are equal
 * and their scale is 0, they are not, and F means nothing. */
static int is_resolved(const ascent *a) {
    for (size_t i = 0; i < a->pattern->order; i++) {
        const double rounding = 1e-12 * a->here.mean[i];
        if (!(rounding * rounding * a->here.A[a->pattern->start[i]] < 1)) return 0;
    }
    return 1;
}

/* From the first draw of the priors around which the density is finite, if it is not around any other start: thresholds
 * that must ascend, and the like. */
static svmp_status search_priors(gaussian *q, uint64_t seed) {
    ascent *a = q->work;
    ascent_outcome end;
    int found = 0;
    for (size_t k = 0; q->model->lowered && k < PRIOR_STARTS && !found; k++) {
        SVMP_TRY(svmp_model_draw_priors(q->model, seed + k, 1, a->here.mean));
        SVMP_TRY(svmp_ascent_begin(a, &found));
    }
    if (!found) return refuse_start(q->model);
    SVMP_TRY(svmp_ascent_climb(a, goal_of(q, 0), NULL, &end));
    keep(q);
    return SVMP_OK;
}

/* From every start with few draws. */
static svmp_status search(gaussian *q, uint64_t seed) {
    static const char *const optima[] = {"arrived", "reached a known point", "stayed low", "did not end"};
    ascent *a = q->work;
    q->best.bound = -INFINITY;
    SVMP_TRY(svmp_ascent_set_draws(a, seed, FEW_DRAWS));
    for (size_t start = 0; start < GAUSSIAN_STARTS; start++) {
        ascent_outcome end;
        int found;
        if (start + 1 < GAUSSIAN_STARTS)
            place_start(q, seed, start);
        else
            SVMP_TRY(place_far(q));
        SVMP_TRY(svmp_ascent_begin(a, &found));
        if (!found) continue;
        SVMP_TRY(svmp_ascent_climb(a, goal_of(q, 0), isfinite(q->best.bound) ? &q->best : NULL, &end));
        svmp_log(q->model->context, SVMP_LOG_DEBUG, "Gaussian on the graph: start %zu %s, F %.9g after %zu iterations.",
                 start, optima[end], a->here.bound, a->iterations);
        if (end == ASCENT_CONVERGED && is_resolved(a))
            memcpy(q->optima + q->optimum_count++ * a->pattern->order, a->here.mean,
                   a->pattern->order * sizeof *q->optima);
        if (a->here.bound > q->best.bound && is_resolved(a)) keep(q);
        if (end == ASCENT_KNOWN && (a->pattern->order >= LARGE_MODEL || svmp_curvature_is_expensive(a->curve))) break;
    }
    return isfinite(q->best.bound) ? SVMP_OK : search_priors(q, seed);
}

/* From a point that was given. */
static svmp_status climb_from(gaussian *q, uint64_t seed, const double *from) {
    ascent *a = q->work;
    ascent_outcome end;
    int found;
    q->best.bound = -INFINITY;
    SVMP_TRY(svmp_ascent_set_draws(a, seed, FEW_DRAWS));
    memcpy(a->here.mean, from, a->pattern->order * sizeof *from);
    SVMP_TRY(svmp_ascent_begin(a, &found));
    if (!found) return refuse_point(q->model);
    SVMP_TRY(svmp_ascent_climb(a, goal_of(q, 0), NULL, &end));
    svmp_log(q->model->context, SVMP_LOG_DEBUG,
             "Gaussian on the graph: from the given point, F %.9g after %zu iterations.", a->here.bound, a->iterations);
    keep(q);
    return SVMP_OK;
}

/* From the best of them with many. */
static svmp_status polish(gaussian *q, uint64_t seed) {
    ascent *a = q->work;
    ascent_outcome end;
    improper_direction way;
    int found;
    size_t bad;
    SVMP_TRY(svmp_ascent_set_draws(a, seed, MANY_DRAWS));
    memcpy(a->here.mean, q->best.mean, a->pattern->order * sizeof *q->best.mean);
    memcpy(a->here.A, q->best.A, a->pattern->entries * sizeof *q->best.A);
    SVMP_TRY(svmp_ascent_resume(a, &found));
    if (!found) return refuse_start(q->model);
    SVMP_TRY(svmp_ascent_climb(a, goal_of(q, 1), NULL, &end));
    svmp_log(q->model->context, SVMP_LOG_DEBUG, "Gaussian on the graph: polished, F %.9g after %zu iterations.",
             a->here.bound, a->iterations);
    keep(q);
    SVMP_TRY(svmp_factorise(a->factor, q->best.A, &bad));
    SVMP_TRY(svmp_find_improper_direction(a, &way));
    return way.found ? refuse_improper(q, &way) : SVMP_OK;
}

void svmp_gaussian_log_functions(const svmp_model *model) {
    size_t functions = 0;
    for (size_t g = 0; g < model->group_count; g++)
        if (model->groups[g].kind->hessian == NULL && !svmp_computed_group_is(&model->groups[g]))
            functions += model->groups[g].instances;
    if (functions == 0) return;
    svmp_log(
        model->context, SVMP_LOG_INFO,
        "%zu factor%s given as %s: second derivatives come from differences of the gradients, a thousandth of a "
        "standard deviation apart. If the gradients are noisy or not smooth, the Gaussian on the graph is inaccurate.",
        functions, functions == 1 ? " is" : "s are", functions == 1 ? "a function" : "functions");
}

/* ---- keeping ----------------------------------------------------------------------------------------------------- */

struct kept_gaussian {
    svmp_context *context;
    uint64_t seed;
    _Atomic(gaussian *) q; /* NULL once it was taken, by one of the runs of the model */
};

/* Returns NULL if there is none, or one of another seed. */
static gaussian *take(const svmp_model *model, uint64_t seed) {
    struct kept_gaussian *kept = model->gaussian;
    return kept && kept->seed == seed ? atomic_exchange(&kept->q, NULL) : NULL;
}

static void free_kept(struct kept_gaussian *kept) {
    svmp_gaussian_free(atomic_exchange(&kept->q, NULL));
    svmp_release(kept->context, kept);
}

svmp_status svmp_gaussian_keep(svmp_model *model, uint64_t seed, gaussian *q) {
    if (model->gaussian == NULL) {
        const svmp_status status = SVMP_NEW(model->context, model->gaussian, 1);
        if (status != SVMP_OK) return svmp_gaussian_free(q), status;
        model->gaussian->context = model->context;
        model->free_gaussian = free_kept;
    }
    svmp_gaussian_drop(model);
    model->gaussian->seed = seed;
    atomic_store(&model->gaussian->q, q);
    return SVMP_OK;
}

void svmp_gaussian_drop(const svmp_model *model) {
    if (model->gaussian) svmp_gaussian_free(atomic_exchange(&model->gaussian->q, NULL));
}

/* ---- fitting ----------------------------------------------------------------------------------------------------- */

svmp_status svmp_gaussian_create(const svmp_model *model, uint64_t seed, gaussian **made) {
    return svmp_gaussian_create_from(model, seed, NULL, made);
}

svmp_status svmp_gaussian_create_from(const svmp_model *model, uint64_t seed, const double *from, gaussian **made) {
    svmp_context *context = model->context;
    svmp_status status;
    gaussian *q = NULL;
    if (model->graph->halo) return svmp_start_needs_whole(context, "gaussian");
    if (model->boxed) return refuse_box(model);
    if (from == NULL && (*made = take(model, seed)) != NULL) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(context, q, 1));
    q->model = model;
    SVMP_CHECK(svmp_ascent_create(model, MANY_DRAWS, &q->work));
    SVMP_CHECK(SVMP_NEW(context, q->best.mean, q->work->pattern->order));
    SVMP_CHECK(SVMP_NEW(context, q->optima, GAUSSIAN_STARTS * q->work->pattern->order));
    SVMP_CHECK(SVMP_NEW(context, q->best.A, q->work->pattern->entries));
    SVMP_CHECK(from ? climb_from(q, seed, from) : search(q, seed));
    SVMP_CHECK(polish(q, seed));
    *made = q;
    return SVMP_OK;
done:
    svmp_gaussian_free(q);
    return status;
}

/* Draws and scores of two points, the numbers that they are made of, and the room of a solve. */
double svmp_gaussian_bytes(const svmp_model *model) {
    return 6.0 * MANY_DRAWS * sizeof(double) * (double)model->graph->variables;
}

void svmp_gaussian_free(gaussian *q) {
    if (q == NULL) return;
    svmp_context *context = q->model->context;
    svmp_ascent_free(q->work);
    svmp_release(context, q->optima);
    svmp_release(context, q->best.mean);
    svmp_release(context, q->best.A);
    svmp_release(context, q);
}

/* ---- what it is -------------------------------------------------------------------------------------------------- */

const double *svmp_gaussian_local_optimum(const gaussian *q, size_t k) {
    return k < q->optimum_count ? q->optima + k * q->work->pattern->order : NULL;
}

const double *svmp_gaussian_mean(const gaussian *q) { return q->best.mean; }
size_t svmp_gaussian_entries(const gaussian *q) { return svmp_factorisation_entries(q->work->factor); }
const sparsity *svmp_gaussian_pattern(const gaussian *q) { return q->work->pattern; }
const double *svmp_gaussian_precision(const gaussian *q) { return q->best.A; }

svmp_status svmp_gaussian_solve(gaussian *q, size_t n, double *x) {
    return svmp_factorisation_solve(q->work->factor, q->work->threads, n, x);
}

svmp_status svmp_gaussian_correlate(gaussian *q, size_t n, double *x) {
    return svmp_factorisation_correlate(q->work->factor, q->work->threads, n, x);
}

/* E log q = -d/2 (1 + log 2 pi) + log det(A)/2 */
double svmp_gaussian_bound(const gaussian *q) {
    static const double log_two_pi = 1.83787706640934548356;
    return q->best.bound + 0.5 * (double)q->work->pattern->order * (1 + log_two_pi);
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

svmp_status svmp_gaussian_whitening(gaussian *q, int diagonal, whitening **made) {
    svmp_context *context = q->model->context;
    const size_t order = q->work->pattern->order;
    double *sd = NULL;
    if (!diagonal)
        return svmp_whitening_create(context, order, svmp_factorisation_triangle(q->work->factor), q->best.mean, made);
    SVMP_TRY(SVMP_NEW(context, sd, order));
    svmp_status status = svmp_gaussian_variance(q, sd);
    for (size_t i = 0; status == SVMP_OK && i < order; i++) sd[i] = sqrt(sd[i]);
    if (status == SVMP_OK) status = svmp_whitening_create_diagonal(context, order, q->best.mean, sd, made);
    svmp_release(context, sd);
    return status;
}

/* ---- particles --------------------------------------------------------------------------------------------------- */

/* Particle l halfway to the mean, again and again. */
static svmp_status pull_in(const gaussian *q, evaluator *one, size_t n, size_t l, double *workspace, double *x) {
    double value = NAN;
    for (int halved = 1; !isfinite(value) && halved <= START_HALVINGS; halved++) {
        for (size_t i = 0; i < q->work->pattern->order; i++)
            workspace[i] =
                q->best.mean[i] + (halved < START_HALVINGS ? ldexp(x[i * n + l] - q->best.mean[i], -halved) : 0);
        SVMP_TRY(svmp_evaluate(one, workspace, &value, NULL));
    }
    if (!isfinite(value))
        return svmp_fail(q->model->context, SVMP_BAD_INPUT,
                         "The density is not finite at the mean of the start 'gaussian'. Use another start: map, "
                         "prior, normal:SD or uniform:A,B, or a file.");
    for (size_t i = 0; i < q->work->pattern->order; i++) x[i * n + l] = workspace[i];
    return SVMP_OK;
}

static svmp_status pull_in_all(const gaussian *q, size_t n, double *x) {
    svmp_context *context = q->model->context;
    const int threads = svmp_context_threads(context);
    svmp_status status;
    evaluator *all = NULL, *one = NULL;
    double *log_density = NULL, *workspace = NULL;
    SVMP_CHECK(svmp_evaluator_create(q->model, n, threads, &all));
    SVMP_CHECK(svmp_evaluator_create(q->model, 1, threads, &one));
    SVMP_CHECK(SVMP_NEW(context, log_density, n));
    SVMP_CHECK(SVMP_NEW(context, workspace, q->work->pattern->order));
    SVMP_CHECK(svmp_evaluate(all, x, log_density, NULL));
    for (size_t l = 0; l < n; l++)
        if (!isfinite(log_density[l])) SVMP_CHECK(pull_in(q, one, n, l, workspace, x));
done:
    svmp_evaluator_free(all);
    svmp_evaluator_free(one);
    svmp_release(context, log_density);
    svmp_release(context, workspace);
    return status;
}

svmp_status svmp_gaussian_draw(gaussian *q, uint64_t seed, size_t n, double *x) {
    const size_t order = q->work->pattern->order;
    for (size_t i = 0; i < order; i++) {
        const random_stream stream = {.seed = seed, .purpose = RANDOM_INIT, .b = i};
        for (size_t l = 0; l < n; l++) x[i * n + l] = l % 2 ? -x[i * n + l - 1] : svmp_random_normal(stream, l / 2);
    }
    SVMP_TRY(svmp_factorisation_correlate(q->work->factor, q->work->threads, n, x));
    for (size_t i = 0; i < order; i++)
        for (size_t l = 0; l < n; l++) x[i * n + l] += q->best.mean[i];
    return pull_in_all(q, n, x);
}
