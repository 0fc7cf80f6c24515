#include "choose.h"

#include <string.h>

#include "command.h"

static int matches(const char *name, const char *wanted, size_t length) {
    return strncmp(name, wanted, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

static int is_chosen(size_t variable, const size_t *chosen, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (chosen[k] == variable) return 1;
    return 0;
}

/* The variables of one name of the list; 0 when there is none. */
static int take(const svmp_particles *particles, const char *wanted, size_t length, size_t *chosen, size_t *count) {
    const size_t variables = svmp_particles_variables(particles), before = *count;
    int found = 0;
    for (size_t i = 0; length > 0 && i < variables; i++) {
        if (!matches(svmp_particles_name(particles, i), wanted, length)) continue;
        found = 1;
        if (!is_chosen(i, chosen, before)) chosen[(*count)++] = i;
    }
    return found;
}

int choose_variables(const svmp_particles *particles, const char *where, const char *list, size_t *chosen,
                     size_t *count) {
    const size_t variables = svmp_particles_variables(particles);
    *count = 0;
    for (const char *wanted = list;; wanted++) {
        const size_t length = strcspn(wanted, ",");
        if (!take(particles, wanted, length, chosen, count))
            return complain(EXIT_WRONG, "There is no variable '%.*s' in %s, which has %zu, from '%s' to '%s'.",
                            (int)length, wanted, where, variables, svmp_particles_name(particles, 0),
                            svmp_particles_name(particles, variables - 1));
        wanted += length;
        if (*wanted == '\0') return 0;
    }
}
