#include "io/text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

static svmp_status cannot_read(svmp_context *context, const char *path, int error) {
    return svmp_fail(context, SVMP_CANNOT_READ, "The file '%s' could not be read: %s.", path, strerror(error));
}

/* Everything up to the end, and a NUL behind it. */
static svmp_status read_all(text_file *text, FILE *file) {
    struct stat about;
    size_t size = 0, capacity = 0;
    size_t room = fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode) ? (size_t)about.st_size : 0;
    for (;;) {
        SVMP_TRY(SVMP_GROW(text->context, text->bytes, capacity, size + (size < room ? room - size : 4096) + 1));
        size_t got = fread(text->bytes + size, 1, capacity - size - 1, file);
        if (ferror(file)) return cannot_read(text->context, text->path, errno);
        size += got;
        if (feof(file)) break;
    }
    text->bytes[size] = '\0';
    text->next = text->start = text->end = text->bytes;
    text->stop = text->bytes + size;
    return SVMP_OK;
}

static svmp_status refuse_nul_bytes(text_file *text) {
    const char *nul = memchr(text->bytes, '\0', (size_t)(text->stop - text->bytes));
    if (nul == NULL) return SVMP_OK;
    text->line = 1;
    for (const char *c = text->bytes; c < nul; c++) text->line += *c == '\n';
    return svmp_text_fail(text, "there is a NUL byte; this is not a text file.");
}

svmp_status svmp_text_open(svmp_context *context, const char *path, text_file *text) {
    text_file opened = {.context = context, .path = path};
    FILE *file = fopen(path, "rb");
    if (file == NULL) return cannot_read(context, path, errno);
    svmp_status status = read_all(&opened, file);
    fclose(file);
    if (status == SVMP_OK) status = refuse_nul_bytes(&opened);
    if (status != SVMP_OK) {
        svmp_text_close(&opened);
        return status;
    }
    if (strncmp(opened.next, "\xEF\xBB\xBF", 3) == 0) opened.next += 3; /* a byte order mark */
    *text = opened;
    return SVMP_OK;
}

void svmp_text_close(text_file *text) {
    if (text->context) svmp_release(text->context, text->bytes);
    *text = (text_file){0};
}

int svmp_text_next_line(text_file *text, char comment) {
    while (text->next < text->stop) {
        char *newline = memchr(text->next, '\n', (size_t)(text->stop - text->next));
        text->start = text->next;
        text->end = newline ? newline : text->stop;
        text->next = newline ? newline + 1 : text->stop;
        text->line++;
        while (text->start < text->end && is_blank(*text->start)) text->start++;
        while (text->start < text->end && is_blank(text->end[-1])) text->end--;
        if (text->start < text->end && *text->start != comment) return 1;
    }
    return 0;
}

int svmp_text_next_word(const text_file *text, char **cursor, char **word) {
    char *c = *cursor;
    while (c < text->end && is_blank(*c)) c++;
    *word = c;
    while (c < text->end && !is_blank(*c)) c++;
    *cursor = c;
    return *word < c;
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
