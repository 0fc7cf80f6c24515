/* lp__ of a result: computed in blocks, with the same bits as all particles at once, in little memory; if memory for it
 * is lacking, the result has no lp__. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "method/method.h"
#include "model/evaluator.h"
#include "model/model.h"
#include "sample/particles.h"

/* Counts allocated bytes, and fails beyond `most`. */
typedef struct counted_memory {
    size_t held, peak, most;
} counted_memory;

typedef struct counted_block {
    size_t size, padding; /* the bytes after it stay aligned */
} counted_block;

static void *take(counted_memory *memory, counted_block *from, size_t size) {
    const size_t before = from ? from->size : 0;
    if (size > before && memory->held - before + size > memory->most) return NULL;
    counted_block *made = realloc(from, sizeof *made + size);
    if (made == NULL) return NULL;
    made->size = size;
    memory->held += size - before;
    if (memory->held > memory->peak) memory->peak = memory->held;
    return made + 1;
}

static void *counted_allocate(size_t size, void *user_data) {
    void *made = take(user_data, NULL, size);
    return made ? memset(made, 0, size) : NULL;
}

static void *counted_resize(void *pointer, size_t size, void *user_data) {
    return take(user_data, pointer ? (counted_block *)pointer - 1 : NULL, size);
}

static void counted_release(void *pointer, void *user_data) {
    counted_memory *memory = user_data;
    if (pointer == NULL) return;
    counted_block *block = (counted_block *)pointer - 1;
    memory->held -= block->size;
    free(block);
}

static svmp_context *counted_context(counted_memory *memory, int threads) {
    const svmp_allocator allocator = {counted_allocate, counted_resize, counted_release, memory};
    svmp_context *context = NULL;
    assert_ok(svmp_context_create(&allocator, &context));
    assert_ok(svmp_context_set_threads(context, threads));
    return context;
}

static int quartic(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)user_data;
    for (size_t l = 0; l < n; l++) {
        value[l] = -x[0][l] * x[0][l] * x[0][l] * x[0][l];
        gradient[0][l] = -4 * x[0][l] * x[0][l] * x[0][l];
    }
    return 0;
}

/* A chain of three nodes with Gaussian and other factors. */
static svmp_model *chain(svmp_context *context) {
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < 3; v++) {
        assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
        assert_ok(svmp_model_add_gaussian(model, 1, &v, (double[]){1.5}, (double[]){0.3}));
        assert_ok(svmp_model_add_callback(model, 1, &v, quartic, NULL));
        if (v > 0) assert_ok(svmp_model_add_gaussian(model, 2, (size_t[]){v - 1, v}, NULL, NULL));
    }
    assert_ok(svmp_model_finish(model));
    return model;
}

static svmp_run *start(const svmp_model *model, size_t particles) {
    run_options options = svmp_run_options_default();
    svmp_run *run = NULL;
    options.method = "langevin";
    options.init = "normal:1";
    options.particles = particles;
    options.iterations = 1;
    assert_ok(svmp_run_make(model, &options, &run));
    return run;
}

/* 2,500 particles are two blocks of 1,024 and a third that overlaps the second. */
static void test_same_bits_as_at_once(void **state) {
    (void)state;
    enum { PARTICLES = 2500 };
    svmp_context *context = test_context(3);
    svmp_model *model = chain(context);
    svmp_run *run = start(model, PARTICLES);
    svmp_particles *particles = NULL;
    evaluator *e = NULL;
    double *log_density = calloc(PARTICLES, sizeof *log_density);
    int known = 0;
    assert_non_null(log_density);
    assert_ok(svmp_run_particles(run, &particles));
    assert_ok(svmp_evaluator_create(model, PARTICLES, 1, &e));
    assert_ok(svmp_evaluate_log_density(e, particles->values, log_density, &known));
    assert_true(known);
    const double *lp = svmp_particles_statistic(particles, "lp__");
    assert_non_null(lp);
    assert_memory_equal(lp, log_density, PARTICLES * sizeof *lp);
    free(log_density);
    svmp_evaluator_free(e);
    svmp_particles_free(particles);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Memory of a result in addition to its values: for additional particles it grows only by their lp__, which is stored
 * twice. Sums of all particles at once would take 560 bytes per thread and particle. */
static void test_memory_of_a_block(void **state) {
    (void)state;
    enum { PARTICLES = 20000 };
    size_t extra[2];
    for (size_t k = 0; k < 2; k++) {
        counted_memory memory = {.most = SIZE_MAX};
        svmp_context *context = counted_context(&memory, 8);
        svmp_model *model = chain(context);
        svmp_run *run = start(model, (k + 1) * PARTICLES);
        svmp_particles *particles = NULL;
        const size_t before = memory.peak = memory.held;
        assert_ok(svmp_run_particles(run, &particles));
        extra[k] = memory.peak - before;
        svmp_particles_free(particles);
        svmp_run_free(run);
        svmp_model_free(model);
        svmp_context_free(context);
        assert_int_equal(memory.held, 0);
    }
    const size_t values = (3 + 2) * sizeof(double) * PARTICLES;
    assert_in_range(extra[1] - extra[0], 0, values + values / 4);
}

/* With memory for the values but not for the sums, the particles have no lp__, and a warning says so. */
static void count_warnings(svmp_log_level level, const char *message, void *user_data) {
    if (level == SVMP_LOG_WARNING && strstr(message, "lp__")) ++*(int *)user_data;
}

static void test_values_without_memory_for_sums(void **state) {
    (void)state;
    enum { PARTICLES = 2000 };
    counted_memory memory = {.most = SIZE_MAX};
    svmp_context *context = counted_context(&memory, 4);
    svmp_model *model = chain(context);
    svmp_run *run = start(model, PARTICLES);
    svmp_particles *particles = NULL;
    int warnings = 0;
    const double *x;
    assert_ok(svmp_context_set_log(context, count_warnings, &warnings));
    assert_ok(svmp_backend_view(run->backend, ARRAY_PARTICLES, &x));
    memory.most = memory.held + 4 * sizeof(double) * PARTICLES + 20000;
    assert_ok(svmp_run_particles(run, &particles));
    assert_int_equal(warnings, 1);
    assert_null(svmp_particles_statistic(particles, "lp__"));
    assert_memory_equal(particles->values, x, 3 * PARTICLES * sizeof *x);
    svmp_particles_free(particles);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A result that exceeds the machine's memory is refused before any allocation. */
static void test_refused_at_the_start(void **state) {
    (void)state;
    counted_memory memory = {.most = SIZE_MAX};
    svmp_context *context = counted_context(&memory, 1);
    svmp_model *model = test_grid(context, 200, 1);
    svmp_run *run = NULL;
    run_options options = svmp_run_options_default();
    options.method = "langevin";
    options.particles = 1000000000;
    const size_t before = memory.peak = memory.held;
    assert_int_equal(svmp_run_make(model, &options, &run), SVMP_NO_MEMORY);
    assert_non_null(strstr(svmp_context_error(context), "Out of memory: this run and its result need"));
    assert_in_range(memory.peak - before, 0, 100000);
    svmp_model_free(model);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits_as_at_once),
        cmocka_unit_test(test_memory_of_a_block),
        cmocka_unit_test(test_values_without_memory_for_sums),
        cmocka_unit_test(test_refused_at_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
