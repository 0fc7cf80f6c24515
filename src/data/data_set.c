#include "data/data_set.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/name_list.h"
#include "base/number.h"

svmp_status svmp_data_create(svmp_context *context, svmp_data **data) {
    data_set *made;
    if (context == NULL) return SVMP_BAD_CALL;
    if (data == NULL) return svmp_fail(context, SVMP_BAD_CALL, "svmp_data_create: the result is NULL.");
    SVMP_TRY(SVMP_NEW(context, made, 1));
    made->context = context;
    *data = made;
    return SVMP_OK;
}

void svmp_data_free(svmp_data *data) {
    if (data == NULL) return;
    svmp_context *context = data->context;
    for (size_t k = 0; k < data->count; k++) svmp_release(context, data->arrays[k].values);
    for (size_t k = 0; k < data->source_count; k++) svmp_source_free(context, &data->sources[k]);
    svmp_names_free(context, &data->names);
    for (size_t k = 0; k < data->text_names.count; k++) svmp_release(context, data->texts[k].sentence);
    svmp_names_free(context, &data->text_names);
    for (size_t k = 0; k < data->level_names.count; k++) svmp_names_free(context, &data->levels[k]);
    svmp_names_free(context, &data->level_names);
    svmp_release_all(context, data->levels, data->texts, data->arrays, data->sources, data);
}

const data_array *svmp_data_find(const data_set *data, const char *name) {
    uint32_t number = svmp_names_find(&data->names, name, strlen(name));
    return number == NAMES_NONE ? NULL : &data->arrays[number];
}

svmp_status svmp_data_note_text(data_set *data, const char *name, size_t length, size_t offset, size_t place,
                                const char *sentence) {
    svmp_context *context = data->context;
    const size_t count = data->text_names.count;
    const text_source *source = &data->sources[data->source_count - 1];
    data_text noted = {.source = data->source_count - 1, .offset = offset, .place = place};
    char shown[900], skipped[200];
    uint32_t number;
    snprintf(skipped, sizeof skipped, "'%.*s' is text, not numbers: skipped", (int)(length < 100 ? length : 100), name);
    svmp_source_describe(source, place, "note", skipped, shown, sizeof shown);
    svmp_log(context, SVMP_LOG_INFO, "%s", shown);
    SVMP_TRY(SVMP_GROW(context, data->texts, data->text_capacity, count + 1));
    SVMP_TRY(svmp_duplicate(context, sentence, &noted.sentence));
    const svmp_status status = svmp_names_add(context, &data->text_names, name, length, &number);
    if (status == SVMP_OK && number == count)
        data->texts[number] = noted;
    else
        svmp_release(context, noted.sentence);
    return status;
}

svmp_status svmp_data_refuse_text(const data_set *data, const char *name) {
    const uint32_t number = svmp_names_find(&data->text_names, name, strlen(name));
    if (number == NAMES_NONE) return SVMP_OK;
    const data_text *text = &data->texts[number];
    return svmp_source_fail(data->context, &data->sources[text->source], text->place, "%s", text->sentence);
}

static svmp_status defined_twice(data_set *data, const data_array *first, const text_source *again, size_t offset) {
    if (first->source == DATA_MEMORY)
        return svmp_source_fail(data->context, again, offset, "'%s' is already given in memory", first->name);
    const text_source *there = &data->sources[first->source];
    size_t line, column;
    svmp_source_place(there, first->offset, &line, &column);
    return svmp_source_fail(data->context, again, offset, "'%s' is already defined at %s:%zu", first->name, there->path,
                            line);
}

size_t svmp_data_count(size_t rank, const size_t *dimensions) {
    size_t product = 1;
    for (size_t k = 0; k < rank; k++)
        if (dimensions[k] == 0) return 0;
    for (size_t k = 0; k < rank; k++) {
        if (product > DATA_MOST_VALUES / dimensions[k]) return SIZE_MAX;
        product *= dimensions[k];
    }
    return product;
}

