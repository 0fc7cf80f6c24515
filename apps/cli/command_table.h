/* The commands of svmp, and functions that they share. */
#ifndef SVMP_CLI_COMMAND_TABLE_H
#define SVMP_CLI_COMMAND_TABLE_H

#include <stdio.h>

#include "front/command_options.h"
#include "front/error_output.h"
#include "svmp_parallel.h"

typedef struct command {
    const char *name;
    const char *operands; /* "MODEL [DATA...]" */
    size_t least, most;   /* how many operands it takes */
    const char *summary;  /* a line for the list of commands */
    const char *help;     /* more for the help, lines that end with \n; or NULL */
    const char *text;     /* paragraphs for the manual, lines that end with \n */
    int joins;            /* processes started by mpirun run it together */
    int common;           /* the output is the same in all processes, and only the first one prints it */
    void (*options)(option_set *set);
    int (*run)(const option_set *set); /* returns the exit status */
} command;

extern const command command_run, command_verify, command_plan, command_check, command_graph, command_summary,
    command_compare, command_report, command_localise, command_help, command_manual, command_completion;

/* All of them, in the order of the help. */
const command *const *commands(size_t *count);

/* The command of that name; NULL after an error message if there is none. */
const command *find_command(const char *name);

/* Adds the options of a command, and --help. */
void command_options(const command *which, option_set *set);

/* "1.2 %", "120 %" */
static inline const char *percentage(double share, char text[32]) {
    snprintf(text, 32, share < 0.1 ? "%.2g %%" : "%.0f %%", 100 * share);
    return text;
}

/* Prints the error of a failed call and returns its exit status. */
int failed(const svmp_context *context, svmp_status status);

/* Creates a context with the threads of --threads, if the command has that option. */
int open_context(const option_set *set, svmp_context **context);

/* The log of such a context: warnings are told, the rest is not. */
void tell_log(svmp_log_level level, const char *message, void *user_data);

/* Whether the path ends in one of these, which are separated by blanks: ".csv .nc". */
int has_ending(const char *path, const char *endings);

/* Checks an output path before the work begins: the folder exists and is writable, and the file does not exist unless
 * `force`. Particles must end in .csv, or .nc if this build supports it; a page must end in .html. */
typedef enum output_kind { OUTPUT_ANY, OUTPUT_PARTICLES, OUTPUT_PAGE, OUTPUT_CHECKPOINT } output_kind;
int check_output(const char *path, output_kind kind, int force);

/* Refuses an output that is one of the command's operands, or the file of --init or --resume: --force is to replace
 * results, not what they come from. */
int refuse_input(const option_set *set, const char *path);

/* Whether two paths, which may be NULL, refer to the same file, existing or not: ./a and a, a link and its target. */
int same_file(const char *a, const char *b);

/* --coordinates, for commands that read a model. */
extern const option_row coordinates_option;

/* Reads the model given by the operands, in the coordinates of --coordinates or of --method. */
int read_model(const option_set *set, svmp_context *context, svmp_model **model);

#endif
