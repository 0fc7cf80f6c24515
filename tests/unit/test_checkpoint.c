/* Checkpoints: a run that is interrupted anywhere and loaded in another run ends with the same bits; a file of another
 * run, or a damaged one, is refused with a sentence. */
#include "files.h"

#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/random.h"
#include "targets.h"

typedef struct saving {
    svmp_run *run;
    size_t at;
} saving;

static int save_and_stop(const svmp_progress *progress, void *user_data) {
    saving *s = user_data;
    if (progress->iteration != s->at) return 0;
    assert_ok(svmp_run_save(s->run, "run.checkpoint"));
    return 1;
}

/* Runs these options to iteration `at` and saves; returns the iteration at which the run is expected to end. */
static size_t save_at(const svmp_model *model, const run_options *options, size_t at) {
    saving s = {.at = at};
    svmp_outcome outcome;
    assert_ok(svmp_run_make(model, options, &s.run));
    assert_ok(svmp_run_set_monitor(s.run, save_and_stop, &s));
    if (at == 0)
        assert_ok(svmp_run_save(s.run, "run.checkpoint"));
    else
        assert_ok(svmp_run_go(s.run, &outcome));
    assert_int_equal(files_in_folder(0), 1);
    const size_t expected = svmp_run_expected(s.run);
    svmp_run_free(s.run);
    return expected;
}

static svmp_particles *resume(const svmp_model *model, const run_options *options, size_t at) {
    svmp_run *run = NULL;
    svmp_outcome outcome;
    svmp_particles *particles = NULL;
    assert_ok(svmp_run_make(model, options, &run));
    assert_ok(svmp_run_load(run, "run.checkpoint"));
    assert_int_equal(svmp_run_iteration(run), at);
    assert_ok(svmp_run_go(run, &outcome));
    assert_ok(svmp_run_particles(run, &particles));
    svmp_run_free(run);
    return particles;
}

static void assert_same(svmp_particles *a, svmp_particles *b) {
    const size_t count = svmp_particles_count(a);
    assert_int_equal(count, svmp_particles_count(b));
    assert_memory_equal(svmp_particles_values(a), svmp_particles_values(b),
                        svmp_particles_variables(a) * count * sizeof(double));
    assert_int_equal(svmp_particles_statistics(a), svmp_particles_statistics(b));
    for (size_t k = 0; k < svmp_particles_statistics(a); k++) {
        const char *name = svmp_particles_statistic_name(a, k);
        assert_memory_equal(svmp_particles_statistic(a, name), svmp_particles_statistic(b, name),
                            count * sizeof(double));
    }
}

static run_options small(const char *method) {
    run_options options = graphical_options();
    options.method = method;
    options.particles = 6;
    options.iterations = 40;
    options.chains = 3;
    options.warmup = 25;
    options.draws = 15;
    return options;
}

/* Interrupted at several iterations, with all threads or one: the same bits. */
static void assert_resumes(svmp_model *(*make)(svmp_context *context), const run_options *options) {
    static const size_t places[] = {0, 1, 13, 25, 26, 39, 40};
    svmp_context *context = test_context(2), *other = test_context(1);
    svmp_model *model = make(context), *again = make(other);
    svmp_particles *whole = target_infer(model, options);
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        save_at(model, options, places[k]);
        svmp_particles *broken = resume(again, options, places[k]);
        assert_same(whole, broken);
        svmp_particles_free(broken);
    }
    svmp_particles_free(whole);
    svmp_model_free(model);
    svmp_model_free(again);
    svmp_context_free(context);
    svmp_context_free(other);
}

static svmp_model *grid(svmp_context *context) { return test_grid(context, 3, 5); }
static svmp_model *logistic(svmp_context *context) { return target_logistic(context); }

