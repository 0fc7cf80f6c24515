/* An archive: named numbers that are saved and loaded by the same function, so that both sides agree. Loading fails if
 * a name, a type or a count differs from what was saved. */
#ifndef SVMP_BASE_ARCHIVE_H
#define SVMP_BASE_ARCHIVE_H

#include "base/context.h"

typedef enum archive_type { ARCHIVE_TEXT = 't', ARCHIVE_COUNTS = 'c', ARCHIVE_REALS = 'r' } archive_type;

typedef struct archive archive;

struct archive {
    svmp_context *context;
    int loading;
    /* Saves `values`, `count` numbers of 8 bytes, or loads them. */
    svmp_status (*numbers)(archive *a, const char *name, archive_type type, size_t count, void *values);
    /* The same for rows of `length` reals, one for each own variable of the run; for a part of a model the rows of all
     * processes (collective). */
    svmp_status (*rows)(archive *a, const char *name, size_t length, double *values);
};

/* The first bytes of a checkpoint (run/checkpoint_file.h), for readers that are given one by mistake. */
#define ARCHIVE_MAGIC "svmp checkpoint\n"

/* The length of the longest name of a text or of numbers. */
enum { ARCHIVE_NAME = 22 };

static inline svmp_status svmp_archive_reals(archive *a, const char *name, size_t count, double *values) {
    return a->numbers(a, name, ARCHIVE_REALS, count, values);
}

static inline svmp_status svmp_archive_rows(archive *a, const char *name, size_t length, double *values) {
    return a->rows(a, name, length, values);
}

static inline svmp_status svmp_archive_real(archive *a, const char *name, double *value) {
    return svmp_archive_reals(a, name, 1, value);
}

static inline svmp_status svmp_archive_count(archive *a, const char *name, size_t *value) {
    uint64_t word = *value;
    SVMP_TRY(a->numbers(a, name, ARCHIVE_COUNTS, 1, &word));
    *value = (size_t)word;
    return SVMP_OK;
}

#endif
