/* Random numbers are functions of their index; contexts and allocators. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exact_sum.h"
#include "base/machine_memory.h"
#include "base/name_distance.h"
#include "base/random.h"
#include "maths/fourier.h"
#include "maths/order_statistics.h"

static random_stream stream(uint64_t seed) { return (random_stream){.seed = seed, .purpose = RANDOM_TEST}; }

/* Random123 publishes the first words of Philox4x64-10 for counter 0 and key 0. Our key differs, so the test checks
 * moments within 4 standard errors, and that numbers do not depend on n. */
static void test_normal_moments(void **state) {
    (void)state;
    enum { N = 100000 };
    static double z[N];
    svmp_random_normals(stream(7), N, z);
    double sum[5] = {0};
    for (int l = 0; l < N; l++)
        for (int k = 1; k <= 4; k++) sum[k] += pow(z[l], k) / N;
    assert_true(fabs(sum[1]) < 4 * sqrt(1.0 / N));
    assert_true(fabs(sum[2] - 1) < 4 * sqrt(2.0 / N));
    assert_true(fabs(sum[3]) < 4 * sqrt(15.0 / N));
    assert_true(fabs(sum[4] - 3) < 4 * sqrt(96.0 / N));
}

static void test_uniform_moments(void **state) {
    (void)state;
    enum { N = 100000 };
    static double u[N];
    svmp_random_uniforms(stream(7), N, u);
    double mean = 0, square = 0;
    for (int l = 0; l < N; l++) {
        assert_true(u[l] > 0 && u[l] < 1);
        mean += u[l] / N;
        square += u[l] * u[l] / N;
    }
    assert_true(fabs(mean - 1.0 / 2) < 4 * sqrt(1.0 / 12 / N));
    assert_true(fabs(square - 1.0 / 3) < 4 * sqrt(4.0 / 45 / N));
}

/* Numbers from the `first` on are those of the whole stream, wherever it begins. */
static void test_later_numbers(void **state) {
    (void)state;
    void (*const all[])(random_stream, size_t, double *) = {svmp_random_uniforms, svmp_random_normals,
                                                            svmp_random_quick_normals, svmp_random_log_uniforms};
    double whole[300], part[300];
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        all[k](stream(3), 300, whole);
        for (size_t first = 0; first < 140; first += first < 9 ? 1 : 13)
            for (size_t n = 1; n < 160; n += n < 9 ? 1 : 29) {
                random_stream later = stream(3);
                later.first = first;
                all[k](later, n, part);
                assert_memory_equal(part, whole + first, n * sizeof *part);
            }
    }
    random_stream later = stream(3);
    later.first = 5;
    assert_near(svmp_random_uniform(later, 2), svmp_random_uniform(stream(3), 7), 0);
    assert_near(svmp_random_normal(later, 2), svmp_random_normal(stream(3), 7), 0);
}

static void test_prefix_does_not_depend_on_length(void **state) {
    (void)state;
    double few[7], many[23];
    svmp_random_normals(stream(3), 7, few);
    svmp_random_normals(stream(3), 23, many);
    assert_memory_equal(few, many, sizeof few);
}

static void test_streams_differ(void **state) {
    (void)state;
    random_stream streams[5];
    for (int k = 0; k < 5; k++) streams[k] = stream(1);
    streams[1].seed = 2;
    streams[2].a = 1;
    streams[3].b = 1;
    streams[4].purpose = RANDOM_INIT;
    double first[5];
    for (int k = 0; k < 5; k++) svmp_random_uniforms(streams[k], 1, &first[k]);
    for (int k = 0; k < 5; k++)
        for (int j = 0; j < k; j++) assert_true(first[k] != first[j]);
}

static void test_below_is_uniform(void **state) {
    (void)state;
    enum { N = 30000, BOUND = 6 };
    int seen[BOUND] = {0};
    for (uint64_t k = 0; k < N; k++) seen[svmp_random_below(stream(9), k, BOUND)]++;
    double chi_square = 0;
    for (int k = 0; k < BOUND; k++) chi_square += pow(seen[k] - N / (double)BOUND, 2) / (N / (double)BOUND);
    assert_true(chi_square < 20.5); /* 0.999 quantile of chi-square with 5 degrees of freedom */
}

