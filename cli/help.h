/* The help of the command and of each of its commands, made of their tables. */
#ifndef SVMP_CLI_HELP_H
#define SVMP_CLI_HELP_H

#include "command.h"

void print_help(FILE *file);
void print_command_help(const command *which);

/* Calls `row` for the options group by group, the groups in the order in which they first appear. */
void for_each_option(const option_set *set, void (*heading)(const char *group), void (*row)(const option_row *option));

#endif
