#include "model/sorted_variables.h"

#include <math.h>

#include "base/random.h"
#include "model/evaluator.h"
#include "model/text_model.h"

static const lowered_model *lowered_of(const svmp_model *model) {
    return model->lowered && model->graph->halo == NULL ? model->lowered : NULL;
}

/* How many variables are sorted together with others; 0: none is. Parts of a model have none. */
static size_t count_sorted(const svmp_model *model) {
    const lowered_model *lowered = lowered_of(model);
    size_t variables = 0;
    if (lowered == NULL) return 0;
    for (size_t k = 0; k < lowered->sorted_count; k += 1 + lowered->sorted[k]) variables += lowered->sorted[k];
    return variables;
}

static void swap(double *a, double *b) {
    const double was = *a;
    *a = *b;
    *b = was;
}

/* What is done to the variables of a group in particle l. */
typedef void (*group_move)(size_t count, const uint32_t *variable, size_t n, double *x);

static void move_groups(const svmp_model *model, size_t n, double *x, group_move move) {
    const lowered_model *lowered = lowered_of(model);
    if (lowered == NULL) return;
    for (size_t k = 0; k < lowered->sorted_count; k += 1 + lowered->sorted[k])
        for (size_t l = 0; l < n; l++) move(lowered->sorted[k], lowered->sorted + k + 1, n, x + l);
}

static void exchange_first(size_t count, const uint32_t *variable, size_t n, double *x) {
    (void)count;
    swap(&x[variable[0] * n], &x[variable[1] * n]);
}

static void rotate_group(size_t count, const uint32_t *variable, size_t n, double *x) {
    for (size_t k = 1; k < count; k++) swap(&x[variable[k - 1] * n], &x[variable[k] * n]);
}

/* Pairs that stand the wrong way round are exchanged until there are none: groups are small. */
static void sort_group(size_t count, const uint32_t *variable, const double *like, size_t n, double *x) {
    for (int again = 1; again;) {
        again = 0;
        for (size_t k = 1; k < count; k++)
            for (size_t j = 0; j < k; j++) {
                double *one = &x[variable[j] * n], *other = &x[variable[k] * n];
                const int falls = like && like[variable[j]] > like[variable[k]];
                if (!(falls ? *one < *other : *one > *other)) continue;
                swap(one, other);
                again = 1;
            }
    }
}

void svmp_model_sort(const svmp_model *model, const double *like, size_t n, double *x) {
    const lowered_model *lowered = lowered_of(model);
    if (lowered == NULL) return;
    for (size_t k = 0; k < lowered->sorted_count; k += 1 + lowered->sorted[k])
        for (size_t l = 0; l < n; l++) sort_group(lowered->sorted[k], lowered->sorted + k + 1, like, n, x + l);
}

void svmp_model_mark_sorted(const svmp_model *model, bool *marked) {
    const lowered_model *lowered = lowered_of(model);
    if (lowered == NULL) return;
    for (size_t k = 0; k < lowered->sorted_count; k += 1 + lowered->sorted[k])
        for (size_t j = 0; j < lowered->sorted[k]; j++) marked[lowered->sorted[k + 1 + j]] = true;
}

void svmp_model_shuffle(const svmp_model *model, uint64_t seed, size_t n, double *x) {
    const lowered_model *lowered = lowered_of(model);
    if (lowered == NULL) return;
    for (size_t k = 0; k < lowered->sorted_count; k += 1 + lowered->sorted[k]) {
        const uint32_t *variable = lowered->sorted + k + 1;
        for (size_t l = 0; l < n; l++) {
            const random_stream stream = {.seed = seed, .a = variable[0], .b = l, .purpose = RANDOM_ORDER};
            for (size_t left = lowered->sorted[k]; left > 1; left--)
                swap(&x[variable[left - 1] * n + l], &x[variable[svmp_random_below(stream, left, left)] * n + l]);
        }
    }
}

/* ---- whether it matters ------------------------------------------------------------------------------------------ */

/* Exchanges of the first two, and of all in turn, make up every order. */
static svmp_status compare(const svmp_model *model, evaluator *e, size_t n, double *x, double *density, int *is) {
    static const group_move moves[] = {exchange_first, rotate_group};
    double *moved = density + n;
    int known;
    SVMP_TRY(svmp_evaluate_log_density(e, x, density, &known));
    for (size_t k = 0; k < sizeof moves / sizeof *moves; k++) {
        move_groups(model, n, x, moves[k]);
        SVMP_TRY(svmp_evaluate_log_density(e, x, moved, &known));
        for (size_t l = 0; l < n; l++)
            if (isfinite(density[l]) && !(fabs(moved[l] - density[l]) <= 1e-9 * (1 + fabs(density[l])))) *is = 0;
    }
    return SVMP_OK;
}

svmp_status svmp_model_is_exchangeable(const svmp_model *model, size_t n, const double *x, int *is) {
    enum { SOME = 16 };
    const size_t some = n < SOME ? n : SOME, variables = model->graph->variables;
    evaluator *e = NULL;
    double *copy = NULL, *density = NULL;
    svmp_status status = SVMP_OK;
    *is = count_sorted(model) > 0 && n > 0;
    if (!*is) return SVMP_OK;
    SVMP_CHECK(SVMP_NEW(model->context, copy, variables * some));
    SVMP_CHECK(SVMP_NEW(model->context, density, 2 * some));
    SVMP_CHECK(svmp_evaluator_create(model, some, 1, &e));
    for (size_t i = 0; i < variables; i++)
        for (size_t l = 0; l < some; l++) copy[i * some + l] = x[i * n + l * n / some];
    SVMP_CHECK(compare(model, e, some, copy, density, is));
done:
    svmp_evaluator_free(e);
    svmp_release(model->context, density);
    svmp_release(model->context, copy);
    return status;
}
