/* The columns of a CSV file: names without dots, arrays without holes, and back. */
#include "files.h"

#include <math.h>

static svmp_context *context;

static const char text[] = "model { a.b ~ dnorm(0, 1); a_b ~ dnorm(0, 1); g.0 ~ dnorm(0, 1); g.1 ~ dnorm(g.0, 1)\n"
                           "  for (i in 1:3) { x[i,1:2] ~ dmnorm(m, T) }\n"
                           "  for (i in 1:3) { y[i] ~ dnorm(x[i,1] + x[i,2], 1) }\n"
                           "  w[1] <- 2; w[2] ~ dnorm(0, 1); v[1] <- 7; v[2] <- w[2] + 1 }";
static const char data[] = "m <- c(0, 0)\nT <- structure(c(1, 0, 0, 1), .Dim = c(2, 2))\n"
                           "x <- structure(c(0.1, NA, NA, 0.25, NA, NA), .Dim = c(3, 2))\ny <- c(1, NA, 3)";
static const char header[] = "lp__,a_b_2,a_b,g_0,g_1,x.1.1,x.2.1,x.3.1,x.1.2,x.2.2,x.3.2,y.1,y.2,y.3,w.1,w.2,v.1,v.2\n";

static svmp_status infer(svmp_context *c, size_t count, svmp_particles **particles) {
    const char *const paths[] = {"m.bug", "d.R"};
    run_options options = graphical_options();
    options.particles = count;
    svmp_model *model = NULL;
    svmp_run *run = NULL;
    svmp_status status = svmp_model_read(c, 2, paths, &(svmp_reading){.monitors = "v"}, &model);
    if (status == SVMP_OK) status = svmp_run_make(model, &options, &run);
    if (status == SVMP_OK) status = svmp_run_particles(run, particles);
    svmp_run_free(run);
    svmp_model_free(model);
    return status;
}

static void assert_same(svmp_particles *a, svmp_particles *b) {
    const size_t variables = svmp_particles_variables(a), count = svmp_particles_count(a);
    assert_int_equal(svmp_particles_variables(b), variables);
    assert_int_equal(svmp_particles_count(b), count);
    for (size_t i = 0; i < variables; i++) assert_string_equal(svmp_particles_name(a, i), svmp_particles_name(b, i));
    assert_memory_equal(svmp_particles_values(a), svmp_particles_values(b), variables * count * sizeof(double));
}

/* Known elements, observed or constant, complete the arrays; reading restores the variables, and writing them restores
 * the file. */
static void test_whole_arrays(void **state) {
    (void)state;
    svmp_particles *written = NULL, *read = NULL;
    write_text("m.bug", text);
    write_text("d.R", data);
    assert_ok(infer(context, 3, &written));
    assert_ok(svmp_particles_write(written, "a.csv", "k = v", 0));
    char *file = file_text("a.csv");
    assert_non_null(strstr(file, header));
    assert_non_null(strstr(file, "# column a_b_2, in the model a.b\n"));
    assert_non_null(strstr(file, "# known columns: x.1.1,x.1.2,y.1,y.3,w.1\n"));
    assert_ok(svmp_particles_read(context, "a.csv", &read));
    assert_same(written, read);
    assert_string_equal(svmp_particles_comments(read), "k = v\n");
    assert_ok(svmp_particles_write(read, "b.csv", svmp_particles_comments(read), 0));
    char *again = file_text("b.csv");
    assert_string_equal(strstr(again, header), strstr(file, header));
    free(file);
    free(again);
    svmp_particles_free(written);
    svmp_particles_free(read);
}

