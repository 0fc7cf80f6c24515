#include <stdio.h>
#include <string.h>

#include "method/method.h"

static const method *const methods[] = {
    &svmp_method_graphical, &svmp_method_vanilla, &svmp_method_independent, &svmp_method_random, &svmp_method_combined,
    &svmp_method_langevin,  &svmp_method_exact,   &svmp_method_dpmp,        &svmp_method_tpmp,
};

const method *svmp_method_find(svmp_context *context, const char *name) {
    char names[256] = "";
    const size_t count = sizeof methods / sizeof *methods;
    for (size_t k = 0; k < count; k++) {
        if (strcmp(methods[k]->name, name) == 0) return methods[k];
        size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s",
                 k == 0          ? ""
                 : k + 1 < count ? ", "
                                 : " and ",
                 methods[k]->name);
    }
    svmp_fail(context, SVMP_BAD_CALL, "There is no method '%s'; there are %s.", name, names);
    return NULL;
}
