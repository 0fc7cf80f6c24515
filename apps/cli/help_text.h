/* The help texts, generated from the tables of commands and options. */
#ifndef SVMP_CLI_HELP_TEXT_H
#define SVMP_CLI_HELP_TEXT_H

#include "command_table.h"

void print_help(FILE *file);
void print_command_help(const command *which);

#endif
