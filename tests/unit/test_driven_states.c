/* Unknowns that drive a recursion, moved as its states, against the same text with all formulas pasted: the density
 * changes by the Jacobian alone, natural and monitored values and draws from the priors are the same, scores are
 * differences of densities. */
#include "files.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/compile.h"
#include "model/computed.h"
#include "model/natural_values.h"

static svmp_context *context;

enum { STEPS = 12, MOST = 64 };

typedef struct text_case {
    const char *text;
    size_t states;
    const char *monitors;
} text_case;

/* Every text reads y[1:12] and w[1:12], which is positive. */
static const text_case texts[] = {
    {"model { for (t in 1:T) { e[t] ~ dnorm(0, 1); y[t] ~ dnorm(x[t], 4) }\n" /* a random walk */
     "x[1] <- 3 * e[1]; for (t in 2:T) { x[t] <- x[t-1] + sigma * e[t] }; sigma ~ dunif(0, 5) }",
     STEPS, "x"},
    {"model { for (t in 1:T) { e[t] ~ dnorm(0, 1); y[t] ~ dnorm(0, exp(-h[t])) }\n" /* a constant in every step */
     "h[1] <- mu + sigma / sqrt(1 - phi^2) * e[1]\n"
     "for (t in 2:T) { h[t] <- mu + phi * (h[t-1] - mu) + sigma * e[t] }\n"
     "mu ~ dnorm(0, 0.1); phi ~ dunif(-1, 1); sigma ~ dgamma(2, 2) }",
     STEPS, "h"},
    {"model { level[1] ~ dnorm(0, 0.1)\n" /* two states; a begin without an unknown */
     "l[1] <- level[1]; s[1] <- w[1]\n"
     "for (t in 2:T) { l[t] <- l[t-1] + s[t-1] + e[t] / sqrt(tau); s[t] <- s[t-1] - exp(a) * d[t] * w[t]\n"
     "e[t] ~ dnorm(0, 1); d[t] ~ dt(0, 1, 4) }\n"
     "for (t in 1:T) { y[t] ~ dnorm(l[t] + s[t], 4) }; tau ~ dgamma(2, 2); a ~ dnorm(0, 1) }",
     2 * STEPS - 1, "l,s"},
    {"model { for (t in 1:T) { e[t] ~ dnorm(m, p); d[t] <- -e[t]; k[t] <- s * d[t] / 3 }\n" /* with a link */
     "log(h[1]) <- k[1]; for (t in 2:T) { log(h[t]) <- a + 0.5 * log(h[t-1]) + (k[t] - 1) }\n"
     "for (t in 1:T) { y[t] ~ dnorm(0, h[t]) }\n"
     "m ~ dnorm(0, 1); p ~ dgamma(2, 2); a ~ dnorm(0, 1); log(s) <- u; u ~ dnorm(0, 1) }",
     STEPS, "h,d"},
    {"model { for (t in 1:T) { e[t] ~ dnorm(0, 1); y[t] ~ dnorm(x[t], 4) }; x[1] <- e[1]\n" /* read twice: MA(1) */
     "for (t in 2:T) { x[t] <- 0.5 * x[t-1] + e[t] + theta * e[t-1] }; theta ~ dnorm(0, 1) }",
     1, "x"},
    {"model { for (t in 1:T) { y[t] ~ dnorm(x[t], 4) }; x[1] <- e[1]^3\n" /* no sign, not affine */
     "for (t in 1:T) { e[t] ~ dnorm(0, 1) }; for (t in 2:6) { x[t] <- x[t-1] + b * e[t] }; for (t in 7:T) { x[t] <- "
     "x[t-1] + exp(e[t]) }; b ~ dnorm(0, 1) }",
     0, "x"},
    {"model { for (t in 1:T) { e[t] ~ dnorm(0, 1)T(0,); y[t] ~ dnorm(x[t], 4) }; x[1] <- e[1]\n" /* bounded */
     "for (t in 2:T) { x[t] <- x[t-1] + b * e[t] }; b ~ dunif(0, 1) }",
     0, "x"},
    {"model { for (i in 1:3) { x[i,1] <- e[i,1]; for (t in 2:4) { x[i,t] <- x[i,t-1] + b * e[i,t] }\n" /* series */
     "for (t in 1:4) { e[i,t] ~ dlogis(0, 1); y[4 * (i - 1) + t] ~ dnorm(x[i,t], 4) } }; b ~ dunif(0, 1) }",
     STEPS, "x"},
};

