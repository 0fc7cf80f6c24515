/* The options of a run, declared once: name, default, bounds and help in one table. */
#ifndef SVMP_RUN_OPTION_TABLE_H
#define SVMP_RUN_OPTION_TABLE_H

#include "base/name_list.h"
#include "base/number.h"
#include "method/run_options.h"

typedef struct option_row {
    svmp_option option;
    enum option_type { OPTION_TEXT, OPTION_COUNT, OPTION_SEED, OPTION_REAL } type;
    size_t offset;       /* of its field in run_options */
    double lower, upper; /* of OPTION_COUNT and OPTION_REAL */
    name_list names;     /* the values that it can take; NULL: no list */
    const char *help;    /* run/option_help.c explains words in braces */
} option_row;

const option_row *svmp_option_rows(size_t *count);

/* The row of a name; NULL if there is none. */
const option_row *svmp_option_find(const char *name);

run_options svmp_run_options_default(void);

/* Sets a value by its option's name; NULL: the default. A text is not copied. */
svmp_status svmp_run_options_set(svmp_context *context, run_options *options, const char *name, const char *value);

/* Copies the options, their strings included; `copy` is freed by svmp_run_options_free, also when this fails. */
svmp_status svmp_run_options_copy(svmp_context *context, const run_options *options, run_options *copy);
void svmp_run_options_free(svmp_context *context, run_options *copy);

/* Fails on a number out of its bounds; the texts are checked where they are parsed. */
svmp_status svmp_run_options_check(svmp_context *context, const run_options *options);

/* The value of a row as text that reads back to the same value, or "" if the method decides; points to the option's
 * string or to `buffer`. */
const char *svmp_run_options_text(const run_options *options, const option_row *row, char buffer[NUMBER_TEXT]);

/* The same as svmp_run_create, with values in place of an options object. */
svmp_status svmp_run_make(const svmp_model *model, const run_options *options, svmp_run **run);

/* The values of an options object, the defaults of NULL. Its strings remain owned by the object. */
run_options svmp_options_values(const svmp_options *options);

svmp_context *svmp_options_context(const svmp_options *options);

#endif
