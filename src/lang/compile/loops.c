/* Loops become instances of the relations inside them. */
#include "lang/functions/language_functions.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- where we are --------------------------------------------------------------------------- */

place svmp_enter(model_lowering *lowering, uint32_t which) {
    place before = {lowering->statement, lowering->counters, lowering->instance};
    lowering->instance = which;
    lowering->statement = lowering->instances[which].statement;
    lowering->counters = lowering->counter_values + lowering->instances[which].counters;
    return before;
}

void svmp_leave(model_lowering *lowering, place before) {
    lowering->statement = before.statement;
    lowering->counters = before.counters;
    lowering->instance = before.instance;
}

/* " (i = 3, j = 2)", the outer loops first. */
static void describe_loops(const model_lowering *lowering, char *text, size_t size) {
    const ast_statement *statement = lowering->statement;
    size_t length = 0;
    for (int k = 0; statement && k < statement->depth && length + 1 < size; k++) {
        const ast_statement *loop = statement->parent;
        while (loop && loop->depth > k) loop = loop->parent;
        if (loop == NULL) return;
        int added = snprintf(text + length, size - length, "%s%s = %.15g%s", k == 0 ? " (" : ", ",
                             lowering->ast->names.text[loop->counter], lowering->counters[k],
                             k + 1 == statement->depth ? ")" : "");
        length += added > 0 ? (size_t)added : 0;
    }
}

svmp_status svmp_lowering_error(model_lowering *lowering, size_t offset, const char *format, ...) {
    char sentence[300], loops[100] = "";
    if (lowering->shaping) return SVMP_BAD_INPUT;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    describe_loops(lowering, loops, sizeof loops);
    if (lowering->statement) svmp_state_of(lowering, lowering->statement)->failed = true;
    return svmp_diagnose(lowering->diagnostics, offset, "%s%s", sentence, loops);
}

svmp_status svmp_go_on(model_lowering *lowering, svmp_status status) {
    lowering->depth = 0;
    lowering->item_count = 0;
    return status == SVMP_BAD_INPUT && !svmp_diagnostics_full(lowering->diagnostics) ? SVMP_OK : status;
}

/* ---- unrolling ------------------------------------------------------------------------------ */

static svmp_status unroll(model_lowering *lowering, const ast_statement *statement, unroll_visitor visit);

static svmp_status add_instance(model_lowering *lowering, const ast_statement *statement, unroll_visitor visit) {
    size_t depth = (size_t)statement->depth;
    if (svmp_failed(lowering, statement)) return SVMP_OK;
    SVMP_TRY(
        SVMP_GROW(lowering->context, lowering->instances, lowering->instance_capacity, lowering->instance_count + 1));
    SVMP_TRY(SVMP_GROW(lowering->context, lowering->counter_values, lowering->counter_capacity,
                       lowering->counter_count + depth + 1));
    model_instance *added = &lowering->instances[lowering->instance_count++];
    *added = (model_instance){.statement = statement,
                              .counters = (uint32_t)lowering->counter_count,
                              .node = NOTHING,
                              .reader = NOTHING,
                              .driver = NOTHING,
                              .state = NOTHING};
    memcpy(lowering->counter_values + lowering->counter_count, lowering->loop_counters, depth * sizeof(double));
    lowering->counter_count += depth;
    lowering->statement = statement;
    return svmp_go_on(lowering, visit(lowering, (uint32_t)lowering->instance_count - 1));
}

static bool is_plain(const ast_expression *range) {
    return range->kind == AST_CALL && strcmp(range->function->name, ":") == 0;
}

/* How often for (i in a:b) runs, without making the range; never when a > b. */
static svmp_status count_turns(model_lowering *lowering, const ast_statement *loop, double *from, size_t *turns) {
    double to;
    SVMP_TRY(svmp_expand_number(lowering, loop->range->operands[0], "the start of the loop", from));
    SVMP_TRY(svmp_expand_number(lowering, loop->range->operands[1], "the end of the loop", &to));
    if (*from != floor(*from) || to != floor(to) || isinf(*from) || isinf(to))
        return svmp_lowering_error(lowering, loop->range->offset,
                                   "the loop bounds %.15g and %.15g are not whole numbers", *from, to);
    if (to - *from >= LOWERING_MOST_ITERATIONS)
        return svmp_lowering_error(lowering, loop->range->offset,
                                   "the loop from %.15g to %.15g runs %.15g times; at most %u are allowed", *from, to,
                                   to - *from + 1, LOWERING_MOST_ITERATIONS);
    *turns = to < *from ? 0 : (size_t)(to - *from) + 1;
    return SVMP_OK;
}

