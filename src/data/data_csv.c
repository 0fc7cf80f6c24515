/* Comma-separated values: a header row of names, then a row of numbers for each element, or for each row of a matrix.
 */
#include "data/data_set.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/csv_field.h"
#include "base/number.h"

typedef struct csv_reader {
    data_set *data;
    const text_source *source;
    const char *at, *end, *next; /* the next byte of this line, its end, and the next line */
    csv_field *names;
    csv_field *text; /* column -> its first field that is not a number; start is NULL if there is none */
    size_t columns, name_capacity;
    double *values; /* row by row */
    size_t count, value_capacity;
} csv_reader;

static size_t length_of(const csv_field *field) { return (size_t)(field->end - field->start); }

static size_t offset_of(const csv_reader *reader, const char *place) { return (size_t)(place - reader->source->text); }

/* The length of a field in an error message. */
static int shown(const csv_field *field) { return (int)(length_of(field) < 40 ? length_of(field) : 40); }

#define CSV_FAIL(reader, place, ...)                                                                                   \
    svmp_source_fail((reader)->data->context, (reader)->source, offset_of((reader), (place)), __VA_ARGS__)

/* Begins the first line, or the next one; returns 0 at the end of the text. */
static int take_line(csv_reader *reader) {
    const char *stop = reader->source->text + reader->source->length;
    reader->at = reader->next ? reader->next : reader->source->text;
    const char *newline = memchr(reader->at, '\n', (size_t)(stop - reader->at));
    reader->end = newline ? newline : stop;
    reader->next = newline ? newline + 1 : stop;
    if (reader->end > reader->at && reader->end[-1] == '\r') reader->end--;
    return reader->at < stop;
}

static svmp_status read_field(csv_reader *reader, csv_field *field) {
    const char *after = svmp_csv_field(reader->at, reader->end, field);
    if (after == NULL) return CSV_FAIL(reader, field->start - 1, "the quote is not closed on this line");
    if (after < reader->end && *after != ',')
        return CSV_FAIL(reader, after, "expected a comma or the end of the line after a quoted field");
    reader->at = after;
    return SVMP_OK;
}

/* Takes the comma, if one is next. */
static int take_comma(csv_reader *reader) { return reader->at < reader->end ? reader->at++, 1 : 0; }

static svmp_status read_header(csv_reader *reader) {
    do {
        SVMP_TRY(SVMP_GROW(reader->data->context, reader->names, reader->name_capacity, reader->columns + 1));
        csv_field *name = &reader->names[reader->columns++];
        double number;
        SVMP_TRY(read_field(reader, name));
        if (name->start == name->end)
            return CSV_FAIL(reader, name->start, "column %zu has no name%s", reader->columns,
                            reader->columns > 1 ? ""
                                                : "; if these are row names from R's write.csv, use row.names = FALSE");
        if (svmp_number_parse(name->start, name->end, &number) == NUMBER_FINITE)
            return CSV_FAIL(reader, name->start, "expected a header row of names; '%.*s' is a number", shown(name),
                            name->start);
    } while (take_comma(reader));
    return SVMP_NEW(reader->data->context, reader->text, reader->columns);
}

