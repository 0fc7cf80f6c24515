/* Matrix Market files: accepted forms, and errors with their place. */
#include "files.h"

#include "data/matrix_market.h"

static svmp_context *context;

static void assert_matrix(const char *text, size_t rows, size_t columns, int symmetric, size_t count,
                          const matrix_entry *entries) {
    matrix read = {0};
    write_text("m.mtx", text);
    svmp_status status = svmp_matrix_read(context, "m.mtx", NULL, NULL, &read);
    if (status != SVMP_OK) fail_msg("%s", svmp_context_error(context));
    assert_int_equal(read.rows, rows);
    assert_int_equal(read.columns, columns);
    assert_int_equal(read.symmetric, symmetric);
    assert_int_equal(read.count, count);
    for (size_t k = 0; k < count; k++) {
        assert_int_equal(read.entries[k].row, entries[k].row);
        assert_int_equal(read.entries[k].column, entries[k].column);
        assert_true(read.entries[k].value == entries[k].value);
        assert_true(svmp_matrix_at(&read, entries[k].row, entries[k].column) == entries[k].value);
        if (symmetric) assert_true(svmp_matrix_at(&read, entries[k].column, entries[k].row) == entries[k].value);
    }
    svmp_matrix_free(context, &read);
}

static void test_every_form(void **state) {
    (void)state;
    static const matrix_entry lower[] = {{0, 0, 2}, {1, 0, -1}, {1, 1, 3}};
    static const matrix_entry full[] = {{0, 0, 2}, {0, 1, 0.5}, {1, 0, -1}, {1, 1, 3}};
    static const matrix_entry vector[] = {{0, 0, 1}, {2, 0, 5}};
    assert_matrix("%%MatrixMarket matrix coordinate real symmetric\n% c\n\n2 2 3\n2 1 -1\n1 1 2\n2 2 3\n", 2, 2, 1, 3,
                  lower);
    assert_matrix("%%matrixmarket MATRIX Coordinate Integer Symmetric\r\n2 2 3\r\n1 2 -1\r\n 1\t1 2 \r\n2 2 3", 2, 2, 1,
                  3, lower);
    assert_matrix("%%MatrixMarket matrix array real symmetric\n2 2\n2\n-1\n% c\n3\n", 2, 2, 1, 3, lower);
    assert_matrix("%%MatrixMarket matrix array real general\n2 2\n2\n-1\n.5\n3e0\n", 2, 2, 0, 4, full);
    assert_matrix("%%MatrixMarket matrix coordinate real general\n2 2 4\n2 2 3\n1 1 2\n1 2 .5\n2 1 -1\n", 2, 2, 0, 4,
                  full);
    assert_matrix("%%MatrixMarket matrix coordinate real general\n3 1 2\n3 1 5\n1 1 1\n", 3, 1, 0, 2, vector);
    assert_matrix("%%MatrixMarket matrix coordinate real general\n3 3 0\n", 3, 3, 0, 0, NULL);
}

typedef struct bad_file {
    const char *text, *sentence;
} bad_file;

#define GENERAL   "%%MatrixMarket matrix coordinate real general\n"
#define SYMMETRIC "%%MatrixMarket matrix coordinate real symmetric\n"
#define ARRAY     "%%MatrixMarket matrix array real general\n"

