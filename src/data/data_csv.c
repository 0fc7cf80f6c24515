/* Comma-separated values: a header row of names, then a row of numbers for each element, or for each row of a matrix.
 */
#include "data/data_set.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"

typedef struct csv_field {
    size_t offset, length; /* without quotes and the blanks around it */
} csv_field;

typedef struct csv_reader {
    data_set *data;
    const text_source *source;
    size_t at; /* the next byte */
    csv_field *names;
    size_t columns, name_capacity;
    double *values; /* row by row */
    size_t count, value_capacity;
} csv_reader;

static int is_blank(char byte) { return byte == ' ' || byte == '\t'; }

static int at_line_end(const csv_reader *reader) {
    const char *text = reader->source->text + reader->at;
    return reader->at >= reader->source->length || *text == '\n' || (*text == '\r' && text[1] == '\n');
}

static void skip_line_end(csv_reader *reader) {
    if (reader->at < reader->source->length && reader->source->text[reader->at] == '\r') reader->at++;
    if (reader->at < reader->source->length) reader->at++;
}

/* field := '"' any but a quote '"' | any but comma and line end; afterwards the comma or line end is next. */
static svmp_status read_field(csv_reader *reader, csv_field *field) {
    const char *text = reader->source->text;
    while (!at_line_end(reader) && is_blank(text[reader->at])) reader->at++;
    if (text[reader->at] == '"') {
        size_t quote = reader->at++;
        field->offset = reader->at;
        while (!at_line_end(reader) && text[reader->at] != '"') reader->at++;
        if (at_line_end(reader))
            return svmp_source_fail(reader->data->context, reader->source, quote,
                                    "the quote is not closed on this line");
        field->length = reader->at++ - field->offset;
        while (!at_line_end(reader) && is_blank(text[reader->at])) reader->at++;
        if (!at_line_end(reader) && text[reader->at] != ',')
            return svmp_source_fail(reader->data->context, reader->source, reader->at,
                                    "expected a comma or the end of the line after a quoted field");
        return SVMP_OK;
    }
    field->offset = reader->at;
    while (!at_line_end(reader) && text[reader->at] != ',') reader->at++;
    field->length = reader->at - field->offset;
    while (field->length > 0 && is_blank(text[field->offset + field->length - 1])) field->length--;
    return SVMP_OK;
}

/* Takes the comma, if one is next. */
static int take_comma(csv_reader *reader) {
    if (at_line_end(reader) || reader->source->text[reader->at] != ',') return 0;
    reader->at++;
    return 1;
}

static svmp_status read_header(csv_reader *reader) {
    do {
        SVMP_TRY(SVMP_GROW(reader->data->context, reader->names, reader->name_capacity, reader->columns + 1));
        csv_field *name = &reader->names[reader->columns++];
        *name = (csv_field){0};
        SVMP_TRY(read_field(reader, name));
        if (name->length == 0)
            return svmp_source_fail(
                reader->data->context, reader->source, name->offset, "column %zu has no name%s", reader->columns,
                reader->columns > 1 ? "" : "; if these are row names from R's write.csv, use row.names = FALSE");
        const char *text = reader->source->text + name->offset;
        double number;
        if (svmp_number_parse(text, text + name->length, &number) == NUMBER_FINITE)
            return svmp_source_fail(reader->data->context, reader->source, name->offset,
                                    "expected a header row of names; '%.*s' is a number",
                                    (int)(name->length < 40 ? name->length : 40), text);
    } while (take_comma(reader));
    skip_line_end(reader);
    return SVMP_OK;
}

/* Refuses a particle file of svmp, recognised by its first comment. */
static svmp_status refuse_particles(const csv_reader *reader) {
    static const char first[] = "# svmp ";
    if (reader->source->length < strlen(first) || memcmp(reader->source->text, first, strlen(first)) != 0)
        return SVMP_OK;
    return svmp_source_fail(reader->data->context, reader->source, 0,
                            "this is a file of particles, not of data; a run can start from it (option 'init')");
}

