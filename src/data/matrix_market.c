#include "data/matrix_market.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/text_lines.h"

typedef struct market_reader {
    text_file text;
    matrix made;
    size_t capacity;
    int array, integer;
    size_t size_line;  /* the line that declares the number of entries */
    matrix_entry last; /* that was read, kept or not */
    matrix_filter keep;
    const void *keep_data;
} market_reader;

/* ---- the banner: %%MatrixMarket matrix FORMAT FIELD SYMMETRY ------------------------------------------------------
 */

typedef struct banner_choice {
    const char *word;
    int meaning;
} banner_choice;

static svmp_status banner_word(const text_file *text, char **cursor, const char *what, const banner_choice *choices,
                               size_t count, int *meaning) {
    char *word, quoted[TEXT_QUOTED];
    if (!svmp_text_next_word(text, cursor, &word)) return svmp_text_fail(text, "the banner has no %s.", what);
    for (size_t k = 0; k < count; k++)
        if (strlen(choices[k].word) == (size_t)(*cursor - word) &&
            strncasecmp(word, choices[k].word, (size_t)(*cursor - word)) == 0)
            return *meaning = choices[k].meaning, SVMP_OK;
    return svmp_text_fail(text, "unsupported %s '%s'; supported: '%s' and '%s'.", what,
                          svmp_text_quote(word, *cursor, quoted), choices[0].word, choices[1].word);
}

static svmp_status read_banner(market_reader *reader) {
    static const char opening[] = "%%MatrixMarket";
    static const banner_choice formats[] = {{"coordinate", 0}, {"array", 1}};
    static const banner_choice fields[] = {{"real", 0}, {"integer", 1}};
    static const banner_choice symmetries[] = {{"general", 0}, {"symmetric", 1}};
    text_file *text = &reader->text;
    char *cursor, *word, quoted[TEXT_QUOTED];
    int there;
    SVMP_TRY(svmp_text_next_line(text, '\0', &there));
    if (!there) return svmp_text_fail(text, "the file is empty.");
    cursor = text->start;
    if (!svmp_text_next_word(text, &cursor, &word) || strlen(opening) != (size_t)(cursor - word) ||
        strncasecmp(word, opening, strlen(opening)) != 0)
        return svmp_text_fail(text, "a Matrix Market file must begin with '%s', not '%s'.", opening,
                              svmp_text_quote(word, cursor, quoted));
    if (!svmp_text_next_word(text, &cursor, &word) || cursor - word != 6 || strncasecmp(word, "matrix", 6) != 0)
        return svmp_text_fail(text, "unsupported object '%s'; supported: 'matrix'.",
                              svmp_text_quote(word, cursor, quoted));
    SVMP_TRY(banner_word(text, &cursor, "format", formats, 2, &reader->array));
    SVMP_TRY(banner_word(text, &cursor, "field", fields, 2, &reader->integer));
    SVMP_TRY(banner_word(text, &cursor, "symmetry", symmetries, 2, &reader->made.symmetric));
    return SVMP_OK;
}

/* ---- lines of numbers -------------------------------------------------------------------------------------------- */

static svmp_status read_size(const text_file *text, char **cursor, const char *what, size_t *value) {
    char *word, quoted[TEXT_QUOTED];
    if (!svmp_text_next_word(text, cursor, &word)) return svmp_text_fail(text, "the %s is missing.", what);
    if (!svmp_number_parse_size(word, *cursor, value))
        return svmp_text_fail(text, "the %s '%s' is not a whole number.", what, svmp_text_quote(word, *cursor, quoted));
    return SVMP_OK;
}

static svmp_status read_index(const text_file *text, char **cursor, const char *what, size_t limit, uint32_t *index) {
    size_t value = 0;
    SVMP_TRY(read_size(text, cursor, what, &value));
    if (value < 1 || value > limit)
        return svmp_text_fail(text, "the %s %zu is out of range: it must be from 1 to %zu.", what, value, limit);
    *index = (uint32_t)(value - 1);
    return SVMP_OK;
}

