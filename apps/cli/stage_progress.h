/* Signs of life from work outside the iterations, the search for the start and the examination: a line now and then,
 * once they have taken some seconds. */
#ifndef SVMP_CLI_STAGE_PROGRESS_H
#define SVMP_CLI_STAGE_PROGRESS_H

#include "progress.h"

typedef struct stage {
    progress_mode mode;
    const char *name;   /* "start" or "examination"; NULL: none is under way */
    double began, last; /* seconds of the clock of progress.h; last: when something was said */
    int shown;          /* the terminal shows a live line */
} stage;

void stage_begin(stage *at, progress_mode mode, const char *name);

/* Where it stands: `done` of at most `most` moves; most = 0: unknown. */
void stage_update(stage *at, size_t done, size_t most);

void stage_end(stage *at); /* erases the live line */

#endif
