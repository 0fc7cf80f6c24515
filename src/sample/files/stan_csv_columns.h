/* The columns of a Stan CSV file and their names. Stan's tools expect a dot only before an index, and complete arrays
 * with indices from 1. So
 *
 *   - a dot within a name becomes an underscore, tau_y for tau.y; if that name is taken, tau_y_2;
 *   - if part of an array is data, the known part gets constant columns;
 *   - elements that still do not form a complete array become single variables, x_3 for x.3.
 *
 * Comment lines record this, so that reading restores the original names and variables:
 *
 *   # column tau_y, in the model tau.y     one column, or the columns tau_y.1, tau_y.2, ... of an array
 *   # known columns: x.1.1,x.1.2           columns that are not variables */
#ifndef SVMP_SAMPLE_FILES_STAN_CSV_COLUMNS_H
#define SVMP_SAMPLE_FILES_STAN_CSV_COLUMNS_H

#include "base/arena.h"
#include "base/name_table.h"
#include "sample/particles.h"

/* Limits the constant columns of an array to this number, or to the number of its variables if that is larger. */
enum { COLUMNS_KNOWN_MOST = 1000 };

typedef struct csv_column {
    const char *name; /* in the file */
    size_t variable;  /* SIZE_MAX: a known value, which is */
    double value;     /* this one */
} csv_column;

typedef struct csv_columns {
    csv_column *list; /* in the order of the file */
    size_t count;
    struct renamed {
        const char *file, *model; /* without indices */
    } * renamed;
    size_t renamed_count;
    memory_arena memory; /* of all these */
} csv_columns;

/* The columns for the variables of `titles` and for the known parts of their arrays. */
svmp_status svmp_columns_of(const svmp_particles *titles, const extra_arrays *known, csv_columns *made);
void svmp_columns_free(csv_columns *made); /* accepts an all-zero value */

/* The number of bytes per row of the known columns. */
size_t svmp_columns_known_size(const extra_arrays *known);

/* The record of the columns in the comments of a file. */
typedef struct column_record {
    svmp_context *context;
    name_table file, known;
    const char **model; /* of each name in `file` */
    size_t model_capacity;
    memory_arena memory;
} column_record;

/* Removes these lines from the comments (terminated text; NULL: no comments) and records them. */
svmp_status svmp_columns_take(svmp_context *context, char *comments, column_record *made);
void svmp_columns_forget(column_record *record); /* accepts an all-zero value */

/* Replaces the name of a column by that of its variable, which lives as long as the record. */
svmp_status svmp_columns_restore(column_record *record, const char **name);
int svmp_columns_is_known(const column_record *record, const char *name); /* before it is restored */

#endif
