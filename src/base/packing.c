#include "base/packing.h"

#include <string.h>

void svmp_packing_free(packing *p) {
    if (p->context && !p->loading) svmp_release(p->context, p->bytes);
    *p = (packing){0};
}

void svmp_pack_refuse(packing *p, const char *why) {
    if (p->status == SVMP_OK) p->status = svmp_fail(p->context, SVMP_BAD_INPUT, "%s %s.", p->what, why);
}

static bool has(packing *p, size_t count, size_t size) {
    if (p->status != SVMP_OK) return false;
    if (count <= (p->size - p->at) / size) return true;
    svmp_pack_refuse(p, "is truncated or damaged");
    return false;
}

void svmp_pack_bytes(packing *p, size_t size, void *bytes) {
    if (p->status != SVMP_OK || size == 0 || bytes == NULL) return;
    if (p->loading) {
        if (!has(p, size, 1)) return;
        memcpy(bytes, p->bytes + p->at, size);
    } else {
        p->status = SVMP_GROW(p->context, p->bytes, p->capacity, p->at + size);
        if (p->status != SVMP_OK || p->bytes == NULL) return;
        memcpy(p->bytes + p->at, bytes, size);
    }
    p->at += size;
}

static void pack_little(packing *p, int bytes, uint64_t *value) {
    unsigned char little[8] = {0};
    for (int k = 0; k < bytes; k++) little[k] = (unsigned char)(*value >> 8 * k);
    svmp_pack_bytes(p, (size_t)bytes, little);
    if (!p->loading || p->status != SVMP_OK) return;
    *value = 0;
    for (int k = 0; k < bytes; k++) *value |= (uint64_t)little[k] << 8 * k;
}

void svmp_pack_word(packing *p, uint64_t *value) { pack_little(p, 8, value); }

void svmp_pack_count(packing *p, size_t *value) {
    uint64_t word = *value;
    pack_little(p, 8, &word);
    *value = (size_t)word;
}

void svmp_pack_real(packing *p, double *value) {
    uint64_t word;
    memcpy(&word, value, sizeof word);
    pack_little(p, 8, &word);
    memcpy(value, &word, sizeof word);
}

void svmp_pack_length(packing *p, size_t *count, size_t least) {
    svmp_pack_count(p, count);
    if (p->loading && !has(p, *count, least)) *count = 0;
}

void svmp_pack_text(packing *p, char **text) {
    size_t length = *text && !p->loading ? strlen(*text) + 1 : 0;
    svmp_pack_length(p, &length, 1);
    if (length == 0) return;
    SVMP_PACK_NEW(p, *text, length);
    svmp_pack_bytes(p, length, *text);
    if (p->loading && p->status == SVMP_OK && *text && (*text)[length - 1] != '\0')
        (*text)[length - 1] = '\0', svmp_pack_refuse(p, "is damaged");
}

/* Whether there are `count` items of `size` bytes to read, for which there is memory now. */
#define PACK_ARRAY(p, count, size, values)                                                                             \
    do {                                                                                                               \
        if ((p)->loading && !has((p), (count), (size))) return;                                                        \
        SVMP_PACK_NEW((p), *(values), (count));                                                                        \
        if ((p)->status != SVMP_OK || *(values) == NULL) return;                                                       \
    } while (0)

void svmp_pack_reals(packing *p, size_t count, double **values) {
    PACK_ARRAY(p, count, 8, values);
    for (size_t k = 0; k < count; k++) svmp_pack_real(p, &(*values)[k]);
}

void svmp_pack_numbers(packing *p, size_t count, uint32_t **values) {
    PACK_ARRAY(p, count, 4, values);
    for (size_t k = 0; k < count; k++) {
        uint64_t word = (*values)[k];
        pack_little(p, 4, &word);
        (*values)[k] = (uint32_t)word;
    }
}

void svmp_pack_counts(packing *p, size_t count, size_t **values) {
    PACK_ARRAY(p, count, 8, values);
    for (size_t k = 0; k < count; k++) svmp_pack_count(p, &(*values)[k]);
}

void svmp_pack_indices(packing *p, size_t count, size_t limit, uint32_t **values) {
    svmp_pack_numbers(p, count, values);
    for (size_t k = 0; p->status == SVMP_OK && p->loading && *values && k < count; k++)
        if ((*values)[k] >= limit) svmp_pack_refuse(p, "is damaged");
}

/* ---- as an archive ----------------------------------------------------------------------------------------------- */

/* The name, the type and the count, by which a difference is found. */
static svmp_status put_numbers(archive *a, const char *name, archive_type type, size_t count, void *values) {
    packing *p = ((packed_archive *)a)->to;
    char item[ARCHIVE_NAME + 2] = {0}, found[ARCHIVE_NAME + 2];
    size_t there = count;
    snprintf(item, sizeof item - 1, "%s", name);
    item[ARCHIVE_NAME + 1] = (char)type;
    memcpy(found, item, sizeof item);
    svmp_pack_bytes(p, sizeof found, found);
    svmp_pack_count(p, &there);
    if (memcmp(found, item, sizeof item) != 0 || there != count) svmp_pack_refuse(p, "is of another run");
    for (size_t k = 0; k < count; k++) svmp_pack_word(p, (uint64_t *)values + k);
    return p->status;
}

static svmp_status put_rows(archive *a, const char *name, size_t length, double *values) {
    return put_numbers(a, name, ARCHIVE_REALS, ((packed_archive *)a)->own * length, values);
}

packed_archive svmp_pack_archive(packing *p, size_t own) {
    return (packed_archive){{p->context, p->loading, put_numbers, put_rows}, p, own};
}
