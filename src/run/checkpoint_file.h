/* A checkpoint file: named texts and numbers in the order in which they were saved, whole or not at all.
 *
 *     "svmp checkpoint\n"     16 bytes
 *     0x01020304, format      two numbers of 32 bits, in the byte order of the machine
 *     items                   name (23 bytes, zeros behind it), type (1 byte), count (64 bits), then `count` bytes of
 *                             text with its ending zero, filled up to whole words, or `count` words
 *     checksum                64 bits, of all that stands before it (base/hash.h)
 */
#ifndef SVMP_RUN_CHECKPOINT_FILE_H
#define SVMP_RUN_CHECKPOINT_FILE_H

#include "base/archive.h"
#include "base/output.h"
#include "base/spread.h"

typedef struct checkpoint {
    archive archive; /* first: the archive that a state goes through is the checkpoint */
    const char *path;
    const team *team;   /* of several processes the first one has the file, and tells the others; NULL: alone */
    output_file output; /* of one that is saved */
    uint64_t hash;
    FILE *input;   /* of one that is loaded: at the next item */
    uint64_t left; /* bytes from there to the checksum */
    char *text;    /* the last text that was taken */
    spread *own;   /* the run's variables, for archive.rows */
} checkpoint;

/* `path` must outlive the checkpoint. With a team, all its processes make all these calls. */
svmp_status svmp_checkpoint_create(svmp_context *context, const team *t, const char *path, checkpoint *file);
svmp_status svmp_checkpoint_put_text(checkpoint *file, const char *name, const char *text);

/* Rows of n numbers, the whole of those that processes share, saved in the order of the whole or loaded: the file does
 * not know how many processes there were. */
svmp_status svmp_checkpoint_rows(checkpoint *file, const char *name, spread *rows, size_t n, double *values);

/* Nothing stands at `path` before this. */
svmp_status svmp_checkpoint_finish(checkpoint *file);

/* Refuses what is no checkpoint, is in another format, or has another checksum than it says. The file is read twice,
 * once for this, and never held. */
svmp_status svmp_checkpoint_open(svmp_context *context, const team *t, const char *path, checkpoint *file);

/* *text belongs to the file, until the next one; in processes that do not have it, NULL. */
svmp_status svmp_checkpoint_take_text(checkpoint *file, const char *name, const char **text);

/* Fails unless all items were taken. */
svmp_status svmp_checkpoint_expect_end(const checkpoint *file);

/* Takes one that is all zeros; one that was to be saved and is not finished leaves nothing. */
void svmp_checkpoint_close(checkpoint *file);

#endif
