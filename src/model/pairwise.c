#include "model/pairwise.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- refusal ----------------------------------------------------------------------------------------------------- */

/* The line of the model text where the factor's statement stands; 0: there is none. */
static size_t line_of(const svmp_model *model, size_t factor) {
    for (size_t g = 0; g < model->group_count; g++)
        if (factor >= model->group_factor[g] && factor - model->group_factor[g] < model->groups[g].instances)
            return model->groups[g].line;
    return 0;
}

static svmp_status refuse(const svmp_model *model, const char *who, size_t factor) {
    enum { NAMED = 6 };
    const index_lists *scopes = &model->graph->scopes;
    const size_t count = scopes->start[factor + 1] - scopes->start[factor], named = count < NAMED ? count : NAMED;
    char names[512] = "", name[64], which[64];
    for (size_t k = 0; k < named; k++) {
        const size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s",
                 k == 0          ? ""
                 : k + 1 < count ? ", "
                                 : " and ",
                 svmp_model_node_name(model, scopes->item[scopes->start[factor] + k], name, sizeof name));
    }
    if (count > named) snprintf(names + strlen(names), sizeof names - strlen(names), " and %zu more", count - named);
    const size_t line = line_of(model, factor);
    snprintf(which, sizeof which, line ? "a factor on line %zu" : "factor %zu", line ? line : factor);
    return svmp_fail(model->context, SVMP_UNSUPPORTED, "%s needs factors of at most two nodes, but %s has %zu: %s.",
                     who, which, count, names);
}

