/* Deterministic nodes that are to be reported: each of their elements becomes a program of one value. */
#include "lang/lowering.h"

#include <string.h>

static svmp_status no_such_node(const model_lowering *lowering, const char *name, size_t length) {
    char spelled[100];
    snprintf(spelled, sizeof spelled, "%.*s", (int)length, name);
    const size_t array = strcspn(spelled, "[");
    if (array < strlen(spelled))
        return svmp_fail(lowering->context, SVMP_BAD_INPUT,
                         "'%s' is an element: nodes are monitored whole, by the name of the array, '%.*s'.", spelled,
                         (int)array, spelled);
    const char *nearest = svmp_names_nearest(&lowering->ast->names, spelled);
    return svmp_fail(lowering->context, SVMP_BAD_INPUT, "The model has no node '%s' to monitor%s%s%s", spelled,
                     nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : ".");
}

/* The value of a deterministic element, as an expression of the builder. */
static svmp_status build_value(model_lowering *lowering, const model_element *element, expr *built) {
    svmp_status status = SVMP_OK;
    if (element->state != ELEMENT_KNOWN) {
        lowering->pending = element->definition;
        status = svmp_compute_pending(lowering);
    }
    SVMP_TRY(status);
    model_item item = element->state == ELEMENT_KNOWN ? svmp_item_number(element->value) : element->memo;
    return svmp_item_build(lowering, item, built);
}

static svmp_status add_monitor(model_lowering *lowering, uint32_t symbol, size_t offset) {
    lowered_model *result = lowering->result;
    const model_element *element = &lowering->elements[lowering->arrays[symbol].first + offset];
    SVMP_TRY(svmp_begin_instance(lowering));
    SVMP_TRY(SVMP_GROW(lowering->context, result->monitors, result->monitor_capacity, result->monitor_count + 1));
    place before = svmp_enter(lowering, element->definition);
    lowered_monitor made = {0};
    uint64_t word = lowering->statement->offset;
    bool fresh = false;
    expr built = {0};
    svmp_status status = SVMP_OK;
    SVMP_CHECK(build_value(lowering, element, &built));
    SVMP_CHECK(svmp_pattern_find(lowering, PATTERN_MONITOR, 1, &word, 1, &built, &made.values, &fresh));
    factor_pattern *pattern = &lowering->patterns[made.values];
    made.instance = (uint32_t)pattern->instances;
    if (fresh)
        SVMP_CHECK(svmp_program_finish_values(lowering->builder, 1, &built, pattern->slots, pattern->parameters,
                                              &pattern->program));
    SVMP_CHECK(svmp_pattern_append(lowering, made.values));
    SVMP_CHECK(svmp_output_name(lowering, symbol, offset, &made.name));
    result->monitors[result->monitor_count++] = made;
done:
    svmp_leave(lowering, before);
    return status;
}

/* All elements that are computed; those that are unknown are reported anyway. */
static svmp_status add_array(model_lowering *lowering, const char *name, size_t length) {
    uint32_t symbol = svmp_names_find(&lowering->ast->names, name, length);
    if (symbol == NAMES_NONE) return no_such_node(lowering, name, length);
    const model_array *array = &lowering->arrays[symbol];
    bool reported = false;
    for (size_t offset = 0; array->first != SIZE_MAX && offset < array->count; offset++) {
        const model_element *element = &lowering->elements[array->first + offset];
        if (element->definition == NOTHING) continue;
        bool computed = lowering->instances[element->definition].statement->kind == AST_DETERMINISTIC;
        if (computed) SVMP_TRY(add_monitor(lowering, symbol, offset));
        reported = reported || computed || element->state == ELEMENT_UNKNOWN;
    }
    if (reported) return SVMP_OK;
    if (array->is_data || array->first != SIZE_MAX)
        return svmp_fail(lowering->context, SVMP_BAD_INPUT, "'%.*s' is data: there is nothing to monitor.", (int)length,
                         name);
    return no_such_node(lowering, name, length);
}

static bool listed_before(const char *list, const char *name, size_t length) {
    for (const char *other = list; other < name; other += strcspn(other, ",") + 1)
        if (strcspn(other, ",") == length && memcmp(other, name, length) == 0) return true;
    return false;
}

svmp_status svmp_add_monitors(model_lowering *lowering, const char *list) {
    if (list == NULL) return SVMP_OK;
    lowering->symbolic = true;
    for (const char *name = list;; name++) {
        size_t length = strcspn(name, ",");
        if (!listed_before(list, name, length)) SVMP_TRY(add_array(lowering, name, length));
        name += length;
        if (*name == 0) break;
    }
    lowering->symbolic = false;
    return SVMP_OK;
}
