#include "compare.h"

#include <math.h>
#include <string.h>

#include "backend/node_messages.h"
#include "base/random.h"
#include "stein/discrepancy.h"

typedef struct pair {
    backend *a, *b; /* the reference, and the other */
    kernel kernel;
    step step;
} pair;

static double largest_of(size_t n, const double *row) {
    double largest = 0;
    for (size_t l = 0; l < n; l++) largest = fmax(largest, fabs(row[l]));
    return largest;
}

/* The largest difference of an array's rows in units that `unit` gives, each with n numbers. */
static svmp_status difference(const pair *p, backend_array which, const double *unit, double *largest) {
    const double *a, *b;
    const size_t n = p->a->n, rows = p->a->model->graph->variables;
    SVMP_TRY(svmp_backend_view(p->a, which, &a));
    SVMP_TRY(svmp_backend_view(p->b, which, &b));
    for (size_t k = 0; k < rows * n; k++) {
        if (isfinite(a[k]) != isfinite(b[k])) *largest = INFINITY;
        if (!isfinite(a[k]) || !isfinite(b[k])) continue;
        const double apart = fabs(a[k] - b[k]), scale = unit ? unit[k / n] : fmax(1, fabs(a[k]));
        if (apart > 0 && apart / scale > *largest) *largest = apart / scale;
    }
    return SVMP_OK;
}

static svmp_status copy(const pair *p, backend_array which) {
    const double *from;
    double *to;
    SVMP_TRY(svmp_backend_view(p->a, which, &from));
    if (from == NULL) return SVMP_OK;
    SVMP_TRY(svmp_backend_edit(p->b, which, &to));
    const size_t numbers = p->a->model->graph->variables * (which == ARRAY_SD ? 1 : p->a->n);
    memcpy(to, from, numbers * sizeof *to);
    return svmp_backend_commit(p->b, which);
}

/* The units of a variable's scores and velocities. */
static svmp_status find_units(const pair *p, double *unit) {
    const double *score, *phi;
    const size_t n = p->a->n;
    SVMP_TRY(svmp_backend_view(p->a, ARRAY_SCORE, &score));
    SVMP_TRY(svmp_backend_view(p->a, ARRAY_PHI, &phi));
    for (size_t i = 0; i < p->a->model->graph->variables; i++)
        unit[i] = fmax(fmax(largest_of(n, score + i * n), largest_of(n, phi + i * n)), 1e-300);
    return SVMP_OK;
}

static svmp_status compare_velocities(const pair *p, size_t t, double *unit, differences *found) {
    SVMP_TRY(copy(p, ARRAY_SD));
    SVMP_TRY(p->a->kind->stein(p->a, &p->kernel, t));
    SVMP_TRY(p->b->kind->stein(p->b, &p->kernel, t));
    SVMP_TRY(find_units(p, unit));
    SVMP_TRY(difference(p, ARRAY_PHI, unit, &found->phi));
    return copy(p, ARRAY_PHI);
}

static svmp_status place(const comparison *c, const pair *p, size_t t) {
    double *x;
    SVMP_TRY(svmp_backend_edit(p->a, ARRAY_PARTICLES, &x));
    for (size_t i = 0; i < p->a->model->graph->variables; i++) c->place(t, i, c->n, x + i * c->n);
    return svmp_backend_commit(p->a, ARRAY_PARTICLES);
}

