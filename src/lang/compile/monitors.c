/* Deterministic nodes that are to be reported: each of their elements becomes a program of one value. */
#include "lang/discrete/discrete_unknowns.h"

#include <string.h>

#include "base/name_rules.h"

static svmp_status no_such_node(const model_lowering *lowering, const char *name, size_t length) {
    char spelled[100];
    snprintf(spelled, sizeof spelled, "%.*s", (int)length, name);
    const char *nearest = svmp_names_nearest(&lowering->ast->names, spelled);
    return svmp_fail(lowering->context, SVMP_BAD_INPUT, "Cannot monitor '%s': the model has no such node%s%s%s",
                     spelled, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : ".");
}

/* The value of a deterministic element, as an expression of the builder. */
static svmp_status build_value(model_lowering *lowering, model_element *element, expr *built) {
    svmp_status status = SVMP_OK;
    if (element->state == ELEMENT_DIFFERENCE) {
        SVMP_TRY(svmp_difference_read(lowering, element));
        return svmp_item_build(lowering, element->memo, built);
    }
    if (element->state == ELEMENT_DISCRETE || element->state == ELEMENT_REMAINDER) {
        model_item drawn;
        SVMP_TRY((element->state == ELEMENT_DISCRETE ? svmp_discrete_read
                                                     : svmp_remainder_read)(lowering, element->output, &drawn));
        return svmp_item_build(lowering, drawn, built);
    }
    if (element->state != ELEMENT_KNOWN) {
        lowering->pending = element->definition;
        status = svmp_compute_pending(lowering);
    }
    SVMP_TRY(status);
    model_item item = element->state == ELEMENT_KNOWN ? svmp_item_number(element->value) : element->memo;
    return svmp_item_build(lowering, item, built);
}

svmp_status svmp_add_monitor(model_lowering *lowering, size_t word_count, const uint64_t *words, expr built,
                             char *name) {
    lowered_model *result = lowering->result;
    lowered_monitor made = {.name = name};
    svmp_status status =
        SVMP_GROW(lowering->context, result->monitors, result->monitor_capacity, result->monitor_count + 1);
    if (status == SVMP_OK)
        status = svmp_pattern_add_values(lowering, PATTERN_MONITOR, word_count, words, 1, &built, &made.values,
                                         &made.instance);
    if (status == SVMP_OK)
        result->monitors[result->monitor_count++] = made;
    else
        svmp_release(lowering->context, name);
    return status;
}

static svmp_status monitor_value(model_lowering *lowering, uint32_t symbol, size_t offset) {
    const uint64_t word = lowering->statement->offset;
    expr built = {0};
    char *name = NULL;
    SVMP_TRY(build_value(lowering, &lowering->elements[lowering->arrays[symbol].first + offset], &built));
    SVMP_TRY(svmp_output_name(lowering, symbol, offset, &name));
    if (!svmp_name_is_internal(name)) return svmp_add_monitor(lowering, 1, &word, built, name);
    const svmp_status status = svmp_fail(
        lowering->context, SVMP_BAD_INPUT,
        "Cannot monitor '%s': its name ends in '__', which is reserved for columns that are not variables.", name);
    svmp_release(lowering->context, name);
    return status;
}

static svmp_status add_monitor(model_lowering *lowering, uint32_t symbol, size_t offset) {
    SVMP_TRY(svmp_begin_instance(lowering));
    place before = svmp_enter(lowering, lowering->elements[lowering->arrays[symbol].first + offset].definition);
    const svmp_status status = monitor_value(lowering, symbol, offset);
    svmp_leave(lowering, before);
    return status;
}

/* Whether an element is reported because it is monitored (which it is from now on), or anyway, as an unknown. */
static svmp_status add_element(model_lowering *lowering, uint32_t symbol, size_t offset, bool *reported) {
    const model_element *element = &lowering->elements[lowering->arrays[symbol].first + offset];
    if (element->definition == NOTHING) return SVMP_OK;
    const bool computed = lowering->instances[element->definition].statement->kind == AST_DETERMINISTIC ||
                          element->state == ELEMENT_DISCRETE || element->state == ELEMENT_REMAINDER;
    if (computed) SVMP_TRY(add_monitor(lowering, symbol, offset));
    *reported = *reported || computed || element->state == ELEMENT_UNKNOWN || element->state == ELEMENT_DIFFERENCE;
    return SVMP_OK;
}

/* A name of the list: all of `text`, or what stands before the subscripts, "x" of x[3,1]. */
typedef struct monitor_name {
    const char *text;
    size_t length, array; /* of the whole, and of the array's name */
} monitor_name;

/* The next name from `text` on; commas within brackets are part of it. */
static monitor_name next_name(const char *text) {
    monitor_name name = {.text = text};
    for (int inside = 0; text[name.length] && (inside || text[name.length] != ','); name.length++)
        inside = text[name.length] == '[' || (inside && text[name.length] != ']');
    while (name.array < name.length && text[name.array] != '[') name.array++;
    return name;
}

static int is_same(const monitor_name *a, const char *text, size_t length) {
    return a->length == length && memcmp(a->text, text, length) == 0;
}

