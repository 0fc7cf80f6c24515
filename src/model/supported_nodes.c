#include "model/supported_nodes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct node_supports {
    node_support **of; /* node -> its support, or NULL; nodes from `count` on have none */
    size_t count, capacity;
    node_support *next; /* of the node that is being added */
};

static void free_support(svmp_context *context, node_support *support) {
    if (support == NULL) return;
    svmp_release(context, support->lower);
    svmp_release(context, support->upper);
    svmp_release(context, support);
}

static svmp_status copy_bounds(svmp_context *context, size_t count, const double *from, double missing, double **to) {
    SVMP_TRY(SVMP_NEW(context, *to, count));
    for (size_t k = 0; k < count; k++) (*to)[k] = from ? from[k] : missing;
    return SVMP_OK;
}

svmp_status svmp_supported_prepare(svmp_model *model, const char *name, svmp_support kind, size_t values,
                                   const double *lower, const double *upper) {
    svmp_context *context = model->context;
    const size_t before = model->graph->nodes + 1;
    if (model->supports == NULL) SVMP_TRY(SVMP_NEW(context, model->supports, 1));
    struct node_supports *all = model->supports;
    free_support(context, all->next);
    all->next = NULL;
    SVMP_TRY(SVMP_GROW(context, all->of, all->capacity, before));
    while (all->count < before) all->of[all->count++] = NULL;
    SVMP_TRY(SVMP_NEW(context, all->next, 1));
    node_support *made = all->next;
    *made = (node_support){.kind = kind, .values = values};
    if (kind == SVMP_SUPPORT_BOUNDED) {
        SVMP_TRY(copy_bounds(context, values, lower, -INFINITY, &made->lower));
        SVMP_TRY(copy_bounds(context, values, upper, INFINITY, &made->upper));
    }
    SVMP_TRY(svmp_support_check(context, made, name));
    made->variables = svmp_support_variables(kind, values);
    return SVMP_OK;
}

void svmp_supported_keep(svmp_model *model, size_t node) {
    model->supports->of[node] = model->supports->next;
    model->supports->next = NULL;
}

void svmp_supported_free(svmp_model *model) {
    struct node_supports *all = model->supports;
    if (all == NULL) return;
    for (size_t v = 0; v < all->count; v++) free_support(model->context, all->of[v]);
    free_support(model->context, all->next);
    svmp_release(model->context, all->of);
    svmp_release(model->context, all);
    model->supports = NULL;
}

static const node_support *support_of(const svmp_model *model, size_t node) {
    const struct node_supports *all = model->supports;
    return all && node < all->count ? all->of[node] : NULL;
}

bool svmp_supported_is(const svmp_model *model, size_t node) { return support_of(model, node) != NULL; }

static size_t variables_of(const svmp_model *model, size_t node) {
    return model->graph->first[node + 1] - model->graph->first[node];
}

static size_t values_of(const svmp_model *model, size_t node) {
    const node_support *support = support_of(model, node);
    return support ? support->values : variables_of(model, node);
}

svmp_status svmp_supported_group(const svmp_model *model, size_t count, const size_t *nodes,
                                 svmp_factor_function function, void *user_data, factor_group *group) {
    callback_scope scope = {.count = count};
    bool any = false;
    for (size_t v = 0; v < count; v++) any = any || svmp_supported_is(model, nodes[v]);
    if (any) {
        SVMP_TRY(SVMP_NEW(model->context, scope.nodes, count));
        for (size_t v = 0; v < count; v++)
            scope.nodes[v] = (struct callback_node){support_of(model, nodes[v]), variables_of(model, nodes[v])};
    }
    const svmp_status status =
        svmp_callback_group(model->context, group->slots, any ? &scope : NULL, function, user_data, group);
    svmp_release(model->context, scope.nodes);
    return status;
}

/* ---- values, node after node ---- */

size_t svmp_supported_values(const svmp_model *model) {
    size_t count = 0;
    for (size_t v = 0; v < model->graph->nodes; v++) count += values_of(model, v);
    return count;
}

const char *svmp_supported_name(const svmp_model *model, size_t output, char *buffer, size_t size) {
    size_t node = 0, at = output, order = 1;
    while (node + 1 < model->graph->nodes && at >= values_of(model, node)) at -= values_of(model, node++);
    const node_support *support = support_of(model, node);
    svmp_model_node_name(model, node, buffer, size);
    const size_t length = strlen(buffer);
    if (support && support->kind == SVMP_SUPPORT_CORRELATION) {
        while (order * order < support->values) order++;
        snprintf(buffer + length, size - length, ".%zu.%zu", at / order + 1, at % order + 1);
    } else if (values_of(model, node) > 1) {
        snprintf(buffer + length, size - length, ".%zu", at + 1);
    }
    return buffer;
}

/* The numbers of one node and particle: variables, values, workspace. */
static svmp_status reserve(const svmp_model *model, double **numbers) {
    size_t most = 0;
    for (size_t v = 0; v < model->graph->nodes; v++) {
        const node_support *support = support_of(model, v);
        const size_t count =
            variables_of(model, v) + values_of(model, v) + (support ? svmp_support_workspace(support) : 0);
        if (count > most) most = count;
    }
    return SVMP_NEW(model->context, *numbers, most);
}

svmp_status svmp_supported_natural(const svmp_model *model, size_t n, const double *variables, double *values) {
    double *one = NULL;
    SVMP_TRY(reserve(model, &one));
    for (size_t v = 0, first = 0; v < model->graph->nodes; first += values_of(model, v++)) {
        const node_support *support = support_of(model, v);
        const size_t count = variables_of(model, v);
        const double *from = variables + model->graph->first[v] * n;
        double *to = values + first * n, *made = one + count;
        if (support == NULL) memcpy(to, from, count * n * sizeof *to);
        for (size_t l = 0; support && l < n; l++) {
            for (size_t k = 0; k < count; k++) one[k] = from[k * n + l];
            svmp_support_values(support, one, made, made + support->values);
            for (size_t k = 0; k < support->values; k++) to[k * n + l] = made[k];
        }
    }
    svmp_release(model->context, one);
    return SVMP_OK;
}

svmp_status svmp_supported_inverse(const svmp_model *model, size_t n, const double *values, double *variables) {
    double *one = NULL;
    svmp_status status = reserve(model, &one);
    for (size_t v = 0, first = 0; status == SVMP_OK && v < model->graph->nodes; first += values_of(model, v++)) {
        const node_support *support = support_of(model, v);
        const size_t count = variables_of(model, v);
        const double *from = values + first * n;
        double *to = variables + model->graph->first[v] * n, *given = one + count;
        char name[128];
        if (support == NULL) memcpy(to, from, count * n * sizeof *to);
        for (size_t l = 0; status == SVMP_OK && support && l < n; l++) {
            for (size_t k = 0; k < support->values; k++) given[k] = from[k * n + l];
            if (!svmp_support_inverse(support, given, one, given + support->values))
                status =
                    svmp_fail(model->context, SVMP_BAD_INPUT, "A value of %s is outside its support (particle %zu).",
                              svmp_model_node_name(model, v, name, sizeof name), l + 1);
            for (size_t k = 0; k < count; k++) to[k * n + l] = one[k];
        }
    }
    svmp_release(model->context, one);
    return status;
}
