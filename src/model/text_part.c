/* A part of a lowered model: the nodes that one process moves. */
#include <string.h>

#include "base/notes.h"
#include "model/text_model.h"

static svmp_status alloc(lowered_model *part, size_t nodes, size_t outputs, size_t priors) {
    svmp_context *context = part->context;
    SVMP_TRY(SVMP_NEW(context, part->nodes, nodes));
    SVMP_TRY(SVMP_NEW(context, part->by_level, nodes));
    SVMP_TRY(SVMP_NEW(context, part->names, outputs));
    SVMP_TRY(SVMP_NEW(context, part->parts, outputs));
    SVMP_TRY(SVMP_NEW(context, part->lower, outputs));
    SVMP_TRY(SVMP_NEW(context, part->upper, outputs));
    SVMP_TRY(SVMP_NEW(context, part->whole_output, outputs));
    SVMP_TRY(SVMP_NEW(context, part->drawn, outputs));
    return SVMP_NEW(context, part->priors, priors);
}

static svmp_status copy_node(const lowered_model *whole, const lowered_node *from, lowered_model *part,
                             lowered_node *to) {
    SVMP_TRY(svmp_duplicate(part->context, from->name, &to->name));
    to->output = part->outputs;
    for (size_t k = 0; k < from->outputs; k++) {
        const size_t here = part->outputs, there = from->output + k;
        part->outputs++;
        SVMP_TRY(svmp_duplicate(part->context, whole->names[there], &part->names[here]));
        part->parts[here] = whole->parts[there];
        part->lower[here] = whole->lower[there];
        part->upper[here] = whole->upper[there];
        part->drawn[here] = whole->drawn[there];
        part->whole_output[here] = (uint32_t)there;
    }
    return SVMP_OK;
}

static svmp_status copy_own(const lowered_model *whole, const lowered_node *from, const uint32_t *local,
                            lowered_model *part) {
    lowered_node *to = &part->nodes[part->node_count];
    *to = *from;
    to->name = NULL;
    part->node_count++;
    if (from->variables > 0) to->variable = local[from->variable];
    return copy_node(whole, from, part, to);
}

static svmp_status copy_values(svmp_context *context, const lowered_values *from, lowered_values *to) {
    const size_t count = svmp_bound_instances(from->bound), slots = svmp_program_slots(from->program);
    uint32_t *which = NULL;
    *to = (lowered_values){.program = svmp_program_share(from->program)};
    SVMP_TRY(SVMP_NEW(context, to->variables, count * slots));
    if (count * slots > 0) memcpy(to->variables, from->variables, count * slots * sizeof *to->variables);
    SVMP_TRY(SVMP_NEW(context, which, count));
    for (size_t k = 0; k < count; k++) which[k] = (uint32_t)k;
    svmp_status status = svmp_bound_keep(from->bound, count, which, &to->bound);
    svmp_release(context, which);
    return status;
}

/* The instances of prior p that the part's nodes have, in the order of the nodes, which learn their new places. */
static svmp_status copy_prior(const lowered_model *whole, size_t p, const uint32_t *local, bool first,
                              lowered_model *part, uint32_t *which) {
    const lowered_prior *from = &whole->priors[p];
    lowered_prior *to = &part->priors[p];
    size_t count = 0;
    if (from->leaf && first) {
        *to = *from;
        part->prior_count++;
        return copy_values(part->context, &from->values, &to->values);
    }
    for (size_t k = 0; k < part->node_count; k++)
        if (part->nodes[k].prior == p) {
            which[count] = part->nodes[k].instance;
            part->nodes[k].instance = (uint32_t)count++;
        }
    *to = *from;
    to->values = (lowered_values){.program = svmp_program_share(from->values.program)};
    part->prior_count++;
    SVMP_TRY(svmp_bound_keep(from->values.bound, count, which, &to->values.bound));
    const size_t slots = svmp_program_slots(from->values.program);
    SVMP_TRY(SVMP_NEW(part->context, to->values.variables, count * slots));
    for (size_t k = 0; k < count; k++)
        for (size_t j = 0; j < slots; j++) {
            const uint32_t here = local[from->values.variables[which[k] * slots + j]];
            if (here == UINT32_MAX) /* of a node that is not centred, and that nothing depends on */
                return svmp_fail_notes(part->context, SVMP_UNSUPPORTED,
                                       NOTES(svmp_advice(SVMP_NOTE_USE, "coordinates", "centred")),
                                       "The location or the scale of a node belongs to another process.");
            to->values.variables[k * slots + j] = here;
        }
    return SVMP_OK;
}

