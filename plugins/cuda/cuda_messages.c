/* Messages to nodes (stein/near_domain.h) on the device: the factors of a node again, with its own variables at their
 * means.
 *
 *     T_i = b_i - sum_{j in v} A_ij m_j - sum_{j not in v} A_ij x_j + sum of the derivatives of other factors
 */
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
    size_t *last;  /* factor -> 1 + its last evaluation for all slots */
    size_t variable_count;
    uint32_t *variable;
    derivative *derivatives;
    size_t *derivative_start, derivative_count, derivative_capacity;
    /* entries of the quadratic: of the node itself, and of others */
    size_t *start[2], count[2], column_capacity[2], value_capacity[2];
    uint32_t *column[2];
    double *value[2], *linear;
} message_lists;

static void free_lists(const cuda_run *run, message_lists *l) {
    const svmp_host *host = &run->host;
    for (size_t e = 0; l->lists && e < l->first[run->model->group_count]; e++)
        svmp_host_release_all(host, l->lists[e].instance, l->lists[e].node);
    svmp_host_release_all(host, l->lists, l->first, l->last, l->variable, l->derivatives, l->derivative_start);
    for (size_t inner = 0; inner < 2; inner++)
        svmp_host_release_all(host, l->start[inner], l->column[inner], l->value[inner]);
    svmp_host_release(host, l->linear);
}

static svmp_status list_evaluation(const cuda_run *run, evaluations *e, size_t k, size_t v) {
    CUDA_TRY(CUDA_GROW(&run->host, e->instance, e->instance_capacity, e->count + 1));
    CUDA_TRY(CUDA_GROW(&run->host, e->node, e->node_capacity, e->count + 1));
    e->instance[e->count] = (uint32_t)k;
    e->node[e->count++] = (uint32_t)v;
    return SVMP_OK;
}

/* The derivatives by variable i of node v. Where it has others, a factor is evaluated once for all of them. */
static svmp_status list_derivatives(const cuda_run *run, size_t v, size_t i, message_lists *l) {
    const svmp_model_view *model = run->model;
    const int alone = model->first[v + 1] - model->first[v] == 1;
    for (size_t r = model->gather_start[i], g = 0; r < model->gather_start[i + 1]; r++) {
        const size_t row = model->gather_row[r];
        while (g + 1 < model->group_count && model->groups[g + 1].first_row <= row) g++;
        const size_t within = row - model->groups[g].first_row, slots = model->groups[g].slots, k = within / slots;
        const size_t slot = within % slots, list = l->first[g] + (alone ? slot : slots);
        evaluations *e = &l->lists[list];
        size_t last = alone ? 0 : l->last[row - slot]; /* the first row of a factor stands for it */
        if (last == 0 || e->node[last - 1] != v) {
            CUDA_TRY(list_evaluation(run, e, k, v));
            last = e->count;
        }
        if (!alone) l->last[row - slot] = last;
        CUDA_TRY(CUDA_GROW(&run->host, l->derivatives, l->derivative_capacity, l->derivative_count + 1));
        l->derivatives[l->derivative_count++] =
            (derivative){(uint32_t)list, (uint32_t)(last - 1), (uint32_t)(alone ? 0 : slot)};
    }
    return SVMP_OK;
}

static svmp_status list_quadratic(const cuda_run *run, size_t v, size_t i, message_lists *l) {
    const svmp_model_view *q = run->model;
    const size_t *first = run->model->first;
    for (size_t e = q->start[i]; e < q->start[i + 1]; e++) {
        const size_t inner = q->column[e] >= first[v] && q->column[e] < first[v + 1], at = l->count[inner];
        CUDA_TRY(CUDA_GROW(&run->host, l->column[inner], l->column_capacity[inner], at + 1));
        CUDA_TRY(CUDA_GROW(&run->host, l->value[inner], l->value_capacity[inner], at + 1));
        l->column[inner][at] = q->column[e];
        l->value[inner][at] = q->value[e];
        l->count[inner]++;
    }
    return SVMP_OK;
}

