/* Whether a program may write to a path, and files that it writes at once. */
#ifndef SVMP_FRONT_OUTPUT_CHECK_H
#define SVMP_FRONT_OUTPUT_CHECK_H

#include "front/command_options.h"

/* Whether the path ends in one of these, which are separated by blanks: ".csv .nc". */
int has_ending(const char *path, const char *endings);

/* Checks an output path before the work begins: the folder exists and is writable, and the file does not exist unless
 * `force`. Particles must end in .csv, or .nc if this build supports it; a page must end in .html. */
typedef enum output_kind { OUTPUT_ANY, OUTPUT_PARTICLES, OUTPUT_PAGE, OUTPUT_CHECKPOINT } output_kind;
int check_output(const char *path, output_kind kind, int force);

/* Refuses an output that is one of the command's operands, or the file of --init or --resume: --force is to replace
 * results, not what they come from. */
int refuse_input(const option_set *set, const char *path);

/* Writes a file, which appears under its name only when it is complete. Returns 0, or an exit status after a message.
 */
int write_output(const char *path, const char *bytes, size_t size, int overwrite);

/* Whether two paths, which may be NULL, refer to the same file, existing or not: ./a and a, a link and its target. */
int same_file(const char *a, const char *b);

#endif