/* Places form a permutation; over streams every place is equally likely, and neighbours' places are nearly
 * uncorrelated. */
static void test_places_permute(void **state) {
    (void)state;
    static const uint64_t counts[] = {1, 2, 3, 7, 16, 17, 100, 1000};
    enum { MOST = 1000, STREAMS = 20000 };
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        int seen[MOST] = {0};
        for (uint64_t i = 0; i < counts[k]; i++) {
            const uint64_t place = svmp_random_place((random_stream){.seed = 3, .a = k}, i, counts[k]);
            assert_true(place < counts[k]);
            seen[place]++;
        }
        for (size_t i = 0; i < counts[k]; i++) assert_int_equal(seen[i], 1);
    }
    enum { N = 10 };
    double chi = 0, product = 0;
    size_t often[N] = {0};
    for (uint64_t a = 0; a < STREAMS; a++) {
        const random_stream stream = {.seed = 4, .a = a};
        const uint64_t place = svmp_random_place(stream, 0, N), next = svmp_random_place(stream, 1, N);
        often[place]++;
        product += ((double)place - 4.5) * ((double)next - 4.5) / STREAMS;
    }
    for (size_t i = 0; i < N; i++) chi += pow((double)often[i] - STREAMS / N, 2) / (STREAMS / N);
    assert_true(chi < 9 + 4.5 * sqrt(18));                               /* chi-squared of 9 degrees of freedom */
    assert_true(fabs(product + 8.25 / 9) <= 4.5 * 8.25 / sqrt(STREAMS)); /* without replacement: -variance/(n - 1) */
}

static void test_context_misuse(void **state) {
    (void)state;
    svmp_context *context = NULL;
    assert_int_equal(svmp_context_create(NULL, NULL), SVMP_BAD_CALL);
    const svmp_allocator none = {0};
    assert_int_equal(svmp_context_create(&none, &context), SVMP_BAD_CALL);
    assert_null(context);
    assert_ok(svmp_context_create(NULL, &context));
    assert_int_equal(svmp_context_set_threads(context, -1), SVMP_BAD_CALL);
    assert_non_null(strstr(svmp_context_error(context), "cannot be negative: -1"));
    assert_int_equal(svmp_context_set_threads(NULL, 1), SVMP_BAD_CALL);
    assert_int_equal(svmp_context_set_log(NULL, NULL, NULL), SVMP_BAD_CALL);
    assert_int_equal(svmp_context_set_error(NULL, NULL, NULL), SVMP_BAD_CALL);
    svmp_context_free(context);
    svmp_context_free(NULL);
    assert_string_equal(svmp_context_error(NULL), "");
}

static void remember(svmp_status status, const char *message, void *user_data) {
    assert_int_equal(status, SVMP_NO_MEMORY);
    strncpy(user_data, message, 99);
}

static void test_error_callback_and_overflow(void **state) {
    (void)state;
    char seen[100] = "";
    svmp_context *context = NULL;
    assert_ok(svmp_context_create(NULL, &context));
    assert_ok(svmp_context_set_error(context, remember, seen));
    double *huge = NULL;
    assert_int_equal(SVMP_NEW(context, huge, SIZE_MAX / 4), SVMP_NO_MEMORY);
    assert_null(huge);
    assert_string_equal(seen, svmp_context_error(context));
    svmp_context_free(context);
}

static void test_every_status_has_a_text(void **state) {
    (void)state;
    for (svmp_status s = SVMP_OK; s <= SVMP_DEVICE_FAILED; s++) assert_true(strlen(svmp_status_text(s)) > 0);
    assert_string_equal(svmp_status_text((svmp_status)999), "unknown status");
}

/* ---- exact sums -------------------------------------------------------------------------------------------------- */

/* An exact sum does not depend on order: numbers of all sizes, added forwards, backwards and in two halves, cancel to
 * the same remainder. */
