#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command_table.h"
#include "report_json.h"
#include "report_parts.h"

typedef struct truth_row {
    char *name;
    double value;
    size_t line, variable; /* SIZE_MAX: a coordinate of a fixed point */
} truth_row;

typedef struct truth_table {
    const char *path;
    truth_row *rows;
    size_t count, capacity;
} truth_table;

/* The field at `text` without blanks and quotation marks around it; `text` goes behind its comma, NULL at the end. */
static char *next_field(char **text) {
    char *first = *text, *comma = strchr(first, ','), *last = comma ? comma : first + strlen(first);
    *text = comma ? comma + 1 : NULL;
    while (first < last && strchr(" \t", *first)) first++;
    while (last > first && strchr(" \t\r\n", last[-1])) last--;
    if (last > first + 1 && *first == '"' && last[-1] == '"') first++, last--;
    *last = '\0';
    return first;
}

static int add_row(truth_table *table, const char *name, double value, size_t line) {
    if (table->count == table->capacity) {
        size_t capacity = 2 * table->capacity + 64;
        truth_row *rows = realloc(table->rows, capacity * sizeof *rows);
        if (rows == NULL) return report_error(EXIT_FAILED, "Out of memory.");
        table->rows = rows;
        table->capacity = capacity;
    }
    truth_row *row = &table->rows[table->count];
    *row = (truth_row){.name = strdup(name), .value = value, .line = line, .variable = SIZE_MAX};
    if (row->name == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    table->count++;
    return 0;
}

static int read_line(truth_table *table, char *text, size_t line, int *header) {
    char *rest = text + strspn(text, " \t\r\n");
    if (*rest == '\0' || *rest == '#') return 0;
    const char *name = next_field(&rest), *value = rest ? next_field(&rest) : NULL;
    if (value == NULL || rest)
        return report_error(EXIT_WRONG, "%s:%zu: expected two fields, name and value.", table->path, line);
    if (!*header) {
        *header = 1;
        if (strcmp(name, "name") == 0 && strcmp(value, "value") == 0) return 0;
        return report_error(EXIT_WRONG, "%s:%zu: the header must be 'name,value', not '%.80s,%.80s'.", table->path,
                            line, name, value);
    }
    char *end;
    const double number = strtod(value, &end);
    if (end == value || *end || !isfinite(number))
        return report_error(EXIT_WRONG, "%s:%zu: the value '%.80s' of '%.80s' is not a finite number.", table->path,
                            line, value, name);
    return add_row(table, name, number, line);
}

static int read_rows(truth_table *table) {
    FILE *file = fopen(table->path, "r");
    if (file == NULL) return report_error(EXIT_WRONG, "Cannot read '%s': %s.", table->path, strerror(errno));
    char *text = NULL;
    size_t room = 0, line = 0;
    int status = 0, header = 0;
    errno = 0;
    while (status == 0 && getline(&text, &room, file) != -1) status = read_line(table, text, ++line, &header);
    if (status == 0 && ferror(file))
        status = report_error(EXIT_WRONG, "Cannot read '%s': %s.", table->path, strerror(errno));
    if (status == 0 && table->count == 0)
        status = report_error(EXIT_WRONG, "%s: the file has no rows; expected rows below the header 'name,value'.",
                              table->path);
    free(text);
    fclose(file);
    return status;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const truth_row *)a)->name, ((const truth_row *)b)->name);
}

/* The other coordinate of the fixed point of a row, or NULL; the rows are sorted. */
static const truth_row *partner(const truth_table *table, const truth_row *row) {
    enum { NAME = 1024 };
    char name[NAME];
    const size_t length = strlen(row->name);
    if (length < 3 || length >= NAME || row->name[length - 2] != '.') return NULL;
    if (row->name[length - 1] != '1' && row->name[length - 1] != '2') return NULL;
    memcpy(name, row->name, length + 1);
    name[length - 1] = row->name[length - 1] == '1' ? '2' : '1';
    const truth_row wanted = {.name = name};
    return bsearch(&wanted, table->rows, table->count, sizeof wanted, by_name);
}

static int check_rows(truth_table *table, const name_index *names, const char *path) {
    if (table->count == 0) return 0;
    qsort(table->rows, table->count, sizeof *table->rows, by_name);
    for (size_t k = 1; k < table->count; k++)
        if (strcmp(table->rows[k - 1].name, table->rows[k].name) == 0)
            return report_error(EXIT_WRONG, "%s: '%.80s' is given on lines %zu and %zu.", table->path,
                                table->rows[k].name, table->rows[k - 1].line, table->rows[k].line);
    for (size_t k = 0; k < table->count; k++) names_find(names, table->rows[k].name, &table->rows[k].variable);
    for (size_t k = 0; k < table->count; k++) {
        const truth_row *row = &table->rows[k], *other = row->variable == SIZE_MAX ? partner(table, row) : NULL;
        if (row->variable == SIZE_MAX && (other == NULL || other->variable != SIZE_MAX))
            return report_error(
                EXIT_WRONG,
                "%s:%zu: '%.80s' is neither a variable of '%s' nor a coordinate P.1 or P.2 of a fixed point.",
                table->path, row->line, row->name, path);
    }
    return 0;
}

static void write_table(FILE *file, const truth_table *table, const name_index *listed) {
    const char *separator = "";
    fputs(",\n\"truth\":[", file);
    for (size_t k = 0; k < table->count; k++) {
        size_t row;
        if (table->rows[k].variable == SIZE_MAX || !names_find(listed, table->rows[k].name, &row)) continue;
        fprintf(file, "%s[%zu,", separator, row);
        json_number(file, table->rows[k].value);
        fputc(']', file);
        separator = ",";
    }
    separator = "";
    fputs("],\n\"anchors\":[", file);
    for (size_t k = 0; k < table->count; k++) {
        const truth_row *row = &table->rows[k];
        const size_t length = strlen(row->name);
        if (row->variable != SIZE_MAX || row->name[length - 1] != '1') continue;
        fprintf(file, "%s[", separator);
        json_text(file, row->name, length - 2);
        fputc(',', file);
        json_number(file, row->value);
        fputc(',', file);
        json_number(file, partner(table, row)->value);
        fputc(']', file);
        separator = ",";
    }
    fputc(']', file);
}

int write_truth(FILE *file, const char *truth, const name_index *names, const name_index *listed, const char *path) {
    truth_table table = {.path = truth};
    int status = truth ? read_rows(&table) : 0;
    if (status == 0) status = check_rows(&table, names, path);
    if (status == 0) write_table(file, &table, listed);
    for (size_t k = 0; k < table.count; k++) free(table.rows[k].name);
    free(table.rows);
    return status;
}
