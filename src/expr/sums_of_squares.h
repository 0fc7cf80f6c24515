/* Sums in which squares of linear forms stand under a common factor, as normal densities of many observations do:
 *
 *     sum_r w_r k (c_r0 + sum_j c_rj v_j)^2  =  k (g_00 + sum_j v_j (2 g_0j + g_jj v_j + sum_i<j 2 g_ij v_i)),
 *     g_ij = sum_r w_r c_ri c_rj
 *
 * where w and c are fixed in an instance and v and k are not. Then the g are computed once an instance, and the lanes
 * need no loop over r. Multiples of the same expression are added up, too: n log p + m log p. Equal g of different sums
 * are found again, so that many sums over the same rows cost little. */
#ifndef SVMP_EXPR_SUMS_OF_SQUARES_H
#define SVMP_EXPR_SUMS_OF_SQUARES_H

#include "expr/program.h"

typedef struct square_sums square_sums;

/* For sums of expressions of a builder, as long as it is not reset. */
svmp_status svmp_squares_create(program_builder *builder, square_sums **made);
void svmp_squares_free(square_sums *sums); /* NULL-safe */

/* The sum of some expressions: from the first to the last where there are not enough squares to collect. A failure (no
 * memory) is the builder's. */
expr svmp_squares_sum(square_sums *sums, size_t count, const expr *terms);

#endif
