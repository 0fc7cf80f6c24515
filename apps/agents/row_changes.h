/* The message of a round to a neighbour: which rows have changed since the round before, bit by bit, and these rows,
 * little endian. Both sides have the rows of the round before, so a message is a function of states alone. */
#ifndef SVMP_AGENTS_ROW_CHANGES_H
#define SVMP_AGENTS_ROW_CHANGES_H

#include <stddef.h>

/* Of `rows` rows of `length` numbers. */
size_t changes_most(size_t rows, size_t length);

/* Writes what differs from `before`, which becomes `now`. Returns the size. */
size_t changes_write(size_t rows, size_t length, const double *now, double *before, unsigned char *message);

/* Applies a message to `rows_now`; returns 0 if its size is not what its bits say. */
int changes_apply(size_t rows, size_t length, size_t size, const unsigned char *message, double *rows_now);

#endif
