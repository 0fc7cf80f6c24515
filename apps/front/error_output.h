/* What a program says on the standard error and ends with, and which of several processes says it. */
#ifndef SVMP_FRONT_ERROR_OUTPUT_H
#define SVMP_FRONT_ERROR_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

#include "svmp_tools.h"

typedef enum exit_status { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_WRONG = 2, EXIT_INTERRUPTED = 130 } exit_status;

/* What a noun ends in behind a number. */
static inline const char *plural(size_t count) { return count == 1 ? "" : "s"; }

/* "1.2 %", "120 %" */
static inline const char *percentage(double share, char text[32]) {
    snprintf(text, 32, share < 0.1 ? "%.2g %%" : "%.0f %%", 100 * share);
    return text;
}

/* The program that speaks, "svmp" unless this is called. */
void error_output_program(const char *program);

/* Prints "PROGRAM: ..." on the standard error and returns `status`. */
int report_error(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Of several processes the first one speaks. What others have to say is kept for `agree_on_status`, which all of them
 * call: the exit status of the first that has one, whose words are said if they were not. Returns that status on all.
 */
void error_output_of(const svmp_context *context);
int agree_on_status(const svmp_context *context, int status);

/* The same without joining, for what every process would say: the first one is who the launcher says it is. */
void error_output_of_launched(void);

/* Before the processes have joined: nobody speaks, if there are several, until they have. And what is wrong before that
 * is told so: they join and settle it. Returns `status`. */
void defer_errors(void);
int fail_together(int status);

/* Whether this process is the one that speaks. */
int is_reporting(void);

#endif
