/* Factors of equal structure share a program: the expressions of an instance, written down as words, are its signature.
 */
#include "lang/compile/compile_passes.h"

#include <string.h>

#include "base/hash.h"

static svmp_status put(model_lowering *lowering, uint64_t word) {
    SVMP_TRY(SVMP_GROW(lowering->context, lowering->signature, lowering->signature_capacity,
                       lowering->signature_length + 1));
    lowering->signature[lowering->signature_length++] = word;
    return SVMP_OK;
}

/* Two words an expression: the operation with its first operand, and the others; or what a leaf is. */
static svmp_status put_expression(model_lowering *lowering, uint32_t index) {
    const program_builder *builder = lowering->builder;
    expr e = {index};
    expr_op op = svmp_expr_op(builder, e);
    int arity = svmp_op_arity(op);
    uint64_t operands[3] = {0, 0, 0}, second;
    for (int k = 0; k < arity; k++) operands[k] = svmp_expr_operand(builder, e, k).index;
    second = operands[1] | operands[2] << 32;
    if (op == OP_literal) {
        double number;
        svmp_expr_is_literal(builder, e, &number);
        memcpy(&second, &number, sizeof second);
    } else if (arity == 0) {
        second = svmp_expr_leaf(builder, e);
    }
    SVMP_TRY(put(lowering, (uint64_t)op | operands[0] << 32));
    return put(lowering, second);
}

static svmp_status write_signature(model_lowering *lowering, pattern_kind kind, size_t word_count,
                                   const uint64_t *words, size_t picked_count, const expr *picked) {
    size_t size = svmp_builder_size(lowering->builder);
    lowering->signature_length = 0;
    SVMP_TRY(put(lowering, kind));
    SVMP_TRY(put(lowering, picked_count));
    for (size_t k = 0; k < word_count; k++) SVMP_TRY(put(lowering, words[k]));
    for (size_t k = 0; k < picked_count; k++) SVMP_TRY(put(lowering, picked[k].index));
    for (size_t k = 1; k < size; k++) SVMP_TRY(put_expression(lowering, (uint32_t)k));
    return SVMP_OK;
}

static size_t slot_of(const model_lowering *lowering, const uint64_t *words, size_t length) {
    size_t mask = lowering->pattern_slot_count - 1, slot = svmp_table_hash(length * sizeof *words, words) & mask;
    for (;; slot = (slot + 1) & mask) {
        uint32_t which = lowering->pattern_slots[slot];
        if (which == NOTHING) return slot;
        const factor_pattern *there = &lowering->patterns[which];
        if (there->length == length && memcmp(there->signature, words, length * sizeof *words) == 0) return slot;
    }
}

static svmp_status grow_table(model_lowering *lowering) {
    if (2 * (lowering->pattern_count + 1) <= lowering->pattern_slot_count) return SVMP_OK;
    size_t wanted = lowering->pattern_slot_count ? 2 * lowering->pattern_slot_count : 64;
    uint32_t *slots;
    SVMP_TRY(SVMP_NEW(lowering->context, slots, wanted));
    memset(slots, 0xFF, wanted * sizeof *slots);
    svmp_release(lowering->context, lowering->pattern_slots);
    lowering->pattern_slots = slots;
    lowering->pattern_slot_count = wanted;
    for (size_t k = 0; k < lowering->pattern_count; k++)
        slots[slot_of(lowering, lowering->patterns[k].signature, lowering->patterns[k].length)] = (uint32_t)k;
    return SVMP_OK;
}

svmp_status svmp_pattern_find(model_lowering *lowering, pattern_kind kind, size_t word_count, const uint64_t *words,
                              size_t picked_count, const expr *picked, uint32_t *which, bool *fresh) {
    SVMP_TRY(svmp_builder_status(lowering->builder));
    SVMP_TRY(write_signature(lowering, kind, word_count, words, picked_count, picked));
    SVMP_TRY(grow_table(lowering));
    size_t slot = slot_of(lowering, lowering->signature, lowering->signature_length);
    *fresh = lowering->pattern_slots[slot] == NOTHING;
    if (*fresh) {
        SVMP_TRY(
            SVMP_GROW(lowering->context, lowering->patterns, lowering->pattern_capacity, lowering->pattern_count + 1));
        factor_pattern made = {.length = lowering->signature_length, .kind = kind};
        made.offset = lowering->statement->offset;
        made.slots = lowering->slot_count;
        made.parameters = lowering->parameter_count;
        SVMP_TRY(SVMP_NEW(lowering->context, made.signature, made.length));
        memcpy(made.signature, lowering->signature, made.length * sizeof *made.signature);
        lowering->pattern_slots[slot] = (uint32_t)lowering->pattern_count;
        lowering->patterns[lowering->pattern_count++] = made;
    }
    *which = lowering->pattern_slots[slot];
    return SVMP_OK;
}

/* ---- what one of several processes needs ---------------------------------------------------- */

static bool is_own(const model_lowering *lowering, uint32_t node) {
    return lowering->owners->owner[node] == lowering->owners->rank;
}

