/* Computed rows against the same model with every formula pasted into its factors. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/program.h"
#include "graph/colouring.h"
#include "model/computed.h"
#include "model/curvature.h"
#include "model/density_discontinuities.h"
#include "model/evaluator.h"
#include "model/node_evaluator.h"
#include "model/program_factors.h"

enum { STEPS = 300, MOST_SLOTS = 8, SERIES = 5, SHORT = 40 };

static svmp_context *context;
static program_builder *b;

static expr in(uint32_t slot) { return svmp_expr_input(b, slot); }
static expr number(uint32_t index) { return svmp_expr_parameter(b, index); }
static double datum(size_t t) { return 1.5 * test_random(7, t); }

/* A group of one structure: the slots and one parameter of each instance. */
static factor_group group_of(expr value, size_t slots, size_t instances, const uint32_t *variables,
                             const double *numbers) {
    program *compiled = NULL;
    factor_group made = {0};
    assert_ok(svmp_program_finish(b, value, slots, 1, &compiled));
    assert_ok(svmp_program_group_create(context, compiled, instances, variables, &numbers, &made));
    svmp_builder_reset(b);
    return made;
}

/* A standard normal factor of each variable, the last group of both models. */
static factor_group priors(size_t variables) {
    uint32_t *all = malloc(variables * sizeof *all);
    double *zero = calloc(variables, sizeof *zero);
    for (size_t i = 0; i < variables; i++) all[i] = (uint32_t)i;
    const expr value = svmp_expr_multiply(b, svmp_expr_literal(b, -0.5), svmp_expr_square(b, in(0)));
    const factor_group made = group_of(value, 1, variables, all, zero);
    free(all);
    free(zero);
    return made;
}

static svmp_model *finish(size_t variables, size_t count, const factor_group *groups) {
    svmp_model *model = NULL;
    factor_group copy[8];
    memcpy(copy, groups, count * sizeof *copy);
    assert_ok(svmp_model_create(context, &model));
    for (size_t i = 0; i < variables; i++) assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
    assert_ok(svmp_model_add_groups(model, count, copy));
    assert_ok(svmp_model_finish(model));
    return model;
}

