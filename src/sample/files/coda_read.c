#include "sample/files/coda.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/text_lines.h"

enum { MOST_CHAINS = 1000 };
static const char ending[] = "index.txt";

int svmp_path_is_coda(const char *path) {
    const size_t length = strlen(path), tail = sizeof ending - 1;
    return length >= tail && strcmp(path + length - tail, ending) == 0;
}

typedef struct coda_variable {
    char *name; /* x.3.1 of x[3,1] */
    size_t first, last;
} coda_variable;

typedef struct coda_reader {
    svmp_context *context;
    const char *path;
    coda_variable *variables;
    size_t count, capacity;
    size_t draws, chains;
    double *values; /* of one chain: the second column */
    size_t value_count, value_capacity;
} coda_reader;

/* ---- the index ----------------------------------------------------------------------------------------------------
 */

static svmp_status add_variable(coda_reader *reader, const text_file *text, const char *start, const char *end) {
    char *cursor = (char *)(uintptr_t)end, *word[2], *stop[2];
    size_t number[2] = {0, 0};
    char quoted[TEXT_QUOTED];
    for (int k = 0; k < 2; k++) {
        const int there = svmp_text_next_word(text, &cursor, &word[k]);
        stop[k] = cursor;
        if (!there || !svmp_number_parse_size(word[k], stop[k], &number[k]))
            return svmp_text_fail(text, "expected 'NAME FIRST LAST', not '%s'",
                                  svmp_text_quote(text->start, text->end, quoted));
    }
    if (number[0] == 0 || number[1] < number[0])
        return svmp_text_fail(text, "there are no lines %zu to %zu", number[0], number[1]);
    if (reader->count > 0 && number[1] - number[0] + 1 != reader->draws)
        return svmp_text_fail(text, "the variables have different numbers of draws");
    SVMP_TRY(SVMP_GROW(reader->context, reader->variables, reader->capacity, reader->count + 1));
    coda_variable *made = &reader->variables[reader->count];
    *made = (coda_variable){.first = number[0], .last = number[1]};
    SVMP_TRY(SVMP_NEW(reader->context, made->name, (size_t)(end - start) + 1));
    reader->count++;
    reader->draws = number[1] - number[0] + 1;
    size_t length = 0;
    for (const char *c = start; c < end; c++)
        if (*c != ']') made->name[length++] = *c == '[' || *c == ',' ? '.' : *c;
    return SVMP_OK;
}

static svmp_status read_index(coda_reader *reader) {
    text_file text = {0};
    int there = 1;
    svmp_status status = svmp_text_open(reader->context, reader->path, &text);
    while (status == SVMP_OK) {
        status = svmp_text_next_line(&text, '#', &there);
        if (status != SVMP_OK || !there) break;
        char *cursor = text.start, *word = NULL;
        if (!svmp_text_next_word(&text, &cursor, &word)) continue;
        status = add_variable(reader, &text, word, cursor);
    }
    if (status == SVMP_OK && reader->count == 0)
        status = svmp_fail(reader->context, SVMP_BAD_INPUT, "%s: the index names no variable.", reader->path);
    svmp_text_close(&text);
    return status;
}

/* ---- chains -------------------------------------------------------------------------------------------------------
 */

/* The path of a chain, counted from 1; the caller frees it. */
static svmp_status chain_path(const coda_reader *reader, size_t chain, char **path) {
    const size_t stem = strlen(reader->path) - (sizeof ending - 1);
    SVMP_TRY(SVMP_NEW(reader->context, *path, stem + 40));
    snprintf(*path, stem + 40, "%.*schain%zu.txt", (int)stem, reader->path, chain);
    return SVMP_OK;
}

static svmp_status read_line(coda_reader *reader, const text_file *text) {
    char *cursor = text->start, *word, quoted[TEXT_QUOTED];
    double value = 0;
    const int first = svmp_text_next_word(text, &cursor, &word); /* the iteration */
    const int second = svmp_text_next_word(text, &cursor, &word);
    if (!first || !second || svmp_number_parse(word, cursor, &value) != NUMBER_FINITE)
        return svmp_text_fail(text, "expected an iteration and a finite number, not '%s'",
                              svmp_text_quote(text->start, text->end, quoted));
    SVMP_TRY(SVMP_GROW(reader->context, reader->values, reader->value_capacity, reader->value_count + 1));
    reader->values[reader->value_count++] = value;
    return SVMP_OK;
}

static svmp_status read_chain(coda_reader *reader, const char *path) {
    text_file text = {0};
    int there = 1;
    reader->value_count = 0;
    svmp_status status = svmp_text_open(reader->context, path, &text);
    while (status == SVMP_OK) {
        status = svmp_text_next_line(&text, '#', &there);
        if (status != SVMP_OK || !there) break;
        status = read_line(reader, &text);
    }
    for (size_t k = 0; status == SVMP_OK && k < reader->count; k++)
        if (reader->variables[k].last > reader->value_count)
            status =
                svmp_fail(reader->context, SVMP_BAD_INPUT, "%s: the file has %zu lines, but '%.80s' ends on line %zu.",
                          path, reader->value_count, reader->variables[k].name, reader->variables[k].last);
    svmp_text_close(&text);
    return status;
}

static svmp_status count_chains(coda_reader *reader) {
    for (reader->chains = 0; reader->chains < MOST_CHAINS; reader->chains++) {
        char *path;
        SVMP_TRY(chain_path(reader, reader->chains + 1, &path));
        FILE *file = fopen(path, "rb");
        if (file) fclose(file);
        svmp_release(reader->context, path);
        if (file == NULL) break;
    }
    if (reader->chains > 0) return SVMP_OK;
    return svmp_fail(reader->context, SVMP_CANNOT_READ, "'%s' is an index, but there is no '%.*schain1.txt' beside it.",
                     reader->path, (int)(strlen(reader->path) - (sizeof ending - 1)), reader->path);
}

static svmp_status take_chains(coda_reader *reader, svmp_particles *made) {
    for (size_t chain = 0; chain < reader->chains; chain++) {
        char *path;
        SVMP_TRY(chain_path(reader, chain + 1, &path));
        const svmp_status status = read_chain(reader, path);
        svmp_release(reader->context, path);
        SVMP_TRY(status);
        for (size_t k = 0; k < reader->count; k++)
            memcpy(made->values + k * made->count + chain * reader->draws,
                   reader->values + reader->variables[k].first - 1, reader->draws * sizeof *made->values);
    }
    return SVMP_OK;
}

svmp_status svmp_coda_read(svmp_context *context, const char *path, svmp_particles **particles) {
    coda_reader reader = {.context = context, .path = path};
    svmp_particles *made = NULL;
    number_locale locale = {0};
    svmp_status status;
    SVMP_CHECK(svmp_number_enter(context, &locale));
    SVMP_CHECK(read_index(&reader));
    SVMP_CHECK(count_chains(&reader));
    SVMP_CHECK(svmp_particles_create(context, reader.count, reader.draws * reader.chains, NULL, &made));
    for (size_t k = 0; k < reader.count; k++) SVMP_CHECK(svmp_particles_set_name(made, k, reader.variables[k].name));
    SVMP_CHECK(take_chains(&reader, made));
    made->chains = reader.chains;
    *particles = made;
    made = NULL;
done:
    svmp_number_leave(&locale);
    for (size_t k = 0; k < reader.count; k++) svmp_release(context, reader.variables[k].name);
    svmp_release_all(context, reader.variables, reader.values);
    svmp_particles_free(made);
    return status;
}
