/* Files that are written under a temporary name and renamed when complete, so that a file is never half written. The
 * programs of apps/ are linked with these functions, too: they need nothing else of the library. All return 1, or 0
 * with a sentence in `error`. */
#ifndef SVMP_BASE_WHOLE_FILE_H
#define SVMP_BASE_WHOLE_FILE_H

#include <limits.h>
#include <stdio.h>

enum { WHOLE_SUFFIX = 64 };

typedef struct whole_file {
    const char *path;                        /* the caller's */
    char place[PATH_MAX];                    /* `path` with symbolic links resolved */
    char temporary[PATH_MAX + WHOLE_SUFFIX]; /* the temporary file; "": `path` is a device or a pipe, which is written
                                                 directly */
    int anew; /* there was no file, and a file that others create meanwhile must not be overwritten */
    FILE *file;
    char error[PATH_MAX + 256];
} whole_file;

/* A broken symbolic link is an error. Unless `overwrite`, an existing file is an error, too; also one that is created
 * while this one is written: then the temporary file is kept, and the error names it. */
int svmp_whole_open(const char *path, int overwrite, whole_file *output);

/* For a file that is written repeatedly: replaces an existing file. The temporary file is `path`.PID.new, so that two
 * processes never write to the same one, and the file of a killed process can be recognised. */
int svmp_whole_open_again(const char *path, whole_file *output);

int svmp_whole_put(whole_file *output, const void *bytes, size_t length);

/* Completes the file: flushes it to the disk and renames it. */
int svmp_whole_finish(whole_file *output);

/* Removes the temporary file unless the output was finished; accepts an all-zero value. */
void svmp_whole_close(whole_file *output);

/* All of these, of a file with these bytes. */
int svmp_whole_write(const char *path, const void *bytes, size_t size, int overwrite, whole_file *output);

#endif
