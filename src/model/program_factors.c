#include "model/program_factors.h"

#include <string.h>

#include "expr/hessian.h"
#include "expr/linear_predictor.h"

typedef struct program_self {
    svmp_context *context;
    program *compiled;
    bound_program *bound;
    linear_predictor *predictor; /* NULL: there is none */
    uint32_t *all;               /* with a predictor: 0, 1, ... slots - 1 */
} program_self;

/* The derivatives by some slots. */
typedef struct slots_partial {
    svmp_context *context;
    program_partial *partial; /* of the program, or, with a predictor, of what is left of it */
    uint32_t *slots;
    size_t count;
} slots_partial;

/* ---- evaluating -------------------------------------------------------------------------------------------------- */

static int evaluate(const factor_group *group, size_t first, size_t count, size_t n, const double *x, void *scratch,
                    double *value, double *gradient) {
    const program_self *self = group->self;
    const predictor_work work = {group->variables, NULL, first, count, n, x, scratch};
    if (self->predictor)
        svmp_linear_predictor_gradient(self->predictor, NULL, &work, group->slots, self->all, value, gradient);
    else
        svmp_bound_evaluate(self->bound, group->variables, first, count, n, x, scratch, value, gradient);
    return 0;
}

static size_t scratch(const factor_group *group, size_t n) {
    const program_self *self = group->self;
    return self->predictor ? svmp_linear_predictor_scratch(self->predictor, NULL, n)
                           : svmp_bound_scratch(self->bound, n);
}

static const linear_predictor *predictor_of(const factor_group *group) {
    return ((const program_self *)group->self)->predictor;
}

static int evaluate_predicted(const factor_group *group, size_t first, size_t count, size_t n, const double *x,
                              void *scratch, double *value, double *derivative) {
    const predictor_work work = {group->variables, NULL, first, count, n, x, scratch};
    svmp_linear_predictor_evaluate(predictor_of(group), &work, value, derivative);
    return 0;
}

static int evaluate_view(const factor_group *group, const void *partial, const instance_view *view, size_t n,
                         void *scratch, double *value, double *gradient) {
    const program_self *self = group->self;
    const slots_partial *some = partial;
    const program_partial *code = some ? some->partial : NULL;
    const predictor_work work = {group->variables, view, 0, view->count, n, view->x, scratch};
    if (self->predictor)
        svmp_linear_predictor_gradient(self->predictor, code, &work, some ? some->count : group->slots,
                                       some ? some->slots : self->all, value, gradient);
    else
        svmp_bound_evaluate_view(self->bound, code, group->variables, view, n, scratch, value, gradient);
    return 0;
}

static size_t view_scratch(const factor_group *group, const void *partial, size_t n) {
    const program_self *self = group->self;
    const program_partial *code = partial ? ((const slots_partial *)partial)->partial : NULL;
    return self->predictor ? svmp_linear_predictor_scratch(self->predictor, code, n)
                           : svmp_bound_view_scratch(self->bound, code, n);
}

/* ---- the group --------------------------------------------------------------------------------------------------- */

static void free_self(svmp_context *context, void *pointer) {
    program_self *self = pointer;
    svmp_linear_predictor_free(self->predictor);
    svmp_release(context, self->all);
    svmp_bound_free(self->bound);
    svmp_program_free(self->compiled);
    svmp_release(context, self);
}

static size_t quadratic(const factor_group *group) {
    const program_self *self = group->self;
    if (svmp_program_degree(self->compiled) > 2) return 0;
    return svmp_program_lane_operations(self->compiled, true) + 1;
}

static svmp_status list_all(svmp_context *context, program_self *self) {
    const size_t slots = svmp_program_slots(self->compiled);
    SVMP_TRY(SVMP_NEW(context, self->all, slots));
    for (uint32_t j = 0; j < slots; j++) self->all[j] = j;
    return SVMP_OK;
}

