/* Plain loops over the formulas of the method: the oracle of every other backend. Simple on purpose: nothing is shared
 * between nodes, and everything is computed when it is needed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/node_messages.h"
#include "base/exact_sum.h"
#include "base/peers.h"

typedef struct ref {
    uint32_t *domain;         /* the variables of a kernel term's domain */
    uint32_t *drawn;          /* the nodes of a random domain */
    double *matrix;           /* n*n squared distances on the domain, or products */
    double *sorted;           /* the n(n-1)/2 of different particles */
    exact_sum *sums;          /* n: a row of the matrix on all variables, some of which other processes may have */
    double *value, *gradient; /* of one instance of a factor group */
    double *moved, *there;    /* variables * n: a node at its mean, and the scores there, for messages */
    void *scratch;
} ref;

static void free_ref(backend *b) {
    ref *r = b->local_state;
    svmp_release_all(b->context, r->domain, r->drawn, r->matrix, r->sorted, r->sums, r->value, r->gradient, r->moved,
                     r->there, r->scratch, r);
}

static svmp_status alloc(backend *b, const kernel *k) {
    svmp_context *context = b->context;
    ref *r = NULL;
    size_t n = b->n, slots = 0, scratch = 0, neighbours = 0;
    SVMP_TRY(SVMP_NEW(context, r, 1));
    b->local_state = r;
    for (size_t g = 0; g < b->model->group_count; g++) {
        const factor_group *group = &b->model->groups[g];
        size_t needed = group->kind->scratch(group, n);
        if (group->slots > slots) slots = group->slots;
        if (needed > scratch) scratch = needed;
    }
    for (size_t a = 0; k && a < k->count; a++)
        if (k->terms[a].neighbours > neighbours) neighbours = k->terms[a].neighbours;
    const size_t variables = b->model->graph->variables;
    SVMP_TRY(SVMP_NEW(context, r->domain, 2 * variables)); /* all variables, or some and messages */
    if (b->messages) SVMP_TRY(svmp_allocate(context, variables, n * sizeof(double), (void **)&r->moved));
    if (b->messages) SVMP_TRY(svmp_allocate(context, variables, n * sizeof(double), (void **)&r->there));
    SVMP_TRY(SVMP_NEW(context, r->drawn, neighbours + 1));
    SVMP_TRY(svmp_allocate(context, n, n * sizeof(double), (void **)&r->matrix));
    SVMP_TRY(svmp_allocate(context, n, n * sizeof(double), (void **)&r->sorted));
    SVMP_TRY(SVMP_NEW(context, r->sums, n));
    SVMP_TRY(SVMP_NEW(context, r->value, n));
    SVMP_TRY(svmp_allocate(context, slots, n * sizeof(double), (void **)&r->gradient));
    return svmp_allocate(context, scratch, 1, &r->scratch);
}

/* ---- score ------------------------------------------------------------------------------------------------------- */

static svmp_status score_at(backend *b, const double *x, double *score) {
    const ref *r = b->local_state;
    const svmp_model *model = b->model;
    const quadratic *q = &model->quadratic;
    const size_t n = b->n;
    for (size_t i = 0; i < model->graph->variables; i++) /* including the halo, which is unused */
        for (size_t l = 0; l < n; l++) {
            double s = q->linear[i];
            for (size_t e = q->start[i]; e < q->start[i + 1]; e++) s -= q->value[e] * x[q->column[e] * n + l];
            score[i * n + l] = s;
        }
    for (size_t g = 0; g < model->group_count; g++) {
        const factor_group *group = &model->groups[g];
        for (size_t k = 0; k < group->instances; k++) {
            const int wrong = group->kind->evaluate(group, k, 1, n, x, r->scratch, r->value, r->gradient);
            if (wrong) return svmp_model_fail(model, svmp_model_failure(model, g, k, wrong));
            for (size_t j = 0; j < group->slots; j++)
                for (size_t l = 0; l < n; l++)
                    score[group->variables[k * group->slots + j] * n + l] += r->gradient[j * n + l];
        }
    }
    return SVMP_OK;
}

static svmp_status score(backend *b) { return score_at(b, b->x, b->score); }

/* ---- stein ------------------------------------------------------------------------------------------------------- */

static size_t add_variables(const svmp_graph *graph, size_t node, uint32_t *domain, size_t count) {
    for (size_t i = graph->first[node]; i < graph->first[node + 1]; i++) domain[count++] = (uint32_t)i;
    return count;
}

/* Messages of all own nodes that need one: scores of the whole model with one node at a time at its mean. */
static svmp_status find_messages(backend *b) {
    const ref *r = b->local_state;
    const svmp_graph *graph = b->model->graph;
    const size_t n = b->n;
    for (size_t v = 0; b->messages && v < graph->moved; v++) {
        if (!b->messages->has_message[v]) continue;
        const size_t first = graph->first[v] * n, size = (graph->first[v + 1] - graph->first[v]) * n;
        memcpy(r->moved, b->x, graph->variables * n * sizeof *r->moved);
        for (size_t at = first; at < first + size; at += n) svmp_message_place(n, b->x + at, r->moved + at);
        SVMP_TRY(score_at(b, r->moved, r->there));
        memcpy(b->messages->rows + first, r->there + first, size * sizeof *r->there);
        for (size_t at = first; at < first + size; at += n) svmp_message_standardise(n, b->messages->rows + at);
    }
    return SVMP_OK;
}

