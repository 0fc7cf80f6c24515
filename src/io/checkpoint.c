#include "io/checkpoint.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"

enum { FORMAT = 2, BYTE_ORDER_MARK = 0x01020304, WORD = 8 };

typedef struct head {
    char magic[16];
    uint32_t order, format;
} head;

typedef struct item {
    char name[ARCHIVE_NAME + 1];
    char type;
    uint64_t count;
} item;

static const char magic[16] = {'s', 'v', 'm', 'p', ' ', 'c', 'h', 'e', 'c', 'k', 'p', 'o', 'i', 'n', 't', '\n'};

static_assert(sizeof(head) == 24 && sizeof(item) == 32 && sizeof(double) == WORD, "the layout of the file");

/* ---- saving ------------------------------------------------------------------------------------------------------ */

static svmp_status put(checkpoint *file, size_t size, const void *bytes) {
    static const char zeros[WORD] = {0};
    file->hash = svmp_hash_bytes(file->hash, size, bytes);
    SVMP_TRY(svmp_output_put(&file->output, bytes, size));
    return svmp_output_put(&file->output, zeros, (WORD - size % WORD) % WORD);
}

static svmp_status put_item(checkpoint *file, const char *name, archive_type type, size_t count, size_t size,
                            const void *bytes) {
    item made = {.type = (char)type, .count = count};
    assert(strlen(name) <= ARCHIVE_NAME);
    snprintf(made.name, sizeof made.name, "%s", name);
    SVMP_TRY(put(file, sizeof made, &made));
    return put(file, size, bytes);
}

static svmp_status put_numbers(archive *a, const char *name, archive_type type, size_t count, void *values) {
    return put_item((checkpoint *)a, name, type, count, count * WORD, values);
}

svmp_status svmp_checkpoint_put_text(checkpoint *file, const char *name, const char *text) {
    const size_t size = strlen(text) + 1;
    return put_item(file, name, ARCHIVE_TEXT, size, size, text);
}

svmp_status svmp_checkpoint_create(svmp_context *context, const char *path, checkpoint *file) {
    *file = (checkpoint){.archive = {context, 0, put_numbers}, .path = path, .hash = SVMP_HASH_START};
    head first = {.order = BYTE_ORDER_MARK, .format = FORMAT};
    memcpy(first.magic, magic, sizeof magic);
    SVMP_TRY(svmp_output_open_again(context, path, &file->output));
    return put(file, sizeof first, &first);
}

