/* The time per unit of work on this machine. */
#ifndef SVMP_RUN_PLAN_RATE_H
#define SVMP_RUN_PLAN_RATE_H

#include "method/run_options.h"
#include "model/model.h"
#include "run/plan_demand.h"

/* Measures the seconds of one thread per unit of work (graph/partition.h), and returns the number of nodes measured. It
 * runs iterations of the requested run with fixed particles, on the model or on a part of it that exceeds the caches,
 * for a few seconds. With more than 2,000 particles it measures 2,000 and extrapolates. */
svmp_status svmp_plan_measure_rate(const svmp_model *model, const run_options *options, const run_demand *d,
                                   double *rate, double *measured);

#endif
