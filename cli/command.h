/* What a command is, and what all of them share. */
#ifndef SVMP_CLI_COMMAND_H
#define SVMP_CLI_COMMAND_H

#include <stdio.h>

#include "front/options.h"
#include "front/speech.h"
#include "svmp_parallel.h"

typedef struct command {
    const char *name;
    const char *operands; /* "MODEL [DATA...]" */
    size_t least, most;   /* how many operands it takes */
    const char *summary;  /* a line for the list of commands */
    const char *help;     /* more for the help, lines that end with \n; or NULL */
    const char *text;     /* paragraphs for the manual, lines that end with \n */
    int joins;            /* several processes that mpirun started do it together, */
    int common;           /* or all would say the same, and the first one does; 0: each does what it is told */
    void (*options)(option_set *set);
    int (*run)(const option_set *set); /* returns the exit status */
} command;

extern const command command_run, command_plan, command_check, command_graph, command_summary, command_compare,
    command_report, command_localise, command_help, command_manual, command_completion;

/* All of them, in the order of the help. */
const command *const *commands(size_t *count);

/* The command of that name; NULL, and it is said that there is none. */
const command *find_command(const char *name);

/* Adds the rows of a command, and --help. */
void command_options(const command *which, option_set *set);

/* "1.2 %", "120 %" */
static inline const char *percentage(double share, char text[32]) {
    snprintf(text, 32, share < 0.1 ? "%.2g %%" : "%.0f %%", 100 * share);
    return text;
}

/* The exit status of a failed call; says why. */
int failed(const svmp_context *context, svmp_status status);

/* A context with the threads of --threads, where the command has that option. */
int open_context(const option_set *set, svmp_context **context);

/* The file's folder is there, may be written to, and has no file of that name unless `force`: so that it is known
 * before the work begins. Particles must end in .csv, or in .nc where this build has that, a page in .html. */
typedef enum output_kind { OUTPUT_ANY, OUTPUT_PARTICLES, OUTPUT_PAGE, OUTPUT_CHECKPOINT } output_kind;
int check_output(const char *path, output_kind kind, int force);

/* Whether two paths, which may be NULL, mean one file, or would when it is made: ./a and a, a link and what it is to.
 */
int same_file(const char *a, const char *b);

/* The model of the operands. */
int read_model(const option_set *set, svmp_context *context, const char *monitors, svmp_model **model);

#endif
