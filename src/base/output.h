/* A file that is written beside its place and renamed when it is whole: there is never half a file. */
#ifndef SVMP_BASE_OUTPUT_H
#define SVMP_BASE_OUTPUT_H

#include <limits.h>

#include "base/context.h"

typedef struct output_file {
    svmp_context *context;
    const char *path;     /* the caller's */
    char place[PATH_MAX]; /* what `path` means once symbolic links are followed */
    char *beside;         /* the file being written; NULL when `path` is a device or a pipe, written as it is */
    int anew;             /* there was no file and none is to be overwritten: nor one that others make meanwhile */
    FILE *file;
} output_file;

/* A symbolic link to nothing is an error. An existing file is one unless `overwrite`, also one that comes to be while
 * this one is written: what was written then stays beside it, and the error says where. */
svmp_status svmp_output_open(svmp_context *context, const char *path, int overwrite, output_file *output);

/* For a file that is written again and again: an existing one is replaced, and so is what a run that was killed while
 * writing has left beside it, which is called `path`.new. */
svmp_status svmp_output_open_again(svmp_context *context, const char *path, output_file *output);

svmp_status svmp_output_put(output_file *output, const char *bytes, size_t length);

/* The file is whole, on the disk, and in its place. */
svmp_status svmp_output_finish(output_file *output);

/* Removes what was written, unless it was finished; takes one that is all zeros. */
void svmp_output_close(output_file *output);

#endif
