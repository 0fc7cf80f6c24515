/* Stored elements of '<-' against the same text with all formulas pasted: densities, scores and reported values.
 */
#include "files.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/compile.h"
#include "model/computed.h"
#include "model/evaluator.h"
#include "model/natural_values.h"

static svmp_context *context;

enum { STEPS = 60 };

/* Every text reads the data y[1:60], v[1:60], w[1:60], and gap[1:60], which is y with 3 values missing. */
static const char *const texts[] = {
    /* GARCH(1,1) */
    "model { h[1] <- omega / (1 - alpha - beta); y[1] ~ dnorm(0, 1 / h[1])\n"
    "for (t in 2:T) { h[t] <- omega + alpha * y[t-1]^2 + beta * h[t-1]; y[t] ~ dnorm(0, 1 / h[t]) }\n"
    "omega ~ dunif(0.001, 1); alpha ~ dunif(0, 0.4); beta ~ dunif(0, 0.6) }",
    /* ARMA(1,1), two statements in turn */
    "model { mu[1] <- m; e[1] <- y[1] - mu[1]; y[1] ~ dnorm(mu[1], tau)\n"
    "for (t in 2:T) { mu[t] <- m + phi * y[t-1] + theta * e[t-1]; e[t] <- y[t] - mu[t]; y[t] ~ dnorm(mu[t], tau) }\n"
    "m ~ dnorm(0, 0.1); phi ~ dunif(-1, 1); theta ~ dunif(-1, 1); tau ~ dgamma(1, 1) }",
    /* the same with missing observations: unknowns within the recursion, and a leaf at its end */
    "model { mu[1] <- m; e[1] <- gap[1] - mu[1]; gap[1] ~ dnorm(mu[1], tau)\n"
    "for (t in 2:T) { mu[t] <- m + phi * gap[t-1] + theta * e[t-1]; e[t] <- gap[t] - mu[t]\n"
    "gap[t] ~ dnorm(mu[t], tau) }\n"
    "m ~ dnorm(0, 0.1); phi ~ dunif(-1, 1); theta ~ dunif(-1, 1); tau ~ dgamma(1, 1) }",
    /* states in other coordinates */
    "model { for (t in 1:T) { z[t] ~ dnorm(0, 1) }\n"
    "s[1] <- sigma * z[1]; for (t in 2:T) { s[t] <- rho * s[t-1] + sigma * z[t] }\n"
    "for (t in 1:T) { y[t] ~ dnorm(m + s[t], 4) }\n"
    "m ~ dnorm(0, 0.01); rho ~ dunif(0, 1); sigma ~ dunif(0, 3) }",
    /* a link, an observation without a state, several factors of one state, a potential */
    "model { log(h[1]) <- a; for (t in 2:T) { log(h[t]) <- a + b * log(h[t-1]) + 0.1 * w[t] }\n"
    "for (t in 1:20) { y[t] ~ dnorm(a, h[2 * t]); v[t] ~ dnorm(b * h[2 * t], h[3]) }\n"
    "factor(-h[60]); a ~ dnorm(0, 1); b ~ dunif(-0.9, 0.9) }",
    /* vectors and matrices, and an unknown whose distribution reads a state */
    "model { x[1:2,1] <- start[]; for (t in 2:T) { x[1:2,t] <- A[,] %*% x[1:2,t-1] }\n"
    "for (t in 1:T) { y[t] ~ dnorm(x[1,t] + x[2,t] + w[t], 1) }\n"
    "A[1,1] <- cos(angle); A[1,2] <- -sin(angle); A[2,1] <- sin(angle); A[2,2] <- 0.9 * cos(angle)\n"
    "start[1] ~ dnorm(0, 1); start[2] ~ dnorm(0, 1); angle ~ dunif(0, 1)\n"
    "late ~ dnorm(x[1,T], 1); v[1] ~ dnorm(late, 1) }",
    /* series that share a parameter */
    "model { for (i in 1:4) { s[i,1] <- level[i]; for (t in 2:15) { s[i,t] <- rho * s[i,t-1] + w[t + 15 * (i - 1)] }\n"
    "for (t in 1:15) { y[t + 15 * (i - 1)] ~ dnorm(s[i,t], 2) }; level[i] ~ dnorm(0, 1) }; rho ~ dunif(0, 1) }",
};

static svmp_data *make_data(void) {
    svmp_data *data = NULL;
    double y[STEPS], w[STEPS], gap[STEPS], count = STEPS;
    const size_t steps = STEPS;
    for (size_t t = 0; t < STEPS; t++) {
        y[t] = gap[t] = test_random(3, t);
        w[t] = 0.3 * test_random(4, t);
    }
    gap[9] = gap[30] = gap[STEPS - 1] = NAN;
    assert_ok(svmp_data_create(context, &data));
    assert_ok(svmp_data_add(data, "y", 1, &steps, y));
    assert_ok(svmp_data_add(data, "w", 1, &steps, w));
    assert_ok(svmp_data_add(data, "v", 1, &steps, w));
    assert_ok(svmp_data_add(data, "gap", 1, &steps, gap));
    assert_ok(svmp_data_add(data, "T", 0, NULL, &count));
    return data;
}

