/* A Gaussian model from files has the density log p = b'x - x'Ax/2. */
#include "files.h"

static svmp_context *context;

static const char *const files[] = {"a.mtx", "b.mtx", "b.mtx"};

static void assert_density(size_t count, const double a[3][3], const double b[3]) {
    enum { N = 2 };
    static const double x[3 * N] = {1, -0.5, 2, 0.25, 3, 4};
    svmp_model *model = NULL;
    if (svmp_model_read(context, count, files, NULL, &model) != SVMP_OK) fail_msg("%s", svmp_context_error(context));
    assert_true(svmp_model_is_gaussian(model));
    double log_density[N], score[3 * N], expected[N] = {0};
    assert_ok(svmp_model_evaluate(model, N, x, log_density, score));
    for (size_t l = 0; l < N; l++)
        for (size_t i = 0; i < 3; i++) {
            double slope = b[i];
            for (size_t j = 0; j < 3; j++) slope -= a[i][j] * x[j * N + l];
            assert_near(score[i * N + l], slope, 1e-14);
            expected[l] += x[i * N + l] * (slope + b[i]) / 2;
        }
    for (size_t l = 0; l < N; l++) assert_near(log_density[l], expected[l], 1e-14);
    svmp_model_free(model);
}

static void test_density(void **state) {
    (void)state;
    static const double a[3][3] = {{2, -1, 0}, {-1, 2, 0.5}, {0, 0.5, 3}}, b[3] = {1, 0, -2}, zeros[3] = {0};
    static const char *const matrices[] = {
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 2\n2 1 -1\n2 2 2\n3 2 .5\n3 3 3\n",
        "%%MatrixMarket matrix array real symmetric\n3 3\n2\n-1\n0\n2\n0.5\n3\n",
        "%%MatrixMarket matrix array real general\n3 3\n2\n-1\n0\n-1\n2\n0.5\n0\n0.5000000000000001\n3\n",
    };
    static const char *const vectors[] = {
        "%%MatrixMarket matrix array real general\n3 1\n1\n0\n-2\n",
        "%%MatrixMarket matrix coordinate integer general\n3 1 2\n3 1 -2\n1 1 1\n",
    };
    for (size_t m = 0; m < sizeof matrices / sizeof *matrices; m++) {
        write_text("a.mtx", matrices[m]);
        assert_density(1, a, zeros);
        for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++) {
            write_text("b.mtx", vectors[v]);
            assert_density(2, a, b);
        }
    }
}

static void test_misuse(void **state) {
    (void)state;
    svmp_model *model = NULL;
    const char *const none[] = {NULL};
    assert_int_equal(svmp_model_read(NULL, 1, files, NULL, &model), SVMP_BAD_CALL);
    assert_int_equal(svmp_model_read(context, 1, files, NULL, NULL), SVMP_BAD_CALL);
    assert_int_equal(svmp_model_read(context, 1, NULL, NULL, &model), SVMP_BAD_CALL);
    assert_int_equal(svmp_model_read(context, 1, none, NULL, &model), SVMP_BAD_CALL);
    assert_int_equal(svmp_model_read(context, 0, files, NULL, &model), SVMP_BAD_CALL);
    assert_int_equal(svmp_model_read(context, 3, files, NULL, &model), SVMP_BAD_INPUT);
    assert_null(model);
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    write_text("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n2 2 2\n2 1 -1\n1 1 2\n");
    write_text("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n2\n");
    svmp_status status = SVMP_NO_MEMORY;
    for (long allowed = 0; status == SVMP_NO_MEMORY; allowed++) {
        scarce_memory memory = {1};
        svmp_context *scarce = scarce_context(&memory);
        svmp_model *model = NULL;
        memory.left = allowed;
        status = svmp_model_read(scarce, 2, files, NULL, &model);
        assert_true((status == SVMP_OK) == (model != NULL));
        svmp_model_free(model);
        svmp_context_free(scarce);
        assert_true(allowed < 1000);
    }
    assert_ok(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_density),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    context = test_context(1);
    int failed = cmocka_run_group_tests(tests, enter_folder, leave_folder);
    svmp_context_free(context);
    return failed;
}
