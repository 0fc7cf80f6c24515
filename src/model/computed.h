/* Computed rows: values that factors read like variables. Each is computed from variables and from other rows, once for
 * a particle, however many factors read it: a recursion of T steps costs T steps, not T^2 / 2.
 *
 * Rows that factors read together, or that are computed from one another, are a block, and so are all factors that read
 * them. A block is one instance of a factor group: its variables are those that its rows and factors depend on, its log
 * value is the sum of its factors. Whoever evaluates factors need not know what is inside.
 *
 *     forwards    row_r = f_r(variables, rows before it)
 *     value       sum over the factors g of g(variables, rows)
 *     backwards   w_r = sum over the factors of dg / d row_r + sum over later rows q of w_q df_q / d row_r,
 *
 * and likewise the derivatives by variables. */
#ifndef SVMP_MODEL_COMPUTED_H
#define SVMP_MODEL_COMPUTED_H

#include <stdbool.h>

#include "graph/graph.h"
#include "model/factor_group.h"

/* Groups of programs (program_factors.h) whose values are rows: `variables` of a group are the rows that its instances
 * read. Rows below `first` are variables, the others are computed, and each of them is the row of one instance. */
typedef struct computed_rows {
    size_t first, count; /* the rows from `first` on */
    factor_group *groups;
    size_t group_count, group_capacity;
    uint32_t **row; /* group -> instance -> its row */
} computed_rows;

/* Replaces the instances of `groups` that read computed rows by blocks: *count and *groups are new. Takes the groups of
 * `rows`, of which those that no factor needs are left out. Fails if a row depends on itself. After a failure both can
 * only be freed. */
svmp_status svmp_computed_join(svmp_context *context, computed_rows *rows, size_t *count, factor_group **groups);

/* NULL-safe in all parts; accepts an all-zero value. */
void svmp_computed_rows_free(svmp_context *context, computed_rows *rows);

/* Whether the group is made of blocks. */
bool svmp_computed_group_is(const factor_group *group);

/* How many rows an instance computes. */
size_t svmp_computed_group_rows(const factor_group *group, size_t instance);

/* The line of the statement whose row is the first that is not finite at x, of one particle; 0: all rows are. `scratch`
 * as for one particle. */
size_t svmp_computed_group_find_infinite(const factor_group *group, size_t instance, const double *x, void *scratch);

/* Lists of slots: the scopes of the factors inside of an instance, which are factors of the graph; those within others
 * may be left out. The caller frees them. */
svmp_status svmp_computed_group_scopes(const factor_group *group, size_t instance, size_t *count, index_lists *scopes);

/* As svmp_program_group_discontinuities: whether the log value may jump as the variable in a slot moves. What moves
 * with a row that jumps counts. */
svmp_status svmp_computed_group_discontinuities(svmp_context *context, const factor_group *group, bool *slots,
                                                bool *any);

#endif
