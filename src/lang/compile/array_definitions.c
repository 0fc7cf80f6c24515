/* Dimensions of arrays, and who defines which of their elements. */
#include "lang/compile/compile_passes.h"

#include <math.h>
#include <string.h>

/* ---- names ---------------------------------------------------------------------------------- */

const char *svmp_element_text(const model_lowering *lowering, uint32_t symbol, size_t offset, char text[ELEMENT_TEXT]) {
    const array_shape *shape = &lowering->arrays[symbol].shape;
    int length = snprintf(text, ELEMENT_TEXT / 2, "%s", lowering->ast->names.text[symbol]);
    if (length >= ELEMENT_TEXT / 2) length = ELEMENT_TEXT / 2 - 1;
    if (shape->rank == 1 && shape->dimensions[0] == 1) return text;
    for (size_t k = 0; k < shape->rank; k++) {
        if (length + 30 > ELEMENT_TEXT) return text;
        length += snprintf(text + length, ELEMENT_TEXT - (size_t)length, "%c%zu", k == 0 ? '[' : ',',
                           offset % shape->dimensions[k] + 1);
        offset /= shape->dimensions[k];
    }
    snprintf(text + length, ELEMENT_TEXT - (size_t)length, "]");
    return text;
}

/* Appends "3", "1:2" or "" for one subscript on the left. */
static int append_subscript(model_lowering *lowering, const ast_expression *index, char *text, size_t size) {
    value values;
    if (index->kind == AST_EMPTY || svmp_expand(lowering, index, &values) != SVMP_OK || values.count == 0) return 0;
    const model_item *items = lowering->items + values.first;
    double first = items[0].number, last = items[values.count - 1].number;
    lowering->item_count = values.first;
    return values.count == 1 ? snprintf(text, size, "%.15g", first) : snprintf(text, size, "%.15g:%.15g", first, last);
}

const char *svmp_instance_text(model_lowering *lowering, uint32_t which, char text[ELEMENT_TEXT]) {
    place before = svmp_enter(lowering, which);
    bool symbolic = lowering->symbolic;
    lowering->symbolic = false;
    const ast_expression *left = lowering->statement->left;
    int length = snprintf(text, ELEMENT_TEXT / 2, "%s", lowering->ast->names.text[left->symbol]);
    if (length >= ELEMENT_TEXT / 2) length = ELEMENT_TEXT / 2 - 1;
    for (size_t k = 0; k < left->count && length + 50 < ELEMENT_TEXT; k++) {
        text[length++] = k == 0 ? '[' : ',';
        text[length] = 0;
        length += append_subscript(lowering, left->operands[k], text + length, ELEMENT_TEXT - (size_t)length);
    }
    if (left->indexed) snprintf(text + length, ELEMENT_TEXT - (size_t)length, "]");
    lowering->symbolic = symbolic;
    svmp_leave(lowering, before);
    return text;
}

/* ---- dimensions ----------------------------------------------------------------------------- */

static svmp_status extent(model_lowering *lowering, const ast_expression *expression, const char *what,
                          size_t *result) {
    double number;
    SVMP_TRY(svmp_expand_number(lowering, expression, what, &number));
    if (!(number >= 1 && number <= LOWERING_MOST_ELEMENTS && number == floor(number)))
        return svmp_lowering_error(lowering, expression->offset, "%s must be a whole number from 1 to %u, not %.15g",
                                   what, LOWERING_MOST_ELEMENTS, number);
    *result = (size_t)number;
    return SVMP_OK;
}

static svmp_status declare(model_lowering *lowering, const ast_expression *variable) {
    model_array *array = &lowering->arrays[variable->symbol];
    array_shape declared = svmp_vector_shape(1);
    char one[ELEMENT_TEXT], other[ELEMENT_TEXT];
    const char *name = lowering->ast->names.text[variable->symbol];
    if (variable->count > DATA_MOST_DIMENSIONS)
        return svmp_lowering_error(lowering, variable->offset, "an array can have at most %d dimensions",
                                   DATA_MOST_DIMENSIONS);
    if (variable->indexed) declared.rank = variable->count;
    for (size_t k = 0; k < variable->count; k++)
        SVMP_TRY(extent(lowering, variable->operands[k], "a dimension", &declared.dimensions[k]));
    if (array->data && !svmp_shapes_equal(&array->shape, &declared))
        return svmp_lowering_error(lowering, variable->offset, "'%s' has dimensions %s in the data and %s here", name,
                                   svmp_shape_text(&array->shape, one), svmp_shape_text(&declared, other));
    array->shape = declared;
    array->sized = true;
    return SVMP_OK;
}

svmp_status svmp_declare(model_lowering *lowering) {
    lowering->sizing = true;
    for (const ast_declaration *next = lowering->ast->declarations; next; next = next->next)
        SVMP_TRY(svmp_go_on(lowering, declare(lowering, next->variable)));
    lowering->sizing = false;
    return SVMP_OK;
}