/* With computed rows from `variables` on: row k of group g is instance k, group after group. */
static svmp_model *join(size_t variables, size_t row_groups, const factor_group *rows, size_t count,
                        const factor_group *factors) {
    computed_rows computed = {.first = variables, .group_count = row_groups};
    factor_group *groups = NULL;
    assert_ok(SVMP_NEW(context, computed.groups, row_groups));
    assert_ok(SVMP_NEW(context, computed.row, row_groups));
    assert_ok(SVMP_NEW(context, groups, count));
    memcpy(groups, factors, count * sizeof *groups);
    for (size_t g = 0; g < row_groups; g++) {
        computed.groups[g] = rows[g];
        assert_ok(SVMP_NEW(context, computed.row[g], rows[g].instances));
        for (size_t k = 0; k < rows[g].instances; k++) computed.row[g][k] = (uint32_t)(variables + computed.count++);
    }
    assert_ok(svmp_computed_join(context, &computed, &count, &groups));
    svmp_model *model = finish(variables, count, groups);
    svmp_release(context, groups);
    return model;
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

typedef struct pair_of_models {
    svmp_model *pasted, *computed;
    size_t variables;
} pair_of_models;

/* exp(v0) + ilogit(v1) y^2 / 2 + ilogit(v2) h / 2 */
static expr garch(expr h, expr y) {
    const expr half = svmp_expr_literal(b, 0.5), alpha = svmp_expr_multiply(b, half, svmp_expr_ilogit(b, in(1)));
    const expr beta = svmp_expr_multiply(b, half, svmp_expr_ilogit(b, in(2)));
    return svmp_expr_add(
        b, svmp_expr_exp(b, in(0)),
        svmp_expr_add(b, svmp_expr_multiply(b, alpha, svmp_expr_square(b, y)), svmp_expr_multiply(b, beta, h)));
}

/* -log(h) / 2 - y^2 / 2h */
static expr density(expr h, expr y) {
    const expr sum = svmp_expr_add(b, svmp_expr_log(b, h), svmp_expr_divide(b, svmp_expr_square(b, y), h));
    return svmp_expr_multiply(b, svmp_expr_literal(b, -0.5), sum);
}

/* h[0] = 1 pasted; h[t] reads y[t-1]. */
static pair_of_models make_garch(void) {
    pair_of_models made = {.variables = 3};
    static uint32_t slots[STEPS][4], read[STEPS];
    static double before[STEPS], now[STEPS];
    factor_group pasted[STEPS + 1], rows[2], factors[2];
    for (size_t t = 0; t < STEPS; t++) {
        now[t] = datum(t);
        before[t] = datum(t > 0 ? t - 1 : 0);
        for (uint32_t j = 0; j < 3; j++) slots[t][j] = j;
        slots[t][3] = (uint32_t)(3 + t); /* that of row t + 1: h[t] */
        read[t] = (uint32_t)(3 + t);
    }
    rows[0] = group_of(garch(svmp_expr_literal(b, 1), number(0)), 3, 1, slots[0], before);
    rows[1] = group_of(garch(in(3), number(0)), 4, STEPS - 1, slots[0], before + 1);
    factors[0] = group_of(density(in(0), number(0)), 1, STEPS, read, now);
    factors[1] = priors(3);
    made.computed = join(3, 2, rows, 2, factors);

    assert_ok(svmp_model_create(context, &made.pasted));
    for (size_t i = 0; i < 3; i++) assert_ok(svmp_model_add_node(made.pasted, NULL, 1, NULL, NULL, NULL));
    for (size_t t = 0; t < STEPS; t++) {
        expr h = svmp_expr_literal(b, 1);
        for (size_t s = 0; s <= t; s++) h = garch(h, svmp_expr_literal(b, before[s]));
        pasted[0] = group_of(density(h, number(0)), 3, 1, slots[0], now + t);
        assert_ok(svmp_model_add_groups(made.pasted, 1, pasted));
    }
    pasted[0] = priors(3);
    assert_ok(svmp_model_add_groups(made.pasted, 1, pasted));
    assert_ok(svmp_model_finish(made.pasted));
    return made;
}

/* Two statements in turn, e[t] = y[t] - m[t] and m[t] = tanh(v0) m[t-1] + tanh(v1) e[t-1] + v2, of SERIES series that
 * share v0 and v1, the last of which has one more unknown per step, so that blocks differ in their variables:
 * state = m + 0.3 z[t]. */
static expr moving(expr m, expr e) {
    return svmp_expr_add(b,
                         svmp_expr_add(b, svmp_expr_multiply(b, svmp_expr_tanh(b, in(0)), m),
                                       svmp_expr_multiply(b, svmp_expr_tanh(b, in(1)), e)),
                         in(2));
}

static expr residual(expr m, expr y) { return svmp_expr_subtract(b, y, m); }

static expr square_loss(expr e) {
    return svmp_expr_multiply(b, svmp_expr_literal(b, -2), svmp_expr_square(b, svmp_expr_sin(b, e)));
}

static uint32_t mean_row(size_t s, size_t t, size_t variables) { return (uint32_t)(variables + s * SHORT + t); }
static uint32_t error_row(size_t s, size_t t, size_t variables) { return mean_row(s, t, variables) + SERIES * SHORT; }

static pair_of_models make_arma(void) {
    const size_t variables = 2 + SERIES;
    pair_of_models made = {.variables = variables};
    static uint32_t slots[SERIES * SHORT][5], m[SERIES * SHORT], e[SERIES * SHORT];
    static double y[SERIES * SHORT];
    factor_group rows[2], factors[2];
    for (size_t s = 0; s < SERIES; s++)
        for (size_t t = 0; t < SHORT; t++) {
            const size_t k = s * SHORT + t;
            const uint32_t own[5] = {0, 1, (uint32_t)(2 + s), t ? mean_row(s, t - 1, variables) : 0,
                                     t ? error_row(s, t - 1, variables) : 1};
            memcpy(slots[k], own, sizeof own);
            m[k] = mean_row(s, t, variables);
            e[k] = error_row(s, t, variables);
            y[k] = datum(k);
        }
    rows[0] = group_of(moving(in(3), in(4)), 5, SERIES * SHORT, slots[0], y); /* at t = 0 of v0 and v1 */
    rows[1] = group_of(residual(in(0), number(0)), 1, SERIES * SHORT, m, y);
    factors[0] = group_of(square_loss(in(0)), 1, SERIES * SHORT, e, y);
    factors[1] = priors(variables);
    made.computed = join(variables, 2, rows, 2, factors);

    assert_ok(svmp_model_create(context, &made.pasted));
    for (size_t i = 0; i < variables; i++) assert_ok(svmp_model_add_node(made.pasted, NULL, 1, NULL, NULL, NULL));
    for (size_t s = 0; s < SERIES; s++)
        for (size_t t = 0; t < SHORT; t++) {
            expr mean = in(0), error = in(1);
            for (size_t u = 0; u <= t; u++) {
                mean = moving(mean, error);
                error = residual(mean, svmp_expr_literal(b, y[s * SHORT + u]));
            }
            factor_group one = group_of(square_loss(error), 3, 1, (uint32_t[]){0, 1, (uint32_t)(2 + s)}, y);
            assert_ok(svmp_model_add_groups(made.pasted, 1, &one));
        }
    factors[1] = priors(variables);
    assert_ok(svmp_model_add_groups(made.pasted, 1, &factors[1]));
    assert_ok(svmp_model_finish(made.pasted));
    return made;
}

/* x[t] = tanh(v0) x[t-1] + z[t], a variable for each step; factors of x[t] at odd t alone, and of z[t] x[t-1] at t = 1:
 * an instance of the same structure that reads variables is not part of the block. */
static pair_of_models make_states(void) {
    enum { T = 30 };
    const size_t variables = T + 1;
    pair_of_models made = {.variables = variables};
    uint32_t slots[T][3], read[T / 2 + 1];
    double y[T];
    factor_group rows[1], factors[2];
    for (size_t t = 0; t < T; t++) {
        slots[t][0] = 0;
        slots[t][1] = (uint32_t)(t + 1);
        slots[t][2] = (uint32_t)(t ? variables + t - 1 : 0);
        y[t] = datum(t);
    }
    for (size_t k = 0; k < T / 2; k++) read[k] = (uint32_t)(variables + 2 * k + 1);
    read[T / 2] = 5; /* a variable */
    const expr state = svmp_expr_add(b, svmp_expr_multiply(b, svmp_expr_tanh(b, in(0)), in(2)), in(1));
    rows[0] = group_of(state, 3, T, slots[0], y);
    factors[0] = group_of(square_loss(svmp_expr_subtract(b, in(0), number(0))), 1, T / 2 + 1, read, y);
    factors[1] = priors(variables);
    made.computed = join(variables, 1, rows, 2, factors);

    assert_ok(svmp_model_create(context, &made.pasted));
    for (size_t i = 0; i < variables; i++) assert_ok(svmp_model_add_node(made.pasted, NULL, 1, NULL, NULL, NULL));
    for (size_t k = 0; k <= T / 2; k++) {
        uint32_t own[T + 1] = {0};
        size_t last = 2 * k + 1, used = last + 2;
        expr x = in(0);
        for (uint32_t t = 0; t <= last; t++) {
            own[t + 1] = t + 1;
            x = svmp_expr_add(b, svmp_expr_multiply(b, svmp_expr_tanh(b, in(0)), x), in(t + 1));
            if (k == T / 2) break;
        }
        if (k == T / 2) {
            own[0] = 5;
            used = 1;
            svmp_builder_reset(b);
            x = in(0);
        }
        factor_group one = group_of(square_loss(svmp_expr_subtract(b, x, number(0))), used, 1, own, y + k);
        assert_ok(svmp_model_add_groups(made.pasted, 1, &one));
    }
    factors[1] = priors(variables);
    assert_ok(svmp_model_add_groups(made.pasted, 1, &factors[1]));
    assert_ok(svmp_model_finish(made.pasted));
    return made;
}

/* One recursion c[t] = tanh(v0) c[t-1] + v1, read by SERIES regions at all t: y = sin(c[t] + v[2 + region]). No two
 * regions are neighbours. */
static pair_of_models make_regions(void) {
    const size_t variables = 2 + SERIES;
    pair_of_models made = {.variables = variables};
    static uint32_t slots[SHORT][3], read[SERIES * SHORT][2];
    static double y[SERIES * SHORT];
    factor_group rows[1], factors[2];
    for (size_t t = 0; t < SHORT; t++) {
        const uint32_t own[3] = {0, 1, (uint32_t)(t ? variables + t - 1 : 1)};
        memcpy(slots[t], own, sizeof own);
        for (size_t s = 0; s < SERIES; s++) {
            const size_t k = t * SERIES + s;
            read[k][0] = (uint32_t)(variables + t);
            read[k][1] = (uint32_t)(2 + s);
            y[k] = datum(k);
        }
    }
    const expr row = svmp_expr_add(b, svmp_expr_multiply(b, svmp_expr_tanh(b, in(0)), in(2)), in(1));
    rows[0] = group_of(row, 3, SHORT, slots[0], y);
    factors[0] = group_of(square_loss(svmp_expr_subtract(b, svmp_expr_add(b, in(0), in(1)), number(0))), 2,
                          SERIES * SHORT, read[0], y);
    factors[1] = priors(variables);
    made.computed = join(variables, 1, rows, 2, factors);

    assert_ok(svmp_model_create(context, &made.pasted));
    for (size_t i = 0; i < variables; i++) assert_ok(svmp_model_add_node(made.pasted, NULL, 1, NULL, NULL, NULL));
    for (size_t k = 0; k < SERIES * SHORT; k++) {
        expr c = in(1);
        for (size_t t = 0; t <= k / SERIES; t++)
            c = svmp_expr_add(b, svmp_expr_multiply(b, svmp_expr_tanh(b, in(0)), c), in(1));
        factor_group one = group_of(square_loss(svmp_expr_subtract(b, svmp_expr_add(b, c, in(2)), number(0))), 3, 1,
                                    (uint32_t[]){0, 1, (uint32_t)(2 + k % SERIES)}, y + k);
        assert_ok(svmp_model_add_groups(made.pasted, 1, &one));
    }
    factors[1] = priors(variables);
    assert_ok(svmp_model_add_groups(made.pasted, 1, &factors[1]));
    assert_ok(svmp_model_finish(made.pasted));
    return made;
}

static void free_pair(pair_of_models *pair) {
    svmp_model_free(pair->pasted);
    svmp_model_free(pair->computed);
}

/* ---- comparisons ------------------------------------------------------------------------------------------------- */

static double *points(size_t variables, size_t n, uint64_t stream) {
    double *x = malloc(variables * n * sizeof *x);
    for (size_t k = 0; k < variables * n; k++) x[k] = 0.7 * test_random(stream, k);
    return x;
}

static void evaluate(const svmp_model *model, size_t n, int threads, const double *x, double *density, double *score) {
    evaluator *e = NULL;
    assert_ok(svmp_evaluator_create(model, n, threads, &e));
    assert_ok(svmp_evaluate(e, x, density, score));
    svmp_evaluator_free(e);
}

/* Values and scores; with any number of threads, and of every particle alone, the same bits. */
static void compare(const pair_of_models *pair) {
    static const size_t sizes[] = {1, 3, 9, 20, 70, 130};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const size_t n = sizes[s], numbers = pair->variables * n;
        double *x = points(pair->variables, n, 11), *one = malloc(2 * (numbers + n) * sizeof *one);
        double *other = one + numbers + n;
        evaluate(pair->pasted, n, 1, x, one, one + n);
        evaluate(pair->computed, n, 1, x, other, other + n);
        for (size_t k = 0; k < numbers + n; k++) assert_near(other[k], one[k], 1e-12 * (1 + 0.01 * STEPS));
        for (int threads = 2; threads <= 3; threads++) {
            evaluate(pair->computed, n, threads, x, one, one + n);
            assert_memory_equal(one, other, (numbers + n) * sizeof *one);
        }
        for (size_t l = 0; l < n; l += 1 + n / 3) {
            double *alone = malloc((2 * pair->variables + 1) * sizeof *alone);
            for (size_t i = 0; i < pair->variables; i++) alone[i] = x[i * n + l];
            evaluate(pair->computed, 1, 1, alone, alone + pair->variables, alone + pair->variables + 1);
            assert_true(alone[pair->variables] == other[l]);
            for (size_t i = 0; i < pair->variables; i++)
                assert_true(alone[pair->variables + 1 + i] == other[n + i * n + l]);
            free(alone);
        }
        free(x);
        free(one);
    }
}

