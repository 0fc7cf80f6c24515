/* The plan of computed.c: what a block computes, and in which order. */
#ifndef SVMP_MODEL_COMPUTED_PLAN_H
#define SVMP_MODEL_COMPUTED_PLAN_H

#include "graph/graph.h"
#include "model/computed.h"

/* Derivatives are kept for one window of rows at a time: about so many rows, and so many derivatives. */
enum { COMPUTED_WINDOW = 256, COMPUTED_DERIVATIVES = 2048 };

/* Instances of a group that follow one another; the derivatives of a window's spans stand one behind the other. */
typedef struct computed_span {
    uint32_t group, first, count;
    size_t derivative; /* of the first one, its place among them */
} computed_span;

/* Instances whose values are rows `row`, `row` + 1, ...; in turn: each may read the one before. */
typedef struct computed_run {
    computed_span span;
    uint32_t row;
    bool in_turn;
} computed_run;

/* Runs and spans from these on, to those of the next window. */
typedef struct computed_window {
    size_t run, span;
} computed_window;

typedef struct computed_block {
    size_t window, factor; /* the first window, the first span of its factors; they end where the next block's begin */
    size_t variable;       /* plan->variables from there on */
    size_t slots, rows, operations;
} computed_block;

typedef struct computed_plan {
    svmp_context *context;
    size_t shared; /* owners other than the first */

    /* Programs whose values are rows, then those of factors. Their instances are in the order of blocks, and within one
     * in that of their evaluation; `variables` number the rows of a block from 0: its variables, then what it computes.
     */
    factor_group *groups;
    size_t group_count, row_groups;
    computed_block *blocks; /* block_count, and one more behind the last */
    size_t block_count;
    computed_window *windows; /* window_count, and one more */
    computed_run *runs;
    computed_span *spans, *factors;
    uint32_t *variables;
    size_t window_count, run_count, span_count, factor_count, variable_count;
    size_t window_capacity, run_capacity, span_capacity, factor_capacity, variable_capacity;
    size_t most_rows, most_derivatives, most_values; /* of a block, variables included; of a window or some factors */
} computed_plan;

/* Plans the blocks of all factors that read computed rows: taken[g][k], of the caller, is set where instance k of
 * groups[g] does. */
svmp_status svmp_computed_plan_make(svmp_context *context, const computed_rows *rows, size_t count,
                                    const factor_group *groups, unsigned char **taken, computed_plan **plan);
void svmp_computed_plan_free(computed_plan *plan); /* NULL-safe */

/* Lists of a block's slots: what its factors depend on, directly or through rows, without lists within other lists as
 * far as this is cheap to see. The caller frees them. */
svmp_status svmp_computed_block_scopes(const computed_plan *plan, size_t block, size_t *count, index_lists *scopes);

/* How many factors of a group are evaluated at a time. */
static inline size_t svmp_computed_chunk(const factor_group *group) {
    const size_t fit = group->slots > 0 ? COMPUTED_DERIVATIVES / group->slots : COMPUTED_WINDOW;
    return fit > COMPUTED_WINDOW ? COMPUTED_WINDOW : fit > 0 ? fit : 1;
}

#endif
