/* The R dump format of JAGS and its relatives: assignments, or a list() as BUGS and dput write it.
 *
 *     file       := { assignment [";"] | "list" "(" [ assignment { "," assignment } ] ")" | table } (data_bugs_table.c)
 *     assignment := name ("<-" | "=") value
 *     value      := call | { "-" | "+" } item | string | "NULL"
 *     call       := "structure" "(" value { "," attribute } ")"    .Dim or dim; other attributes are skipped
 *                 | "matrix" "(" value { "," name "=" value } ")"   nrow, ncol, byrow, dimnames
 *                 | "array" "(" value { "," name "=" value } ")"    dim, dimnames
 *                 | ("as.integer" | "as.numeric" | ...) "(" value ")"
 *                 | ("integer" | "numeric" | ...) "(" number ")"    zeros
 *                 | "c" "(" [ [name "="] value { "," [name "="] value } ] ")"
 *     item       := number [ ":" number ] | "NA" | "NA_integer_" | "NA_real_" | "TRUE" | "FALSE" | "(" value ")"
 *     number     := ["-" | "+"] (digits ["L"] | "Inf")
 *
 * Values are column-major, as in R, except those of structure(.Data = ) in a list(): BUGS writes these row by row.
 * Text, such as .RNG.name, is not data of a model: it is skipped with a note in the log. */
#include "data/data_set.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/number.h"

enum { DEEPEST = 64 };

typedef struct dump_reader {
    data_set *data;
    const text_source *source;
    size_t at;
    double *values, *turned;
    size_t count, value_capacity, turned_capacity;
    size_t depth;
    bool in_list; /* as BUGS writes data */
    bool text;    /* a string was among the values */
} dump_reader;

/* The dimensions of a value; rank 0: none were given, it is a vector. */
typedef struct dump_shape {
    size_t rank, dimensions[DATA_MOST_DIMENSIONS];
    bool by_row;
} dump_shape;

#define DUMP_FAIL(reader, place, ...) svmp_source_fail((reader)->data->context, (reader)->source, (place), __VA_ARGS__)

/* ---- words ------------------------------------------------------------------------------------------------------ */

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

/* The length of the next word; 0 if there is none. */
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

static int is_quote(char byte) { return byte == '"' || byte == '\'' || byte == '`'; }

static svmp_status skip_string(dump_reader *reader) {
    size_t start = reader->at;
    char quote = next(reader);
    reader->at++;
    while (!at_end(reader) && next(reader) != quote) reader->at += next(reader) == '\\' ? 2 : 1;
    if (at_end(reader)) return DUMP_FAIL(reader, start, "the quote is not closed");
    reader->at++;
    return SVMP_OK;
}

/* Takes "name =" of an argument, if present: offset and length of the name; returns 0 otherwise. */
static svmp_status take_argument_name(dump_reader *reader, size_t *offset, size_t *length) {
    size_t before = reader->at;
    *length = 0;
    skip_blanks(reader);
    *offset = reader->at;
    if (!at_end(reader) && is_quote(next(reader))) {
        SVMP_TRY(skip_string(reader));
        *offset += 1;
        *length = reader->at - 1 - *offset;
        skip_blanks(reader);
        if (!at_end(reader) && next(reader) == '=') return reader->at++, SVMP_OK;
        *length = 0;
        reader->at = before;
        return SVMP_OK;
    }
    const size_t letters = word(reader);
    reader->at += letters;
    if (letters > 0 && take(reader, '='))
        *length = letters;
    else
        reader->at = before;
    return SVMP_OK;
}

static int is_word(const dump_reader *reader, size_t offset, size_t length, const char *wanted) {
    return length == strlen(wanted) && memcmp(reader->source->text + offset, wanted, length) == 0;
}