/* The dimensions of an array without any given are its largest subscripts on the left. */
static svmp_status grow_dimension(model_lowering *lowering, const ast_expression *variable, size_t which,
                                  size_t *dimension) {
    const ast_expression *index = variable->operands[which];
    const char *name = lowering->ast->names.text[variable->symbol];
    value values;
    if (index->kind == AST_EMPTY)
        return svmp_lowering_error(lowering, index->offset,
                                   "the extent of '%s' is not known here: write the range, or declare it with 'var'",
                                   name);
    SVMP_TRY(svmp_expand(lowering, index, &values));
    for (size_t k = values.first; k < values.first + values.count; k++) {
        double number = lowering->items[k].number;
        if (number != floor(number))
            return svmp_lowering_error(lowering, index->offset, "index %.15g of '%s' is not a whole number", number,
                                       name);
        if (!(number >= 1 && number <= LOWERING_MOST_ELEMENTS))
            return svmp_lowering_error(lowering, index->offset, "index %.15g of '%s' is out of range 1 to %u", number,
                                       name, LOWERING_MOST_ELEMENTS);
        if ((size_t)number > *dimension) *dimension = (size_t)number;
    }
    lowering->item_count = values.first;
    return SVMP_OK;
}

static svmp_status size_left(model_lowering *lowering, uint32_t which) {
    const ast_expression *left = lowering->instances[which].statement->left;
    if (left == NULL) return SVMP_OK;
    model_array *array = &lowering->arrays[left->symbol];
    size_t rank = left->indexed ? left->count : 1;
    if (array->rank_seen == 0) array->place = left->offset;
    if (!array->sized) array->whole = array->rank_seen == 0 && !left->indexed ? which : NOTHING;
    if (array->sized) {
        array->rank_seen = array->shape.rank;
        return SVMP_OK;
    }
    if (rank > DATA_MOST_DIMENSIONS)
        return svmp_lowering_error(lowering, left->offset, "an array can have at most %d dimensions",
                                   DATA_MOST_DIMENSIONS);
    if (array->rank_seen != 0 && array->rank_seen != rank)
        return svmp_lowering_error(lowering, left->offset, "'%s' has %zu dimension%s elsewhere, not %zu",
                                   lowering->ast->names.text[left->symbol], array->rank_seen,
                                   array->rank_seen == 1 ? "" : "s", rank);
    array->rank_seen = array->shape.rank = rank;
    if (!left->indexed && array->shape.dimensions[0] == 0) array->shape.dimensions[0] = 1;
    for (size_t k = 0; k < left->count; k++) SVMP_TRY(grow_dimension(lowering, left, k, &array->shape.dimensions[k]));
    return SVMP_OK;
}

/* ---- elements ------------------------------------------------------------------------------- */

static svmp_status allocate_elements(model_lowering *lowering, uint32_t symbol) {
    model_array *array = &lowering->arrays[symbol];
    double count = 1;
    for (size_t k = 0; k < array->shape.rank; k++) count *= (double)array->shape.dimensions[k];
    if (count > (double)(LOWERING_MOST_ELEMENTS - lowering->element_count))
        return svmp_diagnose(lowering->diagnostics, array->place,
                             "'%s' would have %.15g elements; a model can have at most %u in all",
                             lowering->ast->names.text[symbol], count, LOWERING_MOST_ELEMENTS);
    array->count = (size_t)count;
    array->first = lowering->element_count;
    array->sized = true;
    lowering->element_count += array->count;
    SVMP_TRY(SVMP_GROW(lowering->context, lowering->elements, lowering->element_capacity, lowering->element_count));
    for (size_t k = 0; k < array->count; k++) {
        model_element *made = &lowering->elements[array->first + k];
        *made = (model_element){.definition = NOTHING, .output = NOTHING};
        if (array->data == NULL || isnan(array->data->values[k])) continue;
        made->state = ELEMENT_KNOWN;
        made->value = array->data->values[k];
    }
    return SVMP_OK;
}

/* The dimensions of what an instance without subscripts on its left defines: those of its right-hand side, or of the
 * first argument of a distribution of many dimensions. One number where they are unknown: whatever is wrong there
 * shows when it is computed. */
static svmp_status whole_shape(model_lowering *lowering, uint32_t which, array_shape *shape) {
    enum { LEVELS = 10 }; /* what it takes of the stack, in levels of svmp_expand */
    const ast_statement *statement = lowering->instances[which].statement;
    bool shaping = lowering->shaping, sizing = lowering->sizing;
    size_t items = lowering->item_count;
    value evaluated = {0};
    *shape = svmp_vector_shape(1);
    if (statement->kind == AST_STOCHASTIC && statement->distribution->rank == RANK_SCALAR) return SVMP_OK;
    place before = svmp_enter(lowering, which);
    lowering->shaping = true;
    lowering->sizing = false;
    lowering->depth += LEVELS;
    svmp_status status = svmp_expand(lowering, statement->arguments[0], &evaluated);
    lowering->depth -= LEVELS;
    lowering->shaping = shaping;
    lowering->sizing = sizing;
    svmp_leave(lowering, before);
    lowering->item_count = items;
    if (status == SVMP_OK && evaluated.count > 1) *shape = evaluated.shape;
    return status == SVMP_BAD_INPUT ? SVMP_OK : status;
}

