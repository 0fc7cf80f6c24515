/* What is unknown and what is observed, array by array: "mu[1:8]", "y[1:10] (7 of 10)". */
#include "lang/lowering.h"

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

/* The at of a column-major offset when the last index runs fastest. */
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

static svmp_status keep_observed(const model_lowering *lowering, uint32_t symbol, lowered_array *made) {
    const model_array *array = &lowering->arrays[symbol];
    SVMP_TRY(SVMP_NEW(lowering->context, made->values, array->count));
    for (size_t offset = 0; offset < array->count; offset++) {
        const model_element *element = &lowering->elements[array->first + offset];
        const bool observed = is_stochastic(lowering, element) && element->state != ELEMENT_UNKNOWN;
        made->values[row_major(&array->shape, offset)] = observed ? element->value : NAN;
    }
    return SVMP_OK;
}

static svmp_status describe_array(model_lowering *lowering, uint32_t symbol) {
    const model_array *array = &lowering->arrays[symbol];
    lowered_model *result = lowering->result;
    element_box unknown = {0}, observed = {0};
    bool computed = false;
    for (size_t offset = 0; array->first != SIZE_MAX && offset < array->count; offset++) {
        const model_element *element = &lowering->elements[array->first + offset];
        bool stochastic = is_stochastic(lowering, element);
        computed = computed || (element->definition != NOTHING && !stochastic);
        if (!stochastic) continue;
        extend(element->state == ELEMENT_UNKNOWN ? &unknown : &observed, &array->shape, offset);
    }
    if (computed) SVMP_TRY(note_computed(lowering, symbol));
    if (unknown.count + observed.count == 0) return SVMP_OK;
    SVMP_TRY(SVMP_GROW(lowering->context, result->arrays, result->array_capacity, result->array_count + 1));
    lowered_array *made = &result->arrays[result->array_count++];
    *made = (lowered_array){.unknown_count = unknown.count, .observed_count = observed.count};
    made->rank = array->shape.rank;
    memcpy(made->dimensions, array->shape.dimensions, sizeof made->dimensions);
    SVMP_TRY(svmp_duplicate(lowering->context, lowering->ast->names.text[symbol], &made->name));
    if (observed.count > 0) SVMP_TRY(keep_observed(lowering, symbol, made));
    SVMP_TRY(describe_box(lowering, symbol, &unknown, &made->unknown));
    return describe_box(lowering, symbol, &observed, &made->observed);
}

svmp_status svmp_describe_arrays(model_lowering *lowering) {
    for (uint32_t symbol = 0; symbol < lowering->ast->names.count; symbol++) SVMP_TRY(describe_array(lowering, symbol));
    return SVMP_OK;
}
