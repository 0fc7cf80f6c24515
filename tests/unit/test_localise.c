/* A start for models of distances: the map is recovered as far as the data determine it; otherwise the model is
 * refused. */
#include <math.h>
#include <string.h>

#include "support.h"
#include "svmp_slam.h"

enum { MOST = 64 };

/* Points, the first `anchors` of them known, and the exact distances of the pairs nearer than `reach`. */
typedef struct scene {
    size_t points, dimension, anchors, count;
    double place[MOST * 3], known[MOST * 3], range[MOST * MOST], found[MOST * 3];
    size_t from[MOST * MOST], to[MOST * MOST];
} scene;

static double distance(const scene *s, const double *x, size_t i, size_t j) {
    double sum = 0;
    for (size_t k = 0; k < s->dimension; k++) sum += pow(x[i * s->dimension + k] - x[j * s->dimension + k], 2);
    return sqrt(sum);
}

static scene make_scene(size_t points, size_t dimension, size_t anchors, double reach, uint64_t stream) {
    scene s = {.points = points, .dimension = dimension, .anchors = anchors};
    for (size_t k = 0; k < points * dimension; k++) {
        s.place[k] = test_random(stream, k);
        s.known[k] = k < anchors * dimension ? s.place[k] : NAN;
    }
    for (size_t i = 0; i < points; i++)
        for (size_t j = 0; j < i; j++)
            if (distance(&s, s.place, i, j) < reach) {
                s.from[s.count] = i, s.to[s.count] = j;
                s.range[s.count++] = distance(&s, s.place, i, j);
            }
    return s;
}

static svmp_status locate(svmp_context *context, scene *s) {
    const svmp_ranges ranges = {s->points, s->dimension, s->known, s->count, s->from, s->to, s->range};
    return svmp_localise(context, &ranges, s->found);
}

/* Exact distances of all pairs determine the map up to a rigid motion, which the anchors fix. */
static void test_all_distances_recover_the_points(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (size_t dimension = 1; dimension <= 3; dimension++) {
        scene s = make_scene(20, dimension, dimension + 1, INFINITY, dimension);
        assert_ok(locate(context, &s));
        for (size_t k = 0; k < s.points * dimension; k++) assert_near(s.found[k], s.place[k], 1e-8);
    }
    svmp_context_free(context);
}

/* With some of the distances the map is distorted, but much better than a guess: the points spread over 2 x 2. Known
 * points stay fixed, and the order of the ranges does not matter. */
static void test_some_distances_give_a_start(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    scene s = make_scene(60, 2, 4, 0.8, 7), turned = s;
    assert_ok(locate(context, &s));
    double squares = 0;
    for (size_t i = 0; i < s.points; i++)
        for (size_t k = 0; k < 2; k++) squares += pow(s.found[2 * i + k] - s.place[2 * i + k], 2);
    assert_true(sqrt(squares / 60) < 0.2);
    assert_memory_equal(s.found, s.place, 4 * 2 * sizeof *s.found);
    for (size_t e = 0; e < s.count; e++) {
        turned.from[e] = s.to[s.count - 1 - e], turned.to[e] = s.from[s.count - 1 - e];
        turned.range[e] = s.range[s.count - 1 - e];
    }
    assert_ok(locate(context, &turned));
    assert_memory_equal(s.found, turned.found, sizeof s.found);
    svmp_context_free(context);
}

static void test_ambiguous_points(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    scene s = make_scene(10, 2, 3, INFINITY, 9);
    size_t kept = 0;
    scene apart = s;
    for (size_t e = 0; e < s.count; e++) {
        if (s.from[e] == 9 || s.to[e] == 9) continue;
        apart.from[kept] = s.from[e], apart.to[kept] = s.to[e], apart.range[kept++] = s.range[e];
    }
    apart.count = kept;
    assert_int_equal(locate(context, &apart), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "Point 10"));

    scene line = s; /* three collinear anchors allow two maps */
    for (size_t i = 0; i < 3; i++) line.known[2 * i] = (double)i, line.known[2 * i + 1] = (double)i;
    assert_int_equal(locate(context, &line), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "do not determine the map"));

    scene beyond = s;
    beyond.to[0] = 10;
    assert_int_equal(locate(context, &beyond), SVMP_BAD_CALL);
    assert_int_equal(svmp_localise(context, NULL, s.found), SVMP_BAD_CALL);
    svmp_context_free(context);
}

static void test_failing_allocations(void **state) {
    (void)state;
    for (long left = 0;; left++) {
        scarce_memory memory = {1000};
        svmp_context *context = scarce_context(&memory);
        memory.left = left;
        scene s = make_scene(10, 2, 3, INFINITY, 9);
        const svmp_status status = locate(context, &s);
        svmp_context_free(context);
        if (status == SVMP_OK) break;
        assert_int_equal(status, SVMP_NO_MEMORY);
        assert_true(left < 20);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_distances_recover_the_points),
        cmocka_unit_test(test_some_distances_give_a_start),
        cmocka_unit_test(test_ambiguous_points),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
