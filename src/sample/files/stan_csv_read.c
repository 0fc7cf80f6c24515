/* Particles from Stan CSV: '#' comment lines, a header of names, a row per particle. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/csv_field.h"
#include "base/notes.h"
#include "base/number.h"
#include "base/text_lines.h"
#include "sample/files/coda.h"
#include "sample/files/stan_csv_columns.h"
#include "sample/name_shapes.h"
#include "sample/netcdf.h"
#include "sample/particles.h"

typedef struct csv_reader {
    text_file text;
    char *titles;       /* the header */
    const char **names; /* of every column, in the header or the record; NULL where the column is skipped */
    char *known;        /* columns that are data, not variables */
    size_t columns, columns_capacity, known_capacity, variables;
    column_record record;
    particles_filter keep; /* which variables to read; NULL: all variables, statistics and comments */
    void *keep_data;
    size_t *place;     /* column -> its position in a row */
    size_t width;      /* of a row */
    size_t header;     /* its line number */
    int announced;     /* whether the comments declare the number of rows, */
    size_t rows_below; /* which is this */
    char *comments;    /* of the lines above the header, without "# " */
    size_t comments_length, comments_capacity;
    double *rows; /* rows[l*width + place[c]]: the file's order */
    size_t count, capacity;
} csv_reader;

/* Appends a line, without its "# ". */
static svmp_status keep_comment(csv_reader *reader) {
    const text_file *text = &reader->text;
    const char *start = text->start + 1 + (text->start[1] == ' ' && text->start + 1 < text->end);
    const size_t length = (size_t)(text->end - start), at = reader->comments_length, said = strlen(PARTICLES_ROWS);
    if (length > said && strncmp(start, PARTICLES_ROWS, said) == 0) {
        reader->announced = 1;
        reader->rows_below = strtoull(start + said, NULL, 10);
        return SVMP_OK;
    }
    SVMP_TRY(SVMP_GROW(text->context, reader->comments, reader->comments_capacity, at + length + 2));
    memcpy(reader->comments + at, start, length);
    memcpy(reader->comments + at + length, "\n", 2);
    reader->comments_length = at + length + 1;
    return SVMP_OK;
}

/* Reads up to the line of the names, which follows the comments. */
static svmp_status find_header(csv_reader *reader) {
    text_file *text = &reader->text;
    int there = 1;
    SVMP_TRY(SVMP_GROW(text->context, reader->comments, reader->comments_capacity, 1));
    reader->comments[0] = '\0';
    while (there) {
        SVMP_TRY(svmp_text_any_line(text, &there));
        if (!there && text->line == 0) return svmp_text_fail(text, "the file is empty.");
        if (!there) return svmp_text_fail(text, "there is no header; the file contains only comments.");
        if (text->start < text->end && *text->start != '#') break;
        if (text->start < text->end) SVMP_TRY(keep_comment(reader));
    }
    reader->header = text->line;
    *text->end = '\0'; /* overwrites a blank or the line's end */
    return svmp_duplicate(text->context, text->start, &reader->titles);
}

