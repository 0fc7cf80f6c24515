#include "model/fingerprint.h"

#include <math.h>

#include "base/hash.h"
#include "base/peers.h"
#include "base/random.h"
#include "model/evaluator.h"

enum { POINTS = 2 };

typedef enum item_kind { ITEM_NODE = 1, ITEM_FACTOR, ITEM_SCORE, ITEM_LOG_DENSITY } item_kind;

/* The checksum of an item begins with what it is, and its place. */
static uint64_t begin(item_kind kind, size_t place) {
    return svmp_hash_word(svmp_hash_word(SVMP_HASH_START, kind), place);
}

static uint64_t hash_real(uint64_t hash, double value) {
    if (isnan(value)) value = NAN; /* one of the many */
    return svmp_hash_bytes(hash, sizeof value, &value);
}

/* ---- structure --------------------------------------------------------------------------------------------------- */

/* Of own nodes: of a whole model, all. */
static uint64_t hash_nodes(const svmp_model *model) {
    const svmp_graph *graph = model->graph;
    uint64_t sum = 0;
    char name[1024];
    for (size_t v = 0; v < graph->moved; v++) {
        uint64_t hash = begin(ITEM_NODE, svmp_node_key(graph, v));
        svmp_model_node_name(model, v, name, sizeof name);
        hash = svmp_hash_word(hash, graph->first[v + 1] - graph->first[v]);
        hash = svmp_hash_bytes(hash, strlen(name) + 1, name);
        for (size_t i = graph->first[v]; i < graph->first[v + 1]; i++)
            hash = hash_real(hash_real(hash, model->lower[i]), model->upper[i]);
        sum += hash;
    }
    return sum;
}

/* Of the factors whose first node is own; `owners` NULL: all are. Their order does not count, only how many there are
 * of a kind; what they come to, the density tells. */
static uint64_t hash_factors(const svmp_graph *graph, const graph_owners *owners, size_t *count) {
    uint64_t sum = 0;
    *count = 0;
    for (size_t f = 0; f < graph->factors; f++) {
        const uint32_t *scope = graph->scopes.item + graph->scopes.start[f];
        const size_t nodes = graph->scopes.start[f + 1] - graph->scopes.start[f];
        uint64_t hash = begin(ITEM_FACTOR, nodes);
        uint32_t first = UINT32_MAX;
        for (size_t k = 0; k < nodes; k++) {
            hash = svmp_hash_word(hash, svmp_node_key(graph, scope[k]));
            if (scope[k] < first) first = scope[k];
        }
        if (owners && nodes > 0 && owners->owner[first] != owners->rank) continue;
        sum += hash;
        ++*count;
    }
    return sum;
}

/* ---- density ----------------------------------------------------------------------------------------------------- */

/* Standard normal points, within the boxes: the halo's are those that its owner draws. */
static void draw_points(const svmp_model *model, double *x) {
    for (size_t i = 0; i < model->graph->variables; i++) {
        double *row = x + i * POINTS;
        const size_t whole = svmp_variable_key(model->graph, i);
        svmp_random_normals((random_stream){.purpose = RANDOM_FINGERPRINT, .b = whole}, POINTS, row);
        for (size_t l = 0; l < POINTS; l++) row[l] = fmin(fmax(row[l], model->lower[i]), model->upper[i]);
    }
}

/* 0 in all processes where a factor's function fails in one. */
static svmp_status hash_density(const svmp_model *model, uint64_t *density) {
    svmp_context *context = model->context;
    const svmp_graph *graph = model->graph;
    const size_t numbers = graph->variables * POINTS;
    double *x = NULL, log_density[POINTS];
    evaluator *e = NULL;
    int known = 0;
    svmp_status status = svmp_allocate(context, 2 * graph->variables, POINTS * sizeof *x, (void **)&x);
    if (status == SVMP_OK) status = svmp_evaluator_create(model, POINTS, svmp_context_threads(context), &e);
    SVMP_CHECK(svmp_model_agree(model, status));
    draw_points(model, x);
    SVMP_CHECK(svmp_evaluate_log_density(e, x, log_density, &known));
    *density = 0;
    if (!known || svmp_evaluate_silently(e, x, NULL, x + numbers) != 0) goto done;
    for (size_t i = 0; i < graph->moved_variables; i++) {
        uint64_t hash = begin(ITEM_SCORE, svmp_variable_key(graph, i));
        for (size_t l = 0; l < POINTS; l++) hash = hash_real(hash, x[numbers + i * POINTS + l]);
        *density += hash;
    }
    for (size_t l = 0; l < POINTS && graph->peers->rank == 0; l++)
        *density += hash_real(begin(ITEM_LOG_DENSITY, l), log_density[l]);
done:
    svmp_evaluator_free(e);
    svmp_release(context, x);
    return status;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

svmp_status svmp_fingerprint_take(const svmp_model *model, fingerprint *taken) {
    if (model->identity) return *taken = *model->identity, SVMP_OK;
    fingerprint made = {.nodes = model->graph->nodes, .variables = model->graph->variables};
    made.structure = hash_nodes(model) + hash_factors(model->graph, NULL, &made.factors);
    SVMP_TRY(hash_density(model, &made.density));
    *taken = made;
    return SVMP_OK;
}

/* Sums modulo 2^64, by halves that do not overflow. */
static void add_words(const svmp_peers *t, size_t count, uint64_t *words) {
    for (size_t k = 0; k < count; k++) {
        int64_t halves[2] = {(int64_t)(words[k] & UINT32_MAX), (int64_t)(words[k] >> 32)};
        t->sum(t, 2, halves);
        words[k] = (uint64_t)halves[0] + ((uint64_t)halves[1] << 32);
    }
}

svmp_status svmp_fingerprint_add(const svmp_model *fragment, graph_owners owners, const svmp_model *part,
                                 fingerprint *taken) {
    const svmp_graph *graph = part->graph;
    fingerprint made = {.nodes = graph->whole_nodes, .variables = graph->whole_variables};
    made.structure = hash_nodes(part) + hash_factors(fragment->graph, &owners, &made.factors);
    SVMP_TRY(hash_density(part, &made.density));
    uint64_t words[] = {made.factors, made.structure, made.density};
    add_words(part->context->peers, 3, words);
    made.factors = (size_t)words[0];
    made.structure = words[1];
    made.density = words[2];
    *taken = made;
    return SVMP_OK;
}
