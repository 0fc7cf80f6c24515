/* Messages to nodes (kernel/near.h) on the device: the factors of a node again, with its own variables at their means.
 *
 *     T_i = b_i - sum_{j in v} A_ij m_j - sum_{j not in v} A_ij x_j + sum of the derivatives of other factors
 */
#include "backend/cuda/cuda.h"
#include "backend/message.h"

/* A derivative that belongs to a message: slot `slot` of the entry-th evaluation of a group. */
typedef struct derivative {
    uint32_t group, entry, slot;
} derivative;

/* Evaluations of one group. */
typedef struct evaluations {
    uint32_t *instance, *node;
    size_t count, instance_capacity, node_capacity;
} evaluations;

typedef struct message_lists {
    evaluations *groups;
    size_t *seen; /* factor -> 1 + the last node for which it is listed */
    size_t asked; /* variables */
    uint32_t *variable;
    derivative *derivatives;
    size_t *derivative_start, derivative_count, derivative_capacity;
    /* entries of the quadratic: of the node itself, and of others */
    size_t *start[2], count[2], column_capacity[2], value_capacity[2];
    uint32_t *column[2];
    double *value[2], *linear;
} message_lists;

static void free_lists(const backend *b, message_lists *l) {
    svmp_context *context = b->context;
    for (size_t g = 0; l->groups && g < b->model->group_count; g++) {
        svmp_release(context, l->groups[g].instance);
        svmp_release(context, l->groups[g].node);
    }
    svmp_release(context, l->groups);
    svmp_release(context, l->seen);
    svmp_release(context, l->variable);
    svmp_release(context, l->derivatives);
    svmp_release(context, l->derivative_start);
    for (size_t own = 0; own < 2; own++) {
        svmp_release(context, l->start[own]);
        svmp_release(context, l->column[own]);
        svmp_release(context, l->value[own]);
    }
    svmp_release(context, l->linear);
}

static svmp_status list_evaluation(const backend *b, size_t g, size_t k, size_t v, message_lists *l) {
    evaluations *e = &l->groups[g];
    SVMP_TRY(SVMP_GROW(b->context, e->instance, e->instance_capacity, e->count + 1));
    SVMP_TRY(SVMP_GROW(b->context, e->node, e->node_capacity, e->count + 1));
    e->instance[e->count] = (uint32_t)k;
    e->node[e->count++] = (uint32_t)v;
    return SVMP_OK;
}

/* The derivatives by variable i of node v; factors of a node are listed once, and looked up for its other variables. */
static svmp_status list_derivatives(const backend *b, size_t v, size_t i, message_lists *l) {
    const svmp_model *model = b->model;
    for (size_t r = model->gather_start[i], g = 0; r < model->gather_start[i + 1]; r++) {
        const size_t row = model->gather_row[r];
        while (model->group_row[g + 1] <= row) g++;
        const size_t within = row - model->group_row[g], slots = model->groups[g].slots, k = within / slots;
        const size_t factor = model->group_row[g] + k * slots; /* its first row stands for it */
        if (l->seen[factor] == 0 || l->groups[g].node[l->seen[factor] - 1] != v) {
            SVMP_TRY(list_evaluation(b, g, k, v, l));
            l->seen[factor] = l->groups[g].count;
        }
        SVMP_TRY(SVMP_GROW(b->context, l->derivatives, l->derivative_capacity, l->derivative_count + 1));
        l->derivatives[l->derivative_count++] =
            (derivative){(uint32_t)g, (uint32_t)(l->seen[factor] - 1), (uint32_t)(within % slots)};
    }
    return SVMP_OK;
}

static svmp_status list_quadratic(const backend *b, size_t v, size_t i, message_lists *l) {
    const quadratic *q = &b->model->quadratic;
    const size_t *first = b->model->graph->first;
    for (size_t e = q->start[i]; e < q->start[i + 1]; e++) {
        const size_t own = q->column[e] >= first[v] && q->column[e] < first[v + 1], at = l->count[own];
        SVMP_TRY(SVMP_GROW(b->context, l->column[own], l->column_capacity[own], at + 1));
        SVMP_TRY(SVMP_GROW(b->context, l->value[own], l->value_capacity[own], at + 1));
        l->column[own][at] = q->column[e];
        l->value[own][at] = q->value[e];
        l->count[own]++;
    }
    return SVMP_OK;
}

