/* References: long runs of NUTS, kept in the output folder and used again. */
#ifndef SVMP_PAPER_REFERENCE_H
#define SVMP_PAPER_REFERENCE_H

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

/* The draws of references/FIGURE_TRIAL.csv, made if need be; `r_hat` is the largest of all variables. */
int reference_get(const task *t, const svmp_model *model, reference_plan plan, svmp_particles **draws, double *r_hat);

#endif
