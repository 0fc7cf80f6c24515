#include <string.h>

#include "command_table.h"
#include "report_json.h"
#include "report_parts.h"

static void write_numbers(FILE *file, const double *values, size_t count) {
    fputc('[', file);
    for (size_t k = 0; k < count; k++) {
        if (k) fputc(',', file);
        json_number(file, values[k]);
    }
    fputc(']', file);
}

int write_history(FILE *file, const svmp_particles *particles) {
    svmp_series s;
    fputs(",\n\"series\":[", file);
    for (size_t k = 0; svmp_particles_series(particles, k, &s); k++) {
        fputs(k ? ",\n[" : "\n[", file);
        json_string(file, s.name);
        fputc(',', file);
        json_string(file, s.along);
        fputc(',', file);
        write_numbers(file, s.values, s.count);
        fputc(']', file);
    }
    fputc(']', file);
    return 0;
}

/* Some thousand of the values that are observed, evenly spaced; how many there are in all stands beside them. */
static void write_array(FILE *file, const svmp_array *array) {
    enum { MOST = 2000 };
    const char *separator = "";
    size_t all = 1, seen = 0;
    for (size_t k = 0; k < array->rank; k++) all *= array->dimensions[k];
    json_string(file, array->observed);
    fprintf(file, ",%zu,[", array->observed_count);
    const size_t step = (array->observed_count + MOST - 1) / MOST;
    for (size_t k = 0; k < all; k++) {
        if (array->values[k] != array->values[k] || seen++ % step != 0) continue; /* NaN: not observed */
        fputs(separator, file);
        json_number(file, array->values[k]);
        separator = ",";
    }
    fputc(']', file);
}

static void write_observed(FILE *file, const svmp_model *model) {
    svmp_array array;
    const char *separator = "";
    fputs(",\n\"observed\":[", file);
    for (size_t k = 0; model && svmp_model_array(model, k, &array); k++) {
        if (array.values == NULL) continue;
        fprintf(file, "%s[", separator);
        write_array(file, &array);
        fputc(']', file);
        separator = ",\n";
    }
    fputc(']', file);
}

/* The text of a model, cut off where it becomes too long to look at; not that of a matrix. */
static void write_text(FILE *file, const char *path) {
    enum { MOST = 20000 };
    static char text[MOST];
    FILE *from = path && !has_ending(path, ".mtx") ? fopen(path, "rb") : NULL;
    const size_t length = from ? fread(text, 1, sizeof text, from) : 0;
    if (from) fclose(from);
    fputs(",\n\"text\":", file);
    json_text(file, text, length);
}

int write_data_of(FILE *file, const svmp_model *model, const char *path) {
    write_observed(file, model);
    write_text(file, model ? path : NULL);
    return 0;
}
