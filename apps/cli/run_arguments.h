/* The options of a run, as the command line gives them. */
#ifndef SVMP_CLI_RUN_ARGUMENTS_H
#define SVMP_CLI_RUN_ARGUMENTS_H

#include "front/command_options.h"

/* New options with what was given; a file of --init is left to the caller. Returns 0, or an exit status when it has
 * said what is wrong. */
int options_of_run(const option_set *set, svmp_context *context, svmp_options **options);

/* An option that is a whole number. */
size_t option_count(const svmp_options *options, const char *name);

/* The file that --init names; NULL: a start that the library draws, or nothing. */
const char *start_file(const option_set *set);

/* Whether such a name is a misspelt start, 'norml:1', rather than a file; if so, reports it. */
int is_misspelt_start(const char *init);

#endif
