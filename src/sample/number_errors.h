/* Standard errors of what is printed of a variable, from the differences between its chains, or between
 * pieces of few chains; and which numbers are not
 * known well enough. */
#ifndef SVMP_SAMPLE_NUMBER_ERRORS_H
#define SVMP_SAMPLE_NUMBER_ERRORS_H

#include <stdbool.h>

#include "sample/particles.h"

/* In units of the sd. */
typedef struct number_errors {
    double mean, sd;
    double quantile; /* the largest of those at 5, 50 and 95 %; where tails are light, that of a Gaussian */
} number_errors;

/* The errors of variable i; `workspace` has 3 * count numbers. All NaN if it does not vary, if a value is not finite,
 * or if there are too few draws to tell. */
void svmp_number_errors(const svmp_particles *particles, size_t i, double *workspace, number_errors *errors);

/* How wide it is between the values 1 % below and above a quantile, of 5, 50 or 95 %: half of the widest, in units of
 * the sd. */
double svmp_gap_at_quantiles(const svmp_particles *particles, size_t i, double *workspace);

/* The error up to which a number is known: three of them are 0.15 sd, or 15 % of an sd. */
extern const double svmp_known_error;

/* The error from which on it is said to be uncertain. */
extern const double svmp_uncertain_error;

/* Numbers that are not known so well: how many variables have some, and the worst of these. */
typedef enum uncertain_number { UNCERTAIN_NONE, UNCERTAIN_MEAN, UNCERTAIN_SD, UNCERTAIN_TAILS } uncertain_number;

typedef struct uncertain_numbers {
    size_t count, worst; /* variables */
    uncertain_number what;
    double amount; /* the error of the worst; of tails that are too heavy for an sd, their Pareto shape */
} uncertain_numbers;

/* Means and sds; a quantile that lies between two modes is not known, whatever the number of draws. `tails`: also looks
 * for heavy ones; a light mode, far away, would look like one. */
svmp_status svmp_find_uncertain(const svmp_particles *particles, bool tails, uncertain_numbers *found);

/* How many times as many draws would bring all errors down to `known` that at most `most` times as many can; 1: these
 * draws do. */
svmp_status svmp_find_more_draws(const svmp_particles *particles, double known, double most, double *more);

#endif