static svmp_status read_value(const market_reader *reader, char **cursor, double *value) {
    const text_file *text = &reader->text;
    char *word, quoted[TEXT_QUOTED];
    if (!svmp_text_next_word(text, cursor, &word)) return svmp_text_fail(text, "the value is missing.");
    const char *fault = NULL;
    switch (svmp_number_parse(word, *cursor, value)) {
    case NUMBER_FINITE: fault = reader->integer && *value != rint(*value) ? "whole number" : NULL; break;
    case NUMBER_NOT_FINITE: fault = "finite number"; break;
    case NUMBER_NONE: fault = "number"; break;
    }
    if (fault == NULL) return SVMP_OK;
    return svmp_text_fail(text, "the value '%s' is not a %s.", svmp_text_quote(word, *cursor, quoted), fault);
}

static svmp_status expect_end(const text_file *text, char *cursor) {
    char *word, quoted[TEXT_QUOTED];
    if (!svmp_text_next_word(text, &cursor, &word)) return SVMP_OK;
    return svmp_text_fail(text, "unexpected '%s' at the end of the line.", svmp_text_quote(word, cursor, quoted));
}

static svmp_status read_sizes(market_reader *reader) {
    text_file *text = &reader->text;
    matrix *made = &reader->made;
    int there;
    SVMP_TRY(svmp_text_next_line(text, '%', &there));
    if (!there) return svmp_text_fail(text, "the file ends before the size line.");
    char *cursor = text->start;
    SVMP_TRY(read_size(text, &cursor, "number of rows", &made->rows));
    SVMP_TRY(read_size(text, &cursor, "number of columns", &made->columns));
    if (made->rows == 0 || made->columns == 0)
        return svmp_text_fail(text, "a matrix of %zu rows and %zu columns is empty.", made->rows, made->columns);
    if (made->rows > UINT32_MAX || made->columns > UINT32_MAX)
        return svmp_text_fail(text, "%zu rows and %zu columns are too many; the limit is %lu.", made->rows,
                              made->columns, (unsigned long)UINT32_MAX);
    if (made->symmetric && made->rows != made->columns)
        return svmp_text_fail(text, "a symmetric matrix must be square, not %zu by %zu.", made->rows, made->columns);
    /* two numbers below 2^32: no overflow */
    if (!reader->array)
        SVMP_TRY(read_size(text, &cursor, "number of entries", &made->announced));
    else if (made->symmetric)
        made->announced = made->rows % 2 ? made->rows * ((made->rows + 1) / 2) : made->rows / 2 * (made->rows + 1);
    else
        made->announced = made->rows * made->columns;
    reader->size_line = text->line;
    return expect_end(text, cursor);
}

/* One line of a coordinate matrix; a symmetric one may give either triangle. */
static svmp_status read_coordinate(const market_reader *reader, matrix_entry *entry) {
    const text_file *text = &reader->text;
    char *cursor = text->start;
    SVMP_TRY(read_index(text, &cursor, "row", reader->made.rows, &entry->row));
    SVMP_TRY(read_index(text, &cursor, "column", reader->made.columns, &entry->column));
    SVMP_TRY(read_value(reader, &cursor, &entry->value));
    if (reader->made.symmetric && entry->row < entry->column) {
        uint32_t row = entry->row;
        entry->row = entry->column;
        entry->column = row;
    }
    return expect_end(text, cursor);
}

/* One line of an array: column by column, from the diagonal on if symmetric. */
static svmp_status read_element(const market_reader *reader, int first, matrix_entry *entry) {
    const matrix_entry before = *entry;
    char *cursor = reader->text.start;
    *entry = (matrix_entry){0};
    if (!first) {
        int ends = before.row + 1 == reader->made.rows;
        entry->column = before.column + (uint32_t)ends;
        entry->row = !ends ? before.row + 1 : reader->made.symmetric ? entry->column : 0;
    }
    SVMP_TRY(read_value(reader, &cursor, &entry->value));
    return expect_end(&reader->text, cursor);
}

static svmp_status keep_entry(market_reader *reader) {
    matrix *made = &reader->made;
    if (reader->keep && !reader->keep(reader->keep_data, reader->last)) return SVMP_OK;
    SVMP_TRY(SVMP_GROW(reader->text.context, made->entries, reader->capacity, made->count + 1));
    made->entries[made->count++] = reader->last;
    return SVMP_OK;
}

