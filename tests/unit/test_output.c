/* Files are whole or absent. */
#include "files.h"

#include <sys/stat.h>

#include "base/output_file.h"

static whole_file written;

static void check_content(const char *path, const char *expected) {
    char content[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(content, 1, sizeof content - 1, file);
    fclose(file);
    assert_int_equal(size, strlen(expected));
    assert_string_equal(content, expected);
}

static void test_overwrites_with_permission(void **state) {
    (void)state;
    assert_true(svmp_whole_write("page", "one", 3, 0, &written));
    assert_false(svmp_whole_write("page", "two", 3, 0, &written));
    assert_non_null(strstr(written.error, "already exists"));
    check_content("page", "one");
    assert_true(svmp_whole_write("page", "three", 5, 1, &written));
    check_content("page", "three");
    assert_true(svmp_whole_write("empty", NULL, 0, 0, &written));
    check_content("empty", "");
    assert_int_equal(files_in_folder(1), 2);
}

/* A file created by another program during the writing is kept, and so is ours, under the name in the error. With
 * permission to overwrite, it is replaced. */
static void test_a_file_made_meanwhile_stays(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (int overwrite = 0; overwrite < 2; overwrite++) {
        output_file output;
        char temporary[sizeof output.whole.temporary];
        assert_ok(svmp_output_open(context, "page", overwrite, &output));
        snprintf(temporary, sizeof temporary, "%s", output.whole.temporary);
        assert_ok(svmp_output_put(&output, "ours", 4));
        write_text("page", "theirs");
        assert_int_equal(svmp_output_finish(&output), overwrite ? SVMP_OK : SVMP_CANNOT_WRITE);
        svmp_output_close(&output);
        check_content("page", overwrite ? "ours" : "theirs");
        if (!overwrite) check_content(temporary, "ours");
        if (!overwrite) assert_non_null(strstr(svmp_context_error(context), temporary));
        assert_int_equal(files_in_folder(1), overwrite ? 1 : 2);
    }
    svmp_context_free(context);
}

/* A file keeps its permissions when it is overwritten and when it is written again.
 */
static void test_permissions_stay(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (int again = 0; again < 2; again++) {
        output_file output;
        struct stat about;
        write_text("page", "one");
        assert_int_equal(chmod("page", 0600), 0);
        assert_ok(again ? svmp_output_open_again(context, "page", &output)
                        : svmp_output_open(context, "page", 1, &output));
        assert_ok(svmp_output_put(&output, "two", 3));
        assert_int_equal(stat(output.whole.temporary, &about), 0);
        assert_int_equal(about.st_mode & 07777, 0600);
        assert_ok(svmp_output_finish(&output));
        svmp_output_close(&output);
        assert_int_equal(stat("page", &about), 0);
        assert_int_equal(about.st_mode & 07777, 0600);
        check_content("page", "two");
        assert_int_equal(files_in_folder(1), 1);
    }
    svmp_context_free(context);
}

/* A link is followed; a dangling link is reported before anything is written, and not if another file is at fault. */
static void test_links(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    output_file output;
    assert_int_equal(symlink("page", "link"), 0);
    for (int overwrite = 0; overwrite < 2; overwrite++) {
        assert_false(svmp_whole_write("link", "one", 3, overwrite, &written));
        assert_string_equal(written.error, "The file 'link' is a broken symbolic link.");
    }
    assert_int_equal(svmp_output_open_again(context, "link", &output), SVMP_CANNOT_WRITE);
    svmp_output_close(&output);
    write_text("page", "one");
    assert_true(svmp_whole_write("link", "two", 3, 1, &written));
    check_content("page", "two");
    assert_int_equal(files_in_folder(1), 2);
    svmp_context_free(context);
}

static void test_refuses(void **state) {
    (void)state;
    assert_false(svmp_whole_write("no/such/page", "one", 3, 0, &written));
    assert_string_equal(written.error, "Cannot write 'no/such/page': No such file or directory.");
    assert_false(svmp_whole_write(".", "one", 3, 1, &written));
    assert_int_equal(files_in_folder(0), 0);
}

/* A path that is too long for the error is cut off there. */
static void test_long_paths(void **state) {
    (void)state;
    static char path[3 * PATH_MAX];
    memset(path, 'x', sizeof path - 1);
    assert_false(svmp_whole_write(path, "one", 3, 1, &written));
    assert_non_null(strstr(written.error, "': File name too long."));
    assert_int_equal(files_in_folder(0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overwrites_with_permission),
        cmocka_unit_test(test_a_file_made_meanwhile_stays),
        cmocka_unit_test(test_permissions_stay),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_long_paths),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
