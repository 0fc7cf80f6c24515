#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_rules.h"
#include "base/peers.h"
#include "model/callback_factors.h"
#include "model/computed.h"
#include "model/gaussian_factors.h"
#include "model/posterior_modes.h"
#include "model/supported_nodes.h"
#include "model/text_model.h"

svmp_status svmp_model_create(svmp_context *context, svmp_model **model) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (model == NULL) return svmp_fail(context, SVMP_BAD_CALL, "svmp_model_create: the result is NULL.");
    svmp_model *made = NULL;
    SVMP_TRY(SVMP_NEW(context, made, 1));
    made->context = context;
    svmp_status status = svmp_graph_create(context, &made->graph);
    if (status != SVMP_OK) {
        svmp_model_free(made);
        return status;
    }
    *model = made;
    return SVMP_OK;
}

static void free_group(svmp_context *context, factor_group *group) {
    if (group->self) group->kind->free(context, group->self);
    svmp_release(context, group->variables);
    svmp_release(context, group->origin);
    svmp_release(context, group->whole.elsewhere);
}

static void free_gather(svmp_model *model) {
    svmp_release(model->context, model->group_row);
    svmp_release(model->context, model->gather_start);
    svmp_release(model->context, model->gather_row);
    model->group_row = model->gather_start = model->gather_row = NULL;
}

void svmp_model_free(svmp_model *model) {
    if (model == NULL) return;
    svmp_context *context = model->context;
    for (size_t v = 0; model->names && v < model->graph->nodes; v++) svmp_release(context, model->names[v]);
    for (size_t g = 0; g < model->group_count; g++) free_group(context, &model->groups[g]);
    svmp_graph_free(model->graph);
    svmp_quadratic_free(context, &model->quadratic);
    free_gather(model);
    svmp_lowered_free(model->lowered);
    svmp_release(context, model->identity);
    svmp_modes_free(context, model->modes);
    if (model->gaussian) model->free_gaussian(model->gaussian);
    svmp_release(context, model->names);
    svmp_supported_free(model);
    svmp_release(context, model->lower);
    svmp_release(context, model->upper);
    svmp_release(context, model->groups);
    svmp_release(context, model->group_factor);
    svmp_release(context, model);
}

static svmp_status require_open(svmp_model *model) {
    if (model->finished)
        return svmp_fail(model->context, SVMP_BAD_CALL, "The model is finished; nothing can be added.");
    if (model->failed)
        return svmp_fail(model->context, SVMP_BAD_CALL, "An earlier call on this model failed; it can only be freed.");
    return SVMP_OK;
}

svmp_status svmp_model_require_finished(const svmp_model *model) {
    if (model->finished) return SVMP_OK;
    return svmp_fail(model->context, SVMP_BAD_CALL, "The model is not finished: call svmp_model_finish first.");
}

