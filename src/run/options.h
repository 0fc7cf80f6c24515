/* The options of a run, declared once: name, default, bounds and help in one table. */
#ifndef SVMP_RUN_OPTIONS_H
#define SVMP_RUN_OPTIONS_H

#include "base/number.h"

/* Copies the options, their strings included; `copy` is freed by svmp_options_free, also when this fails. */
svmp_status svmp_options_copy(svmp_context *context, const svmp_run_options *options, svmp_run_options *copy);
void svmp_options_free(svmp_context *context, svmp_run_options *copy);

/* Fails on a number outside its bounds; the texts are checked by those who read them. */
svmp_status svmp_options_check(svmp_context *context, const svmp_run_options *options);

/* Row k of the table as text that reads back to the same value, "" where the method decides: the option's own, or in
 * `buffer`. */
const char *svmp_options_text(const svmp_run_options *options, size_t k, char buffer[NUMBER_TEXT]);

#endif
