/* The device library: which file is loaded, and the messages about one that cannot be used. */
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend_choice.h"
#include "cuda/cuda_backend.h"

static char work[] = "/tmp/svmp-test-load-XXXXXX";

static void expect_sentence(const char *given, const char *begins) {
    const device_ops *ops = NULL;
    char words[600];
    svmp_context *context = test_context(1);
    if (given)
        setenv("SVMP_CUDA", given, 1);
    else
        unsetenv("SVMP_CUDA");
    assert_int_equal(svmp_cuda_load(context, &ops), SVMP_UNSUPPORTED);
    if (strncmp(svmp_context_error(context), begins, strlen(begins)) != 0)
        fail_msg("'%s' does not begin with '%s'", svmp_context_error(context), begins);
    assert_non_null(svmp_gpu_found(words, sizeof words));
    if (strncmp(words, "gpu: no. ", 9) != 0 || strncmp(words + 9, begins, strlen(begins)) != 0) fail_msg("%s", words);
    svmp_context_free(context);
}

/* The message has the file's name and the system's error. */
static void test_given_values(void **state) {
    (void)state;
    char path[100], begins[200];
    assert_non_null(mkdtemp(work));
    expect_sentence("", "SVMP_CUDA is empty, so GPUs are not used.");
    expect_sentence(
        "/nowhere/svmp_cuda.so",
        "SVMP_CUDA names '/nowhere/svmp_cuda.so', which cannot be loaded (cannot open shared object file: No "
        "such file or directory): it must be the path of svmp_cuda.so, or unset.");
    expect_sentence("libm.so.6",
                    "SVMP_CUDA names 'libm.so.6', which cannot be loaded ("); /* it is not in this folder */
    snprintf(path, sizeof path, "%s/svmp_cuda.so", work);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("not a library", file);
    fclose(file);
    snprintf(begins, sizeof begins, "SVMP_CUDA names '%s', which cannot be loaded (file too short): it must be", path);
    expect_sentence(path, begins);
    unlink(path);
    rmdir(work);
    expect_sentence(FAKE_NVRTC, "'" FAKE_NVRTC "' is not svmp's library for GPUs, svmp_cuda.so.");
}

/* A library in the folder of the program, here this test: a missing library differs from a broken one. */
static void test_program_folder(void **state) {
    (void)state;
    char path[4096] = "", words[600];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 20);
    if (length <= 0) skip();
    path[length] = '\0';
    strcpy(strrchr(path, '/') + 1, "svmp_cuda.so");
    unsetenv("SVMP_CUDA");
    if (svmp_gpu_search(words, sizeof words) == GPU_FOUND || access(path, F_OK) == 0)
        skip(); /* one is installed on this machine */
    expect_sentence(NULL, "The backends on GPUs need svmp_cuda.so, which was not found. ");
    FILE *file = fopen(path, "w");
    if (file == NULL) skip();
    fputs("not a library", file);
    fclose(file);
    expect_sentence(NULL, "The backends on GPUs need '/");
    assert_int_equal(unlink(path), 0);
}

/* The report about the machine contains no advice for runs, and describes the compiler if the library is there. */
static void test_description(void **state) {
    (void)state;
    char words[1200];
    setenv("SVMP_CUDA", FAKE_DEVICE, 1);
    setenv("FAKE_DEVICE", "", 1);
    setenv("SVMP_NVRTC", "", 1);
    assert_string_equal(svmp_gpu_found(words, sizeof words),
                        "gpu: no. No device is in here. There may be one elsewhere.\n"
                        "nvrtc: no, GPUs interpret the statements of a model (SVMP_NVRTC is empty)");
    setenv("SVMP_NVRTC", FAKE_NVRTC, 1);
    svmp_gpu_found(words, sizeof words);
    assert_non_null(strstr(words, "elsewhere.\nnvrtc: yes, "));
    assert_string_equal(svmp_gpu_found(words, 8), "gpu: no");
    unsetenv("SVMP_NVRTC");
}

/* A library of this build is used; one with other types or another number of operations is not. */
static void test_other_builds(void **state) {
    (void)state;
    const device_ops *ops = NULL;
    char begins[4200];
    svmp_context *context = test_context(1);
    snprintf(begins, sizeof begins, "'%s' belongs to another build of svmp; build both from the same sources.",
             FAKE_DEVICE);
    setenv("FAKE_DEVICE", "version", 1);
    expect_sentence(FAKE_DEVICE, begins);
    setenv("FAKE_DEVICE", "layout", 1);
    expect_sentence(FAKE_DEVICE, begins);
    setenv("FAKE_DEVICE", "", 1);
    assert_ok(svmp_cuda_load(context, &ops));
    assert_string_equal(ops->name, "fake");
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_given_values), cmocka_unit_test(test_program_folder),
                                       cmocka_unit_test(test_other_builds), cmocka_unit_test(test_description)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
