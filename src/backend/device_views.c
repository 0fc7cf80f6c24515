#include "backend/device_views.h"

#include <string.h>

#include "backend/node_messages.h"
#include "expr/instructions.h"
#include "model/computed.h"
#include "model/program_factors.h"
#include "stein/kernel_units.h"

/* ---- programs ---------------------------------------------------------------------------------------------------- */

const char *svmp_device_lacks(const factor_group *group) {
    if (svmp_computed_group_is(group)) return "recursions that are computed step by step";
    return svmp_program_group_bound(group) ? NULL : "factors given as functions";
}

/* A place of a code block as a kind and a number. */
static uint32_t place_of(const code_block *code, uint32_t place) {
    const size_t from[] = {0, code_place_literals(code), code_place_columns(code), code_place_inputs(code),
                           code_place_outputs(code)};
    uint32_t kind = SVMP_PLACE_OUTPUT;
    while (place < from[kind]) kind--;
    return (uint32_t)(place - from[kind]) | kind << SVMP_PLACE_SHIFT;
}

/* The operands of an operation, a pair or a copy. */
static uint32_t operands_of(uint32_t code) {
    if (code < OP_COUNT) return (uint32_t)svmp_op_arity((expr_op)code);
    return code == CODE_COPY ? 1 : 3;
}

/* A copy of a code block, which may go. */
static svmp_status copy_code(svmp_context *context, const code_block *code, svmp_code_view *view) {
    svmp_instruction *instructions = NULL;
    double *literals = NULL;
    SVMP_TRY(SVMP_NEW(context, instructions, code->count));
    view->instructions = instructions;
    SVMP_TRY(SVMP_NEW(context, literals, code->literal_count));
    view->literals = literals;
    if (code->literal_count) memcpy(literals, code->literals, code->literal_count * sizeof *literals);
    for (size_t k = 0; k < code->count; k++) {
        const code_instruction *from = &code->instructions[k];
        svmp_instruction *to = &instructions[k];
        *to = (svmp_instruction){
            .code = from->code, .out = place_of(code, from->out), .operands = operands_of(from->code)};
        for (size_t p = 0; p < to->operands; p++) to->operand[p] = place_of(code, from->operand[p]);
    }
    view->count = code->count;
    view->literal_count = code->literal_count;
    view->registers = (uint32_t)code->registers;
    return SVMP_OK;
}

static void free_code(svmp_context *context, const svmp_code_view *view) {
    svmp_release_all(context, (void *)view->instructions, (void *)view->literals);
}

