/* Subscripts, and reading elements: of data, of what the model computes, of unknowns. */
#include "lang/compile/driven_states.h"
#include "lang/discrete/discrete_unknowns.h"
#include "lang/functions/language_functions.h"

#include <math.h>
#include <string.h>

/* How deep expressions may be when a definition is entered; with what one expression adds, AST_DEEPEST, the stack is
 * safe. */
enum { DEEPEST = 300 };

/* ---- subscripts ----------------------------------------------------------------------------- */

/* 1:n-1, which is (1:n) - 1 here and in JAGS, but 1:(n-1) in BUGS. */
static bool is_shifted_range(const ast_expression *index) {
    const ast_expression *first = index->kind == AST_CALL && index->count == 2 ? index->operands[0] : NULL;
    const char *outer = first && index->function ? index->function->name : "";
    const char *inner = first && first->kind == AST_CALL && first->function ? first->function->name : "";
    return (strcmp(outer, "-") == 0 || strcmp(outer, "+") == 0) && strcmp(inner, ":") == 0;
}

/* The probable cause of a subscript out of range. */
static const char *hint(const ast_expression *index, double number) {
    if (is_shifted_range(index)) return "; ':' binds more tightly than '+' and '-': put the end in parentheses";
    return number == 0 ? "; subscripts count from 1" : "";
}

/* A subscript from 0, or an error; `extent` is what the array has in that dimension. */
static svmp_status check_index(model_lowering *lowering, const ast_expression *variable, const ast_expression *index,
                               double number, size_t extent, size_t *result) {
    const char *name = lowering->ast->names.text[variable->symbol];
    if (number != floor(number))
        return svmp_lowering_error(lowering, index->offset, "index %.15g of '%s' is not a whole number", number, name);
    if (!(number >= 1 && number <= (double)extent))
        return svmp_lowering_error(lowering, index->offset, "index %.15g of '%s' is out of range 1 to %zu%s", number,
                                   name, extent, hint(index, number));
    *result = (size_t)number - 1;
    return SVMP_OK;
}

static svmp_status check_rank(model_lowering *lowering, const ast_expression *variable, const model_array *array) {
    if (variable->count == array->shape.rank) return SVMP_OK;
    if (variable->count == 1 && variable->operands[0]->kind == AST_EMPTY) return SVMP_OK; /* x[]: all of it */
    return svmp_lowering_error(lowering, variable->offset, "'%s' has %zu dimension%s, not %zu",
                               lowering->ast->names.text[variable->symbol], array->shape.rank,
                               array->shape.rank == 1 ? "" : "s", variable->count);
}

/* The subscripts of one dimension as numbers from 0 on the item stack. */
static svmp_status push_indices(model_lowering *lowering, const ast_expression *variable, size_t which, size_t extent,
                                size_t *count) {
    const ast_expression *index = variable->operands[which];
    if (index->kind == AST_EMPTY) {
        for (size_t k = 0; k < extent; k++) SVMP_TRY(svmp_push(lowering, svmp_item_number((double)k)));
        *count = extent;
        return SVMP_OK;
    }
    value indices = {0};
    SVMP_TRY(svmp_expand(lowering, index, &indices));
    for (size_t k = indices.first; k < indices.first + indices.count; k++) {
        size_t offset = 0;
        if (lowering->shaping && lowering->items[k].kind == ITEM_OPAQUE) lowering->items[k] = svmp_item_number(1);
        if (!svmp_item_known(lowering->items[k])) {
            if (!lowering->choosing || !svmp_may_index(lowering, lowering->items[k]))
                return svmp_lowering_error(
                    lowering, index->offset,
                    "an index of '%s' depends on an unknown that is not a whole number: use round(), trunc() or step()",
                    lowering->ast->names.text[variable->symbol]);
            SVMP_TRY(svmp_choose_index(lowering, lowering->items[k], extent, &lowering->items[k]));
        }
        SVMP_TRY(check_index(lowering, variable, index, lowering->items[k].number, extent, &offset));
        lowering->items[k].number = (double)offset;
    }
    *count = indices.count;
    return SVMP_OK;
}

