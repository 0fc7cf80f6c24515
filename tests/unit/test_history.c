/* The history of a run: which rows are kept, how many, and that files and checkpoints preserve them. */
#include "files.h"

#include <math.h>

#include "sample/history.h"

static svmp_context *context;

/* Four variables in a row, each joined to the next. */
static svmp_model *make_chain(void) {
    const double alone[] = {1}, pair[] = {1, -0.5, -0.5, 1};
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < 4; v++) {
        const size_t nodes[] = {v - (v > 0), v};
        assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
        assert_ok(svmp_model_add_gaussian(model, 1, &v, alone, NULL));
        if (v > 0) assert_ok(svmp_model_add_gaussian(model, 2, nodes, pair, NULL));
    }
    assert_ok(svmp_model_finish(model));
    return model;
}

static svmp_series series_of(const svmp_particles *particles, const char *name) {
    svmp_series s = {0};
    for (size_t k = 0; svmp_particles_series(particles, k, &s); k++)
        if (strcmp(s.name, name) == 0) return s;
    return (svmp_series){0};
}

/* After t iterations the rows are the multiples of the smallest power of two that leaves at most HISTORY_MOST. */
static void test_rows_stay_evenly_spaced(void **state) {
    (void)state;
    static const size_t lengths[] = {1, 255, 256, 257, 258, 511, 512, 513, 1000, 1024, 1025, 100000};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        static history h;
        h = (history){0};
        for (size_t t = 1; t <= lengths[k]; t++) svmp_history_follow(&h, t, 0.5 * (double)t, -(double)t);
        assert_true(h.count <= HISTORY_MOST);
        assert_true(h.count >= HISTORY_MOST / 2 || h.count == lengths[k]);
        assert_int_equal(h.count, lengths[k] / h.stride);
        for (size_t r = 0; r < h.count; r++) {
            assert_true(h.column[0][r] == (double)((r + 1) * h.stride));
            assert_true(h.column[1][r] == 0.5 * h.column[0][r] && h.column[2][r] == -h.column[0][r]);
        }
    }
}

/* The last row of the same iteration is replaced. */
static void test_one_row_per_iteration(void **state) {
    (void)state;
    static history h;
    for (size_t k = 0; k < 3; k++) svmp_history_add(&h, (const double[HISTORY_COLUMNS]){7, (double)k});
    assert_int_equal(h.count, 1);
    assert_true(h.column[1][0] == 2);
}

/* The history equals the progress reported to the monitor. */
typedef struct reported_progress {
    double phi[64];
    svmp_run *run;
} reported_progress;

static int record(const svmp_progress *progress, void *user_data) {
    reported_progress *h = user_data;
    h->phi[progress->iteration] = progress->largest;
    if (progress->iteration % 10 == 0) assert_ok(svmp_run_measure(h->run, NULL, NULL));
    return 0;
}

static void test_history_of_a_run(void **state) {
    (void)state;
    svmp_model *model = make_chain();
    run_options options = graphical_options();
    options.particles = 8;
    options.iterations = 35;
    reported_progress h = {0};
    svmp_outcome outcome;
    svmp_particles *particles = NULL;
    svmp_discrepancy now, nodes[8];
    assert_ok(svmp_run_make(model, &options, &h.run));
    assert_ok(svmp_run_set_monitor(h.run, record, &h));
    assert_ok(svmp_run_go(h.run, &outcome));
    assert_ok(svmp_run_measure(h.run, &now, nodes));
    assert_ok(svmp_run_particles(h.run, &particles));
    const svmp_series phi = series_of(particles, "largest_phi"), at = series_of(particles, "measured"),
                      ksd = series_of(particles, "ksd"), bandwidth = series_of(particles, "bandwidth");
    assert_int_equal(phi.count, 35);
    for (size_t t = 1; t <= 35; t++) assert_true(phi.values[t - 1] == h.phi[t]);
    assert_int_equal(at.count, 4);
    for (size_t k = 0; k < 3; k++) assert_true(at.values[k] == 10 * (double)(k + 1));
    assert_true(at.values[3] == 35 && ksd.values[3] == now.v && bandwidth.values[3] == now.bandwidth);
    double mean = 0;
    const size_t count = svmp_graph_nodes(svmp_model_graph(model));
    for (size_t v = 0; v < count; v++) mean += nodes[v].bandwidth / (double)count;
    assert_true(fabs(mean - now.bandwidth) <= 1e-12 * mean && mean > 0);
    svmp_particles_free(particles);
    svmp_run_free(h.run);
    svmp_model_free(model);
}

