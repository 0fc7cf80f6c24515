#include "model/callback_factors.h"

#include <math.h>
#include <string.h>

typedef struct callback {
    svmp_factor_function function;
    void *user_data;
    size_t count, values; /* of nodes, and of what the function reads */
    struct callback_node *nodes;
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

/* ---- nodes with a support ---- */

static size_t values_of(const struct callback_node *node) {
    return node->support ? node->support->values : node->variables;
}

/* Numbers of one particle: variables and values of a node, their gradients, and what a support needs. */
static size_t particle_numbers(const callback *self) {
    size_t most = 0;
    for (size_t v = 0; v < self->count; v++) {
        const struct callback_node *node = &self->nodes[v];
        const size_t work = node->support ? svmp_support_workspace(node->support) : 0;
        const size_t numbers = 2 * node->variables + 2 * values_of(node) + work;
        if (numbers > most) most = numbers;
    }
    return most;
}

static size_t supported_scratch(const callback *self, size_t n) {
    if (self->nodes == NULL) return 0;
    return 2 * self->values * (sizeof(double *) + n * sizeof(double)) + particle_numbers(self) * sizeof(double);
}

/* Rows of values, and of gradients by them. */
typedef struct value_rows {
    const double **x;
    double **gradient, *particle;
} value_rows;

static value_rows rows_in(const callback *self, size_t n, void *scratch) {
    const value_rows rows = {scratch, (double **)scratch + self->values,
                             (double *)(void *)((double **)scratch + 2 * self->values) + 2 * self->values * n};
    double *numbers = (double *)(void *)((double **)scratch + 2 * self->values);
    for (size_t k = 0; k < self->values; k++) {
        rows.x[k] = numbers + k * n;
        rows.gradient[k] = numbers + (self->values + k) * n;
    }
    return rows;
}

static void find_values(const callback *self, size_t n, const double *const *u, const value_rows *rows) {
    size_t variable = 0, value = 0;
    for (size_t v = 0; v < self->count; v++) {
        const struct callback_node *node = &self->nodes[v];
        double *one = rows->particle, *made = one + node->variables, *work = made + values_of(node);
        for (size_t l = 0; l < n; l++) {
            for (size_t k = 0; k < node->variables; k++) one[k] = u[variable + k][l];
            if (node->support)
                svmp_support_values(node->support, one, made, work);
            else
                memcpy(made, one, node->variables * sizeof *made);
            for (size_t k = 0; k < values_of(node); k++) ((double *)(uintptr_t)rows->x[value + k])[l] = made[k];
        }
        variable += node->variables;
        value += values_of(node);
    }
}

static void pull_gradient(const callback *self, size_t n, const double *const *u, const value_rows *rows,
                          double *const *gradient) {
    size_t variable = 0, value = 0;
    for (size_t v = 0; v < self->count; v++) {
        const struct callback_node *node = &self->nodes[v];
        const size_t values = values_of(node);
        double *one = rows->particle, *by_u = one + node->variables, *x = by_u + node->variables, *by_x = x + values;
        for (size_t l = 0; l < n; l++) {
            for (size_t k = 0; k < values; k++) x[k] = rows->x[value + k][l], by_x[k] = rows->gradient[value + k][l];
            for (size_t k = 0; k < node->variables; k++) one[k] = u[variable + k][l];
            if (node->support)
                svmp_support_pull(node->support, one, x, by_x, by_u, by_x + values);
            else
                memcpy(by_u, by_x, values * sizeof *by_u);
            for (size_t k = 0; k < node->variables; k++) gradient[variable + k][l] = by_u[k];
        }
        variable += node->variables;
        value += values;
    }
}

/* log |dx/du| of the one node. */
static int call_jacobian(const callback *self, size_t n, const double *const *u, double *value, double *const *gradient,
                         double *one) {
    const size_t variables = self->nodes[0].variables;
    for (size_t l = 0; l < n; l++) {
        for (size_t k = 0; k < variables; k++) one[k] = u[k][l];
        value[l] = svmp_support_jacobian(self->nodes[0].support, one, one + variables);
        for (size_t k = 0; k < variables; k++) gradient[k][l] = one[variables + k];
    }
    return FACTOR_DONE;
}

static int call_any(const callback *self, size_t slots, size_t n, const double *const *x, double *value,
                    double *const *gradient, void *scratch) {
    if (self->nodes == NULL) return call(self, slots, n, x, value, gradient);
    const value_rows rows = rows_in(self, n, scratch);
    if (self->function == NULL) return call_jacobian(self, n, x, value, gradient, rows.particle);
    find_values(self, n, x, &rows);
    const int wrong = call(self, self->values, n, rows.x, value, rows.gradient);
    if (wrong == FACTOR_DONE) pull_gradient(self, n, x, &rows, gradient);
    return wrong;
}

/* ---- the group ---- */

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
    return call_any(self, group->slots, n, rows, value, gradient_rows, gradient_rows + group->slots);
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
    double *unused = (double *)(void *)(gradient_rows + group->slots);
    return call_any(self, group->slots, n, rows, value ? value : unused, gradient_rows, unused + n);
}

static size_t view_scratch(const factor_group *group, const void *partial, size_t n) {
    (void)partial;
    return 2 * group->slots * sizeof(double *) + n * sizeof(double) + supported_scratch(group->self, n);
}

static size_t scratch(const factor_group *group, size_t n) {
    return 2 * group->slots * sizeof(double *) + supported_scratch(group->self, n);
}

static size_t operations(const factor_group *group, const void *partial) {
    (void)partial;
    return group->slots; /* nobody knows */
}

static void free_callback(svmp_context *context, void *self) {
    svmp_release(context, ((callback *)self)->nodes);
    svmp_release(context, self);
}

static svmp_status copy_callback(svmp_context *context, const callback *from, void **self) {
    callback *made = NULL;
    SVMP_TRY(SVMP_NEW(context, made, 1));
    *made = *from;
    made->nodes = NULL;
    if (from->nodes) {
        const svmp_status status = SVMP_NEW(context, made->nodes, from->count);
        if (status != SVMP_OK) return svmp_release(context, made), status;
        memcpy(made->nodes, from->nodes, from->count * sizeof *made->nodes);
    }
    *self = made;
    return SVMP_OK;
}

static svmp_status keep(svmp_context *context, const factor_group *group, size_t count, const uint32_t *which,
                        void **self) {
    (void)count, (void)which; /* the one instance */
    return copy_callback(context, group->self, self);
}

static const factor_kind kind = {.name = "callback",
                                 .evaluate = evaluate,
                                 .scratch = scratch,
                                 .free = free_callback,
                                 .keep = keep,
                                 .evaluate_view = evaluate_view,
                                 .view_scratch = view_scratch,
                                 .operations = operations};

svmp_status svmp_callback_group(svmp_context *context, size_t slots, const callback_scope *scope,
                                svmp_factor_function function, void *user_data, factor_group *group) {
    callback given = {.function = function, .user_data = user_data};
    void *self = NULL;
    uint32_t *variables = NULL;
    if (scope) {
        given.count = scope->count;
        given.nodes = scope->nodes;
        for (size_t v = 0; v < scope->count; v++) given.values += values_of(&scope->nodes[v]);
    }
    SVMP_TRY(copy_callback(context, &given, &self));
    svmp_status status = SVMP_NEW(context, variables, slots);
    if (status != SVMP_OK) {
        free_callback(context, self);
        return status;
    }
    *group = (factor_group){.kind = &kind, .instances = 1, .slots = slots, .variables = variables, .self = self};
    return SVMP_OK;
}
