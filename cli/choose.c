#include "choose.h"

#include <string.h>

#include "command.h"

enum { NAME = 1100 };

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

static int there_is(const svmp_model *model, const char *wanted, size_t length) {
    char name[NAME];
    const size_t variables = svmp_graph_variables(svmp_model_graph(model));
    for (size_t i = 0; length > 0 && i < variables; i++)
        if (matches(svmp_model_variable_name(model, i, name, sizeof name), wanted, length)) return 1;
    char last[NAME];
    complain(EXIT_WRONG, "There is no variable '%.*s' in the model, which has %zu, from '%s' to '%s'.", (int)length,
             wanted, variables, svmp_model_variable_name(model, 0, name, sizeof name),
             svmp_model_variable_name(model, variables - 1, last, sizeof last));
    return 0;
}

int choose_variables(const svmp_model *model, const char *list, size_t *chosen, size_t *count) {
    char name[NAME];
    for (const char *wanted = list;; wanted++) {
        const size_t length = strcspn(wanted, ",");
        if (!there_is(model, wanted, length)) return EXIT_WRONG;
        wanted += length;
        if (*wanted == '\0') break;
    }
    *count = 0;
    for (size_t i = 0; i < svmp_graph_variables(svmp_model_graph(model)); i++)
        if (listed(list, svmp_model_variable_name(model, i, name, sizeof name))) chosen[(*count)++] = i;
    return 0;
}
