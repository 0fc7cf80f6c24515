/* Tables of others: CSV with a header, a row a line, cells as text; one in quotes may have commas. */
#ifndef SVMP_FRONT_CSV_H
#define SVMP_FRONT_CSV_H

#include <stddef.h>

typedef struct csv {
    char *text; /* the file; cells are parts of it */
    size_t rows, columns;
    const char **cells; /* (rows + 1) * columns, the header first */
} csv;

/* Returns 0, or an exit status when it has said what is wrong: a file that is not there, a ragged row. */
int csv_read(const char *path, csv *t);
void csv_free(csv *t);

/* The column of a name, of the first of several names (ended by NULL) that is there; complains when none is. */
int csv_column(const csv *t, const char *path, const char *const *names, size_t *column);

const char *csv_cell(const csv *t, size_t row, size_t column);

/* The number in a cell; complains, naming file, row and column, when it is none. */
int csv_number(const csv *t, const char *path, size_t row, size_t column, double *value);

#endif
