/* What a unit of work takes on this machine. */
#ifndef SVMP_PLAN_RATE_H
#define SVMP_PLAN_RATE_H

#include "method/options.h"
#include "model/model.h"
#include "plan/demand.h"

/* Seconds of one thread for a unit of work (graph/partition.h), and the nodes that it was measured on: iterations of
 * the run that the options ask for, its particles held still, on a part of the model that is beyond the caches or all
 * of it. Takes some seconds. Of more than 2,000 particles so many are measured: how the cost grows with them is known.
 */
svmp_status svmp_plan_measure_rate(const svmp_model *model, const run_options *options, const run_demand *d,
                                   double *rate, double *measured);

#endif
