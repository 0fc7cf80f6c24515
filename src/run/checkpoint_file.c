#include "run/checkpoint_file.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"

enum { FORMAT = 4, BYTE_ORDER_MARK = 0x01020304, WORD = 8 };

typedef struct head {
    char magic[16];
    uint32_t order, format;
} head;

typedef struct item {
    char name[ARCHIVE_NAME + 1];
    char type;
    uint64_t count;
} item;

static const char magic[16] = ARCHIVE_MAGIC; /* without its final zero */

static_assert(sizeof(head) == 24 && sizeof(item) == 32 && sizeof(double) == WORD, "the layout of the file");

/* ---- saving ------------------------------------------------------------------------------------------------------ */

static svmp_status put(checkpoint *file, size_t size, const void *bytes) {
    static const char zeros[WORD] = {0};
    file->hash = svmp_hash_bytes(file->hash, size, bytes);
    SVMP_TRY(svmp_output_put(&file->output, bytes, size));
    return svmp_output_put(&file->output, zeros, (WORD - size % WORD) % WORD);
}

/* Whether this process has the file. */
static int here(const checkpoint *file) { return file->peers->rank == 0; }

/* Makes the status of the process that has the file that of all processes. */
static svmp_status agree(const checkpoint *file, svmp_status status) {
    return svmp_agree(file->archive.context, file->peers, status);
}

static svmp_status put_head(checkpoint *file, const char *name, archive_type type, size_t count) {
    item made = {.type = (char)type, .count = count};
    assert(strlen(name) <= ARCHIVE_NAME);
    snprintf(made.name, sizeof made.name, "%s", name);
    return put(file, sizeof made, &made);
}

static svmp_status put_item(checkpoint *file, const char *name, archive_type type, size_t count, size_t size,
                            const void *bytes) {
    if (!here(file)) return SVMP_OK;
    SVMP_TRY(put_head(file, name, type, count));
    return put(file, size, bytes);
}

static svmp_status put_numbers(archive *a, const char *name, archive_type type, size_t count, void *values) {
    checkpoint *file = (checkpoint *)a;
    return agree(file, put_item(file, name, type, count, count * WORD, values));
}

static svmp_status exchange_rows(archive *a, const char *name, size_t length, double *values) {
    checkpoint *file = (checkpoint *)a;
    if (file->own == NULL) return svmp_archive_reals(a, name, file->variables * length, values);
    return svmp_checkpoint_rows(file, name, file->own, length, values);
}

svmp_status svmp_checkpoint_put_text(checkpoint *file, const char *name, const char *text) {
    const size_t size = strlen(text) + 1;
    return put_item(file, name, ARCHIVE_TEXT, size, size, text);
}

svmp_status svmp_checkpoint_create(svmp_context *context, const svmp_peers *peers, const char *path, checkpoint *file) {
    *file = (checkpoint){
        .archive = {context, 0, put_numbers, exchange_rows}, .peers = peers, .path = path, .hash = SVMP_HASH_START};
    head first = {.order = BYTE_ORDER_MARK, .format = FORMAT};
    memcpy(first.magic, magic, sizeof magic);
    svmp_status status = here(file) ? svmp_output_open_again(context, path, &file->output) : SVMP_OK;
    if (here(file) && status == SVMP_OK) status = put(file, sizeof first, &first);
    return agree(file, status);
}

svmp_status svmp_checkpoint_finish(checkpoint *file) {
    const uint64_t hash = file->hash;
    svmp_status status = here(file) ? put(file, sizeof hash, &hash) : SVMP_OK;
    if (here(file) && status == SVMP_OK) status = svmp_output_finish(&file->output);
    return agree(file, status);
}

