#include "model/evaluate.h"

#include <math.h>
#include <string.h>

#include "base/exact.h"
#include "base/team.h"
#include "base/thread.h"

/* Every sum has a fixed order: the log density is added up part by part, a part being some instances of one group or
 * some variables of the quadratic; how threads share the parts does not matter. */
enum { PART_LANES = 4096, PART_VARIABLES = 256 };

typedef struct part {
    size_t group, first, count; /* instances `first` ... of the group */
} part;

struct evaluator {
    const svmp_model *model;
    size_t n;
    int threads;
    part *parts; /* those that read no halo come first */
    size_t group_parts, interior_parts, variable_parts;
    double *gradient; /* the rows that svmp_model.gather_row speaks of */
    double *part_sum; /* (group_parts + variable_parts) * n: partial log densities */
    double **value;   /* thread -> log values of a part's instances, or one score row */
    void **scratch;   /* thread -> what a group's kind asks for */
    size_t failed;    /* the first part that failed in the last evaluation; SIZE_MAX: none */
};

static size_t instances_per_part(const factor_group *group, size_t n) {
    size_t count = n < PART_LANES ? PART_LANES / n : 1;
    return count < group->instances ? count : group->instances;
}

static int reads_halo(const svmp_graph *graph, const factor_group *group, size_t k) {
    for (size_t j = 0; j < group->slots; j++)
        if (group->variables[k * group->slots + j] >= graph->own_variables) return 1;
    return 0;
}

/* Adds the parts of a group whose instances read the halo, or do not. */
static svmp_status add_parts(evaluator *e, size_t g, int halo, size_t *capacity) {
    const factor_group *group = &e->model->groups[g];
    const size_t step = instances_per_part(group, e->n);
    part *last = NULL;
    for (size_t k = 0; k < group->instances; k++) {
        if (e->model->graph->halo ? reads_halo(e->model->graph, group, k) != halo : halo) {
            last = NULL;
            continue;
        }
        if (last == NULL || last->count == step) {
            SVMP_TRY(SVMP_GROW(e->model->context, e->parts, *capacity, e->group_parts + 1));
            last = &e->parts[e->group_parts++];
            *last = (part){g, k, 0};
        }
        last->count++;
    }
    return SVMP_OK;
}

static svmp_status plan_parts(evaluator *e, size_t *value_size, size_t *scratch_size) {
    const svmp_model *model = e->model;
    size_t capacity = 0;
    *value_size = e->n;
    *scratch_size = 0;
    for (size_t g = 0; g < model->group_count; g++) {
        const factor_group *group = &model->groups[g];
        size_t step = instances_per_part(group, e->n), scratch = group->kind->scratch(group, e->n);
        if (step * e->n > *value_size) *value_size = step * e->n;
        if (scratch > *scratch_size) *scratch_size = scratch;
    }
    for (size_t g = 0; g < model->group_count; g++) SVMP_TRY(add_parts(e, g, 0, &capacity));
    e->interior_parts = e->group_parts;
    for (size_t g = 0; g < model->group_count; g++) SVMP_TRY(add_parts(e, g, 1, &capacity));
    e->variable_parts = (model->graph->own_variables + PART_VARIABLES - 1) / PART_VARIABLES;
    return SVMP_OK;
}

svmp_status svmp_evaluator_create(const svmp_model *model, size_t n, int threads, evaluator **made) {
    svmp_context *context = model->context;
    svmp_status status;
    evaluator *e = NULL;
    size_t value_size, scratch_size;
    SVMP_TRY(SVMP_NEW(context, e, 1));
    *e = (evaluator){.model = model, .n = n, .threads = threads};
    SVMP_CHECK(plan_parts(e, &value_size, &scratch_size));
    SVMP_CHECK(svmp_allocate(context, model->group_row[model->group_count], n * sizeof(double), (void **)&e->gradient));
    SVMP_CHECK(svmp_allocate(context, e->group_parts + e->variable_parts, n * sizeof(double), (void **)&e->part_sum));
    SVMP_CHECK(SVMP_NEW(context, e->value, (size_t)e->threads));
    SVMP_CHECK(SVMP_NEW(context, e->scratch, (size_t)e->threads));
    for (int t = 0; t < e->threads; t++) {
        SVMP_CHECK(SVMP_NEW(context, e->value[t], value_size));
        SVMP_CHECK(svmp_allocate(context, scratch_size, 1, &e->scratch[t]));
    }
    *made = e;
    return SVMP_OK;
done:
    svmp_evaluator_free(e);
    return status;
}

void svmp_evaluator_free(evaluator *e) {
    if (e == NULL) return;
    svmp_context *context = e->model->context;
    for (int t = 0; t < e->threads; t++) {
        if (e->value) svmp_release(context, e->value[t]);
        if (e->scratch) svmp_release(context, e->scratch[t]);
    }
    svmp_release(context, e->value);
    svmp_release(context, e->scratch);
    svmp_release(context, e->parts);
    svmp_release(context, e->gradient);
    svmp_release(context, e->part_sum);
    svmp_release(context, e);
}

