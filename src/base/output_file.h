/* Output files: written under a temporary name and renamed when complete, so that a file is never half written. */
#ifndef SVMP_BASE_OUTPUT_FILE_H
#define SVMP_BASE_OUTPUT_FILE_H

#include <limits.h>

#include "base/context.h"

typedef struct output_file {
    svmp_context *context;
    const char *path;     /* the caller's */
    char place[PATH_MAX]; /* `path` with symbolic links resolved */
    char *temporary;      /* the temporary file; NULL if `path` is a device or a pipe, which is written directly */
    int anew;             /* there was no file, and a file that others create meanwhile must not be overwritten */
    FILE *file;
} output_file;

/* A broken symbolic link is an error. Unless `overwrite`, an existing file is an error, too; also one that is created
 * while this one is written: then the temporary file is kept, and the message names it. */
svmp_status svmp_output_open(svmp_context *context, const char *path, int overwrite, output_file *output);

/* For a file that is written repeatedly: replaces an existing file. The temporary file is `path`.PID.new, so that two
 * processes never write to the same one, and the file of a killed process can be recognised. */
svmp_status svmp_output_open_again(svmp_context *context, const char *path, output_file *output);

svmp_status svmp_output_put(output_file *output, const char *bytes, size_t length);

/* Completes the file: flushes it to the disk and renames it. */
svmp_status svmp_output_finish(output_file *output);

/* Removes the temporary file unless the output was finished; accepts an all-zero value. */
void svmp_output_close(output_file *output);

#endif
