/* One instance of '~' or factor() becomes a factor. */
#include "lang/compile/factor_builder.h"

#include "lang/compile/dense_normals.h"
#include "lang/compile/driven_states.h"
#include "lang/compile/moved_coordinates.h"
#include "lang/discrete/discrete_unknowns.h"

#include <math.h>
#include <string.h>

/* ---- values ----------------------------------------------------------------------------------- */

static svmp_status build_values(model_lowering *lowering, factor_work *factor) {
    model_element *elements = lowering->elements + lowering->arrays[factor->statement->left->symbol].first;
    const model_instance *instance = &lowering->instances[factor->instance];
    factor->values = factor->expressions + factor->count;
    factor->value_numbers = factor->numbers + factor->count;
    factor->jacobian = svmp_expr_literal(lowering->builder, 0);
    if (instance->node != NOTHING && !instance->leaf)
        SVMP_TRY(svmp_node_natural(lowering, factor->instance, &factor->jacobian));
    for (size_t k = 0; k < factor->offsets.count; k++) {
        model_element *one = &elements[(size_t)lowering->items[factor->offsets.first + k].number];
        const bool difference = one->state == ELEMENT_DIFFERENCE, unknown = difference || one->state == ELEMENT_UNKNOWN;
        if (difference && one->stamp != lowering->stamp) SVMP_TRY(svmp_difference_read(lowering, one));
        model_item item = !unknown ? svmp_item_number(one->value) : instance->leaf ? svmp_item_literal(0) : one->memo;
        if (one->state == ELEMENT_DISCRETE) SVMP_TRY(svmp_discrete_read(lowering, one->output, &item));
        if (one->state == ELEMENT_REMAINDER) SVMP_TRY(svmp_remainder_read(lowering, one->output, &item));
        factor->value_numbers[k] = unknown ? NAN : item.number;
        SVMP_TRY(svmp_item_build(lowering, item, &factor->values[k]));
    }
    factor->count += factor->offsets.count;
    return SVMP_OK;
}

/* ---- density -------------------------------------------------------------------------------- */

/* The density of one element, or of a whole vector or matrix. If the support depends on unknowns, it requires that the
 * observed value stays inside. */
static expr density_of(program_builder *builder, const factor_work *factor, expr_array x, const expr_array *arguments,
                       bool unknown) {
    truncation truncated = {factor->statement->lower ? &factor->lower : NULL,
                            factor->statement->upper ? &factor->upper : NULL};
    const truncation *bounds = factor->statement->bounds ? &truncated : NULL;
    const bool inside = unknown || (svmp_factor_can_check(factor) && (bounds == NULL || factor->known_arguments));
    const distribution *family = factor->distribution;
    const bool impossible = factor->summed && !inside && family->rank == RANK_SCALAR; /* under these values: -inf */
    expr density = svmp_distribution_log_density(builder, family, x, arguments, bounds, !impossible);
    if (inside || impossible || family->rank != RANK_SCALAR) return density;
    expr required = svmp_distribution_require_value(builder, family, x.items[0], arguments, bounds);
    return svmp_expr_add(builder, density, required);
}

static expr density(model_lowering *lowering, const factor_work *factor) {
    program_builder *builder = lowering->builder;
    size_t rows, columns;
    if (!factor->elementwise) {
        bool unknown = lowering->instances[factor->instance].node != NOTHING;
        svmp_rows_and_columns(&factor->offsets, &rows, &columns);
        return density_of(builder, factor, (expr_array){rows, columns, factor->values}, factor->arguments, unknown);
    }
    const bool leaf = lowering->instances[factor->instance].leaf;
    expr sum = svmp_expr_literal(builder, 0);
    for (size_t part = 0; part < factor->offsets.count; part++) {
        if ((leaf || factor->likelihood) && isnan(factor->value_numbers[part])) continue; /* drawn, given the others */
        expr_array arguments[DISTRIBUTION_ARGUMENTS];
        for (size_t k = 0; k < factor->evaluated.count; k++) {
            size_t which = factor->evaluated.arguments[k].count == 1 ? 0 : part;
            arguments[k] = (expr_array){1, 1, factor->arguments[k].items + which};
        }
        expr one = density_of(builder, factor, (expr_array){1, 1, factor->values + part}, arguments,
                              isnan(factor->value_numbers[part]));
        sum = svmp_expr_add(builder, sum, one);
    }
    return sum;
}

