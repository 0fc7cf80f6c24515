/* The history of a run: a few numbers at some of its iterations, at most HISTORY_MOST rows. */
#ifndef SVMP_SAMPLE_HISTORY_H
#define SVMP_SAMPLE_HISTORY_H

#include "base/archive.h"

enum { HISTORY_MOST = 256, HISTORY_COLUMNS = 4 };

typedef struct history {
    size_t count, stride;
    double column[HISTORY_COLUMNS][HISTORY_MOST]; /* the first one is the iteration, ascending */
} history;

/* Adds a row, or replaces the last row if it belongs to the same iteration. A full history first drops every other row
 * and doubles its stride. */
void svmp_history_add(history *h, const double row[HISTORY_COLUMNS]);

/* The same for values of every iteration: keeps multiples of the stride. */
void svmp_history_follow(history *h, size_t iteration, double first, double second);

/* Saves it, or loads it. `name` is at most eight characters long. */
svmp_status svmp_history_archive(archive *a, const char *name, history *h);

#endif
