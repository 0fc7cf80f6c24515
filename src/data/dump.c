/* The R dump that JAGS reads: a list of assignments of numbers, vectors and arrays.
 *
 *     file       := { assignment [";"] }
 *     assignment := name ("<-" | "=") value
 *     value      := vector | "structure" "(" vector { "," attribute } ")"
 *     attribute  := ".Dim" "=" vector | name "=" anything
 *     vector     := "c" "(" [ item { "," item } ] ")" | item | ("integer" | "numeric") "(" "0" ")"
 *     item       := number [ ":" number ] | "NA" | "NA_integer_" | "NA_real_" | "TRUE" | "FALSE"
 *     number     := ["-" | "+"] (digits ["L"] | "Inf")
 */
#include "data/data.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/number.h"

typedef struct dump_reader {
    data_set *data;
    const text_source *source;
    size_t at;
    double *values;
    size_t count, value_capacity;
} dump_reader;

#define DUMP_FAIL(reader, place, ...) svmp_source_fail((reader)->data->context, (reader)->source, (place), __VA_ARGS__)

static char next(const dump_reader *reader) { return reader->source->text[reader->at]; }

static int at_end(const dump_reader *reader) { return reader->at >= reader->source->length; }

static void skip_blanks(dump_reader *reader) {
    while (!at_end(reader)) {
        if (next(reader) == '#')
            while (!at_end(reader) && next(reader) != '\n') reader->at++;
        else if (isspace((unsigned char)next(reader)))
            reader->at++;
        else
            break;
    }
}

static int take(dump_reader *reader, char wanted) {
    skip_blanks(reader);
    if (at_end(reader) || next(reader) != wanted) return 0;
    reader->at++;
    return 1;
}

static svmp_status expect(dump_reader *reader, char wanted, const char *where) {
    if (take(reader, wanted)) return SVMP_OK;
    return DUMP_FAIL(reader, reader->at, "expected '%c' %s", wanted, where);
}

static int name_byte(char byte) { return isalnum((unsigned char)byte) || byte == '.' || byte == '_'; }

/* The length of the word at the next place; 0 when none stands there. */
static size_t word(dump_reader *reader) {
    skip_blanks(reader);
    size_t end = reader->at;
    while (end < reader->source->length && name_byte(reader->source->text[end])) end++;
    return end - reader->at;
}

static int take_word(dump_reader *reader, const char *wanted) {
    size_t length = word(reader);
    if (length != strlen(wanted) || memcmp(reader->source->text + reader->at, wanted, length) != 0) return 0;
    reader->at += length;
    return 1;
}

/* Whether a call of `function` begins here; its "(" is then taken. */
static int take_call(dump_reader *reader, const char *function) {
    size_t before = reader->at;
    if (take_word(reader, function) && take(reader, '(')) return 1;
    reader->at = before;
    return 0;
}

static svmp_status push(dump_reader *reader, double value) {
    if (reader->count >= DATA_MOST_VALUES)
        return DUMP_FAIL(reader, reader->at, "the data contain more than %u numbers", DATA_MOST_VALUES);
    SVMP_TRY(SVMP_GROW(reader->data->context, reader->values, reader->value_capacity, reader->count + 1));
    reader->values[reader->count++] = value;
    return SVMP_OK;
}

static svmp_status read_number(dump_reader *reader, double *number) {
    int negative = take(reader, '-');
    if (!negative) take(reader, '+');
    skip_blanks(reader);
    if (take_word(reader, "Inf")) {
        *number = INFINITY;
    } else {
        const char *start = reader->source->text + reader->at, *end = svmp_number_read(start, number);
        if (end == NULL) {
            size_t length = word(reader), place = reader->at;
            if (length == 3 && strncmp(start, "NaN", 3) == 0)
                return DUMP_FAIL(reader, place, "NaN is not a number; write NA for a missing value");
            if (length > 0)
                return DUMP_FAIL(reader, place, "'%.*s' is not a number", (int)(length < 40 ? length : 40), start);
            return DUMP_FAIL(reader, place, "expected a number");
        }
        if (isinf(*number)) return DUMP_FAIL(reader, reader->at, "the number is too large");
        reader->at += (size_t)(end - start);
        if (next(reader) == 'L') reader->at++;
        if (!at_end(reader) && name_byte(next(reader)))
            return DUMP_FAIL(reader, reader->at, "unexpected '%c' after a number", next(reader));
    }
    if (negative) *number = -*number;
    return SVMP_OK;
}

static svmp_status read_range(dump_reader *reader, double from, size_t place) {
    double to;
    SVMP_TRY(read_number(reader, &to));
    if (!(fabs(to - from) < DATA_LONGEST_RANGE))
        return DUMP_FAIL(reader, place, "the range %.15g:%.15g contains more than %u numbers", from, to,
                         DATA_LONGEST_RANGE);
    size_t steps = (size_t)floor(fabs(to - from) + 1e-10);
    for (size_t k = 0; k <= steps; k++) SVMP_TRY(push(reader, to < from ? from - (double)k : from + (double)k));
    return SVMP_OK;
}

