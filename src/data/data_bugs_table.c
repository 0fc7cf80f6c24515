/* Tables of BUGS: a row of names, rows of numbers, and END.
 *
 *     y[]  x[,1]  x[,2]
 *     3    0.5    NA
 *     END
 *
 * Each row is a line. The first subscript is the row. Columns with the same name form an array; elements without a
 * column are missing. */
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/number.h"
#include "data/data_set.h"

typedef struct table_column {
    size_t offset, length; /* of the name */
    size_t rank, subscript[DATA_MOST_DIMENSIONS];
    bool taken;
} table_column;

typedef struct table_reader {
    data_set *data;
    const text_source *source;
    size_t at;
    table_column *columns;
    size_t count, column_capacity;
    double *values; /* row by row */
    size_t value_count, value_capacity;
} table_reader;

#define TABLE_FAIL(reader, place, ...) svmp_source_fail((reader)->data->context, (reader)->source, (place), __VA_ARGS__)

static char skip_blanks(table_reader *reader) {
    const char *text = reader->source->text;
    while (reader->at < reader->source->length) {
        if (text[reader->at] == '#')
            while (reader->at < reader->source->length && text[reader->at] != '\n') reader->at++;
        else if (isspace((unsigned char)text[reader->at]))
            reader->at++;
        else
            break;
    }
    return text[reader->at]; /* 0 at the end */
}

static size_t word(const table_reader *reader) {
    const char *text = reader->source->text + reader->at;
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '.' || text[length] == '_') length++;
    return length;
}

static bool is_word(const table_reader *reader, const char *wanted) {
    const size_t length = word(reader);
    return length == strlen(wanted) && memcmp(reader->source->text + reader->at, wanted, length) == 0;
}

/* [] or [,2] or [,2,1]: the first subscript is omitted. */
static svmp_status read_subscripts(table_reader *reader, table_column *column) {
    const size_t place = reader->at++;
    column->rank = 1;
    while (skip_blanks(reader) == ',') {
        double number = 0;
        reader->at++;
        skip_blanks(reader);
        const char *start = reader->source->text + reader->at, *end = svmp_number_read(start, &number);
        if (end == NULL || number < 1 || number > DATA_MOST_VALUES || number != floor(number) ||
            column->rank == DATA_MOST_DIMENSIONS)
            return TABLE_FAIL(reader, place, "expected subscripts such as [] or [,2] at the head of a column");
        reader->at += (size_t)(end - start);
        column->subscript[column->rank++] = (size_t)number;
    }
    if (reader->source->text[reader->at] != ']')
        return TABLE_FAIL(reader, place, "expected subscripts such as [] or [,2] at the head of a column");
    reader->at++;
    return SVMP_OK;
}

static svmp_status read_head(table_reader *reader) {
    for (;;) {
        const char byte = skip_blanks(reader);
        const bool dotted = byte == '.' && !isdigit((unsigned char)reader->source->text[reader->at + 1]); /* not .5 */
        if (!(isalpha((unsigned char)byte) || dotted) || is_word(reader, "END") || is_word(reader, "NA"))
            return SVMP_OK;
        table_column column = {.offset = reader->at, .length = word(reader)};
        reader->at += column.length;
        if (skip_blanks(reader) != '[')
            return TABLE_FAIL(reader, column.offset, "expected a column of the table, such as %.*s[]",
                              (int)(column.length < 40 ? column.length : 40), reader->source->text + column.offset);
        SVMP_TRY(read_subscripts(reader, &column));
        SVMP_TRY(SVMP_GROW(reader->data->context, reader->columns, reader->column_capacity, reader->count + 1));
        reader->columns[reader->count++] = column;
    }
}

/* A number or NA, followed by a blank, a comment or the end. */
static svmp_status read_number(table_reader *reader, double *number) {
    const char *start = reader->source->text + reader->at, *end;
    const int sign = *start == '-' || *start == '+';
    *number = NAN;
    end = is_word(reader, "NA") ? start + 2 : svmp_number_read(start + sign, number);
    if (end == NULL || !(*end == '\0' || *end == '#' || isspace((unsigned char)*end)))
        return TABLE_FAIL(reader, reader->at, "expected a number, NA, or END after the last row of the table");
    reader->at += (size_t)(end - start);
    if (*start == '-') *number = -*number;
    return SVMP_OK;
}

static bool has_line_end(const char *from, const char *to) {
    while (from < to && *from != '\n' && *from != '\r') from++;
    return from < to;
}