/* Of dinterval, what its bound leaves: cut points that depend on unknowns ascend, and a known t lies between its own.
 */
static expr require_interval(program_builder *builder, const factor_work *factor) {
    const size_t observed = (size_t)factor->value_numbers[0], count = factor->arguments[1].rows;
    const expr *cut = factor->arguments[1].items, t = factor->arguments[0].items[0];
    const bool known = !isnan(factor->argument_numbers[0].items[0]);
    expr sum = svmp_expr_literal(builder, 0);
    for (size_t k = 0; k < count; k++) {
        expr low = k > 0 ? cut[k - 1] : cut[k], above = svmp_expr_subtract(builder, cut[k], low);
        if (k > 0) sum = svmp_expr_add(builder, sum, svmp_expr_require(builder, above));
        if (!known || (k + 1 != observed && k != observed)) continue;
        expr side = k == observed ? svmp_expr_subtract(builder, cut[k], t) : svmp_expr_subtract(builder, t, cut[k]);
        sum = svmp_expr_add(builder, sum, svmp_expr_require(builder, side));
    }
    return sum;
}

svmp_status svmp_factor_finish(model_lowering *lowering, uint32_t which, expr total) {
    factor_pattern *pattern = &lowering->patterns[which];
    SVMP_TRY(svmp_builder_status(lowering->builder));
    SVMP_TRY(svmp_program_finish(lowering->builder, total, lowering->slot_count, lowering->parameter_count,
                                 &pattern->program));
    lowering->expressions += svmp_builder_size(lowering->builder);
    if (lowering->expressions > 50 * LOWERING_MOST_EXPRESSIONS)
        return svmp_lowering_error(lowering, lowering->statement->offset,
                                   "the factors expand to more than %u operations", 50 * LOWERING_MOST_EXPRESSIONS);
    return SVMP_OK;
}

/* ---- priors: what an unknown node is drawn from ------------------------------------------------ */

/* Vectors have bounds where their elements are censored. */
static bool has_bounds(const factor_work *factor, const lowered_node *node) {
    switch (node->transform) {
    case TRANSFORM_ABOVE:
    case TRANSFORM_BELOW:
    case TRANSFORM_BETWEEN:
    case TRANSFORM_MIXED: return true;
    default: return factor->distribution->rank == RANK_SCALAR;
    }
}

/* Arguments, of a state rest and slope, then the bounds of each output. */
static svmp_status build_prior(model_lowering *lowering, const factor_work *factor, const lowered_node *node,
                               expr *outputs) {
    memcpy(outputs, factor->expressions, factor->count * sizeof *outputs);
    outputs += factor->count;
    if (node->state_slope) SVMP_TRY(svmp_state_line(lowering, factor->instance, &outputs[0], &outputs[1]));
    if (node->state_slope) outputs += 2;
    for (size_t k = 0; has_bounds(factor, node) && k < node->outputs; k++) {
        model_item lower, upper;
        size_t output = node->output + k;
        SVMP_TRY(svmp_node_bounds(lowering, factor->distribution, &factor->evaluated, lowering->result->parts[output],
                                  lowering->element_of[output], &lower, &upper));
        SVMP_TRY(svmp_item_build(lowering, lower, outputs++));
        SVMP_TRY(svmp_item_build(lowering, upper, outputs++));
    }
    return SVMP_OK;
}