static svmp_status read_item(dump_reader *reader) {
    static const struct {
        const char *word;
        double value;
    } words[] = {{"NA", NAN}, {"NA_integer_", NAN}, {"NA_real_", NAN}, {"TRUE", 1}, {"FALSE", 0}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (take_word(reader, words[k].word)) return push(reader, words[k].value);
    skip_blanks(reader);
    size_t place = reader->at;
    double number;
    SVMP_TRY(read_number(reader, &number));
    return take(reader, ':') ? read_range(reader, number, place) : push(reader, number);
}

static svmp_status read_vector(dump_reader *reader) {
    if (take_call(reader, "integer") || take_call(reader, "numeric")) {
        skip_blanks(reader);
        size_t place = reader->at;
        double zero;
        SVMP_TRY(read_number(reader, &zero));
        if (zero != 0) return DUMP_FAIL(reader, place, "only integer(0) and numeric(0) are supported");
        return expect(reader, ')', "here");
    }
    if (!take_call(reader, "c")) return read_item(reader);
    if (take(reader, ')')) return SVMP_OK;
    do SVMP_TRY(read_item(reader));
    while (take(reader, ','));
    return expect(reader, ')', "after the numbers of c(");
}

static svmp_status skip_string(dump_reader *reader) {
    size_t start = reader->at;
    char quote = next(reader);
    reader->at++;
    while (!at_end(reader) && next(reader) != quote) reader->at += next(reader) == '\\' ? 2 : 1;
    if (at_end(reader)) return DUMP_FAIL(reader, start, "the quote is not closed");
    reader->at++;
    return SVMP_OK;
}

/* Anything up to the comma or parenthesis that ends an attribute. */
static svmp_status skip_attribute(dump_reader *reader) {
    for (size_t depth = 0;;) {
        skip_blanks(reader);
        if (at_end(reader)) return DUMP_FAIL(reader, reader->at, "structure( is not closed");
        char byte = next(reader);
        if (byte == '"' || byte == '\'' || byte == '`') {
            SVMP_TRY(skip_string(reader));
            continue;
        }
        if (depth == 0 && (byte == ',' || byte == ')')) return SVMP_OK;
        if (byte == '(') depth++;
        if (byte == ')') depth--;
        reader->at++;
    }
}

/* .Dim: the numbers after the values in reader->values, moved into `dimensions`. */
static svmp_status read_dimensions(dump_reader *reader, size_t *rank, size_t *dimensions) {
    size_t first = reader->count;
    skip_blanks(reader);
    size_t place = reader->at;
    SVMP_TRY(read_vector(reader));
    *rank = reader->count - first;
    if (*rank == 0 || *rank > DATA_MOST_DIMENSIONS)
        return DUMP_FAIL(reader, place, "an array must have 1 to %d dimensions, not %zu", DATA_MOST_DIMENSIONS, *rank);
    for (size_t k = 0; k < *rank; k++) {
        double extent = reader->values[first + k];
        if (!(extent >= 0 && extent <= DATA_MOST_VALUES && extent == floor(extent)))
            return DUMP_FAIL(reader, place, "a dimension must be a whole number, at least 0, not %g", extent);
        dimensions[k] = (size_t)extent;
    }
    reader->count = first;
    return SVMP_OK;
}

static svmp_status read_value(dump_reader *reader, size_t *rank, size_t *dimensions) {
    *rank = 0;
    if (!take_call(reader, "structure")) {
        SVMP_TRY(read_vector(reader));
    } else {
        SVMP_TRY(read_vector(reader));
        while (take(reader, ',')) {
            if (take_word(reader, ".Dim") || take_word(reader, "dim")) {
                SVMP_TRY(expect(reader, '=', "after .Dim"));
                SVMP_TRY(read_dimensions(reader, rank, dimensions));
            } else {
                SVMP_TRY(skip_attribute(reader));
            }
        }
        SVMP_TRY(expect(reader, ')', "at the end of structure("));
    }
    if (*rank == 0) {
        *rank = 1;
        dimensions[0] = reader->count;
    }
    return SVMP_OK;
}

/* name := letters, digits, dots and underscores, or anything within `...`, "..." or '...' */
static svmp_status read_name(dump_reader *reader, size_t *offset, size_t *length) {
    skip_blanks(reader);
    char quote = next(reader);
    if (quote == '`' || quote == '"' || quote == '\'') {
        *offset = reader->at + 1;
        SVMP_TRY(skip_string(reader));
        *length = reader->at - 1 - *offset;
        return SVMP_OK;
    }
    *offset = reader->at;
    *length = word(reader);
    if (*length == 0 || isdigit((unsigned char)quote)) return DUMP_FAIL(reader, reader->at, "expected a name");
    reader->at += *length;
    if (*length == 4 && memcmp(reader->source->text + *offset, "list", 4) == 0 && take(reader, '('))
        return DUMP_FAIL(reader, *offset,
                         "data in a list() are not supported; write one assignment per array, as R's dump does");
    return SVMP_OK;
}

static svmp_status read_assignment(dump_reader *reader) {
    size_t offset, length, rank, dimensions[DATA_MOST_DIMENSIONS];
    SVMP_TRY(read_name(reader, &offset, &length));
    if (take(reader, '<'))
        SVMP_TRY(expect(reader, '-', "after '<'"));
    else if (!take(reader, '='))
        return DUMP_FAIL(reader, reader->at, "expected '<-' after the name");
    reader->count = 0;
    SVMP_TRY(read_value(reader, &rank, dimensions));
    take(reader, ';');
    return svmp_data_append(reader->data, reader->source->text + offset, length, offset, rank, dimensions,
                            reader->values, reader->count);
}

svmp_status svmp_data_read_dump(data_set *data, const text_source *source) {
    dump_reader reader = {.data = data, .source = source};
    svmp_status status = SVMP_OK;
    for (skip_blanks(&reader); status == SVMP_OK && !at_end(&reader); skip_blanks(&reader))
        status = read_assignment(&reader);
    svmp_release(data->context, reader.values);
    return status;
}
