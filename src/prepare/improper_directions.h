/* Improper directions, along which the density does not fall, so that no Gaussian fits it. */
#ifndef SVMP_PREPARE_IMPROPER_DIRECTIONS_H
#define SVMP_PREPARE_IMPROPER_DIRECTIONS_H

#include "prepare/bound_ascent.h"

typedef struct improper_direction {
    int found;
    size_t variable;  /* the one that moves most, in units of its sd given the others */
    char names[200];  /* of all that move: "a and b" */
    size_t variables; /* their number */
} improper_direction;

/* Searches for an improper direction at the end of an ascent: along the direction in which its Gaussian is widest, if
 * that is much wider than the variables given the others, along the variables that are farthest out, and along the ray
 * to the mean. Between distances r and R a proper log density falls by more than log(R/r); otherwise its integral along
 * the ray diverges. The factor must be that of here.A; next is overwritten. Costs two solves and an evaluation of the
 * draws. A model text whose priors are all proper, and that has no factor(), is proper whatever the result. */
svmp_status svmp_find_improper_direction(ascent *a, improper_direction *result);

#endif
