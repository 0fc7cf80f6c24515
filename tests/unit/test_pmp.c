/* Particle message passing: potentials, max-sum, new particles, and whole runs. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "method/pmp/pmp.h"
#include "model/program_factors.h"

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* A range factor: -(|x_u - x_v| - r)^2 / (2 sigma^2) for points in the plane; with an anchor, x_v is known. */
typedef struct range {
    double distance, sigma, anchor[2];
    int anchored;
} range;

static int range_value(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    const range *r = user_data;
    for (size_t l = 0; l < n; l++) {
        double from[2], length = 0, slope;
        for (int k = 0; k < 2; k++) {
            from[k] = x[k][l] - (r->anchored ? r->anchor[k] : x[2 + k][l]);
            length += from[k] * from[k];
        }
        length = sqrt(length);
        slope = -(length - r->distance) / (r->sigma * r->sigma);
        value[l] = 0.5 * slope * (length - r->distance);
        for (int k = 0; k < 2; k++) {
            gradient[k][l] = length > 0 ? slope * from[k] / length : 0;
            if (!r->anchored) gradient[2 + k][l] = -gradient[k][l];
        }
    }
    return 0;
}

/* A double well for a scalar, and a coupling of two that is neither quadratic nor symmetric. */
static int well(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)user_data;
    for (size_t l = 0; l < n; l++) {
        value[l] = x[0][l] * x[0][l] - pow(x[0][l], 4);
        gradient[0][l] = 2 * x[0][l] - 4 * pow(x[0][l], 3);
    }
    return 0;
}

static int pull(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    const double *strength = user_data;
    for (size_t l = 0; l < n; l++) {
        const double u = x[0][l] - 2 * x[1][l];
        value[l] = -*strength * log1p(u * u);
        gradient[0][l] = -*strength * 2 * u / (1 + u * u);
        gradient[1][l] = -2 * gradient[0][l];
    }
    return 0;
}

static svmp_run *start(const svmp_model *model, const char *name, size_t particles, size_t iterations,
                       const char *from) {
    run_options options = graphical_options();
    options.method = name;
    options.particles = particles;
    options.iterations = iterations;
    options.init = from;
    svmp_run *run = NULL;
    assert_ok(svmp_run_make(model, &options, &run));
    return run;
}

static svmp_particles *infer(const svmp_model *model, const char *name, size_t particles, size_t iterations,
                             const char *from) {
    svmp_run *run = start(model, name, particles, iterations, from);
    svmp_outcome outcome;
    svmp_particles *result = NULL;
    assert_ok(svmp_run_go(run, &outcome));
    assert_int_equal(outcome, SVMP_COMPLETED);
    assert_ok(svmp_run_particles(run, &result));
    svmp_run_free(run);
    return result;
}

/* Adds a Gaussian factor of two nodes of one or two variables: `weight` between all of them, and a diagonal that keeps
 * it positive definite. */
static void add_pair(svmp_model *model, size_t u, size_t du, size_t v, size_t dv, double weight) {
    double block[16] = {0};
    const size_t k = du + dv;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            block[i * k + j] = i == j ? 0.3 + 2 * fabs(weight) : (i < du) != (j < du) ? weight : 0;
    assert_ok(svmp_model_add_gaussian(model, 2, (size_t[]){u, v}, block, NULL));
}

/* A program group, as a statement in a loop makes one: -w tanh(x - y)^2 for given pairs of variables, w by instance. If
 * both variables belong to one node, or are the same, the instance is a potential of that node. */
static void add_program(svmp_model *model, size_t instances, const uint32_t *pairs, const double *weights) {
    program_builder *builder = NULL;
    program *compiled = NULL;
    factor_group group;
    assert_ok(svmp_builder_create(model->context, &builder));
    const expr apart = svmp_expr_subtract(builder, svmp_expr_input(builder, 0), svmp_expr_input(builder, 1));
    const expr cost = svmp_expr_square(builder, svmp_expr_tanh(builder, apart));
    const expr value = svmp_expr_negate(builder, svmp_expr_multiply(builder, svmp_expr_parameter(builder, 0), cost));
    assert_ok(svmp_program_finish(builder, value, 2, 1, &compiled));
    svmp_builder_free(builder);
    assert_ok(svmp_program_group_create(model->context, compiled, instances, pairs, &weights, &group));
    assert_ok(svmp_model_add_groups(model, 1, &group));
}

