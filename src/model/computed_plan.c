#include "model/computed_plan.h"

#include <stdlib.h>
#include <string.h>

/* A row to be computed, or a factor. */
typedef struct item {
    uint32_t block, level, group, instance, row;
} item;

typedef struct visit {
    uint32_t row, slot; /* slot: the next one to look at */
} visit;

typedef struct planning {
    svmp_context *context;
    const computed_rows *rows;
    size_t count; /* of factor groups */
    const factor_group *factors;
    unsigned char **taken;
    computed_plan *plan;

    uint32_t *group, *instance; /* computed row, from 0 -> what computes it */
    uint32_t *level;            /* 1 more than that of all rows it reads; 0: nobody needs it */
    uint32_t *union_of;         /* towards the row that names its block */
    uint32_t *block_of;         /* by that row, UINT32_MAX: it has no number yet */
    visit *stack;
    size_t depth, stack_capacity;

    item *computed, *added; /* rows, factors */
    size_t computed_count, added_count, added_capacity;
    uint32_t *stamp, *local; /* variable or row -> the last block that read it, and its number there */
    uint32_t *next;          /* group of the plan -> how many of its instances have been placed */
    uint32_t **which;        /* and which ones of the group they are */
} planning;

enum { BUSY = UINT32_MAX };

/* ---- levels and blocks ------------------------------------------------------------------------------------------- */

static uint32_t find(uint32_t *union_of, uint32_t row) {
    while (union_of[row] != row) row = union_of[row] = union_of[union_of[row]];
    return row;
}

static void join(uint32_t *union_of, uint32_t a, uint32_t b) { union_of[find(union_of, a)] = find(union_of, b); }

/* What the instance of a row or factor reads. */
static const uint32_t *reads(const factor_group *group, uint32_t instance) {
    return group->variables + (size_t)instance * group->slots;
}

static const factor_group *group_of(const planning *p, uint32_t row) { return &p->rows->groups[p->group[row]]; }

static svmp_status push(planning *p, uint32_t row) {
    SVMP_TRY(SVMP_GROW(p->context, p->stack, p->stack_capacity, p->depth + 1));
    p->stack[p->depth++] = (visit){row, 0};
    p->level[row] = BUSY;
    return SVMP_OK;
}

/* All that the row on top reads has levels. */
static void pop(planning *p) {
    const uint32_t row = p->stack[--p->depth].row;
    const factor_group *group = group_of(p, row);
    const uint32_t *read = reads(group, p->instance[row]);
    uint32_t level = 0;
    for (size_t j = 0; j < group->slots; j++) {
        if (read[j] < p->rows->first) continue;
        const uint32_t before = read[j] - (uint32_t)p->rows->first;
        if (p->level[before] > level) level = p->level[before];
        join(p->union_of, row, before);
    }
    p->level[row] = level + 1;
    p->computed_count++;
}

/* Gives a row and all that it needs their levels. */
static svmp_status need(planning *p, uint32_t row) {
    if (p->level[row] == 0) SVMP_TRY(push(p, row));
    while (p->depth > 0) {
        visit *top = &p->stack[p->depth - 1];
        const factor_group *group = group_of(p, top->row);
        if (top->slot == group->slots) {
            pop(p);
            continue;
        }
        const uint32_t read = reads(group, p->instance[top->row])[top->slot++];
        if (read < p->rows->first) continue;
        const uint32_t before = read - (uint32_t)p->rows->first;
        if (p->level[before] == BUSY)
            return svmp_fail(p->context, SVMP_BAD_CALL, "Computed row %u depends on itself.", (unsigned)read);
        if (p->level[before] == 0) SVMP_TRY(push(p, before));
    }
    return SVMP_OK;
}

static svmp_status find_factors(planning *p) {
    for (uint32_t g = 0; g < p->count; g++)
        for (uint32_t k = 0; k < p->factors[g].instances; k++) {
            const uint32_t *read = reads(&p->factors[g], k);
            uint32_t first = UINT32_MAX;
            for (size_t j = 0; j < p->factors[g].slots; j++) {
                if (read[j] < p->rows->first) continue;
                const uint32_t row = read[j] - (uint32_t)p->rows->first;
                SVMP_TRY(need(p, row));
                if (first == UINT32_MAX) first = row;
                join(p->union_of, row, first);
            }
            if (first == UINT32_MAX) continue;
            p->taken[g][k] = 1;
            SVMP_TRY(SVMP_GROW(p->context, p->added, p->added_capacity, p->added_count + 1));
            p->added[p->added_count++] =
                (item){.group = (uint32_t)p->rows->group_count + g, .instance = k, .row = first};
        }
    return SVMP_OK;
}

