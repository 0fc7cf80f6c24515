/* A run that is watched: a line on the standard error, and an ear for Ctrl-C. */
#ifndef SVMP_CLI_PROGRESS_H
#define SVMP_CLI_PROGRESS_H

#include "svmp.h"

typedef struct progress {
    int quiet, live;      /* live: one line of a terminal, written over and over */
    double started, last; /* seconds of a steady clock; last: when a line was printed */
    int shown;            /* a live line stands on the terminal */
} progress;

/* From here on SIGINT and SIGTERM stop the run after its current iteration; a second one ends the program. */
void progress_begin(progress *watch, int quiet);

/* An svmp_monitor; its user_data is the progress. */
int progress_monitor(const svmp_progress *state, void *user_data);

/* Wipes the live line off; returns the seconds since the beginning. */
double progress_end(progress *watch);

#endif