/* Counts a factor among all of its pattern, and notes its place there if it touches an own node. */
static svmp_status place_factor(model_lowering *lowering, factor_pattern *pattern, bool *needed) {
    svmp_context *context = lowering->context;
    const size_t size = pattern->slots * sizeof *pattern->last;
    uint32_t first = UINT32_MAX;
    *needed = false;
    for (size_t j = 0; j < pattern->slots; j++) {
        *needed = *needed || is_own(lowering, lowering->node_of[lowering->slots[j]]);
        if (lowering->slots[j] < first) first = lowering->slots[j];
    }
    if (pattern->last == NULL) SVMP_TRY(SVMP_NEW(context, pattern->last, pattern->slots));
    if (pattern->whole.instances == 0 || memcmp(pattern->last, lowering->slots, size) != 0) pattern->whole.runs++;
    memcpy(pattern->last, lowering->slots, size);
    if (*needed) {
        const size_t k = pattern->instances;
        SVMP_TRY(SVMP_GROW(context, pattern->origin, pattern->origin_capacity, k + 1));
        SVMP_TRY(SVMP_GROW(context, pattern->whole.elsewhere, pattern->elsewhere_capacity, k + 1));
        pattern->origin[k] = (uint32_t)pattern->whole.instances;
        pattern->whole.elsewhere[k] = !is_own(lowering, lowering->node_of[first]);
    }
    pattern->whole.instances++;
    return SVMP_OK;
}

/* A factor of the graph alone. */
static svmp_status add_to_graph(model_lowering *lowering, const factor_pattern *pattern) {
    size_t few[16], *nodes = few;
    if (pattern->kind != PATTERN_FACTOR || pattern->program == NULL) return SVMP_OK;
    if (pattern->slots > sizeof few / sizeof *few) SVMP_TRY(SVMP_NEW(lowering->context, nodes, pattern->slots));
    for (size_t j = 0; j < pattern->slots; j++) nodes[j] = lowering->node_of[lowering->slots[j]];
    svmp_status status = svmp_graph_add_factor(lowering->graph, pattern->slots, nodes);
    if (nodes != few) svmp_release(lowering->context, nodes);
    return status;
}

static svmp_status is_needed(model_lowering *lowering, factor_pattern *pattern, bool *needed) {
    *needed = lowering->graph == NULL;
    if (lowering->graph) return add_to_graph(lowering, pattern);
    if (lowering->owners == NULL) return SVMP_OK;
    if (pattern->kind == PATTERN_FACTOR) return place_factor(lowering, pattern, needed);
    const model_instance *instance = pattern->kind == PATTERN_PRIOR ? &lowering->instances[lowering->factor] : NULL;
    *needed = instance && !instance->leaf ? is_own(lowering, instance->node) : lowering->owners->rank == 0;
    return SVMP_OK;
}

svmp_status svmp_pattern_append(model_lowering *lowering, uint32_t which, uint32_t *instance) {
    factor_pattern *pattern = &lowering->patterns[which];
    size_t variables = pattern->instances * pattern->slots, numbers = pattern->instances * pattern->parameters;
    bool needed;
    if (instance) *instance = (uint32_t)pattern->instances;
    SVMP_TRY(is_needed(lowering, pattern, &needed));
    if (!needed) return SVMP_OK;
    SVMP_TRY(SVMP_GROW(lowering->context, pattern->variables, pattern->variable_capacity, variables + pattern->slots));
    SVMP_TRY(SVMP_GROW(lowering->context, pattern->numbers, pattern->number_capacity, numbers + pattern->parameters));
    if (pattern->slots) memcpy(pattern->variables + variables, lowering->slots, pattern->slots * sizeof(uint32_t));
    if (pattern->parameters)
        memcpy(pattern->numbers + numbers, lowering->parameters, pattern->parameters * sizeof(double));
    pattern->instances++;
    return SVMP_OK;
}

svmp_status svmp_pattern_add_factor(model_lowering *lowering, pattern_kind kind, size_t word_count,
                                    const uint64_t *words, size_t picked_count, const expr *picked, expr total,
                                    uint32_t *which, uint32_t *instance) {
    bool fresh;
    SVMP_TRY(svmp_pattern_find(lowering, kind, word_count, words, picked_count, picked, which, &fresh));
    if (fresh) SVMP_TRY(svmp_factor_finish(lowering, *which, total));
    return svmp_pattern_append(lowering, *which, instance);
}

svmp_status svmp_pattern_add_values(model_lowering *lowering, pattern_kind kind, size_t word_count,
                                    const uint64_t *words, size_t count, const expr *values, uint32_t *which,
                                    uint32_t *instance) {
    bool fresh;
    SVMP_TRY(svmp_pattern_find(lowering, kind, word_count, words, count, values, which, &fresh));
    factor_pattern *pattern = &lowering->patterns[*which];
    if (fresh)
        SVMP_TRY(svmp_program_finish_values(lowering->builder, count, values, pattern->slots, pattern->parameters,
                                            &pattern->program));
    return svmp_pattern_append(lowering, *which, instance);
}