static int order_of_items(const void *a, const void *b) {
    const item *one = a, *other = b;
    if (one->block != other->block) return one->block < other->block ? -1 : 1;
    if (one->level != other->level) return one->level < other->level ? -1 : 1;
    if (one->group != other->group) return one->group < other->group ? -1 : 1;
    return one->instance < other->instance ? -1 : one->instance > other->instance;
}

/* Numbers the blocks in the order of their factors, and sorts what is in them. */
static svmp_status sort_items(planning *p) {
    size_t next = 0;
    for (size_t k = 0; k < p->added_count; k++) {
        uint32_t *block = &p->block_of[find(p->union_of, p->added[k].row)];
        if (*block == UINT32_MAX) *block = (uint32_t)p->plan->block_count++;
        p->added[k].block = *block;
    }
    SVMP_TRY(SVMP_NEW(p->context, p->computed, p->computed_count));
    for (uint32_t r = 0; r < p->rows->count; r++)
        if (p->level[r] > 0)
            p->computed[next++] =
                (item){p->block_of[find(p->union_of, r)], p->level[r], p->group[r], p->instance[r], r};
    if (next > 0) qsort(p->computed, next, sizeof *p->computed, order_of_items);
    if (p->added_count > 0) qsort(p->added, p->added_count, sizeof *p->added, order_of_items);
    return SVMP_OK;
}

/* ---- the variables of a block ------------------------------------------------------------------------------------ */

/* In the original: a row's or a factor's. */
static const factor_group *original(const planning *p, uint32_t group) {
    return group < p->rows->group_count ? &p->rows->groups[group] : &p->factors[group - p->rows->group_count];
}

/* The variables that an item reads and that the block does not have yet. */
static svmp_status add_variables(planning *p, const item *at) {
    computed_plan *plan = p->plan;
    const factor_group *group = original(p, at->group);
    const uint32_t *read = reads(group, at->instance);
    for (size_t j = 0; j < group->slots; j++) {
        if (read[j] >= p->rows->first || p->stamp[read[j]] == at->block) continue;
        SVMP_TRY(SVMP_GROW(p->context, plan->variables, plan->variable_capacity, plan->variable_count + 1));
        plan->variables[plan->variable_count++] = read[j];
        p->stamp[read[j]] = at->block;
    }
    return SVMP_OK;
}

static int order_of_numbers(const void *a, const void *b) {
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return one < other ? -1 : one > other;
}

/* Gives an item its place among its group's, and its rows their numbers in the block. */
static void place_item(planning *p, const item *at) {
    const factor_group *from = original(p, at->group);
    factor_group *to = &p->plan->groups[at->group];
    const uint32_t *read = reads(from, at->instance), place = p->next[at->group]++;
    for (size_t j = 0; j < from->slots; j++) to->variables[place * from->slots + j] = p->local[read[j]];
    p->which[at->group][place] = at->instance;
}

/* ---- windows and runs -------------------------------------------------------------------------------------------- */

static svmp_status begin_window(planning *p) {
    computed_plan *plan = p->plan;
    SVMP_TRY(SVMP_GROW(p->context, plan->windows, plan->window_capacity, plan->window_count + 1));
    plan->windows[plan->window_count++] = (computed_window){plan->run_count, plan->span_count};
    return SVMP_OK;
}

/* The row's span in the window that begins with span `from`: each group has one. */
static svmp_status extend_span(planning *p, size_t from, const item *at, uint32_t place) {
    computed_plan *plan = p->plan;
    size_t s = from;
    while (s < plan->span_count && plan->spans[s].group != at->group) s++;
    if (s == plan->span_count) {
        SVMP_TRY(SVMP_GROW(p->context, plan->spans, plan->span_capacity, plan->span_count + 1));
        plan->spans[plan->span_count++] = (computed_span){.group = at->group, .first = place};
    }
    plan->spans[s].count++;
    return SVMP_OK;
}

/* `alone`: nothing else is on its level. */
static svmp_status extend_run(planning *p, size_t from, const item *at, uint32_t place, bool alone, uint32_t row) {
    computed_plan *plan = p->plan;
    computed_run *last = plan->run_count > from ? &plan->runs[plan->run_count - 1] : NULL;
    if (last && last->span.group == at->group && (last->in_turn ? alone : at->level == at[-1].level)) {
        last->span.count++;
        return SVMP_OK;
    }
    SVMP_TRY(SVMP_GROW(p->context, plan->runs, plan->run_capacity, plan->run_count + 1));
    plan->runs[plan->run_count++] =
        (computed_run){.span = {.group = at->group, .first = place, .count = 1}, .row = row, .in_turn = alone};
    return SVMP_OK;
}

