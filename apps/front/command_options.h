/* Parses the command line with the tables that also generate the help and the manual. */
#ifndef SVMP_FRONT_COMMAND_OPTIONS_H
#define SVMP_FRONT_COMMAND_OPTIONS_H

#include "svmp_tools.h"

enum { OPTIONS_MOST = 40, OPTION_HELP = 512 };

typedef struct option_row {
    const char *name;     /* "particles" */
    char letter;          /* 'n', or 0 */
    const char *argument; /* "N", for the help; NULL: a flag */
    const char *standard; /* the default, as text */
    const char *help;
    const char *group; /* heading in the help */
} option_row;

typedef struct option_set {
    char command[32]; /* "svmp run", for the messages */
    option_row rows[OPTIONS_MOST];
    const char *values[OPTIONS_MOST];     /* as given, "" for a flag; NULL: not given */
    char help[OPTIONS_MOST][OPTION_HELP]; /* of options of a run, made from the library's tables */
    size_t count;
    char **operands;
    size_t operand_count;
} option_set;

/* Adds rows; a row replaces an existing one of the same name. */
void options_add(option_set *set, size_t count, const option_row *rows);

/* Adds the options of a run that are named in `names`; NULL: all of them. */
void options_add_run(option_set *set, size_t count, const char *const *names);

/* Takes the arguments apart, in any order: --name value, --name=value, -n value, -nvalue, flags -qf, and -- after which
 * all are operands. A value of --name that ends in .csv or .nc is that of --name-file, if there is such an option. The
 * operands are gathered at the front of `arguments`. Returns 0, or an exit status after
 * an error message. */
int options_parse(option_set *set, int count, char **arguments);

/* Whether there are `least` to `most` operands; `operands` names them, for the message. */
int options_check_operands(const option_set *set, size_t least, size_t most, const char *operands);

/* The given value, or NULL; "" for a flag. */
const char *options_given(const option_set *set, const char *name);

/* The given value, or the default. */
const char *options_value(const option_set *set, const char *name);

/* A whole number in decimal digits, from `least` to `most`. */
int read_count(const char *option, const char *text, size_t least, size_t most, size_t *value);

/* A number from `least` to `most`. */
int read_real(const char *option, const char *text, double least, double most, double *value);

#endif
