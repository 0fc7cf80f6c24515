/* Sums over all variables that have no order, so that it does not matter which process has which of them.
 *
 * What a variable adds for a pair of particles, (x_l - x_m)^2 or z_l z_m, is rounded by itself to steps of the pair's
 * grid, and steps are counted: whole numbers add up to the same in any order. A number of the size M is a multiple of
 * the step M 2^-52; so M + square, less M, is the square rounded to steps, and the difference of the bits of the two,
 * read as whole numbers, is how many.
 *
 *     reach[l] = max_j |x_j[l] - c_j|     over all variables j, c_j being where most particles are;
 *                                         or max_j |z_j[l]|
 *     grid[l]  = 2^k                      beyond 8 reach[l]^2, and so far that d terms are less than 2^62 steps
 *     M        = the larger grid of the two particles; of products half as much again, for they have a sign
 *
 * The grid of a particle that has run away, or is none, is infinite, and so are its distances. A sum of d terms is off
 * by some sqrt(d) steps, d/2 at the very most; a step is at most 2^-47 reach^2, and d 2^-11 times that where d > 2^11.
 */
#ifndef SVMP_KERNEL_GRID_H
#define SVMP_KERNEL_GRID_H

#include <math.h>

#include "graph/graph.h"

/* Particles on all variables of a model, and where their grid and steps stand. */
typedef struct common_grid {
    size_t n, variables;     /* particles; variables of the whole model */
    const struct team *team; /* the processes that have them; NULL: this one */
    double *of;              /* n: the grid */
    int64_t *steps;          /* n*n, for svmp_grid_multiply */
} common_grid;

/* The grid from the `count` variables of this process, whose rows these are, and those of the others. */
enum grid_use { GRID_SQUARES, GRID_PRODUCTS };
void svmp_grid_find(const common_grid *grid, size_t count, const double *const *rows, enum grid_use use, int threads);

/* The steps of particle l in `count` variables: squares with those behind it, or products with all. */
void svmp_grid_squares(const common_grid *grid, size_t count, const double *const *rows, size_t l, int64_t *steps);
void svmp_grid_products(const common_grid *grid, size_t count, const double *const *rows, size_t l, int64_t *steps);

/* products[l][m] = sum_j z_j[l] z_j[m] over all variables of all processes, grid included; returns the mean of the
 * diagonal. */
double svmp_grid_multiply(const common_grid *grid, size_t count, const double *const *rows, int threads,
                          double *products);

/* What the steps of a pair come to. */
static inline double svmp_grid_value(const common_grid *grid, size_t l, size_t m, int64_t steps) {
    const double coarser = grid->of[l] > grid->of[m] ? grid->of[l] : grid->of[m];
    return coarser < INFINITY ? (double)steps * (coarser * 0x1p-52) : INFINITY;
}

/* The rows of all variables, n numbers each, in the order of the whole graph, from those of every process's own. */
void svmp_grid_gather(const common_grid *grid, const svmp_graph *graph, const double *own, double *all);

#endif