svmp_status svmp_size_whole(model_lowering *lowering, uint32_t symbol) {
    model_array *array = &lowering->arrays[symbol];
    uint32_t which = array->whole;
    if (which == NOTHING) return SVMP_OK;
    array->whole = NOTHING; /* a second request meanwhile is a cycle, which is reported later */
    SVMP_TRY(whole_shape(lowering, which, &array->shape));
    array->rank_seen = array->shape.rank;
    return SVMP_OK;
}

svmp_status svmp_size_arrays(model_lowering *lowering, const ast_statement *first) {
    lowering->sizing = true;
    svmp_status status = svmp_unroll(lowering, first, size_left);
    lowering->sizing = false;
    SVMP_TRY(status);
    if (lowering->diagnostics->count > 0) return SVMP_OK;
    for (size_t symbol = 0; symbol < lowering->ast->names.count; symbol++)
        SVMP_TRY(svmp_size_whole(lowering, (uint32_t)symbol));
    for (size_t symbol = 0; symbol < lowering->ast->names.count; symbol++)
        if (lowering->arrays[symbol].rank_seen > 0 && lowering->arrays[symbol].first == SIZE_MAX)
            SVMP_TRY(svmp_go_on(lowering, allocate_elements(lowering, (uint32_t)symbol)));
    return SVMP_OK;
}

/* ---- definitions ---------------------------------------------------------------------------- */

static svmp_status defined_twice(model_lowering *lowering, const ast_statement *statement, size_t offset,
                                 uint32_t before) {
    char text[ELEMENT_TEXT];
    size_t line, column;
    if (lowering->instances[before].statement == statement)
        return svmp_lowering_error(lowering, statement->left->offset,
                                   "'%s' is defined in every iteration of the loop: use the counter as a subscript, or "
                                   "move it out of the loop",
                                   svmp_element_text(lowering, statement->left->symbol, offset, text));
    svmp_source_place(lowering->diagnostics->source, lowering->instances[before].statement->left->offset, &line,
                      &column);
    const bool mixed = lowering->instances[before].statement->kind != statement->kind;
    return svmp_lowering_error(lowering, statement->left->offset, "'%s' is already defined on line %zu%s",
                               svmp_element_text(lowering, statement->left->symbol, offset, text), line,
                               mixed ? "; if the definition with '<-' is a transformation of data, move it to a "
                                       "data { } block before the model"
                                     : "");
}

static svmp_status given_and_computed(model_lowering *lowering, const ast_statement *statement, size_t offset) {
    const model_array *array = &lowering->arrays[statement->left->symbol];
    char text[ELEMENT_TEXT], there[200];
    svmp_element_text(lowering, statement->left->symbol, offset, text);
    if (array->data == NULL)
        return svmp_lowering_error(lowering, statement->left->offset, "'%s' is computed here and in data { }", text);
    svmp_data_place(lowering->data, array->data, offset, there, sizeof there);
    return svmp_lowering_error(lowering, statement->left->offset, "'%s' is computed here and given in the data (%s)",
                               text, there);
}

/* Whether an observed value is drawn instead. */
static bool is_simulated(const model_lowering *lowering, const ast_statement *statement) {
    const distribution *family = statement->distribution;
    return lowering->simulated && !lowering->in_data && lowering->arrays[statement->left->symbol].data &&
           family->draw && family->proper && family->support != SUPPORT_INTERVAL_INDEX;
}

static svmp_status define(model_lowering *lowering, uint32_t which) {
    const ast_statement *statement = lowering->instances[which].statement;
    value offsets;
    SVMP_TRY(svmp_expand_subscript(lowering, statement->left, &offsets));
    if (offsets.count == 0)
        return svmp_lowering_error(lowering, statement->left->offset, "the left-hand side has no elements");
    for (size_t k = 0; k < offsets.count; k++) {
        size_t offset = (size_t)lowering->items[offsets.first + k].number;
        model_element *defined = &lowering->elements[lowering->arrays[statement->left->symbol].first + offset];
        if (defined->definition != NOTHING) return defined_twice(lowering, statement, offset, defined->definition);
        if (statement->kind == AST_DETERMINISTIC) {
            if (defined->state == ELEMENT_KNOWN) return given_and_computed(lowering, statement, offset);
            defined->state = ELEMENT_COMPUTED;
        } else if (defined->state != ELEMENT_KNOWN || is_simulated(lowering, statement)) {
            defined->state = lowering->in_data ? ELEMENT_COMPUTED : ELEMENT_UNKNOWN;
        }
        defined->definition = which;
    }
    return SVMP_OK;
}

svmp_status svmp_define(model_lowering *lowering) {
    lowering->sizing = true;
    svmp_status status = SVMP_OK;
    for (uint32_t which = 0; status == SVMP_OK && which < lowering->instance_count; which++) {
        const ast_statement *statement = lowering->instances[which].statement;
        if (statement->left == NULL || svmp_failed(lowering, statement)) continue;
        place before = svmp_enter(lowering, which);
        status = svmp_go_on(lowering, define(lowering, which));
        svmp_leave(lowering, before);
    }
    lowering->sizing = false;
    return status;
}
