/* In each of two processes: a program that starts and ends MPI itself. Contexts can still be freed after that, but none
 * can join. */
#include "unit/support.h"

#include <mpi.h>

#include "svmp_parallel.h"

static void test_contexts_after_mpi_has_ended(void **unused) {
    (void)unused;
    svmp_context *before = test_context(1), *after = test_context(1);
    svmp_model *model = NULL;
    svmp_run *run = NULL;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &(int){0});
    assert_ok(svmp_context_join(before));
    assert_int_equal(svmp_context_processes(before), 2);
    model = test_grid(before, 3, 1);
    assert_ok(svmp_model_split(&model, NULL));
    assert_ok(svmp_run_create(model, NULL, &run));
    MPI_Finalize();
    assert_int_equal(svmp_context_join(after), SVMP_BAD_CALL);
    assert_string_equal(svmp_context_error(after),
                        "The processes cannot join: MPI is finalised and cannot be initialised again.");
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(before);
    svmp_context_free(after);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_contexts_after_mpi_has_ended)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
