/* The record of a file, lines "name = value" in its comments. The programs of apps/ are linked with this, too: it needs
 * nothing else of the library. */
#ifndef SVMP_BASE_COMMENT_LINES_H
#define SVMP_BASE_COMMENT_LINES_H

#include <stddef.h>

/* Finds the line "name = value". Returns 1 and writes the value, truncated to `size`; or returns 0. */
int svmp_comment_find(const char *comments, const char *name, char *value, size_t size);

#endif