static svmp_status try_reading(svmp_context *with, const char *text, const svmp_data *data, double store_above,
                               const char *monitors, svmp_model **model) {
    const model_files files = {.name = "model.bug", .text = text, .data = data, .monitors = monitors};
    parsed_model *parsed = NULL;
    svmp_status status = svmp_parse(with, &files, &parsed);
    if (status == SVMP_OK)
        status = svmp_compile(parsed, &(choices){.centring = 1, .store_above = store_above}, NULL, NULL, model);
    svmp_parsed_free(parsed);
    return status;
}

static svmp_model *read_as(const char *text, const svmp_data *data, double store_above, const char *monitors) {
    svmp_model *model = NULL;
    if (try_reading(context, text, data, store_above, monitors, &model) != SVMP_OK)
        fail_msg("%s", svmp_context_error(context));
    return model;
}

static size_t stored_rows(const svmp_model *model) {
    size_t rows = 0;
    for (size_t g = 0; g < model->group_count; g++)
        for (size_t k = 0; svmp_computed_group_is(&model->groups[g]) && k < model->groups[g].instances; k++)
            rows += svmp_computed_group_rows(&model->groups[g], k);
    return rows;
}

static void compare(const svmp_model *pasted, const svmp_model *stored) {
    enum { N = 6 };
    const size_t d = pasted->graph->variables, outputs = svmp_model_outputs(pasted);
    assert_int_equal(stored->graph->variables, d);
    assert_int_equal(svmp_model_outputs(stored), outputs);
    double *x = malloc(d * N * sizeof *x), *score[2], *values[2], density[2][N];
    for (size_t k = 0; k < d * N; k++) x[k] = 0.5 * test_random(5, k);
    for (int which = 0; which < 2; which++) {
        const svmp_model *model = which ? stored : pasted;
        score[which] = malloc(d * N * sizeof **score);
        values[which] = calloc(outputs * N, sizeof **values);
        assert_ok(svmp_model_evaluate(model, N, x, density[which], score[which]));
        assert_ok(svmp_model_natural(model, N, x, values[which]));
    }
    for (size_t l = 0; l < N; l++) assert_near(density[1][l], density[0][l], 1e-12);
    for (size_t k = 0; k < d * N; k++) assert_near(score[1][k], score[0][k], 1e-11);
    assert_memory_equal(values[0], values[1], outputs * N * sizeof **values);
    for (size_t v = 0; v < pasted->graph->nodes; v++) {
        const svmp_graph *one = pasted->graph, *other = stored->graph;
        const uint32_t p = one->neighbourhood_of[v], q = other->neighbourhood_of[v];
        const size_t count = one->neighbourhoods.start[p + 1] - one->neighbourhoods.start[p];
        assert_true(other->neighbourhoods.start[q + 1] - other->neighbourhoods.start[q] >= count);
    }
    for (int which = 0; which < 2; which++) {
        free(score[which]);
        free(values[which]);
    }
    free(x);
}

static void test_texts(void **state) {
    (void)state;
    svmp_data *data = make_data();
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        svmp_model *pasted = read_as(texts[k], data, INFINITY, NULL);
        for (int all = 0; all < 2; all++) {
            svmp_model *stored = read_as(texts[k], data, all ? -1 : 1e-9, NULL);
            assert_int_equal(stored_rows(pasted), 0);
            assert_true(stored_rows(stored) > 0);
            compare(pasted, stored);
            svmp_model_free(stored);
        }
        svmp_model_free(pasted);
    }
    svmp_data_free(data);
}

/* By default a short recursion is pasted and a long one stored. */
static void test_limits(void **state) {
    (void)state;
    for (size_t steps = 40; steps <= 400; steps *= 10) {
        svmp_data *data = NULL;
        double *y = calloc(steps, sizeof *y), count = (double)steps;
        assert_ok(svmp_data_create(context, &data));
        assert_ok(svmp_data_add(data, "y", 1, &steps, y));
        assert_ok(svmp_data_add(data, "T", 0, NULL, &count));
        svmp_model *model = read_as(texts[0], data, 0, NULL);
        assert_int_equal(stored_rows(model), steps > 40 ? steps : 0);
        svmp_model_free(model);
        svmp_data_free(data);
        free(y);
    }
}

/* Each allocation fails in turn; the model can still be freed. */
static void test_memory(void **state) {
    (void)state;
    svmp_status status = SVMP_NO_MEMORY;
    svmp_data *data = make_data();
    for (long allowed = 0; status == SVMP_NO_MEMORY; allowed++) {
        scarce_memory memory = {1};
        svmp_context *scarce = scarce_context(&memory);
        svmp_model *model = NULL;
        memory.left = allowed;
        status = try_reading(scarce, texts[2], data, 1e-9, NULL, &model);
        if (status == SVMP_OK) {
            double x[8] = {0}, density; /* of 4 parameters and 2 values, the last of which is a leaf */
            status = svmp_model_evaluate(model, 1, x, &density, NULL);
        }
        if (status != SVMP_OK) assert_non_null(strstr(svmp_context_error(scarce), "Out of memory"));
        svmp_model_free(model);
        svmp_context_free(scarce);
    }
    assert_ok(status);
    svmp_data_free(data);
}

static int setup(void **state) {
    (void)state;
    context = test_context(2);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    svmp_context_free(context);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
