/* Particles in NetCDF: arrays from names and back, the same bits of every number, and damaged files. */
#include "files.h"

#include <math.h>

#include "base/random.h"
#include "sample/name_shapes.h"

static svmp_context *context;

static svmp_particles *named(size_t count, const char *const *names, size_t draws) {
    svmp_particles *made = NULL;
    assert_ok(svmp_particles_create(context, count, draws, NULL, &made));
    for (size_t i = 0; i < count; i++) assert_ok(svmp_particles_set_name(made, i, names[i]));
    for (size_t k = 0; k < count * draws; k++) svmp_particles_values(made)[k] = test_random(3, k) / 3;
    return made;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* The arrays of these names, as "x[2,3] sigma ...", each array's variables by their numbers behind a colon. */
static void assert_shape(size_t count, const char *const *names, const char *expected) {
    svmp_particles *particles = named(count, names, 1);
    shape arrays = {0};
    char text[512] = "";
    size_t at = 0, seen = 0;
    assert_ok(svmp_shape_of(particles, &arrays));
    for (size_t a = 0; a < arrays.count; a++) {
        const shaped_array *array = &arrays.arrays[a];
        at += (size_t)sprintf(text + at, "%s%.*s", a ? " " : "", (int)array->length, array->name);
        for (size_t k = 0; k < array->dimensions; k++)
            at += (size_t)sprintf(text + at, "%s%zu%s", k ? "," : "[", array->extent[k],
                                  k + 1 == array->dimensions ? "]" : "");
        for (size_t m = 0; m < array->count; m++, seen++) {
            char name[64];
            svmp_shape_name(array, m, name, sizeof name);
            assert_string_equal(name, names[array->variable[m]]); /* a name gives its position and vice versa */
        }
    }
    assert_int_equal(seen, count);
    assert_string_equal(text, expected);
    svmp_shape_free(context, &arrays);
    svmp_particles_free(particles);
}

#define SHAPE(expected, ...)                                                                                           \
    do {                                                                                                               \
        const char *const names_[] = {__VA_ARGS__};                                                                    \
        assert_shape(sizeof names_ / sizeof *names_, names_, expected);                                                \
    } while (0)

static void test_shapes(void **state) {
    (void)state;
    SHAPE("sigma", "sigma");
    SHAPE("x[3]", "x.1", "x.2", "x.3");
    SHAPE("x[1]", "x.1");
    SHAPE("s x[3] y[1]", "x.3", "s", "x.1", "y.1", "x.2");
    SHAPE("a[2,2]", "a.1.1", "a.2.1", "a.1.2", "a.2.2");
    SHAPE("a[1,2,1]", "a.1.1.1", "a.1.2.1");
    SHAPE("x.1 x.3", "x.1", "x.3"); /* a gap */
    SHAPE("x[1]", "x.2");           /* indices do not begin at 1 */
    SHAPE("x[2,2]", "x.5.1", "x.5.2", "x.6.1", "x.6.2");
    SHAPE("x.1 x.2.1 x.2.2", "x.1", "x.2.1", "x.2.2"); /* dimensions differ */
    SHAPE("x x.1", "x", "x.1");
    SHAPE("x.01 x.y x. .5", "x.01", "x.y", "x.", ".5"); /* no indices */
    SHAPE("x.99999999999999999999", "x.99999999999999999999");
    SHAPE("x[1,1]", "x.999999999.999999999");
    SHAPE("x.1.1 x.999999999.999999999", "x.1.1", "x.999999999.999999999"); /* far too large */
    SHAPE("beta[2] beta0", "beta.1", "beta.2", "beta0");
    SHAPE("my.data[2]", "my.data.1", "my.data.2"); /* a dot within the name */
}

/* Arrays as Stan writes them: the first index runs fastest. */
static void test_order_of_stan(void **state) {
    (void)state;
    static const char *const names[] = {"a.1.1.1", "a.1.1.2", "a.1.2.1", "a.1.2.2", "a.1.3.1", "a.1.3.2", "s",
                                        "a.2.1.1", "a.2.1.2", "a.2.2.1", "a.2.2.2", "a.2.3.1", "a.2.3.2"};
    static const char *const expected[] = {"a.1.1.1", "a.2.1.1", "a.1.2.1", "a.2.2.1", "a.1.3.1", "a.2.3.1", "a.1.1.2",
                                           "a.2.1.2", "a.1.2.2", "a.2.2.2", "a.1.3.2", "a.2.3.2", "s"};
    enum { COUNT = sizeof names / sizeof *names };
    size_t order[COUNT];
    svmp_particles *particles = named(COUNT, names, 1);
    shape arrays = {0};
    assert_ok(svmp_shape_of(particles, &arrays));
    svmp_shape_stan_order(&arrays, order);
    for (size_t k = 0; k < COUNT; k++) assert_string_equal(names[order[k]], expected[k]);
    svmp_shape_free(context, &arrays);
    svmp_particles_free(particles);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

#ifdef SVMP_HAVE_NETCDF

static const char *const names[] = {"x.1",   "x.2",   "x.3", "s",   "a.1.1", "a.1.2",
                                    "a.2.1", "a.2.2", "h.1", "h.4", "o.3.1", "o.4.1"};

enum { NAMES = sizeof names / sizeof *names, DRAWS = 6, ROUNDS = 500 };

static svmp_particles *sample(void) {
    svmp_particles *made = named(NAMES, names, DRAWS);
    const double lp[DRAWS] = {-1.5, -INFINITY, 3, 0.1, NAN, 2}, divergent[DRAWS] = {0, 1, 0, 0, 1, 0};
    assert_ok(svmp_particles_set_chains(made, 2));
    assert_ok(svmp_particles_set_statistic(made, "lp__", lp));
    assert_ok(svmp_particles_set_statistic(made, "divergent__", divergent));
    assert_ok(svmp_particles_set_statistic(made, "own__", divergent));
    return made;
}

static void assert_same_sample(svmp_particles *a, svmp_particles *b) {
    assert_int_equal(svmp_particles_variables(a), svmp_particles_variables(b));
    assert_int_equal(svmp_particles_count(a), svmp_particles_count(b));
    assert_int_equal(svmp_particles_chains(a), svmp_particles_chains(b));
    const size_t count = svmp_particles_count(a);
    for (size_t i = 0; i < svmp_particles_variables(a); i++) {
        size_t j = i; /* most variables keep their position */
        while (strcmp(svmp_particles_name(a, i), svmp_particles_name(b, j)) != 0)
            j = (j + 1) % svmp_particles_variables(b);
        assert_memory_equal(svmp_particles_values(a) + i * count, svmp_particles_values(b) + j * count,
                            count * sizeof(double));
    }
    assert_int_equal(svmp_particles_statistics(a), svmp_particles_statistics(b));
    for (size_t k = 0; k < svmp_particles_statistics(a); k++) {
        const char *name = svmp_particles_statistic_name(a, k);
        const double *x = svmp_particles_statistic(a, name), *y = svmp_particles_statistic(b, name);
        assert_non_null(y);
        for (size_t l = 0; l < count; l++) assert_true(x[l] == y[l] || (isnan(x[l]) && isnan(y[l])));
    }
}

static void test_round_trip(void **state) {
    (void)state;
    svmp_particles *made = sample(), *read = NULL;
    assert_ok(svmp_particles_write(made, "a.nc", "svmp 1\nseed = 1\niterations done = 5\n", 0));
    assert_int_equal(files_in_folder(0), 1);
    assert_ok(svmp_particles_read(context, "a.nc", &read));
    assert_same_sample(made, read);
    assert_string_equal(svmp_particles_comments(read), "svmp 1\nseed = 1\niterations done = 5\n");
    svmp_particles_free(read);
    assert_int_equal(svmp_particles_write(made, "a.nc", NULL, 0), SVMP_CANNOT_WRITE);
    assert_ok(svmp_particles_write(made, "a.nc", NULL, 1));
    svmp_particles_free(made);

    /* an array larger than one write, and one chain */
    assert_ok(svmp_particles_create(context, 150000, 3, NULL, &made));
    for (size_t k = 0; k < 450000; k++) svmp_particles_values(made)[k] = (double)k;
    assert_ok(svmp_particles_write(made, "a.nc", NULL, 1));
    assert_ok(svmp_particles_read(context, "a.nc", &read));
    assert_same_sample(made, read);
    svmp_particles_free(read);
    svmp_particles_free(made);
    files_in_folder(1);
}

static void test_refused_writes(void **state) {
    (void)state;
    svmp_particles *made = sample();
    assert_ok(svmp_particles_set_name(made, 3, "draw"));
    assert_int_equal(svmp_particles_write(made, "a.nc", NULL, 0), SVMP_UNSUPPORTED);
    assert_ok(svmp_particles_set_name(made, 3, "a/b"));
    assert_int_equal(svmp_particles_write(made, "a.nc", NULL, 0), SVMP_CANNOT_WRITE);
    assert_int_equal(svmp_particles_write(made, "no/such/a.nc", NULL, 0), SVMP_CANNOT_WRITE);
    svmp_particles_values(made)[0] = NAN;
    assert_int_equal(svmp_particles_write(made, "a.nc", NULL, 0), SVMP_NOT_FINITE);
    assert_int_equal(files_in_folder(0), 0);
    svmp_particles_free(made);
}

/* Comments longer than the limit of an HDF5 attribute are recovered in full. */
static void test_long_comments(void **state) {
    (void)state;
    enum { LENGTH = 200000 };
    svmp_particles *made = sample(), *read = NULL;
    char *comments = calloc(1, LENGTH + 1);
    assert_non_null(comments);
    snprintf(comments, LENGTH, "seed = 3\nsave = ");
    for (size_t k = strlen(comments); k < LENGTH; k++) comments[k] = (char)('a' + k * k % 26);
    assert_ok(svmp_particles_write(made, "long.nc", comments, 0));
    assert_ok(svmp_particles_read(context, "long.nc", &read));
    assert_string_equal(svmp_particles_comments(read), comments);
    free(comments);
    svmp_particles_free(read);
    svmp_particles_free(made);
    files_in_folder(1);
}

/* A truncated file, or one of another kind: an error with the file's name. */
static void test_damaged_files(void **state) {
    (void)state;
    svmp_particles *made = sample(), *read = NULL;
    static char good[1 << 17];
    assert_int_equal(svmp_particles_read(context, "none.nc", &read), SVMP_CANNOT_READ);
    write_text("text.nc", "x.1\n0.5\n");
    assert_int_equal(svmp_particles_read(context, "text.nc", &read), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "text.nc: this is not a NetCDF file."));
    assert_ok(svmp_particles_write(made, "a.nc", NULL, 0));
    FILE *file = fopen("a.nc", "rb");
    const size_t size = fread(good, 1, sizeof good, file);
    fclose(file);
    assert_true(size < sizeof good);
    for (size_t cut = 0; cut < 100; cut++) {
        write_bytes("cut.nc", good, cut < 99 ? (size - 40) * cut / 99 : size - 41);
        assert_int_equal(svmp_particles_read(context, "cut.nc", &read), SVMP_BAD_INPUT);
        assert_non_null(strstr(svmp_context_error(context), "cut.nc: "));
    }
    for (uint64_t round = 0; round < ROUNDS; round++) { /* any bit except in the mark of the checksum */
        const random_stream stream = {.seed = 4, .purpose = RANDOM_TEST, .a = round};
        const size_t place = (size_t)svmp_random_below(stream, 0, size - 40);
        const int bit = 1 << svmp_random_below(stream, 1, 8);
        good[place] = (char)(good[place] ^ bit);
        write_bytes("cut.nc", good, size);
        good[place] = (char)(good[place] ^ bit);
        assert_int_equal(svmp_particles_read(context, "cut.nc", &read), SVMP_BAD_INPUT);
        assert_non_null(strstr(svmp_context_error(context), "cut.nc: the file is damaged"));
    }
    assert_true(svmp_particles_file_sealed("a.nc") && svmp_particles_file_sealed("cut.nc"));
    write_bytes("cut.nc", good, size - 40); /* as written by another program */
    assert_false(svmp_particles_file_sealed("cut.nc") || svmp_particles_file_sealed("text.nc"));
    assert_false(svmp_particles_file_sealed("none.nc"));
    assert_ok(svmp_particles_read(context, "cut.nc", &read));
    assert_same_sample(made, read);
    svmp_particles_free(read);
    svmp_particles_free(made);
    files_in_folder(1);
}

static void test_scarce_memory(void **state) {
    (void)state;
    svmp_particles *made = sample();
    assert_ok(svmp_particles_write(made, "a.nc", NULL, 0));
    svmp_status status = SVMP_NO_MEMORY;
    for (long allowed = 0; status == SVMP_NO_MEMORY; allowed++) {
        scarce_memory memory = {1};
        svmp_context *scarce = scarce_context(&memory);
        svmp_particles *read = NULL;
        memory.left = allowed;
        status = svmp_particles_read(scarce, "a.nc", &read);
        if (status == SVMP_OK) status = svmp_particles_write(read, "a.nc", NULL, 1);
        assert_int_equal(files_in_folder(0), 1);
        svmp_particles_free(read);
        svmp_context_free(scarce);
        assert_true(allowed < 1000);
    }
    assert_ok(status);
    svmp_particles_free(made);
}

#else

static void test_left_out(void **state) {
    (void)state;
    svmp_particles *made = named(1, (const char *[]){"x"}, 1), *read = NULL;
    assert_int_equal(svmp_particles_write(made, "a.nc", NULL, 0), SVMP_UNSUPPORTED);
    assert_int_equal(svmp_particles_read(context, "a.nc", &read), SVMP_UNSUPPORTED);
    svmp_particles_free(made);
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),        cmocka_unit_test(test_order_of_stan),
#ifdef SVMP_HAVE_NETCDF
        cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_refused_writes),
        cmocka_unit_test(test_long_comments), cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_scarce_memory),
#else
        cmocka_unit_test(test_left_out),
#endif
    };
    context = test_context(1);
    int failed = cmocka_run_group_tests(tests, enter_folder, leave_folder);
    svmp_context_free(context);
    return failed;
}