svmp_status svmp_model_require_whole(const svmp_model *model, const char *what) {
    if (model->graph->halo == NULL) return SVMP_OK;
    return svmp_fail(
        model->context, SVMP_BAD_CALL,
        "%s needs the whole model, but this process has only a part of it: call it before the model is split.", what);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static svmp_status check_box(svmp_context *context, size_t node, size_t dimension, const double *lower,
                             const double *upper) {
    for (size_t k = 0; k < dimension; k++) {
        double low = lower ? lower[k] : -INFINITY, high = upper ? upper[k] : INFINITY;
        if (!(low < high)) /* also refuses NaN */
            return svmp_fail(context, SVMP_BAD_CALL, "The box of node %zu is empty in its variable %zu: from %g to %g.",
                             node, k, low, high);
    }
    return SVMP_OK;
}

enum { LONGEST_NODE_NAME = 900 }; /* so that the names of its variables are no longer than a column's may be */

svmp_status svmp_model_add_node(svmp_model *model, const char *name, size_t dimension, const double *lower,
                                const double *upper, size_t *node) {
    if (model == NULL) return SVMP_BAD_CALL;
    SVMP_TRY(require_open(model));
    svmp_context *context = model->context;
    svmp_graph *graph = model->graph;
    if (dimension == 0) return svmp_fail(context, SVMP_BAD_CALL, "A node needs at least one variable.");
    SVMP_TRY(svmp_graph_check_size(graph, dimension));
    const char *fault = name ? svmp_name_problem(name) : NULL;
    if (name && fault == NULL && svmp_name_is_internal(name))
        fault = "ends in '__', which is reserved for columns that are not variables";
    if (name && fault == NULL && strlen(name) > LONGEST_NODE_NAME) fault = "is longer than 900 characters";
    if (fault) return svmp_fail(context, SVMP_BAD_CALL, "'%.80s' cannot be the name of a node: it %s.", name, fault);
    SVMP_TRY(check_box(context, graph->nodes, dimension, lower, upper));

    size_t first = graph->variables, lower_capacity = model->bound_capacity;
    char *copy = NULL;
    SVMP_TRY(SVMP_GROW(context, model->names, model->names_capacity, graph->nodes + 1));
    SVMP_TRY(SVMP_GROW(context, model->lower, lower_capacity, first + dimension));
    SVMP_TRY(SVMP_GROW(context, model->upper, model->bound_capacity, first + dimension));
    SVMP_TRY(svmp_quadratic_extend(context, &model->quadratic, first + dimension));
    if (name) SVMP_TRY(svmp_duplicate(context, name, &copy));
    svmp_status status = svmp_graph_add_node(graph, dimension);
    if (status != SVMP_OK) {
        svmp_release(context, copy);
        return status;
    }

    model->names[graph->nodes - 1] = copy;
    for (size_t k = 0; k < dimension; k++) {
        double low = model->lower[first + k] = lower ? lower[k] : -INFINITY;
        double high = model->upper[first + k] = upper ? upper[k] : INFINITY;
        if (isfinite(low) || isfinite(high)) model->boxed = 1;
    }
    if (node) *node = graph->nodes - 1;
    return SVMP_OK;
}

svmp_status svmp_model_add_supported_node(svmp_model *model, const char *name, svmp_support support, size_t values,
                                          const double *lower, const double *upper, size_t *node) {
    if (model == NULL) return SVMP_BAD_CALL;
    const char *called = name ? name : "x";
    size_t added;
    SVMP_TRY(require_open(model));
    if (values == 0) return svmp_fail(model->context, SVMP_BAD_CALL, "A node needs at least one value.");
    SVMP_TRY(svmp_supported_prepare(model, called, support, values, lower, upper));
    SVMP_TRY(svmp_model_add_node(model, name, svmp_support_variables(support, values), NULL, NULL, &added));
    svmp_supported_keep(model, added);
    if (node) *node = added;
    return SVMP_OK;
}

/* Whether the node of a variable is transformed. */
static int is_transformed(const svmp_model *model, size_t variable) {
    for (size_t v = 0; model->supports && v < model->graph->nodes; v++)
        if (variable >= model->graph->first[v] && variable < model->graph->first[v + 1] && svmp_supported_is(model, v))
            return 1;
    for (size_t k = 0; model->lowered && k < model->lowered->node_count; k++) {
        const lowered_node *node = &model->lowered->nodes[k];
        if (variable >= node->variable && variable < node->variable + node->variables)
            return node->transform != TRANSFORM_LINE || svmp_node_is_moved(node);
    }
    return 0;
}

svmp_status svmp_model_set_box(svmp_model *model, size_t variable, double lower, double upper) {
    if (model == NULL) return SVMP_BAD_CALL;
    SVMP_TRY(svmp_model_require_whole(model, "svmp_model_set_box"));
    char name[128];
    if (variable >= model->graph->variables)
        return svmp_fail(model->context, SVMP_BAD_CALL, "Variable %zu is out of range: the model has %zu variables.",
                         variable, model->graph->variables);
    svmp_model_variable_name(model, variable, name, sizeof name);
    if (!(lower < upper)) /* also refuses NaN */
        return svmp_fail(model->context, SVMP_BAD_CALL, "The box of %s is empty: from %g to %g.", name, lower, upper);
    if (is_transformed(model, variable))
        return svmp_fail(model->context, SVMP_UNSUPPORTED, "%s cannot have a box: the model already bounds it.", name);
    model->lower[variable] = lower;
    model->upper[variable] = upper;
    if (isfinite(lower) || isfinite(upper)) model->boxed = 1;
    return SVMP_OK;
}

const char *svmp_model_node_name(const svmp_model *model, size_t node, char *buffer, size_t size) {
    if (buffer == NULL || size == 0) return "";
    buffer[0] = '\0';
    if (model == NULL || node >= model->graph->nodes) return buffer;
    if (model->lowered)
        snprintf(buffer, size, "%s", model->lowered->nodes[node].name);
    else if (model->names[node])
        snprintf(buffer, size, "%s", model->names[node]);
    else
        snprintf(buffer, size, "x.%zu", svmp_node_key(model->graph, node) + 1);
    return buffer;
}

const char *svmp_model_variable_name(const svmp_model *model, size_t variable, char *buffer, size_t size) {
    if (buffer == NULL || size == 0) return "";
    buffer[0] = '\0';
    if (model == NULL || variable >= model->graph->variables) return buffer;
    const size_t *first = model->graph->first;
    size_t low = 0, high = model->graph->nodes; /* the node lies in [low, high) */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (first[middle] <= variable)
            low = middle;
        else
            high = middle;
    }
    if (model->lowered && model->lowered->nodes[low].variables == model->lowered->nodes[low].outputs) {
        const lowered_node *node = &model->lowered->nodes[low];
        snprintf(buffer, size, "%s", model->lowered->names[node->output + variable - node->variable]);
        return buffer;
    }
    svmp_model_node_name(model, low, buffer, size);
    size_t length = strlen(buffer);
    if (first[low + 1] - first[low] > 1) snprintf(buffer + length, size - length, ".%zu", variable - first[low] + 1);
    return buffer;
}

