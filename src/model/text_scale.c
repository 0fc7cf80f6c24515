#include "model/text_scale.h"

#include "model/node_prior.h"

/* An element of a node that moves in other coordinates. */
typedef struct text_element {
    uint32_t node, element;
} text_element;

struct text_scale {
    const lowered_model *lowered;
    size_t n, rows;
    text_element *elements; /* parents first */
    double *origin, *width;
    prior_workspace work;
};

svmp_status svmp_text_scale_create(const svmp_model *model, size_t n, text_scale **made) {
    const lowered_model *lowered = model->lowered;
    text_scale *t = NULL;
    size_t rows = 0;
    svmp_status status;
    *made = NULL;
    for (size_t k = 0; lowered && k < lowered->node_count; k++)
        if (lowered->nodes[k].coordinates.centring < 1) rows += lowered->nodes[k].variables;
    if (rows == 0) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(model->context, t, 1));
    *t = (text_scale){.lowered = lowered, .n = n};
    SVMP_CHECK(SVMP_NEW(model->context, t->elements, rows));
    SVMP_CHECK(SVMP_NEW(model->context, t->origin, n));
    SVMP_CHECK(SVMP_NEW(model->context, t->width, n));
    SVMP_CHECK(svmp_prior_reserve(lowered, n, &t->work));
    for (size_t k = 0; k < lowered->node_count; k++) {
        const lowered_node *node = &lowered->nodes[lowered->by_level[k]];
        for (size_t j = 0; node->coordinates.centring < 1 && j < node->variables; j++)
            t->elements[t->rows++] = (text_element){lowered->by_level[k], (uint32_t)j};
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
    svmp_prior_release(t->lowered, &t->work);
    svmp_release(context, t->elements);
    svmp_release(context, t->origin);
    svmp_release(context, t->width);
    svmp_release(context, t);
}

size_t svmp_text_scale_rows(const text_scale *t) { return t ? t->rows : 0; }

text_row svmp_text_scale_row(text_scale *t, size_t r, const double *x) {
    const text_element *at = &t->elements[r];
    const lowered_node *node = &t->lowered->nodes[at->node];
    svmp_prior_evaluate(t->lowered, node, t->n, x, &t->work);
    for (size_t l = 0; l < t->n; l++) {
        const moved_line line = svmp_prior_line(t->lowered, node, t->n, l, at->element, &t->work);
        t->origin[l] = line.origin;
        t->width[l] = 1 / line.root;
    }
    return (text_row){node->variable + at->element, t->origin, t->width};
}

void svmp_text_scale_find(text_scale *t, const double *x, double *u) {
    for (size_t r = 0; r < t->rows; r++) {
        const text_row row = svmp_text_scale_row(t, r, x);
        const double *z = x + row.variable * t->n;
        for (size_t l = 0; l < t->n; l++) u[r * t->n + l] = row.origin[l] + row.width[l] * z[l];
    }
}
