/* Linear predictors: which programs have one, by structure alone, and values and derivatives beside the whole program.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "expr/linear_predictor.h"
#include "model/evaluator.h"
#include "model/program_factors.h"
#include "support.h"

#define DATA                                                                                                           \
    "data { for (i in 1:40) { x[i] <- sin(i); z[i] <- cos(3 * i); w[i] <- sin(i * i) / 3; y[i] <- step(sin(7 * i))\n"  \
    "    c[i] <- trunc(2 + 2 * sin(5 * i)); g[i] <- 1 + trunc(i / 8.5); h[i] <- 1 + i - 3 * trunc(i / 3)\n"            \
    "    for (k in 1:5) { X[i,k] <- sin(i * k + k) } } }\n"
#define PRIORS "a ~ dnorm(0, 1); b ~ dnorm(0, 1); d ~ dnorm(0, 1)\n"

typedef struct example {
    const char *text;
    size_t count, others; /* slots of the predictor, 0: there is none; other slots */
} example;

static const example examples[] = {
    {"model { for (i in 1:40) { y[i] ~ dbern(ilogit(a + inprod(X[i,], beta[]))) } a ~ dnorm(0, 1)\n"
     "  for (k in 1:5) { beta[k] ~ dnorm(0, 1) } }",
     6, 0},
    {"model { for (i in 1:40) { p[i] <- a + b * x[i] - d * z[i] * 2; c[i] ~ dpois(exp(p[i] + w[i])) } " PRIORS "}", 3,
     0},
    {"model { for (i in 1:40) { y[i] ~ dbern(phi(a + u[g[i]] - v[h[i]])) } a ~ dnorm(0, 1)\n"
     "  for (k in 1:5) { u[k] ~ dnorm(0, 1); v[k] ~ dnorm(0, 1) } }",
     3, 0},
    {"model { for (i in 1:40) { w[i] ~ dt(a + b * x[i] + d * z[i], tau, 4) } tau ~ dgamma(2, 1); " PRIORS "}", 3, 1},
    {"model { for (i in 1:40) { w[i] ~ dnorm(a + b * x[i] + d * z[i] + u[g[i]], exp(-s[h[i]] * t)) } t ~ dnorm(0, 1)\n"
     "  for (k in 1:5) { u[k] ~ dnorm(0, 1); s[k] ~ dnorm(0, 1) } " PRIORS "}",
     4, 2},
    /* two slots are too few; a is read twice; a product of unknowns is not linear */
    {"model { for (i in 1:40) { y[i] ~ dbern(ilogit(a + b * x[i])) } " PRIORS "}", 0, 0},
    {"model { for (i in 1:40) { w[i] ~ dt(a + b * x[i] + d * z[i], exp(a), 4) } " PRIORS "}", 0, 0},
    {"model { for (i in 1:40) { y[i] ~ dbern(ilogit(a * b * x[i] + b * d)) } " PRIORS "}", 0, 0},
};

static svmp_model *read_example(svmp_context *context, const example *one) {
    char text[4000];
    svmp_model *model = NULL;
    snprintf(text, sizeof text, "%s%s", DATA, one->text);
    assert_ok(svmp_model_read_text(context, NULL, text, NULL, NULL, &model));
    return model;
}

/* The group of the statement in the loop: the one with most instances that is no quadratic. */
static const factor_group *group_of(const svmp_model *model) {
    const factor_group *most = NULL;
    for (size_t g = 0; g < model->group_count; g++)
        if (most == NULL || model->groups[g].instances > most->instances) most = &model->groups[g];
    assert_non_null(most);
    assert_int_equal(most->instances, 40);
    return most;
}

static void close_to(size_t count, const double *a, const double *b) {
    for (size_t k = 0; k < count; k++) assert_near(a[k], b[k], 1e-12);
}

