/* Reads CSV tables with a header; cells are text, and quoted cells may contain commas. */
#ifndef SVMP_FRONT_CSV_CELLS_H
#define SVMP_FRONT_CSV_CELLS_H

#include <stddef.h>

typedef struct csv {
    char *text; /* the file; cells are parts of it */
    size_t rows, columns;
    const char **cells; /* (rows + 1) * columns, the header first */
} csv;

/* Returns 0, or an exit status after an error message: the file cannot be read, or a row is ragged. */
int csv_read(const char *path, csv *t);
void csv_free(csv *t);

/* Finds the column with the first of several names (terminated by NULL) that exists; prints an error if none does. */
int csv_column(const csv *t, const char *path, const char *const *names, size_t *column);

const char *csv_cell(const csv *t, size_t row, size_t column);

/* The number in a cell; if it is not a number, prints an error with file, row and column. */
int csv_number(const csv *t, const char *path, size_t row, size_t column, double *value);

#endif