static svmp_status read_header(csv_reader *reader) {
    text_file *text = &reader->text;
    SVMP_TRY(find_header(reader));
    SVMP_TRY(svmp_columns_take(text->context, reader->comments, &reader->record));
    char *end = reader->titles + strlen(reader->titles);
    for (char *cursor = reader->titles;; cursor++) {
        csv_field field;
        char quoted[TEXT_QUOTED];
        const char *after = svmp_csv_field(cursor, end, &field);
        if (after == NULL || (after < end && *after != ','))
            return svmp_text_fail(text, "column %zu: expected a comma after a closed quotation mark.",
                                  reader->columns + 1);
        const int more = after < end;
        char *first = cursor + (field.start - cursor), *last = svmp_csv_unquote(first, field.end);
        cursor += after - cursor;
        SVMP_TRY(SVMP_GROW(text->context, reader->names, reader->columns_capacity, reader->columns + 1));
        SVMP_TRY(SVMP_GROW(text->context, reader->known, reader->known_capacity, reader->columns + 1));
        *last = '\0'; /* overwrites a blank, a quotation mark, the comma or the end, which have been read */
        if (first == last && reader->columns == 0)
            return svmp_text_fail(text, "the first column has no name. If it contains row numbers, omit them: "
                                        "row.names = FALSE in R, index=False in pandas.");
        const char *fault = svmp_name_problem(first);
        if (fault)
            return svmp_text_fail(text, "the name of column %zu, '%s', %s.", reader->columns + 1,
                                  svmp_text_quote(first, last, quoted), fault);
        const char *name = first;
        reader->known[reader->columns] = (char)svmp_columns_is_known(&reader->record, name);
        if (!svmp_name_is_internal(name)) SVMP_TRY(svmp_columns_restore(&reader->record, &name));
        reader->names[reader->columns++] = name;
        reader->variables += !svmp_name_is_internal(name);
        if (!more) break;
    }
    if (reader->variables == 0)
        return svmp_text_fail(text, "there are no variables: the names of all columns end in '__'.");
    return SVMP_OK;
}

/* Skips unwanted columns and assigns positions to the others. */
static svmp_status choose_columns(csv_reader *reader) {
    size_t column = 0;
    SVMP_TRY(SVMP_NEW(reader->text.context, reader->place, reader->columns));
    for (size_t c = 0; c < reader->columns; c++) {
        const int number = !svmp_name_is_internal(reader->names[c]), variable = number && !reader->known[c];
        if (reader->keep && !(variable && reader->keep(reader->keep_data, column, reader->names[c]))) {
            reader->names[c] = NULL;
            reader->variables -= (size_t)number;
        }
        column += (size_t)variable;
        if (reader->names[c]) reader->place[c] = reader->width++;
    }
    return SVMP_OK;
}

static svmp_status wrong_number_of_fields(const csv_reader *reader) {
    const text_file *text = &reader->text;
    size_t fields = 1;
    for (const char *c = text->start; c < text->end; c++) fields += *c == ',';
    return svmp_text_fail(text, "the row has %zu fields, but the header on line %zu has %zu.", fields, reader->header,
                          reader->columns);
}

/* A sampler's statistics must be finite; others, such as a log density, need not be. */
static int is_finite_column(const char *name) {
    static const char *const sampler[] = {"chain__",      "accept_stat__", "stepsize__", "treedepth__",
                                          "n_leapfrog__", "divergent__",   "energy__",   "n_sweeps__"};
    int found = !svmp_name_is_internal(name);
    for (size_t k = 0; k < sizeof sampler / sizeof *sampler; k++) found |= strcmp(name, sampler[k]) == 0;
    return found;
}

static svmp_status read_field(csv_reader *reader, size_t c, const csv_field *field, double *value) {
    char quoted[TEXT_QUOTED];
    const number_kind kind = svmp_number_parse(field->start, field->end, value);
    if (kind == NUMBER_FINITE) return SVMP_OK;
    if (kind == NUMBER_NONE || is_finite_column(reader->names[c]))
        return svmp_text_fail(&reader->text, "column %zu (%.80s): '%s' is not a %s.", c + 1, reader->names[c],
                              svmp_text_quote(field->start, field->end, quoted),
                              kind == NUMBER_NONE ? "number" : "finite number");
    *value = strtod(field->start, NULL);
    return SVMP_OK;
}

static svmp_status read_row(csv_reader *reader) {
    text_file *text = &reader->text;
    SVMP_TRY(SVMP_GROW(text->context, reader->rows, reader->capacity, (reader->count + 1) * reader->width));
    double *row = reader->rows + reader->count * reader->width;
    const char *at = text->start;
    for (size_t c = 0; c < reader->columns; c++) {
        csv_field field;
        at = svmp_csv_field(at, text->end, &field);
        if (at == NULL || (at < text->end && *at != ','))
            return svmp_text_fail(text, "column %zu: expected a comma after a closed quotation mark.", c + 1);
        if ((at == text->end) != (c + 1 == reader->columns)) return wrong_number_of_fields(reader);
        at++;
        if (reader->names[c]) SVMP_TRY(read_field(reader, c, &field, &row[reader->place[c]]));
    }
    reader->count++;
    return SVMP_OK;
}

