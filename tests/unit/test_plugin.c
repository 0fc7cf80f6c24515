/* Plug-ins: which file is loaded, and the messages about one that cannot be used. FAKE_PLUGIN, svmp_fake.so, is in its
 * own folder. */
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plugin.h"

static char work[] = "/tmp/svmp-test-plugin-XXXXXX";

static void expect_sentence(const char *given, plugin_state expected, const char *begins) {
    const svmp_plugin *found = NULL;
    char words[600];
    svmp_context *context = test_context(1);
    if (given)
        setenv("SVMP_FAKE", given, 1);
    else
        unsetenv("SVMP_FAKE");
    assert_int_equal(svmp_plugin_find(SVMP_PLUGIN_PEERS, "fake", &found, words, sizeof words), expected);
    if (strncmp(words, begins, strlen(begins)) != 0) fail_msg("'%s' does not begin with '%s'", words, begins);
    assert_int_equal(svmp_plugin_open(context, SVMP_PLUGIN_PEERS, "fake", &found), SVMP_UNSUPPORTED);
    assert_string_equal(svmp_context_error(context), words);
    svmp_context_free(context);
}

static void expect_found(void) {
    const svmp_plugin *found = NULL;
    svmp_context *context = test_context(1);
    assert_ok(svmp_plugin_open(context, SVMP_PLUGIN_PEERS, "fake", &found));
    assert_string_equal(found->name, "fake");
    svmp_context_free(context);
}

static void write_text(const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("not a library", file);
    fclose(file);
}

/* The message has the file's name and the system's error. */
static void test_given_values(void **state) {
    (void)state;
    char path[100], begins[300];
    expect_sentence("", PLUGIN_ABSENT, "SVMP_FAKE is empty, so the plug-in svmp_fake.so is not used.");
    expect_sentence("/nowhere/svmp_fake.so", PLUGIN_BROKEN,
                    "SVMP_FAKE names '/nowhere/svmp_fake.so', which cannot be loaded (cannot open shared object file: "
                    "No such file or directory): it must be the path of svmp_fake.so, or unset.");
    expect_sentence("libm.so.6", PLUGIN_BROKEN,
                    "SVMP_FAKE names 'libm.so.6', which cannot be loaded ("); /* it is not in this folder */
    snprintf(path, sizeof path, "%s/svmp_fake.so", work);
    write_text(path);
    snprintf(begins, sizeof begins, "SVMP_FAKE names '%s', which cannot be loaded (file too short): it must be", path);
    expect_sentence(path, PLUGIN_BROKEN, begins);
    unlink(path);
    expect_sentence(FAKE_NVRTC, PLUGIN_BROKEN, "'" FAKE_NVRTC "' is not svmp's plug-in svmp_fake.so.");
    setenv("SVMP_FAKE", FAKE_PLUGIN, 1);
    expect_found();
}

/* A given folder, and the folder of the program, here this test: a missing plug-in differs from a broken one. */
static void test_folders(void **state) {
    (void)state;
    char path[4096] = "";
    unsetenv("SVMP_FAKE");
    setenv("SVMP_PLUGINS", work, 1);
    expect_sentence(NULL, PLUGIN_ABSENT,
                    "The plug-in svmp_fake.so was not found. This build does not include it: build another");
    snprintf(path, sizeof path, "%s/svmp_fake.so", work);
    write_text(path);
    expect_sentence(NULL, PLUGIN_BROKEN, "The plug-in '/tmp/");
    unlink(path);
    assert_int_equal(symlink(FAKE_PLUGIN, path), 0);
    expect_found();
    unlink(path);
    unsetenv("SVMP_PLUGINS");

    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 20);
    if (length <= 0) skip();
    path[length] = '\0';
    strcpy(strrchr(path, '/') + 1, "svmp_fake.so");
    write_text(path);
    expect_sentence(NULL, PLUGIN_BROKEN, "The plug-in '/");
    assert_int_equal(unlink(path), 0);
}

/* A plug-in of another build, kind or name is not used. */
static void test_other_builds(void **state) {
    (void)state;
    static const char *const builds[] = {"version", "formulas", "none"}, *const others[] = {"kind", "name"};
    for (size_t k = 0; k < 3; k++) {
        setenv("FAKE_PLUGIN", builds[k], 1);
        expect_sentence(FAKE_PLUGIN, PLUGIN_BROKEN,
                        "'" FAKE_PLUGIN "' belongs to another build of svmp; build both from the same sources.");
    }
    setenv("FAKE_PLUGIN", others[0], 1);
    expect_sentence(FAKE_PLUGIN, PLUGIN_BROKEN, "'" FAKE_PLUGIN "' is svmp's plug-in 'fake', and not");
    setenv("FAKE_PLUGIN", others[1], 1);
    expect_sentence(FAKE_PLUGIN, PLUGIN_BROKEN, "'" FAKE_PLUGIN "' is svmp's plug-in 'other', and not svmp_fake.so.");
    unsetenv("FAKE_PLUGIN");
    expect_found();
}

/* The plug-in uses the library's memory, errors and log. */
static void test_host(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    const svmp_host host = svmp_plugin_host(context);
    double *zeros = host.allocate(host.context, 3 * sizeof *zeros);
    assert_non_null(zeros);
    assert_true(zeros[0] == 0 && zeros[1] == 0 && zeros[2] == 0);
    host.release(host.context, zeros);
    host.release(host.context, NULL);
    assert_null(host.allocate(host.context, SIZE_MAX));
    assert_non_null(strstr(svmp_context_error(context), "Out of memory"));
    (host.fail)(host.context, SVMP_DEVICE_FAILED, "100 % of it failed."); /* cmocka has a macro of that name */
    assert_string_equal(svmp_context_error(context), "100 % of it failed.");
    svmp_context_free(context);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(work) == NULL;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(work);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_given_values), cmocka_unit_test(test_folders),
                                       cmocka_unit_test(test_other_builds), cmocka_unit_test(test_host)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