static void test_found(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
        svmp_context *context = test_context(1);
        svmp_model *model = read_example(context, &examples[k]);
        const linear_predictor *p = group_of(model)->kind->predictor(group_of(model));
        assert_int_equal(p ? p->count : 0, examples[k].count);
        if (p) assert_int_equal(p->others, examples[k].others);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

typedef struct rows {
    size_t n;
    double *x, *value, *gradient, *more, *most;
    void *scratch;
} rows;

static rows make_rows(const svmp_model *model, const factor_group *group, size_t n) {
    const size_t variables = model->graph->variables, many = group->instances * (1 + group->slots) * n;
    const size_t one = svmp_bound_scratch(svmp_program_group_bound(group), n), other = group->kind->scratch(group, n);
    rows r = {.n = n};
    r.x = malloc(variables * n * sizeof *r.x);
    r.value = malloc(many * sizeof *r.value);
    r.gradient = malloc(many * sizeof *r.gradient);
    r.more = malloc(many * sizeof *r.more);
    r.most = malloc(many * sizeof *r.most);
    r.scratch = malloc(one > other ? one : other);
    svmp_random_normals((random_stream){.a = n, .purpose = RANDOM_TEST}, variables * n, r.x);
    return r;
}

static void free_rows(rows *r) {
    free(r->x), free(r->value), free(r->gradient), free(r->more), free(r->most), free(r->scratch);
}

/* The whole program, the group's gradient, values alone, and derivatives by the predictor times its coefficients. */
static void check_values(const svmp_model *model, const factor_group *group, size_t n) {
    const linear_predictor *p = group->kind->predictor(group);
    rows r = make_rows(model, group, n);
    const size_t many = group->instances, slots = group->slots;
    svmp_bound_evaluate(svmp_program_group_bound(group), group->variables, 0, many, n, r.x, r.scratch, r.value,
                        r.gradient);
    assert_int_equal(group->kind->evaluate(group, 0, many, n, r.x, r.scratch, r.more, r.most), 0);
    close_to(many * n, r.more, r.value);
    close_to(many * slots * n, r.most, r.gradient);
    double *kept = malloc(many * n * sizeof *kept), *dense = malloc(many * slots * n * sizeof *dense);
    memcpy(kept, r.more, many * n * sizeof *kept);
    memcpy(dense, r.most, many * slots * n * sizeof *dense);
    assert_int_equal(group->kind->evaluate(group, 0, many, n, r.x, r.scratch, r.more, NULL), 0);
    assert_memory_equal(r.more, kept, many * n * sizeof *kept);
    for (size_t first = 0; first < many; first += 13) { /* the bits of an instance do not depend on what is beside it */
        const size_t count = many - first < 13 ? many - first : 13;
        assert_int_equal(
            group->kind->evaluate_predicted(group, first, count, n, r.x, r.scratch, first % 2 ? r.more : NULL, r.most),
            0);
        for (size_t k = 0; k < count * slots; k++) {
            bool predicted;
            size_t place;
            const size_t instance = first + k / slots, rows_of = 1 + p->others;
            const size_t row = svmp_linear_predictor_row(p, (uint32_t)(k % slots), &predicted, &place);
            const double weight = predicted ? p->coefficient[instance * p->count + place] : 1;
            const double *found = r.most + (k / slots * rows_of + row) * n, *wanted = dense + (first * slots + k) * n;
            for (size_t l = 0; l < n; l++) assert_true(weight * found[l] == wanted[l]);
        }
    }
    free(kept), free(dense);
    free_rows(&r);
}

/* Any instances in any order seen from one slot, which stands elsewhere: the bits of the whole gradient. */
static void check_views(const svmp_model *model, const factor_group *group, size_t n) {
    rows r = make_rows(model, group, n);
    const size_t slots = group->slots, many = group->instances, variables = model->graph->variables;
    double *y = malloc(variables * n * sizeof *y), *x = malloc(variables * n * sizeof(double));
    unsigned char own[16];
    uint32_t instance[40], shift[40] = {0};
    for (uint32_t j = 0; j < slots; j++) {
        void *partial, *scratch;
        size_t count = 0;
        memcpy(x, r.x, variables * n * sizeof(double));
        svmp_random_normals((random_stream){.a = 99, .purpose = RANDOM_TEST}, variables * n, y);
        const uint32_t moved = group->variables[j]; /* of the first instance */
        memcpy(x + moved * n, y + moved * n, n * sizeof(double));
        assert_int_equal(group->kind->evaluate(group, 0, many, n, x, r.scratch, r.value, r.gradient), 0);
        for (uint32_t k = 0; k < many; k++)
            if (group->variables[k * slots + j] == moved) instance[count++] = k;
        for (size_t k = 0; 2 * k < count; k++) {
            const uint32_t swapped = instance[k];
            instance[k] = instance[count - 1 - k];
            instance[count - 1 - k] = swapped;
        }
        memset(own, 0, sizeof own);
        own[j] = 1;
        assert_ok(group->kind->partial(group, 1, &j, &partial));
        scratch = malloc(group->kind->view_scratch(group, partial, n));
        const instance_view view = {.count = count, .instance = instance, .shift = shift, .own = own, .x = r.x, .y = y};
        group->kind->evaluate_view(group, partial, &view, n, scratch, r.more, r.most);
        for (size_t k = 0; k < count; k++) {
            assert_memory_equal(r.more + k * n, r.value + instance[k] * n, n * sizeof(double));
            assert_memory_equal(r.most + k * n, r.gradient + (instance[k] * slots + j) * n, n * sizeof(double));
        }
        assert_true(group->kind->operations(group, partial) <= group->kind->operations(group, NULL));
        group->kind->free_partial(partial);
        free(scratch);
    }
    free(x), free(y);
    free_rows(&r);
}

/* Scores are the same bits for all threads and for any split of the particles, and sums of the gradients. */
static void check_scores(const example *one, size_t n) {
    double *score[2], *density[2];
    size_t variables = 0;
    for (int way = 0; way < 2; way++) {
        svmp_context *context = test_context(1 + 2 * way);
        svmp_model *model = read_example(context, one);
        variables = model->graph->variables;
        score[way] = malloc(variables * n * sizeof(double));
        density[way] = malloc(n * sizeof(double));
        evaluator *e = NULL;
        rows r = make_rows(model, group_of(model), n);
        assert_ok(svmp_evaluator_create(model, n, 1 + 2 * way, &e));
        assert_ok(svmp_evaluate(e, r.x, density[way], score[way]));
        assert_ok(svmp_evaluate(e, r.x, NULL, score[way]));
        svmp_evaluator_free(e);
        for (size_t l = 0; way == 0 && l < n; l += 3) { /* a particle alone */
            double *alone = malloc(variables * sizeof *alone), *its = malloc(variables * sizeof *its);
            for (size_t i = 0; i < variables; i++) alone[i] = r.x[i * n + l];
            assert_ok(svmp_model_evaluate(model, 1, alone, NULL, its));
            for (size_t i = 0; i < variables; i++) assert_true(its[i] == score[0][i * n + l]);
            free(alone), free(its);
        }
        for (size_t i = 0; way == 0 && i < variables; i++) { /* differences of the density */
            const double step = 1e-5;
            double *up = malloc(variables * n * sizeof *up), high[600], low[600];
            memcpy(up, r.x, variables * n * sizeof *up);
            for (size_t l = 0; l < n; l++) up[i * n + l] += step;
            assert_ok(svmp_model_evaluate(model, n, up, high, NULL));
            for (size_t l = 0; l < n; l++) up[i * n + l] -= 2 * step;
            assert_ok(svmp_model_evaluate(model, n, up, low, NULL));
            for (size_t l = 0; l < n; l++) assert_near((high[l] - low[l]) / (2 * step), score[0][i * n + l], 2e-5);
            free(up);
        }
        free_rows(&r);
        svmp_model_free(model);
        svmp_context_free(context);
    }
    assert_memory_equal(score[0], score[1], variables * n * sizeof(double));
    assert_memory_equal(density[0], density[1], n * sizeof(double));
    for (int way = 0; way < 2; way++) free(score[way]), free(density[way]);
}

static void test_evaluated(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 3, 4, 16, 23, 131};
    for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
        if (examples[k].count == 0) continue;
        svmp_context *context = test_context(1);
        svmp_model *model = read_example(context, &examples[k]);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            check_values(model, group_of(model), sizes[s]);
            check_views(model, group_of(model), sizes[s]);
        }
        svmp_model_free(model);
        svmp_context_free(context);
        check_scores(&examples[k], 7);
        check_scores(&examples[k], 500);
    }
}