/* A file that was truncated at the end of a line, or lost rows, declares more rows than it has. One that was truncated
 * within its last number has as many rows as declared, but no newline at its end. */
static svmp_status check_count(const csv_reader *reader, size_t count) {
    if (reader->announced && reader->rows_below != count)
        return svmp_text_fail(&reader->text,
                              "the file ends here after %zu rows, but its header comments say '%s%zu': it was "
                              "truncated or changed. To read it as it is, remove its comments.",
                              count, PARTICLES_ROWS, reader->rows_below);
    if (reader->announced && reader->text.cut)
        return svmp_text_fail(&reader->text, "the last line has no newline, so its last number may be truncated. To "
                                             "read the file as it is, end the line.");
    return count > 0 ? SVMP_OK : svmp_text_fail(&reader->text, "there are no rows below the header.");
}

static svmp_status read_rows(csv_reader *reader) {
    for (int there = 1;;) {
        SVMP_TRY(svmp_text_next_line(&reader->text, '#', &there));
        if (!there) return check_count(reader, reader->count);
        SVMP_TRY(read_row(reader));
    }
}

/* The column chain__ counts 1, 2, ... in blocks of equal length. */
static svmp_status build_chains(const csv_reader *reader, const double *chain, svmp_particles *made) {
    const size_t count = reader->count;
    const double last = chain[count - 1];
    const size_t chains = last >= 1 && last <= (double)count ? (size_t)last : 1;
    for (size_t l = 0; l < count; l++) {
        const size_t expected = l / (count / chains) + 1;
        if (count % chains != 0 || chain[l] != (double)expected)
            return svmp_fail(made->context, SVMP_BAD_INPUT,
                             "%s:%zu: the column chain__ must number the chains 1, 2, ..., all of the same length.",
                             reader->text.path, reader->header);
    }
    return svmp_particles_set_chains(made, chains);
}

/* Stores column c of the file as the next variable, a statistic, or the chains; `values` has room for a column. */
static svmp_status build_column(const csv_reader *reader, size_t c, size_t *variable, double *values,
                                svmp_particles *made) {
    const char *name = reader->names[c];
    const size_t count = reader->count;
    if (name == NULL) return SVMP_OK;
    const int statistic = svmp_name_is_internal(name);
    double *to = statistic ? values : made->values + *variable * count;
    for (size_t l = 0; l < count; l++) to[l] = reader->rows[l * reader->width + reader->place[c]];
    if (!statistic) return svmp_particles_set_name(made, (*variable)++, name);
    return strcmp(name, "chain__") == 0 ? build_chains(reader, values, made)
                                        : svmp_particles_set_statistic(made, name, values);
}

/* Collects the known elements of an array; `known` flags variables. */
static svmp_status keep_known(const csv_reader *reader, const shaped_array *array, const char *known,
                              svmp_particles *made) {
    const size_t count = made->count;
    double *values;
    svmp_status status;
    SVMP_TRY(SVMP_NEW(made->context, values, array->count));
    for (size_t m = 0; m < array->count; m++) {
        const double *column = made->values + array->variable[m] * count;
        values[m] = known[array->variable[m]] ? *column : NAN;
        for (size_t l = 1; l < count && !isnan(values[m]); l++)
            if (column[l] != *column)
                SVMP_CHECK(svmp_fail(made->context, SVMP_BAD_INPUT,
                                     "%s:%zu: the column '%.80s' is declared known but is not constant.",
                                     reader->text.path, reader->header, svmp_particles_name(made, array->variable[m])));
    }
    char *name = NULL;
    SVMP_CHECK(svmp_duplicate(made->context, array->name, &name));
    name[array->length] = '\0';
    const svmp_array whole = {.name = name, .rank = array->dimensions, .dimensions = array->extent};
    status = svmp_extra_add(made->context, &made->known, &whole, values);
    svmp_release(made->context, name);
done:
    svmp_release(made->context, values);
    return status;
}

