/* Particles: misuse, and Stan CSV there and back. */
#include "files.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <sys/stat.h>

static svmp_context *context;

static void test_names_and_misuse(void **state) {
    (void)state;
    svmp_particles *p = NULL;
    const double values[] = {1, 2, 3, 4, 5, 6};
    assert_int_equal(svmp_particles_create(NULL, 2, 3, values, &p), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_create(context, 0, 3, values, &p), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_create(context, 2, 3, values, NULL), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_create(context, SIZE_MAX / 2, 3, NULL, &p), SVMP_NO_MEMORY);
    assert_null(p);
    assert_ok(svmp_particles_create(context, 2, 3, values, &p));
    assert_int_equal(svmp_particles_variables(p), 2);
    assert_int_equal(svmp_particles_count(p), 3);
    assert_memory_equal(svmp_particles_values(p), values, sizeof values);
    assert_string_equal(svmp_particles_name(p, 1), "x.2");
    assert_null(svmp_particles_name(p, 2));
    assert_ok(svmp_particles_set_name(p, 1, "y"));
    assert_ok(svmp_particles_set_name(p, 1, "height.3"));
    assert_string_equal(svmp_particles_name(p, 1), "height.3");

    assert_int_equal(svmp_particles_set_name(NULL, 0, "y"), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_set_name(p, 2, "y"), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_set_name(p, 0, NULL), SVMP_BAD_CALL);
    const char *const bad[] = {"", "a,b", "a\nb", "\"a\"", "#a", " a", "a ", "lp__"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_int_equal(svmp_particles_set_name(p, 0, bad[k]), SVMP_BAD_CALL);
        assert_non_null(strstr(svmp_context_error(context), "cannot be the name of a variable"));
    }
    assert_string_equal(svmp_particles_name(p, 0), "x.1");
    svmp_particles_free(p);

    svmp_particles_free(NULL);
    assert_int_equal(svmp_particles_variables(NULL) + svmp_particles_count(NULL), 0);
    assert_null(svmp_particles_values(NULL));
    assert_null(svmp_particles_name(NULL, 0));
    assert_int_equal(svmp_particles_write(NULL, "a.csv", NULL, 0), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_read(context, NULL, &p), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_read(context, "a.csv", NULL), SVMP_BAD_CALL);
}

/* Numbers that are hard to print, and a few thousand random bit patterns. */
static svmp_particles *hard_numbers(void) {
    enum { VARIABLES = 3, COUNT = 1000 };
    static const double hard[] = {0.0,
                                  -0.0,
                                  1.0 / 3,
                                  0.1,
                                  DBL_MAX,
                                  -DBL_MAX,
                                  DBL_MIN,
                                  DBL_EPSILON,
                                  4.9406564584124654e-324,
                                  2.2250738585072009e-308,
                                  123456789012345680,
                                  1e23,
                                  5e-324 * 3};
    static double values[(size_t)VARIABLES * COUNT];
    uint64_t bits = 1;
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        do {
            bits = bits * 6364136223846793005u + 1442695040888963407u;
            memcpy(&values[k], &bits, sizeof bits);
        } while (!isfinite(values[k]));
        if (k < sizeof hard / sizeof *hard) values[k] = hard[k];
    }
    svmp_particles *p = NULL;
    assert_ok(svmp_particles_create(context, VARIABLES, COUNT, values, &p));
    assert_ok(svmp_particles_set_name(p, 1, "theta.2.1"));
    return p;
}

static void assert_same_particles(svmp_particles *a, svmp_particles *b) {
    assert_int_equal(svmp_particles_variables(a), svmp_particles_variables(b));
    assert_int_equal(svmp_particles_count(a), svmp_particles_count(b));
    for (size_t i = 0; i < svmp_particles_variables(a); i++)
        assert_string_equal(svmp_particles_name(a, i), svmp_particles_name(b, i));
    assert_memory_equal(svmp_particles_values(a), svmp_particles_values(b),
                        svmp_particles_variables(a) * svmp_particles_count(a) * sizeof(double));
}

static void test_round_trip_has_the_same_bits(void **state) {
    (void)state;
    svmp_particles *written = hard_numbers(), *read = NULL;
    assert_ok(svmp_particles_write(written, "trip.csv", "one\ntwo\n", 0));
    assert_ok(svmp_particles_read(context, "trip.csv", &read));
    assert_same_particles(written, read);
    svmp_particles_free(read);
    svmp_particles_free(written);
}