static svmp_status list_all(const cuda_run *run, const svmp_kernel_view *k, message_lists *l) {
    const svmp_model_view *model = run->model;
    CUDA_TRY(CUDA_NEW(&run->host, l->first, model->group_count + 1));
    for (size_t g = 0; g < model->group_count; g++) l->first[g + 1] = l->first[g] + model->groups[g].slots + 1;
    CUDA_TRY(CUDA_NEW(&run->host, l->lists, l->first[model->group_count]));
    for (size_t g = 0; g < model->group_count; g++)
        for (size_t e = l->first[g]; e < l->first[g + 1]; e++)
            l->lists[e].rows = e + 1 < l->first[g + 1] ? 1 : model->groups[g].slots;
    CUDA_TRY(CUDA_NEW(&run->host, l->last, model->rows + 1));
    CUDA_TRY(CUDA_NEW(&run->host, l->variable, model->variables));
    CUDA_TRY(CUDA_NEW(&run->host, l->linear, model->variables));
    CUDA_TRY(CUDA_NEW(&run->host, l->derivative_start, model->variables + 1));
    for (size_t inner = 0; inner < 2; inner++) CUDA_TRY(CUDA_NEW(&run->host, l->start[inner], model->variables + 1));
    for (size_t v = 0; v < model->moved; v++)
        for (size_t i = model->first[v]; k->has_message[v] && i < model->first[v + 1]; i++) {
            CUDA_TRY(list_derivatives(run, v, i, l));
            CUDA_TRY(list_quadratic(run, v, i, l));
            l->linear[l->variable_count] = model->linear[i];
            l->variable[l->variable_count++] = (uint32_t)i;
            l->derivative_start[l->variable_count] = l->derivative_count;
            for (size_t inner = 0; inner < 2; inner++) l->start[inner][l->variable_count] = l->count[inner];
        }
    return SVMP_OK;
}

/* The programs of a group, whose instances they share. */
static svmp_status put_group(cuda_run *run, const message_lists *l, size_t g, const size_t *first_row, double *rows,
                             const uint32_t *node_of) {
    cuda *state = run->state;
    cuda_messages *m = &state->messages;
    const svmp_group_view *group = &run->model->groups[g];
    program_args instances;
    int there = 0;
    for (size_t list = l->first[g]; list < l->first[g + 1]; list++) {
        const evaluations *e = &l->lists[list];
        const size_t slot = list - l->first[g];
        if (e->count == 0) continue;
        if (!there) CUDA_TRY(svmp_cuda_instances(run, group, &instances));
        there = 1;
        program_args *made = &m->programs[m->program_count];
        *made = instances;
        CUDA_TRY(svmp_cuda_program(run, g, slot < group->slots ? slot : SVMP_CUDA_ALL_SLOTS, made, NULL));
        CUDA_TRY(CUDA_PUT(run, made->instance, e->count, e->instance));
        CUDA_TRY(CUDA_PUT(run, made->node, e->count, e->node));
        made->gradient = rows + first_row[list] * run->n;
        made->node_of = node_of;
        made->mean = state->centre.mean;
        m->evaluations[m->program_count++] = e->count;
    }
    return SVMP_OK;
}

/* All programs, with room for their derivatives, whose rows are found out. */
static svmp_status put_programs(cuda_run *run, const message_lists *l, size_t *first_row, double **rows,
                                const uint32_t *node_of) {
    cuda *state = run->state;
    cuda_messages *m = &state->messages;
    const size_t groups = run->model->group_count, lists = l->first[groups];
    for (size_t e = 0; e < lists; e++) first_row[e + 1] = first_row[e] + l->lists[e].count * l->lists[e].rows;
    CUDA_TRY(CUDA_TAKE(run, *rows, first_row[lists] * run->n));
    CUDA_TRY(CUDA_NEW(&run->host, m->programs, lists));
    CUDA_TRY(CUDA_NEW(&run->host, m->evaluations, lists));
    for (size_t g = 0; g < groups; g++) CUDA_TRY(put_group(run, l, g, first_row, *rows, node_of));
    return SVMP_OK;
}

