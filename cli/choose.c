#include "choose.h"

#include <string.h>

#include "command.h"

static int matches(const char *name, const char *wanted, size_t length) {
    return strncmp(name, wanted, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

/* Whether the list has a name that matches. */
static int listed(const char *list, const char *name) {
    for (const char *wanted = list;; wanted++) {
        const size_t length = strcspn(wanted, ",");
        if (length > 0 && matches(name, wanted, length)) return 1;
        wanted += length;
        if (*wanted == '\0') return 0;
    }
}

static int there_is(const svmp_particles *particles, const char *wanted, size_t length) {
    const size_t variables = svmp_particles_variables(particles);
    for (size_t i = 0; length > 0 && i < variables; i++)
        if (matches(svmp_particles_name(particles, i), wanted, length)) return 1;
    complain(EXIT_WRONG, "There is no variable '%.*s' in the model, which has %zu, from '%s' to '%s'.", (int)length,
             wanted, variables, svmp_particles_name(particles, 0), svmp_particles_name(particles, variables - 1));
    return 0;
}

int choose_variables(const svmp_particles *particles, const char *list, size_t *chosen, size_t *count) {
    for (const char *wanted = list;; wanted++) {
        const size_t length = strcspn(wanted, ",");
        if (!there_is(particles, wanted, length)) return EXIT_WRONG;
        wanted += length;
        if (*wanted == '\0') break;
    }
    *count = 0;
    for (size_t i = 0; i < svmp_particles_variables(particles); i++)
        if (listed(list, svmp_particles_name(particles, i))) chosen[(*count)++] = i;
    return 0;
}