/* Needs a locale with decimal commas; prints a message if the machine has none. */
static void test_locale_does_not_matter(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8"};
    const char *found = NULL;
    for (size_t k = 0; k < sizeof names / sizeof *names && !found; k++) found = setlocale(LC_ALL, names[k]);
    if (!found) print_message("no locale with decimal commas here: only the \"C\" locale was tried\n");
    svmp_particles *written = hard_numbers(), *read = NULL;
    assert_ok(svmp_particles_write(written, "locale.csv", NULL, 0));
    setlocale(LC_ALL, "C");
    assert_ok(svmp_particles_read(context, "locale.csv", &read));
    assert_same_particles(written, read);
    svmp_particles_free(read);
    svmp_particles_free(written);
}

static void test_stan_file(void **state) {
    (void)state;
    write_text("stan.csv", "\xEF\xBB\xBF# stan_version = 2\r\n\r\nlp__,accept_stat__, mu ,theta.1\r\n# Adaptation\r\n"
                           "nan,0.5,1,2\r\n  \r\n#\r\n-7,1,+1.5e1 ,\t-.25\r\n# Elapsed");
    svmp_particles *p = NULL;
    assert_ok(svmp_particles_read(context, "stan.csv", &p));
    assert_int_equal(svmp_particles_variables(p), 2);
    assert_int_equal(svmp_particles_count(p), 2);
    assert_string_equal(svmp_particles_name(p, 0), "mu");
    assert_string_equal(svmp_particles_name(p, 1), "theta.1");
    const double expected[] = {1, 15, 2, -0.25};
    assert_memory_equal(svmp_particles_values(p), expected, sizeof expected);
    svmp_particles_free(p);
}

/* Chains and statistics, including NaN, are recovered. */
static void test_chains_and_statistics(void **state) {
    (void)state;
    svmp_particles *p = NULL, *read = NULL;
    assert_ok(svmp_particles_create(context, 1, 6, (double[]){1, 2, 3, 4, 5, 6}, &p));
    assert_int_equal(svmp_particles_chains(p), 1);
    assert_int_equal(svmp_particles_set_chains(p, 4), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_set_chains(p, 0), SVMP_BAD_CALL);
    assert_ok(svmp_particles_set_chains(p, 3));
    const double lp[] = {-1, -INFINITY, NAN, INFINITY, 0.1, 0}, energy[] = {6, 5, 4, 3, 2, 1};
    assert_int_equal(svmp_particles_set_statistic(p, "lp", lp), SVMP_BAD_CALL);
    assert_int_equal(svmp_particles_set_statistic(p, "chain__", lp), SVMP_BAD_CALL);
    assert_ok(svmp_particles_set_statistic(p, "lp__", energy));
    assert_ok(svmp_particles_set_statistic(p, "energy__", energy));
    assert_ok(svmp_particles_set_statistic(p, "lp__", lp)); /* replaces */
    assert_ok(svmp_particles_write(p, "chains.csv", NULL, 0));
    assert_ok(svmp_particles_read(context, "chains.csv", &read));
    assert_int_equal(svmp_particles_chains(read), 3);
    assert_int_equal(svmp_particles_statistics(read), 2);
    assert_string_equal(svmp_particles_statistic_name(read, 0), "lp__");
    assert_string_equal(svmp_particles_statistic_name(read, 1), "energy__");
    assert_null(svmp_particles_statistic_name(read, 2));
    assert_null(svmp_particles_statistic(read, "stepsize__"));
    assert_memory_equal(svmp_particles_statistic(read, "energy__"), energy, sizeof energy);
    const double *back = svmp_particles_statistic(read, "lp__");
    for (size_t l = 0; l < 6; l++) assert_true(isnan(lp[l]) ? isnan(back[l]) : back[l] == lp[l]);
    svmp_particles_free(p);
    svmp_particles_free(read);
}

typedef struct bad_file {
    const char *text, *sentence;
} bad_file;