static svmp_data *make_data(size_t steps) {
    svmp_data *data = NULL;
    double *y = malloc(steps * sizeof *y), *w = malloc(steps * sizeof *w), count = (double)steps;
    for (size_t t = 0; t < steps; t++) {
        y[t] = test_random(3, t);
        w[t] = exp(0.3 * test_random(4, t));
    }
    assert_ok(svmp_data_create(context, &data));
    assert_ok(svmp_data_add(data, "y", 1, &steps, y));
    assert_ok(svmp_data_add(data, "w", 1, &steps, w));
    assert_ok(svmp_data_add(data, "T", 0, NULL, &count));
    free(y);
    free(w);
    return data;
}

static svmp_status try_reading(svmp_context *with, const text_case *one, const svmp_data *data, const choices *made,
                               svmp_model **model) {
    const model_files files = {.name = "model.bug", .text = one->text, .data = data, .monitors = one->monitors};
    parsed_model *parsed = NULL;
    svmp_status status = svmp_parse(with, &files, &parsed);
    if (status == SVMP_OK) status = svmp_compile(parsed, made, NULL, NULL, model);
    svmp_parsed_free(parsed);
    return status;
}

static svmp_model *read_as(const text_case *one, const svmp_data *data, bool states, double store_above) {
    svmp_model *model = NULL;
    const choices made = {.centring = 1, .states = states, .store_above = store_above};
    if (try_reading(context, one, data, &made, &model) != SVMP_OK) fail_msg("%s", svmp_context_error(context));
    return model;
}

static size_t count_states(const svmp_model *model) {
    size_t count = 0;
    for (size_t k = 0; k < model->lowered->node_count; k++) count += model->lowered->nodes[k].state_slope != 0;
    return count;
}

static double density_at(const svmp_model *model, const double *x, double *score) {
    double density;
    assert_ok(svmp_model_evaluate(model, 1, x, &density, score));
    return density;
}

/* sum log |dz/de| over the nodes that move as states, with all other outputs fixed. */
static double log_slopes(const svmp_model *model, const double *outputs) {
    double sum = 0, moved[MOST], z[2][MOST];
    memcpy(moved, outputs, svmp_model_outputs(model) * sizeof *moved);
    for (size_t k = 0; k < model->lowered->node_count; k++) {
        const lowered_node *node = &model->lowered->nodes[k];
        if (node->state_slope == 0) continue;
        for (int side = 0; side < 2; side++) {
            moved[node->output] = outputs[node->output] + (side ? 1 : -1);
            assert_ok(svmp_model_unconstrain(model, 1, moved, z[side]));
        }
        moved[node->output] = outputs[node->output];
        const double slope = (z[1][node->variable] - z[0][node->variable]) / 2;
        assert_true(slope * node->state_slope > 0);
        sum += log(fabs(slope));
    }
    return sum;
}

static void compare_values(const svmp_model *model, const double *x, const double *expected, size_t count) {
    double values[MOST];
    assert_ok(svmp_model_natural(model, 1, x, values));
    for (size_t k = 0; k < count; k++) assert_near(values[k], expected[k], 1e-11);
}

static void compare_monitors(const svmp_model *pasted, const double *x, const svmp_model *moved, const double *z) {
    double one[MOST], other[MOST];
    const size_t count = svmp_model_monitored(pasted);
    assert_int_equal(svmp_model_monitored(moved), count);
    assert_true(count > 0);
    assert_ok(svmp_lowered_monitor(pasted->lowered, 1, x, one));
    assert_ok(svmp_lowered_monitor(moved->lowered, 1, z, other));
    for (size_t k = 0; k < count; k++) assert_near(other[k], one[k], 1e-11);
}