/* Refuses a particle file of svmp, recognised by its first comment. */
static svmp_status refuse_particles(const csv_reader *reader) {
    static const char first[] = "# svmp ";
    if (reader->source->length < strlen(first) || memcmp(reader->source->text, first, strlen(first)) != 0)
        return SVMP_OK;
    return CSV_FAIL(reader, reader->source->text,
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
        if (reader->columns == 1 && memchr(name->start, *hints[k][0], length_of(name))) return hints[k][1];
    return "";
}

/* Why a column is text. */
static const char *text_sentence(const csv_reader *reader, size_t column, char *sentence, size_t size) {
    const csv_field *field = &reader->text[column], *name = &reader->names[column];
    const int is_nan = length_of(field) == 3 && strncasecmp(field->start, "nan", 3) == 0;
    snprintf(sentence, size, "'%.*s' in column '%.*s' is not a number%s", shown(field), field->start, shown(name),
             name->start, is_nan ? "; write NA for a missing value" : separator_hint(reader));
    return sentence;
}

static double read_number(const csv_field *field, csv_field *text) {
    const size_t length = length_of(field);
    const char *start = field->start;
    const int sign = *start == '-' || *start == '+';
    double number = NAN;
    if (text->start || length == 0 || (length == 2 && memcmp(start, "NA", 2) == 0)) return NAN;
    if (length - (size_t)sign == 3 && strncasecmp(start + sign, "inf", 3) == 0)
        return *start == '-' ? -INFINITY : INFINITY;
    if (svmp_number_parse(start, field->end, &number) != NUMBER_FINITE) *text = *field;
    return number;
}

/* Whether nothing but blank lines follows. */
static bool is_last_row(const csv_reader *reader) {
    const char *stop = reader->source->text + reader->source->length;
    for (const char *at = reader->next; at < stop; at++)
        if (*at != '\n' && *at != '\r' && *at != ' ') return false;
    return true;
}

static svmp_status read_row(csv_reader *reader) {
    const char *start = reader->at;
    size_t fields = 0;
    csv_field field;
    do {
        SVMP_TRY(read_field(reader, &field));
        if (fields < reader->columns) {
            SVMP_TRY(SVMP_GROW(reader->data->context, reader->values, reader->value_capacity, reader->count + 1));
            reader->values[reader->count++] = read_number(&field, &reader->text[fields]);
        }
        fields++;
    } while (take_comma(reader));
    if (fields == reader->columns) return SVMP_OK;
    const int cut = is_last_row(reader) && fields < reader->columns && reader->count > fields;
    return CSV_FAIL(reader, start, "the %srow has %zu field%s, but the header has %zu%s%s", cut ? "last " : "", fields,
                    fields == 1 ? "" : "s", reader->columns, cut ? ": was the file cut short?" : "",
                    separator_hint(reader));
}

/* The length of X in a name X[k] or, as in tables of BUGS, X[,k], and k; 0 for other names. */
static size_t matrix_name(const csv_field *name, size_t *k) {
    const char *bracket = memchr(name->start, '[', length_of(name)), *digit;
    if (bracket == NULL || bracket == name->start || name->end[-1] != ']') return 0;
    digit = bracket + 1 + (bracket[1] == ',');
    if (*digit < '1' || *digit > '9') return 0;
    for (*k = 0; digit < name->end - 1; digit++) {
        if (*digit < '0' || *digit > '9' || *k > DATA_MOST_VALUES) return 0;
        *k = 10 * *k + (size_t)(*digit - '0');
    }
    return (size_t)(bracket - name->start);
}

static void copy_column(const csv_reader *reader, size_t j, double *to) {
    const size_t rows = reader->count / reader->columns;
    for (size_t i = 0; i < rows; i++) to[i] = reader->values[i * reader->columns + j];
}

/* Finds the columns X[1], X[2], ... of which `first` is one: place[k - 1] is 1 + the index of X[k]. Returns their
 * number. */
static svmp_status find_matrix(const csv_reader *reader, size_t first, size_t *place, size_t *count) {
    size_t k, most = 0;
    const char *matrix = reader->names[first].start;
    const size_t length = matrix_name(&reader->names[first], &k);
    *count = 0;
    memset(place, 0, reader->columns * sizeof *place);
    for (size_t j = first; j < reader->columns; j++) {
        const csv_field *name = &reader->names[j];
        if (matrix_name(name, &k) != length || memcmp(name->start, matrix, length) != 0) continue;
        if (k <= reader->columns && place[k - 1])
            return CSV_FAIL(reader, name->start, "the column '%.*s' is there twice", (int)length_of(name), name->start);
        if (k <= reader->columns) place[k - 1] = 1 + j;
        if (k > most) most = k;
        ++*count;
    }
    for (k = 0; k < *count && place[k];) k++;
    if (most == *count && k == *count) return SVMP_OK;
    return CSV_FAIL(reader, matrix, "there is a column '%.*s[%zu]' of a matrix, but no '%.*s[%zu]'", (int)length,
                    matrix, most, (int)length, matrix, k + 1);
}

/* In a single column an empty line is a missing value. */
static int between_rows(const csv_reader *reader) {
    const char *at = reader->at;
    while (at < reader->end && (*at == ' ' || *at == '\t')) at++;
    return reader->columns != 1 && at == reader->end;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static int is_truth(const char *text, double *number) {
    *number = strcasecmp(text, "true") == 0;
    return *number != 0 || strcasecmp(text, "false") == 0;
}

/* Whether the fields of a column are text throughout: then a number among them is no slip. */
static bool is_text(size_t count, char *const *fields) {
    double number;
    for (size_t i = 0; i < count; i++)
        if (fields[i] && svmp_number_parse(fields[i], fields[i] + strlen(fields[i]), &number) == NUMBER_FINITE)
            return false;
    return true;
}

/* Copies the fields of a column, NULL where one is missing; the file is read once more. */
static svmp_status copy_fields(const csv_reader *reader, size_t column, memory_arena *memory, char **fields) {
    csv_reader again = {.data = reader->data, .source = reader->source};
    csv_field field = {0};
    size_t row = 0;
    take_line(&again);
    while (take_line(&again)) {
        again.columns = reader->columns;
        if (between_rows(&again)) continue;
        for (size_t j = 0; j <= column; j++) {
            SVMP_TRY(read_field(&again, &field));
            take_comma(&again);
        }
        const size_t length = length_of(&field);
        fields[row] = NULL;
        if (length > 0 && !(length == 2 && memcmp(field.start, "NA", 2) == 0)) {
            SVMP_TRY(ARENA_NEW(memory, fields[row], length + 1));
            memcpy(fields[row], field.start, length);
            *svmp_csv_unquote(fields[row], fields[row] + length) = 0;
        }
        row++;
    }
    return SVMP_OK;
}

/* Codes of a column of text, or 0 and 1 of true and false; *is false: there are numbers among the text. */
static svmp_status encode(const csv_reader *reader, size_t column, double *codes, bool *is) {
    svmp_context *context = reader->data->context;
    const csv_field *name = &reader->names[column];
    const size_t rows = reader->count / reader->columns;
    memory_arena memory = {.context = context};
    char **fields = NULL;
    bool truths = true;
    svmp_status status;
    *is = false;
    if (*separator_hint(reader)) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(context, fields, rows));
    SVMP_CHECK(copy_fields(reader, column, &memory, fields));
    *is = is_text(rows, fields);
    if (!*is) goto done;
    for (size_t i = 0; i < rows; i++) {
        codes[i] = NAN;
        truths = truths && (fields[i] == NULL || is_truth(fields[i], &codes[i]));
    }
    if (!truths)
        status = svmp_data_encode(reader->data, name->start, length_of(name), rows, (const char *const *)fields, codes);
done:
    svmp_release(context, fields);
    svmp_arena_free(&memory);
    return status;
}

/* Adds the columns place[0] - 1, place[1] - 1, ... as an array, or its name alone if there is text among them. */
static svmp_status add_array(const csv_reader *reader, const csv_field *name, size_t length, size_t rank, size_t count,
                             const size_t *place, double *numbers) {
    const size_t rows = reader->count / reader->columns, dimensions[] = {rows, count};
    char sentence[200];
    for (size_t k = 0; k < count; k++) {
        const size_t column = place[k] - 1;
        bool coded = false;
        if (reader->text[column].start && rank == 1) SVMP_TRY(encode(reader, column, numbers, &coded));
        if (coded) break;
        if (reader->text[column].start)
            return svmp_data_note_text(reader->data, name->start, length, offset_of(reader, name->start),
                                       offset_of(reader, reader->text[column].start),
                                       text_sentence(reader, column, sentence, sizeof sentence));
        copy_column(reader, column, numbers + k * rows);
    }
    return svmp_data_append(reader->data, name->start, length, offset_of(reader, name->start), rank, dimensions,
                            numbers, rows * count);
}

/* Columns X[1], X[2], ... in any order form a matrix X; any other column is a vector. */
static svmp_status add_columns(const csv_reader *reader) {
    svmp_context *context = reader->data->context;
    double *numbers = NULL;
    size_t *place = NULL, k, count;
    bool *is_done = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, numbers, reader->count));
    SVMP_CHECK(SVMP_NEW(context, place, reader->columns));
    SVMP_CHECK(SVMP_NEW(context, is_done, reader->columns));
    for (size_t j = 0; j < reader->columns; j++) {
        const csv_field *name = &reader->names[j];
        const size_t length = matrix_name(name, &k);
        if (is_done[j]) continue;
        place[0] = 1 + j;
        count = 1;
        if (length > 0) SVMP_CHECK(find_matrix(reader, j, place, &count));
        for (k = 0; k < count; k++) is_done[place[k] - 1] = true;
        SVMP_CHECK(
            add_array(reader, name, length > 0 ? length : length_of(name), length > 0 ? 2 : 1, count, place, numbers));
    }