static svmp_status add_prior_pattern(model_lowering *lowering, const factor_work *factor, lowered_node *node,
                                     size_t count, const expr *outputs) {
    lowered_prior shape = {.arguments = factor->evaluated.count, .leaf = lowering->instances[factor->instance].leaf};
    uint64_t words[2 * DISTRIBUTION_ARGUMENTS + 5];
    size_t length = 0;
    if (has_bounds(factor, node)) shape.bounds = node->outputs;
    svmp_rows_and_columns(&factor->offsets, &shape.rows, &shape.columns);
    words[length++] = factor->statement->offset;
    words[length++] = shape.rows;
    words[length++] = shape.columns;
    words[length++] = node->outputs;
    words[length++] = shape.leaf;
    for (size_t k = 0; k < factor->evaluated.count; k++) {
        words[length++] = shape.argument_rows[k] = factor->arguments[k].rows;
        words[length++] = shape.argument_columns[k] = factor->arguments[k].columns;
    }
    SVMP_TRY(
        svmp_pattern_add_values(lowering, PATTERN_PRIOR, length, words, count, outputs, &node->prior, &node->instance));
    lowering->patterns[node->prior].shape = shape;
    return SVMP_OK;
}

/* Comes before the values: the builder's expressions are those of the arguments, to which the bounds are added. */
static svmp_status add_prior(model_lowering *lowering, const factor_work *factor) {
    lowered_node *node = svmp_instance_node(lowering, factor->instance);
    if (node == NULL) return SVMP_OK;
    size_t count = factor->count + (has_bounds(factor, node) ? 2 * node->outputs : 0) + (node->state_slope ? 2 : 0);
    expr *outputs;
    SVMP_TRY(SVMP_NEW(lowering->context, outputs, count));
    svmp_status status = build_prior(lowering, factor, node, outputs);
    if (status == SVMP_OK) status = add_prior_pattern(lowering, factor, node, count, outputs);
    svmp_release(lowering->context, outputs);
    return status;
}

/* ---- statements ----------------------------------------------------------------------------- */

/* A leaf without observed elements has no factor: it is only drawn. */
static bool is_drawn_whole(const model_lowering *lowering, const factor_work *factor) {
    const model_instance *instance = &lowering->instances[factor->instance];
    return instance->leaf && lowering->result->leaves[instance->node].outputs == factor->offsets.count;
}

/* The factor of a node that is moved in other coordinates, from nothing: what its density does not depend on has no
 * slots. `picked` distinguishes structures. */
typedef struct moved_factor {
    const lowered_node *node;
    size_t count;
    expr *picked;
} moved_factor;

static svmp_status try_moved(model_lowering *lowering, void *work) {
    const moved_factor *moved = work;
    const lowered_node *node = moved->node;
    const uint64_t kind = node->state_slope ? (uint64_t)(3 + node->state_slope) : node->coordinates.centring > 0;
    uint64_t words[3] = {lowering->statement->offset, node->outputs, kind};
    uint32_t which;
    expr density = {0};
    lowering->item_count = 0;
    SVMP_TRY(node->state_slope ? svmp_state_density(lowering, node, moved->picked, &density)
                               : svmp_coordinates_density(lowering, node, moved->picked, &density));
    return svmp_pattern_add_factor(lowering, PATTERN_FACTOR, 3, words, moved->count, moved->picked, density, &which,
                                   NULL);
}

static svmp_status add_moved(model_lowering *lowering, const lowered_node *node) {
    moved_factor moved = {.node = node,
                          .count = node->variables * (lowering->statement->argument_count + 1) +
                                   (node->state_slope ? 2 : 0)};
    SVMP_TRY(svmp_begin_instance(lowering));
    SVMP_TRY(SVMP_NEW(lowering->context, moved.picked, moved.count));
    svmp_status status = svmp_with_chains(lowering, try_moved, &moved);
    svmp_release(lowering->context, moved.picked);
    return status;
}

/* The distribution from which the unknown elements of a leaf are drawn. */
static svmp_status add_leaf(model_lowering *lowering, factor_work *factor) {
    SVMP_TRY(svmp_factor_begin(lowering, factor));
    SVMP_TRY(add_prior(lowering, factor));
    factor->drawn_whole = is_drawn_whole(lowering, factor);
    return SVMP_OK;
}