static void test_malformed_files_give_their_place(void **state) {
    (void)state;
    static const bad_file bad[] = {
        {"", "bad.csv:1: the file is empty."},
        {"# only\n# comments\n", "bad.csv:2: there is no header"},
        {"\n\n", "bad.csv:2: there is no header"},
        {"# c\nx,y\n", "bad.csv:2: there are no rows below the header."},
        {"x,y\n1,2\n1\n", "bad.csv:3: the row has 1 fields, but the header on line 1 has 2."},
        {"x,y\n1,2,3\n", "bad.csv:2: the row has 3 fields, but the header on line 1 has 2."},
        {"x,y\n1,\n", "bad.csv:2: column 2 (y): '' is not a number."},
        {"x,y\n,1\n", "bad.csv:2: column 1 (x): '' is not a number."},
        {"x,y\n1,2\n# c\n3,abc\n", "bad.csv:4: column 2 (y): 'abc' is not a number."},
        {"x\n1.5.2\n", "bad.csv:2: column 1 (x): '1.5.2' is not a number."},
        {"x\n0x10\n", "bad.csv:2: column 1 (x): '0x10' is not a number."},
        {"x\n1 2\n", "bad.csv:2: column 1 (x): '1 2' is not a number."},
        {"x\n\x1b[31m\n", "bad.csv:2: column 1 (x): '?[31m' is not a number."},
        {"x\nnan\n", "bad.csv:2: column 1 (x): 'nan' is not a finite number."},
        {"x\n-Inf\n", "bad.csv:2: column 1 (x): '-Inf' is not a finite number."},
        {"x\n1e999\n", "bad.csv:2: column 1 (x): '1e999' is not a finite number."},
        {"x,y,x\n1,2,3\n", "bad.csv:1: two columns have the name 'x'."},
        {"x,,y\n1,2,3\n", "bad.csv:1: the name of column 2, '', is empty."},
        {"x,\"y\n1,2\n", "bad.csv:1: column 2: expected a comma after a closed quotation mark."},
        {"\"\",\"x\"\n\"1\",2\n", "bad.csv:1: the first column has no name. If it contains row numbers, omit them"},
        {",x\n0,2\n", "bad.csv:1: the first column has no name."},
        {"lp__,x\n1,2\nhello,4\n", "bad.csv:3: column 1 (lp__): 'hello' is not a number."},
        {"x,divergent__\n1,0\n2,\n", "bad.csv:3: column 2 (divergent__): '' is not a number."},
        {"x,divergent__\n1,0\n2,nan\n", "bad.csv:3: column 2 (divergent__): 'nan' is not a finite"},
        {"energy__,x\n-inf,1\n", "bad.csv:2: column 1 (energy__): '-inf' is not a finite"},
        {"# rows below: 3\nx\n1\n2\n", "bad.csv:4: the file ends here after 2 rows, but its header comments say 'rows "
                                       "below: 3': it was truncated or changed."},
        {"# rows below: 1\nx\n1\n2\n", "bad.csv:4: the file ends here after 2 rows"},
        {"# rows below: 1\nx\n", "bad.csv:2: the file ends here after 0 rows"},
        {"chain__,x\n1,1\n2,1\n2,1\n", "bad.csv:1: the column chain__ must number the chains 1, 2, ..."},
        {"chain__,x\n1,1\n2,1\n1,1\n2,1\n", "bad.csv:1: the column chain__ must number"},
        {"chain__,x\nnan,1\n", "bad.csv:2: column 1 (chain__): 'nan' is not a finite number."},
        {"lp__,y__\n1,2\n", "bad.csv:1: there are no variables: the names of all columns end in '__'."},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        write_text("bad.csv", bad[k].text);
        svmp_particles *p = NULL;
        assert_int_equal(svmp_particles_read(context, "bad.csv", &p), SVMP_BAD_INPUT);
        assert_null(p);
        if (strncmp(svmp_context_error(context), bad[k].sentence, strlen(bad[k].sentence)) != 0)
            fail_msg("'%s' instead of '%s'", svmp_context_error(context), bad[k].sentence);
    }
    svmp_particles *p = NULL;
    write_bytes("bad.csv", "x\n1\n\0\n", 6);
    assert_int_equal(svmp_particles_read(context, "bad.csv", &p), SVMP_BAD_INPUT);
    assert_string_equal(svmp_context_error(context), "bad.csv:3: not a text file: it contains a NUL byte.");
    assert_int_equal(svmp_particles_read(context, "missing.csv", &p), SVMP_CANNOT_READ);
    assert_string_equal(svmp_context_error(context), "Cannot read 'missing.csv': No such file or directory.");
    assert_int_equal(svmp_particles_read(context, ".", &p), SVMP_CANNOT_READ);
    assert_null(p);
}

