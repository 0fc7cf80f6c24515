/* Gradients of factors against differences of their values. Central differences of h, h/2, h/4, ... are extrapolated to
 * h = 0 (Ridders 1982); the entry of the table that agrees best with those before it is the derivative, and how far it
 * is from them its uncertainty:
 *
 *     d(h)   = (f(x + h) - f(x - h)) / 2h = f' + c2 h^2 + c4 h^4 + ...
 *     T(k,0) = d(h/2^k),   T(k,m) = T(k,m-1) + (T(k,m-1) - T(k-1,m-1)) / (4^m - 1)
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "model/model.h"

enum { PAIR = 2, LEVELS = 18, MOST_ORDER = 6 }; /* a pair of points is evaluated at once */

/* What a thread needs: an instance's own x, its values and gradients, in rows of two. */
typedef struct check_workspace {
    double *x, *gradient, value[PAIR];
    void *scratch;
    svmp_gradient_check worst; /* component that it has seen; of two that are as bad is_worse takes one, in any order */
} check_workspace;

typedef struct estimate {
    double derivative, uncertainty;
} estimate;

/* Takes over T(k, 0), which is as uncertain as `noise`, after the rows before it; `row` is the last one, of `order`
 * entries. */
static size_t extrapolate(double difference, double noise, double *row, size_t order, estimate *best) {
    double before[MOST_ORDER + 1], power = 1;
    memcpy(before, row, order * sizeof *row);
    row[0] = difference;
    const size_t now = order < MOST_ORDER ? order + 1 : order;
    for (size_t m = 1; m < now; m++) {
        power *= 4;
        row[m] = row[m - 1] + (row[m - 1] - before[m - 1]) / (power - 1);
        const double uncertainty = fmax(noise, fmax(fabs(row[m] - row[m - 1]), fabs(row[m] - before[m - 1])));
        if (uncertainty <= best->uncertainty) *best = (estimate){row[m], uncertainty};
    }
    return now;
}

/* The derivative of instance k's value by slot j at the point in room->x. Points where it has no value are farther than
 * the function reaches: smaller h may be within. */
static int differentiate(const factor_group *view, size_t k, size_t j, check_workspace *workspace, estimate *found) {
    double *x = workspace->x + j * PAIR, row[MOST_ORDER + 1];
    const double at = x[0];
    double h = 0.125 * fmax(1, fabs(at));
    size_t order = 0;
    int wrong = FACTOR_DONE;
    *found = (estimate){NAN, INFINITY};
    for (size_t level = 0; level < LEVELS && wrong != FACTOR_FAILED; level++, h /= 2) {
        x[0] = at + h;
        x[1] = at - h;
        const double width = x[0] - x[1]; /* as it was rounded */
        wrong = view->kind->evaluate(view, k, 1, PAIR, workspace->x, workspace->scratch, workspace->value,
                                     workspace->gradient);
        const double difference = (workspace->value[0] - workspace->value[1]) / width;
        const double noise = 4 * DBL_EPSILON * fmax(fabs(workspace->value[0]), fabs(workspace->value[1])) / width;
        if (wrong || !isfinite(difference))
            order = 0;
        else
            order = extrapolate(difference, noise, row, order, found);
    }
    x[0] = x[1] = at;
    return wrong == FACTOR_FAILED ? wrong : FACTOR_DONE;
}

/* What rounding of the values f does not explain of the difference, relative to the larger derivative. */
static double error_of(double analytic, const estimate *numeric) {
    if (!isfinite(analytic) || !isfinite(numeric->derivative)) return INFINITY;
    const double beyond = fabs(analytic - numeric->derivative) - 4 * numeric->uncertainty;
    return beyond > 0 ? beyond / fmax(fabs(analytic), fabs(numeric->derivative)) : 0;
}

/* Whether a is worse than b; of equals, the earlier one. */
static int is_worse(const svmp_gradient_check *a, const svmp_gradient_check *b) {
    if (a->error != b->error) return a->error > b->error;
    if (a->factor != b->factor) return a->factor < b->factor;
    return a->variable != b->variable ? a->variable < b->variable : a->point < b->point;
}