static void exact_sums_have_no_order(void **unused) {
    (void)unused;
    enum { COUNT = 4001 };
    static double values[COUNT];
    exact_sum forwards = {0}, backwards = {0}, left = {0}, right = {0};
    for (size_t k = 0; k + 1 < COUNT; k += 2) {
        const double x = svmp_random_normal((random_stream){.purpose = RANDOM_TEST}, k);
        values[k] = ldexp(x, (int)(k % 1900) - 950);
        values[k + 1] = -values[k];
    }
    values[COUNT - 1] = 0x1.23456789abcdep-1030; /* the remainder */
    for (size_t k = 0; k < COUNT; k++) {
        svmp_exact_add(&forwards, values[k]);
        svmp_exact_add(&backwards, values[COUNT - 1 - k]);
        svmp_exact_add(k % 3 ? &left : &right, values[k]);
    }
    svmp_exact_merge(&left, &right);
    assert_true(svmp_exact_value(&forwards) == values[COUNT - 1]);
    assert_true(svmp_exact_value(&backwards) == values[COUNT - 1]);
    assert_true(svmp_exact_value(&left) == values[COUNT - 1]);
}

/* Rows that are added together have the sums of one number after the other: large, small, tiny and not finite. */
static void exact_rows_are_exact(void **unused) {
    (void)unused;
    enum { N = 70, ROWS = 5000 };
    double *values = malloc(N * ROWS * sizeof *values);
    exact_sum *one = calloc(N, sizeof *one), *rows = calloc(N, sizeof *rows);
    for (size_t k = 0; k < N * ROWS; k++) {
        const double u = (double)((k * 2654435761u) % 1000003) / 1000003 - 0.4;
        values[k] = k % 7 == 0 ? ldexp(u, (int)(k % 2000) - 1070) : k % 7 == 1 ? ldexp(u, 21) : 1000 * u;
        if (k % N == 3 && k / N == 4000) values[k] = INFINITY;
    }
    values[0] = -0.0, values[1] = 0x1p20, values[2] = -0x1.fffffffffffffp19, values[N] = 0x1p-1074;
    for (size_t k = 0; k < N * ROWS; k++) svmp_exact_add(&one[k % N], values[k]);
    svmp_exact_add_rows(rows, N, ROWS, values);
    for (size_t l = 0; l < N; l++) assert_true(svmp_exact_value(&one[l]) == svmp_exact_value(&rows[l]));
    assert_true(svmp_exact_value(&rows[3]) == INFINITY);
    free(values), free(one), free(rows);
}

/* Integers add up as in 64 bits; sums can be negative, infinite or NaN. */
static void exact_sums_are_sums(void **unused) {
    (void)unused;
    exact_sum sum = {0}, infinite = {0};
    int64_t expected = 0;
    for (int64_t k = -300; k < 200; k++) {
        expected += k * k * k;
        svmp_exact_add(&sum, (double)(k * k * k));
    }
    assert_true(expected < 0);
    assert_true(svmp_exact_value(&sum) == (double)expected);
    svmp_exact_add(&infinite, -INFINITY);
    svmp_exact_add(&infinite, 1);
    assert_true(svmp_exact_value(&infinite) == -INFINITY);
    svmp_exact_add(&infinite, INFINITY);
    assert_true(isnan(svmp_exact_value(&infinite)));
}

/* Adding the words of two processes' sums gives the sum of all numbers. */
static void exact_sums_are_added_as_words(void **unused) {
    static const double values[] = {0, 1e300, -1e300, 1, 0x1p-1074, INFINITY, -INFINITY, NAN};
    enum { COUNT = sizeof values / sizeof *values };
    (void)unused;
    for (size_t a = 0; a < COUNT; a++)
        for (size_t b = 0; b < COUNT; b++) {
            exact_sum both[2] = {0}, alone = {0}; /* of each process */
            svmp_exact_add(&both[0], values[a]);
            svmp_exact_add(&both[1], values[b]);
            svmp_exact_add(&alone, values[a]);
            svmp_exact_add(&alone, values[b]);
            int64_t *words = svmp_exact_to_words(2, both);
            for (size_t k = 0; k < EXACT_WORDS; k++) words[k] += words[EXACT_WORDS + k];
            svmp_exact_from_words(1, both);
            const double expected = svmp_exact_value(&alone), sum = svmp_exact_value(&both[0]);
            assert_true(isnan(expected) ? isnan(sum) : sum == expected);
        }
}

