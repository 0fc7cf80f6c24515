/* The contributions of kernel terms to the Stein discrepancy of each variable. */
#ifndef SVMP_STEIN_DISCREPANCY_TERMS_H
#define SVMP_STEIN_DISCREPANCY_TERMS_H

#include "stein/discrepancy.h"
#include "stein/kernel_units.h"
#include "stein/order_free_sums.h"

/* Working memory of one thread for a unit. The triangles hold the pairs l < m, row after row: (0,1), (0,2), ..., (1,2),
 * ... */
typedef struct ksd_workspace {
    const double **rows; /* the particles of the domain's variables */
    uint32_t *drawn;     /* the nodes of a random domain */
    double *k, *r, *c;   /* triangles: kernel, repulsion, curvature */
    double k0, r0;       /* the first two between a particle and itself */
    double **row, **sum; /* thread of a team -> n numbers: kappa of a row, and its sums over the other particle */
} ksd_workspace;

static inline void svmp_ksd_add(svmp_stein_sums *to, double weight, svmp_stein_sums sums) {
    to->pairs += weight * sums.pairs;
    to->diagonal += weight * sums.diagonal;
    to->spread += weight * sums.spread;
}

typedef struct ksd {
    svmp_context *context;
    const stein_sample *sample;
    int threads;
    ksd_workspace *workspaces; /* one a thread */
    uint32_t *nodes;           /* 0, 1, 2, ... */
    double *centred;           /* variables * n: x less its mean over particles, for linear terms */
    double *scaled;            /* variables * n: the same in units of the sd, for terms in that metric; */
    double *scaled_score;      /* own variables * n: the scores in these units; */
    double *sd;                /* variables. All three are NULL if there is no such term */
    common_grid grid;          /* of terms on all variables */
    double *products;          /* n*n: for linear terms on all variables, if there are n or more */
    double *gathered; /* variables * n: `centred` of all processes, for linear terms on all variables, if there are
                         fewer than n */
    svmp_stein_measure *measured; /* of every own variable */
    double *row;                  /* n */
} ksd;

/* Variable i in a term: its particles and scores in the units of the term, and the factor that converts its kappa to
 * the units of the kernel. */
typedef struct ksd_variable {
    const double *x, *score;
    double in_units;
    double repels; /* 1, or 0 if k does not depend on it because all particles are equal */
} ksd_variable;

ksd_variable svmp_ksd_variable(const ksd *of, const kernel_term *term, size_t i);

/* Add the contribution of a unit of a term to the sums of its members, with `threads` threads. */
void svmp_ksd_radial(const ksd *of, const kernel_term *term, const stein_unit *unit, ksd_workspace *workspace,
                     int threads);
void svmp_ksd_linear(const ksd *of, const kernel_term *term, const stein_unit *unit, ksd_workspace *workspace,
                     int threads);

/* z = x less its mean over particles, of variable i. */
void svmp_ksd_centre(const stein_sample *sample, size_t i, double *z);

/* Whether a linear term is computed from products of particles, and whether it needs the rows of other processes. */
static inline int svmp_ksd_multiplies(const ksd *of, const kernel_term *term) {
    return svmp_term_multiplies(term, of->sample->n, of->sample->graph->whole_variables);
}

int svmp_ksd_gathers(const ksd *of, const kernel_term *term);

#endif
