#include <string.h>

#include "sample/particles.h"

static bool find_exactly(const named_variables *names, const char *name, size_t *variable) {
    size_t low = 0, high = names->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(name, names->sorted[middle].name);
        if (order == 0) return *variable = names->sorted[middle].variable, true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

bool svmp_named_find(const named_variables *names, const char *name, size_t *variable) {
    static const char first[] = ".1";
    char other[PARTICLES_LONGEST_NAME];
    const size_t length = strlen(name), tail = strlen(first);
    if (find_exactly(names, name, variable)) return true;
    if (length + tail >= sizeof other) return false;
    memcpy(other, name, length + 1);
    if (length > tail && strcmp(other + length - tail, first) == 0)
        other[length - tail] = 0;
    else
        memcpy(other + length, first, sizeof first);
    return find_exactly(names, other, variable);
}

/* "3 variables only in the reference (x.1, x.2, ...)", for the error. */
typedef struct name_list {
    size_t count, length;
    char text[300];
} name_list;

static void add_name(name_list *list, const char *name) {
    enum { SHOWN = 3 };
    size_t workspace = sizeof list->text - list->length;
    const char *separator = list->count ? ", " : "";
    int wrote = 0;
    if (list->count < SHOWN) wrote = snprintf(list->text + list->length, workspace, "%s%.80s", separator, name);
    if (list->count == SHOWN) wrote = snprintf(list->text + list->length, workspace, ", ...");
    list->length += (size_t)wrote;
    list->count++;
}

/* Particles, their name in a sentence, and their variables sorted by name. */
typedef struct named_side {
    const svmp_particles *particles;
    const char *called;
    named_variable *sorted;
} named_side;

static svmp_status names_differ(const named_side *a, const named_side *b) {
    const size_t a_count = a->particles->variables, b_count = b->particles->variables;
    name_list only_a = {0}, only_b = {0};
    for (size_t i = 0, j = 0; i < a_count || j < b_count;) {
        int order = i == a_count ? 1 : j == b_count ? -1 : strcmp(a->sorted[i].name, b->sorted[j].name);
        if (order < 0) add_name(&only_a, a->sorted[i].name);
        if (order > 0) add_name(&only_b, b->sorted[j].name);
        i += order <= 0;
        j += order >= 0;
    }
    char text[2 * sizeof only_a.text + 400];
    size_t used = 0;
    const name_list *const lists[] = {&only_a, &only_b};
    for (size_t k = 0; k < 2; k++) {
        if (lists[k]->count == 0) continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu of %s %s not in %s (%s)", used ? ", and " : "",
                                 lists[k]->count, k ? b->called : a->called, lists[k]->count == 1 ? "is" : "are",
                                 k ? a->called : b->called, lists[k]->text);
    }
    return svmp_fail(a->particles->context, SVMP_BAD_INPUT, "The variables differ: %s.", text);
}

static svmp_status compare_names(const named_side *a, const named_side *b) {
    const size_t count = a->particles->variables;
    int same = count == b->particles->variables;
    for (size_t i = 0; same && i < count; i++) {
        same = strcmp(a->sorted[i].name, b->sorted[i].name) == 0;
        if (same && i > 0 && strcmp(a->sorted[i - 1].name, a->sorted[i].name) == 0)
            return svmp_fail(a->particles->context, SVMP_BAD_CALL, "Two variables have the name '%.80s'.",
                             a->sorted[i].name);
    }
    return same ? SVMP_OK : names_differ(a, b);
}

svmp_status svmp_particles_match(const svmp_particles *a, const char *a_called, const svmp_particles *b,
                                 const char *b_called, size_t **a_place, size_t **b_place) {
    svmp_context *context = a->context;
    svmp_status status;
    named_side here = {a, a_called, NULL}, there = {b, b_called, NULL};
    size_t *a_made = NULL, *b_made = NULL;
    SVMP_CHECK(svmp_particles_by_name(a, &here.sorted));
    SVMP_CHECK(svmp_particles_by_name(b, &there.sorted));
    SVMP_CHECK(compare_names(&here, &there));
    SVMP_CHECK(SVMP_NEW(context, a_made, a->variables));
    SVMP_CHECK(SVMP_NEW(context, b_made, a->variables));
    for (size_t i = 0; i < a->variables; i++) {
        a_made[i] = here.sorted[i].variable;
        b_made[i] = there.sorted[i].variable;
    }
    *a_place = a_made;
    *b_place = b_made;
    a_made = b_made = NULL;
done:
    svmp_release_all(context, a_made, b_made, here.sorted);
    svmp_release(b->context, there.sorted);
    return status;
}
