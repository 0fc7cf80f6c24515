#include <math.h>
#include <string.h>

#include "base/exact_sum.h"
#include "base/peers.h"
#include "base/target_clones.h"
#include "base/threads.h"
#include "maths/weighted_rows.h"
#include "model/computed.h"
#include "model/evaluator_plan.h"

/* Weighted rows that are added at a time. */
enum { TOGETHER = 32 };

svmp_status svmp_evaluator_create(const svmp_model *model, size_t n, int threads, evaluator **made) {
    return svmp_evaluator_create_share(model, n, n, threads, made);
}

svmp_status svmp_evaluator_create_share(const svmp_model *model, size_t n, size_t whole, int threads,
                                        evaluator **made) {
    svmp_context *context = model->context;
    svmp_status status;
    evaluator *e = NULL;
    size_t rows, parts, scratch_size = 0;
    SVMP_TRY(SVMP_NEW(context, e, 1));
    *e = (evaluator){.model = model, .n = n, .whole = whole, .threads = threads};
    SVMP_CHECK(svmp_evaluator_plan(e, &rows, &parts));
    for (size_t g = 0; g < model->group_count; g++) {
        const size_t scratch = model->groups[g].kind->scratch(&model->groups[g], n);
        if (scratch > scratch_size) scratch_size = scratch;
        if (model->groups[g].slots > rows) rows = model->groups[g].slots; /* svmp_evaluator_find_failure */
    }
    SVMP_CHECK(svmp_allocate(context, rows, n * sizeof(double), (void **)&e->gradient));
    SVMP_CHECK(svmp_allocate(context, e->variable_parts + parts, n * sizeof(double), (void **)&e->part_sum));
    SVMP_CHECK(SVMP_NEW(context, e->value, (size_t)e->threads));
    SVMP_CHECK(SVMP_NEW(context, e->scratch, (size_t)e->threads));
    for (int t = 0; t < e->threads; t++) {
        SVMP_CHECK(svmp_allocate(context, svmp_instances_per_part(whole), n * sizeof(double), (void **)&e->value[t]));
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
    svmp_release(context, e->waves);
    svmp_release(context, e->shares);
    svmp_release(context, e->gradient);
    svmp_release(context, e->part_sum);
    svmp_release(context, e->own_group_row);
    svmp_release(context, e->own_row);
    svmp_release(context, e->own_weight);
    svmp_release(context, e);
}

/* ---- evaluation -------------------------------------------------------------------------------------------------- */

SVMP_CLONES static void add_row(size_t n, const double *row, double *to) {
    for (size_t l = 0; l < n; l++) to[l] += row[l];
}

/* Rows of `count` instances, and their values where `value` is not NULL or the kind cannot leave them out. */
static int evaluate_rows(const evaluator *e, const factor_group *group, size_t first, size_t count, const double *x,
                         int thread, bool valued, double *rows) {
    double *value = e->value[thread];
    return svmp_group_predictor(group)
               ? group->kind->evaluate_predicted(group, first, count, e->n, x, e->scratch[thread],
                                                 valued ? value : NULL, rows)
               : group->kind->evaluate(group, first, count, e->n, x, e->scratch[thread], value, rows);
}

/* Values and gradients of the instances of a part; the values add up in `sum`, unless it is NULL. Returns a
 * failure, or FAILURE_NONE. */
static size_t evaluate_part(evaluator *e, const part *here, const double *x, double *gradient, double *sum,
                            int thread) {
    double *value = e->value[thread];
    if (sum) memset(sum, 0, e->n * sizeof *sum);
    for (size_t g = here->group, first = here->first, left = here->count; left > 0; g++, first = 0) {
        const factor_group *group = &e->model->groups[g];
        const size_t there = group->instances - first, count = there < left ? there : left;
        if (count == 0) continue;
        const int wrong = evaluate_rows(e, group, first, count, x, thread, sum != NULL, gradient);
        if (wrong) return svmp_model_failure(e->model, g, first, wrong);
        for (size_t k = 0; sum && k < count; k++) add_row(e->n, value + k * e->n, sum);
        gradient += count * svmp_group_rows(group) * e->n;
        left -= count;
    }
    return FAILURE_NONE;
}

/* An evaluation of the factors that touch a span of own nodes, whose variables are from ... to - 1. */
typedef struct span_work {
    evaluator *e;
    const double *x;
    double *log_density, *score; /* or NULL */
    size_t from, to, parts;      /* parts: of the variables */
    int regions;
} span_work;

/* The quadratic's score of the p-th part of the variables. On the way their shares x_i (b_i + s_i) / 2 of the log
 * density are summed. */
static void score_variables(const span_work *s, size_t p, int thread) {
    const evaluator *e = s->e;
    const size_t n = e->n, first = s->from + p * PART_VARIABLES;
    const size_t last = first + PART_VARIABLES < s->to ? first + PART_VARIABLES : s->to;
    double *sum = s->log_density ? e->part_sum + p * n : NULL;
    if (sum) memset(sum, 0, n * sizeof *sum);
    for (size_t i = first; i < last; i++) {
        const double b = e->model->quadratic.linear[i], *xi = s->x + i * n;
        double *row = s->score ? s->score + i * n : e->value[thread];
        svmp_quadratic_score(&e->model->quadratic, i, n, 0, n, s->x, row);
        for (size_t l = 0; sum && l < n; l++) sum[l] += 0.5 * xi[l] * (b + row[l]);
    }
}

static double *wave_sum(const span_work *s, const wave *w, size_t p) {
    return s->e->part_sum + (s->e->variable_parts + p - w->part) * s->e->n;
}

/* The factors of part p of a wave; returns the first that failed. */
static size_t evaluate_factors(const span_work *s, const wave *w, size_t p, int thread) {
    evaluator *e = s->e;
    const part *here = &e->parts[p];
    if ((here->regions & s->regions) == 0) return FAILURE_NONE;
    return evaluate_part(e, here, s->x, e->gradient + (here->row - w->row) * e->n,
                         s->log_density ? wave_sum(s, w, p) : NULL, thread);
}

static void sum_wave(const span_work *s, const wave *w) {
    for (size_t p = w[0].part; p < w[1].part; p++) add_row(s->e->n, wave_sum(s, w, p), s->log_density);
}

/* The k-th share of a wave in the score. */
static void add_share(const span_work *s, const wave *w, size_t k) {
    const evaluator *e = s->e;
    const share *here = &e->shares[k];
    if (here->variable < s->from || here->variable >= s->to) return;
    double *to = s->score + here->variable * e->n;
    for (size_t r = here->from; r < here->to; r += TOGETHER) {
        const size_t count = here->to - r < TOGETHER ? here->to - r : TOGETHER;
        const double *row[TOGETHER];
        for (size_t i = 0; i < count; i++) row[i] = e->gradient + (e->row[r + i] - w->row) * e->n;
        if (e->weight)
            svmp_add_weighted_rows(e->n, count, row, e->weight + r, to);
        else
            for (size_t i = 0; i < count; i++) add_row(e->n, row[i], to);
    }
}

typedef struct wave_work {
    const span_work *s;
    const wave *w;
    atomic_size_t failed; /* the first factor that did */
} wave_work;

static void do_variables(void *work, size_t p) {
    const wave_work *d = work;
    score_variables(d->s, p, svmp_thread_number());
}

static void do_factors(void *work, size_t k) {
    wave_work *d = work;
    svmp_keep_least(&d->failed, evaluate_factors(d->s, d->w, d->w[0].part + k, svmp_thread_number()));
}

static void do_share(void *work, size_t k) {
    const wave_work *d = work;
    add_share(d->s, d->w, d->w[0].share + k);
}

/* Returns the first factor that failed. */
static size_t do_span(const span_work *s, int threads) {
    const evaluator *e = s->e;
    wave_work work = {s, e->waves, FAILURE_NONE};
    svmp_parallel_for(threads, s->parts, 0, do_variables, &work);
    for (; work.w < e->waves + e->wave_count; work.w++) {
        svmp_parallel_for(threads, work.w[1].part - work.w[0].part, 1, do_factors, &work);
        if (s->log_density) sum_wave(s, work.w);
        if (s->score) svmp_parallel_for(threads, work.w[1].share - work.w[0].share, 0, do_share, &work);
    }
    return work.failed;
}

svmp_status svmp_evaluator_fail(const evaluator *e) { return svmp_model_fail(e->model, e->failed); }

/* Factors that touch a span of own nodes, and the score of these. Returns whether a function failed. */
static int evaluate_span(evaluator *e, node_span span, const double *x, double *log_density, double *score) {
    const svmp_model *model = e->model;
    const svmp_graph *graph = model->graph;
    const size_t n = e->n, from = graph->first[span.first], to = graph->first[span.last];
    const int regions = (span.first == 0 ? INTERIOR : 0) | (span.last > graph->inner ? BOUNDARY : 0);
    const size_t entries = model->quadratic.start[to] - model->quadratic.start[from] +
                           20 * (model->gather_start[to] - model->gather_start[from]) + to - from;
    const int threads = svmp_threads_for(e->threads, (double)n * (double)entries);
    const size_t parts = (to - from + PART_VARIABLES - 1) / PART_VARIABLES;
    const span_work work = {e, x, log_density, score, from, to, parts, regions};
    for (size_t l = 0; log_density && l < n; l++) log_density[l] = model->quadratic.constant;
    e->failed = do_span(&work, threads);
    if (e->failed != FAILURE_NONE) return 1;
    for (size_t p = 0; log_density && p < e->variable_parts; p++) add_row(n, e->part_sum + p * n, log_density);
    return 0;
}

svmp_status svmp_evaluate_span(evaluator *e, node_span span, const double *x, double *score) {
    return evaluate_span(e, span, x, NULL, score) == 0 ? SVMP_OK : svmp_evaluator_fail(e);
}

int svmp_evaluate_silently(evaluator *e, const double *x, double *log_density, double *score) {
    return evaluate_span(e, (node_span){0, e->model->graph->moved}, x, log_density, score);
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
        if (svmp_variable_key(graph, variables[j]) < svmp_variable_key(graph, variables[first])) first = j;
    return group->slots == 0 || variables[first] < graph->moved_variables;
}

/* The log values of a part's instances. Returns whether a function failed. */
static int add_part(evaluator *e, size_t p, const double *x, double *gradient, int thread, exact_sum *sums) {
    const part *here = &e->parts[p];
    double *value = e->value[thread];
    for (size_t g = here->group, first = here->first, left = here->count; left > 0; g++, first = 0) {
        const factor_group *group = &e->model->groups[g];
        const size_t there = group->instances - first, count = there < left ? there : left;
        if (count > 0 && evaluate_rows(e, group, first, count, x, thread, true, gradient) != 0) return 1;
        for (size_t k = 0; k < count; k++)
            if (!counts(e->model->graph, group, first + k)) memset(value + k * e->n, 0, e->n * sizeof *value);
        svmp_exact_add_rows(sums, e->n, count, value);
        gradient += count * svmp_group_rows(group) * e->n;
        left -= count;
    }
    return 0;
}

/* The quadratic's share of a variable, x_i (b_i + s_i) / 2. */
static void add_variable(evaluator *e, size_t i, const double *x, int thread, exact_sum *sums) {
    const quadratic *q = &e->model->quadratic;
    double *score = e->value[thread];
    svmp_quadratic_score(q, i, e->n, 0, e->n, x, score);
    for (size_t l = 0; l < e->n; l++) svmp_exact_add(&sums[l], 0.5 * x[i * e->n + l] * (q->linear[i] + score[l]));
}

typedef struct sum_work {
    evaluator *e;
    const double *x;
    const wave *w;
    exact_sum *sums; /* n of each thread */
    atomic_bool failed;
} sum_work;

static void sum_part(void *work, size_t k) {
    sum_work *s = work;
    evaluator *e = s->e;
    const int thread = svmp_thread_number();
    const size_t p = s->w[0].part + k;
    double *gradient = e->gradient + (e->parts[p].row - s->w->row) * e->n;
    if (add_part(e, p, s->x, gradient, thread, s->sums + (size_t)thread * e->n)) s->failed = true;
}

static void sum_variable(void *work, size_t i) {
    const sum_work *s = work;
    const int thread = svmp_thread_number();
    add_variable(s->e, i, s->x, thread, s->sums + (size_t)thread * s->e->n);
}

/* What this process has to add; room for n sums a thread, the first of which take all. Returns whether a function
 * failed. */
static int add_own(evaluator *e, const double *x, exact_sum *sums) {
    sum_work work = {e, x, e->waves, sums, false};
    for (; work.w < e->waves + e->wave_count; work.w++)
        svmp_parallel_for(e->threads, work.w[1].part - work.w[0].part, 1, sum_part, &work);
    svmp_parallel_for(e->threads, e->model->graph->moved_variables, 0, sum_variable, &work);
    for (size_t k = e->n; k < (size_t)e->threads * e->n; k++) svmp_exact_merge(&sums[k % e->n], &sums[k]);
    return work.failed;
}

svmp_status svmp_evaluate_log_density(evaluator *e, const double *x, double *log_density, int *known) {
    svmp_context *context = e->model->context;
    const size_t n = e->n;
    exact_sum *all = NULL; /* how many processes failed, then the sums */
    svmp_status status = SVMP_NEW(context, all, 1 + n * (size_t)e->threads);
    SVMP_CHECK(svmp_model_agree(e->model, status));
    exact_sum *sums = all + 1;
    svmp_exact_add(all, add_own(e, x, sums));
    svmp_peers_sum_exactly(e->model->graph->peers, 1 + n, all);
    for (size_t l = 0; l < n; l++) {
        svmp_exact_add(&sums[l], e->model->quadratic.constant);
        log_density[l] = svmp_exact_value(&sums[l]);
    }
    *known = svmp_exact_value(all) == 0;
done:
    svmp_release(context, all);
    return status;
}

svmp_status svmp_evaluate_own_sums(evaluator *e, const double *x, int64_t *words, int *known) {
    exact_sum *sums = NULL;
    SVMP_TRY(SVMP_NEW(e->model->context, sums, e->n * (size_t)e->threads));
    *known = !add_own(e, x, sums);
    memcpy(words, svmp_exact_to_words(e->n, sums), e->n * sizeof *sums);
    svmp_release(e->model->context, sums);
    return SVMP_OK;
}

/* ---- blame ------------------------------------------------------------------------------------------------------- */

size_t svmp_evaluator_find_failure(evaluator *e, const double *x, size_t variable, size_t particle) {
    const svmp_model *model = e->model;
    for (size_t r = model->gather_start[variable], group = 0; r < model->gather_start[variable + 1]; r++) {
        const size_t row = model->gather_row[r];
        while (model->group_row[group + 1] <= row) group++;
        const factor_group *here = &model->groups[group];
        const size_t instance = (row - model->group_row[group]) / here->slots;
        const size_t slot = (row - model->group_row[group]) % here->slots;
        if (here->kind->evaluate(here, instance, 1, e->n, x, e->scratch[0], e->value[0], e->gradient) != 0 ||
            !isfinite(e->gradient[slot * e->n + particle]) || isnan(e->value[0][particle]))
            return svmp_model_factor(model, group, instance);
    }
    return SIZE_MAX;
}

size_t svmp_model_factor_line(const svmp_model *model, size_t factor) {
    for (size_t group = 0; group < model->group_count; group++)
        if (factor - model->group_factor[group] < model->groups[group].instances) return model->groups[group].line;
    return 0;
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

size_t svmp_evaluator_failure_line(evaluator *e, const double *x, size_t factor) {
    const svmp_model *model = e->model;
    for (size_t g = 0; g < model->group_count; g++) {
        const size_t instance = factor - model->group_factor[g];
        if (instance >= model->groups[g].instances) continue;
        const size_t line = svmp_computed_group_is(&model->groups[g])
                                ? svmp_computed_group_find_infinite(&model->groups[g], instance, x, e->scratch[0])
                                : 0;
        return line ? line : model->groups[g].line;
    }
    return 0;
}