static void compare_with_differences(const pair_of_models *pair) {
    svmp_gradient_check worst;
    double *x = points(pair->variables, 2, 13);
    assert_ok(svmp_model_check_gradient(pair->computed, 2, x, &worst));
    assert_true(worst.error < 1e-6);
    free(x);
}

/* One node is moved, the others stay. */
static void compare_nodes(const pair_of_models *pair) {
    enum { N = 10 };
    const size_t variables = pair->variables;
    double *x = points(variables, N, 17), *y = points(variables, N, 18), *score[2];
    for (int which = 0; which < 2; which++) {
        const svmp_model *model = which ? pair->computed : pair->pasted;
        uint32_t *colour = malloc(variables * sizeof *colour);
        size_t colours = 0;
        node_evaluator *l = NULL;
        score[which] = malloc(variables * N * sizeof **score);
        assert_ok(svmp_graph_colour(model->graph, colour, &colours));
        assert_ok(svmp_node_evaluator_create(model, N, 2, colours, colour, &l));
        assert_ok(svmp_node_evaluate_scores(l, x, y, score[which]));
        svmp_node_evaluator_free(l);
        free(colour);
    }
    for (size_t k = 0; k < variables * N; k++) assert_near(score[1][k], score[0][k], 1e-11);
    free(score[0]);
    free(score[1]);
    free(x);
    free(y);
}