/* Whether the same stands in the list before, or for an element its array anywhere. */
static bool is_listed(const char *list, const monitor_name *name) {
    for (const char *at = list;; at++) {
        const monitor_name other = next_name(at);
        if (at < name->text && is_same(&other, name->text, name->length)) return true;
        if (name->array < name->length && is_same(&other, name->text, name->array)) return true;
        at += other.length;
        if (*at == 0) break;
    }
    return false;
}

/* "[3,1]" or ".3.1" as the offset of an element; SIZE_MAX: it is none of the array. */
static size_t offset_of(const char *subscripts, size_t length, const array_shape *shape) {
    const bool brackets = *subscripts == '[';
    const char *at = subscripts, *end = subscripts + length - brackets;
    size_t offset = 0, stride = 1, k = 0;
    if (brackets && *end != ']') return SIZE_MAX;
    for (; at < end && k < shape->rank; k++) {
        size_t index = 0;
        const char *digits = ++at; /* behind '[', ',' or '.' */
        if (at < end && *at == '0') return SIZE_MAX;
        for (; at < end && *at >= '0' && *at <= '9' && index <= shape->dimensions[k]; at++)
            index = 10 * index + (size_t)(*at - '0');
        if (at == digits || index == 0 || index > shape->dimensions[k]) return SIZE_MAX;
        if (at < end && *at != (brackets ? ',' : '.')) return SIZE_MAX;
        offset += (index - 1) * stride;
        stride *= shape->dimensions[k];
    }
    return k == shape->rank && at == end ? offset : SIZE_MAX;
}

/* x.3.1, as files name an element: the array's name ends before the last numbers, unless the model has that very name.
 */
static void split_dotted(const model_lowering *lowering, monitor_name *name) {
    if (name->array < name->length || svmp_names_find(&lowering->ast->names, name->text, name->length) != NAMES_NONE)
        return;
    size_t end = name->length;
    for (size_t k = name->length; k-- > 0 && (name->text[k] == '.' || (name->text[k] >= '0' && name->text[k] <= '9'));)
        if (name->text[k] == '.' && k + 1 < end) end = k;
    if (end > 0 && svmp_names_find(&lowering->ast->names, name->text, end) != NAMES_NONE) name->array = end;
}

/* An element, or all elements that are computed; those that are unknown are reported anyway. */
static svmp_status add_name(model_lowering *lowering, const monitor_name *name) {
    const uint32_t symbol = svmp_names_find(&lowering->ast->names, name->text, name->array);
    bool likelihood = false;
    if (symbol == NAMES_NONE) SVMP_TRY(svmp_add_likelihood(lowering, name->text, name->length, &likelihood));
    if (likelihood) return SVMP_OK;
    if (symbol == NAMES_NONE) return no_such_node(lowering, name->text, name->array);
    const model_array *array = &lowering->arrays[symbol];
    const bool whole = name->array == name->length;
    size_t first = 0, last = array->first == SIZE_MAX ? 0 : array->count;
    bool reported = false;
    if (!whole && last > 0) {
        first = offset_of(name->text + name->array, name->length - name->array, &array->shape);
        if (first == SIZE_MAX)
            return svmp_fail(lowering->context, SVMP_BAD_INPUT,
                             "Cannot monitor '%.*s': it is not an element of '%.*s'.", (int)name->length, name->text,
                             (int)name->array, name->text);
        last = first + 1;
    }
    for (size_t offset = first; offset < last; offset++) SVMP_TRY(add_element(lowering, symbol, offset, &reported));
    if (reported) return SVMP_OK;
    if (array->is_data || array->first != SIZE_MAX)
        return svmp_fail(lowering->context, SVMP_BAD_INPUT, "Cannot monitor '%.*s': it is data.", (int)name->length,
                         name->text);
    return no_such_node(lowering, name->text, name->array);
}

/* Unknowns of the text that are computed, as what others leave of a sum, are reported like all unknowns. */
static svmp_status add_differences(model_lowering *lowering) {
    lowering->symbolic = lowering->drawn = true;
    for (uint32_t symbol = 0; symbol < lowering->ast->names.count; symbol++) {
        const model_array *array = &lowering->arrays[symbol];
        for (size_t offset = 0; array->first != SIZE_MAX && offset < array->count; offset++)
            if (lowering->elements[array->first + offset].state == ELEMENT_DIFFERENCE)
                SVMP_TRY(add_monitor(lowering, symbol, offset));
    }
    lowering->symbolic = lowering->drawn = false;
    return SVMP_OK;
}

svmp_status svmp_add_monitors(model_lowering *lowering, const char *list) {
    SVMP_TRY(add_differences(lowering));
    if (list == NULL) return SVMP_OK;
    lowering->symbolic = lowering->drawn = true;
    for (const char *at = list;; at++) {
        monitor_name name = next_name(at);
        split_dotted(lowering, &name);
        if (!is_listed(list, &name)) SVMP_TRY(add_name(lowering, &name));
        at += name.length;
        if (*at == 0) break;
    }
    lowering->symbolic = lowering->drawn = false;
    return SVMP_OK;
}
