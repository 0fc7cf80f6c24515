/* The output of a run: what of the result is written (--save, --thin), to which file (--output), or one a chain
 * (--split). */
#ifndef SVMP_CLI_WRITER_H
#define SVMP_CLI_WRITER_H

#include "options.h"
#include "record.h"

typedef struct writer {
    const option_set *set;
    svmp_context *context;
    size_t *chosen, chosen_count; /* NULL: all variables */
    size_t thin, split;           /* split: into so many files, 0: a single one */
    int quiet;                    /* sizes are not announced */
    char *written;                /* the file that the particles are in, FILE_*.csv of --split; NULL: none */
} writer;

/* The options by themselves: whether they fit together and to the method, and whether the files may be written. Returns
 * 0, or an exit status when it has said what is wrong. */
int writer_begin(writer *w, const option_set *set, const svmp_run_options *options, const svmp_method *method);
void writer_free(writer *w); /* takes one that is all zeros */

/* Looks up the variables of --save among those that the run's result will have; what the model could compute is said.
 */
int writer_choose(writer *w, svmp_context *context, const svmp_model *model, const svmp_run *run);

/* What is monitored, or drawn after the run, need not be finite (1/0, the logarithm of what is not positive, a
 * precision below 0): such variables are left out of the result, and of what was chosen from it, each with a word. */
int writer_leave_out(writer *w, const svmp_model *model, svmp_particles **result);

/* Writes the result, if that was asked for. A file that somebody else has made since the run began stays. */
int writer_write(writer *w, const svmp_particles *result, run_record *record);

#endif