/* A random tree of nodes of one and two variables; every node is joined to an earlier one. With `others`, it also has
 * factors that are not Gaussian: functions of single nodes and of pairs of scalars, in both orders, and a program
 * group.
 */
static svmp_model *make_tree(svmp_context *context, size_t nodes, int others, uint64_t stream) {
    static double strength = 0.7;
    svmp_model *model = NULL;
    uint32_t pairs[64];
    double weights[32];
    size_t instances = 0;
    assert_true(nodes <= 16);
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < nodes; v++) {
        const size_t d = 1 + v % 2;
        double linear[2] = {2 * test_random(stream, 2 * v), 2 * test_random(stream, 2 * v + 1)};
        assert_ok(svmp_model_add_node(model, NULL, d, NULL, NULL, NULL));
        assert_ok(svmp_model_add_gaussian(model, 1, &v, (double[]){0.5, 0.1, 0.1, 0.6}, linear));
        if (v == 0) continue;
        const size_t up = (size_t)((test_random(stream + 1, v) + 1) / 2 * (double)v);
        add_pair(model, up, 1 + up % 2, v, d, 0.5 * test_random(stream + 2, v));
        const uint32_t last = (uint32_t)(model->graph->first[v + 1] - 1), first = (uint32_t)model->graph->first[up];
        pairs[2 * instances] = v % 3 ? last : first; /* the two nodes, in either order */
        pairs[2 * instances + 1] = v % 3 ? first : last;
        weights[instances++] = 1 + test_random(stream + 3, v);
        pairs[2 * instances] = last; /* the single node */
        pairs[2 * instances + 1] = (uint32_t)model->graph->first[v];
        weights[instances++] = 0.3;
        if (others && d == 1) assert_ok(svmp_model_add_callback(model, 1, &v, well, NULL));
        if (others && d == 1 && up % 2 == 0)
            assert_ok(
                svmp_model_add_callback(model, 2, v % 4 ? (size_t[]){up, v} : (size_t[]){v, up}, pull, &strength));
    }
    if (others) add_program(model, instances, pairs, weights);
    assert_ok(svmp_model_finish(model));
    return model;
}

/* ---- potentials and messages ------------------------------------------------------------------------------------- */

/* log p of the configuration that takes particle at[v] of node v. */
static double log_density(const svmp_model *model, const pmp *p, const size_t *at) {
    const svmp_graph *graph = svmp_model_graph(model);
    double x[64], value;
    for (size_t v = 0; v < svmp_graph_nodes(graph); v++) {
        const size_t first = svmp_graph_node_first(graph, v);
        for (size_t k = 0; k < svmp_graph_node_dimension(graph, v); k++)
            x[first + k] = p->x[(first + k) * 2 * p->n + at[v]];
    }
    assert_ok(svmp_model_evaluate(model, 1, x, &value, NULL));
    return value;
}

/* Particles from a wide normal; their tables are not yet filled. */
static svmp_run *spread_particles(const svmp_model *model, size_t particles) {
    svmp_run *run = start(model, "tpmp", particles, 1, "normal:1");
    const pmp *p = run->state;
    for (size_t k = 0; k < svmp_graph_variables(svmp_model_graph(model)) * 2 * particles; k++)
        p->x[k] = 2 * test_random(99, k);
    return run;
}

