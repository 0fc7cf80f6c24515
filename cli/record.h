/* The record of a run: what stands in the comments of its particle file. */
#ifndef SVMP_CLI_RECORD_H
#define SVMP_CLI_RECORD_H

#include "convergence.h"
#include "options.h"

typedef struct run_record {
    const option_set *set;
    size_t processes;
    size_t particles; /* that there are: --init FILE may say, not -n */
    svmp_outcome outcome;
    size_t iterations; /* done */
    double seconds;
    convergence convergence;
} run_record;

/* "diverged", "completed", ... */
const char *outcome_word(svmp_outcome outcome);

/* Lines "name = value": version, model files, every option of the run, how it ended, where it
 * stands. free() it; NULL: no memory. */
char *record_text(const run_record *record);

#endif