static svmp_status list_all(const backend *b, message_lists *l) {
    const svmp_model *model = b->model;
    const svmp_graph *graph = model->graph;
    SVMP_TRY(SVMP_NEW(b->context, l->groups, model->group_count));
    SVMP_TRY(SVMP_NEW(b->context, l->seen, model->group_row[model->group_count] + 1));
    SVMP_TRY(SVMP_NEW(b->context, l->variable, graph->variables));
    SVMP_TRY(SVMP_NEW(b->context, l->linear, graph->variables));
    SVMP_TRY(SVMP_NEW(b->context, l->derivative_start, graph->variables + 1));
    for (size_t own = 0; own < 2; own++) SVMP_TRY(SVMP_NEW(b->context, l->start[own], graph->variables + 1));
    for (size_t v = 0; v < graph->own; v++)
        for (size_t i = graph->first[v]; b->messages->asked[v] && i < graph->first[v + 1]; i++) {
            SVMP_TRY(list_derivatives(b, v, i, l));
            SVMP_TRY(list_quadratic(b, v, i, l));
            l->linear[l->asked] = model->quadratic.linear[i];
            l->variable[l->asked++] = (uint32_t)i;
            l->derivative_start[l->asked] = l->derivative_count;
            for (size_t own = 0; own < 2; own++) l->start[own][l->asked] = l->count[own];
        }
    return SVMP_OK;
}

/* The programs, with room for all their derivatives, whose rows are found out. */
static svmp_status put_programs(backend *b, const message_lists *l, size_t *first_row, double **rows,
                                const uint32_t *node_of) {
    cuda *own = b->own;
    const svmp_model *model = b->model;
    cuda_messages *m = &own->messages;
    for (size_t g = 0; g < model->group_count; g++)
        first_row[g + 1] = first_row[g] + l->groups[g].count * model->groups[g].slots;
    SVMP_TRY(CUDA_TAKE(b, *rows, first_row[model->group_count] * b->n));
    SVMP_TRY(SVMP_NEW(b->context, m->programs, model->group_count));
    SVMP_TRY(SVMP_NEW(b->context, m->evaluations, model->group_count));
    for (size_t g = 0; g < model->group_count; g++) {
        const evaluations *e = &l->groups[g];
        if (e->count == 0) continue;
        program_args *made = &m->programs[m->program_count];
        SVMP_TRY(svmp_cuda_program(b, &model->groups[g], made, NULL));
        SVMP_TRY(CUDA_PUT(b, made->instance, e->count, e->instance));
        SVMP_TRY(CUDA_PUT(b, made->node, e->count, e->node));
        made->gradient = *rows + first_row[g] * b->n;
        made->node_of = node_of;
        made->mean = own->centre.mean;
        m->evaluations[m->program_count++] = e->count;
    }
    return SVMP_OK;
}

static svmp_status put_sums(backend *b, const message_lists *l, const size_t *first_row, const double *rows) {
    cuda *own = b->own;
    cuda_messages *m = &own->messages;
    size_t *item = NULL;
    double *constant = NULL, *there = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(b->context, item, l->derivative_count));
    for (size_t e = 0; e < l->derivative_count; e++) {
        const derivative *d = &l->derivatives[e];
        item[e] = first_row[d->group] + d->entry * b->model->groups[d->group].slots + d->slot;
    }
    SVMP_CHECK(CUDA_TAKE(b, constant, l->asked));
    SVMP_CHECK(CUDA_TAKE(b, there, l->asked * b->n));
    m->at_mean = (sum_args){.rows = own->centre.mean, .out = constant, .n = 1, .minus = 1};
    m->others.whole = (sum_args){.constant = constant, .out = there, .minus = 1};
    m->add.whole = (sum_args){.rows = rows, .out = there, .adds = 1};
    SVMP_CHECK(CUDA_PUT(b, m->at_mean.start, l->asked + 1, l->start[1]));
    SVMP_CHECK(CUDA_PUT(b, m->at_mean.column, l->count[1], l->column[1]));
    SVMP_CHECK(CUDA_PUT(b, m->at_mean.weight, l->count[1], l->value[1]));
    SVMP_CHECK(CUDA_PUT(b, m->at_mean.constant, l->asked, l->linear));
    SVMP_CHECK(CUDA_PUT(b, m->others.whole.column, l->count[0], l->column[0]));
    SVMP_CHECK(CUDA_PUT(b, m->others.whole.weight, l->count[0], l->value[0]));
    SVMP_CHECK(svmp_cuda_cut(b, l->asked, l->start[0], &m->others));
    SVMP_CHECK(CUDA_PUT(b, m->add.whole.item, l->derivative_count, item));
    SVMP_CHECK(svmp_cuda_cut(b, l->asked, l->derivative_start, &m->add));