/* The part's nodes in the whole's order of levels. */
static svmp_status order_levels(const lowered_model *whole, const svmp_graph *graph, lowered_model *part) {
    uint32_t *here = NULL; /* node of the whole -> 1 + its number here */
    size_t count = 0;
    SVMP_TRY(SVMP_NEW(part->context, here, whole->node_count));
    for (size_t k = 0; k < part->node_count; k++) here[graph->node_key[k]] = (uint32_t)k + 1;
    for (size_t k = 0; k < whole->node_count; k++)
        if (here[whole->by_level[k]]) part->by_level[count++] = here[whole->by_level[k]] - 1;
    svmp_release(part->context, here);
    return SVMP_OK;
}

/* The leaves, of the variables of the whole and with outputs behind those of the part's nodes; of all of them the
 * names, which are no names of unknowns that a start must have. */
static svmp_status copy_leaves(const lowered_model *whole, bool first, lowered_model *part) {
    svmp_context *context = part->context;
    for (size_t k = 0; k < whole->drawn_names.count; k++) {
        const char *name = whole->drawn_names.text[k];
        SVMP_TRY(svmp_names_add(context, &part->drawn_names, name, strlen(name), &(uint32_t){0}));
    }
    part->leaf_variables = whole->leaf_variables;
    if (!first) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(context, part->leaves, whole->leaf_count));
    SVMP_TRY(SVMP_NEW(context, part->leaves_by_level, whole->leaf_count));
    for (size_t k = 0; k < whole->leaf_count; k++) {
        lowered_node *to = &part->leaves[part->leaf_count++];
        *to = whole->leaves[k];
        to->name = NULL;
        part->leaves_by_level[k] = whole->leaves_by_level[k];
        SVMP_TRY(copy_node(whole, &whole->leaves[k], part, to));
    }
    return SVMP_OK;
}

/* The discrete unknowns, of the variables of the whole: the first process draws them. */
static svmp_status copy_summed(const lowered_model *whole, bool first, lowered_model *part) {
    svmp_context *context = part->context;
    const lowered_summed *from = &whole->summed;
    lowered_summed *to = &part->summed;
    part->discrete_count = whole->discrete_count;
    if (!first) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(context, to->unknowns, from->count));
    SVMP_TRY(SVMP_NEW(context, to->components, from->component_count));
    SVMP_TRY(SVMP_NEW(context, to->steps, from->step_count));
    SVMP_TRY(SVMP_NEW(context, to->given, from->given_count));
    SVMP_TRY(SVMP_NEW(context, to->values, from->value_count));
    for (; to->count < from->count; to->count++) {
        to->unknowns[to->count] = from->unknowns[to->count];
        to->unknowns[to->count].name = NULL;
        SVMP_TRY(svmp_duplicate(context, from->unknowns[to->count].name, &to->unknowns[to->count].name));
    }
    for (size_t k = 0; k < from->component_count; k++) to->components[to->component_count++] = from->components[k];
    for (size_t k = 0; k < from->step_count; k++) to->steps[to->step_count++] = from->steps[k];
    for (size_t k = 0; k < from->given_count; k++) to->given[to->given_count++] = from->given[k];
    for (size_t k = 0; k < from->value_count; k++) {
        const lowered_values values = {from->values[k].program, from->values[k].bound, from->values[k].variables};
        lowered_values copy = {0};
        const svmp_status status = copy_values(context, &values, &copy);
        to->values[to->value_count++] = (discrete_values){copy.program, copy.bound, copy.variables};
        SVMP_TRY(status);
    }
    return SVMP_OK;
}

