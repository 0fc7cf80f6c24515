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
 * The grid of a particle that has run away, or is none, is infinite, and so are its distances. A sum of d squares is
 * off by d/2 steps at the very most; a step is at most 2^-47 reach^2, and d 2^-11 times that where d > 2^11. Two
 * particles may be much closer than they reach: where there are fewer than d 2^30 steps between them, they are counted
 * again, on a grid of their own, from the largest |x_j[l] - x_j[m]|. All distances have a relative error below 2^-30
 * then, those of near pairs in more than 2^14 variables below d^2 2^-58 at the very most.
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
    struct grid_pair *near;  /* GRID_NEAR, for svmp_grid_note */
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

/* The step of a pair, and what its steps come to. */
static inline double svmp_grid_step(const common_grid *grid, size_t l, size_t m) {
    return 0x1p-52 * (grid->of[l] > grid->of[m] ? grid->of[l] : grid->of[m]);
}

static inline double svmp_grid_value(const common_grid *grid, size_t l, size_t m, int64_t steps) {
    const double one = svmp_grid_step(grid, l, m);
    return one < INFINITY ? (double)steps * one : INFINITY;
}

/* How many steps are few: a power of two. */
double svmp_grid_few(const common_grid *grid);

/* Pairs that have fewer, in the order in which all processes note them: their distances are counted again when there
 * are GRID_NEAR of them, and at the end. */
typedef struct grid_pair {
    size_t l, m;
    double *distance; /* where it goes */
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

/* The rows of all variables, n numbers each, in the order of the whole graph, from those of every process's own. */
void svmp_grid_gather(const common_grid *grid, const svmp_graph *graph, const double *own, double *all);

#endif
