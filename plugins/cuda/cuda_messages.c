/* Messages to nodes (stein/hubs.h) on the device: the factors of a node again, with its own variables at their means.
 *
 *     T_i = b_i - sum_{j in v} A_ij m_j - sum_{j not in v} A_ij x_j + sum of the derivatives of other factors
 */
#include "backend/node_messages.h"
#include "cuda/cuda_backend.h"

/* A derivative that belongs to a message: row `row` of the entry-th evaluation of a list. */
typedef struct derivative {
    uint32_t list, entry, row;
} derivative;

/* Evaluations of a group: for its derivatives by one slot, or by all. */
typedef struct evaluations {
    uint32_t *instance, *node;
    size_t count, instance_capacity, node_capacity;
    size_t rows; /* derivatives of each */
} evaluations;

typedef struct message_lists {
    evaluations *lists;
    size_t *first; /* group -> its lists: one for each slot, for nodes of one variable, and one for all slots */
    size_t *seen;  /* factor -> 1 + its last evaluation for all slots */
    size_t asked;  /* variables */
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
    for (size_t e = 0; l->lists && e < l->first[b->model->group_count]; e++) {
        svmp_release(context, l->lists[e].instance);
        svmp_release(context, l->lists[e].node);
    }
    svmp_release(context, l->lists);
    svmp_release(context, l->first);
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

static svmp_status list_evaluation(const backend *b, evaluations *e, size_t k, size_t v) {
    SVMP_TRY(SVMP_GROW(b->context, e->instance, e->instance_capacity, e->count + 1));
    SVMP_TRY(SVMP_GROW(b->context, e->node, e->node_capacity, e->count + 1));
    e->instance[e->count] = (uint32_t)k;
    e->node[e->count++] = (uint32_t)v;
    return SVMP_OK;
}

/* The derivatives by variable i of node v. Where it has others, a factor is evaluated once for all of them. */
static svmp_status list_derivatives(const backend *b, size_t v, size_t i, message_lists *l) {
    const svmp_model *model = b->model;
    const int alone = model->graph->first[v + 1] - model->graph->first[v] == 1;
    for (size_t r = model->gather_start[i], g = 0; r < model->gather_start[i + 1]; r++) {
        const size_t row = model->gather_row[r];
        while (model->group_row[g + 1] <= row) g++;
        const size_t within = row - model->group_row[g], slots = model->groups[g].slots, k = within / slots;
        const size_t slot = within % slots, list = l->first[g] + (alone ? slot : slots);
        evaluations *e = &l->lists[list];
        size_t seen = alone ? 0 : l->seen[row - slot]; /* the first row of a factor stands for it */
        if (seen == 0 || e->node[seen - 1] != v) {
            SVMP_TRY(list_evaluation(b, e, k, v));
            seen = e->count;
        }
        if (!alone) l->seen[row - slot] = seen;
        SVMP_TRY(SVMP_GROW(b->context, l->derivatives, l->derivative_capacity, l->derivative_count + 1));
        l->derivatives[l->derivative_count++] =
            (derivative){(uint32_t)list, (uint32_t)(seen - 1), (uint32_t)(alone ? 0 : slot)};
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
    SVMP_TRY(SVMP_NEW(b->context, l->first, model->group_count + 1));
    for (size_t g = 0; g < model->group_count; g++) l->first[g + 1] = l->first[g] + model->groups[g].slots + 1;
    SVMP_TRY(SVMP_NEW(b->context, l->lists, l->first[model->group_count]));
    for (size_t g = 0; g < model->group_count; g++)
        for (size_t e = l->first[g]; e < l->first[g + 1]; e++)
            l->lists[e].rows = e + 1 < l->first[g + 1] ? 1 : model->groups[g].slots;
    SVMP_TRY(SVMP_NEW(b->context, l->seen, model->group_row[model->group_count] + 1));
    SVMP_TRY(SVMP_NEW(b->context, l->variable, graph->variables));
    SVMP_TRY(SVMP_NEW(b->context, l->linear, graph->variables));
    SVMP_TRY(SVMP_NEW(b->context, l->derivative_start, graph->variables + 1));
    for (size_t own = 0; own < 2; own++) SVMP_TRY(SVMP_NEW(b->context, l->start[own], graph->variables + 1));
    for (size_t v = 0; v < graph->moved; v++)
        for (size_t i = graph->first[v]; b->messages->has_message[v] && i < graph->first[v + 1]; i++) {
            SVMP_TRY(list_derivatives(b, v, i, l));
            SVMP_TRY(list_quadratic(b, v, i, l));
            l->linear[l->asked] = model->quadratic.linear[i];
            l->variable[l->asked++] = (uint32_t)i;
            l->derivative_start[l->asked] = l->derivative_count;
            for (size_t own = 0; own < 2; own++) l->start[own][l->asked] = l->count[own];
        }
    return SVMP_OK;
}

/* The programs of a group, whose instances they share. */
static svmp_status put_group(backend *b, const message_lists *l, size_t g, const size_t *first_row, double *rows,
                             const uint32_t *node_of) {
    cuda *own = b->local_state;
    cuda_messages *m = &own->messages;
    const factor_group *group = &b->model->groups[g];
    program_args instances;
    int there = 0;
    for (size_t list = l->first[g]; list < l->first[g + 1]; list++) {
        const evaluations *e = &l->lists[list];
        const size_t slot = list - l->first[g];
        if (e->count == 0) continue;
        if (!there) SVMP_TRY(svmp_cuda_instances(b, group, &instances));
        there = 1;
        program_args *made = &m->programs[m->program_count];
        *made = instances;
        SVMP_TRY(svmp_cuda_program(b, group, slot < group->slots ? slot : SVMP_CUDA_ALL_SLOTS, made, NULL));
        SVMP_TRY(CUDA_PUT(b, made->instance, e->count, e->instance));
        SVMP_TRY(CUDA_PUT(b, made->node, e->count, e->node));
        made->gradient = rows + first_row[list] * b->n;
        made->node_of = node_of;
        made->mean = own->centre.mean;
        m->evaluations[m->program_count++] = e->count;
    }
    return SVMP_OK;
}

/* All programs, with room for their derivatives, whose rows are found out. */
static svmp_status put_programs(backend *b, const message_lists *l, size_t *first_row, double **rows,
                                const uint32_t *node_of) {
    cuda *own = b->local_state;
    cuda_messages *m = &own->messages;
    const size_t groups = b->model->group_count, lists = l->first[groups];
    for (size_t e = 0; e < lists; e++) first_row[e + 1] = first_row[e] + l->lists[e].count * l->lists[e].rows;
    SVMP_TRY(CUDA_TAKE(b, *rows, first_row[lists] * b->n));
    SVMP_TRY(SVMP_NEW(b->context, m->programs, lists));
    SVMP_TRY(SVMP_NEW(b->context, m->evaluations, lists));
    for (size_t g = 0; g < groups; g++) SVMP_TRY(put_group(b, l, g, first_row, *rows, node_of));
    return SVMP_OK;
}

static svmp_status put_sums(backend *b, const message_lists *l, const size_t *first_row, const double *rows) {
    cuda *own = b->local_state;
    cuda_messages *m = &own->messages;
    size_t *item = NULL;
    double *constant = NULL, *there = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(b->context, item, l->derivative_count));
    for (size_t e = 0; e < l->derivative_count; e++) {
        const derivative *d = &l->derivatives[e];
        item[e] = first_row[d->list] + d->entry * l->lists[d->list].rows + d->row;
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
    cuda *own = b->local_state;
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
    SVMP_CHECK(SVMP_NEW(b->context, first_row, l.first[b->model->group_count] + 1));
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
    const cuda *own = b->local_state;
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