static svmp_status put_sums(cuda_run *run, const message_lists *l, const size_t *first_row, const double *rows) {
    cuda *state = run->state;
    cuda_messages *m = &state->messages;
    size_t *item = NULL;
    double *constant = NULL, *there = NULL;
    svmp_status status;
    CUDA_CHECK(CUDA_NEW(&run->host, item, l->derivative_count));
    for (size_t e = 0; e < l->derivative_count; e++) {
        const derivative *d = &l->derivatives[e];
        item[e] = first_row[d->list] + d->entry * l->lists[d->list].rows + d->row;
    }
    CUDA_CHECK(CUDA_TAKE(run, constant, l->variable_count));
    CUDA_CHECK(CUDA_TAKE(run, there, l->variable_count * run->n));
    m->at_mean = (sum_args){.rows = state->centre.mean, .out = constant, .n = 1, .minus = 1};
    m->others.whole = (sum_args){.constant = constant, .out = there, .minus = 1};
    m->add.whole = (sum_args){.rows = rows, .out = there, .adds = 1};
    CUDA_CHECK(CUDA_PUT(run, m->at_mean.start, l->variable_count + 1, l->start[1]));
    CUDA_CHECK(CUDA_PUT(run, m->at_mean.column, l->count[1], l->column[1]));
    CUDA_CHECK(CUDA_PUT(run, m->at_mean.weight, l->count[1], l->value[1]));
    CUDA_CHECK(CUDA_PUT(run, m->at_mean.constant, l->variable_count, l->linear));
    CUDA_CHECK(CUDA_PUT(run, m->others.whole.column, l->count[0], l->column[0]));
    CUDA_CHECK(CUDA_PUT(run, m->others.whole.weight, l->count[0], l->value[0]));
    CUDA_CHECK(svmp_cuda_cut(run, l->variable_count, l->start[0], &m->others));
    CUDA_CHECK(CUDA_PUT(run, m->add.whole.item, l->derivative_count, item));
    CUDA_CHECK(svmp_cuda_cut(run, l->variable_count, l->derivative_start, &m->add));
done:
    svmp_host_release(&run->host, item);
    return status;
}

static svmp_status put_standardise(cuda_run *run, const message_lists *l) {
    cuda *state = run->state;
    cuda_messages *m = &state->messages;
    const centre_args *c = &state->centre;
    uint32_t *to = NULL;
    svmp_status status;
    m->count = l->variable_count;
    m->standardise = (message_args){.rows = m->others.whole.out,
                                    .n = run->n,
                                    .variance = c->variance,
                                    .z64 = c->z64,
                                    .scaled64 = c->scaled64,
                                    .z32 = c->z32,
                                    .scaled32 = c->scaled32};
    CUDA_CHECK(CUDA_NEW(&run->host, to, l->variable_count));
    for (size_t k = 0; k < l->variable_count; k++) to[k] = (uint32_t)(l->variable[k] + run->model->variables);
    CUDA_CHECK(CUDA_PUT(run, m->standardise.to, l->variable_count, to));
    CUDA_CHECK(CUDA_TAKE(run, m->standardise.scratch, l->variable_count * run->n));
done:
    svmp_host_release(&run->host, to);
    return status;
}

svmp_status svmp_cuda_plan_messages(cuda_run *run, const svmp_kernel_view *k) {
    const svmp_model_view *model = run->model;
    message_lists l = {0};
    uint32_t *node_of = NULL, *there = NULL;
    size_t *first_row = NULL;
    double *rows = NULL;
    svmp_status status;
    CUDA_CHECK(list_all(run, k, &l));
    CUDA_CHECK(CUDA_NEW(&run->host, first_row, l.first[run->model->group_count] + 1));
    CUDA_CHECK(CUDA_NEW(&run->host, node_of, model->variables));
    for (size_t v = 0; v < model->nodes; v++)
        for (size_t i = model->first[v]; i < model->first[v + 1]; i++) node_of[i] = (uint32_t)v;
    CUDA_CHECK(CUDA_PUT(run, there, model->variables, node_of));
    CUDA_CHECK(put_programs(run, &l, first_row, &rows, there));
    CUDA_CHECK(put_sums(run, &l, first_row, rows));
    CUDA_CHECK(put_standardise(run, &l));
done:
    svmp_host_release_all(&run->host, node_of, first_row);
    free_lists(run, &l);
    return status;
}

svmp_status svmp_cuda_find_messages(cuda_run *run) {
    const cuda *state = run->state;
    const cuda_messages *m = &state->messages;
    const device_ops *ops = state->ops;
    row_sums others = m->others;
    others.whole.rows = others.pieces.rows = state->x;
    if (m->count == 0) return SVMP_OK;
    for (size_t g = 0; g < m->program_count; g++) {
        program_args args = m->programs[g];
        args.x = state->x;
        CUDA_TRY(
            svmp_cuda_check(run, ops->launch(state->device, KERNEL_PROGRAM, 64, &args, m->evaluations[g] * run->n)));
    }
    CUDA_TRY(svmp_cuda_check(run, ops->launch(state->device, KERNEL_SUM, 64, &m->at_mean, m->count)));
    CUDA_TRY(svmp_cuda_launch_sums(run, &others));
    CUDA_TRY(svmp_cuda_launch_sums(run, &m->add));
    return svmp_cuda_check(run, ops->launch(state->device, KERNEL_MESSAGE, 64, &m->standardise, m->count));
}