/* Where the derivatives of spans and runs stand, once the window is complete. */
static void place_derivatives(planning *p) {
    computed_plan *plan = p->plan;
    const computed_window *window = &plan->windows[plan->window_count - 1];
    size_t count = 0;
    for (size_t s = window->span; s < plan->span_count; s++) {
        plan->spans[s].derivative = count;
        count += plan->spans[s].count * plan->groups[plan->spans[s].group].slots;
    }
    for (size_t r = window->run; r < plan->run_count; r++) {
        computed_span *run = &plan->runs[r].span;
        const computed_span *span = plan->spans + window->span;
        while (span->group != run->group) span++;
        run->derivative = span->derivative + (run->first - span->first) * plan->groups[run->group].slots;
    }
    if (count > plan->most_derivatives) plan->most_derivatives = count;
}

/* The rows of a block, computed[0] ... computed[count - 1]. */
static svmp_status plan_rows(planning *p, computed_block *block, const item *computed, size_t count) {
    computed_plan *plan = p->plan;
    size_t rows = 0, derivatives = 0;
    SVMP_TRY(begin_window(p));
    for (size_t k = 0; k < count; k++) {
        const item *at = &computed[k];
        const size_t slots = plan->groups[at->group].slots;
        const bool alone = (k == 0 || at[-1].level != at->level) && (k + 1 == count || at[1].level != at->level);
        if (rows == COMPUTED_WINDOW || (rows > 0 && derivatives + slots > COMPUTED_DERIVATIVES)) {
            place_derivatives(p);
            SVMP_TRY(begin_window(p));
            rows = derivatives = 0;
        }
        const computed_window *window = &plan->windows[plan->window_count - 1];
        const uint32_t place = p->next[at->group];
        place_item(p, at);
        SVMP_TRY(extend_span(p, window->span, at, place));
        SVMP_TRY(extend_run(p, window->run, at, place, alone, (uint32_t)(block->slots + k)));
        rows++;
        derivatives += slots;
        block->operations += original(p, at->group)->kind->operations(original(p, at->group), NULL) + 2 * slots;
    }
    place_derivatives(p);
    return SVMP_OK;
}

static svmp_status plan_factors(planning *p, computed_block *block, const item *added, size_t count) {
    computed_plan *plan = p->plan;
    for (size_t k = 0; k < count; k++) {
        const factor_group *group = original(p, added[k].group);
        if (k == 0 || added[k].group != added[k - 1].group) {
            const size_t values = svmp_computed_chunk(group), derivatives = values * group->slots;
            SVMP_TRY(SVMP_GROW(p->context, plan->factors, plan->factor_capacity, plan->factor_count + 1));
            plan->factors[plan->factor_count++] =
                (computed_span){.group = added[k].group, .first = p->next[added[k].group]};
            if (values > plan->most_values) plan->most_values = values;
            if (derivatives > plan->most_derivatives) plan->most_derivatives = derivatives;
        }
        plan->factors[plan->factor_count - 1].count++;
        place_item(p, &added[k]);
        block->operations += group->kind->operations(group, NULL) + group->slots;
    }
    return SVMP_OK;
}

static svmp_status plan_block(planning *p, computed_block *block, const item *computed, size_t rows, const item *added,
                              size_t factors) {
    computed_plan *plan = p->plan;
    *block = (computed_block){
        .window = plan->window_count, .factor = plan->factor_count, .variable = plan->variable_count, .rows = rows};
    for (size_t k = 0; k < rows; k++) SVMP_TRY(add_variables(p, &computed[k]));
    for (size_t k = 0; k < factors; k++) SVMP_TRY(add_variables(p, &added[k]));
    uint32_t *variables = plan->variables + block->variable;
    block->slots = plan->variable_count - block->variable;
    if (block->slots > 0) qsort(variables, block->slots, sizeof *variables, order_of_numbers);
    for (size_t j = 0; j < block->slots; j++) p->local[variables[j]] = (uint32_t)j;
    for (size_t k = 0; k < rows; k++) p->local[p->rows->first + computed[k].row] = (uint32_t)(block->slots + k);
    if (block->slots + rows > plan->most_rows) plan->most_rows = block->slots + rows;
    SVMP_TRY(plan_rows(p, block, computed, rows));
    return plan_factors(p, block, added, factors);
}