/* A name or a number of a million characters: a short error without delay. */
static void test_absurd_lengths(void **state) {
    (void)state;
    enum { SIZE = 1000000 };
    char *bytes = malloc(SIZE + 8);
    svmp_particles *p = NULL;
    memset(bytes, '1', SIZE);
    snprintf(bytes + SIZE, 8, "\n1\n");
    write_text("long.csv", bytes);
    assert_int_equal(svmp_particles_read(context, "long.csv", &p), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "long.csv:1: the name of column 1, '1111"));
    bytes[0] = 'x';
    bytes[1] = '\n';
    write_text("long.csv", bytes);
    assert_int_equal(svmp_particles_read(context, "long.csv", &p), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "long.csv:2: column 1 (x): '1111"));
    assert_non_null(strstr(svmp_context_error(context), "...' is not a number."));
    free(bytes);
}

static void test_writing_is_all_or_nothing(void **state) {
    (void)state;
    files_in_folder(1);
    svmp_particles *p = NULL, *read = NULL;
    assert_ok(svmp_particles_create(context, 2, 1, (double[]){1, 2}, &p));
    assert_ok(svmp_particles_write(p, "a.csv", NULL, 0));
    assert_int_equal(svmp_particles_write(p, "a.csv", NULL, 0), SVMP_CANNOT_WRITE);
    assert_non_null(strstr(svmp_context_error(context), "'a.csv' already exists"));

    svmp_particles_values(p)[1] = 7;
    assert_int_equal(symlink("a.csv", "link.csv"), 0);
    assert_ok(svmp_particles_write(p, "link.csv", NULL, 1)); /* the link stays, its target is replaced */
    assert_ok(svmp_particles_read(context, "a.csv", &read));
    assert_true(svmp_particles_values(read)[1] == 7);
    struct stat about;
    assert_int_equal(lstat("link.csv", &about), 0);
    assert_true(S_ISLNK(about.st_mode));

    assert_int_equal(svmp_particles_write(p, "no/such/folder.csv", NULL, 0), SVMP_CANNOT_WRITE);
    assert_int_equal(svmp_particles_write(p, ".", NULL, 1), SVMP_CANNOT_WRITE);
    svmp_particles_values(p)[1] = INFINITY;
    assert_int_equal(svmp_particles_write(p, "b.csv", NULL, 0), SVMP_NOT_FINITE);
    assert_non_null(strstr(svmp_context_error(context), "x.2 of particle 1 is inf"));
    svmp_particles_values(p)[1] = 0;
    assert_ok(svmp_particles_set_name(p, 0, "x.2"));
    assert_int_equal(svmp_particles_write(p, "b.csv", NULL, 0), SVMP_BAD_CALL);
    assert_int_equal(files_in_folder(0), 2);
    svmp_particles_free(read);
    svmp_particles_free(p);
}

static void test_full_disk(void **state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip();
    svmp_particles *p = hard_numbers();
    assert_int_equal(svmp_particles_write(p, "/dev/full", NULL, 0), SVMP_CANNOT_WRITE);
    assert_string_equal(svmp_context_error(context), "Cannot write '/dev/full': No space left on device.");
    svmp_particles_free(p);
}

/* Whichever allocation fails: the status says so and nothing leaks (the sanitizer checks). */
static void test_every_allocation_may_fail(void **state) {
    (void)state;
    write_text("memory.csv", "x,y,lp__\n1,2,3\n4,5,6\n");
    svmp_status status = SVMP_NO_MEMORY;
    for (long allowed = 0; status == SVMP_NO_MEMORY; allowed++) {
        scarce_memory memory = {1};
        svmp_context *scarce = scarce_context(&memory);
        svmp_particles *p = NULL;
        svmp_comparison comparison;
        memory.left = allowed;
        status = svmp_particles_read(scarce, "memory.csv", &p);
        if (status == SVMP_OK) status = svmp_particles_compare(p, p, &comparison);
        if (status == SVMP_OK) status = svmp_particles_write(p, "memory2.csv", NULL, 1);
        svmp_particles_free(p);
        svmp_context_free(scarce);
        assert_true(allowed < 100);
    }
    assert_ok(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_misuse),
        cmocka_unit_test(test_round_trip_has_the_same_bits),
        cmocka_unit_test(test_locale_does_not_matter),
        cmocka_unit_test(test_stan_file),
        cmocka_unit_test(test_chains_and_statistics),
        cmocka_unit_test(test_malformed_files_give_their_place),
        cmocka_unit_test(test_absurd_lengths),
        cmocka_unit_test(test_writing_is_all_or_nothing),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    context = test_context(1);
    int failed = cmocka_run_group_tests(tests, enter_folder, leave_folder);
    svmp_context_free(context);
    return failed;
}
