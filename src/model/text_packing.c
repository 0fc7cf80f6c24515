/* The nodes of a part of a model text as bytes: their names, natural scale and priors. */
#include "model/text_model.h"

static void pack_distribution(packing *p, const distribution **family) {
    char *name = p->loading ? NULL : (char *)(uintptr_t)(*family)->name; /* only read */
    svmp_pack_text(p, &name);
    if (!p->loading || p->status != SVMP_OK) return;
    *family = name ? svmp_distribution_find(name) : NULL;
    if (*family == NULL) svmp_pack_refuse(p, "has a distribution that this version of svmp does not know");
    svmp_release(p->context, name);
}

static void pack_node(packing *p, const lowered_model *part, lowered_node *node) {
    svmp_pack_text(p, &node->name);
    svmp_pack_count(p, &node->variable);
    svmp_pack_count(p, &node->variables);
    svmp_pack_count(p, &node->output);
    svmp_pack_count(p, &node->outputs);
    svmp_pack_count(p, &node->key);
    SVMP_PACK(p, node->transform);
    pack_distribution(p, &node->distribution);
    SVMP_PACK(p, node->prior);
    SVMP_PACK(p, node->instance);
    SVMP_PACK(p, node->level);
    SVMP_PACK(p, node->location_scale);
    svmp_pack_real(p, &node->coordinates.centring);
    svmp_pack_real(p, &node->coordinates.information);
    svmp_pack_real(p, &node->coordinates.centre);
    SVMP_PACK(p, node->state_slope);
    if (p->loading && (node->name == NULL || node->variables > part->variables ||
                       node->variable > part->variables - node->variables || node->outputs > part->outputs ||
                       node->output > part->outputs - node->outputs || node->prior >= part->prior_count ||
                       node->transform > TRANSFORM_ZERO_SUM))
        svmp_pack_refuse(p, "is damaged");
}

static void pack_outputs(packing *p, lowered_model *part) {
    SVMP_PACK_NEW(p, part->drawn, part->outputs);
    for (size_t k = 0; k < part->outputs && p->status == SVMP_OK; k++) {
        svmp_pack_text(p, &part->names[k]);
        if (p->loading && part->names[k] == NULL) svmp_pack_refuse(p, "is damaged");
    }
    svmp_pack_numbers(p, part->outputs, &part->parts);
    svmp_pack_reals(p, part->outputs, &part->lower);
    svmp_pack_reals(p, part->outputs, &part->upper);
    svmp_pack_indices(p, part->outputs, part->whole_outputs, &part->whole_output);
}

static void pack_prior(packing *p, size_t variables, lowered_prior *prior) {
    lowered_values *values = &prior->values;
    svmp_program_pack(p, &values->program);
    if (p->status == SVMP_OK) svmp_bound_pack(p, values->program, &values->bound);
    if (p->status != SVMP_OK) return;
    const size_t slots = svmp_program_slots(values->program), instances = svmp_bound_instances(values->bound);
    if (slots > 0 && instances > SIZE_MAX / 8 / slots) svmp_pack_refuse(p, "is damaged");
    svmp_pack_indices(p, instances * slots, variables, &values->variables);
    size_t *sizes[] = {&prior->rows, &prior->columns, &prior->arguments, &prior->bounds};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) svmp_pack_count(p, sizes[k]);
    for (size_t j = 0; j < DISTRIBUTION_ARGUMENTS; j++) {
        svmp_pack_count(p, &prior->argument_rows[j]);
        svmp_pack_count(p, &prior->argument_columns[j]);
    }
    SVMP_PACK(p, prior->leaf);
    size_t values_needed = 2 * prior->bounds;
    for (size_t j = 0; p->loading && j < prior->arguments && j < DISTRIBUTION_ARGUMENTS; j++)
        values_needed += prior->argument_rows[j] * prior->argument_columns[j];
    if (p->loading &&
        (prior->arguments > DISTRIBUTION_ARGUMENTS || values_needed > svmp_program_outputs(values->program)))
        svmp_pack_refuse(p, "is damaged");
}

void svmp_lowered_pack(packing *p, const svmp_graph *graph, lowered_model **part) {
    lowered_model *made = *part;
    SVMP_PACK_NEW(p, made, 1);
    if (p->status != SVMP_OK) return;
    *part = made;
    made->context = p->context;
    size_t *sizes[] = {&made->variables, &made->outputs, &made->whole_outputs, &made->levels, &made->observed};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) svmp_pack_count(p, sizes[k]);
    SVMP_PACK(p, made->dependent_bounds);
    SVMP_PACK(p, made->potentials);
    size_t priors = made->prior_count, nodes = made->node_count, outputs = made->outputs;
    svmp_pack_length(p, &outputs, 8);
    svmp_pack_length(p, &priors, 8);
    svmp_pack_length(p, &nodes, 8);
    if (made->variables != graph->variables || nodes != graph->moved || outputs != made->outputs)
        svmp_pack_refuse(p, "is damaged");
    if (p->loading) made->outputs = 0; /* until there are names */
    SVMP_PACK_NEW(p, made->priors, priors);
    SVMP_PACK_NEW(p, made->nodes, nodes);
    SVMP_PACK_NEW(p, made->names, outputs);
    if (p->status != SVMP_OK) return;
    made->outputs = outputs;
    made->prior_count = priors;
    made->node_count = nodes;
    pack_outputs(p, made);
    for (size_t k = 0; k < priors && p->status == SVMP_OK; k++) pack_prior(p, graph->variables, &made->priors[k]);
    for (size_t k = 0; k < nodes && p->status == SVMP_OK; k++) {
        pack_node(p, made, &made->nodes[k]);
        if (p->status == SVMP_OK &&
            made->nodes[k].instance >= svmp_bound_instances(made->priors[made->nodes[k].prior].values.bound))
            svmp_pack_refuse(p, "is damaged");
    }
    svmp_pack_indices(p, nodes, nodes, &made->by_level);
}