static svmp_status plan_blocks(planning *p) {
    computed_plan *plan = p->plan;
    size_t row = 0, factor = 0;
    SVMP_TRY(SVMP_NEW(p->context, plan->blocks, plan->block_count + 1));
    for (size_t b = 0; b < plan->block_count; b++) {
        const size_t rows = row, factors = factor;
        while (row < p->computed_count && p->computed[row].block == b) row++;
        while (factor < p->added_count && p->added[factor].block == b) factor++;
        SVMP_TRY(plan_block(p, &plan->blocks[b], p->computed + rows, row - rows, p->added + factors, factor - factors));
    }
    plan->blocks[plan->block_count] = (computed_block){.window = plan->window_count, .factor = plan->factor_count};
    return begin_window(p); /* the end of the last one */
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static svmp_status count_items(planning *p) {
    computed_plan *plan = p->plan;
    plan->row_groups = p->rows->group_count;
    plan->group_count = plan->row_groups + p->count;
    SVMP_TRY(SVMP_NEW(p->context, plan->groups, plan->group_count));
    SVMP_TRY(SVMP_NEW(p->context, p->which, plan->group_count));
    SVMP_TRY(SVMP_NEW(p->context, p->next, plan->group_count));
    for (size_t k = 0; k < p->computed_count; k++) plan->groups[p->computed[k].group].instances++;
    for (size_t k = 0; k < p->added_count; k++) plan->groups[p->added[k].group].instances++;
    for (uint32_t g = 0; g < plan->group_count; g++) {
        factor_group *group = &plan->groups[g];
        const factor_group *from = original(p, g);
        group->kind = from->kind;
        group->slots = from->slots;
        group->line = from->line;
        SVMP_TRY(SVMP_NEW(p->context, group->variables, group->instances * group->slots));
        SVMP_TRY(SVMP_NEW(p->context, p->which[g], group->instances));
    }
    return SVMP_OK;
}

static svmp_status keep_groups(const planning *p) {
    for (uint32_t g = 0; g < p->plan->group_count; g++) {
        factor_group *group = &p->plan->groups[g];
        const factor_group *from = original(p, g);
        if (group->instances > 0)
            SVMP_TRY(from->kind->keep(p->context, from, group->instances, p->which[g], &group->self));
    }
    return SVMP_OK;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static svmp_status alloc_workspace(planning *p) {
    const size_t rows = p->rows->count, all = p->rows->first + rows;
    SVMP_TRY(SVMP_NEW(p->context, p->group, rows));
    SVMP_TRY(SVMP_NEW(p->context, p->instance, rows));
    SVMP_TRY(SVMP_NEW(p->context, p->level, rows));
    SVMP_TRY(SVMP_NEW(p->context, p->union_of, rows));
    SVMP_TRY(SVMP_NEW(p->context, p->block_of, rows));
    SVMP_TRY(SVMP_NEW(p->context, p->stamp, all));
    SVMP_TRY(SVMP_NEW(p->context, p->local, all));
    for (uint32_t r = 0; r < rows; r++) p->union_of[r] = r;
    if (rows > 0) memset(p->block_of, 0xFF, rows * sizeof *p->block_of);
    memset(p->stamp, 0xFF, all * sizeof *p->stamp);
    for (uint32_t g = 0; g < p->rows->group_count; g++)
        for (uint32_t k = 0; k < p->rows->groups[g].instances; k++) {
            const size_t row = p->rows->row[g][k] - p->rows->first;
            p->group[row] = g;
            p->instance[row] = k;
        }
    return SVMP_OK;
}

static svmp_status make(planning *p) {
    SVMP_TRY(SVMP_NEW(p->context, p->plan, 1));
    p->plan->context = p->context;
    SVMP_TRY(alloc_workspace(p));
    SVMP_TRY(find_factors(p));
    SVMP_TRY(sort_items(p));
    SVMP_TRY(count_items(p));
    SVMP_TRY(plan_blocks(p));
    return keep_groups(p);
}

svmp_status svmp_computed_plan_make(svmp_context *context, const computed_rows *rows, size_t count,
                                    const factor_group *groups, unsigned char **taken, computed_plan **plan) {
    planning p = {.context = context, .rows = rows, .count = count, .factors = groups, .taken = taken};
    const svmp_status status = make(&p);
    if (status == SVMP_OK)
        *plan = p.plan;
    else
        svmp_computed_plan_free(p.plan);
    for (size_t g = 0; p.which && g < rows->group_count + count; g++) svmp_release(context, p.which[g]);
    void *const arrays[] = {p.group,    p.instance, p.level, p.union_of, p.block_of, p.stack,
                            p.computed, p.added,    p.stamp, p.local,    p.next,     p.which};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(context, arrays[k]);
    return status;
}

void svmp_computed_plan_free(computed_plan *plan) {
    if (plan == NULL || plan->shared-- > 0) return;
    svmp_context *context = plan->context;
    for (size_t g = 0; plan->groups && g < plan->group_count; g++) {
        if (plan->groups[g].self) plan->groups[g].kind->free(context, plan->groups[g].self);
        svmp_release(context, plan->groups[g].variables);
    }
    void *const arrays[] = {plan->groups, plan->blocks,  plan->windows,   plan->runs,
                            plan->spans,  plan->factors, plan->variables, plan};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(context, arrays[k]);
}
