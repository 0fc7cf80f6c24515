/* Packing: the same function writes values to bytes and reads them back, so that both sides agree. Numbers are little
 * endian, whatever the machine. A failure is kept: later calls do nothing, and `status` says so at the end. What is
 * read may be damaged: no length is trusted, and lists of indices are checked by svmp_pack_indices. */
#ifndef SVMP_BASE_PACKING_H
#define SVMP_BASE_PACKING_H

#include <stdbool.h>

#include "base/archive.h"

typedef struct packing {
    svmp_context *context;
    bool loading;
    const char *what; /* "The part file 'x'", for errors */
    unsigned char *bytes;
    size_t size, at, capacity; /* size: of what is read; at: bytes read or written */
    svmp_status status;
} packing;

void svmp_packing_free(packing *p); /* of one that writes; accepts an all-zero value */

/* Fails because of what was read. */
void svmp_pack_refuse(packing *p, const char *why);

void svmp_pack_bytes(packing *p, size_t size, void *bytes);
void svmp_pack_word(packing *p, uint64_t *value);
void svmp_pack_count(packing *p, size_t *value);
void svmp_pack_real(packing *p, double *value);

/* Text, or NULL; when reading, *text is allocated. */
void svmp_pack_text(packing *p, char **text);

/* Arrays of `count` numbers, which are allocated when reading, also if there are none. */
void svmp_pack_reals(packing *p, size_t count, double **values);
void svmp_pack_numbers(packing *p, size_t count, uint32_t **values);
void svmp_pack_counts(packing *p, size_t count, size_t **values);

/* The same, where each number is below `limit`. */
void svmp_pack_indices(packing *p, size_t count, size_t limit, uint32_t **values);

/* How many items follow, each of at least `least` bytes: fails on more than there can be. */
void svmp_pack_length(packing *p, size_t *count, size_t least);

/* An enum, a flag, or a small number. */
#define SVMP_PACK(packing_, field)                                                                                     \
    do {                                                                                                               \
        uint64_t word_ = (uint64_t)(field);                                                                            \
        svmp_pack_word((packing_), &word_);                                                                            \
        if ((packing_)->loading) (field) = word_;                                                                      \
    } while (0)

/* Memory for what is read; does nothing after a failure. */
#define SVMP_PACK_NEW(packing_, pointer, count)                                                                        \
    do {                                                                                                               \
        if ((packing_)->loading && (packing_)->status == SVMP_OK)                                                      \
            (packing_)->status = SVMP_NEW((packing_)->context, pointer, count);                                        \
    } while (0)

/* An archive (base/archive.h) in a packing: `own` rows of its archive.rows. */
typedef struct packed_archive {
    archive archive; /* first */
    packing *to;
    size_t own;
} packed_archive;

packed_archive svmp_pack_archive(packing *p, size_t own);

#endif