static void compare_score(const svmp_model *model, const double *z) {
    const size_t d = model->graph->variables;
    double score[MOST], ignored[MOST], at[MOST];
    density_at(model, z, score);
    memcpy(at, z, d * sizeof *z);
    for (size_t i = 0; i < d; i++) {
        const double h = 1e-5;
        at[i] = z[i] + h;
        const double above = density_at(model, at, ignored);
        at[i] = z[i] - h;
        const double below = density_at(model, at, ignored);
        at[i] = z[i];
        assert_near((above - below) / (2 * h), score[i], 1e-5 * (1 + fabs(score[i])));
    }
}

static void compare(const svmp_model *pasted, const svmp_model *moved) {
    const size_t d = pasted->graph->variables, outputs = svmp_model_outputs(pasted);
    double x[MOST], z[MOST], score[MOST], values[MOST];
    assert_int_equal(moved->graph->variables, d);
    assert_true(d <= MOST && outputs <= MOST);
    for (size_t turn = 0; turn < 3; turn++) {
        for (size_t i = 0; i < d; i++) x[i] = 0.5 * test_random(5 + turn, i);
        assert_ok(svmp_model_natural(pasted, 1, x, values));
        assert_ok(svmp_model_unconstrain(moved, 1, values, z));
        compare_values(moved, z, values, outputs);
        compare_monitors(pasted, x, moved, z);
        const double there = density_at(moved, z, score) + log_slopes(moved, values);
        assert_near(there, density_at(pasted, x, score), 1e-10 * (1 + fabs(there)));
        compare_score(moved, z);
    }
    assert_ok(svmp_model_draw_priors(pasted, 7, 1, x));
    assert_ok(svmp_model_draw_priors(moved, 7, 1, z));
    assert_ok(svmp_model_natural(pasted, 1, x, values));
    compare_values(moved, z, values, outputs);
}

static void test_texts(void **state) {
    (void)state;
    svmp_data *data = make_data(STEPS);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        svmp_model *pasted = read_as(&texts[k], data, false, INFINITY), *moved = read_as(&texts[k], data, true, 1e-9);
        assert_int_equal(count_states(pasted), 0);
        assert_int_equal(count_states(moved), texts[k].states);
        compare(pasted, moved);
        svmp_model_free(pasted);
        svmp_model_free(moved);
    }
    svmp_data_free(data);
}

/* By default states are moved where formulas would not be pasted; then blankets do not grow, and no row is stored. */
static void test_limits(void **state) {
    (void)state;
    for (size_t steps = 40; steps <= 400; steps *= 10) {
        svmp_data *data = make_data(steps);
        for (size_t k = 0; k < 2; k++) {
            svmp_model *model = read_as(&texts[k], data, true, 0);
            assert_int_equal(count_states(model), steps > 40 ? steps : 0);
            for (size_t g = 0; g < model->group_count; g++) assert_false(svmp_computed_group_is(&model->groups[g]));
            for (size_t v = 0; steps > 40 && v < steps; v++) {
                const uint32_t p = model->graph->neighbourhood_of[v];
                const index_lists *lists = &model->graph->neighbourhoods;
                assert_true(lists->start[p + 1] - lists->start[p] <= 6);
            }
            svmp_model_free(model);
        }
        svmp_data_free(data);
    }
}

/* Each allocation fails in turn; the model can still be freed. */
static void test_memory(void **state) {
    (void)state;
    svmp_status status = SVMP_NO_MEMORY;
    svmp_data *data = make_data(STEPS);
    const choices made = {.centring = 1, .states = true, .store_above = 1e-9};
    for (long allowed = 0; status == SVMP_NO_MEMORY; allowed++) {
        scarce_memory memory = {1};
        svmp_context *scarce = scarce_context(&memory);
        svmp_model *model = NULL;
        memory.left = allowed;
        status = try_reading(scarce, &texts[3], data, &made, &model);
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