static void test_malformed_files_give_their_place(void **state) {
    (void)state;
    static const bad_file bad[] = {
        {"", "bad.mtx:1: the file is empty."},
        {"hello\n", "bad.mtx:1: a Matrix Market file must begin with '%%MatrixMarket', not 'hello'."},
        {"%%MatrixMarket\n", "bad.mtx:1: unsupported object ''"},
        {"%%MatrixMarket vector array real general\n", "bad.mtx:1: unsupported object 'vector'"},
        {"%%MatrixMarket matrix\n", "bad.mtx:1: the banner has no format."},
        {"%%MatrixMarket matrix dense real general\n",
         "bad.mtx:1: unsupported format 'dense'; supported: 'coordinate' "},
        {"%%MatrixMarket matrix coordinate pattern general\n", "bad.mtx:1: unsupported field 'pattern'"},
        {"%%MatrixMarket matrix coordinate complex general\n", "bad.mtx:1: unsupported field 'complex'"},
        {"%%MatrixMarket matrix array real hermitian\n", "bad.mtx:1: unsupported symmetry 'hermitian'"},
        {"%%MatrixMarket matrix array real skew-symmetric\n", "bad.mtx:1: unsupported symmetry 'skew-symmetric'"},
        {"%%MatrixMarket matrix array real\n", "bad.mtx:1: the banner has no symmetry."},
        {GENERAL, "bad.mtx:1: the file ends before the size line."},
        {GENERAL "% c\n2\n", "bad.mtx:3: the number of columns is missing."},
        {GENERAL "2 2\n", "bad.mtx:2: the number of entries is missing."},
        {GENERAL "2 2 -1\n", "bad.mtx:2: the number of entries '-1' is not a whole number."},
        {GENERAL "99999999999999999999999 2 1\n", "bad.mtx:2: the number of rows '99999999999999999999999' is not"},
        {GENERAL "1000000000000000000 1000000000000000000 1\n1 1 1\n", "bad.mtx:2: 1000000000000000000 rows and"},
        {GENERAL "0 0 0\n", "bad.mtx:2: a matrix of 0 rows and 0 columns is empty."},
        {GENERAL "2 2 1 1\n", "bad.mtx:2: unexpected '1' at the end of the line."},
        {SYMMETRIC "2 3 1\n1 1 1\n", "bad.mtx:2: a symmetric matrix must be square, not 2 by 3."},
        {GENERAL "2 2 2\n1 1 1\n", "bad.mtx:3: the file ends after 1 entries, but line 2 declares 2."},
        {GENERAL "9 9 999999999999999999\n1 1 1\n", "bad.mtx:3: the file ends after 1 entries, but line 2 declares"},
        {GENERAL "2 2 1\n1 1 1\n\n2 2 1\n", "bad.mtx:5: line 2 declares 1 entries, but there are more."},
        {GENERAL "2 2 1\n3 1 1\n", "bad.mtx:3: the row 3 is out of range: it must be from 1 to 2."},
        {GENERAL "2 2 1\n0 1 1\n", "bad.mtx:3: the row 0 is out of range: it must be from 1 to 2."},
        {GENERAL "2 2 1\n1 -1 1\n", "bad.mtx:3: the column '-1' is not a whole number."},
        {GENERAL "2 2 1\n1 1.0 1\n", "bad.mtx:3: the column '1.0' is not a whole number."},
        {GENERAL "2 2 1\n1 1\n", "bad.mtx:3: the value is missing."},
        {GENERAL "2 2 1\n1 1 1 0\n", "bad.mtx:3: unexpected '0' at the end of the line."},
        {GENERAL "2 2 1\n1 1 x\n", "bad.mtx:3: the value 'x' is not a number."},
        {GENERAL "2 2 1\n1 1 NaN\n", "bad.mtx:3: the value 'NaN' is not a finite number."},
        {GENERAL "2 2 1\n1 1 1e400\n", "bad.mtx:3: the value '1e400' is not a finite number."},
        {GENERAL "2 2 3\n1 1 1\n2 2 1\n% c\n1 1 1\n", "bad.mtx:6: the entry in row 1, column 1 is given twice."},
        {SYMMETRIC "2 2 2\n2 1 1\n1 2 1\n", "bad.mtx:4: the entry in row 2, column 1 is given twice."},
        {ARRAY "2 2\n1\n2\n3\n", "bad.mtx:5: the file ends after 3 entries, but line 2 declares 4."},
        {ARRAY "1 1\n1 2\n", "bad.mtx:3: unexpected '2' at the end of the line."},
        {ARRAY "4000000000 4000000000\n1\n", "bad.mtx:3: the file ends after 1 entries, but line 2 declares 16"},
        {"%%MatrixMarket matrix array integer general\n1 1\n1.5\n",
         "bad.mtx:3: the value '1.5' is not a whole number."},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        matrix read = {0};
        write_text("bad.mtx", bad[k].text);
        assert_int_equal(svmp_matrix_read(context, "bad.mtx", NULL, NULL, &read), SVMP_BAD_INPUT);
        assert_null(read.entries);
        if (strncmp(svmp_context_error(context), bad[k].sentence, strlen(bad[k].sentence)) != 0)
            fail_msg("'%s' instead of '%s'", svmp_context_error(context), bad[k].sentence);
    }
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    write_text("memory.mtx", SYMMETRIC "2 2 3\n2 1 -1\n1 1 2\n2 2 3\n");
    svmp_status status = SVMP_NO_MEMORY;
    for (long allowed = 0; status == SVMP_NO_MEMORY; allowed++) {
        scarce_memory memory = {1};
        svmp_context *scarce = scarce_context(&memory);
        matrix read = {0};
        memory.left = allowed;
        status = svmp_matrix_read(scarce, "memory.mtx", NULL, NULL, &read);
        svmp_matrix_free(scarce, &read);
        svmp_context_free(scarce);
        assert_true(allowed < 100);
    }
    assert_ok(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_form),
        cmocka_unit_test(test_malformed_files_give_their_place),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    context = test_context(1);
    int failed = cmocka_run_group_tests(tests, enter_folder, leave_folder);
    svmp_context_free(context);
    return failed;
}