/* A row on each line. */
static svmp_status read_rows(table_reader *reader) {
    const char *text = reader->source->text;
    size_t row = reader->at, columns = 0; /* the start of the row, and its columns so far */
    for (;;) {
        const size_t before = reader->at;
        const char byte = skip_blanks(reader);
        const bool ends = byte == '\0' || is_word(reader, "END");
        double number;
        if (columns > 0 && (ends || has_line_end(text + before, text + reader->at))) {
            if (columns != reader->count)
                return TABLE_FAIL(reader, row, "the row has %zu number%s, but the table has %zu column%s", columns,
                                  columns == 1 ? "" : "s", reader->count, reader->count == 1 ? "" : "s");
            columns = 0;
        }
        if (ends) return reader->at += byte == '\0' ? 0 : 3, SVMP_OK;
        if (columns++ == 0) row = reader->at;
        SVMP_TRY(read_number(reader, &number));
        if (reader->value_count >= DATA_MOST_VALUES)
            return TABLE_FAIL(reader, reader->at, "the data contain more than %u numbers", DATA_MOST_VALUES);
        SVMP_TRY(SVMP_GROW(reader->data->context, reader->values, reader->value_capacity, reader->value_count + 1));
        reader->values[reader->value_count++] = number;
    }
}

static bool same_name(const table_reader *reader, const table_column *a, const table_column *b) {
    const char *text = reader->source->text;
    return a->length == b->length && memcmp(text + a->offset, text + b->offset, a->length) == 0;
}

/* The extents of the array that the column belongs to, from all columns of its name; `cells` are those of a row. */
static svmp_status measure(table_reader *reader, size_t first, size_t rows, size_t *dimensions, size_t *cells) {
    const table_column *head = &reader->columns[first];
    const size_t most = DATA_MOST_VALUES / (rows > 0 ? rows : 1);
    for (size_t d = 1; d < head->rank; d++) dimensions[d] = 1;
    for (size_t k = first; k < reader->count; k++) {
        table_column *column = &reader->columns[k];
        if (!same_name(reader, head, column)) continue;
        if (column->rank != head->rank)
            return TABLE_FAIL(reader, column->offset, "the columns of this name have different numbers of subscripts");
        column->taken = true;
        for (size_t d = 1; d < head->rank; d++)
            if (column->subscript[d] > dimensions[d]) dimensions[d] = column->subscript[d];
    }
    for (size_t d = 1; d < head->rank; d++) {
        if (dimensions[d] > most / *cells)
            return TABLE_FAIL(reader, head->offset, "the data contain more than %u numbers", DATA_MOST_VALUES);
        *cells *= dimensions[d];
    }
    return SVMP_OK;
}

/* Copies all columns of the name into the array; `given` marks the elements that have a value. */
static svmp_status place_columns(const table_reader *reader, size_t first, size_t rows, const size_t *dimensions,
                                 bool *given, double *values) {
    const table_column *head = &reader->columns[first];
    for (size_t k = first; k < reader->count; k++) {
        const table_column *column = &reader->columns[k];
        size_t cell = 0, stride = 1;
        if (!same_name(reader, head, column)) continue;
        for (size_t d = 1; d < head->rank; d++) {
            cell += (column->subscript[d] - 1) * stride;
            stride *= dimensions[d];
        }
        if (given[cell]) return TABLE_FAIL(reader, column->offset, "the table already has this column");
        given[cell] = true;
        for (size_t row = 0; row < rows; row++) values[cell * rows + row] = reader->values[row * reader->count + k];
    }
    return SVMP_OK;
}

static svmp_status add_array(table_reader *reader, size_t first) {
    svmp_context *context = reader->data->context;
    const table_column *head = &reader->columns[first];
    const size_t rows = reader->value_count / reader->count;
    size_t dimensions[DATA_MOST_DIMENSIONS] = {rows}, cells = 1;
    double *values = NULL;
    bool *given = NULL;
    svmp_status status;
    SVMP_CHECK(measure(reader, first, rows, dimensions, &cells));
    SVMP_CHECK(SVMP_NEW(context, values, rows * cells));
    SVMP_CHECK(SVMP_NEW(context, given, cells));
    for (size_t k = 0; k < rows * cells; k++) values[k] = NAN;
    SVMP_CHECK(place_columns(reader, first, rows, dimensions, given, values));
    SVMP_CHECK(svmp_data_append(reader->data, reader->source->text + head->offset, head->length, head->offset,
                                head->rank, dimensions, values, rows * cells));
done:
    svmp_release_all(context, values, given);
    return status;
}

static svmp_status read_table(table_reader *reader) {
    const size_t place = reader->at;
    SVMP_TRY(read_head(reader));
    if (reader->count == 0) return TABLE_FAIL(reader, place, "expected a name at the head of a column");
    SVMP_TRY(read_rows(reader));
    for (size_t k = 0; k < reader->count; k++)
        if (!reader->columns[k].taken) SVMP_TRY(add_array(reader, k));
    return SVMP_OK;
}

svmp_status svmp_data_read_table(data_set *data, const text_source *source, size_t *at) {
    table_reader reader = {.data = data, .source = source, .at = *at};
    const svmp_status status = read_table(&reader);
    *at = reader.at;
    svmp_release_all(data->context, reader.columns, reader.values);
    return status;
}
