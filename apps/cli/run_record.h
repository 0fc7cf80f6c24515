/* The record of a run, which is written to the comments of its particle file. */
#ifndef SVMP_CLI_RUN_RECORD_H
#define SVMP_CLI_RUN_RECORD_H

#include "convergence.h"
#include "front/command_options.h"

typedef struct run_record {
    const option_set *set;
    const svmp_run *run;
    const char *coordinates; /* of --coordinates, given or the method's */
    size_t processes;
    size_t particles; /* of the whole result */
    svmp_outcome outcome;
    size_t iterations;      /* done */
    size_t resumed;         /* the iteration from which the run was resumed; 0: not resumed */
    double seconds, warmup; /* since then; warmup: those of a sampler's warm-up */
    int compressed;         /* the file has the particles that come with draws */
    size_t thin, chain;     /* every `thin`th draw is written; of this chain only, 0: of all */
    convergence convergence;
    const svmp_verdict *verdict; /* NULL: there is none */
} run_record;

/* "diverged", "completed", ... */
const char *outcome_word(svmp_outcome outcome);

/* Lines "name = value" for a file of the particles that are written: version, model files, the effective value of every
 * option, the outcome, the convergence, and the lines that Stan's tools expect. free() it; NULL: no memory. */
char *record_text(const run_record *record, const svmp_particles *written);

#endif