/* A hint for the message about a single column whose name contains a separator of other formats. */
static const char *separator_hint(const csv_reader *reader) {
    static const char *const hints[][2] = {
        {";", "; use commas, not semicolons, between columns and points in decimals"},
        {"\t", "; use commas, not tabs, between columns"},
        {" ", "; use commas, not spaces, between columns"}};
    const csv_field *name = &reader->names[0];
    for (size_t k = 0; k < sizeof hints / sizeof *hints; k++)
        if (reader->columns == 1 && memchr(reader->source->text + name->offset, *hints[k][0], name->length))
            return hints[k][1];
    return "";
}

static svmp_status not_a_number(const csv_reader *reader, const csv_field *field, const csv_field *column) {
    const char *text = reader->source->text + field->offset;
    return svmp_source_fail(reader->data->context, reader->source, field->offset,
                            "'%.*s' in column '%.*s' is not a number%s", (int)(field->length < 40 ? field->length : 40),
                            text, (int)(column->length < 40 ? column->length : 40),
                            reader->source->text + column->offset,
                            field->length == 3 && strncasecmp(text, "nan", 3) == 0 ? "; write NA for a missing value"
                                                                                   : separator_hint(reader));
}

static svmp_status read_number(csv_reader *reader, const csv_field *field, const csv_field *column, double *number) {
    const char *text = reader->source->text + field->offset;
    int sign = *text == '-' || *text == '+';
    *number = NAN;
    if (field->length == 0 || (field->length == 2 && memcmp(text, "NA", 2) == 0)) return SVMP_OK;
    if (field->length - (size_t)sign == 3 && strncasecmp(text + sign, "inf", 3) == 0) {
        *number = *text == '-' ? -INFINITY : INFINITY;
        return SVMP_OK;
    }
    if (svmp_number_parse(text, text + field->length, number) != NUMBER_FINITE)
        return not_a_number(reader, field, column);
    return SVMP_OK;
}

static svmp_status read_row(csv_reader *reader) {
    size_t start = reader->at, fields = 0;
    csv_field field = {0};
    do {
        SVMP_TRY(read_field(reader, &field));
        if (fields < reader->columns) {
            SVMP_TRY(SVMP_GROW(reader->data->context, reader->values, reader->value_capacity, reader->count + 1));
            SVMP_TRY(read_number(reader, &field, &reader->names[fields], &reader->values[reader->count++]));
        }
        fields++;
    } while (take_comma(reader));
    if (fields != reader->columns)
        return svmp_source_fail(reader->data->context, reader->source, start,
                                "the row has %zu fields, but the header has %zu%s", fields, reader->columns,
                                separator_hint(reader));
    skip_line_end(reader);
    return SVMP_OK;
}

/* The length of X in a name X[k] or, as in tables of BUGS, X[,k], and k; 0 for other names. */
static size_t matrix_name(const csv_reader *reader, const csv_field *name, size_t *k) {
    const char *text = reader->source->text + name->offset, *open = memchr(text, '[', name->length);
    if (open == NULL || open == text || text[name->length - 1] != ']') return 0;
    if (open[1] == ',') open++;
    if (open[1] < '1' || open[1] > '9') return 0;
    *k = 0;
    for (const char *digit = open + 1; digit < text + name->length - 1; digit++) {
        if (*digit < '0' || *digit > '9' || *k > DATA_MOST_VALUES) return 0;
        *k = 10 * *k + (size_t)(*digit - '0');
    }
    return (size_t)((const char *)memchr(text, '[', name->length) - text);
}

static void copy_column(const csv_reader *reader, size_t j, double *to) {
    const size_t rows = reader->count / reader->columns;
    for (size_t i = 0; i < rows; i++) to[i] = reader->values[i * reader->columns + j];
}

/* Finds the columns X[1], X[2], ... of which `first` is one: place[k - 1] is 1 + the index of X[k]. Returns their
 * number. */