static svmp_status keep(svmp_context *context, const factor_group *group, size_t count, const uint32_t *which,
                        void **self) {
    const program_self *whole = group->self;
    program_self *made = NULL;
    SVMP_TRY(SVMP_NEW(context, made, 1));
    *made = (program_self){.context = context, .compiled = svmp_program_share(whole->compiled)};
    svmp_status status = svmp_bound_keep(whole->bound, count, which, &made->bound);
    if (status == SVMP_OK && whole->predictor) {
        status = svmp_linear_predictor_keep(whole->predictor, count, which, &made->predictor);
        if (status == SVMP_OK) status = list_all(context, made);
    }
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

static svmp_status find_predictor(svmp_context *context, const uint32_t *variables, program_self *self) {
    SVMP_TRY(svmp_linear_predictor_find(self->bound, variables, &self->predictor));
    return self->predictor ? list_all(context, self) : SVMP_OK;
}

static void free_partial(void *pointer) {
    slots_partial *partial = pointer;
    if (partial == NULL) return;
    svmp_program_partial_free(partial->partial);
    svmp_release(partial->context, partial->slots);
    svmp_release(partial->context, partial);
}

/* The derivatives that these slots need of what a predictor leaves, in `rows`. Returns how many. */
static size_t list_rows(const linear_predictor *p, size_t count, const uint32_t *slots, uint32_t *rows) {
    size_t found = 0, place;
    bool any = false, predicted;
    for (size_t j = 0; j < count; j++) {
        svmp_linear_predictor_row(p, slots[j], &predicted, &place);
        any = any || predicted;
    }
    if (any) rows[found++] = 0;
    for (size_t j = 0; j < count; j++) {
        const size_t row = svmp_linear_predictor_row(p, slots[j], &predicted, &place);
        if (!predicted) rows[found++] = (uint32_t)row;
    }
    return found;
}

static svmp_status make_partial(const factor_group *group, size_t count, const uint32_t *slots, void **made) {
    const program_self *self = group->self;
    const linear_predictor *p = self->predictor;
    svmp_context *context = self->context;
    slots_partial *partial = NULL;
    uint32_t *rows = NULL;
    svmp_status status;
    SVMP_TRY(SVMP_NEW(context, partial, 1));
    *partial = (slots_partial){.context = context, .count = count};
    SVMP_CHECK(SVMP_NEW(context, partial->slots, count));
    SVMP_CHECK(SVMP_NEW(context, rows, count + 1));
    memcpy(partial->slots, slots, count * sizeof *slots);
    if (p)
        SVMP_CHECK(svmp_bound_partial(p->bound, list_rows(p, count, slots, rows), rows, &partial->partial));
    else
        SVMP_CHECK(svmp_bound_partial(self->bound, count, slots, &partial->partial));
    *made = partial;
    partial = NULL;
done:
    svmp_release(context, rows);
    free_partial(partial);
    return status;
}

/* Of a predictor a product and a sum, which are one, for each slot. */
static size_t operations(const factor_group *group, const void *partial) {
    const program_self *self = group->self;
    const slots_partial *some = partial;
    const bound_program *left = self->predictor ? self->predictor->bound : self->bound;
    const size_t rest = some ? svmp_program_partial_operations(some->partial, true) : svmp_bound_lane_operations(left);
    return self->predictor ? rest + self->predictor->count + (some ? some->count : group->slots) : rest;
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
                                         .operations = operations,
                                         .predictor = predictor_of,
                                         .evaluate_predicted = evaluate_predicted};

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
    *self = (program_self){.context = context, .compiled = compiled};
    SVMP_CHECK(svmp_program_bind(compiled, instances, columns, &self->bound));
    SVMP_CHECK(svmp_bound_share(self->bound, variables));
    SVMP_CHECK(find_predictor(context, variables, self));
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

void svmp_program_group_pack(packing *p, size_t variables, factor_group *group) {
    program_self *self = group->self;
    if (!p->loading && group->kind != &program_kind) {
        p->status = svmp_fail(p->context, SVMP_UNSUPPORTED,
                              "The statement on line %zu is a %s, which a part file cannot hold yet.", group->line,
                              group->kind->name);
        return;
    }
    SVMP_PACK_NEW(p, self, 1);
    if (p->status != SVMP_OK) return;
    if (p->loading) *self = (program_self){.context = p->context};
    group->kind = &program_kind;
    group->self = self;
    SVMP_PACK(p, group->line);
    svmp_program_pack(p, &self->compiled);
    if (p->status == SVMP_OK) svmp_bound_pack(p, self->compiled, &self->bound);
    if (p->status != SVMP_OK) return;
    group->slots = svmp_program_slots(self->compiled);
    group->instances = svmp_bound_instances(self->bound);
    if (group->slots > 0 && group->instances > SIZE_MAX / 8 / group->slots) svmp_pack_refuse(p, "is damaged");
    svmp_pack_indices(p, group->instances * group->slots, variables, &group->variables);
    svmp_linear_predictor_pack(p, group->instances, &self->predictor);
    if (!p->loading || p->status != SVMP_OK) return;
    p->status = svmp_bound_share(self->bound, group->variables);
    if (p->status == SVMP_OK && self->predictor) p->status = list_all(p->context, self);
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
