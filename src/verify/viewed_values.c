#include "verify/viewed_values.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/row_sums.h"
#include "base/threads.h"
#include "model/natural_values.h"
#include "model/text_model.h"
#include "verify/verdict_constants.h"
#include "verify/verdict_inside.h"

struct views {
    const svmp_model *model;
    size_t variables, n;
    int threads;
    text_scale *text;
    size_t *of;        /* row of text -> its variable */
    size_t *output;    /* natural value -> output */
    size_t naturals;   /* their number */
    double *natural;   /* outputs * n: workspace; NULL if there are none */
    size_t sums;       /* their number */
    double *shares;    /* sums * variables: w, of length 1 */
    double *mean, *sd; /* variables: of q */
};

/* ---- weights ----------------------------------------------------------------------------------------------------- */

/* Orthonormalises the columns of x[i*count + k]. Returns 0 if one of them depends on earlier ones. */
static int orthonormalise(size_t variables, size_t count, double *x) {
    for (size_t k = 0; k < count; k++) {
        double square = 0, before = 0;
        for (size_t i = 0; i < variables; i++) before += x[i * count + k] * x[i * count + k];
        for (size_t j = 0; j < k; j++) {
            double product = 0;
            for (size_t i = 0; i < variables; i++) product += x[i * count + j] * x[i * count + k];
            for (size_t i = 0; i < variables; i++) x[i * count + k] -= product * x[i * count + j];
        }
        for (size_t i = 0; i < variables; i++) square += x[i * count + k] * x[i * count + k];
        if (!(square > 1e-20 * before) || !isfinite(square)) return 0;
        for (size_t i = 0; i < variables; i++) x[i * count + k] /= sqrt(square);
    }
    return 1;
}

/* to = A x, for `count` columns. */
static void multiply(const gaussian *q, size_t count, const double *x, double *to) {
    const sparsity *pattern = svmp_gaussian_pattern(q);
    const double *value = svmp_gaussian_precision(q);
    memset(to, 0, pattern->order * count * sizeof *to);
    for (size_t j = 0; j < pattern->order; j++)
        for (size_t e = pattern->start[j]; e < pattern->start[j + 1]; e++) {
            const size_t i = pattern->row[e];
            for (size_t k = 0; k < count; k++) {
                to[i * count + k] += value[e] * x[j * count + k];
                if (i != j) to[j * count + k] += value[e] * x[i * count + k];
            }
        }
}

/* The leading eigenvectors of the correlation matrix C = D^-1 A^-1 D^-1 of q, D its sds, or of its inverse, by the
 * power method. They need not be exact, since any weights give a valid test. *good: whether all are finite. */
static svmp_status find_eigenvectors(gaussian *q, const double *sd, size_t variables, size_t count, int inverse,
                                     double *x, double *workspace, int *good) {
    for (size_t k = 0; k < variables * count; k++)
        x[k] = svmp_random_normal((random_stream){.seed = 1, .a = (size_t)inverse, .b = 0, .purpose = RANDOM_VIEWS}, k);
    *good = orthonormalise(variables, count, x);
    for (size_t round = 0; round < POWER_ITERATIONS && *good; round++) {
        for (size_t i = 0; i < variables; i++)
            for (size_t k = 0; k < count; k++) x[i * count + k] *= inverse ? sd[i] : 1 / sd[i];
        if (inverse) {
            multiply(q, count, x, workspace);
            memcpy(x, workspace, variables * count * sizeof *x);
        } else {
            SVMP_TRY(svmp_gaussian_solve(q, count, x));
        }
        for (size_t i = 0; i < variables; i++)
            for (size_t k = 0; k < count; k++) x[i * count + k] *= inverse ? sd[i] : 1 / sd[i];
        *good = orthonormalise(variables, count, x);
    }
    return SVMP_OK;
}

/* Makes the largest share positive, so that the name of a sum begins with that variable. */
static void take_sums(views *v, size_t count, const double *x) {
    for (size_t k = 0; k < count; k++, v->sums++) {
        double largest = 0;
        for (size_t i = 0; i < v->variables; i++)
            if (fabs(x[i * count + k]) > fabs(largest)) largest = x[i * count + k];
        for (size_t i = 0; i < v->variables; i++)
            v->shares[v->sums * v->variables + i] = largest < 0 ? -x[i * count + k] : x[i * count + k];
    }
}

/* The plain sum: an error common to all variables need not lie along a long direction. */
static void take_plain_sum(views *v) {
    double *share = v->shares + v->sums++ * v->variables;
    for (size_t i = 0; i < v->variables; i++) share[i] = 1 / sqrt((double)v->variables);
}