/* The density of a node; of a leaf, that of its observed elements. */
static svmp_status add_density(model_lowering *lowering, factor_work *factor) {
    const lowered_node *node = svmp_instance_node(lowering, factor->instance);
    SVMP_TRY(svmp_factor_begin(lowering, factor));
    if (!lowering->instances[factor->instance].leaf && !lowering->storing) SVMP_TRY(add_prior(lowering, factor));
    if (node && svmp_node_is_moved(node)) return add_moved(lowering, node);
    SVMP_TRY(build_values(lowering, factor));
    if (lowering->scope_count > 0) return SVMP_OK; /* a table: elimination.c */
    SVMP_TRY(svmp_factor_check_values(lowering, factor));
    if (lowering->slot_count == 0) return SVMP_OK; /* a constant */
    if (lowering->storing && lowering->instances[factor->instance].dense) {
        bool added;
        SVMP_TRY(svmp_dense_add(lowering, factor, &added));
        if (added) return SVMP_OK;
    }
    const bool interval = factor->distribution->support == SUPPORT_INTERVAL_INDEX;

    uint64_t words[4] = {factor->statement->offset, factor->offsets.count, factor->jacobian.index};
    uint32_t which;
    bool fresh;
    if (interval) words[3] = (uint64_t)factor->value_numbers[0]; /* which cut points are looked at */
    SVMP_TRY(svmp_pattern_find(lowering, PATTERN_FACTOR, 4, words, factor->count, factor->expressions, &which, &fresh));
    if (fresh) {
        expr total = interval ? require_interval(lowering->builder, factor)
                              : svmp_expr_add(lowering->builder, density(lowering, factor), factor->jacobian);
        bool constant = svmp_expr_level(lowering->builder, total) != LEVEL_INPUT; /* dflat: no program, no factor */
        if (!constant) SVMP_TRY(svmp_factor_finish(lowering, which, total));
    }
    return svmp_pattern_append(lowering, which, NULL);
}

static svmp_status check_potential(model_lowering *lowering, model_item potential) {
    if (!svmp_item_known(potential) || !isnan(potential.number)) return SVMP_OK;
    return svmp_lowering_error(lowering, lowering->statement->arguments[0]->offset, "the value is not a number");
}

static svmp_status add_potential(model_lowering *lowering, factor_work *factor) {
    model_item potential;
    expr built;
    SVMP_TRY(svmp_expand_scalar(lowering, factor->statement->arguments[0], &potential));
    if (lowering->scope_count > 0) return SVMP_OK; /* a table: elimination.c */
    SVMP_TRY(check_potential(lowering, potential));
    if (svmp_item_known(potential)) return SVMP_OK;
    SVMP_TRY(svmp_item_build(lowering, potential, &built));
    uint64_t words[1] = {factor->statement->offset};
    uint32_t which;
    return svmp_pattern_add_factor(lowering, PATTERN_FACTOR, 1, words, 1, &built, built, &which, NULL);
}

/* The prior of a node whose factor reads stored elements as rows. */
static svmp_status add_prior_alone(model_lowering *lowering, factor_work *factor) {
    SVMP_TRY(svmp_factor_begin(lowering, factor));
    return add_prior(lowering, factor);
}

typedef svmp_status (*factor_maker)(model_lowering *lowering, factor_work *factor);

/* What to build from an instance, and the result. */
typedef struct factor_task {
    uint32_t instance;
    factor_maker make;
    bool likelihood, refused; /* as in factor_work; the others are results */
    bool drawn_whole;
    expr entry;
} factor_task;

static svmp_status try_factor(model_lowering *lowering, void *work) {
    factor_task *task = work;
    factor_work factor = {.instance = task->instance,
                          .statement = lowering->statement,
                          .distribution = lowering->statement->distribution,
                          .likelihood = task->likelihood,
                          .refused = task->refused};
    lowering->item_count = 0;
    svmp_status status = task->make(lowering, &factor);
    task->drawn_whole = factor.drawn_whole;
    task->entry = factor.entry;
    svmp_factor_free(lowering, &factor);
    return status;
}

static svmp_status make_factor(model_lowering *lowering, factor_task *task) {
    SVMP_TRY(svmp_begin_instance(lowering));
    return svmp_with_chains(lowering, try_factor, task);
}

