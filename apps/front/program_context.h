/* The context of a program, and the exit status of what failed in it. */
#ifndef SVMP_FRONT_PROGRAM_CONTEXT_H
#define SVMP_FRONT_PROGRAM_CONTEXT_H

#include "front/command_options.h"

/* Prints the error of a failed call and returns its exit status. */
int failed(const svmp_context *context, svmp_status status);

/* Creates a context with the threads of --threads, if the command has that option. */
int open_context(const option_set *set, svmp_context **context);

/* The same with the other processes that mpirun started, if any: all get the same status. */
int open_joined_context(const option_set *set, svmp_context **context);

/* The log function of such a context: prints warnings only. */
void print_log(svmp_log_level level, const char *message, void *user_data);

#endif