svmp_status svmp_checkpoint_finish(checkpoint *file) {
    const uint64_t hash = file->hash;
    SVMP_TRY(put(file, sizeof hash, &hash));
    return svmp_output_finish(&file->output);
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

static svmp_status refuse(const checkpoint *file, const char *why) {
    return svmp_fail(file->archive.context, SVMP_BAD_INPUT, "The checkpoint '%s' %s.", file->path, why);
}

static svmp_status cannot_read(const checkpoint *file, int error) {
    return svmp_fail(file->archive.context, SVMP_CANNOT_READ, "The checkpoint '%s' could not be read: %s.", file->path,
                     strerror(error));
}

static svmp_status read_bytes(checkpoint *file, FILE *stream) {
    struct stat about;
    if (fstat(fileno(stream), &about) != 0) return cannot_read(file, errno);
    if (S_ISDIR(about.st_mode)) return cannot_read(file, EISDIR);
    if (!S_ISREG(about.st_mode)) return refuse(file, "is no regular file");
    SVMP_TRY(svmp_allocate(file->archive.context, (size_t)about.st_size, 1, (void **)&file->bytes));
    file->size = fread(file->bytes, 1, (size_t)about.st_size, stream);
    if (ferror(stream)) return cannot_read(file, errno);
    return SVMP_OK;
}

/* The head and the checksum: from here on the file is as it was written. */
static svmp_status check_bytes(checkpoint *file) {
    head first = {0};
    uint64_t hash;
    if (file->size >= sizeof first) memcpy(&first, file->bytes, sizeof first);
    if (memcmp(first.magic, magic, sizeof magic) != 0) return refuse(file, "is none: it does not begin like one");
    if (first.order != BYTE_ORDER_MARK) return refuse(file, "is of a machine with another byte order");
    if (first.format != FORMAT)
        return svmp_fail(file->archive.context, SVMP_BAD_INPUT,
                         "The checkpoint '%s' is in format %lu, of another svmp; this one, %s, knows format %d.",
                         file->path, (unsigned long)first.format, svmp_version(), FORMAT);
    const int whole = file->size % WORD == 0 && file->size >= sizeof first + WORD;
    if (whole) memcpy(&hash, file->bytes + file->size - WORD, WORD);
    if (!whole || svmp_hash_bytes(SVMP_HASH_START, file->size - WORD, file->bytes) != hash)
        return refuse(file, "is damaged: its checksum is not that of what it holds");
    file->size -= WORD;
    file->at = sizeof first;
    return SVMP_OK;
}

/* The bytes of the next item, which has this name and type. */
static svmp_status take_item(checkpoint *file, const char *name, archive_type type, uint64_t *count,
                             const char **bytes) {
    item next = {0};
    const size_t left = file->size - file->at;
    if (left >= sizeof next) memcpy(&next, file->bytes + file->at, sizeof next);
    const uint64_t room = left >= sizeof next ? (left - sizeof next) / (type == ARCHIVE_TEXT ? 1 : WORD) : 0;
    if (left < sizeof next || strncmp(next.name, name, sizeof next.name) != 0 || next.type != (char)type ||
        next.count > room)
        return svmp_fail(file->archive.context, SVMP_BAD_INPUT, "The checkpoint '%s' does not hold '%s' at its place.",
                         file->path, name);
    const size_t size = (size_t)next.count * (type == ARCHIVE_TEXT ? 1 : WORD);
    *bytes = file->bytes + file->at + sizeof next;
    *count = next.count;
    file->at += sizeof next + (size + WORD - 1) / WORD * WORD;
    return SVMP_OK;
}

static svmp_status take_numbers(archive *a, const char *name, archive_type type, size_t count, void *values) {
    checkpoint *file = (checkpoint *)a;
    uint64_t saved = 0;
    const char *bytes = NULL;
    SVMP_TRY(take_item(file, name, type, &saved, &bytes));
    if (saved != count)
        return svmp_fail(a->context, SVMP_BAD_INPUT, "The checkpoint '%s' holds %llu numbers of '%s', not %zu.",
                         file->path, (unsigned long long)saved, name, count);
    if (count > 0) memcpy(values, bytes, count * WORD);
    return SVMP_OK;
}

svmp_status svmp_checkpoint_take_text(checkpoint *file, const char *name, const char **text) {
    uint64_t size = 0;
    const char *bytes = NULL;
    SVMP_TRY(take_item(file, name, ARCHIVE_TEXT, &size, &bytes));
    if (size == 0 || bytes[size - 1] != '\0') return refuse(file, "holds a text without an end");
    *text = bytes;
    return SVMP_OK;
}

svmp_status svmp_checkpoint_expect_end(const checkpoint *file) {
    return file->at == file->size ? SVMP_OK : refuse(file, "holds more than belongs there");
}

svmp_status svmp_checkpoint_open(svmp_context *context, const char *path, checkpoint *file) {
    *file = (checkpoint){.archive = {context, 1, take_numbers}, .path = path};
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) return cannot_read(file, errno);
    svmp_status status = read_bytes(file, stream);
    fclose(stream);
    return status == SVMP_OK ? check_bytes(file) : status;
}

void svmp_checkpoint_close(checkpoint *file) {
    if (file->archive.context == NULL) return;
    svmp_output_close(&file->output);
    svmp_release(file->archive.context, file->bytes);
    *file = (checkpoint){0};
}
