/* JSON in CmdStan's shape: one object; a value is a number, null, or arrays nested row by row. */
#include "data/data_set.h"

#ifndef SVMP_HAVE_JANSSON

svmp_status svmp_data_read_json(data_set *data, const text_source *source) {
    return svmp_fail(data->context, SVMP_UNSUPPORTED, "Cannot read '%s': this build has no JSON support (jansson).",
                     source->path);
}

#else

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

typedef struct json_reader {
    data_set *data;
    const text_source *source;
    size_t at; /* follows the text while the parsed values are traversed, so that errors have a position */
    size_t rank, dimensions[DATA_MOST_DIMENSIONS];
    double *values; /* column-major */
} json_reader;

#define JSON_FAIL(reader, ...) svmp_source_fail((reader)->data->context, (reader)->source, (reader)->at, __VA_ARGS__)

/* ---- following the text, which jansson has found to be valid -------------------------------- */

static void skip_string(json_reader *reader) {
    const char *text = reader->source->text;
    for (reader->at++; text[reader->at] != '"'; reader->at++)
        if (text[reader->at] == '\\') reader->at++;
    reader->at++;
}

/* Skips to the next byte that is neither blank nor one of `separators`. */
static void skip(json_reader *reader, const char *separators) {
    const char *text = reader->source->text;
    while (text[reader->at] != 0 && (isspace((unsigned char)text[reader->at]) || strchr(separators, text[reader->at])))
        reader->at++;
}

/* Skips a number or null. */
static void skip_scalar(json_reader *reader) {
    const char *text = reader->source->text;
    while (isalnum((unsigned char)text[reader->at]) || (text[reader->at] != 0 && strchr("+-.", text[reader->at])))
        reader->at++;
}

/* ---- values --------------------------------------------------------------------------------- */

static svmp_status read_scalar(json_reader *reader, const json_t *value, double *number) {
    if (json_is_array(value)) return JSON_FAIL(reader, "the array is ragged: expected a number, not an array");
    if (!json_is_number(value) && !json_is_null(value)) return JSON_FAIL(reader, "expected a number, null or an array");
    *number = json_is_null(value) ? NAN : json_number_value(value);
    skip_scalar(reader);
    return SVMP_OK;
}

/* Reads the values of dimension `depth` and deeper into index + k * stride, where k counts the elements. */
static svmp_status read_array(json_reader *reader, const json_t *value, size_t depth, size_t index, size_t stride) {
    if (depth == reader->rank) return read_scalar(reader, value, &reader->values[index]);
    if (!json_is_array(value)) return JSON_FAIL(reader, "the array is ragged: expected an array, not a number");
    if (json_array_size(value) != reader->dimensions[depth])
        return JSON_FAIL(reader, "the array is ragged: this row has %zu elements, the first row has %zu",
                         json_array_size(value), reader->dimensions[depth]);
    reader->at++;
    for (size_t k = 0; k < reader->dimensions[depth]; k++) {
        skip(reader, ",");
        SVMP_TRY(read_array(reader, json_array_get(value, k), depth + 1, index + k * stride,
                            stride * reader->dimensions[depth]));
    }
    skip(reader, ",");
    reader->at++;
    return SVMP_OK;
}

/* Takes rank and dimensions from the first element of each array; the traversal finds elements that differ. */
static svmp_status find_shape(json_reader *reader, const json_t *value, size_t *count) {
    *count = 1;
    reader->rank = 0;
    for (; json_is_array(value); value = json_array_get(value, 0)) {
        if (reader->rank == DATA_MOST_DIMENSIONS)
            return JSON_FAIL(reader, "an array can have at most %d dimensions", DATA_MOST_DIMENSIONS);
        size_t extent = json_array_size(value);
        reader->dimensions[reader->rank++] = extent;
        if (extent > 0 && *count > DATA_MOST_VALUES / extent)
            return JSON_FAIL(reader, "the data contain more than %u numbers", DATA_MOST_VALUES);
        *count *= extent;
        if (extent == 0) break;
    }
    return SVMP_OK;
}

static svmp_status read_member(json_reader *reader, const json_t *root) {
    svmp_context *context = reader->data->context;
    size_t offset = reader->at + 1, count;
    skip_string(reader);
    size_t length = reader->at - 1 - offset;
    const char *name = reader->source->text + offset;
    if (memchr(name, '\\', length)) return JSON_FAIL(reader, "escapes in names are not supported");
    const json_t *value = json_object_getn(root, name, length);
    skip(reader, ":");
    SVMP_TRY(find_shape(reader, value, &count));
    svmp_release(context, reader->values);
    reader->values = NULL;
    SVMP_TRY(SVMP_NEW(context, reader->values, count));
    SVMP_TRY(read_array(reader, value, 0, 0, 1));
    if (reader->rank == 0) reader->dimensions[reader->rank++] = 1;
    return svmp_data_append(reader->data, name, length, offset, reader->rank, reader->dimensions, reader->values,
                            count);
}

static svmp_status read_members(json_reader *reader, const json_t *root) {
    skip(reader, "{");
    for (size_t k = 0; k < json_object_size(root); k++) {
        SVMP_TRY(read_member(reader, root));
        skip(reader, ",");
    }
    return SVMP_OK;
}

/* Translates jansson's "']' expected near 'x'" to the wording of the other readers. */
static svmp_status fail_syntax(const json_reader *reader, const json_error_t *error) {
    static const struct {
        const char *theirs, *before, *after; /* delimiters of the text that jansson quotes */
    } words[] = {
        {"string or '}' expected", "expected a name in double quotes or '}', not ", ""},
        {"'[' or '{' expected", "expected one object, {\"name\": value, ...}, not ", ""},
        {"end of file expected", "expected the end of the file, not ", ""},
        {"']' expected", "expected ',' or ']', not ", ""},
        {"'}' expected", "expected ',' or '}', not ", ""},
        {"':' expected", "expected ':', not ", ""},
        {"unexpected token", "expected a value, not ", ""},
        {"invalid token", "expected a number, null or an array, not ", ""},
        {"duplicate object key", "the name ", " appears twice"},
        {"real number overflow", "the number ", " is too large"},
        {"premature end of input", "the quote is not closed: ", ""},
    };
    const char *near = strstr(error->text, " near ");
    for (size_t k = 0; near && k < sizeof words / sizeof *words; k++) {
        const size_t length = strlen(words[k].theirs);
        if (strncmp(error->text, words[k].theirs, length) != 0 || error->text + length != near) continue;
        const char *what = strcmp(near + 6, "end of file") == 0 ? "the end of the file" : near + 6;
        return JSON_FAIL(reader, "%s%s%s", words[k].before, what, words[k].after);
    }
    return JSON_FAIL(reader, "this is not valid JSON: %s", error->text);
}

svmp_status svmp_data_read_json(data_set *data, const text_source *source) {
    json_error_t error;
    json_reader reader = {.data = data, .source = source};
    json_t *root = json_loadb(source->text, source->length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    svmp_status status;
    if (root == NULL) {
        reader.at = error.position > 0 ? (size_t)error.position - 1 : 0;
        status = fail_syntax(&reader, &error);
    } else if (!json_is_object(root)) {
        status = JSON_FAIL(&reader, "expected one object, {\"name\": value, ...}");
    } else {
        status = read_members(&reader, root);
    }
    json_decref(root);
    svmp_release(data->context, reader.values);
    return status;
}

#endif
