/* Data sets: named arrays of numbers from memory (svmp_data_add) and from any mix of files.
 *
 *     .json          an object of numbers and nested arrays, row by row; null is missing
 *     .csv           a header row; every column is a vector, columns X[1], X[2], ... are a matrix; NA or nothing is
 *                    missing; a column of text becomes codes of its levels (data_levels.c), TRUE and FALSE become
 *                    1 and 0; one with numbers among the text is noted, and refused if a model uses it
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

/* Limits on the numbers in a data set, and on the length of a range a:b. */
#define DATA_MOST_VALUES   100000000u
#define DATA_LONGEST_RANGE 10000000u

#define DATA_MEMORY SIZE_MAX

typedef struct data_array {
    const char *name;
    size_t rank; /* at least 1: a scalar is a vector of one number, as in R */
    size_t dimensions[DATA_MOST_DIMENSIONS];
    size_t count;
    double *values; /* column-major: the first index runs fastest */
    size_t source;  /* index of its file, and byte offset in it; DATA_MEMORY: it came from memory */
    size_t offset;
} data_array;

/* An array whose values are text, which a model cannot use. */
typedef struct data_text {
    size_t source, offset; /* of its name */
    size_t place;          /* offset of a value that is not a number, or of the name */
    char *sentence;        /* the error for a model that uses it */
} data_text;

struct svmp_data {
    svmp_context *context;
    name_table names;   /* number k names arrays[k] */
    data_array *arrays; /* in the order of the files */
    size_t count, array_capacity;
    text_source *sources;
    size_t source_count, source_capacity;
    size_t values;         /* of all arrays */
    name_table text_names; /* number k names texts[k] */
    data_text *texts;
    size_t text_capacity;
    name_table level_names; /* number k names the array whose levels levels[k] has */
    name_table *levels;
    size_t level_capacity;
};

/* Whether there is a reader for files whose names end like these `length` characters. */
int svmp_data_is_read(const char *path, size_t length);

/* The format of a text, from its first words; DATA_OTHER if unknown. For a file, reads the beginning after comments; a
 * file that is not regular is DATA_OTHER and is not opened. */
typedef enum data_kind { DATA_OTHER, DATA_MODEL, DATA_JSON, DATA_DUMP } data_kind;
data_kind svmp_data_kind(const char *text, size_t length);
data_kind svmp_data_kind_of_file(const char *path);

/* Returns NULL if there is no array of that name. */
const data_array *svmp_data_find(const data_set *data, const char *name);

/* Fails if the array of that name is text. */
svmp_status svmp_data_refuse_text(const data_set *data, const char *name);

/* The levels of an array of text, the first one of code 1; NULL: it has numbers. */
const name_table *svmp_data_levels(const data_set *data, const char *name);

/* Writes the position of an element for messages: "path:line", the line of the element in a CSV file and of the array's
 * name in other files, or "in memory". Truncated to `size`. Returns `place`. Scans the file's text again. */
const char *svmp_data_place(const data_set *data, const data_array *array, size_t element, char *place, size_t size);

/* Writes a sentence about an array, with the line that has its name, like svmp_source_describe. */
void svmp_data_describe(const data_set *data, const data_array *array, const char *kind, const char *sentence,
                        char *buffer, size_t size);

/* ---- for the readers, one file each --------------------------------------------------------- */

/* Adds an array of the most recent source, whose name is at `offset`; values and name are copied. A duplicate name, too
 * many numbers, and dimensions whose product is not `count` are errors. */
svmp_status svmp_data_append(data_set *data, const char *name, size_t name_length, size_t offset, size_t rank,
                             const size_t *dimensions, const double *values, size_t count);

/* The codes of an array of text, NaN for missing values; new levels are added to those of its name. */
svmp_status svmp_data_encode(data_set *data, const char *name, size_t length, size_t count, const char *const *values,
                             double *codes);

/* Notes an array of the most recent source whose values are text, with the error for a model that uses it, and where it
 * points to. */
svmp_status svmp_data_note_text(data_set *data, const char *name, size_t length, size_t offset, size_t place,
                                const char *sentence);

/* The number of elements of an array; SIZE_MAX if there are more than a data set may hold. */
size_t svmp_data_count(size_t rank, const size_t *dimensions);

/* From row-major to column-major. */
void svmp_data_transpose(size_t rank, const size_t *dimensions, const double *rows, double *columns);

svmp_status svmp_data_read_json(data_set *data, const text_source *source);
svmp_status svmp_data_read_csv(data_set *data, const text_source *source);
svmp_status svmp_data_read_dump(data_set *data, const text_source *source);

/* Reads a table of BUGS that begins at *at; moves *at to its end. */
svmp_status svmp_data_read_table(data_set *data, const text_source *source, size_t *at);

/* Reads a text that the data set takes over, also on failure; svmp_data_read of one that is in memory. */
svmp_status svmp_data_read_source(data_set *data, text_source *from);

/* The offset of a row, counted from 0, in a text that was read before. */
size_t svmp_data_csv_row(const text_source *source, size_t row);

#endif