static svmp_status check_factors(const svmp_model *model, const char *who) {
    const size_t *start = model->graph->scopes.start;
    for (size_t f = 0; f < model->graph->factors; f++)
        if (start[f + 1] - start[f] > 2) return refuse(model, who, f);
    return SVMP_OK;
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

/* No factor touches more than two nodes, so neighbours in the graph are joined by an edge. */
static svmp_status list_edges(pairwise *p) {
    const svmp_graph *graph = p->model->graph;
    svmp_context *context = p->model->context;
    SVMP_TRY(SVMP_NEW(context, p->ends_start, graph->nodes + 1));
    for (size_t v = 0; v < graph->nodes; v++) {
        size_t count;
        svmp_graph_neighbourhood(graph, v, &count);
        p->ends_start[v + 1] = p->ends_start[v] + (count > 0 ? count - 1 : 0);
    }
    p->edges = p->ends_start[graph->nodes] / 2;
    SVMP_TRY(SVMP_NEW(context, p->node, 2 * p->edges));
    SVMP_TRY(SVMP_NEW(context, p->ends, 2 * p->edges));
    size_t edge = 0, *next = NULL;
    SVMP_TRY(SVMP_NEW(context, next, graph->nodes));
    memcpy(next, p->ends_start, graph->nodes * sizeof *next);
    for (size_t u = 0; u < graph->nodes; u++) {
        size_t count;
        const uint32_t *near = svmp_graph_neighbourhood(graph, u, &count);
        for (size_t k = 0; k < count; k++) {
            const size_t v = near[k];
            if (v <= u) continue;
            p->node[2 * edge] = (uint32_t)u;
            p->node[2 * edge + 1] = (uint32_t)v;
            p->ends[next[u]++] = 2 * edge;
            p->ends[next[v]++] = 2 * edge + 1;
            edge++;
        }
    }
    svmp_release(context, next);
    return SVMP_OK;
}

/* The edge between two nodes, which is there: the ends at `low` ascend with the nodes across. */
static size_t find_edge(const pairwise *p, uint32_t low, uint32_t high) {
    size_t from = p->ends_start[low], to = p->ends_start[low + 1];
    while (to - from > 1) {
        const size_t middle = from + (to - from) / 2;
        if (p->node[p->ends[middle] ^ 1] <= high)
            from = middle;
        else
            to = middle;
    }
    return p->ends[from] / 2;
}

/* ---- instances --------------------------------------------------------------------------------------------------- */

/* The list that an instance belongs to; SIZE_MAX when it touches no node. */
static size_t list_of(const pairwise *p, size_t group, size_t instance) {
    const svmp_graph *graph = p->model->graph;
    const size_t factor = p->model->group_factor[group] + instance, start = graph->scopes.start[factor];
    const size_t count = graph->scopes.start[factor + 1] - start;
    if (count == 0) return SIZE_MAX;
    const uint32_t a = graph->scopes.item[start], b = graph->scopes.item[start + count - 1];
    if (count == 1) return a;
    return graph->nodes + find_edge(p, a < b ? a : b, a < b ? b : a);
}

static svmp_status list_instances(pairwise *p) {
    const svmp_model *model = p->model;
    svmp_context *context = model->context;
    const size_t lists = model->graph->nodes + p->edges;
    SVMP_TRY(SVMP_NEW(context, p->instances_start, lists + 1));
    for (size_t g = 0; g < model->group_count; g++)
        for (size_t k = 0; k < model->groups[g].instances; k++) {
            const size_t list = list_of(p, g, k);
            if (list != SIZE_MAX) p->instances_start[list + 1]++;
        }
    for (size_t list = 0; list < lists; list++) p->instances_start[list + 1] += p->instances_start[list];

    size_t *next = NULL;
    SVMP_TRY(SVMP_NEW(context, p->instances, p->instances_start[lists]));
    SVMP_TRY(SVMP_NEW(context, next, lists));
    memcpy(next, p->instances_start, lists * sizeof *next);
    for (size_t g = 0; g < model->group_count; g++)
        for (size_t k = 0; k < model->groups[g].instances; k++) {
            const size_t list = list_of(p, g, k);
            if (list != SIZE_MAX) p->instances[next[list]++] = (pairwise_instance){g, k};
        }
    svmp_release(context, next);
    return SVMP_OK;
}

/* Renames the variables of the instances of a list: those of `low` count from 0, those of `high` go on from there. */
static void rename_list(pairwise *p, size_t list, size_t low, size_t high) {
    const size_t *first = p->model->graph->first, dimension = first[low + 1] - first[low];
    for (size_t e = p->instances_start[list]; e < p->instances_start[list + 1]; e++) {
        const factor_group *group = &p->model->groups[p->instances[e].group];
        const size_t at = p->instances[e].instance * group->slots;
        uint32_t *renamed = p->views[p->instances[e].group].variables + at;
        for (size_t j = 0; j < group->slots; j++) {
            const size_t i = group->variables[at + j];
            const int is_low = i >= first[low] && i < first[low + 1];
            renamed[j] = (uint32_t)(is_low ? i - first[low] : dimension + i - first[high]);
        }
    }
}

static svmp_status make_views(pairwise *p) {
    const svmp_model *model = p->model;
    const size_t nodes = model->graph->nodes, *first = model->graph->first;
    SVMP_TRY(SVMP_NEW(model->context, p->views, model->group_count));
    for (size_t g = 0; g < model->group_count; g++) {
        p->views[g] = model->groups[g];
        p->views[g].variables = NULL;
        SVMP_TRY(SVMP_NEW(model->context, p->views[g].variables, p->views[g].instances * p->views[g].slots));
    }
    for (size_t v = 0; v < nodes; v++) {
        const size_t dimension = first[v + 1] - first[v];
        p->dimension = dimension > p->dimension ? dimension : p->dimension;
        rename_list(p, v, v, v);
    }
    for (size_t e = 0; e < p->edges; e++) {
        const size_t u = p->node[2 * e], v = p->node[2 * e + 1];
        const size_t dimension = first[u + 1] - first[u] + first[v + 1] - first[v];
        p->dimension = dimension > p->dimension ? dimension : p->dimension;
        rename_list(p, nodes + e, u, v);
    }
    return SVMP_OK;
}

svmp_status svmp_pairwise_create(const svmp_model *model, const char *who, pairwise **made) {
    svmp_status status;
    pairwise *p = NULL;
    SVMP_TRY(check_factors(model, who));
    SVMP_TRY(SVMP_NEW(model->context, p, 1));
    p->model = model;
    SVMP_CHECK(list_edges(p));
    SVMP_CHECK(list_instances(p));
    SVMP_CHECK(make_views(p));
    *made = p;
    return SVMP_OK;
done:
    svmp_pairwise_free(p);
    return status;
}

void svmp_pairwise_free(pairwise *p) {
    if (p == NULL) return;
    svmp_context *context = p->model->context;
    for (size_t g = 0; p->views && g < p->model->group_count; g++) svmp_release(context, p->views[g].variables);
    svmp_release(context, p->views);
    svmp_release(context, p->node);
    svmp_release(context, p->ends);
    svmp_release(context, p->ends_start);
    svmp_release(context, p->instances);
    svmp_release(context, p->instances_start);
    svmp_release(context, p);
}

/* ---- evaluation -------------------------------------------------------------------------------------------------- */

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

svmp_status svmp_pairwise_workspace_create(const pairwise *p, size_t few, size_t many, pairwise_workspace *workspace) {
    svmp_context *context = p->model->context;
    const size_t bytes = larger(few, many) * sizeof(double);
    size_t slots = 0, scratch = 0;
    for (size_t g = 0; g < p->model->group_count; g++) {
        const factor_group *view = &p->views[g];
        if (!view->kind->values_alone) slots = larger(slots, view->slots);
        scratch = larger(scratch, larger(view->kind->scratch(view, few), view->kind->scratch(view, many)));
    }
    SVMP_TRY(svmp_allocate(context, p->dimension, bytes, (void **)&workspace->x));
    SVMP_TRY(svmp_allocate(context, 1, bytes, (void **)&workspace->value));
    SVMP_TRY(svmp_allocate(context, slots, bytes, (void **)&workspace->gradient));
    return svmp_allocate(context, scratch, 1, &workspace->scratch);
}

void svmp_pairwise_workspace_free(const pairwise *p, pairwise_workspace *workspace) {
    svmp_context *context = p->model->context;
    svmp_release(context, workspace->x);
    svmp_release(context, workspace->value);
    svmp_release(context, workspace->gradient);
    svmp_release(context, workspace->scratch);
}

/* The first entry of a row of A whose column is not below `column`. */
static size_t find_entry(const quadratic *q, size_t row, size_t column) {
    size_t from = q->start[row], to = q->start[row + 1];
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (q->column[middle] < column)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* sum[l] -= weight * x_u' A_uv x_v */
static void subtract_block(const pairwise *p, size_t u, size_t v, double weight, size_t n, const double *xu,
                           const double *xv, double *sum) {
    const quadratic *q = &p->model->quadratic;
    const size_t *first = p->model->graph->first;
    for (size_t i = first[u]; i < first[u + 1]; i++) {
        const double *xi = xu + (i - first[u]) * n;
        for (size_t e = find_entry(q, i, first[v]); e < q->start[i + 1] && q->column[e] < first[v + 1]; e++) {
            const double a = weight * q->value[e], *xj = xv + (q->column[e] - first[v]) * n;
            for (size_t l = 0; l < n; l++) sum[l] -= a * xi[l] * xj[l];
        }
    }
}

/* Adds the instances of a list to sum. */
static size_t add_instances(const pairwise *p, size_t list, size_t n, const double *x, pairwise_workspace *workspace,
                            double *sum) {
    for (size_t e = p->instances_start[list]; e < p->instances_start[list + 1]; e++) {
        const pairwise_instance at = p->instances[e];
        const factor_group *view = &p->views[at.group];
        double *gradient = view->kind->values_alone ? NULL : workspace->gradient;
        const int wrong =
            view->kind->evaluate(view, at.instance, 1, n, x, workspace->scratch, workspace->value, gradient);
        if (wrong) return svmp_model_failure(p->model, at.group, at.instance, wrong);
        for (size_t l = 0; l < n; l++) sum[l] += workspace->value[l];
    }
    for (size_t l = 0; l < n; l++)
        if (!(sum[l] > PAIRWISE_IMPOSSIBLE && sum[l] < INFINITY)) sum[l] = PAIRWISE_IMPOSSIBLE;
    return PAIRWISE_DONE;
}

size_t svmp_pairwise_node(const pairwise *p, size_t node, size_t n, const double *x, pairwise_workspace *workspace,
                          double *sum) {
    const size_t *first = p->model->graph->first;
    memset(sum, 0, n * sizeof *sum);
    for (size_t i = first[node]; i < first[node + 1]; i++) {
        const double b = p->model->quadratic.linear[i], *xi = x + (i - first[node]) * n;
        for (size_t l = 0; l < n; l++) sum[l] += b * xi[l];
    }
    subtract_block(p, node, node, 0.5, n, x, x, sum);
    return add_instances(p, node, n, x, workspace, sum);
}

size_t svmp_pairwise_edge(const pairwise *p, size_t edge, size_t n, const double *x, pairwise_workspace *workspace,
                          double *sum) {
    const size_t u = p->node[2 * edge], v = p->node[2 * edge + 1], *first = p->model->graph->first;
    memset(sum, 0, n * sizeof *sum);
    subtract_block(p, u, v, 1, n, x, x + (first[u + 1] - first[u]) * n, sum);
    return add_instances(p, p->model->graph->nodes + edge, n, x, workspace, sum);
}
