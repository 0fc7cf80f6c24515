/* A checkpoint file: named texts and numbers in the order in which they were saved. The file is complete or absent.
 *
 *     "svmp checkpoint\n"     16 bytes
 *     0x01020304, format      two numbers of 32 bits, in the byte order of the machine
 *     items                   name (23 bytes, padded with zeros), type (1 byte), count (64 bits), then `count` bytes of
 *                             text including its terminating zero, padded to whole words, or `count` words
 *     checksum                64 bits, of everything before it (base/hash.h)
 */
#ifndef SVMP_RUN_CHECKPOINT_FILE_H
#define SVMP_RUN_CHECKPOINT_FILE_H

#include "base/archive.h"
#include "base/output_file.h"
#include "base/peer_rows.h"

#define CHECKPOINT_OPTION  "option "                   /* the prefix of option names, */
#define CHECKPOINT_BACKEND CHECKPOINT_OPTION "backend" /* and the option that is read before there is a run */

typedef struct checkpoint {
    archive archive; /* first, so that the checkpoint is an archive */
    const char *path;
    const svmp_peers *peers; /* the first process has the file and sends its contents to the others */
    output_file output;      /* when saving */
    uint64_t hash;
    FILE *input;   /* when loading: positioned at the next item */
    uint64_t left; /* bytes from there to the checksum */
    char *text;    /* the last text that was read */
    spread *own;   /* the run's variables, for archive.rows; NULL: each process has all of them */
    size_t variables;
} checkpoint;

/* `path` must outlive the checkpoint. All these calls are collective; those for texts do nothing in processes other
 * than the first, whose status the caller makes that of all. */
svmp_status svmp_checkpoint_create(svmp_context *context, const svmp_peers *peers, const char *path, checkpoint *file);
svmp_status svmp_checkpoint_put_text(checkpoint *file, const char *name, const char *text);

/* Saves or loads rows of n numbers that are distributed over the processes, in the order of the whole: the file does
 * not depend on the number of processes. */
svmp_status svmp_checkpoint_rows(checkpoint *file, const char *name, spread *rows, size_t n, double *values);

/* The file appears at `path` only with this call. */
svmp_status svmp_checkpoint_finish(checkpoint *file);

/* Fails if the file is not a checkpoint, has another format or a wrong checksum. The file is read twice, once for this
 * check, and never held in memory. */
svmp_status svmp_checkpoint_open(svmp_context *context, const svmp_peers *peers, const char *path, checkpoint *file);

/* *text is borrowed and valid until the next text; NULL in processes other than the first. */
svmp_status svmp_checkpoint_take_text(checkpoint *file, const char *name, const char **text);

/* The same for a later text; items before it are skipped. NULL if there is none of that name. Has the same status in
 * all processes. */
svmp_status svmp_checkpoint_find_text(checkpoint *file, const char *name, const char **text);

/* Fails unless all items were read. */
svmp_status svmp_checkpoint_expect_end(const checkpoint *file);

/* Accepts an all-zero value; an unfinished file is removed. */
void svmp_checkpoint_close(checkpoint *file);

#endif
