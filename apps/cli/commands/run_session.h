/* A run, from the command line to its table: prepare.c reads, command_run.c iterates, run_table.c prints, run_ending.c
 * explains.
 */
#ifndef SVMP_CLI_COMMANDS_RUN_SESSION_H
#define SVMP_CLI_COMMANDS_RUN_SESSION_H

#include "checkpoint_lock.h"
#include "checkpoint_writer.h"
#include "progress.h"
#include "run_record.h"
#include "stage_progress.h"
#include "write_samples.h"

enum { VARIABLES_SHOWN = 40, FIRST_SHOWN = 10 }; /* all, up to so many; of more, the first */

/* All that a run holds, so that there is one place where it ends. */
typedef struct session {
    const option_set *set;
    svmp_context *context;
    svmp_options *options;
    svmp_method method; /* what that is */
    const char *coordinates;
    svmp_model *model;
    svmp_split split; /* among processes */
    writer writer;
    progress_mode mode;
    progress watch;
    stage stage; /* what is under way outside the iterations */
    checkpoint_writer checkpoint_writer;
    file_lock lock;                 /* of the checkpoint */
    svmp_particles *start;          /* of a file of --init, until the run has them; several processes read their own */
    svmp_particles *result, *first; /* first: the variables that are shown */
    svmp_run *run;
    svmp_discrepancy *nodes; /* of every node of the model, at the end */
    size_t warmup;           /* a sampler's iterations that are not kept, */
    double warm;             /* and the seconds that they took */
    double began;            /* when the command did, by the clock of its progress */
    double examines;         /* the seconds that the examination may take; 0: none */
    double worked;           /* seconds of the processor for the iterations, in this thread */
    int clear;               /* whether the result may be used */
    int measures;            /* the discrepancy is measured along the way */
    int unwritten;           /* the exit status of writing the result; 0: it is written, or will be */
    int interrupted;         /* this process was, by a signal */
    run_record record;
    svmp_verdict *verdict;
} session;

/* Everything before the first iteration: options, model, start, checkpoint. Returns an exit status. */
int session_prepare(session *s);

/* The table, and below it what the result is worth. */
int session_print(session *s);

/* A sampler that has not left its warm-up has no draws to show or write. */
int session_explain_warmup(const session *s);

/* What there is to say about a run that did not come to its end. Returns the exit status. */
int session_explain_end(const session *s, svmp_status ended);

#endif
