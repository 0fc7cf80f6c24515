/* Correlations of pairs of variables before and after the moves. Correct marginals do not imply correct correlations,
 * and scores and the sums of viewed_values.h show only some errors. Compares normal scores of ranks within the window,
 * so that tails do not matter. */
#ifndef SVMP_VERIFY_PAIR_CORRELATIONS_H
#define SVMP_VERIFY_PAIR_CORRELATIONS_H

#include "model/model.h"
#include "verify/before_after.h"

typedef struct pair_row {
    size_t first, second; /* variables */
    int near;             /* neighbours in the graph, or variables of one node */
    double before, after; /* their correlations */
    double effect;        /* the difference of Fisher's z, atanh of a correlation, as far as ranks can determine it */
    double change, z;     /* the raw difference, and in standard errors; NaN: not tested */
    double variance, window; /* of the difference, and the window's part of it */
} pair_row;

/* A joint test of all neighbours whose correlation is significantly different from 0 and below 0.8 in size: effect is
 * the relative difference of Fisher's z, -1 if all correlations are lost; 0 and 0 if there are no such pairs. */
typedef struct pair_sum {
    double effect, z;
} pair_sum;

typedef struct pairs pairs;

/* Pairs of neighbours in a whole model, at most 20,000, and all others if there are no more than 20,000 pairs in all.
 */
svmp_status svmp_pairs_create(const svmp_model *model, size_t n, int threads, pairs **made);
void svmp_pairs_free(pairs *p); /* NULL-safe */

/* The numbers of neighbour pairs and of all pairs; 0 for NULL. */
size_t svmp_pairs_near(const pairs *p);
size_t svmp_pairs_count(const pairs *p);

/* Compares the particles with the window, once it is full: one row for each pair, neighbours first. */
const pair_row *svmp_pairs_close(pairs *p, const before_after *a, pair_sum *together);

#endif
