/* The files of --split, one for each chain: FILE_1.csv, FILE_2.csv, ... of FILE.csv. */
#ifndef SVMP_CLI_PARTS_H
#define SVMP_CLI_PARTS_H

#include <stddef.h>

enum {
    PART_ROOM = 48
}; /* bytes that part_path has beyond those of `path`: for what else may stand before the ending */

/* FILE_2.csv for `part` 2, FILE itself for 0. free() it; NULL: no memory. */
char *part_path(const char *path, size_t part);

/* FILE_*.csv; free() it. */
char *all_parts(const char *path);

/* FILE_5.csv of an earlier run of svmp with more than `count` chains would be taken for one of this run. The one says
 * so, and returns 0 or an exit status; the other removes such files, and says so; `spared`, or NULL, stays. */
int parts_refuse_later(const char *path, size_t count);
void parts_remove_later(const char *path, size_t count, const char *spared);

#endif
