#include "model/dense_normal_factors.h"

#include <string.h>

#include "maths/dense_normal.h"

typedef struct dense_self {
    dense_normal shape;
    double *numbers; /* instance by instance */
} dense_self;

/* Of eight particles: what the density reads, its values, its derivatives, and what it works with. */
typedef struct dense_work {
    double *item, *value, *slope, *d, *rest;
} dense_work;

static size_t work_numbers(size_t p) {
    const size_t sources = svmp_dense_normal_sources(p);
    return (sources + 1 + sources + p) * DENSE_LANES + svmp_dense_normal_workspace(p);
}

static dense_work work_in(size_t p, void *scratch) {
    const size_t sources = svmp_dense_normal_sources(p);
    dense_work w = {.item = scratch};
    w.value = w.item + sources * DENSE_LANES;
    w.slope = w.value + DENSE_LANES;
    w.d = w.slope + sources * DENSE_LANES;
    w.rest = w.d + p * DENSE_LANES;
    return w;
}

static const double *row_of(const instance_view *view, const double *x, uint32_t variable, size_t slot, size_t n) {
    if (view && view->y && view->own[slot]) return view->y + (size_t)(uint32_t)(variable + view->shift[0]) * n;
    return x + variable * n;
}

/* Particles l, l + 1, ...; behind the last one it is repeated. */
static void gather(const dense_self *self, size_t instance, const uint32_t *variables, const instance_view *view,
                   size_t n, const double *x, size_t l, const dense_work *w) {
    const size_t p = self->shape.p, sources = svmp_dense_normal_sources(p);
    const double *numbers = self->numbers + instance * self->shape.numbers;
    for (size_t k = 0; k < sources; k++) {
        const uint32_t source = self->shape.source[k];
        double *item = w->item + k * DENSE_LANES;
        if (source >= DENSE_NUMBER) {
            for (size_t lane = 0; lane < DENSE_LANES; lane++) item[lane] = numbers[source - DENSE_NUMBER];
            continue;
        }
        const double *row = row_of(view, x, variables[source], source, n);
        for (size_t lane = 0; lane < DENSE_LANES; lane++) item[lane] = row[l + lane < n ? l + lane : n - 1];
    }
    for (size_t k = 0; k < p * DENSE_LANES; k++) w->d[k] = w->item[k] - w->item[p * DENSE_LANES + k];
}

/* d = value - mean; the derivatives by d are the first p, those by the matrix follow. */
static void scatter(const dense_self *self, size_t n, size_t l, const dense_work *w, double *gradient) {
    const size_t p = self->shape.p, sources = svmp_dense_normal_sources(p),
                 lanes = n - l < DENSE_LANES ? n - l : DENSE_LANES;
    for (size_t k = 0; k < sources; k++) {
        const uint32_t source = self->shape.source[k];
        const double *slope = w->slope + (k < p ? k : k - p) * DENSE_LANES, sign = k >= p && k < 2 * p ? -1 : 1;
        for (size_t lane = 0; source < DENSE_NUMBER && lane < lanes; lane++)
            gradient[source * n + l + lane] += sign * slope[lane];
    }
}

static void evaluate_one(const factor_group *group, size_t instance, const instance_view *view, size_t n,
                         const double *x, void *scratch, double *value, double *gradient) {
    const dense_self *self = group->self;
    const size_t p = self->shape.p;
    const uint32_t *variables = group->variables + instance * group->slots;
    const dense_work w = work_in(p, scratch);
    if (gradient) memset(gradient, 0, group->slots * n * sizeof *gradient);
    for (size_t l = 0; l < n; l += DENSE_LANES) {
        gather(self, instance, variables, view, n, x, l, &w);
        svmp_dense_normal(p, self->shape.precision, w.d, w.item + 2 * p * DENSE_LANES, w.rest, w.value,
                          gradient ? w.slope : NULL);
        for (size_t lane = 0; value && lane < DENSE_LANES && l + lane < n; lane++) value[l + lane] = w.value[lane];
        if (gradient) scatter(self, n, l, &w, gradient);
    }
}