/* Values and gradients of the instances of a part; their values add up in part_sum. */
static int evaluate_part(evaluator *e, size_t p, const double *x, int thread) {
    const part *here = &e->parts[p];
    const factor_group *group = &e->model->groups[here->group];
    double *value = e->value[thread], *sum = e->part_sum + p * e->n;
    size_t row = e->model->group_row[here->group] + here->first * group->slots;
    int failed = group->kind->evaluate(group, here->first, here->count, e->n, x, e->scratch[thread], value,
                                       e->gradient + row * e->n);
    memset(sum, 0, e->n * sizeof *sum);
    for (size_t k = 0; k < here->count; k++)
        for (size_t l = 0; l < e->n; l++) sum[l] += value[k * e->n + l];
    return failed;
}

/* The score of a variable: the quadratic's, then the gathered rows in ascending order. On the way the quadratic's
 * share x_i (b_i + s_i) / 2 of the log density is added to sum. */
static void gather_variable(const evaluator *e, size_t i, const double *x, double *score, double *sum) {
    const svmp_model *model = e->model;
    const size_t n = e->n;
    const double b = model->quadratic.linear[i], *xi = x + i * n;
    svmp_quadratic_score(&model->quadratic, i, n, x, score);
    for (size_t l = 0; l < n; l++) sum[l] += 0.5 * xi[l] * (b + score[l]);
    for (size_t r = model->gather_start[i]; r < model->gather_start[i + 1]; r++) {
        const double *gradient = e->gradient + model->gather_row[r] * n;
        for (size_t l = 0; l < n; l++) score[l] += gradient[l];
    }
}

svmp_status svmp_evaluator_fail(const evaluator *e) {
    const part *here = &e->parts[e->failed];
    size_t factor = svmp_model_factor(e->model, here->group, here->first);
    return svmp_fail(e->model->context, SVMP_CALLBACK_FAILED, "The function of factor %zu reported failure.", factor);
}

/* Factors and scores of a span of nodes; part_sum holds the log densities of its parts. */
static int evaluate_span(evaluator *e, node_span span, const double *x, double *score) {
    const svmp_model *model = e->model;
    const svmp_graph *graph = model->graph;
    const size_t n = e->n, from = graph->first[span.first], to = graph->first[span.last];
    const size_t first_part = span.first == 0 ? 0 : e->interior_parts;
    const size_t last_part = span.last == graph->own ? e->group_parts : e->interior_parts;
    const size_t entries = model->quadratic.start[to] - model->quadratic.start[from] +
                           20 * (model->gather_start[to] - model->gather_start[from]) + to - from;
    const int threads = svmp_threads_for(e->threads, (double)n * (double)entries);
    size_t failed = SIZE_MAX; /* the first part that failed */

#pragma omp parallel num_threads(threads)
    {
        int thread = svmp_thread_number();
#pragma omp for schedule(dynamic, 4) reduction(min : failed)
        for (size_t p = first_part; p < last_part; p++)
            if (evaluate_part(e, p, x, thread) != 0 && p < failed) failed = p;

#pragma omp for schedule(static)
        for (size_t p = 0; p < (to - from + PART_VARIABLES - 1) / PART_VARIABLES; p++) {
            double *sum = e->part_sum + (e->group_parts + p) * n;
            size_t first = from + p * PART_VARIABLES, last = first + PART_VARIABLES < to ? first + PART_VARIABLES : to;
            memset(sum, 0, n * sizeof *sum);
            for (size_t i = first; i < last; i++)
                gather_variable(e, i, x, score ? score + i * n : e->value[thread], sum);
        }
    }
    e->failed = failed;
    return failed != SIZE_MAX;
}

svmp_status svmp_evaluate_span(evaluator *e, node_span span, const double *x, double *score) {
    return evaluate_span(e, span, x, score) == 0 ? SVMP_OK : svmp_evaluator_fail(e);
}

int svmp_evaluate_silently(evaluator *e, const double *x, double *log_density, double *score) {
    const svmp_model *model = e->model;
    const size_t n = e->n;
    if (evaluate_span(e, (node_span){0, model->graph->own}, x, score) != 0) return 1;
    if (log_density) {
        for (size_t l = 0; l < n; l++) log_density[l] = model->quadratic.constant;
        for (size_t p = 0; p < e->group_parts + e->variable_parts; p++)
            for (size_t l = 0; l < n; l++) log_density[l] += e->part_sum[p * n + l];
    }
    return 0;
}