/* Adds an array with a new name; the caller fills its values. */
static svmp_status new_array(data_set *data, const char *name, size_t name_length, size_t rank,
                             const size_t *dimensions, size_t count, data_array **array) {
    svmp_context *context = data->context;
    double *values;
    uint32_t number;
    SVMP_TRY(SVMP_GROW(context, data->arrays, data->array_capacity, data->count + 1));
    SVMP_TRY(SVMP_NEW(context, values, count));
    svmp_status status = svmp_names_add(context, &data->names, name, name_length, &number);
    if (status != SVMP_OK) {
        svmp_release(context, values);
        return status;
    }
    *array = &data->arrays[data->count++];
    **array = (data_array){.name = data->names.text[number], .rank = rank, .count = count, .values = values};
    memcpy((*array)->dimensions, dimensions, rank * sizeof *dimensions);
    data->values += count;
    return SVMP_OK;
}

svmp_status svmp_data_append(data_set *data, const char *name, size_t name_length, size_t offset, size_t rank,
                             const size_t *dimensions, const double *values, size_t count) {
    svmp_context *context = data->context;
    const text_source *from = &data->sources[data->source_count - 1];
    data_array *array = NULL;
    if (name_length == 0) return svmp_source_fail(context, from, offset, "an array has no name");
    if (memchr(name, 0, name_length)) return svmp_source_fail(context, from, offset, "a name contains a zero byte");

    const uint32_t number = svmp_names_find(&data->names, name, name_length);
    if (number != NAMES_NONE) return defined_twice(data, &data->arrays[number], from, offset);
    if (svmp_data_count(rank, dimensions) != count)
        return svmp_source_fail(context, from, offset, "'%.*s' has %zu numbers, which does not match its dimensions",
                                (int)(name_length < 100 ? name_length : 100), name, count);
    if (count > DATA_MOST_VALUES - data->values)
        return svmp_source_fail(context, from, offset, "the data contain more than %u numbers", DATA_MOST_VALUES);
    SVMP_TRY(new_array(data, name, name_length, rank, dimensions, count, &array));
    if (count > 0) memcpy(array->values, values, count * sizeof *values);
    array->source = data->source_count - 1;
    array->offset = offset;
    return SVMP_OK;
}

/* ---- arrays in memory -------------------------------------------------------------------------------------------- */

void svmp_data_transpose(size_t rank, const size_t *dimensions, const double *rows, double *columns) {
    size_t index[DATA_MOST_DIMENSIONS] = {0}, strides[DATA_MOST_DIMENSIONS], place = 0;
    const size_t count = svmp_data_count(rank, dimensions);
    for (size_t k = 0; k < rank; k++) strides[k] = k == 0 ? 1 : strides[k - 1] * dimensions[k - 1];
    for (size_t from = 0; from < count; from++) {
        columns[place] = rows[from];
        for (size_t k = rank; k-- > 0;) {
            place += strides[k];
            if (++index[k] < dimensions[k]) break;
            place -= index[k] * strides[k];
            index[k] = 0;
        }
    }
}

svmp_status svmp_data_add(svmp_data *data, const char *name, size_t rank, const size_t *dimensions,
                          const double *values) {
    static const size_t one = 1;
    data_array *array = NULL;
    if (data == NULL) return SVMP_BAD_CALL;
    svmp_context *context = data->context;
    if (name == NULL || *name == '\0') return svmp_fail(context, SVMP_BAD_CALL, "svmp_data_add: the name is missing.");
    if (svmp_data_find(data, name))
        return svmp_fail(context, SVMP_BAD_CALL, "The data already have an array '%.100s'.", name);
    if (rank > DATA_MOST_DIMENSIONS)
        return svmp_fail(context, SVMP_BAD_CALL, "The array '%.100s' has %zu dimensions; the maximum is %d.", name,
                         rank, DATA_MOST_DIMENSIONS);
    if (rank > 0 && dimensions == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "The array '%.100s' was given without its dimensions.", name);
    const size_t count = svmp_data_count(rank, dimensions);
    if (count > DATA_MOST_VALUES - data->values) /* SIZE_MAX, too */
        return svmp_fail(context, SVMP_BAD_CALL, "With the array '%.100s' the data would have more than %u numbers.",
                         name, DATA_MOST_VALUES);
    if (count > 0 && values == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "The array '%.100s' was given without its values.", name);
    SVMP_TRY(new_array(data, name, strlen(name), rank ? rank : 1, rank ? dimensions : &one, count, &array));
    array->source = DATA_MEMORY;
    if (count > 0) svmp_data_transpose(array->rank, array->dimensions, values, array->values);
    return SVMP_OK;
}