/* ---- factors ----------------------------------------------------------------------------------------------------- */

/* Every node must exist and stand once. On the way, counts the variables of the scope. */
static svmp_status check_scope(const svmp_model *model, size_t count, const size_t *nodes, size_t *variables) {
    svmp_context *context = model->context;
    if (count == 0 || nodes == NULL) return svmp_fail(context, SVMP_BAD_CALL, "A factor needs at least one node.");
    const svmp_graph *graph = model->graph;
    *variables = 0;
    for (size_t k = 0; k < count; k++) {
        if (nodes[k] >= graph->nodes)
            return svmp_fail(context, SVMP_BAD_CALL,
                             "Node %zu in the scope of a factor is out of range: the model has %zu nodes.", nodes[k],
                             graph->nodes);
        *variables += graph->first[nodes[k] + 1] - graph->first[nodes[k]];
    }
    return SVMP_OK;
}

/* Adds the factor to the graph and checks that no node of it stands twice. */
static svmp_status add_scope(svmp_model *model, size_t count, const size_t *nodes) {
    svmp_graph *graph = model->graph;
    SVMP_TRY(svmp_graph_add_factor(graph, count, nodes));
    const size_t *start = graph->scopes.start + graph->factors - 1;
    if (start[1] - start[0] == count) return SVMP_OK;
    svmp_graph_remove_factors(graph, graph->factors - 1);
    return svmp_fail(model->context, SVMP_BAD_CALL, "A node occurs twice in the scope of a factor.");
}

/* Lists the variables of the nodes, one node after the other. */
static void list_variables(const svmp_graph *graph, size_t count, const size_t *nodes, uint32_t *variables) {
    for (size_t k = 0; k < count; k++)
        for (size_t i = graph->first[nodes[k]]; i < graph->first[nodes[k] + 1]; i++) *variables++ = (uint32_t)i;
}

static svmp_status check_gaussian(svmp_context *context, size_t k, const double *precision, const double *linear) {
    for (size_t a = 0; linear && a < k; a++)
        if (!isfinite(linear[a]))
            return svmp_fail(context, SVMP_BAD_CALL, "Entry %zu of the linear term of a factor is not finite: %g.", a,
                             linear[a]);
    for (size_t a = 0; precision && a < k; a++)
        for (size_t b = 0; b <= a; b++) {
            double low = precision[a * k + b], high = precision[b * k + a];
            if (!isfinite(low) || !isfinite(high))
                return svmp_fail(context, SVMP_BAD_CALL,
                                 "Entry (%zu, %zu) of the precision of a factor is not finite: %g.", a, b,
                                 isfinite(low) ? high : low);
            if (low != high)
                return svmp_fail(
                    context, SVMP_BAD_CALL,
                    "The precision of a factor is not symmetric: %.17g at (%zu, %zu), %.17g at (%zu, %zu).", low, a, b,
                    high, b, a);
        }
    return SVMP_OK;
}

