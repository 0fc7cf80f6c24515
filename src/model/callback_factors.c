#include "model/callback_factors.h"

#include <math.h>

typedef struct callback {
    svmp_factor_function function;
    void *user_data;
} callback;

/* A value of NaN is a mistake, unless it comes from variables that are not finite themselves: where the density is
 * zero, its logarithm is -INFINITY. Gradients are looked at by those who use them. */
static int call(const callback *self, size_t slots, size_t n, const double *const *x, double *value,
                double *const *gradient) {
    if (self->function(n, x, value, gradient, self->user_data) != 0) return FACTOR_FAILED;
    for (size_t l = 0; l < n; l++) {
        int finite = 1;
        if (!isnan(value[l])) continue;
        for (size_t j = 0; j < slots; j++) finite &= isfinite(x[j][l]) != 0;
        if (finite) return FACTOR_NAN;
    }
    return FACTOR_DONE;
}

static int evaluate(const factor_group *group, size_t first, size_t count, size_t n, const double *x, void *scratch,
                    double *value, double *gradient) {
    const callback *self = group->self;
    const double **rows = scratch;
    double **gradient_rows = (double **)(rows + group->slots);
    (void)first, (void)count; /* one instance, always */
    for (size_t j = 0; j < group->slots; j++) {
        rows[j] = x + group->variables[j] * n;
        gradient_rows[j] = gradient + j * n;
    }
    return call(self, group->slots, n, rows, value, gradient_rows);
}

/* Of one instance; values that nobody wants go into the scratch, behind the pointers. */
static int evaluate_view(const factor_group *group, const void *partial, const instance_view *view, size_t n,
                         void *scratch, double *value, double *gradient) {
    const callback *self = group->self;
    const double **rows = scratch;
    double **gradient_rows = (double **)(rows + group->slots);
    (void)partial; /* there is none */
    for (size_t j = 0; j < group->slots; j++) {
        const uint32_t i = group->variables[j];
        rows[j] = view->y && view->own[j] ? view->y + (size_t)(uint32_t)(i + view->shift[0]) * n : view->x + i * n;
        gradient_rows[j] = gradient + j * n;
    }
    if (value == NULL) value = (double *)(void *)(gradient_rows + group->slots);
    return call(self, group->slots, n, rows, value, gradient_rows);
}

static size_t view_scratch(const factor_group *group, const void *partial, size_t n) {
    (void)partial;
    return 2 * group->slots * sizeof(double *) + n * sizeof(double);
}

static size_t scratch(const factor_group *group, size_t n) {
    (void)n;
    return 2 * group->slots * sizeof(double *);
}

static size_t operations(const factor_group *group, const void *partial) {
    (void)partial;
    return group->slots; /* nobody knows */
}

static void free_callback(svmp_context *context, void *self) { svmp_release(context, self); }

static svmp_status keep(svmp_context *context, const factor_group *group, size_t count, const uint32_t *which,
                        void **self) {
    callback *made = NULL;
    (void)count, (void)which; /* the one instance */
    SVMP_TRY(SVMP_NEW(context, made, 1));
    *made = *(const callback *)group->self;
    *self = made;
    return SVMP_OK;
}

static const factor_kind kind = {.name = "callback",
                                 .evaluate = evaluate,
                                 .scratch = scratch,
                                 .free = free_callback,
                                 .keep = keep,
                                 .evaluate_view = evaluate_view,
                                 .view_scratch = view_scratch,
                                 .operations = operations};

svmp_status svmp_callback_group(svmp_context *context, size_t slots, svmp_factor_function function, void *user_data,
                                factor_group *group) {
    callback *self = NULL;
    uint32_t *variables = NULL;
    SVMP_TRY(SVMP_NEW(context, self, 1));
    svmp_status status = SVMP_NEW(context, variables, slots);
    if (status != SVMP_OK) {
        svmp_release(context, self);
        return status;
    }
    *self = (callback){function, user_data};
    *group = (factor_group){.kind = &kind, .instances = 1, .slots = slots, .variables = variables, .self = self};
    return SVMP_OK;
}
