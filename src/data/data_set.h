/* Data sets: named arrays of numbers from memory (svmp_data_add) and from any mix of files.
 *
 *     .json          an object of numbers and nested arrays, row by row; null is missing
 *     .csv           a header row; every column is a vector; NA or nothing is missing
 *     .R .txt .dump  the R dump that JAGS reads; column-major; NA is missing; lists and tables of BUGS
 *     other          as .json or .R, by its first words
 *
 * A NaN among the values stands for a missing one; a NaN in a file is an error. */
#ifndef SVMP_DATA_DATA_SET_H
#define SVMP_DATA_DATA_SET_H

#include "base/name_table.h"
#include "base/source_text.h"

typedef struct svmp_data data_set;

enum { DATA_MOST_DIMENSIONS = 8 };

/* More numbers than this in one data set are refused, and a range a:b of more than DATA_LONGEST_RANGE. */
#define DATA_MOST_VALUES   100000000u
#define DATA_LONGEST_RANGE 10000000u

#define DATA_MEMORY SIZE_MAX

typedef struct data_array {
    const char *name;
    size_t rank; /* at least 1: a scalar is a vector of one number, as in R */
    size_t dimensions[DATA_MOST_DIMENSIONS];
    size_t count;
    double *values; /* column-major: the first index runs fastest */
    size_t source;  /* which file it stands in, and at which byte; DATA_MEMORY: it was given as memory */
    size_t offset;
} data_array;

struct svmp_data {
    svmp_context *context;
    name_table names;   /* number k names arrays[k] */
    data_array *arrays; /* in the order of the files */
    size_t count, array_capacity;
    text_source *sources;
    size_t source_count, source_capacity;
    size_t values;   /* of all arrays */
    name_table text; /* names whose values are text, which a model cannot use */
};

/* Whether there is a reader for files with the ending of these `length` characters. */
int svmp_data_is_read(const char *path, size_t length);

/* What a text is by its first words; DATA_OTHER where they do not say it. Of a file the beginning is read, behind
 * comments; what is not a regular file is DATA_OTHER, and is not opened. */
typedef enum data_kind { DATA_OTHER, DATA_MODEL, DATA_JSON, DATA_DUMP } data_kind;
data_kind svmp_data_kind(const char *text, size_t length);
data_kind svmp_data_kind_of_file(const char *path);

/* NULL when there is none of that name. */
const data_array *svmp_data_find(const data_set *data, const char *name);

/* Writes "path:line": where an element of one of the arrays stands in a CSV file, and in others the array's name; of an
 * array that is in no file, "in memory". Cut to fit, always ended. Returns `place`. Reads the file's text again: for
 * messages. */
const char *svmp_data_place(const data_set *data, const data_array *array, size_t element, char *place, size_t size);

/* Writes a sentence on an array, as svmp_source_describe does with the line that has its name. */
void svmp_data_describe(const data_set *data, const data_array *array, const char *kind, const char *sentence,
                        char *buffer, size_t size);

/* ---- for the readers, one file each --------------------------------------------------------- */

/* Adds an array of the source last added, whose name stands at `offset`; values and name are copied. A name that is
 * already there, too many numbers, and dimensions that do not multiply to `count` are errors. */
svmp_status svmp_data_append(data_set *data, const char *name, size_t name_length, size_t offset, size_t rank,
                             const size_t *dimensions, const double *values, size_t count);

/* Notes a name whose values are text. */
svmp_status svmp_data_note_text(data_set *data, const char *name, size_t length);

svmp_status svmp_data_read_json(data_set *data, const text_source *source);
svmp_status svmp_data_read_csv(data_set *data, const text_source *source);
svmp_status svmp_data_read_dump(data_set *data, const text_source *source);

/* A table of BUGS, which begins at *at; moves *at behind it. */
svmp_status svmp_data_read_table(data_set *data, const text_source *source, size_t *at);

/* Where the row begins, counted from 0, of a text that has been read. */
size_t svmp_data_csv_row(const text_source *source, size_t row);

#endif
