/* Series as lines of text, "name[along] = 1 2 3": the comments of a CSV file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "io/particles.h"

enum { LONGEST_NAME = 64 };

/* The numbers of [text, end), blanks between them; *count is 0 when there is anything else. `values` has room for as
 * many as fit. */
static void read_numbers(const char *text, const char *end, double *values, size_t *count) {
    *count = 0;
    while (text < end) {
        const char *word = text;
        while (text < end && *text != ' ') text++;
        const number_kind kind = svmp_number_parse(word, text, &values[*count]);
        if (kind == NUMBER_NONE) {
            *count = 0;
            return;
        }
        if (kind == NUMBER_NOT_FINITE) values[*count] = strtod(word, NULL);
        ++*count;
        if (text < end) text++;
    }
}

/* Whether the line is a series, which is then set. What is not quite one is none. */
static svmp_status take_line(svmp_particles *particles, const char *line, const char *end, int *taken) {
    char name[LONGEST_NAME], along[LONGEST_NAME];
    int start = 0;
    double *values = NULL;
    size_t count;
    *taken = 0;
    while (end > line && (end[-1] == ' ' || end[-1] == '\r')) end--;
    if (sscanf(line, "%63[A-Za-z0-9_][%63[A-Za-z0-9_]] =%n", name, along, &start) != 2 || start == 0) return SVMP_OK;
    const char *first = line + start + (line[start] == ' ');
    if (first >= end) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(particles->context, values, (size_t)(end - first) / 2 + 1));
    read_numbers(first, end, values, &count);
    svmp_status status = count ? svmp_particles_set_series(particles, name, along, count, values) : SVMP_BAD_CALL;
    *taken = status == SVMP_OK;
    svmp_release(particles->context, values);
    return status == SVMP_BAD_CALL ? SVMP_OK : status;
}

svmp_status svmp_series_take_comments(svmp_particles *particles) {
    char *to = particles->comments;
    if (to == NULL) return SVMP_OK;
    for (char *line = to, *next; *line; line = next) {
        int taken;
        char *newline = strchr(line, '\n');
        next = newline ? newline + 1 : line + strlen(line);
        SVMP_TRY(take_line(particles, line, newline ? newline : next, &taken));
        if (taken) continue;
        memmove(to, line, (size_t)(next - line));
        to += next - line;
    }
    *to = '\0';
    return SVMP_OK;
}