svmp_status svmp_model_add_gaussian(svmp_model *model, size_t count, const size_t *nodes, const double *precision,
                                    const double *linear) {
    if (model == NULL) return SVMP_BAD_CALL;
    SVMP_TRY(require_open(model));
    svmp_context *context = model->context;
    size_t k;
    uint32_t few[16], *variables = few;
    SVMP_TRY(check_scope(model, count, nodes, &k));
    for (size_t v = 0; v < count; v++)
        if (svmp_supported_is(model, nodes[v]))
            return svmp_fail(context, SVMP_UNSUPPORTED,
                             "A linear-quadratic factor of node %zu, which has a support: add it as a function "
                             "(svmp_model_add_callback).",
                             nodes[v]);
    SVMP_TRY(check_gaussian(context, k, precision, linear));
    if (k > sizeof few / sizeof *few) SVMP_TRY(SVMP_NEW(context, variables, k));

    quadratic *q = &model->quadratic;
    size_t before = q->count;
    list_variables(model->graph, count, nodes, variables);
    svmp_status status = SVMP_OK;
    for (size_t a = 0; status == SVMP_OK && precision && a < k; a++)
        for (size_t b = 0; status == SVMP_OK && b < k; b++)
            if (precision[a * k + b] != 0)
                status = svmp_quadratic_add(context, q, variables[a], variables[b], precision[a * k + b]);
    if (status == SVMP_OK) status = add_scope(model, count, nodes);
    if (status == SVMP_OK) {
        for (size_t a = 0; linear && a < k; a++) q->linear[variables[a]] += linear[a];
        model->quadratic_factors++;
    } else {
        q->count = before;
    }
    if (variables != few) svmp_release(context, variables);
    return status;
}

/* Adds the factors inside of an instance of computed rows. */
static svmp_status add_scopes(svmp_model *model, const factor_group *group, size_t k, const uint32_t *node_of,
                              size_t *nodes) {
    const uint32_t *variables = group->variables + k * group->slots;
    index_lists scopes;
    size_t count;
    SVMP_TRY(svmp_computed_group_scopes(group, k, &count, &scopes));
    svmp_status status = SVMP_OK;
    for (size_t f = 0; status == SVMP_OK && f < count; f++) {
        const size_t first = scopes.start[f], size = scopes.start[f + 1] - first;
        for (size_t j = 0; j < size; j++) nodes[j] = node_of[variables[scopes.item[first + j]]];
        status = svmp_graph_add_factor(model->graph, size, nodes);
    }
    svmp_lists_free(model->context, &scopes);
    return status;
}

/* Adds each instance of the group to the graph, as a factor over the nodes of its variables. */
static svmp_status add_instances(svmp_model *model, const factor_group *group, const uint32_t *node_of) {
    svmp_graph *graph = model->graph;
    svmp_context *context = model->context;
    svmp_status status;
    size_t *nodes = NULL;
    SVMP_CHECK(SVMP_NEW(context, nodes, group->slots));
    for (size_t k = 0; k < group->instances; k++) {
        if (svmp_computed_group_is(group)) {
            SVMP_CHECK(add_scopes(model, group, k, node_of, nodes));
            continue;
        }
        for (size_t j = 0; j < group->slots; j++) nodes[j] = node_of[group->variables[k * group->slots + j]];
        SVMP_CHECK(svmp_graph_add_factor(graph, group->slots, nodes));
    }
done:
    svmp_release(context, nodes);
    return status;
}

static svmp_status reserve_group(svmp_model *model) {
    SVMP_TRY(SVMP_GROW(model->context, model->groups, model->group_capacity, model->group_count + 1));
    return SVMP_GROW(model->context, model->group_factor, model->group_factor_capacity, model->group_count + 1);
}

/* Appends the group where there is room; its instances are in the (whole) graph already, from factor `first` on. */
static void append_group(svmp_model *model, factor_group group, size_t first) {
    model->group_factor[model->group_count] = first;
    model->groups[model->group_count++] = group;
}

/* What groups that are added share. */
typedef struct group_workspace {
    uint32_t *node_of; /* variable -> its node */
    double *linear;    /* zeros, by variable */
} group_workspace;

