/* The help of the command and of each of its commands, made of their tables. */
#ifndef SVMP_CLI_HELP_H
#define SVMP_CLI_HELP_H

#include "command.h"

void print_help(FILE *file);
void print_command_help(const command *which);

#endif