/* All slots of an instance at point l; room->x is filled here. */
static int check_instance(const svmp_model *model, size_t g, const factor_group *view, size_t k, size_t n, size_t l,
                          const double *x, check_workspace *workspace) {
    const size_t slots = view->slots;
    const uint32_t *variables = model->groups[g].variables + k * slots;
    double *analytic = workspace->gradient + slots * PAIR;
    for (size_t j = 0; j < slots; j++) workspace->x[j * PAIR] = workspace->x[j * PAIR + 1] = x[variables[j] * n + l];
    int wrong =
        view->kind->evaluate(view, k, 1, PAIR, workspace->x, workspace->scratch, workspace->value, workspace->gradient);
    if (wrong) return wrong;
    if (!isfinite(workspace->value[0])) return FACTOR_NO_VALUE;
    for (size_t j = 0; j < slots; j++) analytic[j] = workspace->gradient[j * PAIR];
    for (size_t j = 0; j < slots; j++) {
        estimate numeric;
        wrong = differentiate(view, k, j, workspace, &numeric);
        if (wrong) return wrong;
        const svmp_gradient_check here = {
            .factor = svmp_model_factor(model, g, k),
            .variable = variables[j],
            .point = l,
            .analytic = analytic[j],
            .numeric = numeric.derivative,
            .error = error_of(analytic[j], &numeric),
        };
        if (is_worse(&here, &workspace->worst)) workspace->worst = here;
    }
    return FACTOR_DONE;
}

typedef struct group_work {
    const svmp_model *model;
    size_t g, n;
    const factor_group *view;
    const double *x;
    check_workspace *workspaces;
    atomic_size_t failed; /* the first factor that did */
} group_work;

static void check_at_points(void *work, size_t k) {
    group_work *w = work;
    check_workspace *workspace = &w->workspaces[svmp_thread_number()];
    for (size_t l = 0; l < w->n; l++) {
        const int wrong = check_instance(w->model, w->g, w->view, k, w->n, l, w->x, workspace);
        if (wrong == FACTOR_DONE) continue;
        svmp_keep_least(&w->failed, svmp_model_failure(w->model, w->g, k, wrong));
        break;
    }
}

/* Every instance reads its own x: slot j is variable j. */
static svmp_status check_group(const svmp_model *model, size_t g, size_t n, const double *x,
                               check_workspace *workspaces, int threads) {
    factor_group view = model->groups[g];
    const size_t slots = view.slots;
    view.variables = NULL;
    SVMP_TRY(SVMP_NEW(model->context, view.variables, view.instances * slots));
    for (size_t k = 0; k < view.instances * slots; k++) view.variables[k] = (uint32_t)(k % slots);
    group_work work = {model, g, n, &view, x, workspaces, FAILURE_NONE};
    svmp_parallel_for(threads, view.instances, 16, check_at_points, &work);
    svmp_release(model->context, view.variables);
    return work.failed == FAILURE_NONE ? SVMP_OK : svmp_model_fail(model, work.failed);
}

static svmp_status alloc_workspace(const svmp_model *model, check_workspace *workspace) {
    size_t slots = 1, scratch = 1;
    for (size_t g = 0; g < model->group_count; g++) {
        const factor_group *group = &model->groups[g];
        const size_t own = group->kind->scratch(group, PAIR);
        if (group->slots > slots) slots = group->slots;
        if (own > scratch) scratch = own;
    }
    workspace->worst =
        (svmp_gradient_check){.factor = SIZE_MAX, .variable = SIZE_MAX, .analytic = NAN, .numeric = NAN, .error = -1};
    SVMP_TRY(SVMP_NEW(model->context, workspace->x, slots * PAIR));
    SVMP_TRY(SVMP_NEW(model->context, workspace->gradient, slots * (PAIR + 1)));
    return svmp_allocate(model->context, scratch, 1, &workspace->scratch);
}

svmp_status svmp_model_check_gradient(const svmp_model *model, size_t n, const double *x, svmp_gradient_check *worst) {
    if (model == NULL) return SVMP_BAD_CALL;
    svmp_context *context = model->context;
    if (n == 0 || x == NULL || worst == NULL)
        return svmp_fail(context, SVMP_BAD_CALL,
                         "svmp_model_check_gradient: there are no points, or the result is NULL.");
    SVMP_TRY(svmp_model_require_finished(model));
    SVMP_TRY(svmp_model_require_whole(model, "svmp_model_check_gradient"));
    const int threads = svmp_context_threads(context);
    check_workspace *workspaces = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, workspaces, threads));
    for (int t = 0; t < threads; t++) SVMP_CHECK(alloc_workspace(model, &workspaces[t]));
    for (size_t g = 0; g < model->group_count; g++) SVMP_CHECK(check_group(model, g, n, x, workspaces, threads));
    *worst = workspaces[0].worst;
    for (int t = 1; t < threads; t++)
        if (is_worse(&workspaces[t].worst, worst)) *worst = workspaces[t].worst;
    if (worst->error < 0) worst->error = 0;
done:
    for (int t = 0; workspaces && t < threads; t++) {
        svmp_release(context, workspaces[t].x);
        svmp_release(context, workspaces[t].gradient);
        svmp_release(context, workspaces[t].scratch);
    }
    svmp_release(context, workspaces);
    return status;
}