/* In a file the first index of an array runs fastest, as Stan writes them; here it is the last one. Known elements are
 * not variables. */
static svmp_status finish_arrays(const csv_reader *reader, const char *known, svmp_particles *made) {
    svmp_context *context = made->context;
    const size_t size = made->count * sizeof(double);
    shape arrays = {0};
    double *values = NULL;
    char **names = NULL;
    size_t left = 0;
    svmp_status status;
    SVMP_CHECK(svmp_shape_of(made, &arrays));
    if (arrays.count == made->variables && memchr(known, 1, made->variables) == NULL) goto done; /* nothing is known */
    SVMP_CHECK(SVMP_NEW(context, values, made->variables * made->count));
    SVMP_CHECK(SVMP_NEW(context, names, made->variables));
    for (size_t a = 0; a < arrays.count; a++) {
        const shaped_array *array = &arrays.arrays[a];
        int any = 0, whole = array->dimensions > 0;
        for (size_t k = 0; k < array->dimensions; k++) whole = whole && array->first[k] == 1;
        for (size_t m = 0; m < array->count; m++) any |= known[array->variable[m]];
        if (any && whole) SVMP_CHECK(keep_known(reader, array, known, made));
        for (size_t m = 0; m < array->count; m++) {
            const size_t from = array->variable[m];
            if (known[from]) continue;
            memcpy(values + left * made->count, made->values + from * made->count, size);
            names[left++] = made->given[from];
            made->given[from] = NULL;
        }
    }
    if (left == 0)
        SVMP_CHECK(svmp_fail(context, SVMP_BAD_INPUT, "%s:%zu: there are no variables: all columns are declared known.",
                             reader->text.path, reader->header));
    for (size_t i = 0; i < made->variables; i++) svmp_release(context, made->given[i]);
    svmp_release_all(context, made->values, made->given);
    made->values = values;
    made->given = names;
    made->variables = made->whole = left;
    values = NULL;
    names = NULL;
done:
    for (size_t i = 0; names && i < left; i++) svmp_release(context, names[i]);
    svmp_release_all(context, names, values);
    svmp_shape_free(context, &arrays);
    return status;
}

/* A statistic, or chain__, with two columns; NULL if there is none. */
static const char *repeated_statistic(const csv_reader *reader) {
    for (size_t c = 0; c < reader->columns; c++)
        for (size_t k = 0; reader->names[c] && svmp_name_is_internal(reader->names[c]) && k < c; k++)
            if (reader->names[k] && strcmp(reader->names[k], reader->names[c]) == 0) return reader->names[c];
    return NULL;
}

static svmp_status build(csv_reader *reader, svmp_particles **particles) {
    svmp_particles *made = NULL;
    double *values = NULL;
    const char *repeated;
    size_t variables = 0;
    svmp_status status = SVMP_OK;
    SVMP_CHECK(svmp_particles_create(reader->text.context, reader->variables, reader->count, NULL, &made));
    SVMP_CHECK(SVMP_NEW(made->context, values, reader->count));
    for (size_t c = 0, variable = 0; c < reader->columns; c++)
        SVMP_CHECK(build_column(reader, c, &variable, values, made));
    SVMP_CHECK(svmp_particles_repeated_name(made, &repeated));
    if (repeated == NULL) repeated = repeated_statistic(reader);
    if (repeated)
        SVMP_CHECK(svmp_fail(made->context, SVMP_BAD_INPUT, "%s:%zu: two columns have the name '%.80s'.",
                             reader->text.path, reader->header, repeated));
    for (size_t c = 0; c < reader->columns; c++) /* from now on flags of variables */
        if (reader->names[c] && !svmp_name_is_internal(reader->names[c])) reader->known[variables++] = reader->known[c];
    SVMP_CHECK(finish_arrays(reader, reader->known, made));
    if (reader->keep == NULL) {
        made->comments = reader->comments;
        reader->comments = NULL;
        SVMP_CHECK(svmp_series_take_comments(made));
    }
    *particles = made;
    made = NULL;
done:
    svmp_release(reader->text.context, values);
    svmp_particles_free(made);
    return status;
}