done:
    svmp_release(b->context, item);
    return status;
}

static svmp_status put_standardise(backend *b, const message_lists *l) {
    cuda *own = b->own;
    cuda_messages *m = &own->messages;
    const centre_args *c = &own->centre;
    uint32_t *to = NULL;
    svmp_status status;
    m->count = l->asked;
    m->standardise = (message_args){.rows = m->others.whole.out,
                                    .n = b->n,
                                    .variance = c->variance,
                                    .z64 = c->z64,
                                    .scaled64 = c->scaled64,
                                    .z32 = c->z32,
                                    .scaled32 = c->scaled32};
    SVMP_CHECK(SVMP_NEW(b->context, to, l->asked));
    for (size_t k = 0; k < l->asked; k++) to[k] = (uint32_t)(l->variable[k] + b->model->graph->variables);
    SVMP_CHECK(CUDA_PUT(b, m->standardise.to, l->asked, to));
    SVMP_CHECK(CUDA_TAKE(b, m->standardise.scratch, l->asked * b->n));
done:
    svmp_release(b->context, to);
    return status;
}

svmp_status svmp_cuda_plan_messages(backend *b) {
    const svmp_graph *graph = b->model->graph;
    message_lists l = {0};
    uint32_t *node_of = NULL, *there = NULL;
    size_t *first_row = NULL;
    double *rows = NULL;
    svmp_status status;
    SVMP_CHECK(list_all(b, &l));
    SVMP_CHECK(SVMP_NEW(b->context, first_row, b->model->group_count + 1));
    SVMP_CHECK(SVMP_NEW(b->context, node_of, graph->variables));
    for (size_t v = 0; v < graph->nodes; v++)
        for (size_t i = graph->first[v]; i < graph->first[v + 1]; i++) node_of[i] = (uint32_t)v;
    SVMP_CHECK(CUDA_PUT(b, there, graph->variables, node_of));
    SVMP_CHECK(put_programs(b, &l, first_row, &rows, there));
    SVMP_CHECK(put_sums(b, &l, first_row, rows));
    SVMP_CHECK(put_standardise(b, &l));
done:
    svmp_release(b->context, node_of);
    svmp_release(b->context, first_row);
    free_lists(b, &l);
    return status;
}

svmp_status svmp_cuda_find_messages(backend *b) {
    const cuda *own = b->own;
    const cuda_messages *m = &own->messages;
    const device_ops *ops = own->ops;
    row_sums others = m->others;
    others.whole.rows = others.pieces.rows = own->x;
    if (m->count == 0) return SVMP_OK;
    for (size_t g = 0; g < m->program_count; g++) {
        program_args args = m->programs[g];
        args.x = own->x;
        SVMP_TRY(svmp_cuda_check(b, ops->launch(own->device, KERNEL_PROGRAM, 64, &args, m->evaluations[g] * b->n)));
    }
    SVMP_TRY(svmp_cuda_check(b, ops->launch(own->device, KERNEL_SUM, 64, &m->at_mean, m->count)));
    SVMP_TRY(svmp_cuda_launch_sums(b, &others));
    SVMP_TRY(svmp_cuda_launch_sums(b, &m->add));
    return svmp_cuda_check(b, ops->launch(own->device, KERNEL_MESSAGE, 64, &m->standardise, m->count));
}