/* The tables represent the model: their entries for a configuration add up to its log density. */
static void test_potentials_add_up_to_the_log_density(void **state) {
    (void)state;
    enum { NODES = 8, N = 3, ALL = 2 * N };
    svmp_context *context = test_context(2);
    svmp_model *model = make_tree(context, NODES, 1, 11);
    assert_true(model->group_count > 4);
    svmp_run *run = spread_particles(model, N);
    pmp *p = run->state;
    assert_int_equal(p->pairs->edges, NODES - 1);
    assert_ok(svmp_pmp_tables(p));
    for (size_t trial = 0; trial < 200; trial++) {
        size_t at[NODES];
        double sum = 0;
        for (size_t v = 0; v < NODES; v++) {
            at[v] = (size_t)((test_random(5, trial * NODES + v) + 1) * N);
            sum += p->unary[v * ALL + at[v]];
        }
        for (size_t e = 0; e < p->pairs->edges; e++)
            sum += p->table[(e * ALL + at[p->pairs->node[2 * e]]) * ALL + at[p->pairs->node[2 * e + 1]]];
        assert_near(sum, log_density(model, p, at), 1e-12);
    }
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* On a tree the belief of a particle is the largest log density of all configurations that contain it. The messages
 * stop when a sweep changes them by at most 1e-5; damping halves the remaining error, so that each is within a few
 * times that. */
static void test_max_sum_equals_brute_force_on_trees(void **state) {
    (void)state;
    enum { NODES = 6, N = 2, ALL = 2 * N, CONFIGURATIONS = 1 << (2 * NODES) };
    svmp_context *context = test_context(2);
    for (uint64_t tree = 0; tree < 5; tree++) {
        svmp_model *model = make_tree(context, NODES, 1, 20 + 10 * tree);
        svmp_run *run = spread_particles(model, N);
        pmp *p = run->state;
        assert_ok(svmp_pmp_tables(p));
        assert_true(svmp_pmp_pass(p) <= 1e-5);
        double best[NODES][ALL], largest = -INFINITY;
        for (size_t v = 0; v < NODES; v++)
            for (size_t a = 0; a < ALL; a++) best[v][a] = -INFINITY;
        for (size_t code = 0; code < CONFIGURATIONS; code++) { /* two bits per node: 2N = 4 particles */
            size_t at[NODES];
            for (size_t v = 0; v < NODES; v++) at[v] = code >> (2 * v) & 3;
            const double value = log_density(model, p, at);
            largest = fmax(largest, value);
            for (size_t v = 0; v < NODES; v++) best[v][at[v]] = fmax(best[v][at[v]], value);
        }
        for (size_t v = 0; v < NODES; v++) {
            double top = -INFINITY;
            for (size_t a = 0; a < ALL; a++) top = fmax(top, p->belief[v * ALL + a]);
            for (size_t a = 0; a < ALL; a++) assert_near(p->belief[v * ALL + a] - top, best[v][a] - largest, 1e-4);
        }
        svmp_run_free(run);
        svmp_model_free(model);
    }
    svmp_context_free(context);
}

/* ---- new particles ----------------------------------------------------------------------------------------------- */

/* Three of four new particles are proposed through an edge; the fourth is a random walk from a kept one with variance
 * 0.05.
 */
static void test_new_particles(void **state) {
    (void)state;
    enum { SIDE = 12, NODES = SIDE * SIDE, N = 50 };
    svmp_context *context = test_context(2);
    svmp_model *model = test_grid(context, SIDE, 3);
    run_options options = graphical_options();
    svmp_run *run = NULL;
    svmp_outcome outcome;
    options.method = "dpmp";
    options.particles = N;
    options.iterations = 1;
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_go(run, &outcome));
    const pmp *p = run->state;
    double walks = 0, squares = 0, through = 0;
    for (size_t v = 0; v < NODES; v++)
        for (size_t l = 0; l < N; l++) {
            const pmp_plan *plan = &p->plan[v * N + l];
            const double *x = p->x + v * 2 * N, by = x[N + l] - x[plan->kept];
            if (plan->end != PMP_WALK) assert_int_equal(p->pairs->node[plan->end], v);
            through += plan->end != PMP_WALK;
            walks += plan->end == PMP_WALK;
            squares += plan->end == PMP_WALK ? by * by : 0;
        }
    assert_near(through / (NODES * N), 0.75, 4 * sqrt(0.75 * 0.25 / (NODES * N)));
    assert_near(squares / walks, 0.05, 4 * 0.05 * sqrt(2 / walks));
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A factor that keeps its nodes a hundred apart: a random walk takes hundreds of steps, proposals through the factor
 * few. */
static int apart(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)user_data;
    for (size_t l = 0; l < n; l++) {
        const double rest = x[1][l] - x[0][l] - 100;
        value[l] = -rest * rest / 2;
        gradient[0][l] = rest;
        gradient[1][l] = -rest;
    }
    return 0;
}