static svmp_status reserve_workspace(const svmp_model *model, group_workspace *work) {
    const svmp_graph *graph = model->graph;
    SVMP_TRY(SVMP_NEW(model->context, work->linear, graph->variables));
    SVMP_TRY(SVMP_NEW(model->context, work->node_of, graph->variables));
    for (size_t v = 0; v < graph->nodes; v++)
        for (size_t i = graph->first[v]; i < graph->first[v + 1]; i++) work->node_of[i] = (uint32_t)v;
    return SVMP_OK;
}

/* `factor` is its first one in the whole graph. */
static svmp_status take_group(svmp_model *model, factor_group group, const group_workspace *work, size_t factor,
                              bool as_quadratic) {
    svmp_status status = require_open(model);
    size_t first = model->graph->factors;
    if (status == SVMP_OK) status = reserve_group(model);
    if (status == SVMP_OK) status = add_instances(model, &group, work->node_of);
    if (model->fragment) status = svmp_agree(model->context, model->context->peers, status);
    bool added = false;
    if (status == SVMP_OK && as_quadratic) status = svmp_gaussian_group_add(model, &group, work->linear, &added);
    if (added) {
        model->quadratic_factors += group.instances;
        free_group(model->context, &group);
        return SVMP_OK;
    }
    if (status == SVMP_OK) return append_group(model, group, factor), SVMP_OK;
    svmp_graph_remove_factors(model->graph, first);
    free_group(model->context, &group);
    return status;
}

svmp_status svmp_model_add_groups(svmp_model *model, size_t count, factor_group *groups) {
    const svmp_graph *graph = model->graph;
    bool all = true;
    size_t factor = graph->factors;
    group_workspace work = {0};
    svmp_status status = reserve_workspace(model, &work);
    if (model->fragment) status = svmp_agree(model->context, model->context->peers, status);
    for (size_t g = 0; g < count; g++) all = all && svmp_gaussian_group_is(&groups[g]);
    for (size_t g = 0; g < count && status == SVMP_OK; g++) {
        factor_group group = groups[g];
        const size_t before = graph->factors;
        groups[g] = (factor_group){0};
        status = take_group(model, group, &work, factor,
                            all || (svmp_gaussian_group_is(&group) && svmp_gaussian_group_is_cheaper(&group)));
        factor += group.whole.instances ? group.whole.instances : graph->factors - before;
    }
    svmp_release(model->context, work.node_of);
    svmp_release(model->context, work.linear);
    return status;
}

/* Adds a group of one function, whose variables are those of the nodes. */
static svmp_status add_function(svmp_model *model, size_t count, const size_t *nodes, factor_group group,
                                size_t first) {
    list_variables(model->graph, count, nodes, group.variables);
    svmp_status status = reserve_group(model);
    if (status == SVMP_OK) status = add_scope(model, count, nodes);
    if (status == SVMP_OK) return append_group(model, group, first), SVMP_OK;
    svmp_graph_remove_factors(model->graph, first);
    free_group(model->context, &group);
    return status;
}

/* Each node with a support has log |dx/du| as a factor, behind those of the caller. */
static svmp_status add_jacobians(svmp_model *model) {
    for (size_t v = 0; model->supports && v < model->graph->nodes; v++) {
        factor_group group;
        if (!svmp_supported_is(model, v)) continue;
        group.slots = model->graph->first[v + 1] - model->graph->first[v];
        SVMP_TRY(svmp_supported_group(model, 1, &v, NULL, NULL, &group));
        SVMP_TRY(add_function(model, 1, &v, group, model->graph->factors));
    }
    return SVMP_OK;
}

svmp_status svmp_model_add_callback(svmp_model *model, size_t count, const size_t *nodes, svmp_factor_function function,
                                    void *user_data) {
    if (model == NULL) return SVMP_BAD_CALL;
    SVMP_TRY(require_open(model));
    if (function == NULL) return svmp_fail(model->context, SVMP_BAD_CALL, "A callback factor needs a function.");
    factor_group group;
    size_t first = model->graph->factors;
    SVMP_TRY(check_scope(model, count, nodes, &group.slots));
    SVMP_TRY(svmp_supported_group(model, count, nodes, function, user_data, &group));
    return add_function(model, count, nodes, group, first);
}

/* ---- the finished model ------------------------------------------------------------------------------------------ */