static svmp_status choose_sums(views *v, gaussian *q, double *x, double *workspace) {
    const size_t variables = v->variables, longest = variables < SUMS ? variables : SUMS,
                 shortest = variables - longest < SUMS ? variables - longest : SUMS;
    double *sd = v->sd;
    int good = 1;
    memcpy(v->mean, svmp_gaussian_mean(q), variables * sizeof *v->mean);
    SVMP_TRY(svmp_gaussian_variance(q, sd));
    for (size_t i = 0; i < variables; i++) {
        sd[i] = sqrt(sd[i]);
        if (!(sd[i] > 0 && isfinite(sd[i]))) return SVMP_OK;
    }
    if (variables > 2) take_plain_sum(v); /* with two variables it is one of those below */
    SVMP_TRY(find_eigenvectors(q, sd, variables, longest, 0, x, workspace, &good));
    if (good) take_sums(v, longest, x);
    if (!good || shortest == 0) return SVMP_OK;
    SVMP_TRY(find_eigenvectors(q, sd, variables, shortest, 1, x, workspace, &good));
    if (good) take_sums(v, shortest, x);
    return SVMP_OK;
}

static svmp_status make_sums(views *v, gaussian *q) {
    svmp_context *context = v->model->context;
    const size_t variables = v->variables;
    double *x = NULL, *workspace = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, v->shares, (2 * SUMS + 1) * variables));
    SVMP_CHECK(SVMP_NEW(context, v->mean, variables));
    SVMP_CHECK(SVMP_NEW(context, v->sd, variables));
    SVMP_CHECK(SVMP_NEW(context, x, SUMS * variables));
    SVMP_CHECK(SVMP_NEW(context, workspace, SUMS * variables));
    SVMP_CHECK(choose_sums(v, q, x, workspace));
done:
    svmp_release(context, x);
    svmp_release(context, workspace);
    return status;
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

static svmp_status make_text(views *v) {
    SVMP_TRY(svmp_text_scale_create(v->model, v->n, &v->text));
    return SVMP_NEW(v->model->context, v->of, svmp_text_scale_rows(v->text) + 1);
}

/* Whether the natural values of a node depend on several variables each: parts of a simplex or of a matrix, values
 * above an unknown bound. */
static int is_entangled(const lowered_model *lowered, const lowered_node *node) {
    return node->variables != node->outputs || (lowered->dependent_bounds && node->transform != TRANSFORM_LINE);
}

static svmp_status choose_naturals(views *v) {
    const lowered_model *lowered = v->model->lowered;
    const size_t outputs = lowered ? svmp_model_outputs(v->model) : 0;
    if (lowered == NULL) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(v->model->context, v->output, MOST_NATURALS));
    for (size_t k = 0; k < lowered->node_count; k++) {
        const lowered_node *node = &lowered->nodes[k];
        for (size_t j = 0; j < node->outputs && is_entangled(lowered, node) && v->naturals < MOST_NATURALS; j++)
            v->output[v->naturals++] = node->output + j;
    }
    return v->naturals ? SVMP_NEW(v->model->context, v->natural, outputs * v->n) : SVMP_OK;
}

svmp_status svmp_views_create(const svmp_model *model, gaussian *q, size_t n, int threads, views **made) {
    views *v = NULL;
    svmp_status status;
    SVMP_TRY(SVMP_NEW(model->context, v, 1));
    *v = (views){.model = model, .variables = model->graph->variables, .n = n, .threads = threads};
    SVMP_CHECK(make_text(v));
    SVMP_CHECK(choose_naturals(v));
    if (q && v->variables > 1) SVMP_CHECK(make_sums(v, q));
    *made = v;
    return SVMP_OK;
done:
    svmp_views_free(v);
    return status;
}

void svmp_views_free(views *v) {
    if (v == NULL) return;
    svmp_context *context = v->model->context;
    svmp_text_scale_free(v->text);
    svmp_release(context, v->of);
    svmp_release(context, v->output);
    svmp_release(context, v->natural);
    svmp_release(context, v->mean);
    svmp_release(context, v->sd);
    svmp_release(context, v->shares);
    svmp_release(context, v);
}

size_t svmp_views_count(const views *v) { return v ? svmp_text_scale_rows(v->text) + v->naturals + v->sums : 0; }