static void test_proposals_through_factors(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    svmp_run *run = NULL;
    svmp_outcome outcome;
    run_options options = graphical_options();
    options.method = "tpmp";
    options.particles = 20;
    options.iterations = 20;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < 2; v++) assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
    assert_ok(svmp_model_add_gaussian(model, 1, (size_t[]){0}, (double[]){100}, NULL)); /* near 0 */
    assert_ok(svmp_model_add_callback(model, 2, (size_t[]){0, 1}, apart, NULL));
    assert_ok(svmp_model_finish(model));
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_go(run, &outcome));
    assert_near(run->backend->x[0], 0, 0.5);
    assert_near(run->backend->x[20], 100, 2);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A run keeps the particles chosen by its selection: T-PMP's have the N largest beliefs of the 2N, and both put the
 * largest first. */
static void test_runs_keep_selected_particles(void **state) {
    (void)state;
    enum { N = 10, ALL = 2 * N };
    svmp_context *context = test_context(2);
    svmp_model *model = make_tree(context, 7, 1, 51);
    const char *methods[] = {"tpmp", "dpmp"};
    for (size_t m = 0; m < 2; m++) {
        svmp_run *run = start(model, methods[m], N, 3, "normal:1");
        svmp_outcome outcome;
        assert_ok(svmp_run_go(run, &outcome));
        const pmp *p = run->state;
        for (size_t v = 0; v < 7; v++) {
            const double *belief = p->belief + v * ALL;
            const size_t first = svmp_graph_node_first(svmp_model_graph(model), v);
            for (size_t l = 0; l < (m == 0 ? N : 1); l++) {
                size_t at = 0, above = 0;
                while (at < ALL && p->x[first * ALL + at] != run->backend->x[first * N + l]) at++;
                assert_true(at < ALL);
                for (size_t a = 0; a < ALL; a++) above += belief[a] > belief[at];
                assert_int_equal(above, l);
            }
        }
        svmp_run_free(run);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* The first particle of every node forms the best configuration. New particles come as near to it as the smallest scale
 * of the candidates, a 64th of at least sqrt(0.05), and the best of about a thousand nearer: 0.02 is about six of these
 * scales, and a fiftieth of the posterior's sd, which is about 1. */
static void test_both_find_the_mode_of_a_gaussian_tree(void **state) {
    (void)state;
    enum { NODES = 9 };
    svmp_context *context = test_context(2);
    const char *methods[] = {"tpmp", "dpmp"};
    for (uint64_t tree = 0; tree < 3; tree++) {
        svmp_model *model = make_tree(context, NODES, 0, 70 + 10 * tree);
        const size_t d = svmp_graph_variables(svmp_model_graph(model));
        double precision[256], b[16];
        assert_true(d <= 16);
        test_dense(model, precision, b);
        test_invert(d, precision);
        for (size_t m = 0; m < 2; m++) {
            svmp_particles *particles = infer(model, methods[m], 30, 60, "normal:3");
            for (size_t i = 0; i < d; i++) {
                double mean = 0;
                for (size_t j = 0; j < d; j++) mean += precision[i * d + j] * b[j];
                assert_near(svmp_particles_values(particles)[i * 30], mean, 0.02);
            }
            svmp_particles_free(particles);
        }
        svmp_model_free(model);
    }
    svmp_context_free(context);
}

/* Double wells and a loop: no guarantee, but all numbers are finite and within their boxes. */
static void test_a_loopy_grid_stays_finite(void **state) {
    (void)state;
    enum { SIDE = 4, NODES = SIDE * SIDE, N = 8 };
    svmp_context *context = test_context(2);
    const char *methods[] = {"tpmp", "dpmp"};
    static double strength[] = {3, -3}; /* the second one repels */
    for (size_t m = 0; m < 2; m++) {
        svmp_model *model = NULL;
        assert_ok(svmp_model_create(context, &model));
        for (size_t v = 0; v < NODES; v++) {
            const double low = -1.5, high = 1.5;
            assert_ok(svmp_model_add_node(model, NULL, 1, v % 3 ? &low : NULL, v % 3 ? &high : NULL, NULL));
            assert_ok(svmp_model_add_callback(model, 1, &v, well, NULL));
        }
        for (size_t v = 0; v < NODES; v++) {
            if (v % SIDE + 1 < SIDE)
                assert_ok(svmp_model_add_callback(model, 2, (size_t[]){v, v + 1}, pull, &strength[v % 2]));
            if (v / SIDE + 1 < SIDE)
                assert_ok(svmp_model_add_callback(model, 2, (size_t[]){v + SIDE, v}, pull, &strength[v % 3 == 0]));
        }
        assert_ok(svmp_model_finish(model));
        svmp_particles *particles = infer(model, methods[m], N, 20, "normal:2");
        const double *x = svmp_particles_values(particles);
        for (size_t k = 0; k < svmp_particles_variables(particles) * N; k++) {
            assert_true(isfinite(x[k]));
            if (k / N % 3) assert_true(fabs(x[k]) <= 1.5);
        }
        svmp_particles_free(particles);
        svmp_model_free(model);
    }
    svmp_context_free(context);
}

/* No particle stays where the density is zero or infinite if another particle has a finite one. */
static int half_line(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)user_data;
    for (size_t l = 0; l < n; l++) {
        const double u = x[0][l] - x[1][l];
        value[l] = u > 2 ? INFINITY : u > 0 && u <= 1 ? -u : -INFINITY;
        gradient[0][l] = gradient[1][l] = 0;
    }
    return 0;
}

static void test_impossible_pairs_are_avoided(void **state) {
    (void)state;
    enum { N = 20 };
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < 2; v++) {
        assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
        assert_ok(svmp_model_add_gaussian(model, 1, &v, (double[]){1}, NULL));
    }
    assert_ok(svmp_model_add_callback(model, 2, (size_t[]){0, 1}, half_line, NULL));
    assert_ok(svmp_model_finish(model));
    svmp_particles *particles = infer(model, "tpmp", N, 30, "normal:1");
    const double u = svmp_particles_values(particles)[0] - svmp_particles_values(particles)[N];
    assert_true(u > 0 && u < 0.2); /* the largest -u lies at the edge, 0 */
    svmp_particles_free(particles);
    svmp_model_free(model);
    svmp_context_free(context);
}

