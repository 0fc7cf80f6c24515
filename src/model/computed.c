#include "model/computed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/target_clones.h"
#include "model/computed_plan.h"
#include "model/program_factors.h"

/* Particles that are evaluated together: as many as keep a block's rows and their weights in a cache of this size. */
enum { CACHE = 1 << 19, LEAST_LANES = 8, MOST_LANES = 64 };

typedef struct block_group {
    computed_plan *plan;
    uint32_t *block; /* of each instance */
} block_group;

/* What an evaluation works with; rows of `lanes` numbers. */
typedef struct block_work {
    const computed_plan *plan;
    const computed_block *block;
    size_t lanes;
    double *rows, *weight; /* of a block: its variables, then what it computes */
    double *derivative;    /* of a window, or of some factors */
    double *value;         /* of some factors */
    double *sum;           /* the log value */
    void *scratch;
} block_work;

/* ---- one block --------------------------------------------------------------------------------------------------- */

SVMP_CLONES static void add_many(size_t n, const double *row, double *to) {
    for (size_t l = 0; l < n; l++) to[l] += row[l];
}

/* A call would cost more than one sum. */
static inline void add_row(size_t n, const double *row, double *to) {
    if (n == 1)
        *to += *row;
    else
        add_many(n, row, to);
}

/* What weighs nothing adds nothing, however steep it is. */
SVMP_CLONES static void add_weighted(size_t n, const double *weight, size_t slots, const double *derivative,
                                     const uint32_t *read, double *to) {
    for (size_t j = 0; j < slots; j++)
        for (size_t l = 0; l < n; l++) to[read[j] * n + l] += weight[l] == 0 ? 0 : weight[l] * derivative[j * n + l];
}

static inline void add_weighted_one(double weight, size_t slots, const double *derivative, const uint32_t *read,
                                    double *to) {
    for (size_t j = 0; weight != 0 && j < slots; j++) to[read[j]] += weight * derivative[j];
}

static const bound_program *bound_of(const block_work *w, uint32_t group) {
    return svmp_program_group_bound(&w->plan->groups[group]);
}

static void evaluate_span(const block_work *w, const computed_span *span, double *value, double *gradient) {
    const factor_group *group = &w->plan->groups[span->group];
    const bound_program *bound = bound_of(w, span->group);
    if (bound)
        svmp_bound_evaluate(bound, group->variables, span->first, span->count, w->lanes, w->rows, w->scratch, value,
                            gradient);
    else
        group->kind->evaluate(group, span->first, span->count, w->lanes, w->rows, w->scratch, value, gradient);
}

static void compute_rows(const block_work *w) {
    const computed_run *end = &w->plan->runs[w->plan->windows[w->block[1].window].run];
    for (const computed_run *run = &w->plan->runs[w->plan->windows[w->block->window].run]; run < end; run++) {
        double *row = w->rows + run->row * w->lanes;
        if (run->in_turn)
            svmp_bound_evaluate_in_turn(bound_of(w, run->span.group), w->plan->groups[run->span.group].variables,
                                        run->span.first, run->span.count, w->lanes, w->rows, w->scratch, row);
        else
            evaluate_span(w, &run->span, row, NULL);
    }
}

/* Some instances of one group: their values go into the sum, their derivatives into the weights of what they read. */
static void add_factors(const block_work *w, const computed_span *some, bool differentiated) {
    const factor_group *group = &w->plan->groups[some->group];
    const uint32_t *read = group->variables + some->first * group->slots;
    evaluate_span(w, some, w->value, differentiated ? w->derivative : NULL);
    for (size_t k = 0; k < some->count; k++) add_row(w->lanes, w->value + k * w->lanes, w->sum);
    for (size_t r = 0; differentiated && r < some->count * group->slots; r++)
        add_row(w->lanes, w->derivative + r * w->lanes, w->weight + read[r] * w->lanes);
}

static void evaluate_factors(const block_work *w, bool differentiated) {
    const computed_span *end = &w->plan->factors[w->block[1].factor];
    for (const computed_span *span = &w->plan->factors[w->block->factor]; span < end; span++) {
        const uint32_t chunk = (uint32_t)svmp_computed_chunk(&w->plan->groups[span->group]);
        for (uint32_t done = 0; done < span->count; done += chunk) {
            const uint32_t left = span->count - done;
            const computed_span some = {span->group, span->first + done, left < chunk ? left : chunk, 0};
            add_factors(w, &some, differentiated);
        }
    }
}

