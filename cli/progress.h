/* A run that is watched: a line on the standard error, and an ear for Ctrl-C. */
#ifndef SVMP_CLI_PROGRESS_H
#define SVMP_CLI_PROGRESS_H

#include "svmp.h"

typedef enum progress_mode {
    PROGRESS_NONE,
    PROGRESS_LIVE,  /* one line of a terminal, written over and over */
    PROGRESS_LINES, /* a line every ten seconds */
    PROGRESS_JSON,  /* an object a line: every second, and at the end */
} progress_mode;

typedef struct progress {
    progress_mode mode;
    const char *largest;  /* what svmp_progress.largest is the largest of; NULL: it is NaN */
    size_t first;         /* the iteration that the run began with: more than 0 when it was resumed */
    double started, last; /* seconds of a steady clock; last: when a line was printed */
    int shown;            /* a live line stands on the terminal */
    svmp_progress state;  /* the last that was heard of the run, */
    int told;             /* and whether it was printed */
} progress;

/* "auto" (a live line on a terminal, else lines), "json" or "none". Returns 0, or an exit status when it has said what
 * is wrong. */
int progress_parse(const char *text, progress_mode *mode);

/* From here on SIGINT and SIGTERM stop the run after its current iteration; another one, a second later or more, ends
 * the program. */
void progress_begin(progress *watch, progress_mode mode, const svmp_method *method, size_t first);

/* Takes notice of an iteration; returns whether the run shall stop. */
int progress_look(progress *watch, const svmp_progress *state);

/* Seconds since the beginning. */
double progress_seconds(const progress *watch);

/* Wipes the live line off, for others to print. */
void progress_wipe(progress *watch);

/* Says what is left to say; returns the seconds since the beginning. */
double progress_end(progress *watch);

#endif
