/* Directions along which the density does not fall, so that no Gaussian fits it. */
#ifndef SVMP_PREPARE_IMPROPER_DIRECTIONS_H
#define SVMP_PREPARE_IMPROPER_DIRECTIONS_H

#include "prepare/bound_ascent.h"

typedef struct improper_direction {
    int found;
    size_t variable;  /* that moves most, in units of its sd given the others */
    char names[200];  /* of all that move: "a and b" */
    size_t variables; /* so many */
} improper_direction;

/* Whether the density falls off, far from the point where an ascent has ended, along the direction in which its
 * Gaussian is widest, if that is very wide beside what single variables are given the others, along the variables that
 * are farthest out, and along the way to the mean. From a distance r to a distance R, what is proper falls by more than
 * log(R/r), or its integral along the ray has no limit. The factor must be that of here.A; next is overwritten. Costs
 * two solves and an evaluation of the draws. A model text whose priors are all proper, and that has no factor(), is
 * proper whatever this would find. */
svmp_status svmp_find_improper_direction(ascent *a, improper_direction *result);

#endif
