/* Error messages and exit statuses of a program, and which of several processes prints them. */
#ifndef SVMP_FRONT_ERROR_OUTPUT_H
#define SVMP_FRONT_ERROR_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

#include "svmp_tools.h"

typedef enum exit_status { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_WRONG = 2, EXIT_INTERRUPTED = 130 } exit_status;

/* The ending of a noun after a number. */
static inline const char *plural(size_t count) { return count == 1 ? "" : "s"; }

/* "1.2 %", "120 %" */
static inline const char *percentage(double share, char text[32]) {
    snprintf(text, 32, share < 0.1 ? "%.2g %%" : "%.0f %%", 100 * share);
    return text;
}

/* The name of the program in messages; "svmp" unless this is called. */
void error_output_program(const char *program);

/* Prints "PROGRAM: ..." on the standard error and returns `status`. */
int report_error(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Of several processes the first one prints. Messages of the others are kept until all call `agree_on_status`, which
 * prints those of the first process with an exit status other than 0, and returns that status in all of them. */
void error_output_of(const svmp_context *context);
int agree_on_status(const svmp_context *context, int status);

/* The same before joining, for messages that every process would print: the launcher's number decides. */
void error_output_of_launched(void);

/* Keeps messages until the processes have joined, if there are several. `fail_together` reports an error found before
 * that: the processes join and agree on it. Returns `status`. */
void defer_errors(void);
int fail_together(int status);

/* Whether this process prints. */
int is_reporting(void);

#endif
