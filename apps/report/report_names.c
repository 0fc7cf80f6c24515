#include "report_names.h"

#include <stdlib.h>
#include <string.h>

#include "command_table.h"

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct name_entry *)a)->name, ((const struct name_entry *)b)->name);
}

int names_build(const svmp_particles *particles, name_index *names) {
    names->count = svmp_particles_variables(particles);
    names->sorted = calloc(names->count, sizeof *names->sorted);
    if (names->sorted == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    for (size_t i = 0; i < names->count; i++)
        names->sorted[i] = (struct name_entry){svmp_particles_name(particles, i), i};
    qsort(names->sorted, names->count, sizeof *names->sorted, by_name);
    return 0;
}

void names_free(name_index *names) {
    free(names->sorted);
    *names = (name_index){0};
}

int names_find(const name_index *names, const char *name, size_t *variable) {
    const struct name_entry wanted = {name, 0};
    const struct name_entry *found = bsearch(&wanted, names->sorted, names->count, sizeof wanted, by_name);
    if (found) *variable = found->variable;
    return found != NULL;
}
