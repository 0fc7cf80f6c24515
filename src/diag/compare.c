#include <string.h>

#include "diag/mmd.h"
#include "io/particles.h"

/* "3 variables only in the reference (x.1, x.2, ...)", for the error. */
typedef struct name_list {
    size_t count, length;
    char text[300];
} name_list;

static void add_name(name_list *list, const char *name) {
    enum { SHOWN = 3 };
    size_t room = sizeof list->text - list->length;
    const char *separator = list->count ? ", " : "";
    int wrote = 0;
    if (list->count < SHOWN) wrote = snprintf(list->text + list->length, room, "%s%.80s", separator, name);
    if (list->count == SHOWN) wrote = snprintf(list->text + list->length, room, ", ...");
    list->length += (size_t)wrote;
    list->count++;
}

static svmp_status names_differ(const svmp_particles *particles, const named_variable *a,
                                const svmp_particles *reference, const named_variable *b) {
    name_list missing = {0}, extra = {0};
    for (size_t i = 0, j = 0; i < particles->variables || j < reference->variables;) {
        int order = i == particles->variables ? 1 : j == reference->variables ? -1 : strcmp(a[i].name, b[j].name);
        if (order < 0) add_name(&extra, a[i].name);
        if (order > 0) add_name(&missing, b[j].name);
        i += order <= 0;
        j += order >= 0;
    }
    return svmp_fail(particles->context, SVMP_BAD_INPUT,
                     "The variables differ: %zu of the particles are not in the reference%s%s%s, and %zu of the "
                     "reference are not in the particles%s%s%s.",
                     extra.count, extra.count ? " (" : "", extra.text, extra.count ? ")" : "", missing.count,
                     missing.count ? " (" : "", missing.text, missing.count ? ")" : "");
}

static svmp_status match_names(const svmp_particles *particles, const named_variable *a,
                               const svmp_particles *reference, const named_variable *b) {
    int same = particles->variables == reference->variables;
    for (size_t i = 0; same && i < particles->variables; i++) {
        same = strcmp(a[i].name, b[i].name) == 0;
        if (same && i > 0 && strcmp(a[i - 1].name, a[i].name) == 0)
            return svmp_fail(particles->context, SVMP_BAD_CALL, "Two variables are called '%.80s'.", a[i].name);
    }
    return same ? SVMP_OK : names_differ(particles, a, reference, b);
}

/* E[x] and E[x^2] of one variable. */
static void means(const double *x, size_t n, double *first, double *second) {
    double sum = 0, squares = 0;
    for (size_t l = 0; l < n; l++) sum += x[l], squares += x[l] * x[l];
    *first = sum / (double)n;
    *second = squares / (double)n;
}

svmp_status svmp_particles_compare(const svmp_particles *particles, const svmp_particles *reference,
                                   svmp_comparison *comparison) {
    if (particles == NULL) return SVMP_BAD_CALL;
    svmp_context *context = particles->context;
    if (reference == NULL || comparison == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_particles_compare was given no %s.",
                         reference ? "place for its result" : "reference");

    svmp_status status = SVMP_OK;
    svmp_comparison result = {0};
    named_variable *a = NULL, *b = NULL;
    size_t *x_place = NULL, *y_place = NULL, d = particles->variables;
    SVMP_CHECK(svmp_particles_by_name(particles, &a));
    SVMP_CHECK(svmp_particles_by_name(reference, &b));
    SVMP_CHECK(match_names(particles, a, reference, b));
    SVMP_CHECK(SVMP_NEW(context, x_place, d));
    SVMP_CHECK(SVMP_NEW(context, y_place, d));
    for (size_t i = 0; i < d; i++) x_place[i] = a[i].variable, y_place[i] = b[i].variable;

    sample x = {particles->count, particles->values, x_place}, y = {reference->count, reference->values, y_place};
    for (size_t i = 0; i < d; i++) {
        double x1, x2, y1, y2;
        means(x.x + x_place[i] * x.n, x.n, &x1, &x2);
        means(y.x + y_place[i] * y.n, y.n, &y1, &y2);
        result.mse_mean += (x1 - y1) * (x1 - y1) / (double)d;
        result.mse_square += (x2 - y2) * (x2 - y2) / (double)d;
    }
    SVMP_CHECK(svmp_mmd(context, d, x, y, &result.mmd));
    *comparison = result;
done:
    svmp_release(context, x_place);
    svmp_release(context, y_place);
    svmp_release(context, a);
    svmp_release(reference->context, b);
    return status;
}
