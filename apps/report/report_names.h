/* The variables of a particle file, found by name. */
#ifndef SVMP_REPORT_REPORT_NAMES_H
#define SVMP_REPORT_REPORT_NAMES_H

#include "svmp_tools.h"

typedef struct name_index {
    struct name_entry {
        const char *name; /* the particles' own */
        size_t variable;
    } * sorted;
    size_t count;
} name_index;

/* 0, or an exit status when it has said what is wrong. `names_free` accepts an all-zero value. */
int names_build(const svmp_particles *particles, name_index *names);
void names_free(name_index *names);

/* 1 and the variable, or 0. */
int names_find(const name_index *names, const char *name, size_t *variable);

#endif
