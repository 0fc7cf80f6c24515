/* The checkpoints of a run: written at intervals and at the end, with a message on how to continue from the last. */
#ifndef SVMP_CLI_CHECKPOINT_WRITER_H
#define SVMP_CLI_CHECKPOINT_WRITER_H

#include <stdio.h>

#include "front/command_options.h"

typedef struct checkpoint_writer {
    svmp_context *context;
    svmp_run *run;
    const char *path;   /* NULL: no checkpoints */
    double every, last; /* seconds; last: when one was written, or tried */
    int kept;           /* a checkpoint exists */
    int failing;        /* the last one could not be written, and a warning was printed */
} checkpoint_writer;

/* The checkpoint file: that of --checkpoint, or else that of --resume; NULL: no checkpoints. */
const char *checkpoint_path(const option_set *set);

/* Checks the options --checkpoint, --checkpoint-every and --resume, and whether the checkpoint can be written. Returns
 * 0, or an exit status after an error message. */
int checkpoint_check_options(const option_set *set);

void checkpoint_writer_begin(checkpoint_writer *k, const option_set *set, svmp_context *context, svmp_run *run);

/* Whether a checkpoint is due. */
int checkpoint_is_due(const checkpoint_writer *k);

/* Writes a checkpoint. If that fails, prints one warning; the run continues, and the last good checkpoint is kept. */
void checkpoint_write(checkpoint_writer *k);

/* "svmp run ... --resume FILE". */
void checkpoint_print_resume(const checkpoint_writer *k, const option_set *set, FILE *stream);

/* The same on standard error; returns 0 if there is no checkpoint. */
int checkpoint_report_resume(const checkpoint_writer *k, const option_set *set);

#endif