done:
    svmp_release_all(context, numbers, place, is_done);
    return status;
}

size_t svmp_data_csv_row(const text_source *source, size_t row) {
    csv_reader reader = {.source = source};
    csv_field field;
    take_line(&reader);
    do {
        if (read_field(&reader, &field) != SVMP_OK) break; /* cannot fail in a text that was read before */
        reader.columns++;
    } while (take_comma(&reader));
    while (take_line(&reader) && (between_rows(&reader) || row-- > 0)) continue;
    return offset_of(&reader, reader.at);
}

/* A file without numbers is refused where its text begins. */
static svmp_status find_numbers(const csv_reader *reader) {
    char sentence[200];
    if (reader->count == 0) return CSV_FAIL(reader, reader->names[0].start, "no rows below the header");
    for (size_t j = 0; j < reader->columns; j++)
        if (reader->text[j].start == NULL) return SVMP_OK;
    return CSV_FAIL(reader, reader->text[0].start, "%s", text_sentence(reader, 0, sentence, sizeof sentence));
}

svmp_status svmp_data_read_csv(data_set *data, const text_source *source) {
    csv_reader reader = {.data = data, .source = source};
    svmp_status status;
    if (!take_line(&reader) || between_rows(&reader))
        return CSV_FAIL(&reader, source->text, "expected a header row of names");
    SVMP_CHECK(refuse_particles(&reader));
    SVMP_CHECK(read_header(&reader));
    while (take_line(&reader))
        if (!between_rows(&reader)) SVMP_CHECK(read_row(&reader));
    SVMP_CHECK(find_numbers(&reader));
    SVMP_CHECK(add_columns(&reader));
done:
    svmp_release_all(data->context, reader.names, reader.text, reader.values);
    return status;
}