static svmp_status iterate(const comparison *c, const pair *p, size_t t, double *unit, differences *found) {
    const backend_array given[] = {ARRAY_PARTICLES, ARRAY_STEP_FIRST, ARRAY_STEP_SECOND};
    if (c->place) SVMP_TRY(place(c, p, t));
    for (size_t k = 0; k < 3; k++) SVMP_TRY(copy(p, given[k]));
    SVMP_TRY(p->a->kind->score(p->a));
    SVMP_TRY(p->b->kind->score(p->b));
    SVMP_TRY(find_units(p, unit));
    SVMP_TRY(difference(p, ARRAY_SCORE, unit, &found->score));
    SVMP_TRY(copy(p, ARRAY_SCORE));
    if (c->kernel) SVMP_TRY(compare_velocities(p, t, unit, found));
    const double rate = c->kernel ? svmp_step_rate(&p->step, t, c->iterations) : 1e-4;
    const svmp_status moved =
        c->kernel ? p->a->kind->step(p->a, &p->step, rate, t) : p->a->kind->diffuse(p->a, rate, t);
    const svmp_status other =
        c->kernel ? p->b->kind->step(p->b, &p->step, rate, t) : p->b->kind->diffuse(p->b, rate, t);
    if (moved != other) found->x = INFINITY;
    if (moved != SVMP_OK) return moved;
    if (fabs(p->a->largest - p->b->largest) > 1e-12 * p->a->largest) found->x = INFINITY;
    return difference(p, ARRAY_PARTICLES, NULL, &found->x);
}

static svmp_status start(const pair *p) {
    double *x;
    SVMP_TRY(svmp_backend_edit(p->a, ARRAY_PARTICLES, &x));
    for (size_t i = 0; i < p->a->model->graph->variables; i++) {
        svmp_random_normals((random_stream){.seed = 7, .purpose = RANDOM_TEST, .b = i}, p->a->n, x + i * p->a->n);
        for (size_t l = 0; l < p->a->n; l++) x[i * p->a->n + l] = 0.5 * x[i * p->a->n + l] + 0.1;
    }
    return svmp_backend_commit(p->a, ARRAY_PARTICLES);
}

svmp_status compare_backends(const comparison *c, differences *found) {
    pair p = {0};
    const bandwidth standard = {.rule = BANDWIDTH_MEDIAN};
    svmp_context *context = c->model->context;
    const kernel *k = c->kernel ? &p.kernel : NULL;
    const step *s = c->kernel ? &p.step : NULL;
    double *unit = NULL;
    svmp_status status;
    *found = (differences){0};
    if (c->kernel) SVMP_CHECK(svmp_kernel_parse(context, c->kernel, standard, &p.kernel));
    if (c->kernel) SVMP_CHECK(svmp_step_parse(context, c->step, &p.step));
    SVMP_CHECK(SVMP_NEW(context, unit, c->model->graph->variables));
    SVMP_CHECK(svmp_backend_create(c->reference, c->model, c->n, 11, k, s, &p.a));
    SVMP_CHECK(svmp_backend_create(c->other, c->model, c->n, 11, k, s, &p.b));
    SVMP_CHECK(start(&p));
    for (; found->iterations < c->iterations && status == SVMP_OK; found->iterations += status == SVMP_OK)
        status = iterate(c, &p, found->iterations, unit, found);
    if (status == SVMP_NOT_FINITE) status = SVMP_OK; /* in both, or the difference of x is infinite */
done:
    svmp_backend_free(p.a);
    svmp_backend_free(p.b);
    svmp_release(context, unit);
    return status;
}

/* ---- discrepancies ----------------------------------------------------------------------------------------------- */

static void apart(double a, double b, double scale, double *largest) {
    if (isfinite(a) != isfinite(b)) *largest = INFINITY;
    if (!isfinite(a) || !isfinite(b)) return;
    *largest = fmax(*largest, fabs(a - b) / fmax(scale, 1e-300));
}

/* `one`: V if every particle were alone, the scale of the terms that V averages. */
static void compare_one(const svmp_discrepancy *a, const svmp_discrepancy *b, double one, double *largest) {
    apart(a->v, b->v, one, largest);
    apart(a->u, b->u, one, largest);
    apart(a->ratio, b->ratio, fmax(1, fabs(a->ratio)), largest);
    apart(a->limit, b->limit, a->limit, largest);
    apart(a->moment_z, b->moment_z, fmax(1, a->moment_z), largest);
    apart(a->moment_limit, b->moment_limit, a->moment_limit, largest);
    apart(a->bandwidth, b->bandwidth, a->bandwidth, largest);
}

