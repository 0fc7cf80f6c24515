/* The record of a run: what stands in the comments of its particle file. */
#ifndef SVMP_CLI_RECORD_H
#define SVMP_CLI_RECORD_H

#include "convergence.h"
#include "front/options.h"

typedef struct run_record {
    const option_set *set;
    const svmp_run *run;
    size_t processes;
    size_t particles; /* of the whole result */
    svmp_outcome outcome;
    size_t iterations;      /* done, */
    size_t resumed;         /* from this one on; 0: all in one go */
    double seconds, warmup; /* since then, and of them until a sampler's warm-up was over */
    size_t thin, chain;     /* every so many-th draw is written; of this chain alone, 0: of all */
    convergence convergence;
} run_record;

/* "diverged", "completed", ... */
const char *outcome_word(svmp_outcome outcome);

/* Lines "name = value" for a file of so many rows: version, model files, every option of the run and what it came to
 * be, how it ended, where it stands, and what Stan's tools look for. free() it; NULL: no memory. */
char *record_text(const run_record *record, size_t rows);

/* The value of the line "name = value" of such comments; 0 when there is none. One that is too long is cut off. */
int record_find(const char *comments, const char *name, char *value, size_t size);

#endif
