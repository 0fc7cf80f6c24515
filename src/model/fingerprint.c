#include "model/fingerprint.h"

#include <math.h>

#include "base/hash.h"
#include "base/random.h"
#include "model/evaluate.h"

enum { POINTS = 2 };

static uint64_t hash_real(uint64_t hash, double value) {
    if (isnan(value)) value = NAN; /* one of the many */
    return svmp_hash_bytes(hash, sizeof value, &value);
}

static uint64_t hash_structure(const svmp_model *model) {
    const svmp_graph *graph = model->graph;
    uint64_t hash = SVMP_HASH_START;
    char name[1024];
    for (size_t v = 0; v < graph->nodes; v++) {
        svmp_model_node_name(model, v, name, sizeof name);
        hash = svmp_hash_word(hash, graph->first[v + 1] - graph->first[v]);
        hash = svmp_hash_bytes(hash, strlen(name) + 1, name);
    }
    for (size_t i = 0; i < graph->variables; i++) hash = hash_real(hash_real(hash, model->lower[i]), model->upper[i]);
    for (size_t f = 0; f < graph->factors; f++) {
        hash = svmp_hash_word(hash, graph->scopes.start[f + 1] - graph->scopes.start[f]);
        for (size_t k = graph->scopes.start[f]; k < graph->scopes.start[f + 1]; k++)
            hash = svmp_hash_word(hash, graph->scopes.item[k]);
    }
    return hash;
}

/* Standard normal points, within the boxes. */
static void draw_points(const svmp_model *model, double *x) {
    for (size_t i = 0; i < model->graph->variables; i++) {
        double *row = x + i * POINTS;
        svmp_random_normals((random_stream){.purpose = RANDOM_FINGERPRINT, .b = i}, POINTS, row);
        for (size_t l = 0; l < POINTS; l++) row[l] = fmin(fmax(row[l], model->lower[i]), model->upper[i]);
    }
}

svmp_status svmp_fingerprint_take(const svmp_model *model, fingerprint *taken) {
    if (model->identity) return *taken = *model->identity, SVMP_OK;
    svmp_context *context = model->context;
    const svmp_graph *graph = model->graph;
    const size_t numbers = graph->variables * POINTS;
    double *room = NULL, log_density[POINTS];
    evaluator *e = NULL;
    svmp_status status;
    SVMP_CHECK(svmp_allocate(context, 2 * graph->variables, POINTS * sizeof *room, (void **)&room));
    SVMP_CHECK(svmp_evaluator_create(model, POINTS, svmp_context_threads(context), &e));
    fingerprint made = {graph->nodes, graph->variables, graph->factors, hash_structure(model), SVMP_HASH_START};
    draw_points(model, room);
    if (svmp_evaluate_silently(e, room, log_density, room + numbers) == 0) {
        for (size_t l = 0; l < POINTS; l++) made.density = hash_real(made.density, log_density[l]);
        for (size_t k = 0; k < numbers; k++) made.density = hash_real(made.density, room[numbers + k]);
    }
    *taken = made;
done:
    svmp_evaluator_free(e);
    svmp_release(context, room);
    return status;
}
