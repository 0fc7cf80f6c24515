/* A model text and its data from memory: the same model as from files, and the same errors. */
#include "files.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>

#include "data/data_set.h"

static const char text[] = "model {\n"
                           "    for (i in 1:N) {\n"
                           "        for (j in 1:2) { y[i, j] ~ dnorm(a[i] + b * x[j], tau) }\n"
                           "        a[i] ~ dnorm(0, 1)\n"
                           "    }\n"
                           "    b ~ dnorm(0, 1)\n"
                           "    tau ~ dgamma(2, 2)\n"
                           "    sigma <- 1 / sqrt(tau)\n"
                           "}\n";
static const double y[3][2] = {{1, 2}, {3, NAN}, {5, 6}}, x[] = {-1, 1}, three = 3;

static svmp_data *make_data(svmp_context *context) {
    svmp_data *data = NULL;
    assert_ok(svmp_data_create(context, &data));
    assert_ok(svmp_data_add(data, "N", 0, NULL, &three));
    assert_ok(svmp_data_add(data, "y", 2, (const size_t[]){3, 2}, &y[0][0]));
    assert_ok(svmp_data_add(data, "x", 1, (const size_t[]){2}, x));
    return data;
}

/* y is column-major in a dump: y[1,1], y[2,1], y[3,1], y[1,2], ... */
static svmp_model *read_files(svmp_context *context, const char *monitors) {
    const char *const paths[] = {"m.bug", "d.R"};
    svmp_model *model = NULL;
    write_text("m.bug", text);
    write_text("d.R", "N <- 3\ny <- structure(c(1, 3, 5, 2, NA, 6), .Dim = c(3, 2))\nx <- c(-1, 1)\n");
    assert_ok(svmp_model_read(context, 2, paths, &(svmp_reading){.monitors = monitors}, &model));
    return model;
}

/* The same variables, arrays, density and score. */
static void test_the_model_of_the_files(void **state) {
    (void)state;
    enum { MOST = 8, N = 3 };
    svmp_context *context = test_context(1);
    svmp_data *data = make_data(context);
    svmp_model *from_files = read_files(context, "sigma"), *model = NULL;
    assert_ok(svmp_model_read_text(context, NULL, text, data, &(svmp_reading){.monitors = "sigma"}, &model));
    svmp_data_free(data); /* it is not needed any more */
    const size_t d = svmp_graph_variables(svmp_model_graph(model));
    double at[MOST * N], density[2][N], score[2][MOST * N];
    assert_int_equal(d, 5); /* a[1:3], b, tau; the missing element of y is drawn after the run */
    assert_int_equal(svmp_graph_variables(svmp_model_graph(from_files)), d);
    for (size_t k = 0; k < d * N; k++) at[k] = test_random(1, k);
    assert_ok(svmp_model_evaluate(model, N, at, density[0], score[0]));
    assert_ok(svmp_model_evaluate(from_files, N, at, density[1], score[1]));
    assert_memory_equal(density[0], density[1], sizeof density[0]);
    assert_memory_equal(score[0], score[1], d * N * sizeof(double));
    for (size_t i = 0; i < d; i++) {
        char mine[64], theirs[64];
        assert_string_equal(svmp_model_variable_name(model, i, mine, sizeof mine),
                            svmp_model_variable_name(from_files, i, theirs, sizeof theirs));
    }
    svmp_array array;
    int seen = 0;
    for (size_t k = 0; svmp_model_array(model, k, &array); k++) {
        if (strcmp(array.name, "y") != 0) continue;
        seen = 1;
        assert_int_equal(array.rank, 2);
        for (size_t e = 0; e < 6; e++) /* row-major on both sides */
            assert_true(isnan(array.values[e]) ? isnan((&y[0][0])[e]) : array.values[e] == (&y[0][0])[e]);
    }
    assert_true(seen);
    assert_true(svmp_model_computes(model, "sigma"));
    svmp_model_free(model);
    svmp_model_free(from_files);
    svmp_context_free(context);
}

/* Every index of an array of four dimensions gives its number. */
static void test_row_major(void **state) {
    (void)state;
    enum { A = 2, B = 3, C = 1, D = 4 };
    double values[A][B][C][D];
    svmp_context *context = test_context(1);
    svmp_data *data = NULL;
    assert_ok(svmp_data_create(context, &data));
    for (size_t k = 0; k < A * B * C * D; k++) (&values[0][0][0][0])[k] = (double)k;
    assert_ok(svmp_data_add(data, "v", 4, (const size_t[]){A, B, C, D}, &values[0][0][0][0]));
    const data_array *array = svmp_data_find(data, "v");
    for (size_t a = 0; a < A; a++)
        for (size_t b = 0; b < B; b++)
            for (size_t c = 0; c < C; c++)
                for (size_t d = 0; d < D; d++)
                    assert_true(array->values[a + A * (b + B * (c + C * d))] == values[a][b][c][d]);
    assert_ok(svmp_data_add(data, "none", 2, (const size_t[]){0, SIZE_MAX}, NULL)); /* no numbers at all */
    assert_int_equal(svmp_data_find(data, "none")->count, 0);
    svmp_data_free(data);
    svmp_context_free(context);
}

