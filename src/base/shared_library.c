#include "base/shared_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void *svmp_library_open(const char *path, int global, int *absent, char *why, size_t size) {
    void *library = dlopen(path, RTLD_NOW | RTLD_NODELETE | (global ? RTLD_GLOBAL : RTLD_LOCAL));
    const char *words = library ? NULL : dlerror();
    const size_t length = strlen(path);
    *absent = 0;
    if (library) return library;
    if (words == NULL) words = "the system does not say why";
    const int of_path = strncmp(words, path, length) == 0 && strncmp(words + length, ": ", 2) == 0;
    if (of_path) words += length + 2; /* else of a library that it needs */
    *absent = strchr(path, '/') ? access(path, F_OK) != 0 : of_path && strstr(words, "No such file") != NULL;
    snprintf(why, size, "%s", words);
    return NULL;
}

int svmp_library_bind(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol); /* C has no cast from an object's address to a function's */
    return symbol != NULL;
}