/* Every combination of the subscripts, the first one fastest, in place of the lists of subscripts. */
static svmp_status combine(model_lowering *lowering, const model_array *array, size_t first, const size_t *counts,
                           size_t total) {
    size_t lists = lowering->item_count;
    for (size_t k = 0; k < total; k++) {
        size_t rest = k, at = first, stride = 1;
        double offset = 0;
        for (size_t d = 0; d < array->shape.rank; d++) {
            size_t count = counts[d] > 0 ? counts[d] : 1;
            offset += lowering->items[at + rest % count].number * (double)stride;
            rest /= count;
            at += count;
            stride *= array->shape.dimensions[d];
        }
        SVMP_TRY(svmp_push(lowering, svmp_item_number(offset)));
    }
    memmove(lowering->items + first, lowering->items + lists, total * sizeof *lowering->items);
    lowering->item_count = first + total;
    return SVMP_OK;
}

static svmp_status push_all(model_lowering *lowering, const model_array *array, value *offsets) {
    size_t count = svmp_shape_count(&array->shape);
    *offsets = (value){.first = lowering->item_count, .count = count, .shape = array->shape};
    for (size_t k = 0; k < count; k++) SVMP_TRY(svmp_push(lowering, svmp_item_number((double)k)));
    return SVMP_OK;
}

static void drop_extents_of_one(array_shape *shape) {
    size_t kept = 0;
    for (size_t k = 0; k < shape->rank; k++)
        if (shape->dimensions[k] != 1) shape->dimensions[kept++] = shape->dimensions[k];
    if (kept == 0) shape->dimensions[kept++] = 1;
    shape->rank = kept;
}

svmp_status svmp_expand_subscript(model_lowering *lowering, const ast_expression *variable, value *offsets) {
    const model_array *array = &lowering->arrays[variable->symbol];
    size_t counts[DATA_MOST_DIMENSIONS] = {0}, total = 1, first = lowering->item_count;
    if (!variable->indexed) return push_all(lowering, array, offsets);
    SVMP_TRY(check_rank(lowering, variable, array));
    if (variable->count < array->shape.rank) return push_all(lowering, array, offsets);
    *offsets = (value){.first = first, .shape = {.rank = array->shape.rank}};
    for (size_t d = 0; d < array->shape.rank; d++) {
        SVMP_TRY(push_indices(lowering, variable, d, array->shape.dimensions[d], &counts[d]));
        offsets->shape.dimensions[d] = counts[d];
        if (counts[d] > 0 && total > LOWERING_MOST_ELEMENTS / counts[d])
            return svmp_lowering_error(lowering, variable->offset, "more than %u elements are read at once",
                                       LOWERING_MOST_ELEMENTS);
        total *= counts[d];
    }
    offsets->count = total;
    drop_extents_of_one(&offsets->shape);
    return combine(lowering, array, first, counts, total);
}

svmp_status svmp_defines_one(model_lowering *lowering, uint32_t which, bool *one) {
    value offsets = {0};
    place before = svmp_enter(lowering, which);
    const svmp_status status = svmp_expand_subscript(lowering, lowering->statement->left, &offsets);
    svmp_leave(lowering, before);
    lowering->item_count = offsets.first;
    *one = offsets.count == 1;
    return status;
}

svmp_status svmp_variable_shape(model_lowering *lowering, const ast_expression *variable, array_shape *result) {
    model_array *array = &lowering->arrays[variable->symbol];
    array->read = true;
    if (lowering->shaping) SVMP_TRY(svmp_size_whole(lowering, variable->symbol));
    if (lowering->sizing && !array->sized)
        return svmp_lowering_error(lowering, variable->offset, "the dimensions of '%s' are unknown here",
                                   lowering->ast->names.text[variable->symbol]);
    value offsets;
    if (!variable->indexed) {
        *result = array->shape;
        return SVMP_OK;
    }
    SVMP_TRY(svmp_expand_subscript(lowering, variable, &offsets));
    lowering->item_count = offsets.first;
    *result = offsets.shape;
    return SVMP_OK;
}

/* ---- elements ------------------------------------------------------------------------------- */

