/* The time and memory of a run besides its iterations, which progress.h estimates. */
#ifndef SVMP_CLI_TIME_ESTIMATE_H
#define SVMP_CLI_TIME_ESTIMATE_H

#include "front/command_options.h"
#include "svmp_tools.h"

/* Prints the time and memory of a Gaussian start of a large model; there is no other output until it is found. */
void estimate_start(const option_set *set, const svmp_options *options, const svmp_method *method,
                    const svmp_model *model);

/* Bytes of the result, besides those that the iterations need. */
double estimate_result(const svmp_run *run, const svmp_options *options, const svmp_method *method,
                       const svmp_model *model);

/* The time of the examination at the end, as a share of that of the iterations; adds its memory to *bytes. */
double estimate_examination(const svmp_options *options, const svmp_method *method, const svmp_model *model,
                            double *bytes);

#endif