static svmp_status put_rows(checkpoint *file, const char *name, spread *rows, size_t n, const double *values) {
    const size_t together = svmp_spread_rows(n);
    svmp_status status = here(file) ? put_head(file, name, ARCHIVE_REALS, rows->whole * n) : SVMP_OK;
    for (size_t from = 0; from < rows->whole; from += together) {
        const size_t to = from + together < rows->whole ? from + together : rows->whole;
        const double *block = svmp_spread_collect(rows, (spread_block){from, to, 0, n}, n, values);
        if (here(file) && status == SVMP_OK) status = put(file, (to - from) * n * sizeof *block, block);
    }
    return agree(file, status);
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

static svmp_status refuse(const checkpoint *file, const char *why) {
    return svmp_fail(file->archive.context, SVMP_BAD_INPUT, "The checkpoint '%s' %s.", file->path, why);
}

static svmp_status cannot_read(const checkpoint *file, int error) {
    return svmp_fail(file->archive.context, SVMP_CANNOT_READ, "Cannot read the checkpoint '%s': %s.", file->path,
                     strerror(error));
}

/* The next bytes of the file. */
static svmp_status get(checkpoint *file, size_t size, void *bytes) {
    if (size > file->left) return refuse(file, "is damaged: it is incomplete");
    errno = EIO;
    if (size > 0 && fread(bytes, size, 1, file->input) != 1) return cannot_read(file, errno);
    file->left -= size;
    return SVMP_OK;
}

/* Checks the checksum of everything before it, block by block. */
static svmp_status check_sum(checkpoint *file) {
    uint64_t hash = SVMP_HASH_START, said = 0, block[1 << 12];
    while (file->left > 0) {
        const size_t size = file->left < sizeof block ? (size_t)file->left : sizeof block;
        SVMP_TRY(get(file, size, block));
        hash = svmp_hash_bytes(hash, size, block);
    }
    file->left = WORD;
    SVMP_TRY(get(file, WORD, &said));
    return hash == said ? SVMP_OK : refuse(file, "is damaged: the checksum does not match");
}

/* Checks the header and the checksum: after this the file is known to be intact. */
static svmp_status check_file(checkpoint *file, uint64_t size) {
    head first = {0};
    file->left = size;
    if (size >= sizeof first) SVMP_TRY(get(file, sizeof first, &first));
    if (memcmp(first.magic, magic, sizeof magic) != 0) return refuse(file, "is not in checkpoint format");
    if (first.order != BYTE_ORDER_MARK) return refuse(file, "was written on a machine with another byte order");
    if (first.format != FORMAT)
        return svmp_fail(file->archive.context, SVMP_BAD_INPUT,
                         "The checkpoint '%s' has format %lu, but svmp %s reads only format %d.", file->path,
                         (unsigned long)first.format, svmp_version(), FORMAT);
    if (size % WORD != 0 || size < sizeof first + WORD) return refuse(file, "is damaged: the checksum does not match");
    rewind(file->input);
    file->left = size - WORD;
    SVMP_TRY(check_sum(file));
    if (fseek(file->input, sizeof first, SEEK_SET) != 0) return cannot_read(file, errno);
    file->left = size - WORD - sizeof first;
    return SVMP_OK;
}

static svmp_status open_input(checkpoint *file) {
    struct stat about;
    file->input = fopen(file->path, "rb");
    if (file->input == NULL || fstat(fileno(file->input), &about) != 0) return cannot_read(file, errno);
    if (S_ISDIR(about.st_mode)) return cannot_read(file, EISDIR);
    if (!S_ISREG(about.st_mode)) return refuse(file, "is not a regular file");
    return check_file(file, (uint64_t)about.st_size);
}

/* Reads the head of the next item, which must have this name and type. */
static svmp_status find_item(checkpoint *file, const char *name, archive_type type, uint64_t *count) {
    item next = {0};
    const uint64_t size = type == ARCHIVE_TEXT ? 1 : WORD;
    if (file->left >= sizeof next) SVMP_TRY(get(file, sizeof next, &next));
    if (strncmp(next.name, name, sizeof next.name) != 0 || next.type != (char)type || next.count > file->left / size)
        return svmp_fail(file->archive.context, SVMP_BAD_INPUT,
                         "The checkpoint '%s' does not have '%s' in the expected place.", file->path, name);
    *count = next.count;
    return SVMP_OK;
}

/* Reads an item of `count` numbers with this name. */
static svmp_status find_numbers(checkpoint *file, const char *name, archive_type type, size_t count) {
    uint64_t saved = 0;
    SVMP_TRY(find_item(file, name, type, &saved));
    if (saved == count) return SVMP_OK;
    return svmp_fail(file->archive.context, SVMP_BAD_INPUT, "The checkpoint '%s' has %llu numbers of '%s', not %zu.",
                     file->path, (unsigned long long)saved, name, count);
}

static svmp_status get_numbers(checkpoint *file, const char *name, archive_type type, size_t count, void *values) {
    if (!here(file)) return SVMP_OK;
    SVMP_TRY(find_numbers(file, name, type, count));
    return get(file, count * WORD, values);
}

static svmp_status take_numbers(archive *a, const char *name, archive_type type, size_t count, void *values) {
    checkpoint *file = (checkpoint *)a;
    SVMP_TRY(agree(file, get_numbers(file, name, type, count, values)));
    file->peers->broadcast(file->peers, 0, count * WORD, values);
    return SVMP_OK;
}

/* Block by block; if reading fails, all blocks are still distributed, because the other processes wait for them. */
static svmp_status take_rows(checkpoint *file, const char *name, spread *rows, size_t n, double *values) {
    const size_t together = svmp_spread_rows(n);
    svmp_status status = SVMP_OK;
    SVMP_TRY(agree(file, here(file) ? find_numbers(file, name, ARCHIVE_REALS, rows->whole * n) : SVMP_OK));
    for (size_t from = 0; from < rows->whole; from += together) {
        const size_t to = from + together < rows->whole ? from + together : rows->whole;
        const spread_block which = {from, to, 0, n};
        double *block = svmp_spread_space(rows, which);
        if (block && status == SVMP_OK) status = get(file, (to - from) * n * WORD, block);
        svmp_spread_deal(rows, which, n, values);
    }
    return agree(file, status);
}

svmp_status svmp_checkpoint_rows(checkpoint *file, const char *name, spread *rows, size_t n, double *values) {
    return (file->archive.loading ? take_rows(file, name, rows, n, values) : put_rows(file, name, rows, n, values));
}

/* A text, padded with zeros to whole words. */
static svmp_status get_text(checkpoint *file, const char *name) {
    uint64_t size = 0;
    SVMP_TRY(find_item(file, name, ARCHIVE_TEXT, &size));
    const uint64_t filled = (size + WORD - 1) / WORD * WORD;
    if (filled > file->left) return refuse(file, "is damaged: it is incomplete");
    svmp_release(file->archive.context, file->text);
    file->text = NULL;
    SVMP_TRY(SVMP_NEW(file->archive.context, file->text, (size_t)filled));
    SVMP_TRY(get(file, (size_t)filled, file->text));
    if (size == 0 || file->text[size - 1] != '\0') return refuse(file, "is damaged: a string is not terminated");
    return SVMP_OK;
}

svmp_status svmp_checkpoint_take_text(checkpoint *file, const char *name, const char **text) {
    *text = NULL;
    if (!here(file)) return SVMP_OK;
    SVMP_TRY(get_text(file, name));
    *text = file->text;
    return SVMP_OK;
}

/* Skips to the item of this name; *found: whether there is one. */
static svmp_status skip_to(checkpoint *file, const char *name, int *found) {
    for (*found = 0; file->left >= sizeof(item);) {
        item next = {0};
        SVMP_TRY(get(file, sizeof next, &next));
        *found = strncmp(next.name, name, sizeof next.name) == 0;
        if (*found) break;
        const uint64_t words =
            next.type == (char)ARCHIVE_TEXT ? next.count / WORD + (next.count % WORD > 0) : next.count;
        if (words > file->left / WORD) return refuse(file, "is damaged: it is incomplete");
        if (fseek(file->input, (long)(words * WORD), SEEK_CUR) != 0) return cannot_read(file, errno);
        file->left -= words * WORD;
    }
    if (*found && fseek(file->input, -(long)sizeof(item), SEEK_CUR) != 0) return cannot_read(file, errno);
    if (*found) file->left += sizeof(item);
    return SVMP_OK;
}

svmp_status svmp_checkpoint_find_text(checkpoint *file, const char *name, const char **text) {
    int found = 0;
    svmp_status status = here(file) ? skip_to(file, name, &found) : SVMP_OK;
    if (found && status == SVMP_OK) status = get_text(file, name);
    *text = found && status == SVMP_OK ? file->text : NULL;
    return agree(file, status);
}

svmp_status svmp_checkpoint_expect_end(const checkpoint *file) {
    const int more = here(file) && file->left != 0;
    return agree(file, more ? refuse(file, "is damaged: it has extra data at the end") : SVMP_OK);
}

svmp_status svmp_checkpoint_open(svmp_context *context, const svmp_peers *peers, const char *path, checkpoint *file) {
    *file = (checkpoint){.archive = {context, 1, take_numbers, exchange_rows}, .peers = peers, .path = path};
    return agree(file, here(file) ? open_input(file) : SVMP_OK);
}

void svmp_checkpoint_close(checkpoint *file) {
    if (file->archive.context == NULL) return;
    svmp_output_close(&file->output);
    if (file->input) fclose(file->input);
    svmp_release(file->archive.context, file->text);
    *file = (checkpoint){0};
}
