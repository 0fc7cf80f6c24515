#include "base/source_text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

enum { SHOWN = 160 };
static const size_t LARGEST_FILE = (size_t)1 << 30;
static const char STATEMENTS[] = "<statements>";

static svmp_status too_long(svmp_context *context, const char *path) {
    return svmp_fail(context, SVMP_BAD_INPUT, "%s: error: the text is larger than 1 GiB.", path);
}

static svmp_status read_all(svmp_context *context, FILE *file, text_source *source) {
    size_t capacity = 0, got;
    do {
        SVMP_TRY(SVMP_GROW(context, source->text, capacity, source->length + 65536));
        got = fread(source->text + source->length, 1, capacity - source->length - 1, file);
        source->length += got;
        if (source->length > LARGEST_FILE) return too_long(context, source->path);
    } while (got > 0);
    if (ferror(file))
        return svmp_fail(context, SVMP_CANNOT_READ, "Cannot read '%s': %s.", source->path, strerror(errno));
    source->text[source->length] = 0;
    return SVMP_OK;
}

/* No text has a NUL byte, but that of some tools has two bytes a letter. */
static svmp_status check_text(svmp_context *context, const text_source *source) {
    if (memchr(source->text, 0, source->length) == NULL) return SVMP_OK;
    const int wide = strncmp(source->text, "\xFF\xFE", 2) == 0 || strncmp(source->text, "\xFE\xFF", 2) == 0;
    return svmp_fail(context, SVMP_BAD_INPUT, "%s: error: %s.", source->path,
                     wide ? "the text is UTF-16; convert it to UTF-8" : "not a text file: it contains a NUL byte");
}

/* A byte order mark says nothing about UTF-8, and editors leave it in models and data alike. */
static void drop_mark(text_source *source) {
    static const char mark[] = "\xEF\xBB\xBF";
    const size_t length = sizeof mark - 1;
    if (source->length < length || memcmp(source->text, mark, length) != 0) return;
    source->length -= length;
    memmove(source->text, source->text + length, source->length + 1); /* with the final zero */
}

/* A pipe that was read before is empty, which must not be mistaken for an empty text. */
static svmp_status check_pipe(svmp_context *context, FILE *file, const text_source *source) {
    struct stat about;
    if (source->length > 0 || fstat(fileno(file), &about) != 0 || !S_ISFIFO(about.st_mode)) return SVMP_OK;
    return svmp_fail(context, SVMP_CANNOT_READ,
                     "Cannot read '%s': the pipe is empty. A pipe can be read only once: was it read before?",
                     source->path);
}

svmp_status svmp_source_read(svmp_context *context, const char *path, text_source *source) {
    text_source made = {0};
    FILE *file = fopen(path, "rb");
    if (file == NULL) return svmp_fail(context, SVMP_CANNOT_READ, "Cannot read '%s': %s.", path, strerror(errno));
    svmp_status status = svmp_duplicate(context, path, &made.path);
    if (status == SVMP_OK) status = read_all(context, file, &made);
    if (status == SVMP_OK) status = check_pipe(context, file, &made);
    fclose(file);
    if (status == SVMP_OK) status = check_text(context, &made);
    if (status == SVMP_OK) drop_mark(&made);
    if (status == SVMP_OK)
        *source = made;
    else
        svmp_source_free(context, &made);
    return status;
}

svmp_status svmp_source_copy(svmp_context *context, const char *path, const char *text, size_t length,
                             text_source *source) {
    text_source made = {.length = length};
    svmp_status status = SVMP_OK;
    if (length > LARGEST_FILE) return too_long(context, path);
    SVMP_CHECK(svmp_duplicate(context, path, &made.path));
    SVMP_CHECK(SVMP_NEW(context, made.text, length + 1));
    memcpy(made.text, text, length);
    drop_mark(&made);
    *source = made;
    return SVMP_OK;
done:
    svmp_source_free(context, &made);
    return status;
}

svmp_status svmp_source_add(svmp_context *context, text_source *source, const char *statements) {
    const size_t first = source->length + 1, length = strlen(statements);
    size_t capacity = 0;
    if (first + length > LARGEST_FILE) return too_long(context, STATEMENTS);
    SVMP_TRY(SVMP_GROW(context, source->text, capacity, first + length + 1));
    source->text[source->length] = '\n';
    memcpy(source->text + first, statements, length + 1);
    source->added = first;
    source->length = first + length;
    return SVMP_OK;
}

void svmp_source_truncate(text_source *source) {
    if (source->added == 0) return;
    source->length = source->added - 1;
    source->text[source->length] = 0;
    source->added = 0;
}

void svmp_source_free(svmp_context *context, text_source *source) {
    svmp_release_all(context, source->path, source->text);
    memset(source, 0, sizeof *source);
}

static int continues_character(char byte) { return ((unsigned char)byte & 0xC0) == 0x80; }

void svmp_source_place(const text_source *source, size_t offset, size_t *line, size_t *column) {
    *line = *column = 1;
    if (offset > source->length) offset = source->length;
    for (size_t k = offset < source->added ? 0 : source->added; k < offset; k++) {
        if (source->text[k] == '\n') {
            ++*line;
            *column = 1;
        } else if (!continues_character(source->text[k])) {
            ++*column;
        }
    }
}

void svmp_source_describe(const text_source *source, size_t offset, const char *kind, const char *sentence,
                          char *buffer, size_t size) {
    if (offset > source->length) offset = source->length;
    size_t line, column, first = offset, last = offset;
    svmp_source_place(source, offset, &line, &column);

    /* The line, or the part of a long one around the place. */
    while (first > 0 && source->text[first - 1] != '\n' && offset - first < SHOWN / 2) first--;
    while (last < source->length && source->text[last] != '\n' && source->text[last] != '\r' && last - first < SHOWN)
        last++;
    while (first < offset && continues_character(source->text[first])) first++;
    while (last > offset && last < source->length && continues_character(source->text[last])) last--;

    char shown[SHOWN + 1], caret[SHOWN + 2];
    size_t length = 0, indent = 0;
    for (size_t k = first; k < last && length < SHOWN; k++) {
        unsigned char byte = (unsigned char)source->text[k];
        shown[length++] = byte < 32 || byte == 127 ? ' ' : source->text[k];
        if (k < offset && !continues_character(source->text[k])) caret[indent++] = ' ';
    }
    shown[length] = 0;
    caret[indent++] = '^';
    caret[indent] = 0;
    const char *path = source->added > 0 && offset >= source->added ? STATEMENTS : source->path;
    snprintf(buffer, size, "%s:%zu:%zu: %s: %s\n    %s\n    %s", path, line, column, kind, sentence, shown, caret);
    for (char *c = buffer; *c; c++) /* the sentence may quote what no terminal should be sent */
        if (((unsigned char)*c < 32 && *c != '\n') || *c == 127) *c = ' ';
}

svmp_status svmp_source_fail(svmp_context *context, const text_source *source, size_t offset, const char *format, ...) {
    char sentence[512], text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    svmp_source_describe(source, offset, "error", sentence, text, sizeof text);
    return svmp_fail(context, SVMP_BAD_INPUT, "%s", text);
}
