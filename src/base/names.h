/* A table of names: the number a name was given when it was first seen. */
#ifndef SVMP_BASE_NAMES_H
#define SVMP_BASE_NAMES_H

#include "base/context.h"

typedef struct name_table {
    char **text; /* by number; owned */
    uint32_t *slots;
    size_t count, text_capacity, slot_count;
} name_table;

#define NAMES_NONE UINT32_MAX

/* NAMES_NONE when it was never added. */
uint32_t svmp_names_find(const name_table *names, const char *text, size_t length);

/* Adds it unless it is there; *number is its number either way. Numbers count up from 0. */
svmp_status svmp_names_add(svmp_context *context, name_table *names, const char *text, size_t length, uint32_t *number);

/* The name nearest to `text` by edit distance, near enough to be a slip of the finger, or NULL. */
const char *svmp_names_nearest(const name_table *names, const char *text);

/* Whether `text` could be a slip for `candidate`: the distance in letters inserted, dropped, changed or swapped when it
 * is small for their length, or -1. */
int svmp_name_distance(const char *text, const char *candidate);

/* Forgets the names numbered `count` and above. */
void svmp_names_truncate(svmp_context *context, name_table *names, size_t count);

void svmp_names_free(svmp_context *context, name_table *names);

#endif
