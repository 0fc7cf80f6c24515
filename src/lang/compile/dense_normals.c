/* Multivariate normal densities of many dimensions whose covariance or precision matrix is computed from unknowns, as
 * in Gaussian processes: the entries of the matrix are stored, and the factor is a function of these
 * (model/dense_normal_factors.h), not a program of p^3 operations. */
#include "lang/compile/dense_normals.h"

#include <math.h>
#include <string.h>

#include "model/dense_normal_factors.h"

enum { LEAST_DIMENSIONS = 20 };

static const char *const names[] = {"dmnorm", "dmnorm.vcov"}; /* by a precision, by a covariance */

static int kind_of(const ast_statement *statement) {
    if (statement->kind != AST_STOCHASTIC || statement->bounds != AST_UNBOUNDED) return -1;
    for (int k = 0; k < 2; k++)
        if (strcmp(statement->distribution->name, names[k]) == 0) return k;
    return -1;
}

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

/* Marks the elements that a variable names, if all are known or have formulas of their own. *found: of these, how many;
 * SIZE_MAX: there are others. */
static svmp_status mark(model_lowering *lowering, const ast_expression *variable, size_t count, size_t *found) {
    const model_array *array = &lowering->arrays[variable->symbol];
    value offsets = {0};
    *found = SIZE_MAX;
    if (variable->kind != AST_VARIABLE || variable->counter >= 0) return SVMP_OK;
    SVMP_TRY(svmp_expand_subscript(lowering, variable, &offsets));
    if (offsets.count != count) return SVMP_OK;
    *found = 0;
    for (size_t k = 0; array->first != SIZE_MAX && k < count; k++) {
        const size_t offset = (size_t)lowering->items[offsets.first + k].number;
        const model_element *element = &lowering->elements[array->first + offset];
        bool one = false;
        if (element->state == ELEMENT_KNOWN) continue;
        if (element->state == ELEMENT_OPAQUE) SVMP_TRY(svmp_defines_one(lowering, element->definition, &one));
        if (!one) return *found = SIZE_MAX, SVMP_OK;
        lowering->instances[element->definition].stored = true;
        ++*found;
    }
    return SVMP_OK;
}

static svmp_status choose(model_lowering *lowering, uint32_t which, size_t *elements) {
    const ast_statement *statement = lowering->statement;
    const lowered_node *node = svmp_instance_node(lowering, which);
    size_t unknown, p, means, entries;
    SVMP_TRY(svmp_count_elements(lowering, which, ELEMENT_UNKNOWN, &unknown, &p));
    if (p < LEAST_DIMENSIONS || lowering->instances[which].leaf) return SVMP_OK;
    if (node && (node->transform != TRANSFORM_LINE || node->outputs != p)) return SVMP_OK;
    SVMP_TRY(mark(lowering, statement->arguments[0], p, &means));
    if (means == SIZE_MAX) return SVMP_OK;
    *elements += means;
    SVMP_TRY(mark(lowering, statement->arguments[1], p * p, &entries));
    if (entries == SIZE_MAX) return SVMP_OK;
    *elements += entries;
    lowering->instances[which].dense = entries > 0;
    return SVMP_OK;
}

svmp_status svmp_dense_choose(model_lowering *lowering, size_t *elements) {
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        const ast_statement *statement = lowering->instances[k].statement;
        if (svmp_failed(lowering, statement) || kind_of(statement) < 0) continue;
        place before = svmp_enter(lowering, k);
        const svmp_status status = svmp_go_on(lowering, choose(lowering, k, elements));
        svmp_leave(lowering, before);
        lowering->item_count = 0;
        SVMP_TRY(status);
    }
    return SVMP_OK;
}

/* ---- the factor
 * ------------------------------------------------------------------------------------------------------ */

