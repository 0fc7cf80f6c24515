/* "Did you mean": the nearest of a few names. */
#ifndef SVMP_FRONT_SUGGEST_H
#define SVMP_FRONT_SUGGEST_H

#include <stddef.h>

/* The name that a slip of the hand or two would make of the first `length` characters of `typed`, or NULL. */
const char *suggest(const char *typed, size_t length, size_t count, const char *const *names);

#endif