static void compare_curvatures(const pair_of_models *pair) {
    enum { N = 5 };
    const size_t d = pair->variables;
    double *x = points(d, N, 19), *dense[2];
    for (int which = 0; which < 2; which++) {
        curvature *c = NULL;
        assert_ok(svmp_curvature_create(which ? pair->computed : pair->pasted, 2, &c));
        const sparsity *pattern = svmp_curvature_pattern(c);
        double *H = malloc(pattern->entries * sizeof *H);
        dense[which] = calloc(d * d, sizeof **dense);
        assert_ok(svmp_curvature_evaluate(c, N, x, NULL, H));
        for (size_t j = 0; j < d; j++)
            for (size_t e = pattern->start[j]; e < pattern->start[j + 1]; e++)
                dense[which][pattern->row[e] * d + j] = H[e];
        free(H);
        svmp_curvature_free(c);
    }
    double largest = 0;
    for (size_t k = 0; k < d * d; k++) largest = fmax(largest, fabs(dense[0][k]));
    for (size_t k = 0; k < d * d; k++) assert_true(fabs(dense[1][k] - dense[0][k]) < 1e-6 * (1 + largest));
    free(dense[0]);
    free(dense[1]);
    free(x);
}

static void compare_graphs(const pair_of_models *pair) {
    for (size_t v = 0; v < pair->variables; v++) {
        const svmp_graph *one = pair->pasted->graph, *other = pair->computed->graph;
        const uint32_t p = one->neighbourhood_of[v], q = other->neighbourhood_of[v];
        const size_t count = one->neighbourhoods.start[p + 1] - one->neighbourhoods.start[p];
        assert_int_equal(other->neighbourhoods.start[q + 1] - other->neighbourhoods.start[q], count);
        assert_memory_equal(one->neighbourhoods.item + one->neighbourhoods.start[p],
                            other->neighbourhoods.item + other->neighbourhoods.start[q], count * sizeof(uint32_t));
    }
}