/* What is monitored, of the variables of the whole; and the names of what is computed. */
static svmp_status copy_monitors(const lowered_model *whole, lowered_model *part) {
    svmp_context *context = part->context;
    SVMP_TRY(SVMP_NEW(context, part->monitors, whole->monitor_count));
    SVMP_TRY(SVMP_NEW(context, part->monitor_values, whole->monitor_value_count));
    for (; part->monitor_count < whole->monitor_count; part->monitor_count++) {
        lowered_monitor *to = &part->monitors[part->monitor_count];
        *to = whole->monitors[part->monitor_count];
        to->name = NULL;
        SVMP_TRY(svmp_duplicate(context, whole->monitors[part->monitor_count].name, &to->name));
    }
    for (size_t k = 0; k < whole->monitor_value_count; k++) {
        part->monitor_value_count++; /* it is there, if only in part */
        SVMP_TRY(copy_values(context, &whole->monitor_values[k], &part->monitor_values[k]));
    }
    for (size_t k = 0; k < whole->computed.count; k++) {
        const char *name = whole->computed.text[k];
        SVMP_TRY(svmp_names_add(context, &part->computed, name, strlen(name), &(uint32_t){0}));
    }
    return SVMP_OK;
}

/* What is known of arrays that are so in part: the first process, which writes the file of all, has columns for it. */
static svmp_status copy_known(const lowered_model *whole, lowered_model *part) {
    SVMP_TRY(SVMP_NEW(part->context, part->arrays, whole->array_count));
    for (size_t k = 0; k < whole->array_count; k++) {
        const lowered_array *from = &whole->arrays[k];
        size_t count = 1;
        if (from->known == NULL) continue;
        for (size_t d = 0; d < from->rank; d++) count *= from->dimensions[d];
        lowered_array *to = &part->arrays[part->array_count++];
        to->rank = from->rank;
        memcpy(to->dimensions, from->dimensions, sizeof to->dimensions);
        SVMP_TRY(svmp_duplicate(part->context, from->name, &to->name));
        SVMP_TRY(SVMP_NEW(part->context, to->known, count));
        memcpy(to->known, from->known, count * sizeof *to->known);
    }
    return SVMP_OK;
}

svmp_status svmp_lowered_part(const lowered_model *whole, const svmp_graph *graph, const uint32_t *local, bool first,
                              lowered_model **part) {
    svmp_context *context = whole->context;
    svmp_status status;
    lowered_model *made = NULL;
    uint32_t *which = NULL;
    size_t outputs = 0;
    for (size_t k = 0; k < graph->moved; k++) outputs += whole->nodes[graph->node_key[k]].outputs;
    if (first) outputs += whole->drawn_names.count;
    SVMP_CHECK(SVMP_NEW(context, made, 1));
    *made = (lowered_model){.context = context, .whole_outputs = whole->outputs};
    made->variables = graph->variables;
    made->levels = (size_t)whole->nodes[whole->by_level[whole->node_count - 1]].level + 1;
    made->dependent_bounds = whole->dependent_bounds;
    made->observed = whole->observed;
    SVMP_CHECK(alloc(made, graph->moved, outputs, whole->prior_count));
    SVMP_CHECK(SVMP_NEW(context, which, graph->moved));
    for (size_t k = 0; k < graph->moved; k++)
        SVMP_CHECK(copy_own(whole, &whole->nodes[graph->node_key[k]], local, made));
    for (size_t p = 0; p < whole->prior_count; p++) SVMP_CHECK(copy_prior(whole, p, local, first, made, which));
    SVMP_CHECK(copy_leaves(whole, first, made));
    SVMP_CHECK(order_levels(whole, graph, made));
    SVMP_CHECK(copy_summed(whole, first, made));
    SVMP_CHECK(copy_monitors(whole, made));
    if (first) SVMP_CHECK(copy_known(whole, made));
    *part = made;
    made = NULL;
done:
    svmp_release(context, which);
    svmp_lowered_free(made);
    return status;
}
