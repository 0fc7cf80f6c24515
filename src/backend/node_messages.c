#include "backend/node_messages.h"

#include <math.h>

#include "base/row_sums.h"
#include "base/threads.h"
#include "graph/graph_rows.h"

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* Finds the hubs of a term on `near`; processes exchange them for their halos. */
static svmp_status find_hubs(backend *b, const kernel_term *term, index_lists *lists) {
    const svmp_graph *graph = b->model->graph;
    const size_t most = svmp_near_most(term, b->n);
    double *hub = NULL;
    svmp_status status;
    SVMP_CHECK(svmp_model_agree(b->model, SVMP_NEW(b->context, hub, graph->variables)));
    svmp_near_mark(graph, most, hub);
    SVMP_CHECK(svmp_graph_exchange(graph, hub));
    SVMP_CHECK(svmp_model_agree(b->model, svmp_near_lists(graph, most, hub, lists)));
done:
    svmp_release(b->context, hub);
    return status;
}

/* Nodes first ... last - 1 that have a message; all have one colour, because their scores are independent. */
static svmp_status make_evaluator(backend *b, size_t first, size_t last, node_evaluator **made, size_t *variables) {
    const svmp_graph *graph = b->model->graph;
    uint32_t *colour = NULL;
    SVMP_TRY(SVMP_NEW(b->context, colour, graph->nodes));
    for (size_t v = 0; v < graph->nodes; v++) {
        const int wanted = v >= first && v < last && b->messages->has_message[v];
        colour[v] = wanted ? 0 : NODE_UNCOLOURED;
        if (wanted) *variables += graph->first[v + 1] - graph->first[v];
    }
    const svmp_status status =
        *variables ? svmp_node_evaluator_create(b->model, b->n, b->threads, 1, colour, made) : SVMP_OK;
    svmp_release(b->context, colour);
    return status;
}

/* Rows of nodes without a message are never touched, and take no memory if the system allocates pages on first use. */
static svmp_status alloc_workspace(backend *b, const kernel *k) {
    const svmp_graph *graph = b->model->graph;
    messages *m = b->messages;
    const size_t row = b->n * sizeof(double);
    SVMP_TRY(SVMP_NEW(b->context, m->has_message, graph->moved));
    for (size_t a = 0; a < k->count; a++)
        for (size_t v = 0; v < graph->moved; v++)
            m->has_message[v] |= (unsigned char)svmp_near_needs_message(&k->terms[a], &m->hubs[a], v);
    SVMP_TRY(make_evaluator(b, 0, graph->inner, &m->evaluators[0], &m->variables[0]));
    SVMP_TRY(make_evaluator(b, graph->inner, graph->moved, &m->evaluators[1], &m->variables[1]));
    SVMP_TRY(svmp_allocate(b->context, graph->moved_variables, row, (void **)&m->at));
    return svmp_allocate(b->context, graph->moved_variables, row, (void **)&m->rows);
}

svmp_status svmp_messages_create(backend *b, const kernel *k) {
    int has_message = 0;
    for (size_t a = 0; k && a < k->count; a++)
        has_message |= k->terms[a].domain == DOMAIN_NEAR || k->terms[a].domain == DOMAIN_MESSAGE;
    if (!has_message) return SVMP_OK;
    SVMP_TRY(svmp_model_agree(b->model, SVMP_NEW(b->context, b->messages, 1)));
    for (size_t a = 0; a < k->count; a++)
        if (k->terms[a].domain == DOMAIN_NEAR) SVMP_TRY(find_hubs(b, &k->terms[a], &b->messages->hubs[a]));
    return svmp_model_agree(b->model, alloc_workspace(b, k));
}

void svmp_messages_free(backend *b) {
    messages *m = b->messages;
    if (m == NULL) return;
    for (size_t a = 0; a < KERNEL_TERMS_MAX; a++) svmp_lists_free(b->context, &m->hubs[a]);
    svmp_node_evaluator_free(m->evaluators[0]);
    svmp_node_evaluator_free(m->evaluators[1]);
    svmp_release_all(b->context, m->has_message, m->at, m->rows, m);
}

/* ---- evaluating -------------------------------------------------------------------------------------------------- */

void svmp_message_place(size_t n, const double *x, double *at) {
    const double mean = x[0] + svmp_mean_offset(n, x);
    for (size_t l = 0; l < n; l++) at[l] = mean;
}

/* A particle whose message is not finite, because the node's mean is impossible there, gets the mean of the others. The
 * unit is a power of two and prevents overflow. */
void svmp_message_standardise(size_t n, double *row) {
    double sum = 0, count = 0;
    for (size_t l = 0; l < n; l++)
        if (!isfinite(row[l])) row[l] = NAN;
    const double unit = svmp_unit(n, row);
    for (size_t l = 0; l < n; l++)
        if (isfinite(row[l])) row[l] /= unit, sum += row[l], count++;
    for (size_t l = 0; l < n; l++)
        if (!isfinite(row[l])) row[l] = count > 0 ? sum / count : 0;
    const double sd = svmp_centre(n, row, row), by = sd > 0 ? 1 / sd : 0;
    for (size_t l = 0; l < n; l++) row[l] *= by;
}

typedef struct message_work {
    const backend *b;
    const double *x;
    size_t first; /* node */
} message_work;

static void place_node(void *work, size_t k) {
    const message_work *w = work;
    const messages *m = w->b->messages;
    const size_t n = w->b->n, v = w->first + k, *first = w->b->model->graph->first;
    for (size_t i = first[v]; m->has_message[v] && i < first[v + 1]; i++)
        svmp_message_place(n, w->x + i * n, m->at + i * n);
}

static void standardise_node(void *work, size_t k) {
    const message_work *w = work;
    const messages *m = w->b->messages;
    const size_t n = w->b->n, v = w->first + k, *first = w->b->model->graph->first;
    for (size_t i = first[v]; m->has_message[v] && i < first[v + 1]; i++) svmp_message_standardise(n, m->rows + i * n);
}

static svmp_status update(backend *b, const double *x, int boundary) {
    const svmp_graph *graph = b->model->graph;
    const messages *m = b->messages;
    const size_t first = boundary ? graph->inner : 0, last = boundary ? graph->moved : graph->inner;
    if (m->evaluators[boundary] == NULL) return SVMP_OK;
    const int threads = svmp_threads_for(b->threads, 5 * (double)m->variables[boundary] * (double)b->n);
    message_work work = {b, x, first};
    svmp_parallel_for(threads, last - first, 0, place_node, &work);
    SVMP_TRY(svmp_node_evaluate_scores(m->evaluators[boundary], x, m->at, m->rows));
    svmp_parallel_for(threads, last - first, 0, standardise_node, &work);
    return SVMP_OK;
}

svmp_status svmp_messages_update(backend *b) {
    if (b->messages == NULL) return SVMP_OK;
    if (b->span.first == 0) SVMP_TRY(update(b, b->x, 0));
    return b->span.last == b->model->graph->moved ? update(b, b->x, 1) : SVMP_OK;
}

svmp_status svmp_messages_at(backend *b, const double *x) {
    if (b->messages == NULL) return SVMP_OK;
    SVMP_TRY(update(b, x, 0));
    return update(b, x, 1);
}