static int evaluate(const factor_group *group, size_t first, size_t count, size_t n, const double *x, void *scratch,
                    double *value, double *gradient) {
    for (size_t k = 0; k < count; k++)
        evaluate_one(group, first + k, NULL, n, x, scratch, value ? value + k * n : NULL,
                     gradient ? gradient + k * group->slots * n : NULL);
    return FACTOR_DONE;
}

/* Without partials a view has one instance. */
static int evaluate_view(const factor_group *group, const void *partial, const instance_view *view, size_t n,
                         void *scratch, double *value, double *gradient) {
    (void)partial;
    evaluate_one(group, view->instance[0], view, n, view->x, scratch, value, gradient);
    return FACTOR_DONE;
}

static size_t scratch(const factor_group *group, size_t n) {
    (void)n;
    return work_numbers(((const dense_self *)group->self)->shape.p) * sizeof(double);
}

static size_t view_scratch(const factor_group *group, const void *partial, size_t n) {
    (void)partial;
    return scratch(group, n);
}

/* The factor, its inverse and the inverse of the matrix take p^3 / 6 products each. */
static size_t operations(const factor_group *group, const void *partial) {
    const size_t p = ((const dense_self *)group->self)->shape.p;
    (void)partial;
    return p * p * p / 2 + 4 * p * p;
}

static void free_self(svmp_context *context, void *pointer) {
    dense_self *self = pointer;
    svmp_release(context, self->shape.source);
    svmp_release(context, self->numbers);
    svmp_release(context, self);
}

static svmp_status make_self(svmp_context *context, const dense_normal *shape, size_t instances, dense_self **made) {
    const size_t sources = svmp_dense_normal_sources(shape->p);
    dense_self *self = NULL;
    svmp_status status;
    SVMP_TRY(SVMP_NEW(context, self, 1));
    *self = (dense_self){.shape = *shape};
    self->shape.source = NULL;
    SVMP_CHECK(SVMP_NEW(context, self->shape.source, sources));
    SVMP_CHECK(SVMP_NEW(context, self->numbers, instances * shape->numbers));
    memcpy(self->shape.source, shape->source, sources * sizeof *shape->source);
    *made = self;
    return SVMP_OK;
done:
    free_self(context, self);
    return status;
}

static svmp_status keep(svmp_context *context, const factor_group *group, size_t count, const uint32_t *which,
                        void **self) {
    const dense_self *from = group->self;
    const size_t numbers = from->shape.numbers;
    dense_self *made = NULL;
    SVMP_TRY(make_self(context, &from->shape, count, &made));
    for (size_t k = 0; numbers > 0 && k < count; k++)
        memcpy(made->numbers + k * numbers, from->numbers + which[k] * numbers, numbers * sizeof *made->numbers);
    *self = made;
    return SVMP_OK;
}

static const factor_kind dense_kind = {.name = "multivariate normal density",
                                       .evaluate = evaluate,
                                       .scratch = scratch,
                                       .free = free_self,
                                       .values_alone = 1,
                                       .keep = keep,
                                       .evaluate_view = evaluate_view,
                                       .view_scratch = view_scratch,
                                       .operations = operations};

svmp_status svmp_dense_normal_group(svmp_context *context, const dense_normal *shape, size_t instances,
                                    const uint32_t *variables, const double *numbers, factor_group *group) {
    dense_self *self = NULL;
    uint32_t *copy = NULL;
    SVMP_TRY(SVMP_NEW(context, copy, instances * shape->slots));
    const svmp_status status = make_self(context, shape, instances, &self);
    if (status != SVMP_OK) {
        svmp_release(context, copy);
        return status;
    }
    if (instances * shape->slots > 0) memcpy(copy, variables, instances * shape->slots * sizeof *copy);
    if (instances * shape->numbers > 0) memcpy(self->numbers, numbers, instances * shape->numbers * sizeof *numbers);
    *group = (factor_group){
        .kind = &dense_kind, .instances = instances, .slots = shape->slots, .variables = copy, .self = self};
    return SVMP_OK;
}
