/* The columns of a Stan CSV file, and what they are called there. To Stan's tools a dot stands before an index, and an
 * array is a whole box of indices from 1 on. So
 *
 *   - dots within a name are underscores in the file, tau_y for tau.y; where that is taken, tau_y_2;
 *   - of an array of which a part is data, what is known has columns too, constant ones;
 *   - what is not part of a whole array even so stands alone, x_3 for x.3.
 *
 * Comment lines tell it, so that reading gives back the names and variables that were written:
 *
 *   # column tau_y, in the model tau.y     a column, or the columns tau_y.1, tau_y.2, ... of an array
 *   # known columns: x.1.1,x.1.2           no variables
 */
#ifndef SVMP_SAMPLE_COLUMNS_H
#define SVMP_SAMPLE_COLUMNS_H

#include "base/arena.h"
#include "base/names.h"
#include "sample/particles.h"

/* Not so many constant columns that they are most of a large file: at most this many of an array, or as many as it has
 * variables. */
enum { COLUMNS_KNOWN_MOST = 1000 };

typedef struct csv_column {
    const char *name; /* in the file */
    size_t variable;  /* SIZE_MAX: known, */
    double value;     /* and what it is */
} csv_column;

typedef struct csv_columns {
    csv_column *list; /* in the order of the file */
    size_t count;
    struct renamed {
        const char *file, *model; /* without indices */
    } * renamed;
    size_t renamed_count;
    memory_arena memory; /* of all this */
} csv_columns;

/* The columns of variables that have the names of `titles`, and of what is known of their arrays. */
svmp_status svmp_columns_of(const svmp_particles *titles, const beside_arrays *known, csv_columns *made);
void svmp_columns_free(csv_columns *made); /* takes one that is all zeros */

/* How many bytes the columns of what is known take in a row. */
size_t svmp_columns_known_size(const beside_arrays *known);

/* What the comments of a file tell of its columns. */
typedef struct column_record {
    svmp_context *context;
    name_table file, known;
    const char **model; /* of each name in `file` */
    size_t model_capacity;
    memory_arena memory;
} column_record;

/* Takes the lines out of the comments (ended text; NULL: there are none). */
svmp_status svmp_columns_take(svmp_context *context, char *comments, column_record *made);
void svmp_columns_forget(column_record *record); /* takes one that is all zeros */

/* *name, of a column, becomes that of its variable, which lives as long as the record. */
svmp_status svmp_columns_restore(column_record *record, const char **name);
int svmp_columns_is_known(const column_record *record, const char *name); /* before it is restored */

#endif