/* Products of transforms are transforms of circular convolutions; the inverse transform returns `length` times the
 * input. Includes lengths that are transformed by halves. */
static void test_transforms_convolve(void **state) {
    (void)state;
    enum { MOST = 4096 };
    static double a[2][MOST], b[2][MOST], c[2][MOST], z[4 * MOST];
    svmp_context *context = test_context(1);
    svmp_random_normals(stream(5), 4 * MOST, z);
    for (size_t least = 1; least <= MOST; least = 4 * least - (least > 1)) {
        fourier f;
        double worst = 0;
        assert_ok(svmp_fourier_create(context, least, &f));
        const size_t n = f.length;
        assert_true(n >= least && n < 2 * least && (n & (n - 1)) == 0);
        for (int part = 0; part < 2; part++)
            for (size_t t = 0; t < n; t++)
                a[part][t] = z[2 * t + (size_t)part], b[part][t] = z[2 * (t + n) + (size_t)part];
        svmp_fourier_forward(&f, a[0], a[1]);
        svmp_fourier_forward(&f, b[0], b[1]);
        for (size_t k = 0; k < n; k++) {
            c[0][k] = a[0][k] * b[0][k] - a[1][k] * b[1][k];
            c[1][k] = a[0][k] * b[1][k] + a[1][k] * b[0][k];
        }
        svmp_fourier_back(&f, a[0], a[1]);
        svmp_fourier_back(&f, c[0], c[1]);
        for (size_t t = 0; t < n; t++) {
            double re = 0, im = 0;
            for (size_t u = 0; u < n; u++) {
                const double *x = z + 2 * u, *y = z + 2 * ((t + n - u) % n + n);
                re += x[0] * y[0] - x[1] * y[1];
                im += x[0] * y[1] + x[1] * y[0];
            }
            worst = fmax(worst, hypot(c[0][t] / (double)n - re, c[1][t] / (double)n - im));
            worst = fmax(worst, hypot(a[0][t] / (double)n - z[2 * t], a[1][t] / (double)n - z[2 * t + 1]));
        }
        assert_true(worst < 1e-11);
        svmp_fourier_free(context, &f);
    }
    svmp_context_free(context);
}

/* The fast normal numbers equal those of libm's functions to rounding (near a zero of the cosine the error is 2^-52
 * times the radius), and the l-th one does not depend on their count. */