/* Particles without a finite natural value all get the same one. */
static svmp_status find_naturals(views *v, const double *x, double *values) {
    if (v->naturals == 0) return SVMP_OK;
    SVMP_TRY(svmp_model_natural(v->model, v->n, x, v->natural));
    for (size_t k = 0; k < v->naturals; k++)
        memcpy(values + k * v->n, v->natural + v->output[k] * v->n, v->n * sizeof *values);
    return SVMP_OK;
}

typedef struct sum_work {
    const views *v;
    const double *x;
    double *values; /* of the sums */
} sum_work;

static void find_sum(void *work, size_t k) {
    const sum_work *w = work;
    const views *v = w->v;
    const size_t n = v->n;
    const double *share = v->shares + k * v->variables;
    double *to = w->values + k * n;
    memset(to, 0, n * sizeof *to);
    for (size_t i = 0; i < v->variables; i++)
        for (size_t l = 0; l < n; l++)
            to[l] += share[i] * fmax(-clipped_at, fmin(clipped_at, (w->x[i * n + l] - v->mean[i]) / v->sd[i]));
}

svmp_status svmp_views_find(views *v, const double *x, double *values) {
    const size_t text = svmp_text_scale_rows(v->text), rows = text + v->naturals, n = v->n;
    SVMP_TRY(find_naturals(v, x, values + text * n));
    for (size_t r = 0; r < text; r++) {
        const text_row row = svmp_text_scale_row(v->text, r, x);
        v->of[r] = row.variable;
        for (size_t l = 0; l < n; l++) values[r * n + l] = row.origin[l] + row.width[l] * x[row.variable * n + l];
    }
    const double numbers = (double)v->sums * (double)v->variables * (double)n;
    svmp_parallel_for(svmp_threads_for(v->threads, 2 * numbers), v->sums, 0, find_sum,
                      &(sum_work){v, x, values + rows * n});
    return SVMP_OK;
}

/* A sum that is nearly a single variable counts as that variable. */
static size_t only_one(const double *share, size_t variables) {
    for (size_t i = 0; i < variables; i++)
        if (share[i] * share[i] > nearly_all) return i;
    return SIZE_MAX;
}

size_t svmp_views_variable(const views *v, size_t k) {
    const size_t text = svmp_text_scale_rows(v->text), rows = text + v->naturals;
    if (k < text) return v->of[k];
    return k < rows ? SIZE_MAX : only_one(v->shares + (k - rows) * v->variables, v->variables);
}

/* The variable with the next largest |share| after `last`; SIZE_MAX if no other matters. */
static size_t next_largest(const double *share, size_t variables, size_t last) {
    const double least = 0.2 / sqrt((double)variables / 10 + 1); /* with many variables, each has a small share */
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < variables; i++) {
        const double size = fabs(share[i]), limit = last == SIZE_MAX ? INFINITY : fabs(share[last]);
        if (size > limit || (size == limit && i <= last) || size < least) continue;
        if (best == SIZE_MAX || size > fabs(share[best])) best = i;
    }
    return best;
}

void svmp_sum_name(const svmp_model *model, const double *share, char *buffer, size_t size) {
    enum { NAMED = 3 };
    const size_t variables = model->graph->variables, largest = next_largest(share, variables, SIZE_MAX);
    char name[128], before[128] = "";
    size_t used = 0, last = SIZE_MAX;
    double told = 0;
    for (size_t named = 0; named < NAMED && used + 1 < size;) {
        const size_t i = next_largest(share, variables, last);
        if (i == SIZE_MAX) break;
        const char *sign = last == SIZE_MAX ? "" : share[i] * share[largest] < 0 ? " - " : " + ";
        told += share[i] * share[i];
        last = i;
        svmp_verdict_variable_name(model, i, name, sizeof name);
        if (strcmp(name, before) == 0) continue; /* another coordinate of the same elements */
        used += (size_t)snprintf(buffer + used, size - used, "%s%.30s", sign, name);
        memcpy(before, name, sizeof before);
        named++;
    }
    if (told < nearly_all && used + 1 < size) snprintf(buffer + used, size - used, used ? " + ..." : "a sum");
}

void svmp_views_name(const views *v, size_t k, char *buffer, size_t size) {
    const size_t text = svmp_text_scale_rows(v->text), rows = text + v->naturals;
    if (k < text)
        svmp_verdict_variable_name(v->model, v->of[k], buffer, size);
    else if (k < rows)
        svmp_model_output_name(v->model, v->output[k - text], buffer, size);
    else
        svmp_sum_name(v->model, v->shares + (k - rows) * v->variables, buffer, size);
}
