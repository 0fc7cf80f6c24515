#define _GNU_SOURCE /* fopencookie */
#include "memory_file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct target {
    char **text;
    size_t *size, room;
} target;

/* 0, of bytes that were to be written, is an error of the stream. */
static ssize_t append(void *cookie, const char *bytes, size_t count) {
    target *t = cookie;
    const size_t needed = *t->size + count + 1;
    if (needed > t->room) {
        const size_t room = needed > SIZE_MAX / 2 ? needed : 2 * needed;
        char *grown = realloc(*t->text, room);
        if (grown == NULL) return 0;
        *t->text = grown;
        t->room = room;
    }
    memcpy(*t->text + *t->size, bytes, count);
    *t->size += count;
    (*t->text)[*t->size] = '\0';
    return (ssize_t)count;
}

static int release(void *cookie) {
    free(cookie);
    return 0;
}

FILE *open_written(char **text, size_t *size) {
    target *t = malloc(sizeof *t);
    *text = calloc(1, 1);
    *size = 0;
    if (t && *text) {
        *t = (target){.text = text, .size = size, .room = 1};
        FILE *stream = fopencookie(t, "w", (cookie_io_functions_t){.write = append, .close = release});
        if (stream) return stream;
    }
    free(t);
    free(*text);
    *text = NULL;
    return NULL;
}

int close_written(FILE *stream, char **text) {
    const int lost = ferror(stream);
    if (fclose(stream) == 0 && !lost) return 1;
    free(*text);
    *text = NULL;
    return 0;
}