/* Both file formats preserve the bits of series, including NaN and infinity. */
static void test_files(void **state) {
    (void)state;
    static const char *const paths[] = {"a.csv", "a.nc"};
    const double at[] = {1, 2, 4}, values[] = {0.1, NAN, INFINITY};
    svmp_particles *made = NULL;
    assert_ok(svmp_particles_create(context, 2, 3, NULL, &made));
    assert_ok(svmp_particles_set_series(made, "at", "at", 3, at));
    assert_ok(svmp_particles_set_series(made, "ksd_1", "at", 3, values));
    assert_int_equal(svmp_particles_set_series(made, "short", "at", 2, at), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_set_series(made, "no good", "at", 3, at), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_set_series(made, "", "at", 3, at), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_set_series(made, "b", "draw", 1, at), SVMP_BAD_CALL); /* there are three draws */
    assert_int_equal(svmp_particles_set_series(made, "chain", "at", 3, at), SVMP_BAD_CALL);
    char longest[65] = "";
    memset(longest, 'a', 64);
    assert_int_equal(svmp_particles_set_series(made, longest, "at", 3, at), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_set_series(made, longest + 1, longest + 1, 3, at), SVMP_OK);
    for (size_t k = 0; k < 2; k++) {
        svmp_particles *read = NULL;
        svmp_series s;
        const char *comments =
            "seed = 1\nat[at] = one\nx[y\nb[draw] = 1\nc[at]=1 2 3\n[at] = 1 2 3\nd[] = 1\n/x = 1\n = 2\n";
        svmp_status status = svmp_particles_write(made, paths[k], comments, 0);
        if (status == SVMP_UNSUPPORTED) continue; /* no NetCDF in this build */
        assert_ok(status);
        assert_ok(svmp_particles_read(context, paths[k], &read));
        assert_true(svmp_particles_series(read, 2, &s) && !svmp_particles_series(read, 3, &s));
        assert_string_equal(s.name, longest + 1);
        s = series_of(read, "ksd_1");
        assert_string_equal(s.along, "at");
        assert_true(s.count == 3 && s.values[0] == 0.1 && isnan(s.values[1]) && s.values[2] == INFINITY);
        assert_string_equal(svmp_particles_comments(read), comments);
        svmp_particles_free(read);
    }
    svmp_particles_free(made);
    files_in_folder(1);
}

/* Any allocation for series, chains and files may fail without leaks or partial files. */
static void test_scarce_memory(void **state) {
    (void)state;
    const double values[] = {1, 2, 3};
    svmp_status status = SVMP_NO_MEMORY;
    for (long allowed = 0; status == SVMP_NO_MEMORY; allowed++) {
        scarce_memory memory = {1000};
        svmp_context *scarce = scarce_context(&memory);
        svmp_particles *made = NULL, *chain = NULL, *read = NULL;
        memory.left = allowed;
        status = svmp_particles_create(scarce, 2, 4, NULL, &made);
        if (status == SVMP_OK) status = svmp_particles_set_chains(made, 2);
        if (status == SVMP_OK) status = svmp_particles_set_series(made, "i", "i", 3, values);
        if (status == SVMP_OK) status = svmp_particles_set_series(made, "i", "i", 2, values); /* replaces it */
        if (status == SVMP_OK) status = svmp_particles_chain(made, 1, &chain);
        if (status == SVMP_OK) status = svmp_particles_write(chain, "a.csv", "seed = 1\n", 1);
        if (status == SVMP_OK) status = svmp_particles_read(scarce, "a.csv", &read);
        if (status == SVMP_OK) assert_int_equal(series_of(read, "i").count, 2);
        svmp_particles_free(read);
        svmp_particles_free(chain);
        svmp_particles_free(made);
        svmp_context_free(scarce);
        assert_true(allowed < 1000 && files_in_folder(0) <= 1);
    }
    assert_ok(status);
    files_in_folder(1);
}

/* A run's settings are those it uses, and it reports no setting that it does not have. */
static void test_settings(void **state) {
    (void)state;
    static const struct {
        const char *method, *option, *expected;
    } rows[] = {
        {"graphical", "kernel", "rbf@blanket"},
        {"graphical", "step", "adagrad:1"},
        {"graphical", "iterations", "1000"},
        {"graphical", "threads", "1"},
        {"graphical", "chains", NULL},
        {"vanilla", "kernel", "rbf@all"},
        {"langevin", "kernel", NULL},
        {"langevin", "bandwidth", NULL},
        {"langevin", "step", "fixed:0.01"},
        {"nuts", "step", NULL},
        {"nuts", "particles", NULL},
        {"nuts", "chains", "4"},
        {"dpmp", "iterations", "100"},
        {"graphical", "nonsense", NULL},
    };
    svmp_model *model = make_chain();
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        run_options options = graphical_options();
        svmp_run *run = NULL;
        char text[32];
        options.method = rows[k].method;
        assert_ok(svmp_run_make(model, &options, &run));
        const char *said = svmp_run_setting(run, rows[k].option, text, sizeof text);
        assert_true((said == NULL) == (rows[k].expected == NULL));
        if (said) assert_string_equal(said, rows[k].expected);
        assert_non_null(svmp_run_setting(run, "backend", text, sizeof text));
        assert_true(strncmp(text, "cpu-", 4) == 0);
        svmp_run_free(run);
    }
    svmp_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_stay_evenly_spaced), cmocka_unit_test(test_one_row_per_iteration),
        cmocka_unit_test(test_history_of_a_run),        cmocka_unit_test(test_files),
        cmocka_unit_test(test_scarce_memory),           cmocka_unit_test(test_settings),
    };
    context = test_context(1);
    int failed = cmocka_run_group_tests(tests, enter_folder, leave_folder);
    svmp_context_free(context);
    return failed;
}