svmp_status svmp_add_factor(model_lowering *lowering, uint32_t which) {
    place before = svmp_enter(lowering, which);
    factor_task prior = {.instance = which}, factor = {.instance = which};
    svmp_status status = SVMP_OK;
    if (lowering->instances[which].settled) return svmp_leave(lowering, before), SVMP_OK;
    const bool storing = lowering->storing;
    lowering->factor = which;
    lowering->storing = false; /* values are drawn and reported without rows */
    if (lowering->instances[which].leaf)
        prior.make = add_leaf;
    else if (storing && svmp_instance_node(lowering, which))
        prior.make = add_prior_alone;
    lowering->drawn = prior.make == add_leaf; /* discrete unknowns have values by then */
    if (prior.make) status = make_factor(lowering, &prior);
    lowering->drawn = false;
    lowering->storing = storing;
    factor.make = lowering->statement->kind == AST_FACTOR ? add_potential : add_density;
    if (status == SVMP_OK && !prior.drawn_whole) status = make_factor(lowering, &factor);
    if (status == SVMP_OK && lowering->scope_count > 0) status = svmp_discrete_note(lowering, which);
    svmp_scope_clear(lowering);
    lowering->factor = NOTHING;
    svmp_leave(lowering, before);
    return status;
}

/* ---- tables ------------------------------------------------------------------------------------ */

/* Whether the observed values can be, under the values of the discrete unknowns: if not, that is no error. */
static bool is_possible(model_lowering *lowering, const factor_work *factor) {
    const bool shaping = lowering->shaping;
    lowering->shaping = true; /* nothing is said */
    const svmp_status status = svmp_factor_check_values(lowering, factor);
    lowering->shaping = shaping;
    return status == SVMP_OK;
}

static svmp_status density_entry(model_lowering *lowering, factor_work *factor) {
    SVMP_TRY(svmp_factor_begin(lowering, factor));
    SVMP_TRY(build_values(lowering, factor));
    factor->summed = true;
    factor->entry = !factor->impossible && is_possible(lowering, factor)
                        ? svmp_expr_add(lowering->builder, density(lowering, factor), factor->jacobian)
                        : svmp_expr_literal(lowering->builder, -INFINITY);
    return SVMP_OK;
}

static svmp_status potential_entry(model_lowering *lowering, factor_work *factor) {
    model_item potential;
    SVMP_TRY(svmp_expand_scalar(lowering, factor->statement->arguments[0], &potential));
    SVMP_TRY(check_potential(lowering, potential));
    return svmp_item_build(lowering, potential, &factor->entry);
}

/* Says what is wrong with the observed values. */
static svmp_status refuse(model_lowering *lowering, factor_work *factor) {
    if (factor->statement->kind != AST_FACTOR) {
        SVMP_TRY(svmp_factor_begin(lowering, factor));
        SVMP_TRY(build_values(lowering, factor));
        SVMP_TRY(svmp_factor_check_values(lowering, factor));
    }
    return svmp_lowering_error(
        lowering, lowering->statement->offset,
        "this has probability 0 for all values of the discrete unknowns that it depends on; check the data");
}

static svmp_status likelihood_entry(model_lowering *lowering, factor_work *factor) {
    SVMP_TRY(svmp_factor_begin(lowering, factor));
    SVMP_TRY(build_values(lowering, factor));
    factor->entry = density(lowering, factor);
    return SVMP_OK;
}

static svmp_status build_entry(model_lowering *lowering, factor_task *task) {
    place before = svmp_enter(lowering, task->instance);
    svmp_status status = svmp_with_chains(lowering, try_factor, task);
    svmp_leave(lowering, before);
    return status;
}

svmp_status svmp_factor_entry(model_lowering *lowering, uint32_t which, expr *entry) {
    const bool potential = lowering->instances[which].statement->kind == AST_FACTOR;
    factor_task task = {.instance = which, .make = potential ? potential_entry : density_entry};
    const svmp_status status = build_entry(lowering, &task);
    *entry = task.entry;
    return status;
}

svmp_status svmp_factor_refuse(model_lowering *lowering, uint32_t which) {
    return build_entry(lowering, &(factor_task){.instance = which, .make = refuse, .refused = true});
}

svmp_status svmp_factor_likelihood(model_lowering *lowering, uint32_t which, expr *entry) {
    factor_task task = {.instance = which, .make = likelihood_entry, .likelihood = true};
    const svmp_status status = build_entry(lowering, &task);
    *entry = task.entry;
    return status;
}
