#include "choose_variables.h"

#include <stdlib.h>
#include <string.h>

#include "command_table.h"

static int matches(const char *name, const char *wanted, size_t length) {
    return strncmp(name, wanted, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

/* The variables of one name of the list that are not `taken` yet; 0 when there is none of that name. */
static int take(const svmp_particles *particles, const char *wanted, size_t length, char *taken, size_t *chosen,
                size_t *count) {
    const size_t variables = svmp_particles_variables(particles);
    int found = 0;
    for (size_t i = 0; length > 0 && i < variables; i++) {
        if (!matches(svmp_particles_name(particles, i), wanted, length)) continue;
        found = 1;
        if (!taken[i]) chosen[(*count)++] = i;
        taken[i] = 1;
    }
    return found;
}

/* The list with x[1,2] spelled as files do, x.1.2; NULL without memory. */
static char *spell_plainly(const char *list) {
    char *plain = malloc(strlen(list) + 1), *to = plain;
    int inside = 0;
    for (const char *from = list; plain && *from; from++) {
        inside = *from == '[' || (inside && *from != ']');
        if (*from == '[' || (inside && *from == ','))
            *to++ = '.';
        else if (*from != ']' && !(inside && *from == ' '))
            *to++ = *from;
    }
    if (plain) *to = '\0';
    return plain;
}

static int no_variable(const svmp_particles *particles, const char *where, const char *wanted, size_t length) {
    const size_t variables = svmp_particles_variables(particles);
    if (variables != svmp_particles_whole(particles)) /* no process knows all names */
        return report_error(EXIT_WRONG, "Unknown variable '%.*s' in %s.", (int)length, wanted, where);
    if (variables == 1)
        return report_error(EXIT_WRONG, "Unknown variable '%.*s' in %s, which has only '%s'.", (int)length, wanted,
                            where, svmp_particles_name(particles, 0));
    return report_error(EXIT_WRONG, "Unknown variable '%.*s' in %s, which has %zu variables, '%s' to '%s'.",
                        (int)length, wanted, where, variables, svmp_particles_name(particles, 0),
                        svmp_particles_name(particles, variables - 1));
}

int choose_variables(const svmp_context *context, const svmp_particles *particles, const char *where, const char *list,
                     size_t *chosen, size_t *count) {
    int status = 0;
    char *taken = calloc(svmp_particles_variables(particles) + 1, 1), *plain = spell_plainly(list);
    *count = 0;
    if (svmp_context_any(context, taken == NULL || plain == NULL) || taken == NULL || plain == NULL) {
        free(plain);
        free(taken);
        return report_error(EXIT_FAILED, "Out of memory.");
    }
    for (const char *wanted = plain; status == 0; wanted++) {
        const size_t length = strcspn(wanted, ",");
        const int found = take(particles, wanted, length, taken, chosen, count);
        if (!svmp_context_any(context, (unsigned)found)) status = no_variable(particles, where, wanted, length);
        wanted += length;
        if (*wanted == '\0') break;
    }
    free(plain);
    free(taken);
    return status;
}
