/* The Stein discrepancy: against its definition, against the velocity field whose squared norm it is, for exact and for
 * wrong draws. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "stein/discrepancy.h"

enum { MOST = 6000 };

static kernel parse(svmp_context *context, const char *text) {
    bandwidth standard;
    kernel k;
    assert_ok(svmp_bandwidth_parse(context, "median", &standard));
    assert_ok(svmp_kernel_parse(context, text, standard, &k));
    return k;
}

static svmp_discrepancy measure(const svmp_model *model, const char *text, size_t n, const double *x,
                                svmp_discrepancy *nodes) {
    const kernel k = parse(model->context, text);
    double *score = malloc(model->graph->variables * n * sizeof *score);
    svmp_discrepancy total;
    assert_ok(svmp_model_evaluate(model, n, x, NULL, score));
    const stein_sample sample = {
        .graph = model->graph, .kernel = &k, .n = n, .x = x, .score = score, .seed = 11, .iteration = 3};
    assert_ok(svmp_stein_discrepancy(model->context, &sample, &total, nodes));
    free(score);
    return total;
}

static void scatter(size_t count, uint64_t stream, double *x) {
    for (size_t k = 0; k < count; k++) x[k] = 2 * test_random(stream, k) + (double)(k % 3);
}

/* ---- the definition ---------------------------------------------------------------------------------------------- */

typedef struct plane_kernel {
    const char *shape;
    double h, v, centre[2];
} plane_kernel;

static double kernel_value(const plane_kernel *k, const double a[2], const double b[2]) {
    double distance = pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2), product = 0;
    if (strcmp(k->shape, "rbf") == 0) return exp(-distance / k->h);
    if (strcmp(k->shape, "imq") == 0) return pow(1 + distance / k->h, -0.5);
    for (int j = 0; j < 2; j++) product += (a[j] - k->centre[j]) * (b[j] - k->centre[j]);
    return 1 + product / k->v;
}

/* s s' k + s dk/dx_i' + s' dk/dx_i + d2k/dx_i dx_i', the derivatives by finite differences. */
static double stein_kernel(const plane_kernel *k, const double a[2], const double b[2], int i, double s, double t) {
    const double tiny = 1e-4;
    double value[2][2];
    for (int p = 0; p < 2; p++)
        for (int q = 0; q < 2; q++) {
            double from[2] = {a[0], a[1]}, to[2] = {b[0], b[1]};
            from[i] += p ? tiny : -tiny;
            to[i] += q ? tiny : -tiny;
            value[p][q] = kernel_value(k, from, to);
        }
    const double by_first = (value[1][1] + value[1][0] - value[0][1] - value[0][0]) / (4 * tiny);
    const double by_second = (value[1][1] + value[0][1] - value[1][0] - value[0][0]) / (4 * tiny);
    const double by_both = (value[1][1] - value[1][0] - value[0][1] + value[0][0]) / (4 * tiny * tiny);
    return s * t * kernel_value(k, a, b) + s * by_second + t * by_first + by_both;
}

