/* In each of two processes: a backend whose particles are on a simulated device moves its part of a model to the same
 * bits as one process moves the whole model. */
#include "unit/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/device_backend.h"
#include "svmp_parallel.h"
#include "unit/simulated.h"

enum { N = 20, SIDE = 6, ITERATIONS = 8 };

static backend *make(const backend_kind *kind, const svmp_model *model, const char *text, kernel *k, step *s) {
    const svmp_graph *graph = model->graph;
    backend *b = NULL;
    double *x;
    if (text) assert_ok(svmp_kernel_parse(model->context, text, (bandwidth){.rule = BANDWIDTH_MEDIAN}, k));
    assert_ok(svmp_step_parse(model->context, "adam:0.05", s));
    const svmp_status made = svmp_backend_create(kind, model, N, 3, text ? k : NULL, text ? s : NULL, &b);
    if (made != SVMP_OK) fail_msg("%s", svmp_context_error(model->context));
    assert_ok(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    for (size_t i = 0; i < graph->moved_variables; i++)
        for (size_t l = 0; l < N; l++) x[i * N + l] = 2 * sin(1.7 * (double)(svmp_variable_key(graph, i) * N + l));
    assert_ok(svmp_backend_commit(b, ARRAY_PARTICLES));
    return b;
}

static void iterate(backend *b, const kernel *k, const step *s, size_t t) {
    if (b->kind->exchange) assert_ok(b->kind->exchange(b));
    assert_ok(b->kind->score(b));
    if (k == NULL) {
        assert_ok(b->kind->diffuse(b, 0.01, t));
        return;
    }
    assert_ok(b->kind->stein(b, k, t));
    assert_ok(b->kind->step(b, s, 0.05, t));
}

/* Measurements of a variable do not depend on the process that has it. */
static void compare_measures(backend *a, backend *b, const kernel *k) {
    svmp_stein_measure all[SIDE * SIDE], own[SIDE * SIDE];
    assert_ok(b->kind->refresh(b));
    assert_ok(a->local->measure(a, k, N, ITERATIONS, all));
    assert_ok(b->local->measure(b, k, N, ITERATIONS, own));
    for (size_t i = 0; i < b->model->graph->moved_variables; i++)
        assert_memory_equal(&own[i], &all[svmp_variable_key(b->model->graph, i)], sizeof *own);
}

static void compare(const backend_kind *kind, const char *text) {
    svmp_context *alone = test_context(1), *joined = test_context(1);
    svmp_model *whole = test_grid(alone, SIDE, 1), *part = NULL;
    const double *expected, *found;
    kernel k;
    step s;
    assert_ok(svmp_context_join(joined));
    part = test_grid(joined, SIDE, 1);
    assert_ok(svmp_model_split(&part, NULL));
    backend *a = make(kind, whole, text, &k, &s), *b = make(kind, part, text, &k, &s);
    assert_true(part->graph->moved < whole->graph->moved);
    for (size_t t = 0; t < ITERATIONS; t++) {
        iterate(a, text ? &k : NULL, &s, t);
        iterate(b, text ? &k : NULL, &s, t);
        double largest = a->largest;
        assert_true(largest == b->largest);
        assert_ok(svmp_backend_view(a, ARRAY_PARTICLES, &expected));
        if (t % 3 == 1) assert_ok(b->kind->refresh(b));
        assert_ok(svmp_backend_view(b, ARRAY_PARTICLES, &found));
        for (size_t i = 0; i < part->graph->moved_variables; i++)
            assert_memory_equal(found + i * N, expected + svmp_variable_key(part->graph, i) * N, N * sizeof *found);
    }
    if (text) compare_measures(a, b, &k);
    svmp_backend_free(a);
    svmp_backend_free(b);
    svmp_model_free(whole);
    svmp_model_free(part);
    svmp_context_free(alone);
    svmp_context_free(joined);
}

static void same_bits(void **unused) {
    (void)unused;
    const char *kernels[] = {"rbf@blanket", "imq@random:2", "rbf/sd@blanket + linear@blanket", "rbf@message", NULL};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        compare(&test_backend_simulated, kernels[k]);
        compare(&test_backend_simulated_whole, kernels[k]);
        compare(&test_backend_simulated_f64, kernels[k]);
    }
}

/* Processes on one machine take different devices, whichever launcher started them; a process with a whole model takes
 * the first. */
static void own_devices(void **unused) {
    (void)unused;
    const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"};
    svmp_context *alone = test_context(1), *joined = test_context(1);
    step s;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) unsetenv(names[k]);
    assert_ok(svmp_context_join(joined));
    svmp_model *whole = test_grid(alone, SIDE, 1), *part = test_grid(joined, SIDE, 1);
    assert_ok(svmp_model_split(&part, NULL));
    backend *b = make(&test_backend_simulated, part, NULL, NULL, &s);
    assert_int_equal(test_simulated_which, svmp_context_process(joined));
    svmp_backend_free(b);
    b = make(&test_backend_simulated, whole, NULL, NULL, &s);
    assert_int_equal(test_simulated_which, 0);
    svmp_backend_free(b);
    svmp_model_free(whole);
    svmp_model_free(part);
    svmp_context_free(alone);
    svmp_context_free(joined);
}

static void refused(void **unused) {
    (void)unused;
    svmp_context *joined = test_context(1);
    kernel k;
    backend *b = NULL;
    assert_ok(svmp_context_join(joined));
    svmp_model *part = test_grid(joined, SIDE, 1);
    assert_ok(svmp_model_split(&part, NULL));
    assert_ok(svmp_kernel_parse(joined, "rbf@all", (bandwidth){.rule = BANDWIDTH_MEDIAN}, &k));
    assert_int_equal(svmp_backend_create(&test_backend_simulated, part, N, 3, &k, NULL, &b), SVMP_UNSUPPORTED);
    assert_string_equal(svmp_context_error(joined), "The backend 'cuda' does not support kernels on 'all' in several "
                                                    "processes. Use backend = cpu.");
    svmp_model_free(part);
    svmp_context_free(joined);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(own_devices),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
