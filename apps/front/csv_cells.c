#include "csv_cells.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv_field.h"
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

/* The end of the line at `at`, and the beginning of the next one. */
static char *line_end(char *at, char **next) {
    char *end = at + strcspn(at, "\n");
    *next = end + (*end == '\n');
    return end > at && end[-1] == '\r' ? end - 1 : end;
}

/* Cuts a line into cells, in place, and stores them unless `cells` is NULL. */
static int cut_line(const char *path, size_t row, char *at, char *end, const char **cells, size_t *columns) {
    for (*columns = 0;; ++*columns) {
        csv_field field;
        const char *after = svmp_csv_field(at, end, &field);
        if (after == NULL || (after < end && *after != ','))
            return report_error(EXIT_WRONG, "%s:%zu: expected a comma after a closed quotation mark.", path, row + 1);
        char *const start = at + (field.start - at), *const comma = at + (after - at);
        if (cells) {
            *svmp_csv_unquote(start, field.end) = '\0';
            cells[*columns] = start;
        }
        if (comma == end) return ++*columns, 0;
        at = comma + 1;
    }
}

/* Cuts the text into cells, in place. */
static int cut(const char *path, csv *t) {
    char *next = t->text;
    for (size_t row = 0; *next; row++) {
        char *at = next, *end = line_end(at, &next);
        size_t columns;
        int status = cut_line(path, row, at, end, NULL, &columns);
        if (status == 0 && columns != t->columns)
            status = report_error(EXIT_WRONG, "%s:%zu: the row has %zu fields, but the header has %zu.", path, row + 1,
                                  columns, t->columns);
        if (status) return status;
        cut_line(path, row, at, end, t->cells + row * t->columns, &columns);
    }
    return 0;
}

int csv_read(const char *path, csv *t) {
    *t = (csv){0};
    char *next;
    int status = read_all(path, &t->text);
    if (status) return status;
    size_t lines = 0;
    for (const char *c = t->text; *c; c++) lines += *c == '\n' || c[1] == '\0';
    if (lines < 2) return report_error(EXIT_WRONG, "The file '%s' has no rows.", path);
    status = cut_line(path, 0, t->text, line_end(t->text, &next), NULL, &t->columns);
    if (status) return status;
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
