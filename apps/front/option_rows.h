/* The rows of options as the help shows them. */
#ifndef SVMP_FRONT_OPTION_ROWS_H
#define SVMP_FRONT_OPTION_ROWS_H

#include "command_options.h"

/* Calls `row` for the options group by group, the groups in the order in which they first appear. */
void for_each_option(const option_set *set, void (*heading)(const char *group), void (*row)(const option_row *option));

/* Prints all of them on the standard output, 80 columns wide. */
void print_options(const option_set *set);

#endif