static void compare_all(pair_of_models pair) {
    compare(&pair);
    compare_with_differences(&pair);
    compare_nodes(&pair);
    compare_curvatures(&pair);
    compare_graphs(&pair);
    free_pair(&pair);
}

static void test_garch(void **state) {
    (void)state;
    const pair_of_models pair = make_garch();
    assert_int_equal(pair.computed->group_count, 1); /* the priors are quadratic */
    assert_true(svmp_computed_group_is(&pair.computed->groups[0]));
    assert_int_equal(svmp_computed_group_rows(&pair.computed->groups[0], 0), STEPS);
    compare_all(pair);
}

static void test_arma(void **state) {
    (void)state;
    const pair_of_models pair = make_arma();
    assert_int_equal(pair.computed->group_count, 1);
    assert_int_equal(pair.computed->groups[0].instances, SERIES); /* one block each */
    assert_int_equal(pair.computed->groups[0].slots, 3);
    compare_all(pair);
}

static void test_states(void **state) {
    (void)state;
    const pair_of_models pair = make_states();
    assert_int_equal(pair.computed->group_count, 2);
    compare_all(pair);
}

static void test_regions(void **state) {
    (void)state;
    const pair_of_models pair = make_regions();
    assert_int_equal(pair.computed->groups[0].instances, 1);
    compare_all(pair);
}

