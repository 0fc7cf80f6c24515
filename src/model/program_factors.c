#include "model/program_factors.h"

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

static int evaluate_view(const factor_group *group, const void *partial, const instance_view *view, size_t n,
                         void *scratch, double *value, double *gradient) {
    const program_self *self = group->self;
    svmp_bound_evaluate_view(self->bound, partial, group->variables, view, n, scratch, value, gradient);
    return 0;
}

static size_t view_scratch(const factor_group *group, const void *partial, size_t n) {
    const program_self *self = group->self;
    return svmp_bound_view_scratch(self->bound, partial, n);
}

static svmp_status make_partial(const factor_group *group, size_t count, const uint32_t *slots, void **made) {
    const program_self *self = group->self;
    program_partial *partial = NULL;
    SVMP_TRY(svmp_bound_partial(self->bound, count, slots, &partial));
    *made = partial;
    return SVMP_OK;
}

static void free_partial(void *partial) { svmp_program_partial_free(partial); }

static size_t operations(const factor_group *group, const void *partial) {
    const program_self *self = group->self;
    return partial ? svmp_program_partial_operations(partial, true) : svmp_bound_lane_operations(self->bound);
}

static const factor_kind program_kind = {.name = "program",
                                         .evaluate = evaluate,
                                         .scratch = scratch,
                                         .free = free_self,
                                         .quadratic = quadratic,
                                         .values_alone = 1,
                                         .keep = keep,
                                         .hessian = second,
                                         .evaluate_view = evaluate_view,
                                         .view_scratch = view_scratch,
                                         .partial = make_partial,
                                         .free_partial = free_partial,
                                         .operations = operations};

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
    SVMP_CHECK(svmp_bound_share(self->bound, variables));
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

const bound_program *svmp_program_group_bound(const factor_group *group) {
    return group->kind == &program_kind ? ((const program_self *)group->self)->bound : NULL;
}

int svmp_program_group_degree(const factor_group *group) {
    return group->kind == &program_kind ? svmp_program_degree(((const program_self *)group->self)->compiled)
                                        : POLYNOMIAL_MANY;
}

svmp_status svmp_program_group_discontinuities(const factor_group *group, bool *slots, bool *any) {
    *any = false;
    return group->kind == &program_kind
               ? svmp_program_discontinuities(((const program_self *)group->self)->compiled, slots, any)
               : SVMP_OK;
}
