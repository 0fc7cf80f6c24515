/* Log density and score: closed forms, finite differences, callbacks, and refusals. */
#include "support.h"

#include <math.h>
#include <string.h>

/* Two variables a, b and a "range" r: value = -(sqrt((a0-b0)^2 + (a1-b1)^2) - r)^2 */
static int range_factor(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    const double r = *(const double *)user_data;
    for (size_t l = 0; l < n; l++) {
        double u = x[0][l] - x[2][l], v = x[1][l] - x[3][l], distance = sqrt(u * u + v * v),
               slope = -2 * (distance - r);
        value[l] = -(distance - r) * (distance - r);
        gradient[0][l] = slope * u / distance;
        gradient[1][l] = slope * v / distance;
        gradient[2][l] = -gradient[0][l];
        gradient[3][l] = -gradient[1][l];
    }
    return 0;
}

static double ranges[3] = {0.5, 1, 2};

/* Four nodes in the plane: callbacks along a path, Gaussian factors of nodes and of pairs. */
static svmp_model *mixed_model(svmp_context *context) {
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < 4; v++) {
        assert_ok(svmp_model_add_node(model, NULL, 2, NULL, NULL, NULL));
        assert_ok(svmp_model_add_gaussian(model, 1, &v, (double[]){1.5, 0.25, 0.25, 1}, (double[]){(double)v, -1}));
    }
    for (size_t v = 0; v < 3; v++)
        assert_ok(svmp_model_add_callback(model, 2, (size_t[]){v + 1, v}, range_factor, &ranges[v]));
    double across[16] = {[2] = 0.3, [8] = 0.3, [7] = -0.2, [13] = -0.2};
    assert_ok(svmp_model_add_gaussian(model, 2, (size_t[]){0, 3}, across, NULL));
    assert_ok(svmp_model_finish(model));
    return model;
}

