/* The state of a run: the Stein discrepancy of its particles, and the size of the last step. */
#include <math.h>
#include <string.h>

#include "backend/node_messages.h"
#include "base/number.h"
#include "base/peers.h"
#include "base/row_sums.h"
#include "run/run.h"
#include "stein/discrepancy.h"

enum {
    MEASURED = 1000
}; /* the most particles for a method without a kernel, because its own work does not grow as n^2 */

/* The kernel of the run, or the graphical one if the method has none. */
static svmp_status measuring_kernel(const svmp_run *run, kernel *k) {
    if (run->method->kernel) return *k = run->kernel, SVMP_OK;
    number_locale locale = {0};
    bandwidth standard;
    SVMP_TRY(svmp_number_enter(run->context, &locale));
    svmp_status status = svmp_bandwidth_parse(run->context, run->options.bandwidth, &standard);
    if (status == SVMP_OK) status = svmp_kernel_parse(run->context, svmp_method_graphical.kernel, standard, k);
    svmp_number_leave(&locale);
    return status;
}

/* Measures on the device, if all processes can. */
static svmp_status measure_there(const svmp_run *run, const kernel *k, size_t n, svmp_discrepancy *total,
                                 svmp_discrepancy *nodes) {
    const svmp_graph *graph = run->model->graph;
    backend *b = run->backend;
    svmp_stein_measure *measured = NULL;
    svmp_status status = SVMP_NEW(run->context, measured, graph->moved_variables);
    if (status == SVMP_OK) status = b->local->measure(b, k, n, run->iteration ? run->iteration - 1 : 0, measured);
    status = svmp_model_agree_all(run->model, status);
    if (status == SVMP_OK) svmp_stein_finish(graph, n, measured, total, nodes);
    svmp_release(run->context, measured);
    return status;
}

svmp_status svmp_run_discrepancy(const svmp_run *run, svmp_discrepancy *total, svmp_discrepancy *nodes) {
    if (run == NULL) return SVMP_BAD_CALL;
    svmp_context *context = run->context;
    if (total == NULL) return svmp_fail(context, SVMP_BAD_CALL, "svmp_run_discrepancy: the result is NULL.");
    if (run->method->yield != SVMP_YIELD_PARTICLES)
        return svmp_fail(context, SVMP_UNSUPPORTED,
                         "The Stein discrepancy does not apply to the method '%s', which does not move particles "
                         "towards the posterior.",
                         run->method->name);
    const backend *b = run->backend;
    const size_t variables = run->model->graph->variables, n = run->method->kernel || b->n < MEASURED ? b->n : MEASURED;
    kernel k;
    SVMP_TRY(svmp_backend_gather(run->own, run->backend));
    if (b->kind->refresh) SVMP_TRY(b->kind->refresh(run->backend));
    if (b->local->measure) {
        if (b->local->await) SVMP_TRY(b->local->await(run->backend));
        SVMP_TRY(measuring_kernel(run, &k));
        if (measure_there(run, &k, n, total, nodes) == SVMP_OK) return SVMP_OK;
    }
    const int fewer = n < b->n; /* then a copy of them, and an evaluator for as many */
    evaluator *e = NULL;
    double *first = NULL, *score = NULL;
    const double *all = NULL;
    svmp_status status;
    status = svmp_backend_view(run->backend, ARRAY_PARTICLES, &all);
    if (status == SVMP_OK) status = measuring_kernel(run, &k);
    if (status == SVMP_OK && (fewer || b->evaluator == NULL))
        status = svmp_evaluator_create(run->model, n, b->threads, &e);
    if (status == SVMP_OK && fewer) status = svmp_allocate(context, variables, n * sizeof *first, (void **)&first);
    if (status == SVMP_OK) status = svmp_allocate(context, variables, n * sizeof *score, (void **)&score);
    for (size_t i = 0; status == SVMP_OK && fewer && i < variables; i++)
        memcpy(first + i * n, all + i * b->n, n * sizeof *first);
    const double *x = fewer ? first : all;
    if (status == SVMP_OK) /* the backend's scores belong to the particles before the last step */
        status = svmp_evaluate(e ? e : b->evaluator, x, NULL, score);
    const messages *m = run->method->kernel ? b->messages : NULL;
    if (status == SVMP_OK && m) status = svmp_messages_at(run->backend, x);
    SVMP_CHECK(svmp_model_agree_all(run->model, status));
    const stein_sample sample = {.graph = run->model->graph,
                                 .kernel = &k,
                                 .n = n,
                                 .x = x,
                                 .score = score,
                                 .seed = b->seed,
                                 .iteration = run->iteration ? run->iteration - 1 : 0,
                                 .hubs = m ? m->hubs : NULL,
                                 .messages = m ? m->rows : NULL};
    SVMP_CHECK(svmp_model_agree_all(run->model, svmp_stein_discrepancy(context, &sample, total, nodes)));
done:
    svmp_release(context, first);
    svmp_release(context, score);
    svmp_evaluator_free(e);
    return status;
}

svmp_status svmp_run_measure(svmp_run *run, svmp_discrepancy *total, svmp_discrepancy *nodes) {
    svmp_discrepancy whole;
    if (run) SVMP_TRY(svmp_run_synchronise(run));
    SVMP_TRY(svmp_run_discrepancy(run, &whole, nodes));
    svmp_history_add(&run->measured,
                     (const double[HISTORY_COLUMNS]){(double)run->iteration, whole.v, whole.ratio, whole.bandwidth});
    if (total) *total = whole;
    return SVMP_OK;
}

svmp_status svmp_run_last_movement(const svmp_run *run, svmp_movement *last) {
    svmp_movement movement = {.largest = NAN, .relative = NAN};
    if (run == NULL) return SVMP_BAD_CALL;
    if (last == NULL) return svmp_fail(run->context, SVMP_BAD_CALL, "svmp_run_last_movement: the result is NULL.");
    *last = movement;
    if (run->method->yield == SVMP_YIELD_CHAINS || !run->backend->moved) return SVMP_OK;
    const svmp_graph *graph = run->model->graph;
    const size_t n = run->backend->n;
    const double *now, *then;
    SVMP_TRY(svmp_backend_view(run->backend, ARRAY_PARTICLES, &now));
    SVMP_TRY(svmp_backend_view(run->backend, ARRAY_PHI, &then));
    movement.largest = 0;
    for (size_t i = 0; i < graph->moved_variables; i++) {
        const double *x = now + i * n, *before = then + i * n, mean = svmp_sum(n, x) / (double)n;
        double squares = 0, largest = 0;
        for (size_t l = 0; l < n; l++) {
            squares += (x[l] - mean) * (x[l] - mean);
            largest = fmax(largest, fabs(x[l] - before[l]));
        }
        movement.largest = fmax(movement.largest, largest);
        if (!(squares > 0)) continue;
        const double relative = largest / sqrt(squares / (double)(n - 1));
        const int earlier = svmp_variable_key(graph, i) < svmp_variable_key(graph, movement.variable);
        if (relative < movement.relative || (relative == movement.relative && !earlier)) continue;
        movement.relative = relative;
        movement.variable = i;
    }
    *last = movement;
    return SVMP_OK;
}