/* Slots and numbers of the factor, in the order in which the density reads them. */
typedef struct source_list {
    model_lowering *lowering;
    dense_normal shape;
    uint32_t *slot;     /* of the instance so far -> 1 + the slot of the factor; 0: none */
    uint32_t *variable; /* of the factor's slots */
    double *number;
    size_t count;
    bool possible;
} source_list;

static void add_source(source_list *list, expr item, double number) {
    const program_builder *builder = list->lowering->builder;
    uint32_t *source = &list->shape.source[list->count++];
    if (!isnan(number)) {
        list->number[list->shape.numbers] = number;
        *source = DENSE_NUMBER + (uint32_t)list->shape.numbers++;
        return;
    }
    list->possible = list->possible && svmp_expr_op(builder, item) == OP_input;
    if (!list->possible) return;
    uint32_t *slot = &list->slot[svmp_expr_leaf(builder, item)];
    if (*slot == 0) {
        list->variable[list->shape.slots] = list->lowering->slots[svmp_expr_leaf(builder, item)];
        *slot = (uint32_t)++list->shape.slots;
    }
    *source = *slot - 1;
}

static void add_sources(source_list *list, const factor_work *factor) {
    const size_t p = list->shape.p;
    for (size_t k = 0; k < p; k++) add_source(list, factor->values[k], factor->value_numbers[k]);
    for (size_t k = 0; k < p; k++)
        add_source(list, factor->arguments[0].items[k], factor->argument_numbers[0].items[k]);
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j <= i; j++)
            add_source(list, factor->arguments[1].items[i + p * j], factor->argument_numbers[1].items[i + p * j]);
}

/* The instance has the slots and the numbers of the list alone. */
static svmp_status add_pattern(source_list *list, const factor_work *factor) {
    model_lowering *lowering = list->lowering;
    const uint64_t words[3] = {factor->statement->offset, list->shape.p, list->shape.precision};
    uint32_t which;
    bool fresh;
    lowering->slot_count = list->shape.slots; /* each was one before */
    if (list->shape.slots > 0) memcpy(lowering->slots, list->variable, list->shape.slots * sizeof *lowering->slots);
    SVMP_TRY(SVMP_GROW(lowering->context, lowering->parameters, lowering->parameter_capacity, list->shape.numbers + 1));
    lowering->parameter_count = list->shape.numbers;
    memcpy(lowering->parameters, list->number, list->shape.numbers * sizeof *lowering->parameters);
    SVMP_TRY(svmp_pattern_find(lowering, PATTERN_FACTOR, 3, words, factor->count, factor->expressions, &which, &fresh));
    if (fresh) {
        dense_normal *dense = NULL;
        SVMP_TRY(SVMP_NEW(lowering->context, dense, 1));
        *dense = list->shape;
        list->shape.source = NULL;
        lowering->patterns[which].dense = dense;
    }
    return svmp_pattern_append(lowering, which, NULL);
}

svmp_status svmp_dense_add(model_lowering *lowering, const factor_work *factor, bool *added) {
    svmp_context *context = lowering->context;
    const size_t p = factor->offsets.count, sources = svmp_dense_normal_sources(p);
    source_list list = {.lowering = lowering, .possible = true};
    svmp_status status;
    list.shape = (dense_normal){.p = p, .precision = kind_of(factor->statement) == 0};
    SVMP_CHECK(SVMP_NEW(context, list.shape.source, sources));
    SVMP_CHECK(SVMP_NEW(context, list.slot, lowering->slot_count));
    SVMP_CHECK(SVMP_NEW(context, list.variable, lowering->slot_count));
    SVMP_CHECK(SVMP_NEW(context, list.number, sources));
    add_sources(&list, factor);
    if (list.possible) SVMP_CHECK(add_pattern(&list, factor));
    status = SVMP_OK;
    *added = list.possible;
done:
    svmp_release(context, list.shape.source);
    svmp_release(context, list.slot);
    svmp_release(context, list.variable);
    svmp_release(context, list.number);
    return status;
}