static void test_same_bits(void **state) {
    (void)state;
    static const char *const methods[] = {"graphical", "combined", "langevin", "mala",     "nuts",
                                          "dpmp",      "tpmp",     "local",    "transport"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        const run_options options = small(methods[m]);
        assert_resumes(grid, &options);
    }
    static const char *const steps[] = {"adam:0.05", "rmsprop:0.05", "adagrad:0.5..0.01", "fixed:0.01", "decay:1,9,1"};
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        run_options options = small("vanilla");
        options.step = steps[k];
        assert_resumes(logistic, &options);
    }
    static const char *const kernels[] = {"rbf/sd@self + linear/sd@blanket", "rbf@blanket",
                                          "linear/sd@near:3"}; /* kernels with a state, the sd */
    for (size_t k = 0; k < 3; k++) {
        run_options options = small("graphical");
        options.kernel = kernels[k];
        options.step = "adam-sd:0.3..0.1";
        assert_resumes(grid, &options);
    }
    run_options options = small("nuts");
    assert_resumes(logistic, &options);
    options.warmup = 39; /* warm-up states share one slot */
    options.draws = 1;
    assert_resumes(logistic, &options);
}

/* A resumed run expects the same end, although what the last inspection compared is over. */
static void test_expected_end(void **state) {
    (void)state;
    static const size_t places[] = {50, 110, 130, 160, 200, 250, 320, 400};
    svmp_context *context = test_context(1);
    svmp_model *model = logistic(context);
    run_options options = small("transport");
    options.iterations = 1000000;
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        svmp_run *run = NULL;
        const size_t expected = save_at(model, &options, places[k]);
        assert_ok(svmp_run_make(model, &options, &run));
        assert_ok(svmp_run_load(run, "run.checkpoint"));
        assert_int_equal(svmp_run_expected(run), expected);
        svmp_run_free(run);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* An extended run equals a run that was longer from the start. */
static void test_iterations_grow(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_model *model = grid(context);
    static const char *const methods[] = {"graphical", "mala", "nuts", "local"};
    for (size_t m = 0; m < 4; m++) {
        run_options options = small(methods[m]), longer = options;
        longer.iterations = 70;
        longer.draws = 45;
        svmp_particles *whole = target_infer(model, &longer);
        for (size_t at = 13; at <= 40; at += 27) {
            save_at(model, &options, at);
            svmp_particles *grown = resume(model, &longer, at);
            assert_same(whole, grown);
            svmp_particles_free(grown);
        }
        svmp_particles_free(whole);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Saved in the iteration in which it converged: it does not continue. */
static void test_converged_run_stays(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = grid(context);
    run_options options = small("graphical");
    options.tolerance = 1e300;
    save_at(model, &options, 1);
    svmp_run *run = NULL;
    svmp_outcome outcome;
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_load(run, "run.checkpoint"));
    assert_ok(svmp_run_go(run, &outcome));
    assert_int_equal(outcome, SVMP_CONVERGED);
    assert_int_equal(svmp_run_iteration(run), 1);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void assert_refused(const svmp_model *model, svmp_context *context, const run_options *options,
                           const char *sentence) {
    svmp_run *run = NULL;
    svmp_outcome outcome;
    assert_ok(svmp_run_make(model, options, &run));
    assert_int_equal(svmp_run_load(run, "run.checkpoint"), SVMP_BAD_INPUT);
    if (strstr(svmp_context_error(context), sentence) == NULL)
        fail_msg("'%s' instead of '%s'", svmp_context_error(context), sentence);
    assert_ok(svmp_run_go(run, &outcome)); /* the run is unchanged */
    svmp_run_free(run);
}

static void test_other_options(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = grid(context);
    const run_options options = small("graphical");
    static const char *const changes[][3] = {
        {"seed", "2", "has seed = 1, but this run has seed = 2."},
        {"method", "vanilla", "has method = graphical, but this run has method = vanilla."},
        {"particles", "7", "has particles = 6, but this run has particles = 7."},
        {"kernel", "imq@all", "has kernel = (the method's default), but this run has kernel = imq@all."},
        {"tolerance", "0.5", "has tolerance = 0, but this run has tolerance = 0.5."},
        {"iterations", "39", "iterations = 40, but this run has iterations = 39, which must not be smaller."},
    };
    save_at(model, &options, 20);
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        run_options other = options;
        assert_ok(svmp_run_options_set(context, &other, changes[k][0], changes[k][1]));
        assert_refused(model, context, &other, changes[k][2]);
    }
    run_options falling = options;
    falling.step = "adagrad:0.5..0.1";
    save_at(model, &falling, 20);
    falling.iterations = 50;
    assert_refused(model, context, &falling,
                   "cannot be increased to 50: the step size decreases from 0.5 to 0.1 over the run.");
    svmp_model_free(model);
    svmp_context_free(context);
}

static size_t read_bytes(const char *path, char **bytes) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const size_t size = (size_t)ftell(file);
    rewind(file);
    *bytes = malloc(size + 1);
    assert_int_equal(fread(*bytes, 1, size, file), size);
    fclose(file);
    return size;
}

/* Replaces the backend `cpu` by `auto`: svmp 0.2.0 saved the option. */
static void make_old(void) {
    char *bytes;
    const size_t size = read_bytes("run.checkpoint", &bytes);
    size_t at = 0;
    while (strcmp(bytes + at, "option backend") != 0) at += 8;
    assert_string_equal(bytes + at + 32, "cpu");
    const uint64_t count = sizeof "auto";
    memcpy(bytes + at + 24, &count, sizeof count);
    memcpy(bytes + at + 32, "auto", sizeof "auto");
    const uint64_t hash = svmp_hash_bytes(SVMP_HASH_START, size - sizeof hash, bytes);
    memcpy(bytes + size - sizeof hash, &hash, sizeof hash);
    write_bytes("run.checkpoint", bytes, size);
    free(bytes);
}

static void count_warning(svmp_log_level level, const char *message, void *user_data) {
    if (level != SVMP_LOG_WARNING) return;
    if (strstr(message,
               "does not say whether it was written on the CPU or on a GPU; the run continues with the backend 'cpu'."))
        ++*(int *)user_data;
    else
        fail_msg("%s", message);
}

/* A checkpoint holds the backend that ran, not the option. Another backend is refused before the run is created, with
 * advice. */
static void test_backends(void **state) {
    (void)state;
    int warnings = 0;
    svmp_context *context = test_context(1);
    svmp_model *model = grid(context);
    svmp_options *options = NULL;
    run_options chosen = small("graphical"), plain = chosen, other = chosen;
    chosen.backend = "auto";
    other.backend = "ref";
    svmp_particles *whole = target_infer(model, &plain);
    assert_ok(svmp_context_set_log(context, count_warning, &warnings));
    for (int old = 0; old < 2; old++) {
        save_at(model, &chosen, 20);
        if (old) make_old();
        svmp_particles *broken = resume(model, &plain, 20);
        assert_same(whole, broken);
        svmp_particles_free(broken);
        broken = resume(model, &chosen, 20);
        assert_same(whole, broken);
        svmp_particles_free(broken);
    }
    assert_int_equal(warnings, 2);

    save_at(model, &plain, 20);
    assert_refused(model, context, &other,
                   "has backend = cpu, but this run has backend = ref. Continue with backend = cpu, or start a new "
                   "run from its particles (init = FILE). Write its particles where it ran (output = FILE).");
    assert_ok(svmp_options_create(context, &options));
    assert_ok(svmp_options_set(options, "backend", "auto"));
    assert_ok(svmp_options_resume(options, "run.checkpoint"));
    assert_string_equal(svmp_options_get(options, "backend"), "cpu");
    assert_ok(svmp_options_set(options, "backend", "cuda"));
    assert_int_equal(svmp_options_resume(options, "run.checkpoint"), SVMP_BAD_INPUT);
    assert_non_null(
        strstr(svmp_context_error(context), "has backend = cpu, but this run has backend = cuda. Continue"));
    make_old();
    assert_ok(svmp_options_resume(options, "run.checkpoint"));
    assert_string_equal(svmp_options_get(options, "backend"), "cuda");
    assert_int_equal(svmp_options_resume(options, "nowhere"), SVMP_CANNOT_READ);
    svmp_options_free(options);
    svmp_particles_free(whole);
    svmp_model_free(model);
    svmp_context_free(context);
}

static int shifted(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    const double centre = *(const double *)user_data;
    for (size_t l = 0; l < n; l++) {
        value[l] = -0.5 * (x[0][l] - centre) * (x[0][l] - centre);
        gradient[0][l] = centre - x[0][l];
    }
    return 0;
}

static svmp_model *one_node(svmp_context *context, const char *name, const double *lower, double *centre) {
    svmp_model *model = NULL;
    size_t node;
    assert_ok(svmp_model_create(context, &model));
    assert_ok(svmp_model_add_node(model, name, 1, lower, NULL, &node));
    assert_ok(svmp_model_add_callback(model, 1, &node, shifted, centre));
    assert_ok(svmp_model_finish(model));
    return model;
}

static void test_other_models(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    const run_options options = small("graphical");
    double here = 1, there = 1 + 0x1p-50, bound = -5;
    svmp_model *model = one_node(context, "a", NULL, &here);
    save_at(model, &options, 10);
    svmp_model *others[] = {one_node(context, "b", NULL, &here), one_node(context, "a", &bound, &here),
                            one_node(context, "a", NULL, &there), grid(context)};
    static const char *const sentences[] = {"other names, bounds or edges", "other names, bounds or edges",
                                            "other numbers in the factors or other data",
                                            "that has 1 nodes, 1 variables and 1 factors, this one has 9, 9 and "};
    for (size_t k = 0; k < 4; k++) {
        assert_refused(others[k], context, &options, sentences[k]);
        svmp_model_free(others[k]);
    }

    svmp_particles *start = NULL;
    svmp_run *run = NULL;
    assert_ok(svmp_particles_create(context, 1, 6, NULL, &start));
    assert_ok(svmp_particles_set_name(start, 0, "a"));
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_start_from(run, start));
    assert_int_equal(svmp_run_load(run, "run.checkpoint"), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "started from random particles, not from a file"));
    svmp_run_free(run);
    svmp_particles_free(start);
    svmp_model_free(model);
    svmp_context_free(context);
}

