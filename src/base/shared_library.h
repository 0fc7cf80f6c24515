/* Libraries that are loaded when a run needs them, and that stay loaded until the program ends. */
#ifndef SVMP_BASE_SHARED_LIBRARY_H
#define SVMP_BASE_SHARED_LIBRARY_H

#include <stddef.h>

/* A path, or a name that the system looks for. NULL if it cannot be loaded: `why` then has the system's words, without
 * the path, and *absent says whether there is no such file. `global`: libraries that are loaded later see its symbols,
 * and those of the libraries that it needs. */
void *svmp_library_open(const char *path, int global, int *absent, char *why, size_t size);

/* Sets a pointer to a function; returns 0 if there is none of that name. */
int svmp_library_bind(void *library, const char *name, void *function);

#endif