svmp_status svmp_evaluate(evaluator *e, const double *x, double *log_density, double *score) {
    return svmp_evaluate_silently(e, x, log_density, score) == 0 ? SVMP_OK : svmp_evaluator_fail(e);
}

/* ---- log density, exactly summed --------------------------------------------------------------------------------- */

/* A factor of several processes counts where its first variable is. */
static int counts(const svmp_graph *graph, const factor_group *group, size_t k) {
    const uint32_t *variables = group->variables + k * group->slots;
    size_t first = 0;
    for (size_t j = 1; j < group->slots; j++)
        if (svmp_graph_whole_variable(graph, variables[j]) < svmp_graph_whole_variable(graph, variables[first]))
            first = j;
    return group->slots == 0 || variables[first] < graph->own_variables;
}

static int add_part(evaluator *e, size_t p, const double *x, int thread, exact_sum *sums) {
    const part *here = &e->parts[p];
    const factor_group *group = &e->model->groups[here->group];
    const int failed = evaluate_part(e, p, x, thread);
    for (size_t k = 0; !failed && k < here->count; k++)
        for (size_t l = 0; counts(e->model->graph, group, here->first + k) && l < e->n; l++)
            svmp_exact_add(&sums[l], e->value[thread][k * e->n + l]);
    return failed;
}

/* The quadratic's share of a variable, x_i (b_i + s_i) / 2. */
static void add_variable(evaluator *e, size_t i, const double *x, int thread, exact_sum *sums) {
    const quadratic *q = &e->model->quadratic;
    double *score = e->value[thread];
    svmp_quadratic_score(q, i, e->n, x, score);
    for (size_t l = 0; l < e->n; l++) svmp_exact_add(&sums[l], 0.5 * x[i * e->n + l] * (q->linear[i] + score[l]));
}

/* What this process has to add; room for n sums a thread, the first of which take all. Returns whether a function
 * failed. */
static int add_own(evaluator *e, const double *x, exact_sum *sums) {
    int failed = 0;
#pragma omp parallel num_threads(e->threads) reduction(| : failed)
    {
        const int thread = svmp_thread_number();
        exact_sum *mine = sums + (size_t)thread * e->n;
#pragma omp for schedule(dynamic, 4)
        for (size_t p = 0; p < e->group_parts; p++) failed |= add_part(e, p, x, thread, mine);
#pragma omp for schedule(static)
        for (size_t i = 0; i < e->model->graph->own_variables; i++) add_variable(e, i, x, thread, mine);
    }
    for (size_t k = e->n; k < (size_t)e->threads * e->n; k++) svmp_exact_merge(&sums[k % e->n], &sums[k]);
    return failed;
}

svmp_status svmp_evaluate_log_density(evaluator *e, const double *x, double *log_density, int *known) {
    svmp_context *context = e->model->context;
    const team *others = e->model->graph->halo ? context->team : NULL;
    const size_t n = e->n;
    exact_sum *sums = NULL;
    svmp_status status = SVMP_NEW(context, sums, n * (size_t)e->threads);
    SVMP_TRY(others ? svmp_team_agree(context, status) : status);
    double failed = add_own(e, x, sums);
    if (others) others->max(others, 1, &failed);
    for (size_t l = 0; l < n; l++) {
        svmp_exact_carry(&sums[l]);
        if (others) others->sum_whole(others, EXACT_DIGITS, sums[l].digit);
        if (others) others->sum(others, 1, &sums[l].beyond);
        svmp_exact_add(&sums[l], e->model->quadratic.constant);
        log_density[l] = svmp_exact_value(&sums[l]);
    }
    svmp_release(context, sums);
    *known = failed == 0;
    return SVMP_OK;
}

size_t svmp_evaluator_blame(const evaluator *e, size_t variable, size_t particle) {
    const svmp_model *model = e->model;
    for (size_t r = model->gather_start[variable]; r < model->gather_start[variable + 1]; r++) {
        size_t row = model->gather_row[r], group = 0;
        if (isfinite(e->gradient[row * e->n + particle])) continue;
        while (model->group_row[group + 1] <= row) group++;
        return svmp_model_factor(model, group, (row - model->group_row[group]) / model->groups[group].slots);
    }
    return SIZE_MAX;
}

svmp_status svmp_model_evaluate(const svmp_model *model, size_t n, const double *x, double *log_density,
                                double *score) {
    if (model == NULL) return SVMP_BAD_CALL;
    SVMP_TRY(svmp_model_require_finished(model));
    if (n == 0 || x == NULL)
        return svmp_fail(model->context, SVMP_BAD_CALL, "An evaluation needs at least one particle.");
    evaluator *e = NULL;
    SVMP_TRY(svmp_evaluator_create(model, n, svmp_context_threads(model->context), &e));
    svmp_status status = svmp_evaluate(e, x, log_density, score);
    svmp_evaluator_free(e);
    return status;
}