/* x[t] = 0.9 x[t-1] + v0 + t v1, and y[t] normal about it: as with pasted formulas, two unknowns and a quadratic. */
static void test_linear(void **state) {
    (void)state;
    uint32_t slots[SHORT][3], read[SHORT];
    double time[SHORT], y[SHORT];
    for (size_t t = 0; t < SHORT; t++) {
        const uint32_t own[3] = {0, 1, (uint32_t)(t ? t + 1 : 0)};
        memcpy(slots[t], own, sizeof own);
        read[t] = (uint32_t)(t + 2);
        time[t] = 0.1 * (double)t;
        y[t] = datum(t);
    }
    expr value = svmp_expr_add(b, svmp_expr_multiply(b, svmp_expr_literal(b, 0.9), in(2)), in(0));
    factor_group row =
        group_of(svmp_expr_add(b, value, svmp_expr_multiply(b, number(0), in(1))), 3, SHORT, slots[0], time);
    value = svmp_expr_square(b, svmp_expr_subtract(b, in(0), number(0)));
    factor_group factors[] = {group_of(svmp_expr_multiply(b, svmp_expr_literal(b, -0.5), value), 1, SHORT, read, y),
                              priors(2)};
    svmp_model *model = join(2, 1, &row, 2, factors);
    assert_true(svmp_model_is_gaussian(model));

    const double x[] = {0.3, -0.2};
    double density, score[2], expected = -0.5 * (0.3 * 0.3 + 0.2 * 0.2), at = x[0], slope[2], by[2] = {-0.3, 0.2};
    for (size_t t = 0; t < SHORT; t++) { /* of the first step, x[-1] is v0 */
        slope[0] = t ? 0.9 * slope[0] + 1 : 1.9;
        slope[1] = t ? 0.9 * slope[1] + time[t] : 0;
        at = 0.9 * at + x[0] + time[t] * x[1];
        expected -= 0.5 * (at - y[t]) * (at - y[t]);
        for (size_t i = 0; i < 2; i++) by[i] -= (at - y[t]) * slope[i];
    }
    assert_ok(svmp_model_evaluate(model, 1, x, &density, score));
    assert_near(density, expected, 1e-12);
    for (size_t i = 0; i < 2; i++) assert_near(score[i], by[i], 1e-12);
    svmp_model_free(model);
}

/* ---- refusals -------------------------------------------------------------------------------------------- */

/* x = y, y = x. */
static void test_row_of_itself(void **state) {
    (void)state;
    computed_rows rows = {.first = 1, .count = 2, .group_count = 1};
    const uint32_t reads[] = {2, 1}, all[] = {1};
    const double zero[] = {0, 0};
    factor_group *groups = NULL;
    size_t count = 1;
    assert_ok(SVMP_NEW(context, rows.groups, 1));
    assert_ok(SVMP_NEW(context, rows.row, 1));
    assert_ok(SVMP_NEW(context, rows.row[0], 2));
    assert_ok(SVMP_NEW(context, groups, 1));
    rows.row[0][0] = 1;
    rows.row[0][1] = 2;
    rows.groups[0] = group_of(svmp_expr_exp(b, in(0)), 1, 2, reads, zero);
    groups[0] = group_of(svmp_expr_exp(b, in(0)), 1, 1, all, zero);
    assert_int_equal(svmp_computed_join(context, &rows, &count, &groups), SVMP_BAD_CALL);
    assert_string_equal(svmp_context_error(context), "Computed row 1 depends on itself.");
    groups[0].kind->free(context, groups[0].self);
    svmp_release(context, groups[0].variables);
    svmp_release(context, groups);
    svmp_computed_rows_free(context, &rows);
}

/* max(v0, 0) and rows computed from it have discontinuous slopes but continuous values; a step function has not. */
static void test_jumps(void **state) {
    (void)state;
    for (int steps = 0; steps < 2; steps++) {
        const uint32_t first[] = {0}, second[] = {1};
        const double zero[] = {0};
        factor_group row = group_of(steps ? svmp_expr_step(b, in(0)) : svmp_expr_exp(b, in(0)), 1, 1, first, zero);
        factor_group factors[] = {group_of(svmp_expr_sin(b, in(0)), 1, 1, second, zero), priors(1)};
        svmp_model *model = join(1, 1, &row, 2, factors);
        bool *jumps = NULL;
        assert_ok(svmp_model_discontinuities(model, &jumps));
        assert_int_equal(jumps != NULL && jumps[0], steps);
        svmp_release(context, jumps);
        svmp_model_free(model);
    }
}

static int setup(void **state) {
    (void)state;
    context = test_context(2);
    return svmp_builder_create(context, &b) == SVMP_OK ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    svmp_builder_free(b);
    svmp_context_free(context);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_garch),   cmocka_unit_test(test_arma),   cmocka_unit_test(test_states),
        cmocka_unit_test(test_regions), cmocka_unit_test(test_linear), cmocka_unit_test(test_row_of_itself),
        cmocka_unit_test(test_jumps),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
