/* The order in which the particles of a leaf take their stratified random numbers (dist/stratified_draws.h): by the
 * first argument of its distribution that differs between them, usually a mean. Then the chance correlation of a draw
 * with what it depends on, 1/sqrt(n) in a random order, nearly disappears, and with it the error of the leaf's sd (as
 * in array-RQMC: L'Ecuyer, Lecot and Tuffin, Operations Research 2008). */
#ifndef SVMP_MODEL_LEAF_ORDER_H
#define SVMP_MODEL_LEAF_ORDER_H

#include "dist/stratified_draws.h"
#include "model/node_prior.h"

typedef struct ordered_particle {
    double key;
    size_t l;
} ordered_particle;

typedef struct leaf_order {
    strata strata;
    size_t n;
    const uint64_t *number; /* ascending: what the n particles share out among themselves */
    ordered_particle *particles;
    uint64_t *places; /* for each particle, one for each element of the largest left-hand side */
} leaf_order;

/* For n particles of `all`, which is 0 where numbers are not stratified. */
svmp_status svmp_leaf_order_reserve(const lowered_model *lowered, uint64_t all, size_t n, const uint64_t *number,
                                    leaf_order *order);
void svmp_leaf_order_release(const lowered_model *lowered, leaf_order *order); /* takes one that is all zeros */

/* Of a leaf, from what svmp_prior_evaluate left: places[l*elements + k] is that of element k of its left-hand side. */
void svmp_leaf_order_find(const lowered_model *lowered, const lowered_node *leaf, const prior_workspace *work,
                          leaf_order *order);

#endif
