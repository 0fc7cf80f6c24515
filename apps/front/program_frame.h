/* How a program begins and ends, whatever it does in between. */
#ifndef SVMP_FRONT_PROGRAM_FRAME_H
#define SVMP_FRONT_PROGRAM_FRAME_H

#include <stddef.h>

/* The first call of main: its name in messages, and its signals. */
void program_begin(const char *program);

/* The last one: closes the standard output. Returns the exit status: `status`, or EXIT_FAILED when what was printed did
 * not arrive. */
int program_end(int status);

/* The path of a program that was built or installed beside this one; 0: it is not there, or not to be run. */
int program_beside(const char *name, char *path, size_t size);

#endif