static svmp_status find_matrix(const csv_reader *reader, size_t first, size_t *place, size_t *count) {
    size_t k, most = 0;
    const char *text = reader->source->text + reader->names[first].offset;
    const size_t length = matrix_name(reader, &reader->names[first], &k);
    *count = 0;
    memset(place, 0, reader->columns * sizeof *place);
    for (size_t j = first; j < reader->columns; j++) {
        const csv_field *name = &reader->names[j];
        if (matrix_name(reader, name, &k) != length || memcmp(reader->source->text + name->offset, text, length) != 0)
            continue;
        if (k <= reader->columns && place[k - 1])
            return svmp_source_fail(reader->data->context, reader->source, name->offset,
                                    "the column '%.*s' is there twice", (int)name->length,
                                    reader->source->text + name->offset);
        if (k <= reader->columns) place[k - 1] = 1 + j;
        if (k > most) most = k;
        ++*count;
    }
    for (k = 0; k < *count && place[k];) k++;
    if (most == *count && k == *count) return SVMP_OK;
    return svmp_source_fail(reader->data->context, reader->source, reader->names[first].offset,
                            "there is a column '%.*s[%zu]' of a matrix, but no '%.*s[%zu]'", (int)length, text, most,
                            (int)length, text, k + 1);
}

/* Columns X[1], X[2], ... in any order form a matrix X; any other column is a vector. */
static svmp_status add_columns(csv_reader *reader) {
    svmp_context *context = reader->data->context;
    const size_t rows = reader->count / reader->columns;
    double *numbers = NULL;
    size_t *place = NULL, k, count;
    bool *is_done = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, numbers, reader->count));
    SVMP_CHECK(SVMP_NEW(context, place, reader->columns));
    SVMP_CHECK(SVMP_NEW(context, is_done, reader->columns));
    for (size_t j = 0; j < reader->columns; j++) {
        const csv_field *name = &reader->names[j];
        const size_t length = matrix_name(reader, name, &k);
        if (is_done[j]) continue;
        place[0] = 1 + j;
        count = 1;
        if (length > 0) SVMP_CHECK(find_matrix(reader, j, place, &count));
        for (k = 0; k < count; k++) {
            copy_column(reader, place[k] - 1, numbers + k * rows);
            is_done[place[k] - 1] = true;
        }
        const size_t dimensions[] = {rows, count};
        SVMP_CHECK(svmp_data_append(reader->data, reader->source->text + name->offset,
                                    length > 0 ? length : name->length, name->offset, length > 0 ? 2 : 1, dimensions,
                                    numbers, rows * count));
    }
done:
    svmp_release(context, numbers);
    svmp_release(context, place);
    svmp_release(context, is_done);
    return status;
}

static int blank_line(const csv_reader *reader) {
    csv_reader ahead = *reader;
    while (!at_line_end(&ahead) && is_blank(ahead.source->text[ahead.at])) ahead.at++;
    return at_line_end(&ahead);
}

/* In a single column an empty line is a missing value. */
static int between_rows(const csv_reader *reader) { return reader->columns > 1 && blank_line(reader); }

static void skip_rest_of_line(csv_reader *reader) {
    while (!at_line_end(reader)) reader->at++;
    skip_line_end(reader);
}

size_t svmp_data_csv_row(const text_source *source, size_t row) {
    csv_reader reader = {.source = source};
    csv_field field;
    do {
        if (read_field(&reader, &field) != SVMP_OK) break; /* cannot fail in a text that was read before */
        reader.columns++;
    } while (take_comma(&reader));
    skip_line_end(&reader);
    while (reader.at < source->length) {
        const int is_row = !between_rows(&reader);
        if (is_row && row-- == 0) break;
        skip_rest_of_line(&reader);
    }
    return reader.at;
}

svmp_status svmp_data_read_csv(data_set *data, const text_source *source) {
    csv_reader reader = {.data = data, .source = source};
    svmp_status status = SVMP_OK;
    if (blank_line(&reader)) {
        status = svmp_source_fail(data->context, source, reader.at, "expected a header row of names");
        goto done;
    }
    SVMP_CHECK(refuse_particles(&reader));
    SVMP_CHECK(read_header(&reader));
    while (reader.at < source->length) {
        if (between_rows(&reader))
            skip_rest_of_line(&reader);
        else
            SVMP_CHECK(read_row(&reader));
    }
    if (reader.count == 0) {
        status = svmp_source_fail(data->context, source, reader.names[0].offset, "no rows below the header");
        goto done;
    }
    SVMP_CHECK(add_columns(&reader));
done:
    svmp_release(data->context, reader.names);
    svmp_release(data->context, reader.values);
    return status;
}