static int fails(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)user_data, (void)x;
    for (size_t l = 0; l < n; l++) value[l] = gradient[0][l] = gradient[1][l] = 0;
    return 1;
}

static void test_refusals(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    const char *methods[] = {"tpmp", "dpmp"};
    for (size_t m = 0; m < 2; m++)
        for (int many = 0; many < 2; many++) {
            svmp_model *model = NULL;
            svmp_run *run = NULL;
            svmp_outcome outcome;
            run_options options = graphical_options();
            options.method = methods[m];
            options.particles = 4;
            assert_ok(svmp_model_create(context, &model));
            for (size_t v = 0; v < 9; v++)
                assert_ok(svmp_model_add_node(model, v == 4 ? "slope" : NULL, 1, NULL, NULL, NULL));
            assert_ok(svmp_model_add_callback(model, 2, (size_t[]){1, 0}, fails, NULL));
            if (many) assert_ok(svmp_model_add_gaussian(model, 3, (size_t[]){4, 0, 7}, NULL, NULL));
            if (many) assert_ok(svmp_model_add_gaussian(model, 9, (size_t[]){0, 1, 2, 3, 4, 5, 6, 7, 8}, NULL, NULL));
            assert_ok(svmp_model_finish(model));
            if (many) {
                char sentence[128];
                snprintf(sentence, sizeof sentence,
                         "The method '%s' needs factors of at most two nodes, but factor 1 has 3: slope, x.1 and x.8.",
                         methods[m]);
                assert_int_equal(svmp_run_make(model, &options, &run), SVMP_UNSUPPORTED);
                assert_string_equal(svmp_context_error(context), sentence);
                assert_null(run);
            } else {
                assert_ok(svmp_run_make(model, &options, &run));
                assert_int_equal(svmp_run_go(run, &outcome), SVMP_CALLBACK_FAILED);
                assert_string_equal(svmp_context_error(context), "The callback of factor 0 (x.2, x.1) failed.");
            }
            svmp_run_free(run);
            svmp_model_free(model);
        }
    svmp_context_free(context);
}