static svmp_status missing(model_lowering *lowering, const ast_expression *variable, size_t offset) {
    static const char *const counters[] = {"", "[i]", "[i,j]", "[i,j,k]"};
    const model_array *array = &lowering->arrays[variable->symbol];
    const char *name = lowering->ast->names.text[variable->symbol];
    char text[ELEMENT_TEXT], there[200];
    svmp_element_text(lowering, variable->symbol, offset, text);
    if (array->data == NULL) return svmp_lowering_error(lowering, variable->offset, "'%s' is not defined", text);
    svmp_data_place(lowering->data, array->data, offset, there, sizeof there);
    return svmp_lowering_error(lowering, variable->offset,
                               "'%s' is missing in the data (%s), and the model does not define it; give it a "
                               "distribution, such as %s%s ~ dnorm(mu.%s, tau.%s), or remove the rows without it",
                               text, there, name, counters[array->shape.rank < 3 ? array->shape.rank : 3], name, name);
}

static svmp_status cycle(model_lowering *lowering, const ast_expression *variable, size_t offset) {
    char text[ELEMENT_TEXT];
    return svmp_lowering_error(lowering, variable->offset, "'%s' depends on itself: the model has a directed cycle",
                               svmp_element_text(lowering, variable->symbol, offset, text));
}

/* Not a number. This is an error only where a density needs the value, as in JAGS: 0 * log(0). */
static svmp_status no_number(model_lowering *lowering, const ast_expression *variable, size_t offset) {
    char text[ELEMENT_TEXT];
    return svmp_lowering_error(lowering, variable->offset, "the value of '%s' is not a number",
                               svmp_element_text(lowering, variable->symbol, offset, text));
}

/* The elements of a deterministic instance's left-hand side, through its offsets on the item stack. */
static svmp_status set_elements(model_lowering *lowering, const ast_statement *statement, const value *offsets,
                                const value *items) {
    expr_op inverse = OP_literal;
    if (statement->function != NAMES_NONE)
        svmp_link_inverse(lowering->ast->functions.text[statement->function], &inverse);
    bool known = true;
    for (size_t k = 0; k < items->count; k++) {
        model_item *computed = &lowering->items[items->first + k];
        if (inverse != OP_literal) *computed = svmp_apply(lowering, inverse, *computed, *computed, *computed);
        known = known && svmp_item_known(*computed);
        if (svmp_item_known(*computed) && isnan(computed->number) &&
            lowering->in_data) /* elsewhere: where it is used */
            return svmp_lowering_error(lowering, statement->arguments[0]->offset, "the value is not a number");
    }
    for (size_t k = 0; k < offsets->count; k++) {
        model_element *set = svmp_element_at(lowering, statement->left->symbol, offsets, k);
        model_item computed = lowering->items[items->first + (items->count == 1 ? 0 : k)];
        set->memo = computed;
        set->stamp = lowering->stamp;
        set->value = computed.number;
        set->state = known && !lowering->symbolic ? ELEMENT_KNOWN : ELEMENT_OPAQUE; /* it may hold for a combination of
                                                                                     * discrete unknowns alone */
    }
    return svmp_builder_status(lowering->builder);
}

/* The left-hand side's elements, given by their offsets, go from one state to another; some of '~' may be given. */
static void change_state(model_lowering *lowering, const ast_statement *statement, const value *offsets,
                         element_state before, element_state after) {
    for (size_t k = 0; k < offsets->count; k++) {
        model_element *element = svmp_element_at(lowering, statement->left->symbol, offsets, k);
        if (element->state == before) element->state = after;
    }
}

/* Equal but for extents of 1. */
static bool same_dimensions(array_shape a, array_shape b) {
    drop_extents_of_one(&a);
    drop_extents_of_one(&b);
    return svmp_shapes_equal(&a, &b);
}