/* Only some instances: their bits are those of the whole. */
static void test_kept(void **state) {
    (void)state;
    for (size_t e = 0; e < 5; e++) {
        svmp_context *context = test_context(1);
        svmp_model *model = read_example(context, &examples[e]);
        const factor_group *group = group_of(model);
        static const uint32_t which[] = {1, 7, 8, 39};
        factor_group some = *group;
        uint32_t variables[4 * 16];
        rows r = make_rows(model, group, 20);
        assert_ok(group->kind->keep(context, group, 4, which, &some.self));
        for (size_t k = 0; k < 4; k++)
            memcpy(variables + k * group->slots, group->variables + which[k] * group->slots,
                   group->slots * sizeof *variables);
        some.variables = variables;
        some.instances = 4;
        assert_int_equal(group->kind->evaluate(group, 0, 40, 20, r.x, r.scratch, r.value, r.gradient), 0);
        assert_int_equal(some.kind->evaluate(&some, 0, 4, 20, r.x, r.scratch, r.more, r.most), 0);
        const size_t slots = group->slots;
        for (size_t k = 0; k < 4; k++) {
            assert_memory_equal(r.more + k * 20, r.value + which[k] * 20, 20 * sizeof(double));
            assert_memory_equal(r.most + k * slots * 20, r.gradient + which[k] * slots * 20,
                                slots * 20 * sizeof(double));
        }
        some.kind->free(context, some.self);
        free_rows(&r);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_evaluated),
        cmocka_unit_test(test_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