/* Arrays from memory together with files; a file that fails adds nothing. */
static void test_memory_and_files(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_data *data = NULL;
    svmp_model *model = NULL;
    assert_ok(svmp_data_create(context, &data));
    assert_ok(svmp_data_add(data, "N", 0, NULL, &three));
    write_text("bad.R", "x <- c(-1, 1)\nz <- c(7, oops)\n");
    assert_int_equal(svmp_data_read(data, "bad.R"), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "bad.R:2:11: error: "));
    assert_null(svmp_data_find(data, "x"));
    assert_int_equal(data->count, 1);
    write_text("x.R", "x <- c(-1, 1)\n");
    assert_ok(svmp_data_read(data, "x.R"));
    write_text("again.R", "z <- 1\nN <- 4\n");
    assert_int_equal(svmp_data_read(data, "again.R"), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "again.R:2:1: error: 'N' is already given in memory"));
    assert_int_equal(svmp_data_add(data, "x", 1, (const size_t[]){2}, x), SVMP_BAD_CALL);
    assert_non_null(strstr(svmp_context_error(context), "already have an array 'x'"));
    assert_ok(svmp_data_add(data, "y", 2, (const size_t[]){3, 2}, &y[0][0]));
    assert_ok(svmp_model_read_text(context, NULL, text, data, NULL, &model));
    svmp_model_free(model);
    svmp_data_free(data);
    svmp_context_free(context);
}

static void test_refused(void **state) {
    (void)state;
    enum { TOO_MANY = 9 };
    size_t many[TOO_MANY], huge[] = {SIZE_MAX, SIZE_MAX}, wraps[] = {(size_t)1 << 33, (size_t)1 << 31};
    const size_t large[] = {100000001};
    svmp_context *context = test_context(1);
    svmp_data *data = NULL;
    for (size_t k = 0; k < TOO_MANY; k++) many[k] = 1;
    assert_int_equal(svmp_data_create(NULL, &data), SVMP_BAD_CALL);
    assert_int_equal(svmp_data_create(context, NULL), SVMP_BAD_CALL);
    assert_ok(svmp_data_create(context, &data));
    const struct {
        const char *name;
        size_t rank;
        const size_t *dimensions;
        const double *values;
        const char *sentence;
    } wrong[] = {
        {NULL, 0, NULL, x, "the name is missing"},
        {"", 0, NULL, x, "the name is missing"},
        {"v", 0, NULL, NULL, "'v' was given without its values"},
        {"v", 1, NULL, x, "'v' was given without its dimensions"},
        {"v", TOO_MANY, many, x, "'v' has 9 dimensions; the maximum is 8"},
        {"v", SIZE_MAX, many, x, "dimensions; the maximum is 8"},
        {"v", 2, huge, x, "more than 100000000 numbers"},
        {"v", 2, wraps, x, "more than 100000000 numbers"}, /* 2^64 of them: their product is 0 */
        {"v", 1, large, x, "more than 100000000 numbers"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        assert_int_equal(svmp_data_add(data, wrong[k].name, wrong[k].rank, wrong[k].dimensions, wrong[k].values),
                         SVMP_BAD_CALL);
        assert_non_null(strstr(svmp_context_error(context), wrong[k].sentence));
    }
    assert_int_equal(data->count, 0);
    assert_int_equal(svmp_data_add(NULL, "v", 0, NULL, x), SVMP_BAD_CALL);
    assert_int_equal(svmp_data_read(NULL, "d.R"), SVMP_BAD_CALL);
    assert_int_equal(svmp_data_read(data, NULL), SVMP_BAD_CALL);
    assert_int_equal(svmp_data_read(data, "there_is_no_such_file.R"), SVMP_CANNOT_READ);
    svmp_model *model = NULL;
    assert_int_equal(svmp_model_read_text(NULL, NULL, text, data, NULL, &model), SVMP_BAD_CALL);
    assert_int_equal(svmp_model_read_text(context, NULL, NULL, data, NULL, &model), SVMP_BAD_CALL);
    assert_int_equal(svmp_model_read_text(context, NULL, text, data, NULL, NULL), SVMP_BAD_CALL);
    assert_null(model);
    svmp_data_free(NULL);
    svmp_data_free(data);
    svmp_context_free(context);
}

/* Errors have the place in the text, with the name given for it. */
static void test_errors(void **state) {
    (void)state;
    const struct {
        const char *name, *text, *array;
        size_t length;
        const char *error;
    } wrong[] = {
        {NULL, "model { x ~ dnrom(0, 1) }", NULL, 0,
         "<text>:1:13: error: unknown distribution 'dnrom'; did you mean 'dnorm'?\n    model { x ~ dnrom(0, 1) }\n"
         "                ^"},
        {"cell 3", "model {\n  x ~ dnorm(mu, 1)\n}", NULL, 0,
         "cell 3:2:13: error: 'mu' is not defined, and no data were given\n      x ~ dnorm(mu, 1)\n                ^"},
        {NULL, "", NULL, 0, "<text>:1:1: error: "},
        {NULL, "model { for (i in 1:2) { r[i] ~ dbin(p, 5) }\n p ~ dbeta(1, 1) }", "r", 2,
         "<text>:1:26: error: 'r[2]' (in memory) is outside the support of dbin: 7 is not between 0 and 5 (i = 2)\n"},
        {NULL, "model { x ~ dnorm(r[3], 1) }", "r", 2, "<text>:1:21: error: index 3 of 'r' is out of range 1 to 2"},
        {NULL, "model { r[1] <- 2\n x ~ dnorm(r[1], 1) }", "r", 2,
         "<text>:1:9: error: 'r[1]' is computed here and given in the data (in memory)"},
    };
    const double numbers[] = {2, 7};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        svmp_context *context = test_context(1);
        svmp_data *data = NULL;
        svmp_model *model = NULL;
        assert_ok(svmp_data_create(context, &data));
        if (wrong[k].array) assert_ok(svmp_data_add(data, wrong[k].array, 1, &wrong[k].length, numbers));
        assert_int_equal(svmp_model_read_text(context, wrong[k].name, wrong[k].text, data, NULL, &model),
                         SVMP_BAD_INPUT);
        if (strncmp(svmp_context_error(context), wrong[k].error, strlen(wrong[k].error)) != 0)
            fail_msg("%s", svmp_context_error(context));
        assert_null(model);
        svmp_data_free(data);
        svmp_context_free(context);
    }
}