static int stop_at_four(const svmp_progress *progress, void *user_data) {
    (void)user_data;
    return progress->iteration == 4;
}

/* Large enough for every part of an iteration to be worth three threads (svmp_threads_for). */
static void test_the_same_bits_for_any_threads_and_after_a_stop(void **state) {
    (void)state;
    enum { SIDE = 6, N = 20 };
    const char *methods[] = {"tpmp", "dpmp"};
    double first[SIDE * SIDE * N];
    for (size_t m = 0; m < 2; m++)
        for (int threads = 1; threads <= 3; threads++) {
            svmp_context *context = test_context(threads);
            svmp_model *model = test_grid(context, SIDE, 7);
            svmp_run *run = start(model, methods[m], N, 6, "normal:1");
            svmp_outcome outcome;
            if (threads == 2) assert_ok(svmp_run_set_monitor(run, stop_at_four, NULL));
            assert_ok(svmp_run_go(run, &outcome));
            if (threads == 2) assert_int_equal(outcome, SVMP_STOPPED);
            if (threads == 2) assert_ok(svmp_run_go(run, &outcome));
            assert_int_equal(outcome, SVMP_COMPLETED);
            if (threads == 1) memcpy(first, run->backend->x, sizeof first);
            assert_memory_equal(first, run->backend->x, sizeof first);
            svmp_run_free(run);
            svmp_model_free(model);
            svmp_context_free(context);
        }
}

/* A node without neighbours, and one particle. */
static void test_one_particle_of_an_isolated_node(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    const char *methods[] = {"tpmp", "dpmp"};
    for (size_t m = 0; m < 2; m++) {
        svmp_model *model = NULL;
        assert_ok(svmp_model_create(context, &model));
        for (size_t v = 0; v < 2; v++) assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
        assert_ok(svmp_model_add_gaussian(model, 1, (size_t[]){0}, (double[]){4}, (double[]){4}));
        assert_ok(svmp_model_add_gaussian(model, 1, (size_t[]){1}, (double[]){1}, NULL));
        assert_ok(svmp_model_finish(model));
        svmp_particles *particles = infer(model, methods[m], 1, 300, "normal:1");
        assert_near(svmp_particles_values(particles)[0], 1,
                    0.02); /* 300 proposals of sd 0.22: one in twenty lands there */
        assert_true(isfinite(svmp_particles_values(particles)[1]));
        svmp_particles_free(particles);
        svmp_model_free(model);
    }
    svmp_context_free(context);
}

/* ---- sensors ----------------------------------------------------------------------------------------------------- */

enum { SENSORS = 9, ANCHORS = 3, FAR = 8 };

static double distance(const double *a, const double *b) { return hypot(a[0] - b[0], a[1] - b[1]); }

/* Nine sensors near the points of a 3 by 3 lattice in [-1, 1]^2, anchors in three corners, ranges below 1.65 measured
 * with noise of sd 0.05; but the sensor in the fourth corner, FAR, has only two ranges, and so two possible positions.
 * The others are unambiguous: known[v] says that three ranges lead to anchors or to unambiguous sensors. */
typedef struct network {
    double place[SENSORS + ANCHORS][2];
    range ranges[(SENSORS + ANCHORS) * (SENSORS + ANCHORS)];
    int known[SENSORS + ANCHORS];
} network;

