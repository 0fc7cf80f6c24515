#include "prepare/mode_start.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "graph/colouring.h"
#include "maths/lbfgs.h"
#include "model/evaluator.h"
#include "prepare/prepare_constants.h"

static double within(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

/* ---- the mode ---------------------------------------------------------------------------------------------------- */

static svmp_status evaluate(void *user_data, const double *x, double *value, double *gradient) {
    return svmp_evaluate(user_data, x, value, gradient);
}

static svmp_status no_maximum(const svmp_model *model, const double *x, size_t far, int lost) {
    char name[128];
    return svmp_fail(model->context, SVMP_UNSUPPORTED,
                     "The start 'map' needs a density with a maximum, but none was found: %s %s, which is at %.3g%s.",
                     lost ? "the search stopped on a slope; the farthest variable is"
                          : "the density grows without bound in",
                     svmp_model_variable_name(model, far, name, sizeof name), x[far],
                     model->lowered ? " on the unconstrained scale" : "");
}

static size_t furthest(const svmp_model *model, const double *x) {
    size_t far = 0;
    for (size_t i = 1; i < model->graph->variables; i++)
        if (fabs(x[i]) > fabs(x[far])) far = i;
    return far;
}

/* A standard normal start in the box, moved towards 0 until its density is finite. */
static svmp_status draw_start(const svmp_model *model, evaluator *e, uint64_t seed, size_t start, double *x) {
    for (size_t halved = 0; halved < START_HALVINGS; halved++) {
        double value;
        for (size_t i = 0; i < model->graph->variables; i++) {
            random_stream stream = {.seed = seed, .purpose = RANDOM_MODE, .a = start, .b = i};
            x[i] = within(ldexp(svmp_random_normal(stream, 0), -(int)halved), model->lower[i], model->upper[i]);
        }
        SVMP_TRY(svmp_evaluate(e, x, &value, NULL));
        if (isfinite(value)) break;
    }
    return SVMP_OK;
}

static svmp_status find(const svmp_model *model, evaluator *e, uint64_t seed, double *x, double *mode) {
    const size_t variables = model->graph->variables;
    const lbfgs_problem problem = {variables, model->boxed ? model->lower : NULL, model->boxed ? model->upper : NULL,
                                   evaluate, e};
    double best = -INFINITY;
    int lost = 1;
    for (size_t start = 0; start < MODE_STARTS; start++) {
        lbfgs_result end;
        SVMP_TRY(draw_start(model, e, seed, start, x));
        SVMP_TRY(svmp_lbfgs_maximise(model->context, &problem, x, &end));
        if (end.outcome == LBFGS_DIVERGED) lost = 0;
        if (end.outcome != LBFGS_CONVERGED || !(end.value > best)) continue;
        best = end.value;
        memcpy(mode, x, variables * sizeof *mode);
    }
    return isfinite(best) ? SVMP_OK : no_maximum(model, x, furthest(model, x), lost);
}

svmp_status svmp_mode_find(const svmp_model *model, uint64_t seed, double *mode) {
    svmp_status status;
    evaluator *e = NULL;
    double *x = NULL;
    SVMP_CHECK(svmp_evaluator_create(model, 1, svmp_context_threads(model->context), &e));
    SVMP_CHECK(SVMP_NEW(model->context, x, model->graph->variables));
    SVMP_CHECK(find(model, e, seed, x, mode));
done:
    svmp_release(model->context, x);
    svmp_evaluator_free(e);
    return status;
}

/* ---- its width --------------------------------------------------------------------------------------------------- */

static double width(double bend) { return bend < 0 ? within(1 / sqrt(-bend), 1e-8, 1e3) : 1; }

static double span(double at) { return 1e-5 * fmax(1, fabs(at)); }

/* The curvature in a single variable, from its scores at mode - h and mode + h. */
static svmp_status bend_of(const svmp_model *model, evaluator *e, const double *mode, size_t which, double h, double *x,
                           double *score, double *bend) {
    for (size_t i = 0; i < model->graph->variables; i++) x[2 * i] = x[2 * i + 1] = mode[i];
    x[2 * which] -= h;
    x[2 * which + 1] += h;
    SVMP_TRY(svmp_evaluate(e, x, NULL, score));
    *bend = (score[2 * which + 1] - score[2 * which]) / (x[2 * which + 1] - x[2 * which]);
    return SVMP_OK;
}

/* Whether the end of the search is no maximum. The slope may be 0 there although
 *   - the log density levels out with the distance: its curvature is too small for this distance;
 *   - or it grows like log |x|: by its curvature there is still a gain of slope^2 / |bend|;
 *   - or the density is infinite at a point: the curvature by differences grows like 1/h^2, and not like 1/h as at the
 * peak of a Laplace density. */
static svmp_status is_no_maximum(const svmp_model *model, evaluator *e, const double *mode, size_t i, double slope,
                                 double bend, double *x, double *score, int *none) {
    enum { NEARER = 4096 };
    const double h = span(mode[i]);
    double nearer = 0;
    *none = 0;
    if (mode[i] <= model->lower[i] || mode[i] >= model->upper[i]) return SVMP_OK;
    if (fabs(bend) * h * h < 0.01) {
        *none = (fabs(mode[i]) > 10 && -bend * mode[i] * mode[i] < 1e-9) || slope * slope > 0.01 * fabs(bend);
    } else {
        SVMP_TRY(bend_of(model, e, mode, i, h / NEARER, x, score, &nearer));
        *none = !(fabs(nearer) < fabs(bend) * NEARER * sqrt(NEARER));
    }
    return SVMP_OK;
}

/* Variable `part` of all nodes of a colour, moved by -h and +h at once: their scores change by H_ii alone. */
static svmp_status spread_colour(const svmp_model *model, evaluator *e, const uint32_t *colour, uint32_t which,
                                 size_t part, const double *mode, double *x, double *score, double *slope,
                                 double *bend) {
    const size_t *first = model->graph->first;
    size_t moved = 0;
    for (size_t i = 0; i < model->graph->variables; i++) x[2 * i] = x[2 * i + 1] = mode[i];
    for (size_t v = 0; v < model->graph->nodes; v++) {
        const size_t i = first[v] + part;
        if (colour[v] != which || i >= first[v + 1]) continue;
        x[2 * i] -= span(mode[i]);
        x[2 * i + 1] += span(mode[i]);
        moved++;
    }
    if (moved == 0) return SVMP_OK;
    SVMP_TRY(svmp_evaluate(e, x, NULL, score));
    for (size_t v = 0; v < model->graph->nodes; v++) {
        const size_t i = first[v] + part;
        if (colour[v] != which || i >= first[v + 1]) continue;
        slope[i] = 0.5 * score[2 * i] + 0.5 * score[2 * i + 1];
        bend[i] = (score[2 * i + 1] - score[2 * i]) / (x[2 * i + 1] - x[2 * i]);
    }
    return SVMP_OK;
}

svmp_status svmp_mode_spread(const svmp_model *model, const double *mode, double *sd) {
    const svmp_graph *graph = model->graph;
    svmp_context *context = model->context;
    svmp_status status;
    evaluator *e = NULL;
    uint32_t *colour = NULL;
    double *x = NULL, *score = NULL, *slope = NULL;
    size_t colours, dimension = 0;
    for (size_t v = 0; v < graph->nodes; v++)
        if (graph->first[v + 1] - graph->first[v] > dimension) dimension = graph->first[v + 1] - graph->first[v];
    SVMP_CHECK(svmp_evaluator_create(model, 2, svmp_context_threads(context), &e));
    SVMP_CHECK(SVMP_NEW(context, colour, graph->nodes));
    SVMP_CHECK(SVMP_NEW(context, x, 2 * graph->variables));
    SVMP_CHECK(SVMP_NEW(context, score, 2 * graph->variables));
    SVMP_CHECK(SVMP_NEW(context, slope, graph->variables));
    SVMP_CHECK(svmp_graph_colour(graph, colour, &colours));
    for (uint32_t which = 0; which < colours; which++)
        for (size_t part = 0; part < dimension; part++)
            SVMP_CHECK(spread_colour(model, e, colour, which, part, mode, x, score, slope, sd));
    for (size_t i = 0; i < graph->variables; i++) {
        int none;
        SVMP_CHECK(is_no_maximum(model, e, mode, i, slope[i], sd[i], x, score, &none));
        if (none) SVMP_CHECK(no_maximum(model, mode, i, 0));
    }
    for (size_t i = 0; i < graph->variables; i++) sd[i] = width(sd[i]);
done:
    svmp_release(context, colour);
    svmp_release(context, x);
    svmp_release(context, score);
    svmp_release(context, slope);
    svmp_evaluator_free(e);
    return status;
}

/* ---- particles --------------------------------------------------------------------------------------------------- */

static svmp_status draw_around(const svmp_model *model, evaluator *e, const double *mode, const double *sd, size_t n,
                               double *one, double *x) {
    const size_t variables = model->graph->variables;
    for (size_t l = 0; l < n; l++) {
        double value = NAN;
        for (int halved = 0; !isfinite(value) && halved < START_HALVINGS; halved++) {
            for (size_t i = 0; i < variables; i++)
                one[i] = within(mode[i] + ldexp(sd[i] * x[i * n + l], -halved), model->lower[i], model->upper[i]);
            SVMP_TRY(svmp_evaluate(e, one, &value, NULL));
        }
        for (size_t i = 0; i < variables; i++) x[i * n + l] = one[i];
    }
    return SVMP_OK;
}

svmp_status svmp_mode_draw(const svmp_model *model, uint64_t seed, size_t n, double *x) {
    const size_t variables = model->graph->variables;
    svmp_context *context = model->context;
    svmp_status status;
    evaluator *e = NULL;
    double *mode = NULL, *sd = NULL, *one = NULL;
    SVMP_CHECK(SVMP_NEW(context, mode, variables));
    SVMP_CHECK(SVMP_NEW(context, sd, variables));
    SVMP_CHECK(SVMP_NEW(context, one, variables));
    SVMP_CHECK(svmp_mode_find(model, seed, mode));
    SVMP_CHECK(svmp_mode_spread(model, mode, sd));
    SVMP_CHECK(svmp_evaluator_create(model, 1, svmp_context_threads(context), &e));
    for (size_t i = 0; i < variables; i++)
        svmp_random_normals((random_stream){.seed = seed, .purpose = RANDOM_INIT, .b = i}, n, x + i * n);
    SVMP_CHECK(draw_around(model, e, mode, sd, n, one, x));
done:
    svmp_release(context, mode);
    svmp_release(context, sd);
    svmp_release(context, one);
    svmp_evaluator_free(e);
    return status;
}
