#include "base/text_lines.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/hash.h"

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

static svmp_status cannot_read(svmp_context *context, const char *path, int error) {
    return svmp_fail(context, SVMP_CANNOT_READ, "Cannot read '%s': %s.", path, strerror(error));
}

enum { BLOCK = 1 << 18 };

/* Reads one more block after the unread rest, which is moved to the front. */
static svmp_status read_block(text_file *text) {
    const size_t left = (size_t)(text->stop - text->next);
    if (left > 0) memmove(text->bytes, text->next, left);
    text->next = text->stop = text->bytes; /* should there be no room */
    SVMP_TRY(SVMP_GROW(text->context, text->bytes, text->capacity, left + BLOCK + 1));
    const size_t got = fread(text->bytes + left, 1, text->capacity - left - 1, text->file);
    if (ferror(text->file)) return cannot_read(text->context, text->path, errno);
    text->ended = feof(text->file);
    text->size += got;
    text->checksum = svmp_hash_bytes(text->checksum, got, text->bytes + left);
    text->next = text->bytes;
    text->stop = text->bytes + left + got;
    *text->stop = '\0';
    return SVMP_OK;
}

svmp_status svmp_text_open(svmp_context *context, const char *path, text_file *text) {
    text_file opened = {.context = context, .path = path, .file = fopen(path, "rb"), .checksum = SVMP_HASH_START};
    if (opened.file == NULL) return cannot_read(context, path, errno);
    svmp_status status = read_block(&opened);
    if (status != SVMP_OK) {
        svmp_text_close(&opened);
        return status;
    }
    if (strncmp(opened.next, "\xEF\xBB\xBF", 3) == 0) opened.next += 3; /* a byte order mark */
    opened.start = opened.end = opened.next;
    *text = opened;
    return SVMP_OK;
}

void svmp_text_close(text_file *text) {
    if (text->file) fclose(text->file);
    if (text->context) svmp_release(text->context, text->bytes);
    *text = (text_file){0};
}

svmp_status svmp_text_any_line(text_file *text, int *there) {
    char *newline = NULL;
    for (size_t seen = 0;;) {
        newline = memchr(text->next + seen, '\n', (size_t)(text->stop - text->next) - seen);
        if (newline || text->ended) break;
        seen = (size_t)(text->stop - text->next);
        SVMP_TRY(read_block(text));
    }
    *there = text->next < text->stop;
    text->start = text->next;
    text->end = newline ? newline : text->stop;
    text->next = newline ? newline + 1 : text->stop;
    text->line += (size_t)*there;
    text->cut |= *there && newline == NULL;
    if (memchr(text->start, '\0', (size_t)(text->end - text->start)))
        return svmp_text_fail(text, "not a text file: it contains a NUL byte.");
    while (text->start < text->end && is_blank(*text->start)) text->start++;
    while (text->start < text->end && is_blank(text->end[-1])) text->end--;
    return SVMP_OK;
}

svmp_status svmp_text_next_line(text_file *text, char comment, int *there) {
    do {
        SVMP_TRY(svmp_text_any_line(text, there));
    } while (*there && (text->start == text->end || *text->start == comment));
    return SVMP_OK;
}

int svmp_text_next_word(const text_file *text, char **cursor, char **word) {
    char *c = *cursor;
    while (c < text->end && is_blank(*c)) c++;
    *word = c;
    while (c < text->end && !is_blank(*c)) c++;
    *cursor = c;
    return *word < c;
}

svmp_status svmp_text_each_line(char *text, text_line_visitor take, void *user_data) {
    char *to = text;
    if (text == NULL) return SVMP_OK;
    for (char *line = text, *next; *line; line = next) {
        int taken = 0;
        char *newline = strchr(line, '\n'), *end = newline ? newline : line + strlen(line);
        next = newline ? newline + 1 : end;
        while (end > line && is_blank(end[-1])) end--;
        SVMP_TRY(take(line, end, &taken, user_data));
        if (taken) continue;
        memmove(to, line, (size_t)(next - line));
        to += next - line;
    }
    *to = '\0';
    return SVMP_OK;
}

svmp_status svmp_text_fail(const text_file *text, const char *format, ...) {
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    size_t line = text->line ? text->line : 1;
    return svmp_fail(text->context, SVMP_BAD_INPUT, "%s:%zu: %s", text->path, line, sentence);
}

const char *svmp_text_quote(const char *start, const char *end, char quoted[TEXT_QUOTED]) {
    static const char cut[] = "...";
    size_t length = (size_t)(end - start);
    size_t shown = length < TEXT_QUOTED ? length : TEXT_QUOTED - sizeof cut;
    for (size_t k = 0; k < shown; k++) quoted[k] = (unsigned char)start[k] < ' ' || start[k] == 127 ? '?' : start[k];
    quoted[shown] = '\0';
    if (shown < length) memcpy(quoted + shown, cut, sizeof cut);
    return quoted;
}
