/* Order-independent sums over all variables, so that the result does not depend on which process has which variables.
 *
 * The contribution of a variable to a pair of particles, (x_l - x_m)^2 or z_l z_m, is rounded to a multiple of the step
 * of the pair's grid, and the steps are counted: integers have the same sum in any order. Numbers of size M are
 * multiples of the step M 2^-52. So (M + square) - M is the square rounded to steps, and the difference of the bits of
 * M + square and M, read as integers, is the number of steps.
 *
 *     reach[l] = max_j |x_j[l] - c_j|     over all variables j, where c_j is the centre of most particles;
 *                                         or max_j |z_j[l]|
 *     grid[l]  = 2^k                      above 8 reach[l]^2, and so large that d terms are less than 2^62 steps
 *     M        = the larger grid of the two particles; for products 3/2 of it, because they have a sign
 *
 * If a particle is not finite or too large, its grid and its distances are infinite. A sum of d squares has an error of
 * at most d/2 steps; a step is at most 2^-47 reach^2, and d 2^-11 times that if d > 2^11. Two particles may be much
 * closer than their reach: if there are fewer than d 2^30 steps between them, the pair is counted again on its own
 * grid, from the largest |x_j[l] - x_j[m]|. Then all distances have a relative error below 2^-30, and those of near
 * pairs in more than 2^14 variables below d^2 2^-58.
 */
#ifndef SVMP_STEIN_ORDER_FREE_SUMS_H
#define SVMP_STEIN_ORDER_FREE_SUMS_H

#include <math.h>

#include "graph/graph.h"

/* The grid of the particles on all variables of a model, with working memory. */
typedef struct common_grid {
    size_t n, variables;            /* particles; variables of the whole model */
    const struct svmp_peers *peers; /* the processes that have them */
    double *of;                     /* n: the grid */
    int64_t *steps;                 /* n*n, for svmp_grid_multiply */
    struct grid_pair *near;         /* GRID_NEAR, for svmp_grid_note */
} common_grid;

/* Computes the grid from the rows of this process's `count` variables and those of the other processes. Collective. */
enum grid_use { GRID_SQUARES, GRID_PRODUCTS };
void svmp_grid_find(const common_grid *grid, size_t count, const double *const *rows, enum grid_use use, int threads);

/* The steps of particle l over `count` variables: squared distances to later particles, or products with all particles.
 */
void svmp_grid_squares(const common_grid *grid, size_t count, const double *const *rows, size_t l, int64_t *steps);
void svmp_grid_products(const common_grid *grid, size_t count, const double *const *rows, size_t l, int64_t *steps);

/* products[l][m] = sum_j z_j[l] z_j[m] over all variables of all processes, grid included; returns the mean of the
 * diagonal. */
double svmp_grid_multiply(const common_grid *grid, size_t count, const double *const *rows, int threads,
                          double *products);

/* The step of a pair, and the value of a number of steps. */
static inline double svmp_grid_step(const common_grid *grid, size_t l, size_t m) {
    return 0x1p-52 * (grid->of[l] > grid->of[m] ? grid->of[l] : grid->of[m]);
}

static inline double svmp_grid_value(const common_grid *grid, size_t l, size_t m, int64_t steps) {
    const double one = svmp_grid_step(grid, l, m);
    return one < INFINITY ? (double)steps * one : INFINITY;
}

/* Pairs with fewer steps than this (a power of two) are counted again. */
double svmp_grid_few(const common_grid *grid);

/* Pairs with too few steps, noted by all processes in the same order: their distances are recomputed when there are
 * GRID_NEAR of them, and at the end. */
typedef struct grid_pair {
    size_t l, m;
    double *distance; /* its destination */
    double base;      /* the pair's grid */
} grid_pair;

typedef struct grid_recount {
    const common_grid *grid;
    size_t count; /* variables, whose rows these are */
    const double *const *rows;
    int threads;
    size_t noted;
} grid_recount;

enum { GRID_NEAR = 1024 };
void svmp_grid_note(grid_recount *again, size_t l, size_t m, double *distance);
void svmp_grid_recount(grid_recount *again);

/* Gathers the rows of all variables, n numbers each, in the order of the whole graph, from the own rows of all
 * processes. */
void svmp_grid_gather(const common_grid *grid, const svmp_graph *graph, const double *own, double *all);

#endif