svmp_status svmp_data_replace(svmp_data *data, const char *name, size_t count, const double *values) {
    if (data == NULL) return SVMP_BAD_CALL;
    if (name == NULL || values == NULL)
        return svmp_fail(data->context, SVMP_BAD_CALL, "svmp_data_replace: the %s missing.",
                         name ? "values are" : "name is");
    const uint32_t which = svmp_names_find(&data->names, name, strlen(name));
    if (which == NAMES_NONE) return svmp_fail(data->context, SVMP_BAD_CALL, "The data have no array '%.100s'.", name);
    data_array *array = &data->arrays[which];
    if (array->count != count)
        return svmp_fail(data->context, SVMP_BAD_CALL, "The array '%.100s' has %zu values, not %zu.", name,
                         array->count, count);
    svmp_data_transpose(array->rank, array->dimensions, values, array->values);
    return SVMP_OK;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

typedef svmp_status (*data_reader)(data_set *data, const text_source *source);

static const struct {
    const char *ending;
    data_reader read;
} readers[] = {{".json", svmp_data_read_json},
               {".csv", svmp_data_read_csv},
               {".R", svmp_data_read_dump},
               {".txt", svmp_data_read_dump},
               {".dump", svmp_data_read_dump}};

static const char *ending_at(size_t k) { return k < sizeof readers / sizeof *readers ? readers[k].ending : NULL; }

static data_reader find_reader(const char *path, size_t length) {
    for (size_t k = 0; k < sizeof readers / sizeof *readers; k++) {
        const size_t tail = strlen(readers[k].ending);
        if (length > tail && strncasecmp(path + length - tail, readers[k].ending, tail) == 0) return readers[k].read;
    }
    return NULL;
}

int svmp_data_is_read(const char *path, size_t length) { return find_reader(path, length) != NULL; }

/* Whether commas separate words in the first line: of a pipe or a file whose name does not say what it is. */
static bool is_csv(const text_source *source) {
    const char *line = source->text, *end = memchr(line, '\n', source->length), *comma;
    if (end == NULL) return false;
    comma = memchr(line, ',', (size_t)(end - line));
    return comma && memchr(line, '\0', (size_t)(end - line)) == NULL;
}

/* Chooses the reader by the file name or else by the first words. A model text among the data files means that the
 * arguments are in the wrong order. */
static svmp_status choose_reader(svmp_context *context, const text_source *source, data_reader *reader) {
    const data_kind kind = svmp_data_kind(source->text, source->length);
    char endings[128];
    *reader = find_reader(source->path, strlen(source->path));
    if (kind == DATA_MODEL && *reader != svmp_data_read_csv) /* whose first column may be named 'model' */
        return svmp_fail(context, SVMP_BAD_INPUT,
                         "%s: error: this is a model, not data; the model is the first file: svmp run MODEL DATA...",
                         source->path);
    if (*reader == NULL && kind == DATA_JSON) *reader = svmp_data_read_json;
    if (*reader == NULL && kind == DATA_DUMP) *reader = svmp_data_read_dump;
    if (*reader == NULL && kind == DATA_OTHER && is_csv(source)) *reader = svmp_data_read_csv;
    if (*reader) return SVMP_OK;
    return svmp_fail(context, SVMP_BAD_INPUT,
                     "%s: error: unknown kind of data file; expected %s, or a text such as 'y <- c(1, 2)' or "
                     "'list(y = c(1, 2))'.",
                     source->path, svmp_list_names(ending_at, "or", endings, sizeof endings));
}

const char *svmp_data_place(const data_set *data, const data_array *array, size_t element, char *place, size_t size) {
    if (array->source == DATA_MEMORY) return snprintf(place, size, "in memory"), place;
    const text_source *source = &data->sources[array->source];
    size_t line, column;
    const int csv = find_reader(source->path, strlen(source->path)) == svmp_data_read_csv;
    const size_t row = element % (array->dimensions[0] ? array->dimensions[0] : 1);
    svmp_source_place(source, csv ? svmp_data_csv_row(source, row) : array->offset, &line, &column);
    snprintf(place, size, "%s:%zu", source->path, line);
    return place;
}

void svmp_data_describe(const data_set *data, const data_array *array, const char *kind, const char *sentence,
                        char *buffer, size_t size) {
    if (array->source == DATA_MEMORY)
        snprintf(buffer, size, "<data>: %s: %s", kind, sentence);
    else
        svmp_source_describe(&data->sources[array->source], array->offset, kind, sentence, buffer, size);
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

/* Truncates to the first `arrays` arrays, `texts` texts and `levels` names with levels of `sources` files. */
static void truncate(data_set *data, size_t arrays, size_t texts, size_t levels, size_t sources) {
    for (size_t k = levels; k < data->level_names.count; k++) svmp_names_free(data->context, &data->levels[k]);
    svmp_names_truncate(data->context, &data->level_names, levels);
    for (size_t k = texts; k < data->text_names.count; k++) svmp_release(data->context, data->texts[k].sentence);
    svmp_names_truncate(data->context, &data->text_names, texts);
    while (data->count > arrays) {
        data->values -= data->arrays[--data->count].count;
        svmp_release(data->context, data->arrays[data->count].values);
    }
    svmp_names_truncate(data->context, &data->names, arrays);
    while (data->source_count > sources) svmp_source_free(data->context, &data->sources[--data->source_count]);
}

/* If it fails, none of its arrays are added. */
svmp_status svmp_data_read_source(data_set *data, text_source *from) {
    const size_t arrays = data->count, texts = data->text_names.count, levels = data->level_names.count;
    const size_t sources = data->source_count;
    number_locale locale = {0};
    data_reader reader = NULL;
    svmp_status chosen = choose_reader(data->context, from, &reader);
    if (chosen != SVMP_OK) return svmp_source_free(data->context, from), chosen;
    SVMP_TRY(add_source(data, from));
    svmp_status status = svmp_number_enter(data->context, &locale);
    if (status == SVMP_OK) status = reader(data, &data->sources[data->source_count - 1]);
    svmp_number_leave(&locale);
    if (status != SVMP_OK) truncate(data, arrays, texts, levels, sources);
    return status;
}

svmp_status svmp_data_read(svmp_data *data, const char *path) {
    text_source from;
    if (data == NULL) return SVMP_BAD_CALL;
    if (path == NULL) return svmp_fail(data->context, SVMP_BAD_CALL, "svmp_data_read: the path is NULL.");
    SVMP_TRY(svmp_source_read(data->context, path, &from));
    return svmp_data_read_source(data, &from);
}

svmp_status svmp_data_read_text(svmp_data *data, const char *path, const char *text, size_t length) {
    text_source from;
    if (data == NULL) return SVMP_BAD_CALL;
    if (path == NULL || text == NULL)
        return svmp_fail(data->context, SVMP_BAD_CALL, "svmp_data_read_text: the path or the text is NULL.");
    SVMP_TRY(svmp_source_copy(data->context, path, text, length, &from));
    return svmp_data_read_source(data, &from);
}
