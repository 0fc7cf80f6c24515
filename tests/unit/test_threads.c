/* Loops shared among threads: every item once, thread numbers below their count, nested loops, several callers, forked
 * processes. */
#include "support.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/threads.h"

enum { ITEMS = 1000, MOST = 8 };

typedef struct visits {
    int threads;
    atomic_int of[ITEMS];
    atomic_bool wrong; /* the number of a thread */
} visits;

static void visit(void *work, size_t k) {
    visits *v = work;
    if (svmp_thread_number() < 0 || svmp_thread_number() >= v->threads) v->wrong = true;
    v->of[k]++;
}

static void check_loop(int threads, size_t count, size_t chunk) {
    visits v = {.threads = threads};
    svmp_parallel_for(threads, count, chunk, visit, &v);
    for (size_t k = 0; k < ITEMS; k++) assert_int_equal(v.of[k], k < count);
    assert_false(v.wrong);
    assert_int_equal(svmp_thread_number(), 0);
}

static void test_items(void **state) {
    (void)state;
    for (int threads = 1; threads <= MOST; threads++)
        for (size_t count = 0; count <= ITEMS; count = 3 * count + 1)
            for (size_t chunk = 0; chunk <= 20; chunk += 5) check_loop(threads, count, chunk);
    check_loop(MOST, ITEMS, 2 * ITEMS);
}

/* Fewer threads than helpers, then more: no loop is missed, and no late helper joins a finished one. */
static void test_many(void **state) {
    (void)state;
    for (int k = 0; k < 3000; k++) {
        visits v = {.threads = 1 + k % MOST};
        svmp_parallel_for(v.threads, MOST, 1, visit, &v);
        for (size_t i = 0; i < MOST; i++) assert_int_equal(v.of[i], 1);
        assert_false(v.wrong);
    }
}

static void visit_all(void *work, size_t k) {
    visits *inner = (visits *)work + k;
    const int number = svmp_thread_number();
    svmp_parallel_for(MOST, ITEMS, 7, visit, inner);
    if (svmp_thread_number() != number) inner->wrong = true;
}

/* A nested loop runs in its thread alone, with number 0; within a loop of one thread it is shared. */
static void test_nested(void **state) {
    (void)state;
    for (int threads = 1; threads <= MOST; threads += MOST - 1) {
        visits *inner = calloc(MOST, sizeof *inner);
        for (size_t k = 0; k < MOST; k++) inner[k].threads = threads > 1 ? 1 : MOST;
        svmp_parallel_for(threads, MOST, 1, visit_all, inner);
        for (size_t k = 0; k < MOST; k++) {
            assert_false(inner[k].wrong);
            for (size_t i = 0; i < ITEMS; i++) assert_int_equal(inner[k].of[i], 1);
        }
        free(inner);
    }
}

static void *call(void *argument) {
    visits *v = argument;
    for (int k = 0; k < 100; k++) svmp_parallel_for(v->threads, ITEMS, 1, visit, v);
    return NULL;
}

/* Every calling thread has its own helpers, which end with it. */
static void test_callers(void **state) {
    (void)state;
    pthread_t callers[4];
    visits *v = calloc(4, sizeof *v);
    for (size_t k = 0; k < 4; k++) {
        v[k].threads = 3;
        assert_int_equal(pthread_create(&callers[k], NULL, call, &v[k]), 0);
    }
    for (size_t k = 0; k < 4; k++) {
        assert_int_equal(pthread_join(callers[k], NULL), 0);
        assert_false(v[k].wrong);
        for (size_t i = 0; i < ITEMS; i++) assert_int_equal(v[k].of[i], 100);
    }
    free(v);
}

/* A forked child does not have its parent's helpers and starts its own. */
static void test_fork(void **state) {
    (void)state;
    check_loop(4, ITEMS, 1);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20); /* a child waiting for its parent's threads would wait for ever */
        visits v = {.threads = 4};
        svmp_parallel_for(4, ITEMS, 1, visit, &v);
        int wrong = v.wrong;
        for (size_t k = 0; k < ITEMS; k++) wrong |= v.of[k] != 1;
        _exit(wrong);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    check_loop(4, ITEMS, 1);
}

static void keep(void *work, size_t k) {
    struct {
        atomic_size_t least;
        _Atomic double largest;
    } *found = work;
    svmp_keep_least(&found->least, ITEMS - k);
    svmp_keep_largest(&found->largest, k % 2 ? (double)k : NAN);
}

static void test_cache(void **state) {
    (void)state;
    struct {
        atomic_size_t least;
        _Atomic double largest;
    } found = {SIZE_MAX, -1};
    svmp_parallel_for(MOST, ITEMS, 1, keep, &found);
    assert_int_equal(found.least, 1);
    assert_true(found.largest == ITEMS - 1);
}

static void test_names_in_tables(void **state) {
    (void)state;
    assert_true(svmp_threads_offered() >= 1);
    setenv("OMP_NUM_THREADS", "3", 1);
    assert_int_equal(svmp_threads_offered(), 3);
    setenv("OMP_NUM_THREADS", "5,2", 1);
    assert_int_equal(svmp_threads_offered(), 5);
    setenv("OMP_NUM_THREADS", "none", 1);
    assert_true(svmp_threads_offered() >= 1);
    unsetenv("OMP_NUM_THREADS");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items),           cmocka_unit_test(test_many), cmocka_unit_test(test_nested),
        cmocka_unit_test(test_callers),         cmocka_unit_test(test_fork), cmocka_unit_test(test_cache),
        cmocka_unit_test(test_names_in_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
