/* Gaussian Markov random fields as the paper draws them, with their exact moments. */
#ifndef SVMP_PAPER_PAPER_GAUSSIAN_H
#define SVMP_PAPER_PAPER_GAUSSIAN_H

#include "paper.h"

typedef struct gaussian_problem {
    svmp_model *model;
    svmp_particles *reference; /* exact draws */
    double *mean, *square;     /* exact E[x] and E[x^2] */
    size_t variables;
} gaussian_problem;

/* Whether i and j are joined. */
typedef int (*joined_function)(size_t i, size_t j, double radius);

/* b_i ~ N(0, 1); A_ij ~ U(-0.1, 0.1) for joined pairs, symmetrised; A_ii = 0.1 + sum_j |A_ij|. `part` names the problem
 * within the trial, and `radius` belongs to its seed. */
int gaussian_draw(const task *t, size_t variables, joined_function joined, double radius, const char *part,
                  gaussian_problem *problem);
void gaussian_free(gaussian_problem *problem);

/* Runs a method and adds its rows "mean", "square" and "mmd". */
int gaussian_measure(task *t, const gaussian_problem *problem, const char *series, const char *method, size_t particles,
                     size_t iterations, double x);

#endif