static void collect(svmp_log_level level, const char *message, void *user_data) {
    if (level == SVMP_LOG_WARNING) strncat(user_data, message, 400);
}

/* An unused name gives a warning; empty data are valid. */
static void test_unknown_names_and_no_data(void **state) {
    (void)state;
    char collected[1000] = "";
    svmp_context *context = test_context(1);
    svmp_data *data = NULL;
    svmp_model *model = NULL;
    assert_ok(svmp_context_set_log(context, collect, collected));
    assert_ok(svmp_data_create(context, &data));
    assert_ok(svmp_data_add(data, "colour", 1, (const size_t[]){2}, x));
    assert_ok(svmp_model_read_text(context, NULL, "model { x ~ dnorm(0, 1) }", data, NULL, &model));
    assert_string_equal(collected, "<data>: warning: 'colour' is not used by the model");
    svmp_model_free(model);
    assert_ok(svmp_model_read_text(context, NULL, "model { x ~ dnorm(0, 1) }", NULL, NULL, &model));
    svmp_model_free(model);
    svmp_data_free(data);
    svmp_context_free(context);
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    svmp_status status = SVMP_NO_MEMORY;
    write_text("more.R", "more <- c(1, 2, 3)\nyet <- 2\n");
    for (long allowed = 0; status == SVMP_NO_MEMORY; allowed++) {
        scarce_memory memory = {LONG_MAX};
        svmp_context *context = scarce_context(&memory);
        svmp_data *data = NULL;
        svmp_model *model = NULL;
        memory.left = allowed;
        status = svmp_data_create(context, &data);
        if (status == SVMP_OK) status = svmp_data_add(data, "N", 0, NULL, &three);
        if (status == SVMP_OK) status = svmp_data_add(data, "y", 2, (const size_t[]){3, 2}, &y[0][0]);
        if (status == SVMP_OK) status = svmp_data_read(data, "more.R");
        if (status == SVMP_OK) status = svmp_data_add(data, "x", 1, (const size_t[]){2}, x);
        if (status == SVMP_OK)
            status = svmp_model_read_text(context, NULL, text, data, &(svmp_reading){.monitors = "sigma"}, &model);
        assert_true((status == SVMP_OK) == (model != NULL));
        svmp_model_free(model);
        svmp_data_free(data);
        svmp_context_free(context);
        assert_true(allowed < 5000);
    }
    assert_ok(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_model_of_the_files),
        cmocka_unit_test(test_row_major),
        cmocka_unit_test(test_memory_and_files),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_unknown_names_and_no_data),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