static svmp_status compute(model_lowering *lowering, const ast_statement *statement, const value *offsets) {
    char one[ELEMENT_TEXT], other[ELEMENT_TEXT];
    value computed;
    SVMP_TRY(svmp_expand(lowering, statement->arguments[0], &computed));
    if (!same_dimensions(computed.shape, offsets->shape))
        return svmp_lowering_error(lowering, statement->left->offset,
                                   "the left-hand side has dimensions %s, but the right-hand side has %s%s",
                                   svmp_shape_text(&offsets->shape, one), svmp_shape_text(&computed.shape, other),
                                   statement->left->indexed ? "" : "; write the range, or declare it with 'var'");
    return set_elements(lowering, statement, offsets, &computed);
}

svmp_status svmp_compute(model_lowering *lowering, uint32_t which) {
    const ast_statement *statement = lowering->instances[which].statement;
    size_t items = lowering->item_count;
    element_state state = lowering->symbolic ? ELEMENT_OPAQUE : ELEMENT_COMPUTED;
    value offsets;
    place before = svmp_enter(lowering, which);
    svmp_status status = svmp_expand_subscript(lowering, statement->left, &offsets);
    if (status == SVMP_OK) {
        change_state(lowering, statement, &offsets, state, ELEMENT_BUSY);
        status =
            statement->kind == AST_STOCHASTIC ? svmp_simulate(lowering, which) : compute(lowering, statement, &offsets);
        if (status != SVMP_OK) change_state(lowering, statement, &offsets, ELEMENT_BUSY, state);
    }
    lowering->instances[which].computed = status == SVMP_OK;
    bool wrong = status == SVMP_BAD_INPUT && lowering->pending == NOTHING;
    if (wrong) svmp_state_of(lowering, statement)->failed = true; /* statements that read it report no error */
    svmp_leave(lowering, before);
    lowering->item_count = items;
    return status;
}

/* Notes what the current instance reads: of deterministic ones when they are evaluated, whether or not they depend on
 * unknowns; of stochastic ones when their factor is made, or while tracing. */
static svmp_status note_parent(model_lowering *lowering, uint32_t parent) {
    uint32_t child = lowering->instance;
    if (child == NOTHING || lowering->instances[parent].reader == child) return SVMP_OK;
    bool noted = lowering->symbolic ? child == lowering->factor
                                    : lowering->instances[child].statement->kind == AST_DETERMINISTIC;
    if (!noted && !lowering->tracing) return SVMP_OK;
    lowering->instances[parent].reader = child;
    SVMP_TRY(SVMP_GROW(lowering->context, lowering->edges, lowering->edge_capacity, lowering->edge_count + 1));
    lowering->edges[lowering->edge_count++] = (instance_edge){child, parent};
    return SVMP_OK;
}

static svmp_status read_defined(model_lowering *lowering, const ast_expression *variable, size_t offset,
                                model_item *result) {
    model_element *read = &lowering->elements[lowering->arrays[variable->symbol].first + offset];
    if (read->definition != NOTHING) {
        lowering->node_reads++;
        if (svmp_failed(lowering, lowering->instances[read->definition].statement))
            return SVMP_BAD_INPUT; /* noted there */
        SVMP_TRY(note_parent(lowering, read->definition));
    }
    switch (read->state) {
    case ELEMENT_KNOWN:
        if (isnan(read->value) && lowering->symbolic && !lowering->drawn) return no_number(lowering, variable, offset);
        *result = svmp_item_number(read->value);
        return SVMP_OK;
    case ELEMENT_BUSY: return cycle(lowering, variable, offset);
    case ELEMENT_UNDEFINED: return missing(lowering, variable, offset);
    default: break;
    }
    *result = (model_item){.kind = ITEM_OPAQUE};
    if (!lowering->symbolic && read->state != ELEMENT_COMPUTED) return SVMP_OK;
    if (read->state == ELEMENT_DISCRETE) return svmp_discrete_read(lowering, read->output, result);
    if (read->state == ELEMENT_REMAINDER) return svmp_remainder_read(lowering, read->output, result);
    if (read->stamp != lowering->stamp) {
        uint32_t definition = read->definition;
        model_instance *defined = &lowering->instances[definition];
        expr ignored;
        if (read->state == ELEMENT_UNKNOWN && svmp_node_has_elements(lowering, definition)) {
            SVMP_TRY(svmp_node_element(lowering, read));
        } else if (read->state == ELEMENT_DIFFERENCE) {
            SVMP_TRY(svmp_difference_read(lowering, read));
        } else if (read->state == ELEMENT_UNKNOWN) {
            SVMP_TRY(svmp_node_natural(lowering, definition, &ignored));
        } else if (lowering->symbolic && defined->is_state) {
            SVMP_TRY(svmp_state_read(lowering, read));
        } else if (lowering->storing && defined->stored) {
            SVMP_TRY(svmp_stored_read(lowering, read));
        } else if (defined->busy) {
            return cycle(lowering, variable, offset);
        } else if (lowering->depth > DEEPEST) {
            lowering->pending = definition;
            return SVMP_BAD_INPUT;
        } else {
            SVMP_TRY(svmp_compute(lowering, definition));
        }
    }
    *result = read->state == ELEMENT_KNOWN ? svmp_item_number(read->value) : read->memo;
    return SVMP_OK;
}

