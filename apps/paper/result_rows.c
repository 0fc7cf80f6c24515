#include "result_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/error_output.h"
#include "front/memory_file.h"

static const char header[] = "trial,series,method,step,x,metric,value\n";

int results_add(results *r, measurement row) {
    if (r->count == r->capacity) {
        const size_t capacity = r->capacity ? 2 * r->capacity : 256;
        measurement *rows = realloc(r->rows, capacity * sizeof *rows);
        if (rows == NULL) return report_error(EXIT_FAILED, "Out of memory.");
        r->rows = rows;
        r->capacity = capacity;
    }
    r->rows[r->count++] = row;
    return 0;
}

void results_free(results *r) {
    free(r->rows);
    *r = (results){0};
}

char *results_text(const results *r, const char *comment, size_t *size) {
    char *text = NULL;
    FILE *file = open_written(&text, size);
    if (file == NULL) return NULL;
    if (comment) fprintf(file, "# %s\n", comment);
    fputs(header, file);
    for (size_t k = 0; k < r->count; k++) {
        const measurement *m = &r->rows[k];
        fprintf(file, "%zu,%s,%s,%s,%.10g,%s,%.10g\n", m->trial + 1, m->series, m->method, m->step, m->x, m->metric,
                m->value);
    }
    close_written(file, &text);
    return text;
}

/* One field of a row, which ends with this character: *at is moved behind it. 0: it does not, or is too long. */
static int field(const char **at, char end, char *to, size_t size) {
    const size_t length = strcspn(*at, ",\n");
    if ((*at)[length] != end || length >= size) return 0;
    memcpy(to, *at, length);
    to[length] = '\0';
    *at += length + 1;
    return 1;
}

static int number(const char **at, char end, double *value) {
    char text[64], *rest;
    if (!field(at, end, text, sizeof text)) return 0;
    *value = strtod(text, &rest);
    return rest != text && *rest == '\0';
}

/* 0: the row is not whole. */
static int parse(const char *line, measurement *m) {
    double trial;
    *m = (measurement){0};
    if (!number(&line, ',', &trial) || !(trial >= 1 && trial < 1e9) ||
        !field(&line, ',', m->series, sizeof m->series) || !field(&line, ',', m->method, sizeof m->method) ||
        !field(&line, ',', m->step, sizeof m->step) || !number(&line, ',', &m->x) ||
        !field(&line, ',', m->metric, sizeof m->metric) || !number(&line, '\n', &m->value))
        return 0;
    m->trial = (size_t)trial - 1;
    return 1;
}

int results_read(const char *path, const char *comment, results *r) {
    char line[512], expected[512];
    FILE *file = fopen(path, "r");
    if (file == NULL) return 0;
    const size_t before = r->count;
    snprintf(expected, sizeof expected, "# %s\n", comment ? comment : "");
    int ours = comment == NULL || (fgets(line, sizeof line, file) && strcmp(line, expected) == 0);
    ours = ours && fgets(line, sizeof line, file) && strcmp(line, header) == 0;
    measurement m;
    while (ours && fgets(line, sizeof line, file)) ours = parse(line, &m) && results_add(r, m) == 0;
    fclose(file);
    if (!ours) r->count = before;
    return ours;
}

static int same(const measurement *m, const char *series, const char *method, double x, const char *metric) {
    return m->x == x && strcmp(m->metric, metric) == 0 && strcmp(m->method, method) == 0 &&
           strcmp(m->series, series) == 0;
}

double results_value(const results *r, size_t trial, const char *series, const char *method, double x,
                     const char *metric) {
    for (size_t k = 0; k < r->count; k++)
        if (r->rows[k].trial == trial && same(&r->rows[k], series, method, x, metric)) return r->rows[k].value;
    return NAN;
}

size_t results_trials(const results *r) {
    size_t trials = 0;
    for (size_t k = 0; k < r->count; k++) trials = r->rows[k].trial >= trials ? r->rows[k].trial + 1 : trials;
    return trials;
}

/* Whether a metric is looked at on a logarithmic scale: all but those that are shares and variances. */
static int metric_is_logarithmic(const char *metric) {
    static const char *const plain[] = {"variance", "share_a",  "share_b", "found",  "location",
                                        "rhat",     "coverage", "beyond",  "spread", "widest"};
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++)
        if (strcmp(metric, plain[k]) == 0) return 0;
    return 1;
}

/* Mean and standard error of what a row shares its place with. */
static void summarise(const results *r, size_t first, FILE *file) {
    const measurement *like = &r->rows[first];
    const int logarithm = metric_is_logarithmic(like->metric);
    double sum = 0, squares = 0;
    size_t n = 0;
    for (size_t k = first; k < r->count; k++) {
        if (!same(&r->rows[k], like->series, like->method, like->x, like->metric)) continue;
        const double value = logarithm ? log10(r->rows[k].value) : r->rows[k].value;
        if (!isfinite(value)) continue;
        sum += value, squares += value * value, n++;
    }
    const double mean = sum / (double)n, spread = squares - (double)n * mean * mean;
    const double error = n > 1 ? sqrt(fmax(spread, 0) / (double)(n - 1) / (double)n) : 0;
    fprintf(file, "%s,%s,%s,%.10g,%s%s,%.6g,%.3g,%zu\n", like->series, like->method, like->step, like->x,
            logarithm ? "log10 " : "", like->metric, n ? mean : NAN, error, n);
}

char *results_summary(const results *r, size_t *size) {
    char *text = NULL;
    FILE *file = open_written(&text, size);
    if (file == NULL) return NULL;
    fputs("series,method,step,x,metric,mean,standard_error,trials\n", file);
    for (size_t k = 0; k < r->count; k++) {
        size_t before = 0;
        const measurement *m = &r->rows[k];
        while (before < k && !same(&r->rows[before], m->series, m->method, m->x, m->metric)) before++;
        if (before == k) summarise(r, k, file);
    }
    close_written(file, &text);
    return text;
}
