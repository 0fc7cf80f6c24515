/* Which name a mistyped one means. The programs of apps/ are linked with these functions, too: they need nothing else
 * of the library. */
#ifndef SVMP_BASE_NAME_DISTANCE_H
#define SVMP_BASE_NAME_DISTANCE_H

#include <stddef.h>

enum { NAME_LONGEST_COMPARED = 64 }; /* longer names are like no other; no distance is larger */

/* The edit distance (letters inserted, dropped, changed or swapped; 1 if only the case differs) if the first `length`
 * letters of `text` could be a typing error for `candidate`; -1 if the distance is too large for their length. */
int svmp_name_distance(const char *text, size_t length, const char *candidate);

/* The one of `count` names that the first `length` characters of `typed` probably mean: at least 3 characters with
 * which it begins, or a typing error or two. NULL: none of them. */
const char *svmp_name_suggest(const char *typed, size_t length, size_t count, const char *const *names);

#endif