static void release(csv_reader *reader) {
    svmp_context *context = reader->text.context;
    if (context == NULL) return;
    svmp_release_all(context, reader->rows, reader->names, reader->titles, reader->comments, reader->place,
                     reader->known);
    svmp_columns_forget(&reader->record);
    svmp_text_close(&reader->text);
}

/* Opens the file and reads its header. */
static svmp_status begin(svmp_context *context, const char *path, csv_reader *reader) {
    SVMP_TRY(svmp_text_open(context, path, &reader->text));
    if (strncmp(reader->text.next, ARCHIVE_MAGIC, strlen(ARCHIVE_MAGIC)) == 0)
        return svmp_fail_notes(context, SVMP_BAD_INPUT, NOTES(svmp_advice(SVMP_NOTE_CONTINUE, "resume", "FILE")),
                               "'%s' is a checkpoint, not a file of particles.", path);
    SVMP_TRY(read_header(reader));
    return choose_columns(reader);
}

static svmp_status read_csv(svmp_context *context, const char *path, particles_filter keep, void *user_data,
                            svmp_particles **particles) {
    csv_reader reader = {.keep = keep, .keep_data = user_data};
    number_locale locale = {0};
    svmp_status status;
    SVMP_CHECK(svmp_number_enter(context, &locale));
    SVMP_CHECK(begin(context, path, &reader));
    SVMP_CHECK(read_rows(&reader));
    SVMP_CHECK(build(&reader, particles));
done:
    release(&reader);
    svmp_number_leave(&locale);
    return status;
}

svmp_status svmp_particles_read(svmp_context *context, const char *path, svmp_particles **particles) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (path == NULL || particles == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_particles_read: the %s is NULL.", path ? "result" : "path");
    svmp_particles *read = NULL;
    SVMP_TRY(svmp_path_is_netcdf(path) ? svmp_netcdf_read(context, path, &read)
             : svmp_path_is_coda(path) ? svmp_coda_read(context, path, &read)
                                       : read_csv(context, path, NULL, NULL, &read));
    const svmp_status status = svmp_duplicate(context, path, &read->path);
    if (status == SVMP_OK)
        *particles = read;
    else
        svmp_particles_free(read);
    return status;
}

svmp_status svmp_particles_read_some(svmp_context *context, const char *path, particles_filter keep, void *user_data,
                                     svmp_particles **particles) {
    return read_csv(context, path, keep, user_data, particles);
}

svmp_status svmp_particles_read_names(svmp_context *context, const char *path, particles_filter keep, void *user_data) {
    csv_reader reader = {.keep = keep, .keep_data = user_data};
    svmp_status status = begin(context, path, &reader);
    release(&reader);
    return status;
}

svmp_status svmp_particles_read_count(svmp_context *context, const char *path, size_t *count) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (path == NULL || count == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_particles_read_count: the %s is NULL.",
                         path ? "result" : "path");
    if (svmp_path_is_netcdf(path)) {
        svmp_particles *all = NULL;
        SVMP_TRY(svmp_netcdf_read(context, path, &all));
        *count = all->count;
        svmp_particles_free(all);
        return SVMP_OK;
    }
    csv_reader reader = {0};
    svmp_status status = begin(context, path, &reader);
    int there = 1;
    for (*count = 0; status == SVMP_OK && there; *count += (size_t)there)
        status = svmp_text_next_line(&reader.text, '#', &there);
    if (status == SVMP_OK) status = check_count(&reader, *count);
    release(&reader);
    return status;
}
