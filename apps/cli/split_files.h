/* The files of --split, one for each chain: FILE_1.csv, FILE_2.csv, ... of FILE.csv. */
#ifndef SVMP_CLI_SPLIT_FILES_H
#define SVMP_CLI_SPLIT_FILES_H

#include <stddef.h>

enum { PART_ROOM = 48 }; /* extra bytes in the result of part_path, for a suffix before the extension */

/* FILE_2.csv for `part` 2, FILE itself for 0. free() it; NULL: no memory. */
char *part_path(const char *path, size_t part);

/* FILE_*.csv; free() it. */
char *all_parts(const char *path);

/* A FILE_5.csv left over from a run with more than `count` chains could be mistaken for a part of this run. The first
 * function reports such a file and returns 0 or an exit status; the second removes them with a message, except `spared`
 * (or NULL). */
int parts_refuse_later(const char *path, size_t count);
void parts_remove_later(const char *path, size_t count, const char *spared);

#endif
