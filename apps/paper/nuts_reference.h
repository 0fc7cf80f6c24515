/* References: long runs of NUTS, kept in the output folder and used again. */
#ifndef SVMP_PAPER_NUTS_REFERENCE_H
#define SVMP_PAPER_NUTS_REFERENCE_H

#include "paper.h"

/* Where the chains begin and how long they may become: they are made twice as long until every R-hat is below 1.01, or
 * `most` draws a chain are reached. */
typedef struct reference_plan {
    const svmp_particles *start; /* as many as chains; NULL: init */
    const char *init;
    size_t chains, warmup, draws, most;
    size_t kept; /* draws a chain that are kept, evenly spaced */
} reference_plan;

#define REFERENCE_LIMIT 1.01

typedef struct reference {
    svmp_particles *draws;         /* those that are kept, */
    double *mean, *square, *error; /* and of every variable, over all draws: E[x], E[x^2], and the MCSE of E[x] */
    double r_hat;                  /* the largest of all variables; infinite where one has none */
} reference;

/* references/FIGURE_TRIAL.csv, made where it is not there or belongs to another problem or plan. */
int reference_get(const task *t, const svmp_model *model, reference_plan plan, reference *r);
void reference_free(reference *r);

#endif