static void test_quick_numbers(void **state) {
    enum { N = 100000 };
    static double quick[N], plain[N], few[N];
    (void)state;
    svmp_random_quick_normals(stream(7), N, quick);
    svmp_random_normals(stream(7), N, plain);
    for (size_t l = 0; l < N; l++) assert_near(quick[l], plain[l], 1e-14);
    for (size_t n = 1; n < 300; n += 1 + n / 7) {
        svmp_random_quick_normals(stream(7), n, few);
        assert_memory_equal(few, quick, n * sizeof *few);
    }
    svmp_random_log_uniforms(stream(7), N, quick);
    svmp_random_uniforms(stream(7), N, plain);
    for (size_t l = 0; l < N; l++) assert_true(fabs(quick[l] - log(plain[l])) <= 4e-16 * fabs(log(plain[l])));
    for (size_t n = 1; n < 300; n += 1 + n / 7) {
        svmp_random_log_uniforms(stream(7), n, few);
        assert_memory_equal(few, quick, n * sizeof *few);
    }
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Order statistics equal those of a sort, even where the pivot sample misleads: ties, clusters, sorted and periodic
 * numbers. */
static void test_selection_is_that_of_a_sort(void **state) {
    (void)state;
    enum { MOST = 20000 };
    const size_t counts[] = {1, 2, 17, 399, 400, 401, 1225, 4950, MOST};
    double *value = malloc(MOST * sizeof *value), *sorted = malloc(MOST * sizeof *sorted), low, high;
    assert_true(value && sorted);
    for (int kind = 0; kind < 8; kind++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (size_t place = 0; place < 5; place++) {
                const size_t count = counts[c], upper = place * (count - 1) / 4, lower = upper - (upper > 0);
                for (size_t p = 0; p < count; p++) {
                    const double u = (test_random(9, p) + 1) / 2, order = (double)p;
                    const double kinds[] = {u,      floor(3 * u), p % 2 ? 1e-3 * u : 1e3 + u, order,
                                            -order, 1.25,         p % 128 ? u : 9 + u,        u < 0.5 ? -INFINITY : u};
                    value[p] = sorted[p] = kinds[kind];
                }
                qsort(sorted, count, sizeof *sorted, ascending);
                svmp_select_two(value, count, lower, upper, &low, &high);
                assert_true(low == sorted[lower] && high == sorted[upper]);
            }
    free(value);
    free(sorted);
}

/* A control group's file contains "max" or a number of bytes; anything else means no limit. */
static void test_memory_limits(void **state) {
    (void)state;
    const struct {
        const char *text;
        double limit;
    } files[] = {{"max\n", INFINITY}, {"1073741824\n", 1073741824}, {"", INFINITY}, {"x", INFINITY}};
    char path[] = "/tmp/svmp-limit-XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        assert_int_equal(ftruncate(descriptor, 0), 0);
        assert_true(pwrite(descriptor, files[k].text, strlen(files[k].text), 0) == (ssize_t)strlen(files[k].text));
        assert_true(svmp_machine_limit(path) == files[k].limit);
    }
    close(descriptor);
    unlink(path);
    assert_true(svmp_machine_limit(path) == INFINITY);
    assert_true(svmp_machine_memory() > 1e6 && svmp_machine_memory() < 1e16);
}

/* A suggestion may differ by one edit in a word of three letters, by two in a word of six; a prefix also matches. */
static void test_names_are_suggested(void **state) {
    (void)state;
    static const char *const names[] = {"run", "report", "particles", "init"};
    static const char *const typed[][2] = {
        {"rnu", "run"},       {"ru", NULL}, {"reprt", "report"}, {"rpeotr", "report"}, {"rpoetr", NULL},
        {"par", "particles"}, {"pa", NULL}, {"int", "init"},     {"run", "run"},       {"", NULL}};
    for (size_t k = 0; k < sizeof typed / sizeof *typed; k++) {
        const char *found = svmp_name_suggest(typed[k][0], strlen(typed[k][0]), 4, names);
        assert_true(found == NULL ? typed[k][1] == NULL : typed[k][1] && strcmp(found, typed[k][1]) == 0);
    }
    assert_string_equal(svmp_name_suggest("sed=5", 3, 1, &(const char *){"seed"}), "seed");
}

/* Parts are lines "part: yes" or "part: no, reason"; a part matches only as a whole word. */
static void test_parts_of_the_build(void **state) {
    (void)state;
    char part[64];
    for (const char *line = svmp_build_parts(); *line; line += strcspn(line, "\n") + 1) {
        const size_t length = strcspn(line, ":");
        snprintf(part, sizeof part, "%.*s", (int)length, line);
        assert_int_equal(svmp_build_has(part), strncmp(line + length, ": yes", 5) == 0);
        part[length - 1] = '\0';
        assert_int_equal(svmp_build_has(part), 0);
    }
    assert_int_equal(svmp_build_has("") || svmp_build_has("flux") || svmp_build_has(NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_later_numbers),
        cmocka_unit_test(test_memory_limits),
        cmocka_unit_test(test_selection_is_that_of_a_sort),
        cmocka_unit_test(test_quick_numbers),
        cmocka_unit_test(test_normal_moments),
        cmocka_unit_test(test_uniform_moments),
        cmocka_unit_test(test_prefix_does_not_depend_on_length),
        cmocka_unit_test(test_streams_differ),
        cmocka_unit_test(test_below_is_uniform),
        cmocka_unit_test(test_context_misuse),
        cmocka_unit_test(test_error_callback_and_overflow),
        cmocka_unit_test(test_every_status_has_a_text),
        cmocka_unit_test(exact_sums_have_no_order),
        cmocka_unit_test(exact_sums_are_sums),
        cmocka_unit_test(exact_rows_are_exact),
        cmocka_unit_test(exact_sums_are_added_as_words),
        cmocka_unit_test(test_transforms_convolve),
        cmocka_unit_test(test_places_permute),
        cmocka_unit_test(test_names_are_suggested),
        cmocka_unit_test(test_parts_of_the_build),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
