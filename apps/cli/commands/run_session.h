/* A run, from the command line to its table: run_prepare.c reads, command_run.c iterates, run_table.c prints,
 * run_ending.c explains.
 */
#ifndef SVMP_CLI_COMMANDS_RUN_SESSION_H
#define SVMP_CLI_COMMANDS_RUN_SESSION_H

#include "checkpoint_lock.h"
#include "checkpoint_writer.h"
#include "progress.h"
#include "run_record.h"
#include "stage_progress.h"
#include "write_samples.h"

enum { VARIABLES_SHOWN = 40, FIRST_SHOWN = 10 }; /* up to this many variables are shown; of more, the first few */

/* All that a run owns, so that it is freed in one place. */
typedef struct session {
    const option_set *set;
    svmp_context *context;
    svmp_options *options;
    svmp_method method; /* of these options */
    const char *coordinates;
    svmp_model *model;
    int shares;       /* several processes have the whole model, and share its chains */
    svmp_split split; /* among processes that have parts of it */
    writer writer;
    progress_mode mode;
    progress watch;
    stage stage; /* the work outside the iterations */
    checkpoint_writer checkpoint_writer;
    file_lock lock;                 /* of the checkpoint */
    svmp_particles *start;          /* of a file of --init, until the run has them; several processes read their own */
    svmp_particles *result, *first; /* first: the variables that are shown */
    svmp_run *run;
    svmp_discrepancy *nodes; /* of every node of the model, at the end */
    size_t warmup;           /* a sampler's iterations that are not kept, */
    double warm;             /* and the seconds that they took */
    double began;            /* when the command began, by progress_clock */
    double examines;         /* seconds for the examination; 0: it is left out */
    double worked;           /* seconds of the processor for the iterations, in this thread */
    int clear;               /* whether the result may be used */
    int measures;            /* the discrepancy is measured during the run */
    int unwritten;           /* the exit status of writing the result; 0: it is written, or will be */
    int interrupted;         /* this process was, by a signal */
    run_record record;
    svmp_verdict *verdict;
} session;

/* Everything before the first iteration: options, model, start, checkpoint. Returns an exit status. */
int session_prepare(session *s);

/* Prints the table and the verdict. */
int session_print(session *s);

/* A sampler that has not left its warm-up has no draws to show or write. */
int session_explain_warmup(const session *s);

/* Explains why a run ended early. Returns the exit status. */
int session_explain_end(const session *s, svmp_status ended);

#endif
