/* Writes the output of a run: which variables and draws (--save, --thin), to which file (--output), or one file per
 * chain
 * (--split). */
#ifndef SVMP_CLI_WRITE_SAMPLES_H
#define SVMP_CLI_WRITE_SAMPLES_H

#include "front/command_options.h"
#include "run_record.h"

typedef struct writer {
    const option_set *set;
    svmp_context *context;
    size_t *chosen, chosen_count; /* NULL: all variables */
    size_t thin, split;           /* split: the number of files, 0: a single one */
    int quiet;                    /* sizes are not announced */
    int copies;                   /* of several processes, each has the same result, and the first one writes it */
    char *written;                /* the file that the particles are in, FILE_*.csv of --split; NULL: none */
    int replaces;                 /* `written` is of writer_secure */
} writer;

/* Checks the options against each other and the method, and whether the files can be written. Returns 0, or an exit
 * status after an error message. */
int writer_begin(writer *w, const option_set *set, const svmp_options *options, const svmp_method *method);
void writer_free(writer *w); /* accepts an all-zero value */

/* Finds the variables of --save in the result of the run; suggests --monitor for nodes that the model computes. */
int writer_choose(writer *w, svmp_context *context, const svmp_model *model, const svmp_run *run);

/* Values that are monitored or drawn after the run need not be finite (1/0, the logarithm of a negative number, a
 * negative precision). Removes such variables from the result and from the chosen ones, each with a message. */
int writer_leave_out(writer *w, const svmp_model *model, svmp_particles **result);

/* Writes the result before it is examined, so that it is not lost if the examination is killed; writer_write replaces
 * the file. Pipes and the files of --split are written only once, at the end. Returns 0, or an exit status after an
 * error message. */
int writer_secure(writer *w, const svmp_particles *result, run_record *record);

/* Writes the result, if requested. A file that was created by others since the run began is left unchanged, unless it
 * stands where writer_secure had written. */
int writer_write(writer *w, const svmp_particles *result, run_record *record);

/* Writes the particles to the file of --particles, if requested: those that come with draws, or the result. */
int writer_write_particles(writer *w, const svmp_particles *result, run_record *record);

#endif
