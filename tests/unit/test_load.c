/* The plug-in of devices: which one is loaded, and the sentences about one that cannot be used. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "backend/device_backend.h"

/* The sentence of the plug-in, or about it (test_plugin.c has the others). */
static void expect_sentence(const char *given, const char *begins) {
    char words[1300];
    setenv("SVMP_CUDA", given, 1);
    assert_non_null(svmp_gpu_found(words, sizeof words));
    if (strncmp(words, "gpu: no. ", 9) != 0 || strncmp(words + 9, begins, strlen(begins)) != 0) fail_msg("%s", words);
}

/* Its own words about this machine. */
static void test_description(void **state) {
    (void)state;
    char words[1200];
    setenv("SVMP_CUDA", FAKE_DEVICE, 1);
    setenv("FAKE_DEVICE", "", 1);
    assert_string_equal(svmp_gpu_found(words, sizeof words),
                        "gpu: no. No device is in here. There may be one elsewhere.\nnvrtc: yes, 1.2");
    assert_string_equal(svmp_gpu_found(words, 8), "gpu: no");
}

/* A plug-in of another build is refused, and so is a backend that the plug-in does not offer. */
static void test_refusals(void **state) {
    (void)state;
    backend *b = NULL;
    svmp_context *context = test_context(1);
    svmp_model *model = test_grid(context, 2, 2);
    expect_sentence("", "SVMP_CUDA is empty, so the plug-in svmp_cuda.so is not used.");
    setenv("FAKE_DEVICE", "version", 1);
    expect_sentence(FAKE_DEVICE, "'" FAKE_DEVICE "' belongs to another build of svmp; build both from the same ");
    setenv("FAKE_DEVICE", "", 1);
    assert_int_equal(svmp_backend_create(svmp_device_kind(0), model, 3, 1, NULL, NULL, &b), SVMP_UNSUPPORTED);
    assert_string_equal(svmp_context_error(context), "The plug-in 'cuda' has no backend 'cuda'.");
    svmp_model_free(model);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refusals), cmocka_unit_test(test_description)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
