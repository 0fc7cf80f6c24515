/* '~' in data { }: a value is drawn, once, and is data from then on. The numbers are the same each time that the text
 * is read: they depend on the element alone, as if they stood in a file. */
#include "lang/compile/factor_builder.h"

#include <math.h>

static svmp_status no_draw(model_lowering *lowering, const factor_work *factor, size_t part) {
    const size_t offset = (size_t)lowering->items[factor->offsets.first + part].number;
    char text[ELEMENT_TEXT];
    return svmp_lowering_error(lowering, factor->statement->function_offset, "cannot draw a value of %s for '%s'%s",
                               factor->distribution->name,
                               svmp_element_text(lowering, factor->statement->left->symbol, offset, text),
                               factor->statement->bounds ? " between its bounds" : "");
}

static model_element *element_at(const model_lowering *lowering, const factor_work *factor, size_t part) {
    const size_t offset = (size_t)lowering->items[factor->offsets.first + part].number;
    return &lowering->elements[lowering->arrays[factor->statement->left->symbol].first + offset];
}

static random_source source_of(const model_lowering *lowering, const factor_work *factor, size_t part) {
    const uint64_t element = (uint64_t)(element_at(lowering, factor, part) - lowering->elements);
    return (random_source){.stream = {.purpose = RANDOM_DATA, .a = element}};
}

static void give(model_element *element, double drawn) {
    element->state = ELEMENT_KNOWN;
    element->value = drawn;
}

/* Draws each element separately; elements with data keep their values. */
static svmp_status draw_elements(model_lowering *lowering, const factor_work *factor) {
    for (size_t part = 0; part < factor->offsets.count; part++) {
        number_array arguments[DISTRIBUTION_ARGUMENTS];
        double drawn = 0;
        bool made = false;
        if (element_at(lowering, factor, part)->state == ELEMENT_KNOWN) continue;
        if (factor->elementwise) svmp_factor_pick(factor, part, arguments);
        SVMP_TRY(svmp_distribution_draw(lowering->context, factor->distribution, source_of(lowering, factor, part), 1,
                                        1, factor->elementwise ? arguments : factor->argument_numbers,
                                        factor->evaluated.lower.number, factor->evaluated.upper.number, &made, &drawn));
        if (!made || !isfinite(drawn)) return no_draw(lowering, factor, part);
        give(element_at(lowering, factor, part), drawn);
    }
    return SVMP_OK;
}

static svmp_status draw_array(model_lowering *lowering, const factor_work *factor) {
    const size_t count = factor->offsets.count;
    size_t rows, columns, given = 0;
    char text[ELEMENT_TEXT];
    double *drawn;
    bool made = false;
    for (size_t part = 0; part < count; part++) given += element_at(lowering, factor, part)->state == ELEMENT_KNOWN;
    if (given == count) return SVMP_OK;
    if (given > 0)
        return svmp_lowering_error(lowering, factor->statement->left->offset,
                                   "'%s' ~ %s is partly given: provide all of it or none",
                                   svmp_instance_text(lowering, factor->instance, text), factor->distribution->name);
    svmp_rows_and_columns(&factor->offsets, &rows, &columns);
    SVMP_TRY(SVMP_NEW(lowering->context, drawn, count));
    svmp_status status =
        svmp_distribution_draw(lowering->context, factor->distribution, source_of(lowering, factor, 0), rows, columns,
                               factor->argument_numbers, -INFINITY, INFINITY, &made, drawn);
    for (size_t part = 0; made && part < count; part++) made = isfinite(drawn[part]);
    if (status == SVMP_OK && !made) status = no_draw(lowering, factor, 0);
    for (size_t part = 0; status == SVMP_OK && part < count; part++)
        give(element_at(lowering, factor, part), drawn[part]);
    svmp_release(lowering->context, drawn);
    return status;
}

svmp_status svmp_simulate(model_lowering *lowering, uint32_t which) {
    factor_work factor = {.instance = which, .statement = lowering->statement};
    factor.distribution = factor.statement->distribution;
    svmp_builder_reset(lowering->builder); /* nothing in data { } has expressions to keep */
    lowering->parameter_count = 0;
    svmp_status status = svmp_factor_begin(lowering, &factor);
    if (status == SVMP_OK)
        status =
            factor.distribution->rank == RANK_SCALAR ? draw_elements(lowering, &factor) : draw_array(lowering, &factor);
    svmp_factor_free(lowering, &factor);
    return status;
}
