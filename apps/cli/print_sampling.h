/* Prints the statistics of a sampler, with advice. */
#ifndef SVMP_CLI_PRINT_SAMPLING_H
#define SVMP_CLI_PRINT_SAMPLING_H

#include "svmp_tools.h"

/* A line of numbers and, where something is off, what it means and what may help; nothing for particles without
 * accept_stat__. `step` is the step that the run took, as text; NULL: none, or it is not known. What divergences and a
 * low E-BFMI mean is said by a verdict. */
void print_sampling(const svmp_particles *particles, const char *step);

enum { STEP_TEXT = 64 };

/* An option for another step, "--step fixed:0.001" of "fixed:0.01" and 0.1; of one that is not a rule and a number,
 * "--step". Returns `text`. */
const char *scaled_step(const char *step, double by, char text[STEP_TEXT]);

#endif
