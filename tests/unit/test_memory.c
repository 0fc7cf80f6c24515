/* Each allocation of a whole inference fails in turn: the failure is reported and nothing leaks (the sanitizers check).
 * */
#include "support.h"

#include <string.h>

static int quadratic(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)user_data;
    for (size_t l = 0; l < n; l++) {
        value[l] = -x[0][l] * x[0][l];
        gradient[0][l] = -2 * x[0][l];
    }
    return 0;
}

static svmp_status build(svmp_context *context, int gaussian, svmp_model **model) {
    SVMP_TRY(svmp_model_create(context, model));
    for (size_t v = 0; v < 3; v++) {
        SVMP_TRY(svmp_model_add_node(*model, v ? NULL : "first", 1 + v % 2, NULL, NULL, NULL));
        SVMP_TRY(svmp_model_add_gaussian(*model, 1, &v, (double[]){2, 0, 0, 2}, NULL));
        if (v > 0) SVMP_TRY(svmp_model_add_gaussian(*model, 2, (size_t[]){v - 1, v}, NULL, NULL));
    }
    if (!gaussian) SVMP_TRY(svmp_model_add_callback(*model, 1, (size_t[]){0}, quadratic, NULL));
    return svmp_model_finish(*model);
}

/* The diagnostics; those that do not apply to the method are refused, which is not a failure here. */
static svmp_status judge(const svmp_run *run, const svmp_particles *particles) {
    enum { MOST = 16 };
    svmp_discrepancy total;
    svmp_moments moments[MOST];
    svmp_mixing mixing[MOST];
    svmp_difference differences[MOST];
    const size_t variables = svmp_particles_variables(particles);
    if (svmp_run_discrepancy(run, &total, NULL) == SVMP_NO_MEMORY) return SVMP_NO_MEMORY;
    SVMP_TRY(svmp_particles_summarise(particles, variables, NULL, moments, mixing));
    return svmp_particles_differences(particles, particles, differences);
}

static svmp_status infer(svmp_context *context, const run_options *options, svmp_model **model, svmp_run **run,
                         svmp_particles **particles) {
    svmp_outcome outcome;
    double score[12];
    SVMP_TRY(build(context, strcmp(options->method, "exact") == 0, model));
    SVMP_TRY(svmp_model_evaluate(*model, 3, (double[12]){0}, NULL, score));
    SVMP_TRY(svmp_run_make(*model, options, run));
    SVMP_TRY(svmp_run_go(*run, &outcome));
    SVMP_TRY(svmp_run_particles(*run, particles));
    if (svmp_run_start_from(*run, *particles) == SVMP_NO_MEMORY) return SVMP_NO_MEMORY;
    return judge(*run, *particles);
}

static void fail_each_allocation(const char *method, const char *kernel, const char *backend, const char *init) {
    run_options options = graphical_options();
    options.init = init;
    options.method = method;
    options.kernel = kernel;
    options.backend = backend;
    options.particles = 5;
    options.iterations = 2;
    options.chains = options.draws = 2;
    options.warmup = strcmp(method, "local") == 0 ? 1 : 2;
    svmp_status status = SVMP_NO_MEMORY;
    for (long allowed = 0; status == SVMP_NO_MEMORY; allowed++) {
        scarce_memory memory = {1};
        svmp_context *context = scarce_context(&memory);
        svmp_model *model = NULL;
        svmp_run *run = NULL;
        svmp_particles *particles = NULL;
        memory.left = allowed;
        status = infer(context, &options, &model, &run, &particles);
        if (status != SVMP_OK) assert_non_null(strstr(svmp_context_error(context), "Out of memory"));
        svmp_particles_free(particles);
        svmp_run_free(run);
        svmp_model_free(model);
        svmp_context_free(context);
        assert_true(allowed < 1000);
    }
    assert_ok(status);
}

static void test_stein(void **state) {
    (void)state;
    fail_each_allocation("graphical", "rbf@blanket + imq@all + linear@random:2", "cpu", "normal:1");
    fail_each_allocation("graphical", "rbf@blanket + imq@all + linear@random:2", "ref", "normal:1");
    fail_each_allocation("graphical", "rbf/sd@self + linear/sd@near + linear@message", "cpu", "normal:1");
    fail_each_allocation("graphical", "rbf/sd@self + linear/sd@near:2", "ref", "normal:1");
}

static void test_langevin(void **state) {
    (void)state;
    fail_each_allocation("langevin", NULL, "cpu", "map");
    fail_each_allocation("langevin", NULL, "cpu", "gaussian");
}

static void test_message_passing(void **state) {
    (void)state;
    fail_each_allocation("tpmp", NULL, "cpu", "normal:1");
    fail_each_allocation("dpmp", NULL, "cpu", "normal:1");
}

static void test_samplers(void **state) {
    (void)state;
    fail_each_allocation("mala", NULL, "cpu", "normal:1");
    fail_each_allocation("transport", NULL, "cpu", NULL);
    fail_each_allocation("nuts", NULL, "cpu", "normal:1");
    fail_each_allocation("local", NULL, "cpu", "normal:1");
}

static void test_exact(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    assert_ok(build(context, 1, &model));
    const int built = svmp_model_exact_moments(model, NULL, NULL) == SVMP_OK;
    svmp_model_free(model);
    svmp_context_free(context);
    if (!built) skip();
    fail_each_allocation("exact", NULL, "cpu", "normal:1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stein),    cmocka_unit_test(test_langevin), cmocka_unit_test(test_message_passing),
        cmocka_unit_test(test_samplers), cmocka_unit_test(test_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
