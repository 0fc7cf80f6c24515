/* The checkpoints of a run: written at intervals and at the end, with a message on how to continue from the last. */
#ifndef SVMP_CLI_CHECKPOINT_WRITER_H
#define SVMP_CLI_CHECKPOINT_WRITER_H

#include "front/command_options.h"

typedef struct keeper {
    svmp_context *context;
    svmp_run *run;
    const char *path;   /* NULL: no checkpoints */
    double every, last; /* seconds; last: when one was written, or tried */
    int kept;           /* a checkpoint exists */
    int failing;        /* the last one could not be written, and a warning was printed */
} keeper;

/* The checkpoint file: that of --checkpoint, or else that of --resume; NULL: no checkpoints. */
const char *keeper_path(const option_set *set);

/* Checks the options --checkpoint, --checkpoint-every and --resume, and whether the checkpoint can be written. Returns
 * 0, or an exit status after an error message. */
int keeper_check(const option_set *set);

void keeper_begin(keeper *k, const option_set *set, svmp_context *context, svmp_run *run);

/* Whether a checkpoint is due. */
int keeper_is_due(const keeper *k);

/* Writes a checkpoint. If that fails, prints one warning; the run continues, and the last good checkpoint is kept. */
void keeper_keep(keeper *k);

/* "svmp run ... --resume FILE". */
void keeper_print_how(const keeper *k, const option_set *set, FILE *stream);

/* The same on standard error; returns 0 if there is no checkpoint. */
int keeper_say_how(const keeper *k, const option_set *set);

#endif
