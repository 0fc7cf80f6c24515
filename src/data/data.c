#include "data/data.h"

#include <string.h>
#include <strings.h>

svmp_status svmp_data_create(svmp_context *context, data_set **data) {
    data_set *made;
    SVMP_TRY(SVMP_NEW(context, made, 1));
    made->context = context;
    *data = made;
    return SVMP_OK;
}

void svmp_data_free(data_set *data) {
    if (data == NULL) return;
    svmp_context *context = data->context;
    for (size_t k = 0; k < data->count; k++) svmp_release(context, data->arrays[k].values);
    for (size_t k = 0; k < data->source_count; k++) svmp_source_free(context, &data->sources[k]);
    svmp_names_free(context, &data->names);
    svmp_release(context, data->arrays);
    svmp_release(context, data->sources);
    svmp_release(context, data);
}

const data_array *svmp_data_find(const data_set *data, const char *name) {
    uint32_t number = svmp_names_find(&data->names, name, strlen(name));
    return number == NAMES_NONE ? NULL : &data->arrays[number];
}

static svmp_status defined_twice(data_set *data, const data_array *first, const text_source *again, size_t offset) {
    const text_source *there = &data->sources[first->source];
    size_t line, column;
    svmp_source_place(there, first->offset, &line, &column);
    return svmp_source_fail(data->context, again, offset, "'%s' is already defined at %s:%zu", first->name, there->path,
                            line);
}

svmp_status svmp_data_add(data_set *data, const char *name, size_t name_length, size_t offset, size_t rank,
                          const size_t *dimensions, const double *values, size_t count) {
    svmp_context *context = data->context;
    const text_source *from = &data->sources[data->source_count - 1];
    if (name_length == 0) return svmp_source_fail(context, from, offset, "an array has no name");
    if (memchr(name, 0, name_length)) return svmp_source_fail(context, from, offset, "a name contains a zero byte");

    uint32_t number = svmp_names_find(&data->names, name, name_length);
    if (number != NAMES_NONE) return defined_twice(data, &data->arrays[number], from, offset);

    size_t product = 1;
    for (size_t k = 0; k < rank; k++) {
        if (dimensions[k] > 0 && product > DATA_MOST_VALUES / dimensions[k]) {
            product = SIZE_MAX;
            break;
        }
        product *= dimensions[k];
    }
    if (product != count)
        return svmp_source_fail(context, from, offset, "'%.*s' has %zu numbers, which does not match its dimensions",
                                (int)(name_length < 100 ? name_length : 100), name, count);
    if (count > DATA_MOST_VALUES - data->values)
        return svmp_source_fail(context, from, offset, "the data contain more than %u numbers", DATA_MOST_VALUES);

    SVMP_TRY(SVMP_GROW(context, data->arrays, data->array_capacity, data->count + 1));
    double *copy;
    SVMP_TRY(SVMP_NEW(context, copy, count));
    svmp_status status = svmp_names_add(context, &data->names, name, name_length, &number);
    if (status != SVMP_OK) {
        svmp_release(context, copy);
        return status;
    }
    if (count > 0) memcpy(copy, values, count * sizeof *copy);
    data_array *array = &data->arrays[data->count++];
    *array = (data_array){.name = data->names.text[number], .rank = rank, .count = count, .values = copy};
    array->source = data->source_count - 1;
    array->offset = offset;
    memcpy(array->dimensions, dimensions, rank * sizeof *dimensions);
    data->values += count;
    return SVMP_OK;
}

typedef svmp_status (*data_reader)(data_set *data, const text_source *source);

static svmp_status choose_reader(svmp_context *context, const char *path, data_reader *reader) {
    const char *ending = strrchr(path, '.');
    if (ending && strcasecmp(ending, ".json") == 0)
        *reader = svmp_data_read_json;
    else if (ending && strcasecmp(ending, ".csv") == 0)
        *reader = svmp_data_read_csv;
    else if (ending && (strcasecmp(ending, ".r") == 0 || strcmp(ending, ".txt") == 0 || strcmp(ending, ".dump") == 0))
        *reader = svmp_data_read_dump;
    else
        return svmp_fail(context, SVMP_BAD_INPUT,
                         "%s: error: unknown kind of data file; expected .json, .csv, .R, .txt or .dump.", path);
    return SVMP_OK;
}

const char *svmp_data_place(const data_set *data, const data_array *array, size_t element, char *place, size_t size) {
    const text_source *source = &data->sources[array->source];
    data_reader reader = NULL;
    size_t line, column;
    const int csv = choose_reader(data->context, source->path, &reader) == SVMP_OK && reader == svmp_data_read_csv;
    svmp_source_place(source, csv ? svmp_data_csv_row(source, element) : array->offset, &line, &column);
    snprintf(place, size, "%s:%zu", source->path, line);
    return place;
}

/* Makes the source part of the data set, which then owns it. */
static svmp_status add_source(data_set *data, text_source *from) {
    svmp_status status = SVMP_GROW(data->context, data->sources, data->source_capacity, data->source_count + 1);
    if (status == SVMP_OK)
        data->sources[data->source_count++] = *from;
    else
        svmp_source_free(data->context, from);
    return status;
}

svmp_status svmp_data_read(data_set *data, const char *path) {
    data_reader reader = NULL;
    text_source from;
    SVMP_TRY(choose_reader(data->context, path, &reader));
    SVMP_TRY(svmp_source_read(data->context, path, &from));
    SVMP_TRY(add_source(data, &from));
    return reader(data, &data->sources[data->source_count - 1]);
}

svmp_status svmp_data_read_text(data_set *data, const char *path, const char *text, size_t length) {
    data_reader reader = NULL;
    text_source from;
    SVMP_TRY(choose_reader(data->context, path, &reader));
    SVMP_TRY(svmp_source_copy(data->context, path, text, length, &from));
    SVMP_TRY(add_source(data, &from));
    return reader(data, &data->sources[data->source_count - 1]);
}
