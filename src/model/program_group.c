#include "model/program_group.h"

#include <string.h>

#include "expr/hessian.h"

typedef struct program_self {
    program *compiled;
    bound_program *bound;
} program_self;

static int evaluate(const factor_group *group, size_t first, size_t count, size_t n, const double *x, void *scratch,
                    double *value, double *gradient) {
    const program_self *self = group->self;
    svmp_bound_evaluate(self->bound, group->variables, first, count, n, x, scratch, value, gradient);
    return 0;
}

static size_t scratch(const factor_group *group, size_t n) {
    const program_self *self = group->self;
    return svmp_bound_scratch(self->bound, n);
}

static void free_self(svmp_context *context, void *pointer) {
    program_self *self = pointer;
    svmp_bound_free(self->bound);
    svmp_program_free(self->compiled);
    svmp_release(context, self);
}

static size_t quadratic(const factor_group *group) {
    const program_self *self = group->self;
    if (svmp_program_degree(self->compiled) > 2) return 0;
    return svmp_program_lane_operations(self->compiled, true) + 1;
}

static svmp_status keep(svmp_context *context, const factor_group *group, size_t count, const uint32_t *which,
                        void **self) {
    const program_self *whole = group->self;
    program_self *made = NULL;
    SVMP_TRY(SVMP_NEW(context, made, 1));
    *made = (program_self){.compiled = svmp_program_share(whole->compiled)};
    svmp_status status = svmp_bound_keep(whole->bound, count, which, &made->bound);
    if (status == SVMP_OK)
        *self = made;
    else
        free_self(context, made);
    return status;
}

static svmp_status second(const factor_group *group, hessian **made) {
    const program_self *self = group->self;
    return svmp_hessian_create(self->bound, made);
}

static const factor_kind program_kind = {"program", evaluate, scratch, free_self, quadratic, 1, keep, second};

svmp_status svmp_program_group_create(svmp_context *context, program *compiled, size_t instances,
                                      const uint32_t *variables, const double *const *columns, factor_group *group) {
    svmp_status status = SVMP_OK;
    size_t slots = svmp_program_slots(compiled);
    uint32_t *copy = NULL;
    program_self *self;
    status = SVMP_NEW(context, self, 1);
    if (status != SVMP_OK) {
        svmp_program_free(compiled);
        return status;
    }
    *self = (program_self){.compiled = compiled};
    SVMP_CHECK(svmp_program_bind(compiled, instances, columns, &self->bound));
    SVMP_CHECK(SVMP_NEW(context, copy, instances * slots));
    if (instances * slots > 0) memcpy(copy, variables, instances * slots * sizeof *copy);
    *group =
        (factor_group){.kind = &program_kind, .instances = instances, .slots = slots, .variables = copy, .self = self};
    return SVMP_OK;
done:
    svmp_release(context, copy);
    free_self(context, self);
    return status;
}
