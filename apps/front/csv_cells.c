#include "csv_cells.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error_output.h"

static int read_all(const char *path, char **text) {
    FILE *file = fopen(path, "rb");
    size_t size = 0, capacity = 1 << 16, got;
    if (file == NULL) return report_error(EXIT_WRONG, "Cannot read '%s': %s.", path, strerror(errno));
    *text = malloc(capacity);
    while (*text && (got = fread(*text + size, 1, capacity - size - 1, file)) > 0) {
        size += got;
        if (size + 1 < capacity) continue;
        char *more = realloc(*text, capacity *= 2);
        if (more == NULL) free(*text);
        *text = more;
    }
    const int broken = ferror(file);
    fclose(file);
    if (*text == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    (*text)[size] = '\0';
    return broken ? report_error(EXIT_WRONG, "Cannot read all of '%s'.", path) : 0;
}

/* Where a cell ends: at a comma, the end of the line or of the text. One in quotes may have commas. */
static const char *cell_end(const char *at) {
    if (*at == '"')
        for (at++; *at && *at != '\n' && (*at != '"' || at[1] == '"'); at++) at += *at == '"';
    return at + strcspn(at, ",\n");
}

/* Takes the quotes off, in place: "" is a quote. What is not closed stays as it is. */
static void unquote(char *cell) {
    const size_t length = strlen(cell);
    if (length < 2 || cell[0] != '"' || cell[length - 1] != '"') return;
    cell[length - 1] = '\0';
    char *to = cell;
    for (const char *from = cell + 1; *from; from++) {
        from += from[0] == '"' && from[1] == '"';
        *to++ = *from;
    }
    *to = '\0';
}

/* Cuts the text into cells, in place. */
static int cut(const char *path, csv *t) {
    char *at = t->text;
    size_t row = 0;
    while (*at) {
        size_t column = 0;
        for (;;) {
            const size_t length = (size_t)(cell_end(at) - at);
            const char end = at[length];
            if (column < t->columns) t->cells[row * t->columns + column] = at;
            column++;
            at[length] = '\0';
            if (length && at[length - 1] == '\r') at[length - 1] = '\0';
            unquote(at);
            at += length + (end != '\0');
            if (end != ',') break;
        }
        if (column != t->columns)
            return report_error(EXIT_WRONG, "%s:%zu: the row has %zu fields, but the header has %zu.", path, row + 1,
                                column, t->columns);
        row++;
    }
    return 0;
}

int csv_read(const char *path, csv *t) {
    *t = (csv){0};
    int status = read_all(path, &t->text);
    if (status) return status;
    size_t lines = 0;
    for (const char *c = t->text; *c; c++) lines += *c == '\n' || c[1] == '\0';
    if (lines < 2) return report_error(EXIT_WRONG, "The file '%s' has no rows.", path);
    t->columns = 1;
    for (const char *at = cell_end(t->text); *at == ','; at = cell_end(at + 1)) t->columns++;
    t->rows = lines - 1;
    t->cells = calloc(lines * t->columns, sizeof *t->cells);
    return t->cells ? cut(path, t) : report_error(EXIT_FAILED, "Out of memory.");
}

void csv_free(csv *t) {
    free(t->text);
    free(t->cells);
}

int csv_column(const csv *t, const char *path, const char *const *names, size_t *column) {
    for (const char *const *name = names; *name; name++)
        for (*column = 0; *column < t->columns; ++*column)
            if (strcmp(t->cells[*column], *name) == 0) return 0;
    return report_error(EXIT_WRONG, "The file '%s' has no column '%s'.", path, names[0]);
}

const char *csv_cell(const csv *t, size_t row, size_t column) { return t->cells[(row + 1) * t->columns + column]; }

int csv_number(const csv *t, const char *path, size_t row, size_t column, double *value) {
    const char *text = csv_cell(t, row, column);
    char *end;
    *value = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(*value)) return 0;
    return report_error(EXIT_WRONG, "%s:%zu: '%s' in column '%s' is not a number.", path, row + 2, text,
                        t->cells[column]);
}