static void test_the_definition(void **state) {
    (void)state;
    enum { N = 7 };
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 2, 1, 1, 71);
    double x[2 * N], score[2 * N];
    scatter(2 * N, 1, x);
    assert_ok(svmp_model_evaluate(model, N, x, NULL, score));
    plane_kernel k = {.h = 1.7};
    for (int i = 0; i < 2; i++) {
        for (size_t l = 0; l < N; l++) k.centre[i] += x[i * N + l] / N;
        for (size_t l = 0; l < N; l++) k.v += pow(x[i * N + l] - k.centre[i], 2) / N;
    }
    const char *shapes[] = {"rbf", "imq", "linear"};
    for (size_t s = 0; s < 3; s++) {
        char text[40];
        svmp_discrepancy nodes[2], total;
        k.shape = shapes[s];
        snprintf(text, sizeof text, "0.5*%s%s@blanket", shapes[s], s < 2 ? "(1.7)" : "");
        total = measure(model, text, N, x, nodes);
        for (int i = 0; i < 2; i++) {
            double all = 0, same = 0;
            for (size_t l = 0; l < N; l++)
                for (size_t m = 0; m < N; m++) {
                    const double a[2] = {x[l], x[N + l]}, b[2] = {x[m], x[N + m]};
                    const double kappa = 0.5 * stein_kernel(&k, a, b, i, score[i * N + l], score[i * N + m]);
                    all += kappa;
                    if (l == m) same += kappa;
                }
            assert_near(nodes[i].v, all / (N * N), 1e-6);
            assert_near(nodes[i].u, (all - same) / (N * (N - 1)), 1e-6);
            assert_near(nodes[i].ratio, all / (N * N) / ((same / N - all / (N * N)) / (N - 1)), 1e-5);
        }
        assert_near(total.v, nodes[0].v + nodes[1].v, 1e-14);
        assert_near(total.u, nodes[0].u + nodes[1].u, 1e-14);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* phi of variable i at a point y. The kernel of coinciding particles is the sum of the terms' weights, so with y as an
 * additional particle, (n + 1) phi' = n phi(y) + weight s_i(y). */
static double velocity_at(const svmp_model *model, const kernel *k, size_t n, const double *x, const double *y,
                          size_t i) {
    const size_t d = model->graph->variables;
    backend *b = NULL;
    double weight = 0;
    for (size_t a = 0; a < k->count; a++) weight += k->terms[a].weight;
    assert_ok(svmp_backend_create(&svmp_backend_ref, model, n + 1, 11, k, NULL, &b));
    for (size_t j = 0; j < d; j++) {
        memcpy(b->x + j * (n + 1), x + j * n, n * sizeof *x);
        b->x[j * (n + 1) + n] = y[j];
    }
    assert_ok(b->kind->score(b));
    assert_ok(b->kind->stein(b, k, 3));
    const size_t at = i * (n + 1) + n;
    const double phi = ((double)(n + 1) * b->phi[at] - weight * b->score[at]) / (double)n;
    svmp_backend_free(b);
    return phi;
}

/* V is the squared norm of phi: V_i = mean over the particles of s_i phi_i + d phi_i/dx_i, for the kernel of phi.
 */
static void test_v_is_the_squared_norm_of_phi(void **state) {
    (void)state;
    enum { N = 6, MOST_VARIABLES = 12 };
    const double tiny = 1e-5;
    const char *kernels[] = {"rbf(1.3)@blanket", "imq(0.8)@all", "rbf(2)@random:1 + 0.3*imq(3)@self"};
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 5, 0.5, 0, 5);
    const size_t d = model->graph->variables;
    double x[MOST_VARIABLES * N], score[MOST_VARIABLES * N];
    svmp_discrepancy nodes[5];
    scatter(d * N, 4, x);
    assert_ok(svmp_model_evaluate(model, N, x, NULL, score));
    for (size_t a = 0; a < 3; a++) {
        const kernel k = parse(context, kernels[a]);
        measure(model, kernels[a], N, x, nodes);
        for (size_t v = 0; v < 5; v++) {
            double norm = 0;
            for (size_t i = model->graph->first[v]; i < model->graph->first[v + 1]; i++)
                for (size_t m = 0; m < N; m++) {
                    double y[MOST_VARIABLES], above, below;
                    for (size_t j = 0; j < d; j++) y[j] = x[j * N + m];
                    norm += score[i * N + m] * velocity_at(model, &k, N, x, y, i) / N;
                    y[i] += tiny;
                    above = velocity_at(model, &k, N, x, y, i);
                    y[i] -= 2 * tiny;
                    below = velocity_at(model, &k, N, x, y, i);
                    norm += (above - below) / (2 * tiny) / N;
                }
            assert_near(nodes[v].v, norm, 1e-8);
        }
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- identities -------------------------------------------------------------------------------------------------- */

static const char *const battery[] = {"rbf@blanket", "imq@all", "linear@blanket", "rbf@random:2 + 0.3*linear@all"};
enum { BATTERY = sizeof battery / sizeof *battery };

static void test_parts_add_up(void **state) {
    (void)state;
    enum { N = 20, NODES = 30 };
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, NODES, 0.2, 0, 6);
    double *x = malloc(MOST * sizeof *x);
    svmp_discrepancy nodes[NODES];
    scatter(model->graph->variables * N, 8, x);
    for (size_t b = 0; b < BATTERY; b++) {
        svmp_discrepancy total = measure(model, battery[b], N, x, nodes);
        double u = 0, v = 0;
        for (size_t node = 0; node < NODES; node++) {
            assert_true(nodes[node].v >= 0);
            u += nodes[node].u;
            v += nodes[node].v;
        }
        assert_near(total.u, u, 1e-13);
        assert_near(total.v, v, 1e-13);
    }
    /* Drawing all neighbours gives the blanket; the discrepancy of a sum of terms is the sum of theirs. */
    svmp_discrepancy blanket = measure(model, "rbf@blanket", N, x, NULL);
    svmp_discrepancy drawn = measure(model, "rbf@random:30", N, x, NULL);
    svmp_discrepancy linear = measure(model, "linear@self", N, x, NULL);
    svmp_discrepancy both = measure(model, "0.25*rbf@blanket + 3*linear@self", N, x, NULL);
    assert_near(drawn.v, blanket.v, 1e-14);
    assert_near(both.v, 0.25 * blanket.v + 3 * linear.v, 1e-14);
    assert_near(both.u, 0.25 * blanket.u + 3 * linear.u, 1e-14);
    free(x);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_the_same_bits_for_any_threads(void **state) {
    (void)state;
    enum { N = 50, NODES = 60 };
    double *x = malloc(MOST * sizeof *x);
    svmp_discrepancy one[NODES], other[NODES], total = {0};
    for (size_t b = 0; b < BATTERY; b++)
        for (int threads = 1; threads <= 8; threads = 2 * threads + 1) {
            svmp_context *context = test_context(threads);
            svmp_model *model = test_random_gaussian(context, NODES, 0.1, 0, 29);
            scatter(model->graph->variables * N, 1, x);
            svmp_discrepancy now = measure(model, battery[b], N, x, threads == 1 ? one : other);
            if (threads > 1) assert_memory_equal(one, other, sizeof one);
            if (threads > 1) assert_memory_equal(&total, &now, sizeof now);
            total = now;
            svmp_model_free(model);
            svmp_context_free(context);
        }
    free(x);
}

/* One particle: V = s^2, and U is undefined. All particles at one point that is not the mode: the largest ratio. */
static void test_few_particles(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = test_random_gaussian(context, 1, 0, 1, 3);
    double x[4] = {1.5, 1.5, 1.5, 1.5}, score;
    assert_ok(svmp_model_evaluate(model, 1, x, NULL, &score));
    svmp_discrepancy d = measure(model, "rbf@blanket", 1, x, NULL);
    assert_near(d.v, score * score, 1e-14);
    assert_true(isnan(d.u) && isnan(d.ratio));
    d = measure(model, "rbf@blanket", 4, x, NULL);
    assert_near(d.v, score * score, 1e-14);
    assert_near(d.u, score * score, 1e-14);
    assert_true(isinf(d.ratio));
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- draws ------------------------------------------------------------------------------------------------------- */

static int draw(const svmp_model *model, size_t n, uint64_t seed, double *x) {
    run_options options = graphical_options();
    options.method = "exact";
    options.particles = n;
    options.seed = seed;
    svmp_run *run = NULL;
    svmp_outcome outcome;
    svmp_particles *particles = NULL;
    if (svmp_run_make(model, &options, &run) == SVMP_UNSUPPORTED) return 0;
    assert_ok(svmp_run_go(run, &outcome));
    assert_ok(svmp_run_particles(run, &particles));
    memcpy(x, svmp_particles_values(particles), model->graph->variables * n * sizeof *x);
    svmp_particles_free(particles);
    svmp_run_free(run);
    return 1;
}

/* U is 0 on average over seeds, within 4 standard errors, for a kernel that does not depend on the particles. For
 * kernels that do, the ratio is near 1 on average and exceeds its limit in less than 1 in 1000 cases. */
static void test_exact_draws(void **state) {
    (void)state;
    enum { SIDE = 5, NODES = SIDE * SIDE, N = 20, SEEDS = 400 };
    const char *kernels[] = {"rbf(2)@blanket", "imq(5)@self", "rbf@blanket", "rbf@all", "rbf@self"};
    svmp_context *context = test_context(2);
    svmp_model *model = test_grid(context, SIDE, 3);
    double x[NODES * N];
    svmp_discrepancy nodes[NODES];
    if (!draw(model, N, 1, x)) skip();
    for (size_t k = 0; k < 5; k++) {
        double sum = 0, squares = 0, ratios = 0;
        size_t beyond = 0, samples = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            draw(model, N, seed, x);
            const double u = measure(model, kernels[k], N, x, nodes).u;
            sum += u;
            squares += u * u;
            beyond = 0;
            for (size_t v = 0; v < NODES; v++) {
                ratios += nodes[v].ratio;
                beyond += svmp_discrepancy_excess(&nodes[v]) > 1;
            }
            samples += beyond > 0;
        }
        const double mean = sum / SEEDS, error = sqrt((squares / SEEDS - mean * mean) / SEEDS);
        if (k < 2) assert_true(fabs(mean) < 4 * error);
        assert_true(fabs(ratios / (SEEDS * NODES) - 1) < 0.1);
        assert_true(samples <= 0.05 * SEEDS);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* U and V grow with a shift of all variables; if one node is shifted, it is the worst one. */
static void test_shifted_draws(void **state) {
    (void)state;
    enum { SIDE = 6, NODES = SIDE * SIDE, N = 60 };
    svmp_context *context = test_context(2);
    svmp_model *model = test_grid(context, SIDE, 3);
    double x[NODES * N], variance[NODES];
    svmp_discrepancy nodes[NODES], last = {.u = -INFINITY};
    if (!draw(model, N, 1, x)) skip();
    assert_ok(svmp_model_exact_moments(model, NULL, variance));
    for (int shift = 0; shift < 5; shift++) {
        svmp_discrepancy now = measure(model, "rbf@blanket", N, x, NULL);
        assert_true(now.u > last.u && now.v > last.v && now.ratio > last.ratio);
        last = now;
        for (size_t k = 0; k < NODES * N; k++) x[k] += 0.5 * sqrt(variance[k / N]);
    }
    draw(model, N, 1, x);
    for (size_t shifted = 0; shifted < NODES; shifted += 7) {
        const double by = 1.5 * sqrt(variance[shifted]);
        for (size_t l = 0; l < N; l++) x[shifted * N + l] += by;
        measure(model, "rbf@blanket", N, x, nodes);
        size_t worst = 0;
        for (size_t v = 0; v < NODES; v++) worst = nodes[v].ratio > nodes[worst].ratio ? v : worst;
        assert_int_equal(worst, shifted);
        assert_true(nodes[worst].ratio > nodes[worst].limit);
        for (size_t l = 0; l < N; l++) x[shifted * N + l] -= by;
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Draws stretched and shrunk about their mean: the moments show that they are too wide or too narrow, even if the
 * kernel, whose bandwidth follows the particles, does not; for exact draws the moments stay within their limit. */
static void test_scaled_draws(void **state) {
    (void)state;
    enum { SIDE = 5, NODES = SIDE * SIDE, N = 60 };
    const double factors[] = {0.3, 1, 10, 100};
    svmp_context *context = test_context(2);
    svmp_model *model = test_grid(context, SIDE, 3);
    double x[NODES * N], scaled[NODES * N], mean[NODES];
    svmp_discrepancy nodes[NODES];
    if (!draw(model, N, 1, x)) skip();
    assert_ok(svmp_model_exact_moments(model, mean, NULL));
    for (size_t f = 0; f < 4; f++) {
        for (size_t k = 0; k < NODES * N; k++) scaled[k] = mean[k / N] + factors[f] * (x[k] - mean[k / N]);
        measure(model, "rbf@blanket", N, scaled, nodes);
        for (size_t v = 0; v < NODES; v++) {
            if (factors[f] == 1) assert_true(nodes[v].moment_z < nodes[v].moment_limit);
            if (factors[f] != 1) assert_true(nodes[v].moment_z > nodes[v].moment_limit);
        }
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static svmp_run *go(const svmp_model *model, const char *method, const char *rule, size_t n, size_t iterations) {
    run_options options = graphical_options();
    options.method = method;
    options.step = rule;
    options.particles = n;
    options.iterations = iterations;
    svmp_run *run = NULL;
    svmp_outcome outcome;
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_go(run, &outcome));
    return run;
}

static size_t count_beyond(const svmp_run *run, size_t nodes, svmp_discrepancy *total) {
    svmp_discrepancy *each = malloc(nodes * sizeof *each);
    size_t beyond = 0;
    assert_ok(svmp_run_discrepancy(run, total, each));
    for (size_t v = 0; v < nodes; v++) beyond += svmp_discrepancy_excess(&each[v]) > 1;
    free(each);
    return beyond;
}

/* Converged runs are better than exact draws and no node exceeds its limit; in runs that are too short many do. A run
 * of Langevin dynamics that has forgotten its start is like exact draws. */
static void test_runs_that_have_and_have_not_converged(void **state) {
    (void)state;
    enum { SIDE = 6, NODES = SIDE * SIDE };
    const size_t sizes[] = {15, 60};
    svmp_context *context = test_context(2);
    svmp_model *model = test_grid(context, SIDE, 3);
    svmp_discrepancy total;
    for (size_t s = 0; s < 2; s++) {
        const char *methods[] = {"graphical", "random", "independent"};
        for (size_t m = 0; m < 3; m++) {
            svmp_run *run = go(model, methods[m], "adam:0.1..0.004", sizes[s], 1500);
            assert_int_equal(count_beyond(run, NODES, &total), 0);
            assert_true(total.ratio < 1 && total.u < 0);
            svmp_run_free(run);
        }
        svmp_run *cut = go(model, "graphical", "adagrad:0.1", sizes[s], 5);
        assert_true(count_beyond(cut, NODES, &total) > NODES / 4);
        assert_true(total.ratio > 2 && total.u > 0);
        svmp_run_free(cut);
    }
    svmp_run *run = go(model, "langevin", "fixed:0.05", 100, 4000);
    assert_true(count_beyond(run, NODES, &total) <= 1);
    assert_true(total.ratio > 0.7 && total.ratio < 1.5);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* The last step of t is the difference to the particles after t - 1 steps. */
static void test_last_step(void **state) {
    (void)state;
    enum { NODES = 4, N = 12 };
    svmp_context *context = test_context(1);
    svmp_model *model = test_random_gaussian(context, NODES, 1, 1, 5);
    svmp_run *before = go(model, "graphical", "fixed:0.1", N, 7), *after = go(model, "graphical", "fixed:0.1", N, 8);
    svmp_run *start = go(model, "graphical", "fixed:0.1", N, 0);
    svmp_particles *a = NULL, *b = NULL;
    assert_ok(svmp_run_particles(before, &a));
    assert_ok(svmp_run_particles(after, &b));
    double largest = 0, relative = 0;
    size_t variable = 0;
    for (size_t i = 0; i < NODES; i++) {
        svmp_moments moments;
        assert_ok(svmp_particles_moments(b, i, &moments));
        for (size_t l = 0; l < N; l++) {
            const double far = fabs(svmp_particles_values(b)[i * N + l] - svmp_particles_values(a)[i * N + l]);
            largest = fmax(largest, far);
            if (far / moments.sd > relative) variable = i;
            relative = fmax(relative, far / moments.sd);
        }
    }
    svmp_movement moved, none;
    assert_ok(svmp_run_last_movement(after, &moved));
    assert_ok(svmp_run_last_movement(start, &none));
    assert_near(moved.largest, largest, 1e-15);
    assert_near(moved.relative, relative, 1e-14);
    assert_int_equal(moved.variable, variable);
    assert_true(isnan(none.largest));
    assert_int_equal(svmp_run_last_movement(NULL, &none), SVMP_BAD_CALL);
    assert_int_equal(svmp_run_last_movement(start, NULL), SVMP_BAD_CALL);
    svmp_particles_free(a);
    svmp_particles_free(b);
    svmp_run_free(before);
    svmp_run_free(after);
    svmp_run_free(start);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_unsupported_discrepancies(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = test_random_gaussian(context, 3, 1, 1, 5);
    run_options options = graphical_options();
    options.method = "nuts";
    svmp_run *run = NULL;
    svmp_discrepancy total;
    assert_ok(svmp_run_make(model, &options, &run));
    assert_int_equal(svmp_run_discrepancy(run, &total, NULL), SVMP_UNSUPPORTED);
    assert_int_equal(svmp_run_discrepancy(run, NULL, NULL), SVMP_BAD_CALL);
    assert_int_equal(svmp_run_discrepancy(NULL, &total, NULL), SVMP_BAD_CALL);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* With one eigenvalue the limit is the quantile of a squared normal: 2.5758^2 for one node, 3.8906^2 for a hundred.
 * Additional small eigenvalues bring it nearer to 1; n particles have at most n - 1 of them. */
static void test_limit(void **state) {
    (void)state;
    assert_near(svmp_ratio_limit(50, 3, 3, 1), 2.575829 * 2.575829, 1e-6);
    assert_near(svmp_ratio_limit(50, 3, 3, 100), 3.890592 * 3.890592, 1e-6);
    assert_near(svmp_ratio_limit(50, 3, 1, 100), 1 + (3.890592 * 3.890592 - 1) / 3, 1e-6);
    assert_near(svmp_ratio_limit(50, 3, 0, 100), 1 + (3.890592 * 3.890592 - 1) / 7, 1e-6);
    assert_true(isnan(svmp_ratio_limit(1, 3, 1, 100)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_definition), cmocka_unit_test(test_v_is_the_squared_norm_of_phi),
        cmocka_unit_test(test_parts_add_up),   cmocka_unit_test(test_the_same_bits_for_any_threads),
        cmocka_unit_test(test_few_particles),  cmocka_unit_test(test_exact_draws),
        cmocka_unit_test(test_shifted_draws),  cmocka_unit_test(test_scaled_draws),
        cmocka_unit_test(test_limit),          cmocka_unit_test(test_runs_that_have_and_have_not_converged),
        cmocka_unit_test(test_last_step),      cmocka_unit_test(test_unsupported_discrepancies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