/* The weights of a window's rows are complete when the window is reached, and of a row when the rows behind it have
 * been passed. */
static void pass_back(const block_work *w) {
    const computed_plan *plan = w->plan;
    for (size_t k = w->block[1].window; k-- > w->block->window;) {
        const computed_window *window = &plan->windows[k];
        for (size_t s = window[0].span; s < window[1].span; s++)
            evaluate_span(w, &plan->spans[s], NULL, w->derivative + plan->spans[s].derivative * w->lanes);
        for (size_t r = window[1].run; r-- > window[0].run;) {
            const computed_run *run = &plan->runs[r];
            const factor_group *group = &plan->groups[run->span.group];
            for (size_t i = run->span.count; i-- > 0;) {
                const uint32_t *read = group->variables + (run->span.first + i) * group->slots;
                const double *weight = w->weight + (run->row + i) * w->lanes;
                const double *derivative = w->derivative + (run->span.derivative + i * group->slots) * w->lanes;
                if (w->lanes == 1)
                    add_weighted_one(*weight, group->slots, derivative, read, w->weight);
                else
                    add_weighted(w->lanes, weight, group->slots, derivative, read, w->weight);
            }
        }
    }
}

/* ---- the kind ---------------------------------------------------------------------------------------------------- */

static size_t lanes_for(const computed_plan *plan, size_t n) {
    const size_t fit = CACHE / sizeof(double) / (2 * plan->most_rows) / LEAST_LANES * LEAST_LANES;
    const size_t lanes = fit < LEAST_LANES ? LEAST_LANES : fit > MOST_LANES ? MOST_LANES : fit;
    return n < lanes ? n : lanes;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* Of the last pass over n particles fewer may be left, which may take more scratch. */
static size_t scratch(const factor_group *group, size_t n) {
    const computed_plan *plan = ((const block_group *)group->self)->plan;
    const size_t lanes = lanes_for(plan, n),
                 numbers = 2 * plan->most_rows + plan->most_derivatives + plan->most_values + 1;
    size_t bytes = 0;
    for (size_t g = 0; g < plan->group_count; g++) {
        if (plan->groups[g].instances == 0) continue;
        const bound_program *bound = svmp_program_group_bound(&plan->groups[g]);
        for (size_t some = lanes; some > 0; some = some == lanes ? n % lanes : 0) {
            bytes = larger(bytes, plan->groups[g].kind->scratch(&plan->groups[g], some));
            if (bound) bytes = larger(bytes, larger(svmp_bound_scratch(bound, some), svmp_bound_turn_scratch(bound)));
        }
    }
    return numbers * lanes * sizeof(double) + bytes;
}

/* Where the variables of a block stand: in x, or those in the own slots of a view in y. */
typedef struct block_source {
    const double *x;
    const instance_view *view; /* NULL: x alone */
} block_source;

static const double *variable_row(const block_source *from, uint32_t variable, size_t slot, size_t n) {
    const instance_view *view = from->view;
    if (view && view->y && view->own[slot]) return view->y + (size_t)(uint32_t)(variable + view->shift[0]) * n;
    return from->x + variable * n;
}

/* Particles l ... l + w->lanes - 1 of an instance. */
static void evaluate_lanes(const block_work *w, const block_source *from, const uint32_t *variables, size_t n, size_t l,
                           double *value, double *gradient) {
    const size_t row = w->lanes * sizeof(double), slots = w->block->slots;
    for (size_t j = 0; j < slots; j++) memcpy(w->rows + j * w->lanes, variable_row(from, variables[j], j, n) + l, row);
    compute_rows(w);
    memset(w->sum, 0, row);
    if (gradient) memset(w->weight, 0, (slots + w->block->rows) * row);
    evaluate_factors(w, gradient != NULL);
    if (value) memcpy(value + l, w->sum, row);
    if (gradient == NULL) return;
    pass_back(w);
    for (size_t j = 0; j < slots; j++) memcpy(gradient + j * n + l, w->weight + j * w->lanes, row);
}

static block_work work_on(const factor_group *group, size_t instance, size_t n, void *scratch) {
    const block_group *self = group->self;
    const computed_plan *plan = self->plan;
    const size_t lanes = lanes_for(plan, n);
    block_work w = {.plan = plan, .block = &plan->blocks[self->block[instance]], .rows = scratch, .lanes = lanes};
    w.weight = w.rows + plan->most_rows * lanes;
    w.derivative = w.weight + plan->most_rows * lanes;
    w.value = w.derivative + plan->most_derivatives * lanes;
    w.sum = w.value + plan->most_values * lanes;
    w.scratch = w.sum + lanes;
    return w;
}

static void evaluate_instance(const factor_group *group, size_t instance, const block_source *from, size_t n,
                              void *scratch, double *value, double *gradient) {
    block_work w = work_on(group, instance, n, scratch);
    const size_t lanes = w.lanes;
    for (size_t l = 0; l < n; l += lanes) {
        w.lanes = n - l < lanes ? n - l : lanes;
        evaluate_lanes(&w, from, group->variables + instance * group->slots, n, l, value, gradient);
    }
}

size_t svmp_computed_group_find_infinite(const factor_group *group, size_t instance, const double *x, void *scratch) {
    const block_work w = work_on(group, instance, 1, scratch);
    const computed_run *end = &w.plan->runs[w.plan->windows[w.block[1].window].run];
    for (size_t j = 0; j < group->slots; j++) w.rows[j] = x[group->variables[instance * group->slots + j]];
    compute_rows(&w);
    for (const computed_run *run = &w.plan->runs[w.plan->windows[w.block->window].run]; run < end; run++)
        for (size_t i = 0; i < run->span.count; i++)
            if (!isfinite(w.rows[run->row + i])) return w.plan->groups[run->span.group].line;
    return 0;
}

static int evaluate(const factor_group *group, size_t first, size_t count, size_t n, const double *x, void *scratch,
                    double *value, double *gradient) {
    const block_source from = {x, NULL};
    for (size_t k = 0; k < count; k++)
        evaluate_instance(group, first + k, &from, n, scratch, value ? value + k * n : NULL,
                          gradient ? gradient + k * group->slots * n : NULL);
    return FACTOR_DONE;
}

/* Without partials a view has one instance. */
static int evaluate_view(const factor_group *group, const void *partial, const instance_view *view, size_t n,
                         void *scratch, double *value, double *gradient) {
    const block_source from = {view->x, view};
    (void)partial;
    evaluate_instance(group, view->instance[0], &from, n, scratch, value, gradient);
    return FACTOR_DONE;
}

static size_t view_scratch(const factor_group *group, const void *partial, size_t n) {
    (void)partial;
    return scratch(group, n);
}

static size_t operations(const factor_group *group, const void *partial) {
    const block_group *self = group->self;
    size_t all = 0;
    (void)partial;
    for (size_t k = 0; k < group->instances; k++) all += self->plan->blocks[self->block[k]].operations;
    return group->instances > 0 ? all / group->instances : 0;
}

/* Rows that are linear in what they read, and factors that are quadratic. */
static size_t quadratic(const factor_group *group) {
    const computed_plan *plan = ((const block_group *)group->self)->plan;
    for (size_t g = 0; g < plan->group_count; g++)
        if (plan->groups[g].instances > 0 &&
            svmp_program_group_degree(&plan->groups[g]) > (g < plan->row_groups ? 1 : 2))
            return 0;
    return operations(group, NULL) + 1;
}

static void free_self(svmp_context *context, void *pointer) {
    block_group *self = pointer;
    svmp_computed_plan_free(self->plan);
    svmp_release(context, self->block);
    svmp_release(context, self);
}

/* Takes over one share of the plan, also on failure. */
static svmp_status make_self(svmp_context *context, computed_plan *plan, size_t count, block_group **made) {
    block_group *self = NULL;
    svmp_status status = SVMP_NEW(context, self, 1);
    if (status == SVMP_OK) status = SVMP_NEW(context, self->block, count);
    if (status == SVMP_OK) {
        self->plan = plan;
        *made = self;
        return SVMP_OK;
    }
    svmp_release(context, self);
    svmp_computed_plan_free(plan);
    return status;
}

static svmp_status keep(svmp_context *context, const factor_group *group, size_t count, const uint32_t *which,
                        void **self) {
    const block_group *from = group->self;
    block_group *made = NULL;
    from->plan->shared++;
    SVMP_TRY(make_self(context, from->plan, count, &made));
    for (size_t k = 0; k < count; k++) made->block[k] = from->block[which[k]];
    *self = made;
    return SVMP_OK;
}

static const factor_kind block_kind = {.name = "block",
                                       .evaluate = evaluate,
                                       .scratch = scratch,
                                       .free = free_self,
                                       .quadratic = quadratic,
                                       .values_alone = 1,
                                       .keep = keep,
                                       .evaluate_view = evaluate_view,
                                       .view_scratch = view_scratch,
                                       .operations = operations};

bool svmp_computed_group_is(const factor_group *group) { return group->kind == &block_kind; }

size_t svmp_computed_group_rows(const factor_group *group, size_t instance) {
    const block_group *self = group->self;
    return self->plan->blocks[self->block[instance]].rows;
}

svmp_status svmp_computed_group_scopes(const factor_group *group, size_t instance, size_t *count, index_lists *scopes) {
    const block_group *self = group->self;
    return svmp_computed_block_scopes(self->plan, self->block[instance], count, scopes);
}

/* Blocks of as many variables make a group; what may jump in one of them counts for all. */
svmp_status svmp_computed_group_discontinuities(svmp_context *context, const factor_group *group, bool *slots,
                                                bool *any) {
    const computed_plan *plan = ((const block_group *)group->self)->plan;
    *any = false;
    for (size_t g = 0; g < plan->group_count; g++) {
        bool *own = NULL, found = false;
        if (plan->groups[g].instances == 0) continue;
        SVMP_TRY(SVMP_NEW(context, own, plan->groups[g].slots));
        const svmp_status status = svmp_program_group_discontinuities(&plan->groups[g], own, &found);
        svmp_release(context, own);
        SVMP_TRY(status);
        *any = *any || found;
    }
    for (size_t j = 0; *any && j < group->slots; j++) slots[j] = true;
    return SVMP_OK;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static void free_group(svmp_context *context, factor_group *group) {
    if (group->self) group->kind->free(context, group->self);
    svmp_release(context, group->variables);
    *group = (factor_group){0};
}

void svmp_computed_rows_free(svmp_context *context, computed_rows *rows) {
    for (size_t g = 0; g < rows->group_count; g++) {
        free_group(context, &rows->groups[g]);
        if (rows->row) svmp_release(context, rows->row[g]);
    }
    svmp_release(context, rows->groups);
    svmp_release(context, rows->row);
    *rows = (computed_rows){0};
}

/* What is left of a group without the instances that are in blocks. */
static svmp_status keep_others(svmp_context *context, const factor_group *from, const unsigned char *taken,
                               factor_group *to) {
    uint32_t *which = NULL;
    svmp_status status;
    *to = (factor_group){.kind = from->kind, .slots = from->slots, .line = from->line};
    SVMP_CHECK(SVMP_NEW(context, which, from->instances));
    for (size_t k = 0; k < from->instances; k++)
        if (!taken[k]) which[to->instances++] = (uint32_t)k;
    SVMP_CHECK(SVMP_NEW(context, to->variables, to->instances * to->slots));
    for (size_t k = 0; k < to->instances; k++)
        memcpy(to->variables + k * to->slots, from->variables + which[k] * to->slots,
               to->slots * sizeof *to->variables);
    if (to->instances > 0) SVMP_CHECK(from->kind->keep(context, from, to->instances, which, &to->self));
done:
    svmp_release(context, which);
    if (status != SVMP_OK) free_group(context, to);
    return status;
}

/* A block and how many variables it has. */
typedef struct sized_block {
    size_t slots, block;
} sized_block;

static int order_of_blocks(const void *a, const void *b) {
    const sized_block *one = a, *other = b;
    if (one->slots != other->slots) return one->slots < other->slots ? -1 : 1;
    return one->block < other->block ? -1 : one->block > other->block;
}

/* A group of blocks with as many variables. */
static svmp_status make_blocks(svmp_context *context, computed_plan *plan, size_t count, const sized_block *blocks,
                               factor_group *to) {
    const size_t slots = blocks->slots;
    block_group *self = NULL;
    plan->shared++;
    SVMP_TRY(make_self(context, plan, count, &self));
    *to = (factor_group){.kind = &block_kind, .instances = count, .slots = slots, .self = self};
    SVMP_TRY(SVMP_NEW(context, to->variables, count * slots));
    to->line = plan->groups[plan->factors[plan->blocks[blocks->block].factor].group].line;
    for (size_t k = 0; k < count; k++) {
        const uint32_t *variables = plan->variables + plan->blocks[blocks[k].block].variable;
        if (slots > 0) memcpy(to->variables + k * slots, variables, slots * sizeof *variables);
        self->block[k] = (uint32_t)blocks[k].block;
    }
    return SVMP_OK;
}

/* Appends groups of all blocks; there is room for as many as there are blocks. */
static svmp_status make_all_blocks(svmp_context *context, computed_plan *plan, size_t *count, factor_group *made) {
    sized_block *sorted = NULL;
    svmp_status status = SVMP_NEW(context, sorted, plan->block_count);
    for (size_t b = 0; status == SVMP_OK && b < plan->block_count; b++)
        sorted[b] = (sized_block){plan->blocks[b].slots, b};
    if (status == SVMP_OK && plan->block_count > 0) qsort(sorted, plan->block_count, sizeof *sorted, order_of_blocks);
    for (size_t b = 0, same; status == SVMP_OK && b < plan->block_count; b += same) {
        for (same = 1; b + same < plan->block_count && sorted[b + same].slots == sorted[b].slots;) same++;
        status = make_blocks(context, plan, same, sorted + b, &made[(*count)++]);
    }
    svmp_release(context, sorted);
    return status;
}

static svmp_status join(svmp_context *context, const computed_rows *rows, unsigned char **taken, size_t *count,
                        factor_group **groups) {
    computed_plan *plan = NULL;
    factor_group *all = NULL;
    size_t kept = 0;
    svmp_status status;
    SVMP_CHECK(svmp_computed_plan_make(context, rows, *count, *groups, taken, &plan));
    SVMP_CHECK(SVMP_NEW(context, all, *count + plan->block_count));
    for (size_t g = 0; g < *count; g++) {
        factor_group *group = &(*groups)[g];
        size_t blocks = 0;
        for (size_t k = 0; k < group->instances; k++) blocks += taken[g][k];
        if (blocks == 0) {
            all[kept++] = *group;
            *group = (factor_group){0};
        } else if (blocks < group->instances) {
            SVMP_CHECK(keep_others(context, group, taken[g], &all[kept]));
            kept++;
        }
    }
    SVMP_CHECK(make_all_blocks(context, plan, &kept, all));
done:
    svmp_computed_plan_free(plan);
    for (size_t g = 0; status == SVMP_OK && g < *count; g++) free_group(context, &(*groups)[g]);
    if (status != SVMP_OK) {
        for (size_t g = 0; all && g < kept; g++) free_group(context, &all[g]);
        svmp_release(context, all);
        return status;
    }
    svmp_release(context, *groups);
    *groups = all;
    *count = kept;
    return SVMP_OK;
}

svmp_status svmp_computed_join(svmp_context *context, computed_rows *rows, size_t *count, factor_group **groups) {
    unsigned char **taken = NULL;
    svmp_status status = SVMP_OK;
    const size_t before = *count;
    if (rows->count > 0) {
        SVMP_CHECK(SVMP_NEW(context, taken, before));
        for (size_t g = 0; g < before; g++) SVMP_CHECK(SVMP_NEW(context, taken[g], (*groups)[g].instances));
        SVMP_CHECK(join(context, rows, taken, count, groups));
    }
    svmp_computed_rows_free(context, rows);
done:
    for (size_t g = 0; taken && g < before; g++) svmp_release(context, taken[g]);
    svmp_release(context, taken);
    return status;
}
