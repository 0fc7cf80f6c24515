/* Machine code of programs, kept from run to run in files of the user's cache. Files that are damaged or of other
 * programs are ignored, and so are, with a warning, files and folders that other users own or may write to. Where
 * nothing can be written a run goes on without. */
#ifndef SVMP_CUDA_KEPT_BINARIES_H
#define SVMP_CUDA_KEPT_BINARIES_H

#include "cuda/cuda_host.h"

/* Two numbers that identify programs; the first one names the file. */
typedef struct kept_key {
    uint64_t name, check;
} kept_key;

/* The folder: $SVMP_CACHE (empty: none), $XDG_CACHE_HOME/svmp or $HOME/.cache/svmp, the first of them that is an
 * absolute path. Returns 0 if none is. */
int svmp_kept_folder(char *folder, size_t size);

/* *image is NULL if no such code is kept; else the caller releases it. */
svmp_status svmp_kept_read(const svmp_host *host, kept_key key, char **image, size_t *bytes);

/* Makes the folder. That nothing could be written is a warning if the user has chosen the folder. */
void svmp_kept_write(const svmp_host *host, kept_key key, const char *image, size_t bytes);

#endif
