/* Describes which elements of each array are unknown, observed and computed: "mu[1:8]", "y[1:10] (7 of 10)". */
#include "lang/compile/compile_passes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The elements of an array in one state: how many, and the smallest box of subscripts around them, from 0. */
typedef struct element_box {
    size_t count, low[DATA_MOST_DIMENSIONS], high[DATA_MOST_DIMENSIONS];
} element_box;

static void extend(element_box *box, const array_shape *shape, size_t offset) {
    for (size_t k = 0; k < shape->rank; k++) {
        size_t at = offset % shape->dimensions[k];
        offset /= shape->dimensions[k];
        if (box->count == 0 || at < box->low[k]) box->low[k] = at;
        if (box->count == 0 || at > box->high[k]) box->high[k] = at;
    }
    box->count++;
}

static svmp_status describe_box(const model_lowering *lowering, uint32_t symbol, const element_box *box, char **made) {
    const array_shape *shape = &lowering->arrays[symbol].shape;
    char text[128 + 48 * DATA_MOST_DIMENSIONS];
    size_t size = 1, length = (size_t)snprintf(text, 100, "%s", lowering->ast->names.text[symbol]);
    const bool scalar = shape->rank == 1 && shape->dimensions[0] == 1;
    if (box->count == 0) return SVMP_OK;
    if (length > 99) length = 99;
    for (size_t k = 0; !scalar && k < shape->rank; k++) {
        size_t low = box->low[k] + 1, high = box->high[k] + 1;
        size *= high - low + 1;
        length += (size_t)snprintf(text + length, sizeof text - length, "%c%zu", k == 0 ? '[' : ',', low);
        if (high > low) length += (size_t)snprintf(text + length, sizeof text - length, ":%zu", high);
    }
    if (!scalar) length += (size_t)snprintf(text + length, sizeof text - length, "]");
    if (box->count < size) snprintf(text + length, sizeof text - length, " (%zu of %zu)", box->count, size);
    return svmp_duplicate(lowering->context, text, made);
}

static bool is_stochastic(const model_lowering *lowering, const model_element *element) {
    return element->definition != NOTHING && lowering->instances[element->definition].statement->kind == AST_STOCHASTIC;
}

/* The name goes to the list of those that have computed elements. */
static svmp_status note_computed(model_lowering *lowering, uint32_t symbol) {
    const char *name = lowering->ast->names.text[symbol];
    uint32_t ignored;
    return svmp_names_add(lowering->context, &lowering->result->computed, name, strlen(name), &ignored);
}

/* The row-major offset of a column-major one: the last index runs fastest. */
static size_t row_major(const array_shape *shape, size_t offset) {
    size_t at = 0, stride = 1;
    for (size_t k = 0; k < shape->rank; k++) stride *= shape->dimensions[k];
    for (size_t k = 0; k < shape->rank; k++) {
        stride /= shape->dimensions[k];
        at += offset % shape->dimensions[k] * stride;
        offset /= shape->dimensions[k];
    }
    return at;
}

/* The elements of an array, by their states. */
typedef struct element_boxes {
    element_box unknown, observed, computed, drawn, summed;
    size_t known; /* elements with values */
} element_boxes;

static element_boxes find_boxes(const model_lowering *lowering, const model_array *array) {
    element_boxes made = {0};
    for (size_t offset = 0; array->first != SIZE_MAX && offset < array->count; offset++) {
        const model_element *element = &lowering->elements[array->first + offset];
        made.known += element->state == ELEMENT_KNOWN;
        if (is_stochastic(lowering, element))
            extend(element->state == ELEMENT_DISCRETE || element->state == ELEMENT_REMAINDER ? &made.summed
                   : element->state == ELEMENT_DIFFERENCE                                    ? &made.computed
                   : element->state != ELEMENT_UNKNOWN                                       ? &made.observed
                   : lowering->instances[element->definition].leaf                           ? &made.drawn
                                                                                             : &made.unknown,
                   &array->shape, offset);
        else if (element->definition != NOTHING && element->state != ELEMENT_KNOWN)
            extend(&made.computed, &array->shape, offset);
    }
    return made;
}

/* The values of known elements: of all, or of stochastic ones alone. */
static svmp_status keep_values(const model_lowering *lowering, uint32_t symbol, bool all, double **values) {
    const model_array *array = &lowering->arrays[symbol];
    SVMP_TRY(SVMP_NEW(lowering->context, *values, array->count));
    for (size_t offset = 0; offset < array->count; offset++) {
        const model_element *element = &lowering->elements[array->first + offset];
        const bool kept = element->state == ELEMENT_KNOWN && (all || is_stochastic(lowering, element));
        (*values)[row_major(&array->shape, offset)] = kept ? element->value : NAN;
    }
    return SVMP_OK;
}

/* Whether a deterministic statement gives some element its value, which may be known. */
static bool has_computed(const model_lowering *lowering, const model_array *array) {
    for (size_t offset = 0; array->first != SIZE_MAX && offset < array->count; offset++) {
        const model_element *element = &lowering->elements[array->first + offset];
        if (element->definition != NOTHING && !is_stochastic(lowering, element)) return true;
    }
    return false;
}

static svmp_status describe_array(model_lowering *lowering, uint32_t symbol) {
    const model_array *array = &lowering->arrays[symbol];
    const element_boxes found = find_boxes(lowering, array);
    lowered_model *result = lowering->result;
    if (has_computed(lowering, array)) SVMP_TRY(note_computed(lowering, symbol));
    if (found.unknown.count + found.observed.count + found.computed.count + found.drawn.count + found.summed.count == 0)
        return SVMP_OK;
    SVMP_TRY(SVMP_GROW(lowering->context, result->arrays, result->array_capacity, result->array_count + 1));
    lowered_array *made = &result->arrays[result->array_count++];
    *made = (lowered_array){.unknown_count = found.unknown.count,
                            .observed_count = found.observed.count,
                            .drawn_count = found.drawn.count,
                            .summed_count = found.summed.count};
    made->rank = array->shape.rank;
    memcpy(made->dimensions, array->shape.dimensions, sizeof made->dimensions);
    SVMP_TRY(svmp_duplicate(lowering->context, lowering->ast->names.text[symbol], &made->name));
    if (found.observed.count > 0) SVMP_TRY(keep_values(lowering, symbol, false, &made->values));
    if (found.known > 0 && found.known < array->count) SVMP_TRY(keep_values(lowering, symbol, true, &made->known));
    SVMP_TRY(describe_box(lowering, symbol, &found.unknown, &made->unknown));
    SVMP_TRY(describe_box(lowering, symbol, &found.observed, &made->observed));
    SVMP_TRY(describe_box(lowering, symbol, &found.drawn, &made->drawn));
    SVMP_TRY(describe_box(lowering, symbol, &found.summed, &made->summed));
    return describe_box(lowering, symbol, &found.computed, &made->computed);
}

svmp_status svmp_describe_arrays(model_lowering *lowering) {
    for (uint32_t symbol = 0; symbol < lowering->ast->names.count; symbol++) SVMP_TRY(describe_array(lowering, symbol));
    return SVMP_OK;
}