static svmp_status too_many(model_lowering *lowering, const ast_statement *loop) {
    lowering->statement = loop;
    return svmp_lowering_error(lowering, loop->offset, "the loops run more than %u times in all",
                               LOWERING_MOST_ITERATIONS);
}

/* How often a loop and those inside it run, as far as their ranges are the same for all turns: far too many are an
 * error before any is made. */
static svmp_status least_turns(model_lowering *lowering, const ast_statement *loop, double *least) {
    double from, inner = 0;
    size_t turns = 0;
    *least = 0;
    lowering->statement = loop;
    if (svmp_failed(lowering, loop) || loop->range->varies || !is_plain(loop->range)) return SVMP_OK;
    SVMP_TRY(count_turns(lowering, loop, &from, &turns));
    if (turns == 0) return SVMP_OK; /* nothing is wrong inside a loop that never runs */
    for (const ast_statement *below = loop->body; below; below = below->next) {
        if (below->kind != AST_FOR) continue;
        SVMP_TRY(least_turns(lowering, below, least));
        inner += *least;
    }
    *least = (double)turns * (1 + inner);
    return *least > LOWERING_MOST_ITERATIONS ? too_many(lowering, loop) : SVMP_OK;
}

static svmp_status iterate(model_lowering *lowering, const ast_statement *loop, double counter, unroll_visitor visit) {
    if (++lowering->iterations > LOWERING_MOST_ITERATIONS) return too_many(lowering, loop);
    lowering->loop_counters[loop->depth] = counter;
    return unroll(lowering, loop->body, visit);
}

static svmp_status unroll_range(model_lowering *lowering, const ast_statement *loop, unroll_visitor visit) {
    double from = 0;
    size_t turns = 0;
    SVMP_TRY(count_turns(lowering, loop, &from, &turns));
    for (size_t k = 0; k < turns; k++) SVMP_TRY(iterate(lowering, loop, from + (double)k, visit));
    return SVMP_OK;
}

/* for (i in values). */
static svmp_status unroll_values(model_lowering *lowering, const ast_statement *loop, unroll_visitor visit) {
    value values;
    SVMP_TRY(svmp_expand(lowering, loop->range, &values));
    double *counters;
    SVMP_TRY(SVMP_NEW(lowering->context, counters, values.count));
    svmp_status status = SVMP_OK;
    for (size_t k = 0; k < values.count; k++) counters[k] = lowering->items[values.first + k].number;
    lowering->item_count = values.first;
    for (size_t k = 0; status == SVMP_OK && k < values.count; k++) status = iterate(lowering, loop, counters[k], visit);
    svmp_release(lowering->context, counters);
    return status;
}

static svmp_status unroll(model_lowering *lowering, const ast_statement *statement, unroll_visitor visit) {
    for (; statement; statement = statement->next) {
        if (statement->kind != AST_FOR) {
            SVMP_TRY(add_instance(lowering, statement, visit));
            continue;
        }
        if (svmp_failed(lowering, statement)) continue;
        svmp_status status = SVMP_OK;
        double least;
        if (statement->depth == 0) status = least_turns(lowering, statement, &least);
        lowering->statement = statement;
        if (status == SVMP_OK)
            status = is_plain(statement->range) ? unroll_range(lowering, statement, visit)
                                                : unroll_values(lowering, statement, visit);
        if (lowering->iterations > LOWERING_MOST_ITERATIONS) return status;
        SVMP_TRY(svmp_go_on(lowering, status));
    }
    return SVMP_OK;
}

svmp_status svmp_unroll(model_lowering *lowering, const ast_statement *first, unroll_visitor visit) {
    lowering->counters = lowering->loop_counters;
    svmp_status status = unroll(lowering, first, visit);
    lowering->statement = NULL;
    return status == SVMP_BAD_INPUT ? SVMP_OK : status;
}
