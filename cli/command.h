/* What a command is, and what all of them share. */
#ifndef SVMP_CLI_COMMAND_H
#define SVMP_CLI_COMMAND_H

#include "options.h"

typedef enum exit_status { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_WRONG = 2, EXIT_INTERRUPTED = 130 } exit_status;

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
    command_report, command_localise, command_paper, command_help, command_manual, command_completion;

/* All of them, in the order of the help. */
const command *const *commands(size_t *count);

/* The command of that name; NULL, and it is said that there is none. */
const command *find_command(const char *name);

/* Adds the rows of a command, and --help. */
void command_options(const command *which, option_set *set);

/* What a noun ends in behind a number. */
static inline const char *plural(size_t count) { return count == 1 ? "" : "s"; }

/* "1.2 %", "120 %" */
static inline const char *percentage(double share, char text[32]) {
    snprintf(text, 32, share < 0.1 ? "%.2g %%" : "%.0f %%", 100 * share);
    return text;
}

/* Prints "svmp: ..." on the standard error and returns `status`. */
int complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Of several processes the first one speaks. What others have to say is kept for `settle`, which all of them call: the
 * exit status of the first that has one, whose words are said if they were not. Returns that status on all. */
void speak_as(const svmp_context *context);
int settle(const svmp_context *context, int status);

/* The same without joining, for what every process would say: the first one is who the launcher says it is. */
void speak_as_launched(void);

/* Before the processes have joined: nobody speaks, if there are several, until they have. And what is wrong before that
 * is told so: they join and settle it. Returns `status`. */
void hold_speech(void);
int refuse_together(int status);

/* Whether this process is the one that speaks. */
int is_speaker(void);

/* The exit status of a failed call; says why. */
int failed(const svmp_context *context, svmp_status status);

/* A context with the threads of --threads, where the command has that option. */
int open_context(const option_set *set, svmp_context **context);

/* A whole number in decimal digits, from `least` to `most`. */
int read_count(const char *option, const char *text, size_t least, size_t most, size_t *value);

/* A number from `least` to `most`. */
int read_real(const char *option, const char *text, double least, double most, double *value);

/* The file's folder is there, may be written to, and has no file of that name unless `force`: so that it is known
 * before the work begins. Particles must end in .csv, or in .nc where this build has that, a page in .html. */
typedef enum output_kind { OUTPUT_ANY, OUTPUT_PARTICLES, OUTPUT_PAGE, OUTPUT_CHECKPOINT } output_kind;
int check_output(const char *path, output_kind kind, int force);

/* Whether two paths, which may be NULL, mean one file, or would when it is made: ./a and a, a link and what it is to.
 */
int same_file(const char *a, const char *b);

/* --coordinates, of all commands that read a model. */
extern const svmp_option coordinates_option;

/* The model of the operands, in the coordinates of that option. */
int read_model(const option_set *set, svmp_context *context, const char *monitors, svmp_model **model);

#endif
