/* Internal declarations of the cross-examination, shared by examine.c and other_modes.c. */
#ifndef SVMP_VERIFY_EXAMINATION_H
#define SVMP_VERIFY_EXAMINATION_H

#include "base/peers.h"
#include "method/method.h"
#include "method/moves/mode_jump.h"
#include "method/moves/sweep.h"
#include "method/moves/trajectory.h"
#include "prepare/modes_by_mass.h"
#include "verify/before_after.h"
#include "verify/pair_correlations.h"
#include "verify/viewed_values.h"

typedef struct examination {
    const svmp_run *run;
    const double *x; /* the particles that are examined: own variables * all */
    size_t all;
    svmp_context *context;
    const svmp_model *model;
    int local; /* local moves alone: always of several processes */
    backend *b;
    backend *own;         /* the particles of b that this process moves: all, unless processes share them */
    evaluator *evaluator; /* of these */
    sweeper *sweeper;
    gaussian *q;
    int borrowed;         /* it belongs to the run */
    trajectory *global;   /* NULL: local moves alone */
    mode_jump *mode_jump; /* NULL: no modes are known */
    found_modes *found;   /* by the search of the examination; NULL: there was none yet */
    model_modes *modes;   /* of these, to jump between where the run knows none */
    before_after *before_after;
    views *views; /* NULL: for a part of a model */
    pairs *pairs; /* NULL: of one variable, of a part of a model, or too many */
    double *seen; /* views * n: of the particles as they are */
    before_after_row *rows;
    unsigned char *wrong;     /* own variable -> whether it fails */
    double *before, *density; /* n: the log density of the start, and room */
    double *own_density;      /* of the particles that this process moves */
    double began, until;      /* on this thread's clock: when the moves began; infinite: no limit */
    size_t most, done;        /* moves of every particle */
    int sorts;      /* variables that the text sorts are put in order after every move: model/sorted_variables.h */
    int fixed;      /* the step sizes stay as they are */
    int broken_off; /* the monitor has stopped it */
} examination;

/* Moves every particle `count` times, and adds each to the window if `counted`. *moved tells how many moves there was
 * time for. */
svmp_status svmp_examination_move(examination *e, size_t count, int counted, size_t *moved);

/* Of the particles of e->b, exactly summed; each process evaluates its own. */
svmp_status svmp_examination_log_density(examination *e, double *log_density);

/* Whether the run looked for modes, so that particles jump between those that it found. */
int svmp_examination_knows_modes(const examination *e);

/* Searches for modes that the particles have missed; where the run did not look for any, particles jump between these
 * from now on. Where one of some mass has fewer particles than chance explains, the particles fail. */
svmp_status svmp_examination_find_other_modes(examination *e, svmp_verdict *verdict);

/* Adds a drift to the list of the worst. */
void svmp_verdict_list(svmp_verdict *verdict, const svmp_drift *drift);

#endif
