/* The list of commands, generated from their table. */
#ifndef SVMP_CLI_HELP_TEXT_H
#define SVMP_CLI_HELP_TEXT_H

#include <stdio.h>

void print_help(FILE *file);

#endif
