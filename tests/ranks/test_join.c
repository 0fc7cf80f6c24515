/* In each of two processes started by mpirun: contexts join and are freed, and several may exist at once.
 */
#include "unit/support.h"

#include <math.h>
#include <string.h>

#include "model/model.h"

static svmp_context *join(void) {
    svmp_context *context = test_context(1);
    if (svmp_context_join(context) != SVMP_OK) fail_msg("%s", svmp_context_error(context));
    assert_int_equal(svmp_context_processes(context), 2);
    return context;
}

/* The number of each process, in order. */
static void gather_ranks(const svmp_context *context) {
    const uint64_t mine = svmp_context_process(context);
    uint64_t all[2] = {7, 7};
    svmp_context_gather(context, sizeof mine, &mine, all);
    assert_int_equal(all[0], 0);
    assert_int_equal(all[1], 1);
}

static void one_after_the_other(void **unused) {
    (void)unused;
    for (int k = 0; k < 3; k++) {
        svmp_context *context = join();
        gather_ranks(context);
        svmp_context_free(context);
    }
}

static void a_context_joins_once(void **unused) {
    (void)unused;
    svmp_context *context = join();
    assert_int_equal(svmp_context_join(context), SVMP_BAD_CALL);
    assert_string_equal(svmp_context_error(context), "The context has already joined the other processes.");
    gather_ranks(context);
    svmp_context_free(context);
}

/* A separate run in each context, in turns, beginning with the first context. */
static void two_at_once(void **unused) {
    (void)unused;
    enum { RUNS = 2 };
    svmp_context *contexts[RUNS];
    svmp_model *models[RUNS];
    svmp_run *runs[RUNS];
    double largest[RUNS];
    run_options options = graphical_options();
    options.particles = 5;
    options.iterations = 3;
    for (int r = 0; r < RUNS; r++) {
        svmp_split split;
        contexts[r] = join();
        models[r] = test_grid(contexts[r], 4, 1);
        assert_ok(svmp_model_split(&models[r], &split));
        assert_int_equal(split.processes, 2);
        assert_ok(svmp_run_make(models[r], &options, &runs[r]));
    }
    for (int r = 0; r < RUNS; r++) {
        svmp_outcome outcome;
        svmp_discrepancy total;
        assert_ok(svmp_run_go(runs[r], &outcome));
        assert_int_equal(outcome, SVMP_COMPLETED);
        assert_ok(svmp_run_discrepancy(runs[r], &total, NULL));
        largest[r] = total.v;
        svmp_run_free(runs[r]);
        svmp_model_free(models[r]);
        svmp_context_free(contexts[r]);
    }
    assert_true(isfinite(largest[0]) && largest[0] == largest[1]); /* the same model, and the same seed */
}

/* Whichever allocation of either process fails, both report it and can join with another context. */
static void a_process_without_memory(void **unused) {
    (void)unused;
    svmp_context *witness = join();
    for (size_t failing = 0; failing < 2; failing++) {
        unsigned failed = 1;
        for (long allowed = 0; failed; allowed++) {
            scarce_memory memory = {1000};
            svmp_context *context = scarce_context(&memory);
            if (svmp_context_process(witness) == failing) memory.left = allowed;
            const svmp_status status = svmp_context_join(context);
            failed = svmp_context_any(witness, status != SVMP_OK);
            assert_int_equal(status, failed ? SVMP_NO_MEMORY : SVMP_OK);
            assert_true(!failed || strstr(svmp_context_error(context), "Out of memory") != NULL);
            memory.left = 1000;
            if (!failed) gather_ranks(context);
            svmp_context_free(context);
            assert_true(allowed < 20);
        }
    }
    svmp_context_free(witness);
}

/* The same for a run whose neighbours are connected by MPI. */
static void a_run_without_memory(void **unused) {
    (void)unused;
    enum { PLENTY = 1000000 };
    scarce_memory memory = {PLENTY};
    svmp_context *context = scarce_context(&memory);
    if (svmp_context_join(context) != SVMP_OK) fail_msg("%s", svmp_context_error(context));
    svmp_model *model = test_grid(context, 4, 1);
    assert_ok(svmp_model_split(&model, NULL));
    for (size_t failing = 0; failing < 2; failing++) {
        unsigned failed = 1;
        for (long allowed = 0; failed; allowed++) {
            svmp_run *run = NULL;
            if (svmp_context_process(context) == failing) memory.left = allowed;
            const svmp_status status = svmp_run_create(model, NULL, &run);
            memory.left = PLENTY;
            failed = svmp_context_any(context, status != SVMP_OK);
            assert_int_equal(status, failed ? SVMP_NO_MEMORY : SVMP_OK);
            svmp_run_free(run);
            assert_true(allowed < 1000);
        }
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_after_the_other),  cmocka_unit_test(a_context_joins_once),
        cmocka_unit_test(two_at_once),          cmocka_unit_test(a_process_without_memory),
        cmocka_unit_test(a_run_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
