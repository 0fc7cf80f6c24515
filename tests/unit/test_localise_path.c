/* A start for range-only SLAM: exact data recover the path and the map, outliers change little, and an ambiguous map is
 * reported. */
#include <math.h>
#include <string.h>

#include "support.h"
#include "svmp_slam.h"

enum { POSES = 60, LANDMARKS = 5, COUNT = POSES * LANDMARKS };

typedef struct trip {
    double path[3 * POSES], map[2 * LANDMARKS], found[3 * POSES], sighted[2 * LANDMARKS];
    double ahead[POSES], left[POSES], turn[POSES], range[COUNT];
    size_t pose[COUNT], landmark[COUNT], count;
    svmp_path_fit fit;
    svmp_landmark_fit each[LANDMARKS];
} trip;

/* A walk of steps near 1 that bends by at most `bend`, and exact distances from every pose to every landmark. */
static trip make_trip(double bend, uint64_t stream) {
    trip t = {.path = {1, 2, 0.5}};
    for (size_t k = 0; k < 2 * LANDMARKS; k++) t.map[k] = 10 + 15 * test_random(stream, k);
    for (size_t i = 0; i + 1 < POSES; i++) {
        double *p = t.path + 3 * i;
        t.ahead[i] = 1 + (bend > 0 ? 0.2 * test_random(stream + 1, i) : 0);
        t.left[i] = bend > 0 ? 0.2 * test_random(stream + 2, i) : 0;
        t.turn[i] = bend * (sin(0.2 * (double)i) + 0.5 * test_random(stream + 3, i));
        p[3] = p[0] + cos(p[2]) * t.ahead[i] - sin(p[2]) * t.left[i];
        p[4] = p[1] + sin(p[2]) * t.ahead[i] + cos(p[2]) * t.left[i];
        p[5] = p[2] + t.turn[i];
    }
    for (size_t i = 0; i < POSES; i++)
        for (size_t k = 0; k < LANDMARKS; k++) {
            t.pose[t.count] = i, t.landmark[t.count] = k;
            t.range[t.count++] = hypot(t.path[3 * i] - t.map[2 * k], t.path[3 * i + 1] - t.map[2 * k + 1]);
        }
    return t;
}

static svmp_odometry data_of(const trip *t, const double *known) {
    return (svmp_odometry){.poses = POSES,
                           .landmarks = LANDMARKS,
                           .first = {t->path[0], t->path[1], t->path[2]},
                           .ahead = t->ahead,
                           .left = t->left,
                           .turn = t->turn,
                           .known = known,
                           .count = t->count,
                           .pose = t->pose,
                           .landmark = t->landmark,
                           .range = t->range,
                           .move_sd = 0.05,
                           .turn_sd = 0.02,
                           .range_sd = 0.1};
}

static svmp_status locate(svmp_context *context, trip *t, const double *known) {
    const svmp_odometry data = data_of(t, known);
    return svmp_localise_path(context, &data, t->found, t->sighted, &t->fit, t->each);
}

/* The largest distance of an estimate from the truth. */
static double farthest(const trip *t) {
    double far = 0;
    for (size_t k = 0; k < 3 * POSES; k++) far = fmax(far, fabs(t->found[k] - t->path[k]));
    for (size_t k = 0; k < 2 * LANDMARKS; k++) far = fmax(far, fabs(t->sighted[k] - t->map[k]));
    return far;
}

static void test_exact_data_recover_path_and_map(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (uint64_t stream = 0; stream < 5; stream++) {
        trip t = make_trip(0.3, 100 * stream);
        assert_ok(locate(context, &t, NULL));
        assert_true(farthest(&t) < 1e-5);
        assert_int_equal(t.fit.outliers, 0);
        assert_int_equal(t.fit.steps, 0);
        assert_near(t.fit.moves + t.fit.turns + t.fit.ranges, 0, 1e-4);
        for (size_t k = 0; k < LANDMARKS; k++) {
            assert_int_equal(t.each[k].ranges, POSES);
            assert_true(t.each[k].margin > 6);
        }
    }
    svmp_context_free(context);
}