static uint64_t below(uint64_t round, uint64_t place, uint64_t bound) {
    return svmp_random_below((random_stream){.seed = 2, .purpose = RANDOM_TEST, .a = round}, place, bound);
}

/* Any byte changed, the end cut off, a word removed or inserted: the file is refused, and the run can still proceed. */
static void test_damaged_files(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = logistic(context);
    static const char *const methods[] = {"graphical", "nuts"};
    for (uint64_t m = 0; m < 2; m++) {
        const run_options options = small(methods[m]);
        char *good, *bytes;
        save_at(model, &options, 30);
        const size_t size = read_bytes("run.checkpoint", &good);
        bytes = malloc(size + 8);
        for (uint64_t round = 0; round < 600; round++) {
            const size_t place = (size_t)below(m * 1000 + round, 0, size);
            size_t length = size;
            memcpy(bytes, good, size);
            switch (round % 4) {
            case 0: bytes[place] = (char)(bytes[place] ^ (1 << below(m * 1000 + round, 1, 8))); break;
            case 1: length = place; break;
            case 2:
                length = size - 8;
                memmove(bytes + place / 8 * 8, bytes + place / 8 * 8 + 8, size - 8 - place / 8 * 8);
                if (memcmp(bytes, good, size - 8) == 0) bytes[0] = 0; /* cut at the end */
                break;
            case 3:
                length = size + 8;
                memmove(bytes + place / 8 * 8 + 8, good + place / 8 * 8, size - place / 8 * 8);
                break;
            }
            write_bytes("run.checkpoint", bytes, length);
            svmp_run *run = NULL;
            assert_ok(svmp_run_make(model, &options, &run));
            assert_int_equal(svmp_run_load(run, "run.checkpoint"), SVMP_BAD_INPUT);
            assert_non_null(strstr(svmp_context_error(context), "The checkpoint 'run.checkpoint' "));
            svmp_run_free(run);
        }
        memcpy(bytes, good, size);
        bytes[20] = 9; /* the format of a newer svmp */
        write_bytes("run.checkpoint", bytes, size);
        assert_refused(model, context, &options, "has format 9, but svmp");
        free(bytes);
        free(good);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A checkpoint that cannot be written leaves the previous one. */
static void test_unwritable(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = grid(context);
    const run_options options = small("graphical");
    svmp_run *run = NULL;
    assert_ok(svmp_run_make(model, &options, &run));
    assert_int_equal(svmp_run_save(run, "no/such/folder"), SVMP_CANNOT_WRITE);
    assert_int_equal(svmp_run_save(run, "."), SVMP_CANNOT_WRITE);
    assert_int_equal(svmp_run_load(run, "nothing.checkpoint"), SVMP_CANNOT_READ);
    assert_int_equal(svmp_run_load(run, "."), SVMP_CANNOT_READ);
    assert_int_equal(svmp_run_save(run, NULL), SVMP_BAD_CALL);
    assert_int_equal(svmp_run_load(run, NULL), SVMP_BAD_CALL);
    assert_int_equal(svmp_run_save(NULL, "a"), SVMP_BAD_CALL);
    assert_int_equal(svmp_run_load(NULL, "a"), SVMP_BAD_CALL);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Each allocation of saving and loading fails in turn. */
static void test_scarce_memory(void **state) {
    (void)state;
    static const char *const methods[] = {"graphical", "nuts"};
    for (size_t m = 0; m < 2; m++) {
        const run_options options = small(methods[m]);
        scarce_memory memory = {1000000};
        svmp_context *context = scarce_context(&memory);
        svmp_model *model = grid(context);
        save_at(model, &options, 30);
        svmp_status status = SVMP_NO_MEMORY;
        for (long allowed = 0; status == SVMP_NO_MEMORY; allowed++) {
            svmp_run *run = NULL;
            memory.left = 1000000;
            assert_ok(svmp_run_make(model, &options, &run));
            memory.left = allowed;
            status = svmp_run_load(run, "run.checkpoint");
            if (status == SVMP_OK) status = svmp_run_save(run, "run.checkpoint");
            assert_int_equal(files_in_folder(0), 1);
            svmp_run_free(run);
            assert_true(allowed < 1000);
        }
        assert_ok(status);
        memory.left = 1000000;
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

/* Two processes repeatedly save to one path: each save succeeds, and each load finds a whole file. */
static void test_two_processes(void **state) {
    (void)state;
    enum { SAVES = 300 };
    int ended = -1;
    svmp_context *context = test_context(1);
    svmp_model *model = test_grid(context, 3, 1);
    run_options options = svmp_run_options_default();
    options.method = "graphical";
    options.particles = 10;
    svmp_run *run = NULL, *other = NULL;
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_save(run, "shared.checkpoint"));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int wrong = 0;
        for (int k = 0; k < SAVES; k++) wrong |= svmp_run_save(run, "shared.checkpoint") != SVMP_OK;
        _exit(wrong);
    }
    int wrong = 0;
    for (int k = 0; k < SAVES; k++) {
        wrong |= svmp_run_save(run, "shared.checkpoint") != SVMP_OK;
        wrong |= svmp_run_make(model, &options, &other) != SVMP_OK;
        wrong |= svmp_run_load(other, "shared.checkpoint") != SVMP_OK;
        svmp_run_free(other);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    assert_int_equal(wrong, 0);
    unlink("shared.checkpoint");
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),       cmocka_unit_test(test_expected_end),
        cmocka_unit_test(test_iterations_grow), cmocka_unit_test(test_converged_run_stays),
        cmocka_unit_test(test_other_options),   cmocka_unit_test(test_other_models),
        cmocka_unit_test(test_damaged_files),   cmocka_unit_test(test_unwritable),
        cmocka_unit_test(test_scarce_memory),   cmocka_unit_test(test_two_processes),
        cmocka_unit_test(test_backends),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
