/* Correlations of pairs of variables before and after the moves. Marginals that are all right say nothing about them;
 * scores and the sums of viewed_values.h show only some. Compared are the normal scores of the ranks that values have
 * among those of the window, so that tails do not matter. */
#ifndef SVMP_VERIFY_PAIR_CORRELATIONS_H
#define SVMP_VERIFY_PAIR_CORRELATIONS_H

#include "model/model.h"
#include "verify/before_after.h"

typedef struct pair_row {
    size_t first, second;    /* variables */
    int near;                /* neighbours in the graph, or variables of one node */
    double before, after;    /* their correlations */
    double effect;           /* the difference of Fisher's z, atanh of a correlation, as far as ranks tell it */
    double change, z;        /* the difference as it is, and in standard errors; NaN: none */
    double variance, window; /* of the difference, and that part of it that is the window's */
} pair_row;

/* All neighbours whose correlation is known not to be 0 and is below 0.8 in size, together: by which part of itself
 * Fisher's z differs, -1 where all correlations are lost; 0 and 0 if there are none. */
typedef struct pair_sum {
    double effect, z;
} pair_sum;

typedef struct pairs pairs;

/* Pairs of neighbours in a whole model, at most 20,000, and all others if there are no more than 20,000 pairs in all.
 */
svmp_status svmp_pairs_create(const svmp_model *model, size_t n, int threads, pairs **made);
void svmp_pairs_free(pairs *p); /* NULL-safe */

/* How many there are, of neighbours and of all; 0 for NULL. */
size_t svmp_pairs_near(const pairs *p);
size_t svmp_pairs_count(const pairs *p);

/* Compares the particles with the window, once it is full: one row for each pair, neighbours first. */
const pair_row *svmp_pairs_close(pairs *p, const before_after *a, pair_sum *together);

#endif
