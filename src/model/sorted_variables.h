/* Unknowns that a text sorts, s <- sort(v): which of them is the smallest makes no difference to what depends on s. */
#ifndef SVMP_MODEL_SORTED_VARIABLES_H
#define SVMP_MODEL_SORTED_VARIABLES_H

#include "model/model.h"

/* Puts the variables of each such group in the order that `like` has, a number for each variable, in all of n
 * particles; NULL: in ascending order. */
void svmp_model_sort(const svmp_model *model, const double *like, size_t n, double *x);

/* marked[variable] = true for all variables of such groups; others stay. */
void svmp_model_mark_sorted(const svmp_model *model, bool *marked);

/* Puts them in a random order instead, each particle in one of its own: an exact move where their order makes no
 * difference, after which each has the distribution that all of them have. */
void svmp_model_shuffle(const svmp_model *model, uint64_t seed, size_t n, double *x);

/* Whether the order makes no difference to anything: the log density of some of the particles stays the same, but for
 * rounding, when sorted variables are exchanged. 0 also if none is sorted. */
svmp_status svmp_model_is_exchangeable(const svmp_model *model, size_t n, const double *x, int *is);

#endif
