/* Totals: deterministic nodes that are sums of discrete unknowns, such as the size of a population with several parts.
 * What depends on a total depends on all its terms, and the tables of two totals, one after the other, have the values
 * of all of them as entries. If a total is a discrete unknown by itself, one of its terms, the remainder, is what the
 * others leave of it, and what depends on the total depends on one unknown. With
 *
 *     S[t] ~ dbin(survival, N[t-1]);  G[t] ~ dpois(gain);  N[t] <- S[t] + G[t]
 *
 * G[t] is N[t] - S[t], and there are tables of two unknowns alone. The remainder is a term whose distribution depends
 * on no discrete unknowns, if there is one. Where tables are small anyway, this is not done (prepare/prepare.c). */
#include <math.h>
#include <string.h>

#include "lang/discrete/discrete_unknowns.h"
#include "lang/functions/language_functions.h"

/* The terms of a sum so far. */
typedef struct sum_terms {
    double least, most;
    size_t unknowns;
    bool open;
    bool other;         /* there is something else than known whole numbers and discrete unknowns */
    uint32_t remainder; /* the unknown that is to be it, */
    bool free;          /* and whether its distribution depends on no discrete ones */
} sum_terms;

/* Whether subscripts are made of numbers and counters alone. */
static bool is_plain(const ast_expression *expression) {
    static const char *const names[] = {"+", "-", ":"};
    if (expression == NULL || expression->kind == AST_NUMBER) return true;
    if (expression->kind == AST_VARIABLE) return expression->counter >= 0;
    bool plain = false;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        plain = plain || (expression->function && strcmp(expression->function->name, names[k]) == 0);
    for (size_t k = 0; plain && k < expression->count; k++) plain = is_plain(expression->operands[k]);
    return plain;
}

static void add_number(double number, sum_terms *terms) {
    terms->least += number;
    terms->most += number;
    terms->other = terms->other || number != floor(number);
}

static void choose(const model_lowering *lowering, uint32_t which, sum_terms *terms) {
    const discrete_unknown *unknown = &lowering->discrete[which];
    if (terms->unknowns++ > 0 && unknown->total) return;
    const bool touches =
        unknown->total || svmp_discrete_touches(lowering, lowering->instances[unknown->instance].statement);
    if (terms->free && touches) return;
    terms->remainder = which;
    terms->free = !touches;
}

static svmp_status add_variable(model_lowering *lowering, const ast_expression *variable, sum_terms *terms) {
    const model_array *array = &lowering->arrays[variable->symbol];
    const size_t items = lowering->item_count;
    value offsets = {0};
    for (size_t k = 0; k < variable->count; k++) terms->other = terms->other || !is_plain(variable->operands[k]);
    if (terms->other || array->first == SIZE_MAX) return terms->other = true, SVMP_OK;
    SVMP_TRY(svmp_expand_subscript(lowering, variable, &offsets));
    for (size_t k = 0; k < offsets.count; k++) {
        const model_element *element =
            &lowering->elements[array->first + (size_t)lowering->items[offsets.first + k].number];
        if (element->state == ELEMENT_KNOWN) {
            add_number(element->value, terms);
        } else if (element->state == ELEMENT_DISCRETE) {
            const discrete_unknown *unknown = &lowering->discrete[element->output];
            terms->least += unknown->least;
            terms->most += unknown->least + unknown->states - 1;
            terms->open = terms->open || unknown->open;
            choose(lowering, element->output, terms);
        } else {
            terms->other = true;
        }
    }
    lowering->item_count = items;
    return SVMP_OK;
}

static svmp_status add_terms(model_lowering *lowering, const ast_expression *expression, sum_terms *terms) {
    if (terms->other) return SVMP_OK;
    if (expression->kind == AST_NUMBER) return add_number(expression->number, terms), SVMP_OK;
    if (expression->kind == AST_VARIABLE && expression->counter >= 0)
        return add_number(lowering->counters[expression->counter], terms), SVMP_OK;
    if (expression->kind == AST_VARIABLE) return add_variable(lowering, expression, terms);
    const char *name = expression->function ? expression->function->name : "";
    if (strcmp(name, "+") != 0 && strcmp(name, "sum") != 0) return terms->other = true, SVMP_OK;
    for (size_t k = 0; k < expression->count; k++) SVMP_TRY(add_terms(lowering, expression->operands[k], terms));
    return SVMP_OK;
}

/* Only those that something observed depends on. */
static bool may_be_total(const model_lowering *lowering, const model_instance *instance) {
    const ast_statement *statement = instance->statement;
    return statement->kind == AST_DETERMINISTIC && !svmp_failed(lowering, statement) &&
           statement->function == NAMES_NONE && instance->largest >= 0;
}

static svmp_status consider_total(model_lowering *lowering, uint32_t which) {
    const ast_statement *statement = lowering->statement;
    const size_t items = lowering->item_count;
    sum_terms terms = {0};
    value offsets = {0};
    SVMP_TRY(svmp_expand_subscript(lowering, statement->left, &offsets));
    const size_t offset = offsets.count == 1 ? (size_t)lowering->items[offsets.first].number : 0;
    lowering->item_count = items;
    if (offsets.count != 1) return SVMP_OK;
    const element_state state = lowering->elements[lowering->arrays[statement->left->symbol].first + offset].state;
    if (state != ELEMENT_OPAQUE && state != ELEMENT_COMPUTED) return SVMP_OK;
    SVMP_TRY(add_terms(lowering, statement->arguments[0], &terms));
    if (terms.other || terms.unknowns < 2 || lowering->discrete[terms.remainder].total) return SVMP_OK;
    return svmp_discrete_be_total(lowering, terms.remainder, which, offset, terms.least, terms.most, terms.open);
}

svmp_status svmp_make_totals(model_lowering *lowering) {
    if (!lowering->choices->totals) return SVMP_OK;
    for (uint32_t k = 0; k < lowering->instance_count; k++) {
        if (!may_be_total(lowering, &lowering->instances[k])) continue;
        lowering->stamp++;
        place before = svmp_enter(lowering, k);
        const svmp_status status = consider_total(lowering, k);
        svmp_leave(lowering, before);
        SVMP_TRY(svmp_go_on(lowering, status));
    }
    return SVMP_OK;
}

/* The total less the other terms: its definition, with this one left out. */
svmp_status svmp_remainder_read(model_lowering *lowering, uint32_t which, model_item *result) {
    const uint32_t without = lowering->without;
    model_item total, others = {0};
    if (without == which) {
        *result = svmp_item_literal(0);
        return SVMP_OK;
    }
    SVMP_TRY(svmp_discrete_read(lowering, which, &total));
    place before = svmp_enter(lowering, lowering->discrete[which].instance);
    lowering->without = which;
    const svmp_status status = svmp_expand_scalar(lowering, lowering->statement->arguments[0], &others);
    lowering->without = without;
    svmp_leave(lowering, before);
    SVMP_TRY(status);
    *result = svmp_apply(lowering, OP_subtract, total, others, others);
    return SVMP_OK;
}