/* The particles of b on the CPU. */
static svmp_status measure_arrays(backend *b, const kernel *k, size_t count, size_t t, svmp_discrepancy *nodes) {
    const size_t variables = b->model->graph->variables;
    const double *x;
    double *few = NULL, *score = NULL;
    svmp_status status;
    SVMP_CHECK(svmp_backend_view(b, ARRAY_PARTICLES, &x));
    SVMP_CHECK(SVMP_NEW(b->context, few, variables * count));
    SVMP_CHECK(SVMP_NEW(b->context, score, variables * count));
    for (size_t i = 0; i < variables; i++) memcpy(few + i * count, x + i * b->n, count * sizeof *few);
    SVMP_CHECK(svmp_model_evaluate(b->model, count, few, NULL, score));
    if (b->messages) SVMP_CHECK(svmp_messages_at(b, few));
    const stein_sample sample = {.graph = b->model->graph,
                                 .kernel = k,
                                 .n = count,
                                 .x = few,
                                 .score = score,
                                 .seed = b->seed,
                                 .iteration = t,
                                 .hubs = b->messages ? b->messages->hubs : NULL,
                                 .messages = b->messages ? b->messages->rows : NULL};
    SVMP_CHECK(svmp_stein_discrepancy(b->context, &sample, nodes + b->model->graph->nodes, nodes));
done:
    svmp_release(b->context, few);
    svmp_release(b->context, score);
    return status;
}

static svmp_status compare_measures(backend *b, const kernel *k, size_t count, double *largest) {
    const size_t nodes = b->model->graph->nodes, variables = b->model->graph->variables;
    svmp_discrepancy *here = NULL, *there = NULL;
    svmp_stein_measure *measured = NULL, *again = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(b->context, here, nodes + 1));
    SVMP_CHECK(SVMP_NEW(b->context, there, nodes + 1));
    SVMP_CHECK(SVMP_NEW(b->context, measured, variables));
    SVMP_CHECK(SVMP_NEW(b->context, again, variables));
    SVMP_CHECK(b->kind->measure(b, k, count, 3, measured));
    SVMP_CHECK(b->kind->measure(b, k, count, 3, again));
    if (memcmp(measured, again, variables * sizeof *again) != 0) *largest = INFINITY;
    svmp_stein_finish(b->model->graph, count, measured, there + nodes, there);
    SVMP_CHECK(measure_arrays(b, k, count, 3, here));
    double all = 0;
    for (size_t v = 0; v < nodes; v++) {
        double one = 0;
        for (size_t i = b->model->graph->first[v]; i < b->model->graph->first[v + 1]; i++)
            one += measured[i].sums.diagonal / (double)count;
        compare_one(&here[v], &there[v], one, largest);
        all += one;
    }
    compare_one(&here[nodes], &there[nodes], all, largest);
done:
    svmp_release(b->context, here);
    svmp_release(b->context, there);
    svmp_release(b->context, measured);
    svmp_release(b->context, again);
    return status;
}

svmp_status compare_discrepancies(const comparison *c, double *largest) {
    pair p = {0};
    svmp_context *context = c->model->context;
    const size_t count = c->measured ? c->measured : c->n;
    svmp_status status;
    *largest = c->other->measure ? 0 : INFINITY;
    SVMP_CHECK(svmp_kernel_parse(context, c->kernel, (bandwidth){.rule = BANDWIDTH_MEDIAN}, &p.kernel));
    SVMP_CHECK(svmp_step_parse(context, c->step ? c->step : "adagrad:0.1", &p.step));
    const kernel *k = c->step ? &p.kernel : NULL; /* a method without a step has no kernel */
    SVMP_CHECK(svmp_backend_create(c->other, c->model, c->n, 11, k, c->step ? &p.step : NULL, &p.a));
    SVMP_CHECK(start(&p));
    for (size_t t = 0; t < c->iterations && c->step; t++) {
        SVMP_CHECK(p.a->kind->score(p.a));
        SVMP_CHECK(p.a->kind->stein(p.a, &p.kernel, t));
        SVMP_CHECK(p.a->kind->step(p.a, &p.step, svmp_step_rate(&p.step, t, c->iterations), t));
    }
    SVMP_CHECK(compare_measures(p.a, &p.kernel, count, largest));
done:
    svmp_backend_free(p.a);
    return status;
}
