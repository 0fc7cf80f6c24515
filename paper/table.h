/* Tables of others: CSV with a header, cells as text. */
#ifndef SVMP_PAPER_TABLE_H
#define SVMP_PAPER_TABLE_H

#include <stddef.h>

typedef struct table {
    char *text; /* the file; cells are parts of it */
    size_t rows, columns;
    const char **cells; /* (rows + 1) * columns, the header first */
} table;

/* Returns 0, or an exit status when it has said what is wrong: a file that is not there, a ragged row. */
int table_read(const char *path, table *t);
void table_free(table *t);

/* The column of a name, of the first of several names (ended by NULL) that is there; complains when none is. */
int table_column(const table *t, const char *path, const char *const *names, size_t *column);

const char *table_cell(const table *t, size_t row, size_t column);

/* The number in a cell; complains, naming file, row and column, when it is none. */
int table_number(const table *t, const char *path, size_t row, size_t column, double *value);

#endif
