/* Sums of squares of linear forms with a common factor, as in normal densities of many observations:
 *
 *     sum_r w_r k (c_r0 + sum_j c_rj v_j)^2  =  k (g_00 + sum_j v_j (2 g_0j + g_jj v_j + sum_i<j 2 g_ij v_i)),
 *     g_ij = sum_r w_r c_ri c_rj
 *
 * where w and c are fixed in an instance and v and k are not. The g are computed once per instance, so the lanes need
 * no loop over r. Multiples of the same expression are also added up: n log p + m log p. Equal g of different sums are
 * reused, so that many sums over the same rows cost little. */
#ifndef SVMP_EXPR_SUMS_OF_SQUARES_H
#define SVMP_EXPR_SUMS_OF_SQUARES_H

#include "expr/program.h"

typedef struct square_sums square_sums;

/* For sums of expressions of a builder, valid until it is reset. */
svmp_status svmp_squares_create(program_builder *builder, square_sums **made);
void svmp_squares_free(square_sums *sums); /* NULL-safe */

/* The sum of some expressions; added from the first to the last if there are not enough squares to collect. Failures
 * (no memory) are recorded in the builder. */
expr svmp_squares_sum(square_sums *sums, size_t count, const expr *terms);

#endif
