/* Internal functions of runs. */
#ifndef SVMP_RUN_RUN_H
#define SVMP_RUN_RUN_H

#include "method/method.h"

/* The start as text: the given one or the method's default. */
const char *svmp_run_init(const svmp_run *run);

/* Sets the option draws of a method with `answers`: as many of each particle, fewer of models with many values. By
 * default those of a large model take a quarter of a gigabyte; if a particle would have less than two, there are none,
 * and the particles are the answer. */
void svmp_run_choose_draws(svmp_run *run);

/* The memory of a process at the end of the run of n particles or chains: its arrays, the draws of a sampler, and the
 * result, twice: the variables and their natural values. Without the model. */
double svmp_run_bytes(const svmp_run *run, size_t n);

/* The draws of the answer, on their natural scale and with derived values, but without names; NULL: it has none. */
svmp_status svmp_run_answer(const svmp_run *run, svmp_particles **draws);

/* How many times as many draws would leave no number of the answer uncertain: of unknowns on their natural scale and of
 * derived values; 1: these do, or no number that is possible would. */
svmp_status svmp_run_more_draws(const svmp_run *run, double *more);

/* Waits until the results of all iterations are known. SVMP_NOT_FINITE: the run is at the last finite particles. */
svmp_status svmp_run_synchronise(svmp_run *run);

/* Saves or loads what changes from iteration to iteration: particles, counts, the state of the method. */
svmp_status svmp_run_archive(svmp_run *run, archive *a);

/* Adds iterations that are known but not in run->trace to a history; returns how many are still unknown. */
size_t svmp_run_complete_trace(const svmp_run *run, history *way);

/* Fails because the checkpoint is of another backend, and says what can be done. */
svmp_status svmp_run_refuse_backend(svmp_context *context, const char *path, const char *saved, const char *now);

/* Fails if the run is unusable. */
svmp_status svmp_run_refuse_unusable(const svmp_run *run);

#endif
