#include "model/gaussian_factors.h"

#include <math.h>
#include <string.h>

#include "base/exact_sum.h"
#include "base/peers.h"

enum { MOST_SLOTS = 2000, GRADIENTS = 1 << 15 };

/* The gradient is b - Ax. So far out that b is rounding; a power of two, so that it leaves the digits of A alone. */
static const double far = 0x1p100;

bool svmp_gaussian_group_is(const factor_group *group) {
    return group->slots > 0 && group->slots <= MOST_SLOTS && group->kind->quadratic &&
           group->kind->quadratic(group) > 0;
}

/* Whether instance k and the next one are neighbours in the whole group, and of the same variables. */
static bool is_run(const factor_group *group, size_t k) {
    const uint32_t *variables = group->variables + k * group->slots;
    return k + 1 < group->instances && (group->origin == NULL || group->origin[k] + 1 == group->origin[k + 1]) &&
           memcmp(variables, variables + group->slots, group->slots * sizeof *variables) == 0;
}

bool svmp_gaussian_group_is_cheaper(const factor_group *group) {
    const size_t instances = group->whole.instances ? group->whole.instances : group->instances;
    const double operations = (double)group->kind->quadratic(group) * (double)instances;
    double runs = (double)group->whole.runs;
    for (size_t k = 0; group->whole.instances == 0 && k < instances; k++) runs += !is_run(group, k);
    return runs * (double)group->slots * (double)group->slots <= 2 * operations;
}

/* Gradients at 0, far * e_0, -far * e_0, far * e_1, ... for some instances at a time, and what they add up to. */
typedef struct probe {
    const factor_group *group;
    size_t slots, points, together;
    factor_group view; /* the group, slot j reading variable j */
    double *x, *value, *gradient;
    void *scratch;
    double *A;          /* slots * slots: of instances that share their variables */
    double *linear;     /* of all variables */
    exact_sum constant; /* over all processes, in any order */
} probe;

static void release(svmp_context *context, probe *p) {
    void *owned[] = {p->view.variables, p->x, p->value, p->gradient, p->scratch, p->A};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) svmp_release(context, owned[k]);
}

static svmp_status prepare(svmp_context *context, const factor_group *group, probe *p) {
    const size_t slots = group->slots, points = 2 * slots + 1, fit = GRADIENTS / (slots * points);
    p->group = group;
    p->slots = slots;
    p->points = points;
    p->together = fit > group->instances ? group->instances : fit > 0 ? fit : 1;
    p->view = *group;
    p->view.variables = NULL;
    SVMP_TRY(SVMP_NEW(context, p->view.variables, group->instances * slots));
    for (size_t k = 0; k < group->instances * slots; k++) p->view.variables[k] = (uint32_t)(k % slots);
    SVMP_TRY(SVMP_NEW(context, p->x, slots * points));
    for (size_t j = 0; j < slots; j++) {
        p->x[j * points + 1 + 2 * j] = far;
        p->x[j * points + 2 + 2 * j] = -far;
    }
    SVMP_TRY(SVMP_NEW(context, p->value, p->together * points));
    SVMP_TRY(SVMP_NEW(context, p->gradient, p->together * slots * points));
    SVMP_TRY(svmp_allocate(context, group->kind->scratch(group, points), 1, &p->scratch));
    return SVMP_NEW(context, p->A, slots * slots);
}

/* The coefficients of one instance, from the gradients at all points. Returns whether they are finite. */
static bool add_instance(probe *p, size_t k, const double *value, const double *gradient) {
    const uint32_t *variables = p->group->variables + k * p->slots;
    double sum = value[0];
    for (size_t i = 0; i < p->slots; i++) {
        const double *g = gradient + i * p->points;
        p->linear[variables[i]] += g[0];
        sum += g[0];
        for (size_t j = 0; j < p->slots; j++) {
            const double a = (g[2 + 2 * j] - g[1 + 2 * j]) / (2 * far);
            p->A[i * p->slots + j] += 0.5 * a; /* rounding may leave A_ij != A_ji */
            p->A[j * p->slots + i] += 0.5 * a;
            sum += a;
        }
    }
    if (p->group->whole.elsewhere == NULL || !p->group->whole.elsewhere[k]) svmp_exact_add(&p->constant, value[0]);
    return isfinite(sum);
}

static svmp_status flush(svmp_context *context, probe *p, const uint32_t *variables, quadratic *q) {
    for (size_t i = 0; i < p->slots; i++)
        for (size_t j = 0; j < p->slots; j++) {
            const double a = p->A[i * p->slots + j];
            if (a != 0) SVMP_TRY(svmp_quadratic_add(context, q, variables[i], variables[j], a));
        }
    memset(p->A, 0, p->slots * p->slots * sizeof *p->A);
    return SVMP_OK;
}

static svmp_status add_all(svmp_context *context, probe *p, quadratic *q, bool *finite) {
    const factor_group *group = p->group;
    const size_t slots = p->slots;
    for (size_t first = 0; first < group->instances; first += p->together) {
        const size_t left = group->instances - first, count = left < p->together ? left : p->together;
        *finite =
            group->kind->evaluate(&p->view, first, count, p->points, p->x, p->scratch, p->value, p->gradient) == 0;
        for (size_t k = first; *finite && k < first + count; k++) {
            *finite =
                add_instance(p, k, p->value + (k - first) * p->points, p->gradient + (k - first) * slots * p->points);
            if (!is_run(group, k)) SVMP_TRY(flush(context, p, group->variables + k * slots, q));
        }
        if (!*finite) return SVMP_OK;
    }
    return SVMP_OK;
}

/* What all processes have of a fragment's group: none adds it unless all do. */
static svmp_status add_up(svmp_context *context, svmp_status status, probe *p, bool *finite) {
    const svmp_peers *t = context->peers;
    double wrong = !*finite;
    SVMP_TRY(svmp_agree(context, context->peers, status));
    t->max(t, 1, &wrong);
    *finite = wrong == 0;
    svmp_peers_sum_exactly(t, 1, &p->constant);
    return SVMP_OK;
}

svmp_status svmp_gaussian_group_add(svmp_model *model, const factor_group *group, double *linear, bool *added) {
    svmp_context *context = model->context;
    const size_t before = model->quadratic.count;
    quadratic *q = &model->quadratic;
    probe p = {.linear = linear};
    *added = true;
    svmp_status status = prepare(context, group, &p);
    if (status == SVMP_OK) status = add_all(context, &p, q, added);
    if (model->fragment) status = add_up(context, status, &p, added);
    if (status == SVMP_OK && *added) {
        for (size_t k = 0; k < group->instances * group->slots; k++) {
            q->linear[group->variables[k]] += linear[group->variables[k]];
            linear[group->variables[k]] = 0; /* once each */
        }
        q->constant += svmp_exact_value(&p.constant);
    } else {
        for (size_t k = 0; k < group->instances * group->slots; k++) linear[group->variables[k]] = 0;
        q->count = before;
        *added = false;
    }
    release(context, &p);
    return status;
}