/* Names that no model has, but particles of other programs may have. */
static void test_any_names(void **state) {
    (void)state;
    static const char *const names[] = {"a.b",   "a_b",  "a_b_2", "x.2",         "y.1",        "y.3",         "z.1.1",
                                        "z.1",   "w._",  "w_",    "c",           "p.q.1",      "p.q.2",       "p_q.1",
                                        "x.y.0", "r.01", ".",     "two words.2", "column a.b", "k.1000000000"};
    enum { COUNT = sizeof names / sizeof *names };
    svmp_particles *written = NULL, *read = NULL;
    double values[COUNT];
    for (size_t i = 0; i < COUNT; i++) values[i] = (double)i;
    assert_ok(svmp_particles_create(context, COUNT, 1, values, &written));
    for (size_t i = 0; i < COUNT; i++) assert_ok(svmp_particles_set_name(written, i, names[i]));
    assert_ok(svmp_particles_write(written, "names.csv", NULL, 1));
    assert_ok(svmp_particles_read(context, "names.csv", &read));
    for (size_t i = 0; i < COUNT; i++) { /* by name: elements of an array become adjacent */
        size_t k = 0;
        while (k < COUNT && strcmp(svmp_particles_name(read, k), svmp_particles_name(written, i)) != 0) k++;
        assert_true(k < COUNT);
        assert_true(svmp_particles_values(read)[k] == values[i]);
    }
    char *file = file_text("names.csv"), *line = file;
    while (*line == '#') line = strchr(line, '\n') + 1;
    *strchr(line, '\n') = '\0';
    for (char *word = strtok(line, ","); word; word = strtok(NULL, ",")) {
        const size_t length = strcspn(word, "."); /* only indices follow a dot */
        assert_int_equal(strspn(word + length, ".0123456789"), strlen(word + length));
    }
    free(file);
    svmp_particles_free(written);
    svmp_particles_free(read);
}

/* Every allocation of writing and reading fails in turn. */
static void test_memory(void **state) {
    (void)state;
    svmp_status status = SVMP_NO_MEMORY;
    for (long allowed = 0; status == SVMP_NO_MEMORY; allowed++) {
        scarce_memory memory = {1};
        svmp_context *scarce = scarce_context(&memory);
        svmp_particles *written = NULL, *read = NULL;
        memory.left = 1000000;
        assert_ok(infer(scarce, 3, &written));
        memory.left = allowed;
        status = svmp_particles_write(written, "scarce.csv", NULL, 1);
        if (status == SVMP_OK) status = svmp_particles_read(scarce, "scarce.csv", &read);
        svmp_particles_free(written);
        svmp_particles_free(read);
        svmp_context_free(scarce);
        assert_true(allowed < 2000);
    }
    assert_ok(status);
}

/* The predicted size equals that of the file, except for names and comments, also with columns of known elements.
 */
static void test_size(void **state) {
    (void)state;
    enum { COUNT = 500 };
    svmp_particles *particles = NULL;
    assert_ok(infer(context, COUNT, &particles));
    assert_ok(svmp_particles_write(particles, "size.csv", NULL, 1));
    char *bytes = file_text("size.csv");
    const char *first = strstr(bytes, header);
    assert_non_null(first);
    const double predicted = svmp_particles_file_size(particles, "size.csv");
    const double numbers = (double)svmp_particles_variables(particles) + 1; /* and lp__ */
    assert_near(predicted / (double)strlen(first + strlen(header)), 1, 0.1);
    assert_near(predicted / COUNT - 19 * numbers, strlen("0.1,0.25,1,3,2,7,"),
                0); /* known elements, the last one twice */
    assert_near(svmp_particles_file_size(particles, "size.nc"), COUNT * 8 * numbers, 0);
    free(bytes);
    svmp_particles_free(particles);
}

static int start(void **state) {
    context = test_context(1);
    return context == NULL || enter_folder(state);
}

static int stop(void **state) {
    svmp_context_free(context);
    return leave_folder(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole_arrays), cmocka_unit_test(test_any_names),
                                       cmocka_unit_test(test_memory), cmocka_unit_test(test_size)};
    return cmocka_run_group_tests(tests, start, stop);
}