/* Exact distances correct odometry that drifts: the path is much nearer to the truth than the odometry. */
static void test_ranges_correct_the_odometry(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    trip t = make_trip(0.3, 7);
    double known[2 * LANDMARKS]; /* two landmarks, so that the map cannot turn */
    for (size_t k = 0; k < 2 * LANDMARKS; k++) known[k] = k < 4 ? t.map[k] : NAN;
    for (size_t i = 0; i + 1 < POSES; i++) t.turn[i] += 0.02; /* one sd, always to the left: one radian at the end */
    assert_ok(locate(context, &t, known));
    const double *last = t.found + 3 * (POSES - 1), *truth = t.path + 3 * (POSES - 1);
    assert_true(hypot(last[0] - truth[0], last[1] - truth[1]) < 0.1);
    assert_true(t.fit.ranges < 1.5);
    svmp_context_free(context);
}

/* Every seventh distance is up to 20 too long, which is 200 sd: the map stays within a tenth of the sd of a distance,
 * and the outliers are counted. */
static void test_outliers(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    trip t = make_trip(0.3, 11);
    size_t spoilt = 0;
    for (size_t e = 0; e < t.count; e += 7, spoilt++) t.range[e] += 2 + 18 * fabs(test_random(12, e));
    assert_ok(locate(context, &t, NULL));
    assert_true(farthest(&t) < 0.01);
    assert_int_equal(t.fit.outliers, spoilt);
    svmp_context_free(context);
}

/* From a straight path a landmark and its mirror image look the same; the image is reported as the alternative. A
 * landmark with a known position is not affected. */
static void test_a_straight_path_is_ambiguous(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    trip t = make_trip(0, 21);
    double known[2 * LANDMARKS];
    for (size_t k = 0; k < 2 * LANDMARKS; k++) known[k] = k < 2 ? t.map[k] : NAN;
    assert_ok(locate(context, &t, known));
    assert_memory_equal(t.sighted, t.map, 2 * sizeof *t.map);
    assert_true(t.each[0].margin > 6);
    for (size_t k = 1; k < LANDMARKS; k++) {
        const double *at = t.sighted + 2 * k, *first = t.path, c = cos(first[2]), s = sin(first[2]);
        const double along = (at[0] - first[0]) * c + (at[1] - first[1]) * s;
        assert_true(t.each[k].margin < 1e-3);
        assert_near(t.each[k].other[0], 2 * (first[0] + along * c) - at[0], 1e-3);
        assert_near(t.each[k].other[1], 2 * (first[1] + along * s) - at[1], 1e-3);
    }
    svmp_context_free(context);
}

/* A false turn of one radian, 50 sd, is detected from the distances. */
static void test_a_false_turn(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    trip t = make_trip(0.3, 51);
    double known[2 * LANDMARKS];
    for (size_t k = 0; k < 2 * LANDMARKS; k++) known[k] = k < 6 ? t.map[k] : NAN;
    t.turn[29] += 1;
    assert_ok(locate(context, &t, known));
    assert_true(t.fit.steps >= 1);
    assert_true(t.fit.first_step >= 25 && t.fit.first_step <= 29);
    svmp_context_free(context);
}

static void test_refusals(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    trip t = make_trip(0.3, 31), lost = t, far = t;
    for (size_t e = 0; e < t.count; e++) lost.landmark[e] = t.landmark[e] % 4;
    assert_int_equal(locate(context, &lost, NULL), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "Landmark 5 cannot be located"));
    far.pose[3] = POSES;
    assert_int_equal(locate(context, &far, NULL), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "Range 4 is invalid"));
    t.turn[2] = NAN;
    assert_int_equal(locate(context, &t, NULL), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "Step 3 of the odometry"));
    assert_int_equal(svmp_localise_path(context, NULL, t.found, t.sighted, NULL, NULL), SVMP_BAD_CALL);
    svmp_context_free(context);
}

static void test_failing_allocations(void **state) {
    (void)state;
    svmp_status status = SVMP_NO_MEMORY;
    for (long left = 0; status == SVMP_NO_MEMORY; left++) {
        scarce_memory memory = {1000};
        svmp_context *context = scarce_context(&memory);
        memory.left = left;
        trip t = make_trip(0.3, 41);
        status = locate(context, &t, NULL);
        svmp_context_free(context);
        assert_true(left < 1000);
    }
    assert_ok(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_data_recover_path_and_map),
        cmocka_unit_test(test_ranges_correct_the_odometry),
        cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_a_straight_path_is_ambiguous),
        cmocka_unit_test(test_a_false_turn),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