/* The derivatives by some slots. */
static svmp_status take_derivatives(svmp_context *context, const factor_group *group, size_t count,
                                    const uint32_t *slots, svmp_code_view *view) {
    program_partial *partial = NULL;
    const bound_program *bound = svmp_program_group_bound(group);
    svmp_status status = svmp_program_partial(bound->compiled, count, slots, &partial);
    if (status == SVMP_OK) status = copy_code(context, &partial->gradient, view);
    svmp_program_partial_free(partial);
    return status;
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

struct viewed_model {
    const svmp_model *model;
    svmp_model_view view;
    svmp_group_view *groups;
    svmp_code_view *derivatives; /* of rows of groups: group first_slot[g] + slot, made when they are first read */
    size_t *first_slot;
};

static int find_derivative(void *source, size_t group, size_t slot, svmp_code_view *view) {
    const viewed_model *m = source;
    svmp_code_view *kept = &m->derivatives[m->first_slot[group] + slot];
    const uint32_t slots[] = {(uint32_t)slot};
    if (kept->instructions == NULL)
        SVMP_TRY(take_derivatives(m->model->context, &m->model->groups[group], 1, slots, kept));
    *view = *kept;
    return SVMP_OK;
}

static svmp_status view_group(const svmp_model *model, size_t g, svmp_group_view *view) {
    const factor_group *group = &model->groups[g];
    uint32_t *slots = NULL;
    svmp_status status;
    const bound_program *bound = svmp_program_group_bound(group);
    *view = (svmp_group_view){.instances = group->instances,
                              .slots = group->slots,
                              .columns = bound->compiled->columns,
                              .first_row = model->group_row[g],
                              .column = bound->columns,
                              .variables = group->variables};
    if (group->instances == 0 || group->slots == 0) return SVMP_OK;
    SVMP_CHECK(SVMP_NEW(model->context, slots, group->slots));
    for (size_t j = 0; j < group->slots; j++) slots[j] = (uint32_t)j;
    SVMP_CHECK(take_derivatives(model->context, group, group->slots, slots, &view->gradient));
done:
    svmp_release(model->context, slots);
    return status;
}

static svmp_status view_model(viewed_model *m) {
    const svmp_model *model = m->model;
    const svmp_graph *graph = model->graph;
    const size_t groups = model->group_count;
    SVMP_TRY(SVMP_NEW(model->context, m->groups, groups));
    SVMP_TRY(SVMP_NEW(model->context, m->first_slot, groups + 1));
    for (size_t g = 0; g < groups; g++) {
        m->first_slot[g + 1] = m->first_slot[g] + model->groups[g].slots;
        SVMP_TRY(view_group(model, g, &m->groups[g]));
    }
    SVMP_TRY(SVMP_NEW(model->context, m->derivatives, m->first_slot[groups]));
    m->view = (svmp_model_view){.nodes = graph->nodes,
                                .moved = graph->moved,
                                .variables = graph->variables,
                                .moved_variables = graph->moved_variables,
                                .part = graph->halo != NULL,
                                .first = graph->first,
                                .node_key = graph->node_key,
                                .variable_key = graph->variable_key,
                                .lower = model->lower,
                                .upper = model->upper,
                                .group_count = groups,
                                .rows = model->group_row[groups],
                                .groups = m->groups,
                                .gather_start = model->gather_start,
                                .gather_row = model->gather_row,
                                .start = model->quadratic.start,
                                .column = model->quadratic.column,
                                .value = model->quadratic.value,
                                .linear = model->quadratic.linear,
                                .neighbourhoods = graph->distinct,
                                .neighbourhood_of = graph->neighbourhood_of,
                                .neighbourhood_start = graph->neighbourhoods.start,
                                .neighbourhood_node = graph->neighbourhoods.item,
                                .derivative = find_derivative,
                                .source = m};
    return SVMP_OK;
}

svmp_status svmp_device_model_create(const svmp_model *model, viewed_model **made) {
    viewed_model *m = NULL;
    SVMP_TRY(SVMP_NEW(model->context, m, 1));
    m->model = model;
    const svmp_status status = view_model(m);
    if (status != SVMP_OK)
        svmp_device_model_free(m);
    else
        *made = m;
    return status;
}

void svmp_device_model_free(viewed_model *m) {
    if (m == NULL) return;
    svmp_context *context = m->model->context;
    for (size_t g = 0; m->groups && g < m->model->group_count; g++) free_code(context, &m->groups[g].gradient);
    for (size_t k = 0; m->derivatives && k < m->first_slot[m->model->group_count]; k++)
        free_code(context, &m->derivatives[k]);
    svmp_release_all(context, m->groups, m->derivatives, m->first_slot, m);
}

const svmp_model_view *svmp_device_model_view(const viewed_model *m) { return &m->view; }

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* The units of a term in lists that grow. */
typedef struct unit_lists {
    size_t *domain_start, *member_start;
    uint32_t *domain, *member;
    size_t domain_capacity, member_capacity;
} unit_lists;

static svmp_status append(const svmp_graph *graph, uint32_t node, size_t shift, uint32_t **list, size_t *capacity,
                          size_t *count) {
    const size_t dimension = svmp_graph_node_dimension(graph, node);
    SVMP_TRY(SVMP_GROW(graph->context, *list, *capacity, *count + dimension));
    for (size_t j = 0; j < dimension; j++) (*list)[(*count)++] = (uint32_t)(graph->first[node] + j + shift);
    return SVMP_OK;
}

static svmp_status append_unit(const svmp_graph *graph, const stein_unit *unit, size_t u, unit_lists *l) {
    size_t rows = l->domain_start[u], members = l->member_start[u];
    for (size_t v = 0; v < unit->domain_count; v++)
        SVMP_TRY(append(graph, unit->domain[v], 0, &l->domain, &l->domain_capacity, &rows));
    if (unit->message)
        SVMP_TRY(append(graph, unit->members[0], graph->variables, &l->domain, &l->domain_capacity, &rows));
    for (size_t v = 0; v < unit->member_count; v++)
        SVMP_TRY(append(graph, unit->members[v], 0, &l->member, &l->member_capacity, &members));
    l->domain_start[u + 1] = rows;
    l->member_start[u + 1] = members;
    return SVMP_OK;
}

static svmp_status view_term(const backend *b, const unit_source *from, const kernel *k, size_t a, size_t n,
                             svmp_term_view *view) {
    const svmp_graph *graph = b->model->graph;
    const kernel_term *term = &k->terms[a];
    unit_lists l = {0};
    svmp_status status;
    if (term->shape->kind == SVMP_SHAPE_OTHER)
        return svmp_fail(b->context, SVMP_UNSUPPORTED, "The backend '%s' does not support the kernel '%s'.",
                         b->local->name, term->shape->name);
    *view = (svmp_term_view){.shape = term->shape->kind,
                             .in_sd = term->metric == METRIC_SD,
                             .weight = term->weight,
                             .bandwidth = (int)term->bandwidth.rule,
                             .fixed = term->bandwidth.fixed,
                             .all = term->domain == DOMAIN_ALL,
                             .multiplies = svmp_term_multiplies(term, n, graph->variables),
                             .random = term->domain == DOMAIN_RANDOM,
                             .neighbours = term->neighbours,
                             .units = svmp_unit_count(graph, term->domain)};
    if (term->shape->value) view->ranked = svmp_bandwidth_ranks(&term->bandwidth, n, &view->lower, &view->upper);
    SVMP_CHECK(SVMP_NEW(b->context, l.domain_start, view->units + 1));
    SVMP_CHECK(SVMP_NEW(b->context, l.member_start, view->units + 1));
    for (size_t u = 0; u < view->units; u++) {
        const stein_unit unit = svmp_unit_find(from, k, a, u);
        SVMP_CHECK(append_unit(graph, &unit, u, &l));
    }
done:
    view->domain_start = l.domain_start;
    view->member_start = l.member_start;
    view->domain = l.domain;
    view->member = l.member;
    return status;
}

_Static_assert((int)BANDWIDTH_MEDIAN == SVMP_BANDWIDTH_MEDIAN && (int)BANDWIDTH_MEDIAN_LOG == SVMP_BANDWIDTH_MEDIAN_LOG,
               "the same numbers");
_Static_assert((int)BANDWIDTH_MEDIAN_ZEROS == SVMP_BANDWIDTH_MEDIAN_ZEROS &&
                   (int)BANDWIDTH_FIXED == SVMP_BANDWIDTH_FIXED,
               "the same numbers");

svmp_status svmp_device_kernel_create(const backend *b, const kernel *k, size_t n, viewed_kernel **made) {
    const svmp_graph *graph = b->model->graph;
    viewed_kernel *view = NULL;
    uint32_t *nodes = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(b->context, view, 1));
    SVMP_CHECK(SVMP_NEW(b->context, nodes, graph->nodes));
    for (size_t v = 0; v < graph->nodes; v++) nodes[v] = (uint32_t)v;
    const unit_source from = {graph, nodes, b->messages ? b->messages->hubs : NULL};
    view->view = (svmp_kernel_view){
        .count = k->count, .terms = view->term, .has_message = b->messages ? b->messages->has_message : NULL};
    for (size_t a = 0; a < k->count; a++) SVMP_CHECK(view_term(b, &from, k, a, n, &view->term[a]));
done:
    svmp_release(b->context, nodes);
    if (status == SVMP_OK)
        *made = view;
    else
        svmp_device_kernel_free(b->context, view);
    return status;
}

void svmp_device_kernel_free(svmp_context *context, viewed_kernel *made) {
    if (made == NULL) return;
    for (size_t a = 0; a < KERNEL_TERMS_MAX; a++)
        svmp_release_all(context, (void *)made->term[a].domain_start, (void *)made->term[a].member_start,
                         (void *)made->term[a].domain, (void *)made->term[a].member);
    svmp_release(context, made);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

svmp_status svmp_device_step(const backend *b, svmp_step_view *view) {
    const step_rule *rule = b->rule;
    *view = (svmp_step_view){0};
    if (rule == NULL) return SVMP_OK;
    if (rule->kind == SVMP_STEP_OTHER)
        return svmp_fail(b->context, SVMP_UNSUPPORTED, "The backend '%s' does not support the step '%s'.",
                         b->local->name, rule->name);
    *view = (svmp_step_view){rule->kind, rule->in_sd, rule->states, rule->decay1, rule->decay2, rule->delta};
    return SVMP_OK;
}