/* A counting sort of all slots of all groups. */
svmp_status svmp_model_derive_gather(svmp_model *model) {
    svmp_context *context = model->context;
    size_t variables = model->graph->variables, rows = 0;
    SVMP_TRY(SVMP_NEW(context, model->group_row, model->group_count + 1));
    SVMP_TRY(SVMP_NEW(context, model->gather_start, variables + 1));
    for (size_t g = 0; g < model->group_count; g++) {
        const factor_group *group = &model->groups[g];
        for (size_t r = 0; r < group->instances * group->slots; r++) model->gather_start[group->variables[r] + 1]++;
        model->group_row[g + 1] = rows += group->instances * group->slots;
    }
    for (size_t i = 0; i < variables; i++) model->gather_start[i + 1] += model->gather_start[i];

    size_t *next = NULL;
    SVMP_TRY(SVMP_NEW(context, model->gather_row, rows));
    SVMP_TRY(SVMP_NEW(context, next, variables));
    memcpy(next, model->gather_start, variables * sizeof *next);
    for (size_t g = 0; g < model->group_count; g++) {
        const factor_group *group = &model->groups[g];
        for (size_t r = 0; r < group->instances * group->slots; r++)
            model->gather_row[next[group->variables[r]]++] = model->group_row[g] + r;
    }
    svmp_release(context, next);
    return SVMP_OK;
}

static int order_of_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* No two nodes of the caller's naming bear one name. */
static svmp_status check_names(const svmp_model *model) {
    svmp_context *context = model->context;
    const char **sorted = NULL;
    size_t count = 0;
    SVMP_TRY(SVMP_NEW(context, sorted, model->graph->nodes));
    for (size_t v = 0; v < model->graph->nodes; v++)
        if (model->names[v]) sorted[count++] = model->names[v];
    qsort(sorted, count, sizeof *sorted, order_of_texts);
    svmp_status status = SVMP_OK;
    for (size_t k = 1; k < count && status == SVMP_OK; k++)
        if (strcmp(sorted[k - 1], sorted[k]) == 0)
            status = svmp_fail(context, SVMP_BAD_CALL, "Two nodes have the name '%.80s'.", sorted[k]);
    svmp_release(context, sorted);
    return status;
}

svmp_status svmp_model_finish(svmp_model *model) {
    if (model == NULL) return SVMP_BAD_CALL;
    SVMP_TRY(require_open(model));
    if (model->graph->nodes == 0) return svmp_fail(model->context, SVMP_BAD_INPUT, "The model has no unknown nodes.");
    SVMP_TRY(check_names(model));
    svmp_status status = add_jacobians(model);
    if (status == SVMP_OK) status = svmp_graph_finish(model->graph);
    if (status == SVMP_OK) status = svmp_quadratic_finish(model->context, &model->quadratic, model->graph->variables);
    if (status == SVMP_OK) status = svmp_model_derive_gather(model);
    model->finished = status == SVMP_OK;
    model->failed = status != SVMP_OK;
    return status;
}

const svmp_graph *svmp_model_graph(const svmp_model *model) { return model && model->finished ? model->graph : NULL; }

size_t svmp_model_transformed(const svmp_model *model) {
    for (size_t k = 0; model->lowered && k < model->lowered->node_count; k++)
        if (model->lowered->nodes[k].transform != TRANSFORM_LINE || svmp_node_is_moved(&model->lowered->nodes[k]))
            return k;
    for (size_t v = 0; model->supports && v < model->graph->nodes; v++)
        if (svmp_supported_is(model, v)) return v;
    return SIZE_MAX;
}

int svmp_model_is_gaussian(const svmp_model *model) {
    return model && model->finished && model->group_count == 0 && model->quadratic_factors > 0 && !model->boxed &&
           svmp_model_transformed(model) == SIZE_MAX;
}

static const char *name_node(const void *model, size_t node, char *buffer, size_t size) {
    return svmp_model_node_name(model, node, buffer, size);
}

svmp_status svmp_model_write_graph(const svmp_model *model, svmp_graph_format format, svmp_text_function write,
                                   void *user_data) {
    if (model == NULL) return SVMP_BAD_CALL;
    if (write == NULL) return svmp_fail(model->context, SVMP_BAD_CALL, "svmp_model_write_graph: the function is NULL.");
    SVMP_TRY(svmp_model_require_finished(model));
    return svmp_graph_write(model->graph, format, name_node, model, write, user_data);
}