/* Lists the variables of term a's domain for a node; its message i as variable graph->variables + i. */
static size_t list_domain(backend *b, const kernel *k, size_t a, size_t node, size_t t) {
    ref *r = b->local_state;
    const kernel_term *term = &k->terms[a];
    const svmp_graph *graph = b->model->graph;
    const index_lists *hubs = b->messages ? &b->messages->hubs[a] : NULL;
    size_t count = 0, nodes = 0;
    const uint32_t *list = NULL;
    switch (term->domain) {
    case DOMAIN_SELF: return add_variables(graph, node, r->domain, 0);
    case DOMAIN_ALL:
        for (size_t v = 0; v < graph->moved; v++) count = add_variables(graph, v, r->domain, count);
        return count;
    case DOMAIN_BLANKET: list = svmp_graph_neighbourhood(graph, node, &nodes); break;
    case DOMAIN_RANDOM:
        nodes = svmp_domain_draw(graph, node, term->neighbours, b->seed, t, r->drawn);
        list = r->drawn;
        break;
    case DOMAIN_MESSAGE: count = add_variables(graph, node, r->domain, 0); break;
    case DOMAIN_NEAR:
        list = svmp_graph_neighbourhood(graph, node, &nodes);
        if (!svmp_near_needs_message(term, hubs, node)) break;
        list = hubs->item + hubs->start[node];
        nodes = hubs->start[node + 1] - hubs->start[node];
        break;
    }
    for (size_t e = 0; e < nodes; e++) count = add_variables(graph, list[e], r->domain, count);
    for (size_t i = graph->first[node]; svmp_near_needs_message(term, hubs, node) && i < graph->first[node + 1]; i++)
        r->domain[count++] = (uint32_t)(graph->variables + i);
    return count;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The mean of a row, from + offset: in the metric sd relative to the first particle, so that distant particles lose no
 * digits. */
typedef struct place {
    double from, offset;
} place;

static place mean(const kernel_term *term, size_t n, const double *row) {
    const double from = term->metric == METRIC_SD ? row[0] : 0;
    double sum = 0;
    for (size_t l = 0; l < n; l++) sum += row[l] - from;
    return (place){from, sum / (double)n};
}

static double away(double x, place centre) { return (x - centre.from) - centre.offset; }

/* The contribution of a variable for two particles; `by` is dz/dx. */
typedef double pair_value(const double *x, size_t l, size_t m, place centre, double by);

static double square(const double *x, size_t l, size_t m, place centre, double by) {
    (void)centre;
    return ((x[l] - x[m]) * by) * ((x[l] - x[m]) * by);
}

static double product(const double *x, size_t l, size_t m, place centre, double by) {
    return (away(x[l], centre) * by) * (away(x[m], centre) * by);
}

/* dz_j/dx_j: in the metric sd z_j = (x_j - mean)/sd_j. */
static double slope(const backend *b, const kernel_term *term, size_t j) {
    if (term->metric == METRIC_NONE) return 1;
    return b->sd[j] > 0 ? 1 / b->sd[j] : 0;
}

/* matrix[l][m] = the sum over the domain. On all variables it is computed without rounding, so that it does not depend
 * on the distribution among processes. */
static void fill_matrix(backend *b, const kernel_term *term, size_t count, pair_value *of) {
    ref *r = b->local_state;
    const size_t n = b->n;
    for (size_t l = 0; l < n; l++) {
        memset(r->sums, 0, n * sizeof *r->sums);
        memset(r->matrix + l * n, 0, n * sizeof *r->matrix);
        for (size_t j = 0; j < count; j++) {
            const size_t i = r->domain[j], variables = b->model->graph->variables;
            const double *x = i < variables ? b->x + i * n : b->messages->rows + (i - variables) * n;
            const double by = i < variables ? slope(b, term, i) : 1; /* messages are standardised */
            const place centre = mean(term, n, x);
            for (size_t m = 0; m < n; m++)
                if (term->domain == DOMAIN_ALL)
                    svmp_exact_add(&r->sums[m], of(x, l, m, centre, by));
                else
                    r->matrix[l * n + m] += of(x, l, m, centre, by);
        }
        if (term->domain != DOMAIN_ALL) continue;
        svmp_peers_sum_exactly(b->model->graph->peers, n, r->sums);
        for (size_t m = 0; m < n; m++) r->matrix[l * n + m] = svmp_exact_value(&r->sums[m]);
    }
}

/* Squared distances on the domain, and the bandwidth. */
static double distances(backend *b, const kernel_term *term, size_t count) {
    ref *r = b->local_state;
    const size_t n = b->n;
    size_t pairs = 0, lower, upper;
    fill_matrix(b, term, count, square);
    for (size_t l = 0; l < n; l++)
        for (size_t m = l + 1; m < n; m++) r->sorted[pairs++] = r->matrix[l * n + m];
    if (!svmp_bandwidth_ranks(&term->bandwidth, n, &lower, &upper))
        return svmp_bandwidth_value(&term->bandwidth, n, 0, 0);
    qsort(r->sorted, pairs, sizeof *r->sorted, ascending);
    return svmp_bandwidth_value(&term->bandwidth, n, lower == SIZE_MAX ? 0 : r->sorted[lower], r->sorted[upper]);
}

/* k(x_l, x_m) and its repulsion. */
static void pair(const kernel_shape *shape, double distance, double h, double *k, double *repulsion) {
    *k = distance == 0;
    *repulsion = 0;
    if (h == 0) return;
    shape->value(1, &distance, h, k);
    if (shape->ratio)
        *repulsion = shape->ratio(h) * *k;
    else
        shape->repulsion(1, k, h, repulsion);
}

/* phi_i[m] += weight/n sum_l ( k s_i[l] - r (x_i[l] - x_i[m]) ),  in the metric sd r / sd_i^2 */
static void add_radial(backend *b, const kernel_term *term, size_t i, double h) {
    const size_t n = b->n;
    const double by = slope(b, term, i);
    const double *distance = ((ref *)b->local_state)->matrix, *x = b->x + i * n, *s = b->score + i * n;
    for (size_t m = 0; m < n; m++) {
        double sum = 0, k, repulsion;
        for (size_t l = 0; l < n; l++) {
            pair(term->shape, distance[l * n + m], h, &k, &repulsion);
            sum += k * s[l] - repulsion * ((x[l] - x[m]) * by) * by;
        }
        b->phi[i * n + m] += term->weight / (double)n * sum;
    }
}

/* Products sum_j z_j[l] z_j[m] on the domain; returns its summed variance v, in the metric sd 1. */
static double products(backend *b, const kernel_term *term, size_t count) {
    const size_t n = b->n;
    double v = 0;
    fill_matrix(b, term, count, product);
    for (size_t l = 0; l < n; l++) v += ((ref *)b->local_state)->matrix[l * n + l] / (double)n;
    return term->metric == METRIC_SD ? 1 : v;
}

/* phi_i[m] += weight/n sum_l ( k s_i[l] + z_i[m]/v ),  k = 1 + sum_j z_j[l] z_j[m] / v,  in the metric sd z_i / sd_i */
static void add_linear(backend *b, const kernel_term *term, size_t i, double v) {
    const double *product = ((ref *)b->local_state)->matrix;
    const size_t n = b->n;
    const place centre = mean(term, n, b->x + i * n);
    const double by = slope(b, term, i);
    for (size_t m = 0; m < n; m++) {
        double sum = 0;
        for (size_t l = 0; l < n; l++) {
            const double k = v > 0 ? 1 + product[l * n + m] / v : 1;
            sum += k * b->score[i * n + l] + (v > 0 ? (away(b->x[i * n + m], centre) * by) * by / v : 0);
        }
        b->phi[i * n + m] += term->weight / (double)n * sum;
    }
}

/* Prepares the matrix of a node's domain, and its bandwidth or summed variance. */
static double prepare(backend *b, const kernel *k, size_t a, size_t node, size_t t) {
    const kernel_term *term = &k->terms[a];
    const size_t count = list_domain(b, k, a, node, t);
    return (term->shape->value ? distances : products)(b, term, count);
}

/* All own nodes at once, with the last of them, when the halo has arrived. */
static svmp_status stein(backend *b, const kernel *k, size_t t) {
    const svmp_graph *graph = b->model->graph;
    svmp_host_units(b);
    if (b->span.last < graph->moved) return SVMP_OK;
    SVMP_TRY(find_messages(b));
    memset(b->phi, 0, graph->variables * b->n * sizeof *b->phi);
    for (size_t a = 0; a < k->count; a++) {
        const kernel_term *term = &k->terms[a];
        const int once = term->domain == DOMAIN_ALL; /* as in other backends, whatever their nodes */
        double scale = once ? prepare(b, k, a, 0, t) : 0;
        for (size_t v = 0; v < graph->moved; v++) {
            if (!once) scale = prepare(b, k, a, v, t);
            for (size_t i = graph->first[v]; i < graph->first[v + 1]; i++)
                (term->shape->value ? add_radial : add_linear)(b, term, i, scale);
        }
    }
    return SVMP_OK;
}

static int keeps(double pairs, size_t variables) {
    (void)pairs, (void)variables;
    return 1;
}

const backend_kind svmp_backend_ref = {
    .name = "ref",
    .alloc = alloc,
    .free = free_ref,
    .score = score,
    .stein = stein,
    .step = svmp_host_step,
    .diffuse = svmp_host_diffuse,
    .keeps = keeps,
};
