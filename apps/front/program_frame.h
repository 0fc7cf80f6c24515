/* How a program begins and ends, whatever it does in between. */
#ifndef SVMP_FRONT_PROGRAM_FRAME_H
#define SVMP_FRONT_PROGRAM_FRAME_H

/* The first call of main: its name in messages, and its signals. */
void program_begin(const char *program);

/* The last one: closes the standard output. Returns the exit status: `status`, or EXIT_FAILED when what was printed did
 * not arrive. */
int program_end(int status);

#endif