static svmp_status read_entries(market_reader *reader) {
    const size_t announced = reader->made.announced;
    for (size_t count = 0;; count++) {
        int there;
        SVMP_TRY(svmp_text_next_line(&reader->text, '%', &there));
        if (!there && count < announced)
            return svmp_text_fail(&reader->text, "the file ends after %zu entries, but line %zu declares %zu.", count,
                                  reader->size_line, announced);
        if (!there) return SVMP_OK;
        if (count == announced)
            return svmp_text_fail(&reader->text, "line %zu declares %zu entries, but there are more.",
                                  reader->size_line, announced);
        SVMP_TRY(reader->array ? read_element(reader, count == 0, &reader->last)
                               : read_coordinate(reader, &reader->last));
        SVMP_TRY(keep_entry(reader));
    }
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static int order_of_places(const void *a, const void *b) {
    const matrix_entry *left = a, *right = b;
    if (left->row != right->row) return left->row < right->row ? -1 : 1;
    return (left->column > right->column) - (left->column < right->column);
}

/* Fails at the line of the second entry for an element, which it searches for in the file. Only coordinate files can
 * have duplicates. */
static svmp_status fail_at_second(market_reader *reader, matrix_entry place) {
    const char *path = reader->text.path;
    svmp_context *context = reader->text.context;
    int there = 1;
    svmp_text_close(&reader->text);
    SVMP_TRY(svmp_text_open(context, path, &reader->text));
    while (there && reader->text.line < reader->size_line) SVMP_TRY(svmp_text_any_line(&reader->text, &there));
    for (int seen = 0; there && seen < 2;) {
        matrix_entry entry = {0};
        SVMP_TRY(svmp_text_next_line(&reader->text, '%', &there));
        if (there) SVMP_TRY(read_coordinate(reader, &entry));
        seen += there && order_of_places(&entry, &place) == 0;
    }
    return svmp_text_fail(&reader->text, "the entry in row %lu, column %lu is given twice.",
                          (unsigned long)place.row + 1, (unsigned long)place.column + 1);
}

static svmp_status sort_entries(market_reader *reader) {
    matrix *made = &reader->made;
    size_t ordered = 1;
    while (ordered < made->count && order_of_places(made->entries + ordered - 1, made->entries + ordered) < 0)
        ordered++;
    if (ordered >= made->count) return SVMP_OK;
    qsort(made->entries, made->count, sizeof *made->entries, order_of_places);
    for (size_t k = 1; k < made->count; k++)
        if (order_of_places(made->entries + k - 1, made->entries + k) == 0)
            return fail_at_second(reader, made->entries[k]);
    return SVMP_OK;
}

double svmp_matrix_at(const matrix *from, uint32_t row, uint32_t column) {
    matrix_entry place = {row, column, 0};
    if (from->symmetric && row < column) place = (matrix_entry){column, row, 0};
    const matrix_entry *found = bsearch(&place, from->entries, from->count, sizeof place, order_of_places);
    return found ? found->value : 0;
}

svmp_status svmp_matrix_read(svmp_context *context, const char *path, matrix_filter keep, const void *keep_data,
                             matrix *result) {
    market_reader reader = {.keep = keep, .keep_data = keep_data};
    number_locale locale = {0};
    svmp_status status = SVMP_OK;
    SVMP_CHECK(svmp_number_enter(context, &locale));
    SVMP_CHECK(svmp_text_open(context, path, &reader.text));
    SVMP_CHECK(read_banner(&reader));
    SVMP_CHECK(read_sizes(&reader));
    SVMP_CHECK(read_entries(&reader));
    SVMP_CHECK(sort_entries(&reader));
    reader.made.bytes = reader.text.size;
    reader.made.checksum = reader.text.checksum;
    *result = reader.made;
    reader.made = (matrix){0};
done:
    svmp_matrix_free(context, &reader.made);
    svmp_text_close(&reader.text);
    svmp_number_leave(&locale);
    return status;
}

void svmp_matrix_free(svmp_context *context, matrix *result) {
    svmp_release(context, result->entries);
    *result = (matrix){0};
}
