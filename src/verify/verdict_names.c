/* The names of variables and nodes in a verdict: those of the table. */
#include <string.h>

#include "model/natural_values.h"
#include "model/text_model.h"
#include "verify/verdict_inside.h"

static size_t node_of(const svmp_graph *graph, size_t variable) {
    size_t low = 0, high = graph->nodes; /* the node lies in [low, high) */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        *(graph->first[middle] <= variable ? &low : &high) = middle;
    }
    return low;
}

typedef const char *namer(const svmp_model *model, size_t k, char *name, size_t size);

/* "p.1 to p.4" */
static void name_range(const svmp_model *model, namer *name_of, size_t first, size_t count, char *name, size_t size) {
    char last[60];
    name_of(model, first, name, size);
    if (count < 2) return;
    name_of(model, first + count - 1, last, sizeof last);
    snprintf(name + strlen(name), size - strlen(name), " to %s", last);
}

void svmp_verdict_node_name(const svmp_model *model, size_t node, char *name, size_t size) {
    const svmp_graph *graph = model->graph;
    if (model->lowered && node < model->lowered->node_count)
        name_range(model, svmp_model_output_name, model->lowered->nodes[node].output,
                   model->lowered->nodes[node].outputs, name, size);
    else
        name_range(model, svmp_model_variable_name, graph->first[node], graph->first[node + 1] - graph->first[node],
                   name, size);
}

void svmp_verdict_variable_name(const svmp_model *model, size_t variable, char *name, size_t size) {
    const size_t node = node_of(model->graph, variable);
    const lowered_node *of = model->lowered && node < model->lowered->node_count ? &model->lowered->nodes[node] : NULL;
    if (of && of->variables != of->outputs)
        svmp_verdict_node_name(model, node, name, size);
    else
        svmp_model_variable_name(model, variable, name, size);
}