static svmp_status read_element(model_lowering *lowering, const ast_expression *variable, size_t offset,
                                model_item *result) {
    const model_array *array = &lowering->arrays[variable->symbol];
    if (array->first != SIZE_MAX) return read_defined(lowering, variable, offset, result);
    double number = array->data->values[offset];
    *result = (model_item){.kind = ITEM_OPAQUE};
    if (isnan(number)) return lowering->shaping ? SVMP_OK : missing(lowering, variable, offset);
    *result = svmp_item_number(number);
    return SVMP_OK;
}

/* Opaque items in the shape of what a variable names; the elements are not there yet. */
static svmp_status expand_shape(model_lowering *lowering, const ast_expression *variable, value *result) {
    const model_array *array = &lowering->arrays[variable->symbol];
    double count = 1;
    for (size_t k = 0; k < array->shape.rank; k++) count *= (double)array->shape.dimensions[k];
    if (array->rank_seen == 0 || count > LOWERING_MOST_ELEMENTS) return SVMP_BAD_INPUT; /* said elsewhere */
    SVMP_TRY(svmp_expand_subscript(lowering, variable, result));
    for (size_t k = result->first; k < result->first + result->count; k++)
        lowering->items[k] = (model_item){.kind = ITEM_OPAQUE};
    return SVMP_OK;
}

static svmp_status not_data(model_lowering *lowering, const ast_expression *variable) {
    const char *way_out =
        lowering->in_data ? "write the formula itself, or give it in a data file" : "compute it in data { }";
    return svmp_lowering_error(lowering, variable->offset,
                               "'%s' is not data, but loop bounds and left-hand subscripts must be data; %s",
                               lowering->ast->names.text[variable->symbol], way_out);
}

svmp_status svmp_expand_variable(model_lowering *lowering, const ast_expression *variable, value *result) {
    model_array *array = &lowering->arrays[variable->symbol];
    array->read = true;
    if (lowering->shaping) SVMP_TRY(svmp_size_whole(lowering, variable->symbol));
    if (lowering->shaping) lowering->node_reads++; /* who defines what is not known yet: nothing is to be kept */
    if (lowering->shaping && !array->is_data) return expand_shape(lowering, variable, result);
    if (lowering->sizing && !array->is_data) return not_data(lowering, variable);
    return svmp_expand_choices(lowering, variable, result);
}

svmp_status svmp_read_elements(model_lowering *lowering, const ast_expression *variable, value *result) {
    SVMP_TRY(svmp_expand_subscript(lowering, variable, result));
    for (size_t k = result->first; k < result->first + result->count; k++) {
        model_item read;
        SVMP_TRY(read_element(lowering, variable, (size_t)lowering->items[k].number, &read));
        lowering->items[k] = read;
    }
    return SVMP_OK;
}

svmp_status svmp_note_elements(model_lowering *lowering, const ast_expression *variable) {
    const model_array *array = &lowering->arrays[variable->symbol];
    for (size_t k = 0; array->first != SIZE_MAX && k < array->count; k++) {
        const uint32_t definition = lowering->elements[array->first + k].definition;
        if (definition != NOTHING) SVMP_TRY(note_parent(lowering, definition));
    }
    return SVMP_OK;
}
