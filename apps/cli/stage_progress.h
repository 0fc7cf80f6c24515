/* Progress of work outside the iterations (the search for the start, the examination): a line now and then once it has
 * taken some seconds. */
#ifndef SVMP_CLI_STAGE_PROGRESS_H
#define SVMP_CLI_STAGE_PROGRESS_H

#include "progress.h"

typedef struct stage {
    progress_mode mode;
    const char *name;   /* "start" or "examination"; NULL between stages */
    double began, last; /* seconds of the clock of progress.h; last: when a line was printed */
    int shown;          /* the terminal shows a live line */
} stage;

void stage_begin(stage *at, progress_mode mode, const char *name);

/* `done` of at most `most` moves; most = 0: unknown. */
void stage_update(stage *at, size_t done, size_t most);

void stage_end(stage *at); /* erases the live line */

/* A log function whose data is the stage: print_log, and what the library logs on its way is a sign of life. */
void stage_print_log(svmp_log_level level, const char *message, void *at);

#endif
