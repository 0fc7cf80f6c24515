/* Reads the record of the columns in the comments of a file: see stan_csv_columns.h. */
#include <string.h>

#include "base/text_lines.h"
#include "sample/files/stan_csv_columns.h"

static const char renamed_line[] = "column ", known_line[] = "known columns: ", between[] = ", in the model ";

static int begins(const char *line, const char *end, const char *with) {
    const size_t length = strlen(with);
    return (size_t)(end - line) > length && strncmp(line, with, length) == 0;
}

/* "tau_y, in the model tau.y"; no name has a comma */
static svmp_status take_renamed(column_record *record, const char *line, const char *end, int *taken) {
    const char *at = line;
    uint32_t number;
    char *model;
    while (at < end && !begins(at, end, between)) at++;
    if (at == line || at == end) return SVMP_OK;
    const char *name = at + strlen(between);
    SVMP_TRY(svmp_names_add(record->context, &record->file, line, (size_t)(at - line), &number));
    SVMP_TRY(SVMP_GROW(record->context, record->model, record->model_capacity, record->file.count));
    SVMP_TRY(ARENA_NEW(&record->memory, model, (size_t)(end - name) + 1));
    memcpy(model, name, (size_t)(end - name));
    record->model[number] = model;
    *taken = 1;
    return SVMP_OK;
}

/* "x.1,x.2" */
static svmp_status take_known(column_record *record, const char *line, const char *end, int *taken) {
    uint32_t ignored;
    while (line < end) {
        const char *comma = memchr(line, ',', (size_t)(end - line)), *stop = comma ? comma : end;
        if (stop > line)
            SVMP_TRY(svmp_names_add(record->context, &record->known, line, (size_t)(stop - line), &ignored));
        line = stop + 1;
    }
    *taken = 1;
    return SVMP_OK;
}

static svmp_status take_line(const char *line, const char *end, int *taken, void *user_data) {
    column_record *record = user_data;
    if (begins(line, end, renamed_line)) return take_renamed(record, line + strlen(renamed_line), end, taken);
    if (begins(line, end, known_line)) return take_known(record, line + strlen(known_line), end, taken);
    return SVMP_OK;
}

svmp_status svmp_columns_take(svmp_context *context, char *comments, column_record *made) {
    *made = (column_record){.context = context, .memory.context = context};
    return svmp_text_each_line(comments, take_line, made);
}

void svmp_columns_forget(column_record *record) {
    if (record->context == NULL) return;
    svmp_names_free(record->context, &record->file);
    svmp_names_free(record->context, &record->known);
    svmp_release(record->context, record->model);
    svmp_arena_free(&record->memory);
    *record = (column_record){0};
}

int svmp_columns_is_known(const column_record *record, const char *name) {
    return svmp_names_find(&record->known, name, strlen(name)) != NAMES_NONE;
}

/* In the file a dot occurs only before an index. */
svmp_status svmp_columns_restore(column_record *record, const char **name) {
    const size_t length = strcspn(*name, ".");
    const uint32_t number = svmp_names_find(&record->file, *name, length);
    char *model;
    if (number == NAMES_NONE) return SVMP_OK;
    const size_t size = strlen(record->model[number]) + strlen(*name + length) + 1;
    SVMP_TRY(ARENA_NEW(&record->memory, model, size));
    snprintf(model, size, "%s%s", record->model[number], *name + length);
    *name = model;
    return SVMP_OK;
}
