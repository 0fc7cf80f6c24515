/* A command: its row of a table, from which its options, its help and its page of the manual follow. */
#ifndef SVMP_FRONT_COMMAND_ROW_H
#define SVMP_FRONT_COMMAND_ROW_H

#include "front/command_options.h"

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
    const char *program;               /* that does the work, beside this one: "svmp-localise"; NULL: `run` */
} command;

/* Adds the options of a command, and --help. */
void command_options(const command *which, option_set *set);

void print_command_help(const command *which);

/* Reads the arguments behind the name of a command and runs it, or becomes its program. Returns the exit status. */
int run_command(const command *which, int count, char **arguments);

#endif
