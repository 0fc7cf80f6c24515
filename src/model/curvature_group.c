#include "model/curvature_group.h"

#include <math.h>
#include <string.h>

#include "expr/hessian.h"
#include "model/computed.h"

/* By differences, an instance with so many slots is expensive; then so many particles stand for all. */
enum { MANY_SLOTS = 64, SOME = 8 };

/* Keeps the pairs of slots that some factor inside of a computed group's instance has both of. */
static svmp_status drop_pairs(svmp_context *context, const factor_group *factors, curvature_group *made) {
    const size_t slots = factors->slots, pairs = made->pairs;
    index_lists scopes = {0};
    size_t count = 0;
    bool *joined = NULL;
    svmp_status status;
    SVMP_CHECK(svmp_computed_group_scopes(factors, 0, &count, &scopes));
    SVMP_CHECK(SVMP_NEW(context, joined, slots * slots));
    for (size_t f = 0; f < count; f++)
        for (size_t i = scopes.start[f]; i < scopes.start[f + 1]; i++)
            for (size_t j = scopes.start[f]; j <= i; j++) joined[scopes.item[i] * slots + scopes.item[j]] = true;
    made->pairs = 0;
    for (size_t p = 0; p < pairs; p++) {
        if (!joined[made->all_row[p] * slots + made->all_column[p]]) continue;
        made->all_row[made->pairs] = made->all_row[p];
        made->all_column[made->pairs++] = made->all_column[p];
    }
done:
    svmp_lists_free(context, &scopes);
    svmp_release(context, joined);
    return status;
}

svmp_status svmp_curvature_group_create(svmp_context *context, const factor_group *factors, curvature_group *made) {
    const size_t slots = factors->slots;
    svmp_status status;
    *made = (curvature_group){.factors = factors};
    if (factors->kind->hessian) {
        SVMP_TRY(factors->kind->hessian(factors, &made->exact));
        made->pairs = svmp_hessian_pairs(made->exact, &made->row, &made->column);
        return SVMP_OK;
    }
    made->view = *factors;
    made->view.variables = NULL;
    SVMP_CHECK(SVMP_NEW(context, made->view.variables, factors->instances * slots));
    SVMP_CHECK(SVMP_NEW(context, made->all_row, slots * (slots + 1) / 2));
    SVMP_CHECK(SVMP_NEW(context, made->all_column, slots * (slots + 1) / 2));
    for (size_t k = 0; k < factors->instances * slots; k++) made->view.variables[k] = (uint32_t)(k % slots);
    for (size_t b = 0; b < slots; b++)
        for (size_t a = b; a < slots; a++) {
            made->all_row[made->pairs] = (uint32_t)a;
            made->all_column[made->pairs++] = (uint32_t)b;
        }
    made->row = made->all_row;
    made->column = made->all_column;
    if (svmp_computed_group_is(factors) && factors->instances == 1) SVMP_CHECK(drop_pairs(context, factors, made));
    return SVMP_OK;
done:
    svmp_curvature_group_free(context, made);
    return status;
}

void svmp_curvature_group_free(svmp_context *context, curvature_group *group) {
    svmp_hessian_free(group->exact);
    svmp_release(context, group->all_row);
    svmp_release(context, group->all_column);
    svmp_release(context, group->view.variables);
    *group = (curvature_group){0};
}

bool svmp_curvature_group_is_expensive(const curvature_group *group) {
    return !group->exact && group->factors->slots > MANY_SLOTS;
}

/* Each slot takes two evaluations of the whole instance. Of one with many slots, some of the particles stand for all.
 */
static size_t count_measured(const curvature_group *group, size_t n) {
    return svmp_curvature_group_is_expensive(group) && n > SOME ? SOME : n;
}

/* Of differences: the instance's own x, two gradients, the second derivatives of its pairs from both sides, values. */
static size_t difference_numbers(const curvature_group *group, size_t n) {
    const size_t slots = group->factors->slots;
    return 3 * slots * n + slots * slots + n;
}

size_t svmp_curvature_group_scratch(const curvature_group *group, size_t n, size_t instances) {
    const factor_group *factors = group->factors;
    const size_t means = instances * group->pairs * sizeof(double);
    if (group->exact) return means + svmp_hessian_scratch(group->exact, n);
    const size_t some = count_measured(group, n);
    return means + difference_numbers(group, some) * sizeof(double) + factors->kind->scratch(factors, some);
}

/* How far a variable at `at` is moved. */
static double step(double at, double width) { return width > 0 ? width * 0x1p-10 : 1e-5 * fmax(1, fabs(at)); }

/* One instance: a column of its Hessian for each slot that is moved up and down, then the mean of both halves. */
static int mean_by_differences(const curvature_group *group, size_t k, size_t all, const double *x, const double *width,
                               double *scratch, double *mean) {
    const factor_group *view = &group->view;
    const size_t slots = view->slots, n = count_measured(group, all);
    const uint32_t *variables = group->factors->variables + k * slots;
    double *own = scratch, *up = own + slots * n, *down = up + slots * n, *whole = down + slots * n;
    double *value = whole + slots * slots;
    void *rest = value + n;
    for (size_t j = 0; j < slots; j++) memcpy(own + j * n, x + variables[j] * all, n * sizeof *own);
    for (size_t b = 0; b < slots; b++) {
        const double *at = x + variables[b] * all, unit = width ? width[variables[b]] : 0;
        double *moved = own + b * n;
        for (size_t l = 0; l < n; l++) moved[l] = at[l] + step(at[l], unit);
        int wrong = view->kind->evaluate(view, k, 1, n, own, rest, value, up);
        if (wrong) return wrong;
        for (size_t l = 0; l < n; l++) moved[l] = at[l] - step(at[l], unit);
        wrong = view->kind->evaluate(view, k, 1, n, own, rest, value, down);
        if (wrong) return wrong;
        for (size_t a = 0; a < slots; a++) {
            double sum = 0;
            for (size_t l = 0; l < n; l++)
                sum += (up[a * n + l] - down[a * n + l]) / (at[l] + step(at[l], unit) - moved[l]);
            whole[a * slots + b] = sum / (double)n;
        }
        memcpy(moved, at, n * sizeof *moved);
    }
    for (size_t p = 0; p < group->pairs; p++) {
        const size_t a = group->row[p], b = group->column[p];
        mean[p] = 0.5 * (whole[a * slots + b] + whole[b * slots + a]);
    }
    return 0;
}

int svmp_curvature_group_mean(const curvature_group *group, size_t first, size_t count, size_t n, const double *x,
                              const double *width, void *scratch, double *mean) {
    if (group->exact) {
        svmp_hessian_mean(group->exact, group->factors->variables, first, count, n, x, scratch, mean);
        return 0;
    }
    for (size_t k = 0; k < count; k++) {
        const int wrong = mean_by_differences(group, first + k, n, x, width, scratch, mean + k * group->pairs);
        if (wrong) return wrong;
    }
    return 0;
}
