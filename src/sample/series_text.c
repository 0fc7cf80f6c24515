/* Series as lines of text, "name[along] = 1 2 3": the comments of a CSV file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text_lines.h"
#include "sample/particles.h"

/* The numbers of [text, end), blanks between them; *count is 0 if there is anything else. `values` has room for as many
 * as fit in the text. */
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

/* Takes a name and the byte after it from the front of [*at, end); returns 0 if they are not there. */
static int take_name(const char **at, const char *end, char behind, char name[SERIES_NAME + 1]) {
    const char *stop = memchr(*at, behind, (size_t)(end - *at));
    const size_t length = stop ? (size_t)(stop - *at) : 0;
    if (length == 0 || length > SERIES_NAME) return 0;
    memcpy(name, *at, length);
    name[length] = '\0';
    *at = stop + 1;
    return 1;
}

/* Whether the line is a valid series; if so, sets it. */
static svmp_status take_line(const char *line, const char *end, int *taken, void *user_data) {
    svmp_particles *particles = user_data;
    char name[SERIES_NAME + 1], along[SERIES_NAME + 1];
    double *values = NULL;
    size_t count;
    if (!take_name(&line, end, '[', name) || !take_name(&line, end, ']', along)) return SVMP_OK;
    if (end - line < 4 || strncmp(line, " = ", 3) != 0) return SVMP_OK;
    line += 3;
    SVMP_TRY(SVMP_NEW(particles->context, values, (size_t)(end - line) / 2 + 1));
    read_numbers(line, end, values, &count);
    svmp_status status = count ? svmp_particles_set_series(particles, name, along, count, values) : SVMP_BAD_CALL;
    *taken = status == SVMP_OK;
    svmp_release(particles->context, values);
    return status == SVMP_BAD_CALL ? SVMP_OK : status;
}

svmp_status svmp_series_take_comments(svmp_particles *particles) {
    return svmp_text_each_line(particles->comments, take_line, particles);
}
