#include "model/text_scale.h"

#include "model/lowered_work.h"

struct text_scale {
    const lowered_model *lowered;
    size_t n, rows, count;
    uint32_t *nodes; /* those that move in other coordinates, parents first */
    lowered_work work;
};

svmp_status svmp_text_scale_create(const svmp_model *model, size_t n, text_scale **made) {
    const lowered_model *lowered = model->lowered;
    text_scale *t = NULL;
    size_t count = 0;
    svmp_status status;
    *made = NULL;
    for (size_t k = 0; lowered && k < lowered->node_count; k++) count += lowered->nodes[k].coordinates.centring < 1;
    if (count == 0) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(model->context, t, 1));
    *t = (text_scale){.lowered = lowered, .n = n};
    SVMP_CHECK(SVMP_NEW(model->context, t->nodes, count));
    SVMP_CHECK(svmp_work_reserve(lowered, n, &t->work));
    for (size_t k = 0; k < lowered->node_count; k++) {
        const lowered_node *node = &lowered->nodes[lowered->by_level[k]];
        if (!(node->coordinates.centring < 1)) continue;
        t->nodes[t->count++] = lowered->by_level[k];
        t->rows += node->variables;
    }
    *made = t;
    return SVMP_OK;
done:
    svmp_text_scale_free(t);
    return status;
}

void svmp_text_scale_free(text_scale *t) {
    if (t == NULL) return;
    svmp_context *context = t->lowered->context;
    svmp_work_release(t->lowered, &t->work);
    svmp_release(context, t->nodes);
    svmp_release(context, t);
}

size_t svmp_text_scale_rows(const text_scale *t) { return t ? t->rows : 0; }

void svmp_text_scale_find(text_scale *t, const double *x, double *u) {
    const size_t n = t->n;
    for (size_t k = 0; k < t->count; k++) {
        const lowered_node *node = &t->lowered->nodes[t->nodes[k]];
        svmp_work_evaluate(t->lowered, node, n, x, &t->work);
        for (size_t l = 0; l < n; l++) {
            for (size_t j = 0; j < node->variables; j++) t->work.variables[j] = x[(node->variable + j) * n + l];
            svmp_work_from_moved(t->lowered, node, n, l, &t->work);
            for (size_t j = 0; j < node->variables; j++) u[j * n + l] = t->work.variables[j];
        }
        u += node->variables * n;
    }
}

void svmp_text_scale_set(text_scale *t, const double *u, double *x) {
    const size_t n = t->n;
    for (size_t k = 0; k < t->count; k++) {
        const lowered_node *node = &t->lowered->nodes[t->nodes[k]];
        svmp_work_evaluate(t->lowered, node, n, x, &t->work);
        for (size_t l = 0; l < n; l++) {
            for (size_t j = 0; j < node->variables; j++) t->work.variables[j] = u[j * n + l];
            svmp_work_to_moved(t->lowered, node, n, l, &t->work);
            svmp_work_put(node, n, l, t->work.variables, x);
        }
        u += node->variables * n;
    }
}