static void test_score_is_the_derivative_of_the_log_density(void **state) {
    (void)state;
    enum { N = 7, D = 8 };
    svmp_context *context = test_context(2);
    svmp_model *model = mixed_model(context);
    double x[D * N], score[D * N], up[N], down[N];
    const double step = 1e-5;
    for (size_t k = 0; k < D * N; k++) x[k] = 2 * test_random(5, k);
    assert_ok(svmp_model_evaluate(model, N, x, NULL, score));
    for (size_t i = 0; i < D; i++) {
        for (size_t l = 0; l < N; l++) x[i * N + l] += step;
        assert_ok(svmp_model_evaluate(model, N, x, up, NULL));
        for (size_t l = 0; l < N; l++) x[i * N + l] -= 2 * step;
        assert_ok(svmp_model_evaluate(model, N, x, down, NULL));
        for (size_t l = 0; l < N; l++) {
            x[i * N + l] += step;
            assert_near(score[i * N + l], (up[l] - down[l]) / (2 * step), 1e-8);
        }
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_gaussian_density_against_its_matrix(void **state) {
    (void)state;
    enum { N = 5, MOST = 24 };
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 12, 0.4, 0, 31);
    const size_t d = svmp_graph_variables(svmp_model_graph(model));
    double A[MOST * MOST], b[MOST], x[MOST * N], score[MOST * N], log_density[N];
    test_dense(model, A, b);
    for (size_t k = 0; k < d * N; k++) x[k] = test_random(6, k);
    assert_ok(svmp_model_evaluate(model, N, x, log_density, score));
    for (size_t l = 0; l < N; l++) {
        double sum = 0;
        for (size_t i = 0; i < d; i++) {
            double row = 0;
            for (size_t j = 0; j < d; j++) row += A[i * d + j] * x[j * N + l];
            assert_near(score[i * N + l], b[i] - row, 1e-14);
            sum += x[i * N + l] * (b[i] - row / 2);
        }
        assert_near(log_density[l], sum, 1e-13);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* More variables than one part of the sums, so that several parts are combined. */
static void test_any_number_of_parts(void **state) {
    (void)state;
    enum { SIDE = 20, D = SIDE * SIDE, N = 3 };
    static double x[D * N], score[D * N], alone[D], one[D], together[N], single[1];
    svmp_context *context = test_context(3);
    svmp_model *model = test_grid(context, SIDE, 3);
    for (size_t k = 0; k < D * N; k++) x[k] = test_random(8, k);
    assert_ok(svmp_model_evaluate(model, N, x, together, score));
    for (size_t l = 0; l < N; l++) {
        for (size_t i = 0; i < D; i++) one[i] = x[i * N + l];
        assert_ok(svmp_model_evaluate(model, 1, one, single, alone));
        assert_memory_equal(single, &together[l], sizeof *single);
        for (size_t i = 0; i < D; i++) assert_memory_equal(&alone[i], &score[i * N + l], sizeof *alone);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

static int cosine(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)user_data;
    for (size_t l = 0; l < n; l++) {
        value[l] = cos(x[0][l] - x[1][l]);
        gradient[0][l] = -sin(x[0][l] - x[1][l]);
        gradient[1][l] = -gradient[0][l];
    }
    return 0;
}

/* Every node has a Gaussian, and a callback joins it to the node of half its number. */
static svmp_model *cosine_tree(svmp_context *context, size_t nodes) {
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < nodes; v++) {
        assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
        assert_ok(svmp_model_add_gaussian(model, 1, &v, (double[]){1.0 / 3}, (double[]){0.1}));
        if (v > 0) assert_ok(svmp_model_add_callback(model, 2, (size_t[]){v, v / 2}, cosine, NULL));
    }
    assert_ok(svmp_model_finish(model));
    return model;
}

/* Too many factors and particles to keep all gradients at once; for single particles they are all kept. */
static void test_any_number_of_waves(void **state) {
    (void)state;
    enum { D = 600, N = 1024 };
    static double x[D * N], score[D * N], log_density[N], alone[D], one[D];
    svmp_context *context = test_context(1);
    svmp_model *model = cosine_tree(context, D);
    for (size_t k = 0; k < D * N; k++) x[k] = test_random(4, k);
    assert_ok(svmp_model_evaluate(model, N, x, log_density, score));
    for (size_t l = 0; l < N; l += 100) {
        for (size_t i = 0; i < D; i++) one[i] = x[i * N + l];
        double single;
        assert_ok(svmp_model_evaluate(model, 1, one, &single, alone));
        assert_near(single, log_density[l], 1e-12); /* (parts have fewer instances where there are more particles) */
        for (size_t i = 0; i < D; i++) assert_memory_equal(&alone[i], &score[i * N + l], sizeof *alone);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_the_same_bits_for_any_threads(void **state) {
    (void)state;
    enum { D = 700, N = 64 };
    const int threads[] = {1, 2, 3, 8};
    static double x[D * N], score[2][D * N], log_density[2][N];
    for (size_t k = 0; k < D * N; k++) x[k] = test_random(3, k);
    for (size_t t = 0; t < 4; t++) {
        svmp_context *context = test_context(threads[t]);
        svmp_model *model = cosine_tree(context, D);
        assert_ok(svmp_model_evaluate(model, N, x, log_density[t > 0], score[t > 0]));
        if (t > 0) assert_memory_equal(log_density[0], log_density[1], sizeof log_density[0]);
        if (t > 0) assert_memory_equal(score[0], score[1], sizeof score[0]);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

static int fails(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)user_data;
    for (size_t l = 0; l < n; l++) value[l] = gradient[0][l] = 0;
    return x[0][0] > 0;
}

static int not_a_number(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)x, (void)user_data;
    for (size_t l = 0; l < n; l++) value[l] = 0, gradient[0][l] = l == 2 ? NAN : 0;
    return 0;
}

static svmp_model *model_with(svmp_context *context, svmp_factor_function function) {
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < 2; v++) assert_ok(svmp_model_add_node(model, v ? "second" : "first", 1, NULL, NULL, NULL));
    for (size_t v = 0; v < 2; v++) assert_ok(svmp_model_add_gaussian(model, 1, &v, (double[]){1}, NULL));
    assert_ok(svmp_model_add_callback(model, 1, (size_t[]){1}, function, NULL));
    assert_ok(svmp_model_finish(model));
    return model;
}

static void test_a_callback_may_fail(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_model *model = model_with(context, fails);
    double score[2];
    assert_ok(svmp_model_evaluate(model, 1, (double[]){0, -1}, NULL, score));
    assert_int_equal(svmp_model_evaluate(model, 1, (double[]){0, 1}, NULL, score), SVMP_CALLBACK_FAILED);
    assert_string_equal(svmp_context_error(context), "The callback of factor 2 (second) failed.");
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_a_run_ends_at_a_number_that_is_not_finite(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        svmp_context *context = test_context(2);
        svmp_model *model = model_with(context, not_a_number);
        run_options options = graphical_options();
        options.particles = 5;
        options.backend = k ? "ref" : "cpu";
        svmp_run *run = NULL;
        svmp_outcome outcome;
        svmp_particles *before = NULL, *after = NULL;
        assert_ok(svmp_run_make(model, &options, &run));
        assert_ok(svmp_run_particles(run, &before));
        assert_int_equal(svmp_run_go(run, &outcome), SVMP_NOT_FINITE);
        assert_int_equal(outcome, SVMP_DIVERGED);
        assert_non_null(strstr(svmp_context_error(context), "The score of second is nan in particle 3 at iteration 1"));
        if (k == 0) assert_non_null(strstr(svmp_context_error(context), "(factor 2)."));
        assert_ok(svmp_run_particles(run, &after)); /* the last finite ones */
        assert_memory_equal(svmp_particles_values(before), svmp_particles_values(after), 10 * sizeof(double));
        svmp_particles_free(before);
        svmp_particles_free(after);
        svmp_run_free(run);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

#define assert_refused(call, text)                                                                                     \
    do {                                                                                                               \
        assert_int_equal((call), SVMP_BAD_CALL);                                                                       \
        if (strstr(svmp_context_error(context), text) == NULL)                                                         \
            fail_msg("'%s' lacks '%s'", svmp_context_error(context), text);                                            \
    } while (0)

/* A step to infinity is an error even if a box would bound it. */
static void test_a_step_to_infinity_fails_in_a_box(void **state) {
    (void)state;
    const double low = 0, high = 1, precision = 1, pull = 1e308;
    const char *methods[] = {"graphical", "langevin"};
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    assert_ok(svmp_model_add_node(model, NULL, 1, &low, &high, NULL));
    assert_ok(svmp_model_add_gaussian(model, 1, (size_t[]){0}, &precision, &pull));
    assert_ok(svmp_model_finish(model));
    for (size_t m = 0; m < 2; m++) {
        run_options options = graphical_options();
        svmp_run *run = NULL;
        svmp_outcome outcome;
        options.method = methods[m];
        options.step = "fixed:100";
        assert_ok(svmp_run_make(model, &options, &run));
        assert_int_equal(svmp_run_go(run, &outcome), SVMP_NOT_FINITE);
        assert_non_null(strstr(svmp_context_error(context), "becomes inf"));
        svmp_run_free(run);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_misuse(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL, *empty = NULL;
    size_t none = 7;
    assert_int_equal(svmp_model_create(NULL, &model), SVMP_BAD_CALL);
    assert_refused(svmp_model_create(context, NULL), "the result is NULL");
    assert_ok(svmp_model_create(context, &empty));
    assert_int_equal(svmp_model_finish(empty), SVMP_BAD_INPUT);
    svmp_model_free(empty);
    assert_ok(svmp_model_create(context, &empty));
    for (int twice = 0; twice < 2; twice++) assert_ok(svmp_model_add_node(empty, "a", 1, NULL, NULL, NULL));
    assert_refused(svmp_model_finish(empty), "Two nodes have the name 'a'");
    svmp_model_free(empty);

    assert_ok(svmp_model_create(context, &model));
    assert_refused(svmp_model_add_node(model, NULL, 0, NULL, NULL, NULL), "at least one variable");
    assert_refused(svmp_model_add_node(model, "", 1, NULL, NULL, NULL), "it is empty");
    assert_refused(svmp_model_add_node(model, "a,b", 1, NULL, NULL, NULL), "'a,b'");
    assert_refused(svmp_model_add_node(model, "lp__", 1, NULL, NULL, NULL), "'lp__'");
    assert_int_equal(svmp_model_add_node(model, NULL, (size_t)1 << 40, NULL, NULL, NULL), SVMP_UNSUPPORTED);
    assert_refused(svmp_model_add_node(model, NULL, 1, (double[]){2}, (double[]){1}, NULL), "from 2 to 1");
    assert_refused(svmp_model_add_node(model, NULL, 1, (double[]){NAN}, NULL, NULL), "from nan to inf");
    assert_ok(svmp_model_add_node(model, NULL, 2, NULL, NULL, NULL));
    assert_refused(svmp_model_add_gaussian(model, 0, NULL, NULL, NULL), "at least one node");
    assert_refused(svmp_model_add_gaussian(model, 1, &none, NULL, NULL),
                   "Node 7 in the scope of a factor is out of range: the model has 1 nodes");
    assert_refused(svmp_model_add_gaussian(model, 2, (size_t[]){0, 0}, NULL, NULL), "occurs twice");
    assert_refused(svmp_model_add_gaussian(model, 1, (size_t[]){0}, (double[]){1, 2, 3, 4}, NULL), "not symmetric");
    assert_refused(svmp_model_add_gaussian(model, 1, (size_t[]){0}, (double[]){1, 0, 0, NAN}, NULL),
                   "Entry (1, 1) of the precision");
    assert_refused(svmp_model_add_gaussian(model, 1, (size_t[]){0}, NULL, (double[]){0, INFINITY}),
                   "is not finite: inf");
    assert_refused(svmp_model_add_callback(model, 1, (size_t[]){0}, NULL, NULL), "needs a function");
    assert_refused(svmp_model_evaluate(model, 1, (double[]){0, 0}, NULL, NULL), "not finished");
    assert_null(svmp_model_graph(model));
    assert_ok(svmp_model_finish(model));
    assert_refused(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL), "is finished");
    assert_refused(svmp_model_finish(model), "is finished");
    assert_refused(svmp_model_evaluate(model, 0, (double[]){0, 0}, NULL, NULL), "at least one particle");
    svmp_model_free(model);
    svmp_model_free(NULL);
    svmp_context_free(context);
}

static void test_names(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    char text[16];
    assert_ok(svmp_model_create(context, &model));
    assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
    assert_ok(svmp_model_add_node(model, "pos.1", 2, NULL, NULL, NULL));
    assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
    const char *names[] = {"x.1", "pos.1.1", "pos.1.2", "x.3", ""};
    for (size_t i = 0; i < 5; i++) assert_string_equal(svmp_model_variable_name(model, i, text, sizeof text), names[i]);
    assert_string_equal(svmp_model_variable_name(model, 1, text, 6), "pos.1");
    assert_string_equal(svmp_model_node_name(model, 1, text, sizeof text), "pos.1");
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A box set afterwards acts like one given when the node was added: steps are projected onto it, samplers refuse it. */
static void test_a_box_set_afterwards(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = test_grid(context, 3, 1);
    run_options options = graphical_options();
    svmp_run *run = NULL;
    svmp_outcome outcome;
    svmp_particles *particles = NULL;
    assert_ok(svmp_model_set_box(model, 4, 50, 60));
    options.particles = 10;
    options.iterations = 50;
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_go(run, &outcome));
    assert_ok(svmp_run_particles(run, &particles));
    for (size_t l = 0; l < 10; l++) assert_true(svmp_particles_values(particles)[4 * 10 + l] == 50);
    svmp_particles_free(particles);
    svmp_run_free(run);
    options.method = "nuts";
    run = NULL;
    assert_int_equal(svmp_run_make(model, &options, &run), SVMP_UNSUPPORTED);
    assert_int_equal(svmp_model_set_box(model, 9, 0, 1), SVMP_BAD_CALL);
    assert_int_equal(svmp_model_set_box(model, 0, 1, 1), SVMP_BAD_CALL);
    svmp_model_free(model);

    const char *files[] = {SVMP_MODELS "/robust.bug", SVMP_MODELS "/robust.csv"}; /* alpha, beta, then scale > 0 */
    assert_ok(svmp_model_read(context, 2, files, NULL, &model));
    assert_ok(svmp_model_set_box(model, 0, -1, 1));
    assert_int_equal(svmp_model_set_box(model, 2, 0, 1), SVMP_UNSUPPORTED);
    svmp_model_free(model);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_score_is_the_derivative_of_the_log_density),
        cmocka_unit_test(test_gaussian_density_against_its_matrix),
        cmocka_unit_test(test_any_number_of_parts),
        cmocka_unit_test(test_any_number_of_waves),
        cmocka_unit_test(test_the_same_bits_for_any_threads),
        cmocka_unit_test(test_a_callback_may_fail),
        cmocka_unit_test(test_a_run_ends_at_a_number_that_is_not_finite),
        cmocka_unit_test(test_a_step_to_infinity_fails_in_a_box),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_a_box_set_afterwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