/* Anything up to the comma or parenthesis that ends an argument. */
static svmp_status skip_argument(dump_reader *reader, const char *function) {
    for (size_t depth = 0;;) {
        skip_blanks(reader);
        if (at_end(reader)) return DUMP_FAIL(reader, reader->at, "%s( is not closed", function);
        char byte = next(reader);
        if (is_quote(byte)) {
            SVMP_TRY(skip_string(reader));
            continue;
        }
        if (depth == 0 && (byte == ',' || byte == ')')) return SVMP_OK;
        if (byte == '(') depth++;
        if (byte == ')') depth--;
        reader->at++;
    }
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static svmp_status too_many(const dump_reader *reader, size_t place) {
    return DUMP_FAIL(reader, place, "the data contain more than %u numbers", DATA_MOST_VALUES);
}

static svmp_status push(dump_reader *reader, double value) {
    if (reader->count >= DATA_MOST_VALUES) return too_many(reader, reader->at);
    SVMP_TRY(SVMP_GROW(reader->data->context, reader->values, reader->value_capacity, reader->count + 1));
    reader->values[reader->count++] = value;
    return SVMP_OK;
}

static svmp_status expected_number(dump_reader *reader) {
    const char *start = reader->source->text + reader->at;
    size_t length = word(reader), place = reader->at;
    if (length == 3 && strncmp(start, "NaN", 3) == 0)
        return DUMP_FAIL(reader, place, "NaN is not a number; write NA for a missing value");
    const int shown = (int)(length < 40 ? length : 40);
    if (length > 0 && start[length] == '(')
        return DUMP_FAIL(reader, place, "'%.*s()' is not read in data files; write the numbers, as R's dump() does",
                         shown, start);
    if (length == 1 && *start == '.') return DUMP_FAIL(reader, place, "write NA for a missing value");
    if (length > 0) return DUMP_FAIL(reader, place, "'%.*s' is not a number", shown, start);
    return DUMP_FAIL(reader, place, "expected a number");
}

static svmp_status read_number(dump_reader *reader, double *number) {
    int negative = take(reader, '-');
    if (!negative) take(reader, '+');
    skip_blanks(reader);
    if (take_word(reader, "Inf")) {
        *number = INFINITY;
    } else {
        const char *start = reader->source->text + reader->at, *end = svmp_number_read(start, number);
        if (end == NULL) return expected_number(reader);
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
    } words[] = {{"NA", NAN}, {"NA_integer_", NAN}, {"NA_real_", NAN}, {"TRUE", 1}, {"FALSE", 0}, {"T", 1}, {"F", 0}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (take_word(reader, words[k].word)) return push(reader, words[k].value);
    if (take_word(reader, "NA_character_")) return reader->text = true, push(reader, NAN);
    if (take_word(reader, "NULL")) return SVMP_OK;
    skip_blanks(reader);
    size_t place = reader->at;
    if (!at_end(reader) && (next(reader) == '"' || next(reader) == '\'')) {
        reader->text = true;
        SVMP_TRY(skip_string(reader));
        return push(reader, NAN);
    }
    double number;
    SVMP_TRY(read_number(reader, &number));
    return take(reader, ':') ? read_range(reader, number, place) : push(reader, number);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static svmp_status read_value(dump_reader *reader, dump_shape *shape);

/* Reads dimensions or a count: numbers that are first appended to reader->values and then moved out. */
static svmp_status read_dimensions(dump_reader *reader, size_t *rank, size_t *dimensions) {
    size_t first = reader->count;
    dump_shape ignored = {0};
    skip_blanks(reader);
    size_t place = reader->at;
    SVMP_TRY(read_value(reader, &ignored));
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

/* c(1, b = 2, c(3, 4)) */
static svmp_status read_combined(dump_reader *reader) {
    dump_shape ignored;
    size_t offset, length;
    if (take(reader, ')')) return SVMP_OK;
    do {
        SVMP_TRY(take_argument_name(reader, &offset, &length));
        ignored = (dump_shape){0};
        SVMP_TRY(read_value(reader, &ignored));
    } while (take(reader, ','));
    return expect(reader, ')', "after the numbers of c(");
}

static svmp_status read_structure(dump_reader *reader, dump_shape *shape) {
    size_t offset, length;
    SVMP_TRY(take_argument_name(reader, &offset, &length));
    const bool named = is_word(reader, offset, length, ".Data");
    SVMP_TRY(read_value(reader, shape));
    while (take(reader, ',')) {
        if (take_word(reader, ".Dim") || take_word(reader, "dim")) {
            SVMP_TRY(expect(reader, '=', "after .Dim"));
            SVMP_TRY(read_dimensions(reader, &shape->rank, shape->dimensions));
        } else {
            SVMP_TRY(skip_argument(reader, "structure"));
        }
    }
    shape->by_row = named && reader->in_list && shape->rank > 1;
    return expect(reader, ')', "at the end of structure(");
}

/* An extent of matrix(): one number. */
static svmp_status read_extent(dump_reader *reader, size_t *extent) {
    size_t place = reader->at, rank, dimensions[DATA_MOST_DIMENSIONS];
    SVMP_TRY(read_dimensions(reader, &rank, dimensions));
    if (rank != 1) return DUMP_FAIL(reader, place, "expected one number");
    *extent = dimensions[0];
    return SVMP_OK;
}

/* Repeats the values until the array is full, as R does: matrix(0, 2, 3). */
static svmp_status repeat(dump_reader *reader, size_t first, size_t place, size_t wanted) {
    const size_t given = reader->count - first;
    if (given == 0 || given > wanted || wanted % given != 0)
        return DUMP_FAIL(reader, place, "%zu numbers do not fill an array of %zu", given, wanted);
    for (size_t k = given; k < wanted; k++) SVMP_TRY(push(reader, reader->values[first + k - given]));
    return SVMP_OK;
}

/* matrix(data, nrow, ncol, byrow, dimnames), by name or by position */
static svmp_status read_matrix(dump_reader *reader, dump_shape *shape) {
    static const char *const names[] = {"data", "nrow", "ncol", "byrow", "dimnames"};
    enum { DATA, ROWS, COLUMNS, BY_ROW, NAMES };
    const size_t first = reader->count, place = reader->at;
    size_t extent[2] = {SIZE_MAX, SIZE_MAX}, turn = 0, by_row = 0, offset, length;
    dump_shape ignored = {0};
    do {
        SVMP_TRY(take_argument_name(reader, &offset, &length));
        size_t which = length > 0 ? 0 : turn++;
        while (length > 0 && which < NAMES && !is_word(reader, offset, length, names[which])) which++;
        if (which == DATA)
            SVMP_TRY(read_value(reader, &ignored));
        else if (which == ROWS || which == COLUMNS)
            SVMP_TRY(read_extent(reader, &extent[which - ROWS]));
        else if (which == BY_ROW)
            SVMP_TRY(read_extent(reader, &by_row));
        else
            SVMP_TRY(skip_argument(reader, "matrix"));
    } while (take(reader, ','));
    SVMP_TRY(expect(reader, ')', "at the end of matrix("));
    const size_t given = reader->count - first;
    if (extent[0] == SIZE_MAX && extent[1] == SIZE_MAX) extent[1] = 1;
    for (size_t k = 0; k < 2; k++)
        if (extent[k] == SIZE_MAX) extent[k] = extent[1 - k] > 0 ? given / extent[1 - k] : 0;
    if (extent[0] > 0 && extent[1] > DATA_MOST_VALUES / extent[0]) return too_many(reader, place);
    *shape = (dump_shape){.rank = 2, .dimensions = {extent[0], extent[1]}, .by_row = by_row != 0};
    return extent[0] * extent[1] == given ? SVMP_OK : repeat(reader, first, place, extent[0] * extent[1]);
}

/* array(data, dim, dimnames) */
static svmp_status read_array(dump_reader *reader, dump_shape *shape) {
    const size_t first = reader->count, place = reader->at;
    size_t turn = 0, offset, length;
    do {
        SVMP_TRY(take_argument_name(reader, &offset, &length));
        const size_t which = length == 0                               ? turn++
                             : is_word(reader, offset, length, "data") ? 0
                             : is_word(reader, offset, length, "dim")  ? 1
                                                                       : 2;
        dump_shape ignored = {0};
        if (which == 0)
            SVMP_TRY(read_value(reader, &ignored));
        else if (which == 1)
            SVMP_TRY(read_dimensions(reader, &shape->rank, shape->dimensions));
        else
            SVMP_TRY(skip_argument(reader, "array"));
    } while (take(reader, ','));
    SVMP_TRY(expect(reader, ')', "at the end of array("));
    const size_t wanted = svmp_data_count(shape->rank, shape->dimensions);
    if (wanted == SIZE_MAX) return too_many(reader, place);
    if (shape->rank == 0 || wanted == reader->count - first) return SVMP_OK;
    return repeat(reader, first, place, wanted);
}

/* rep(value, times): times, or each, as one number */
static svmp_status read_repeated(dump_reader *reader) {
    const size_t first = reader->count, place = reader->at;
    size_t offset, length, times = 0;
    dump_shape ignored = {0};
    SVMP_TRY(take_argument_name(reader, &offset, &length));
    SVMP_TRY(read_value(reader, &ignored));
    const size_t given = reader->count - first;
    SVMP_TRY(expect(reader, ',', "in rep("));
    SVMP_TRY(take_argument_name(reader, &offset, &length));
    const bool each = is_word(reader, offset, length, "each");
    if (length > 0 && !each && !is_word(reader, offset, length, "times"))
        return DUMP_FAIL(reader, offset, "only rep(x, times) and rep(x, each = ) are supported");
    SVMP_TRY(read_extent(reader, &times));
    if (times > 0 && given > (DATA_MOST_VALUES - reader->count) / times) return too_many(reader, place);
    for (size_t k = given; k < given * times; k++) SVMP_TRY(push(reader, reader->values[first + k - given]));
    if (times == 0) reader->count = first;
    for (size_t k = given * times; each && k-- > 0;) reader->values[first + k] = reader->values[first + k / times];
    return expect(reader, ')', "at the end of rep(");
}

static svmp_status read_zeros(dump_reader *reader) {
    size_t count = 0, place = reader->at;
    SVMP_TRY(read_extent(reader, &count));
    if (count > DATA_MOST_VALUES - reader->count) return too_many(reader, place);
    for (size_t k = 0; k < count; k++) SVMP_TRY(push(reader, 0));
    return expect(reader, ')', "here");
}

/* as.integer(x) and its like keep the numbers; as.integer() rounds towards 0. */
static int take_conversion(dump_reader *reader, bool *truncates) {
    static const char *const names[] = {"as.integer", "as.numeric", "as.double",  "as.vector",
                                        "as.matrix",  "as.array",   "as.logical", "I"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (take_call(reader, names[k])) return *truncates = k == 0, 1;
    return 0;
}

static svmp_status read_call(dump_reader *reader, dump_shape *shape, bool *called) {
    const size_t first = reader->count;
    bool truncates = false;
    *called = true;
    if (take_call(reader, "c")) return read_combined(reader);
    if (take_call(reader, "structure")) return read_structure(reader, shape);
    if (take_call(reader, "matrix")) return read_matrix(reader, shape);
    if (take_call(reader, "array")) return read_array(reader, shape);
    if (take_call(reader, "rep")) return read_repeated(reader);
    if (take_call(reader, "integer") || take_call(reader, "numeric") || take_call(reader, "double") ||
        take_call(reader, "logical") || take_call(reader, "character"))
        return read_zeros(reader);
    if (take_conversion(reader, &truncates)) {
        SVMP_TRY(read_value(reader, shape));
        for (size_t k = first; truncates && k < reader->count; k++) reader->values[k] = trunc(reader->values[k]);
        return expect(reader, ')', "here");
    }
    *called = false;
    return SVMP_OK;
}

static svmp_status read_any(dump_reader *reader, dump_shape *shape) {
    const size_t first = reader->count;
    bool called;
    skip_blanks(reader);
    const size_t place = reader->at;
    SVMP_TRY(read_call(reader, shape, &called));
    if (called) return SVMP_OK;
    if (take_call(reader, "list"))
        return DUMP_FAIL(reader, place, "a list() within the data is not supported; write one array for each part");
    if (take(reader, '(')) {
        SVMP_TRY(read_value(reader, shape));
        return expect(reader, ')', "here");
    }
    if (take(reader, '-')) { /* -5:5 begins at -5, but -(5:7) and -c(5, 7) change the signs of all */
        const size_t sign = reader->at;
        SVMP_TRY(read_call(reader, shape, &called));
        skip_blanks(reader);
        if (called || (!at_end(reader) && next(reader) == '(')) {
            if (!called) SVMP_TRY(read_value(reader, shape));
            for (size_t k = first; k < reader->count; k++) reader->values[k] = -reader->values[k];
            return SVMP_OK;
        }
        reader->at = sign - 1;
    }
    return read_item(reader);
}

static svmp_status read_value(dump_reader *reader, dump_shape *shape) {
    if (reader->depth >= DEEPEST) return DUMP_FAIL(reader, reader->at, "the calls are nested too deeply");
    reader->depth++;
    svmp_status status = read_any(reader, shape);
    reader->depth--;
    return status;
}

/* ---- assignments ------------------------------------------------------------------------------------------------- */

/* name := letters, digits, dots and underscores, or anything within `...`, "..." or '...' */
static svmp_status read_name(dump_reader *reader, size_t *offset, size_t *length) {
    skip_blanks(reader);
    char quote = next(reader);
    if (is_quote(quote)) {
        *offset = reader->at + 1;
        SVMP_TRY(skip_string(reader));
        *length = reader->at - 1 - *offset;
        return SVMP_OK;
    }
    *offset = reader->at;
    *length = word(reader);
    if (*length == 0 || isdigit((unsigned char)quote)) return DUMP_FAIL(reader, reader->at, "expected a name");
    reader->at += *length;
    return SVMP_OK;
}

static svmp_status note_text(const dump_reader *reader, size_t offset, size_t length) {
    char sentence[300];
    const char *name = reader->source->text + offset;
    snprintf(sentence, sizeof sentence,
             "the values of '%.*s' in the data are text, not numbers; write NA for a missing value, and number the "
             "levels of a factor from 1",
             (int)(length < 100 ? length : 100), name);
    return svmp_data_note_text(reader->data, name, length, offset, offset, sentence);
}

/* From row-major to column-major; svmp_data_append reports dimensions that do not match. */
static svmp_status turn(dump_reader *reader, const dump_shape *shape) {
    if (svmp_data_count(shape->rank, shape->dimensions) != reader->count) return SVMP_OK;
    SVMP_TRY(SVMP_GROW(reader->data->context, reader->turned, reader->turned_capacity, reader->count));
    memcpy(reader->turned, reader->values, reader->count * sizeof *reader->values);
    svmp_data_transpose(shape->rank, shape->dimensions, reader->turned, reader->values);
    return SVMP_OK;
}

static svmp_status read_assignment(dump_reader *reader) {
    size_t offset, length;
    dump_shape shape = {0};
    SVMP_TRY(read_name(reader, &offset, &length));
    if (take(reader, '<'))
        SVMP_TRY(expect(reader, '-', "after '<'"));
    else if (!take(reader, '='))
        return DUMP_FAIL(reader, reader->at,
                         reader->in_list ? "expected '=' after the name" : "expected '<-' after the name");
    reader->count = 0;
    reader->text = false;
    SVMP_TRY(read_value(reader, &shape));
    skip_blanks(reader);
    if (!at_end(reader) && next(reader) != '\0' && strchr("+-*/^%", next(reader)))
        return DUMP_FAIL(reader, reader->at,
                         "formulas are not read in data files; write the numbers, as R's dump() does");
    if (!reader->in_list) take(reader, ';');
    if (reader->text) return note_text(reader, offset, length);
    if (shape.rank == 0) shape = (dump_shape){.rank = 1, .dimensions = {reader->count}};
    if (shape.by_row) SVMP_TRY(turn(reader, &shape));
    return svmp_data_append(reader->data, reader->source->text + offset, length, offset, shape.rank, shape.dimensions,
                            reader->values, reader->count);
}

/* list(N = 3, x = c(1, 2, 3)) */
static svmp_status read_list(dump_reader *reader) {
    reader->in_list = true;
    if (!take(reader, ')')) {
        do SVMP_TRY(read_assignment(reader));
        while (take(reader, ','));
        SVMP_TRY(expect(reader, ')', "at the end of list("));
    }
    reader->in_list = false;
    take(reader, ';');
    return SVMP_OK;
}

/* Whether a list begins here, perhaps within structure(), as dput writes lists with names and data frames. */
static int take_list(dump_reader *reader, bool *wrapped) {
    const size_t before = reader->at;
    *wrapped = take_call(reader, "structure");
    if (take_call(reader, "list")) return 1;
    reader->at = before;
    return 0;
}

static svmp_status read_whole_list(dump_reader *reader, bool wrapped) {
    SVMP_TRY(read_list(reader));
    if (!wrapped) return SVMP_OK;
    while (take(reader, ',')) SVMP_TRY(skip_argument(reader, "structure"));
    SVMP_TRY(expect(reader, ')', "at the end of structure("));
    take(reader, ';');
    return SVMP_OK;
}

/* A named list, data <- list(...), is read like the list itself. */
static svmp_status read_statement(dump_reader *reader) {
    const size_t before = reader->at;
    bool wrapped = false;
    if (take_list(reader, &wrapped)) return read_whole_list(reader, wrapped);
    const size_t letters = word(reader);
    reader->at += letters;
    if (letters > 0 && take(reader, '[')) {
        reader->at = before;
        return svmp_data_read_table(reader->data, reader->source, &reader->at);
    }
    if (letters > 0 && ((take(reader, '<') && take(reader, '-')) || take(reader, '=')) && take_list(reader, &wrapped))
        return read_whole_list(reader, wrapped);
    reader->at = before;
    return read_assignment(reader);
}

svmp_status svmp_data_read_dump(data_set *data, const text_source *source) {
    dump_reader reader = {.data = data, .source = source};
    svmp_status status = SVMP_OK;
    for (skip_blanks(&reader); status == SVMP_OK && !at_end(&reader); skip_blanks(&reader))
        status = read_statement(&reader);
    svmp_release_all(data->context, reader.values, reader.turned);
    return status;
}
