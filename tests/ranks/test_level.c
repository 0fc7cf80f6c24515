/* In each of two processes: a program has started MPI for a single thread, but svmp uses several. */
#include "unit/support.h"

#include <mpi.h>

#include "svmp_parallel.h"

static void one_thread_is_refused(void **unused) {
    (void)unused;
    svmp_context *context = test_context(1);
    int level;
    MPI_Init(NULL, NULL);
    MPI_Query_thread(&level);
    if (level == MPI_THREAD_SINGLE) { /* or a higher level than requested */
        assert_int_equal(svmp_context_join(context), SVMP_UNSUPPORTED);
        assert_string_equal(svmp_context_error(context),
                            "The processes cannot join: MPI was initialised for single-threaded programs; call "
                            "MPI_Init_thread with MPI_THREAD_FUNNELED or higher.");
    }
    assert_int_equal(svmp_context_processes(context), 1);
    svmp_context_free(context);
    MPI_Finalize();
    if (level != MPI_THREAD_SINGLE) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_thread_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
