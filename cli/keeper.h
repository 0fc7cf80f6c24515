/* The checkpoints of a run: one every so many seconds and one at the end, and how to go on from the last. */
#ifndef SVMP_CLI_KEEPER_H
#define SVMP_CLI_KEEPER_H

#include "front/options.h"

typedef struct keeper {
    svmp_context *context;
    svmp_run *run;
    const char *path;   /* NULL: no checkpoints */
    double every, last; /* seconds; last: when one was written, or tried */
    int kept;           /* there is one */
    int failing;        /* the last one could not be written, which was said */
} keeper;

/* Where checkpoints go: to the file of --checkpoint, or on in that of --resume; NULL: there are none. */
const char *keeper_path(const option_set *set);

/* The options --checkpoint, --checkpoint-every and --resume by themselves: whether they fit together, and whether the
 * checkpoint may be written. Returns 0, or an exit status when it has said what is wrong. */
int keeper_check(const option_set *set);

void keeper_begin(keeper *k, const option_set *set, svmp_context *context, svmp_run *run);

/* Whether one is due. */
int keeper_is_due(const keeper *k);

/* Writes one. When it cannot, that is said once, the run goes on and the last good one stays. */
void keeper_keep(keeper *k);

/* "svmp run ... --resume FILE". */
void keeper_print_how(const keeper *k, const option_set *set, FILE *stream);

/* The same on the standard error; 0 when there is no checkpoint to go on from. */
int keeper_say_how(const keeper *k, const option_set *set);

#endif