static svmp_model *make_network(svmp_context *context, uint64_t stream, network *net) {
    const double corner[ANCHORS][2] = {{-1, -1}, {1, -1}, {-1, 1}}, sigma = 0.05, reach = 1.65;
    int measured[SENSORS][SENSORS + ANCHORS] = {{0}};
    svmp_model *model = NULL;
    size_t count = 0;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < SENSORS; v++) {
        net->place[v][0] = 0.7 * ((double)(v % 3) - 1) + 0.15 * test_random(stream, 2 * v);
        net->place[v][1] = 0.7 * ((double)v / 3 - (double)(v % 3) / 3 - 1) + 0.15 * test_random(stream, 2 * v + 1);
        assert_ok(svmp_model_add_node(model, NULL, 2, (double[]){-1, -1}, (double[]){1, 1}, NULL));
    }
    for (size_t a = 0; a < ANCHORS; a++) memcpy(net->place[SENSORS + a], corner[a], sizeof corner[a]);
    for (size_t u = 0; u < SENSORS; u++)
        for (size_t v = u + 1; v < SENSORS + ANCHORS; v++) {
            const double true_distance = distance(net->place[u], net->place[v]);
            if (true_distance >= reach || (v == FAR && u != 5 && u != 7) || u == FAR) continue;
            double noise = 0;
            for (uint64_t k = 0; k < 12; k++) noise += test_random(stream + 1, (u * 12 + v) * 12 + k) / 2; /* sd 1 */
            range *r = &net->ranges[count++];
            *r = (range){true_distance + sigma * noise, sigma, {0}, v >= SENSORS};
            memcpy(r->anchor, net->place[v], sizeof r->anchor);
            assert_ok(svmp_model_add_callback(model, r->anchored ? 1 : 2, (size_t[]){u, v}, range_value, r));
            measured[u][v] = 1;
            if (v < SENSORS) measured[v][u] = 1;
        }
    assert_ok(svmp_model_finish(model));
    for (size_t v = 0; v < SENSORS + ANCHORS; v++) net->known[v] = v >= SENSORS;
    for (size_t pass = 0; pass < SENSORS; pass++)
        for (size_t v = 0; v < SENSORS; v++) {
            int ranges = 0;
            for (size_t w = 0; w < SENSORS + ANCHORS; w++) ranges += measured[v][w] && net->known[w];
            net->known[v] |= ranges >= 3;
        }
    return model;
}

/* Each unambiguous sensor's best particle lies within 0.15 of its position, three sd of a range: three or more ranges
 * from different sides determine a position about as well as one range determines a distance. FAR lies where its ranges
 * agree. */
static void test_sensors_are_localised(void **state) {
    (void)state;
    enum { N = 40 };
    svmp_context *context = test_context(2);
    const char *methods[] = {"tpmp", "dpmp"};
    for (size_t m = 0; m < 2; m++) {
        network net;
        svmp_model *model = make_network(context, 61, &net);
        svmp_particles *particles = infer(model, methods[m], N, 40, "uniform:-1,1");
        const double *x = svmp_particles_values(particles);
        int known = 0;
        for (size_t v = 0; v < SENSORS; v++) {
            const double best[2] = {x[2 * v * N], x[(2 * v + 1) * N]};
            known += net.known[v];
            if (net.known[v]) assert_true(distance(best, net.place[v]) < 0.15);
            for (size_t u = 5; v == FAR && u <= 7; u += 2) {
                const double other[2] = {x[2 * u * N], x[(2 * u + 1) * N]};
                assert_true(fabs(distance(best, other) - distance(net.place[FAR], net.place[u])) < 0.15);
            }
        }
        assert_int_equal(known, SENSORS - 1);
        svmp_particles_free(particles);
        svmp_model_free(model);
    }
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_potentials_add_up_to_the_log_density),
        cmocka_unit_test(test_max_sum_equals_brute_force_on_trees),
        cmocka_unit_test(test_new_particles),
        cmocka_unit_test(test_proposals_through_factors),
        cmocka_unit_test(test_runs_keep_selected_particles),
        cmocka_unit_test(test_both_find_the_mode_of_a_gaussian_tree),
        cmocka_unit_test(test_a_loopy_grid_stays_finite),
        cmocka_unit_test(test_impossible_pairs_are_avoided),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_the_same_bits_for_any_threads_and_after_a_stop),
        cmocka_unit_test(test_one_particle_of_an_isolated_node),
        cmocka_unit_test(test_sensors_are_localised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
