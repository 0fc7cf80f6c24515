/* Progress of a run: messages on standard error, and handling of Ctrl-C. */
#ifndef SVMP_CLI_PROGRESS_H
#define SVMP_CLI_PROGRESS_H

#include "svmp_tools.h"

typedef enum progress_mode {
    PROGRESS_NONE,
    PROGRESS_LIVE,  /* one line of a terminal, rewritten each time */
    PROGRESS_LINES, /* a line every ten seconds */
    PROGRESS_JSON,  /* an object a line: every second, and at the end */
} progress_mode;

/* Iterations by which messages may lag: few people read ten lines a second, and a GPU runs small models faster if many
 * iterations are queued. For large models the backend itself queues fewer. */
enum { PROGRESS_MAY_LAG = 32 };

typedef struct progress {
    progress_mode mode;
    const char *largest;  /* the quantity whose maximum is svmp_progress.largest; NULL if that is NaN */
    size_t first;         /* the first iteration: more than 0 if the run was resumed */
    double started, last; /* seconds of a steady clock; last: when a line was printed */
    int shown;            /* the terminal shows a live line */
    svmp_progress state;  /* the latest progress */
    int printed;          /* whether it was printed */
    struct progress_mark {
        size_t iteration;
        double time;
    } marks[2];       /* the iterations since the first mark, at least half of all, predict how long the others take */
    size_t expected;  /* the iteration at which the run probably ends, at most state.iterations; 0: unknown */
    double after;     /* seconds that follow the last iteration, as a share of those of all */
    size_t warmup;    /* iterations of a sampler that take longer than later ones: its trajectories are long at first */
    double begun;     /* seconds before the first iteration: reading and the start */
    double result;    /* bytes that the end of the run needs besides those in use now */
    double announced; /* the seconds announced for a long run; 0: none yet */
    double announced_at; /* when */
} progress;

/* "auto" (a live line on a terminal, else lines), "json" or "none". Returns 0, or an exit status after an error
 * message. */
int progress_parse(const char *text, progress_mode *mode);

/* From now on, SIGINT and SIGTERM stop the run after the current iteration; another signal, a second or more later,
 * ends the program. */
void progress_begin(progress *watch, progress_mode mode, const svmp_method *method, size_t first);

/* Seconds of the clock that progress uses; and of the processor, for this thread. */
double progress_clock(void);
double progress_processor(void);

/* "42 s", "3 min 20 s" or "2 h 5 min", to standard error. */
void progress_print_duration(double seconds);

/* Records an iteration; returns whether the run should stop. */
int progress_update(progress *watch, const svmp_progress *state);

/* Whether a signal has asked for a stop since progress_begin. */
int progress_interrupted(void);

/* The verdict as a JSON line, in that mode. */
void progress_print_verdict(const progress *watch, const svmp_verdict *verdict);

/* Seconds since the beginning. */
double progress_seconds(const progress *watch);

/* Erases the live line, before other output. */
void progress_wipe(progress *watch);

/* Prints the last progress, if necessary; returns the seconds since the beginning. */
double progress_end(progress *watch);

#endif
