/* A table that assigns numbers to names, in the order of first appearance. */
#ifndef SVMP_BASE_NAME_TABLE_H
#define SVMP_BASE_NAME_TABLE_H

#include "base/context.h"

typedef struct name_table {
    char **text; /* by number; owned */
    uint32_t *slots;
    size_t count, text_capacity, slot_count;
} name_table;

#define NAMES_NONE UINT32_MAX

/* Returns NAMES_NONE if the name was not added. */
uint32_t svmp_names_find(const name_table *names, const char *text, size_t length);

/* Adds the name if it is new; *number is its number in either case. Numbers count from 0. */
svmp_status svmp_names_add(svmp_context *context, name_table *names, const char *text, size_t length, uint32_t *number);

/* The name nearest to `text` by edit distance, if it is close enough for a typing error; else NULL. */
const char *svmp_names_nearest(const name_table *names, const char *text);

/* Forgets the names numbered `count` and above. */
void svmp_names_truncate(svmp_context *context, name_table *names, size_t count);

void svmp_names_free(svmp_context *context, name_table *names);

#endif
