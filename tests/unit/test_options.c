/* Options by name: the object, the table, and the names that come from the registries. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

typedef struct setting {
    const char *name, *value, *read; /* the value that svmp_options_get returns */
} setting;

static svmp_options *new_options(svmp_context *context) {
    svmp_options *options = NULL;
    assert_ok(svmp_options_create(context, &options));
    return options;
}

static void test_defaults(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_options *options = new_options(context);
    svmp_option row;
    size_t count = 0;
    for (; svmp_option_at(count, &row); count++) {
        assert_string_equal(svmp_options_get(options, row.name), row.standard ? row.standard : "");
        assert_ok(svmp_options_set(options, row.name, row.standard)); /* the text of a default means the default */
        assert_string_equal(svmp_options_get(options, row.name), row.standard ? row.standard : "");
    }
    assert_true(count >= 14);
    assert_false(svmp_option_at(count, &row));
    assert_false(svmp_option_at(SIZE_MAX, &row));
    assert_false(svmp_option_at(0, NULL));
    svmp_options_free(options);
    svmp_context_free(context);
}

static void test_set_and_get(void **state) {
    (void)state;
    static const setting settings[] = {
        {"particles", "7", "7"},        {"particles", "1e3", "1000"},
        {"tolerance", "1e-3", "0.001"}, {"seed", "18446744073709551615", "18446744073709551615"},
        {"iterations", "0", "0"},       {"kernel", "rbf@all", "rbf@all"},
        {"method", "nuts", "nuts"},
    };
    svmp_context *context = test_context(1);
    svmp_options *options = new_options(context), *copy = NULL;
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        char text[32];
        strcpy(text, settings[k].value);
        assert_ok(svmp_options_set(options, settings[k].name, text));
        memset(text, 'x', sizeof text - 1); /* the options keep a copy */
        assert_string_equal(svmp_options_get(options, settings[k].name), settings[k].read);
    }
    assert_ok(svmp_options_copy(options, &copy));
    for (size_t k = 1; k < sizeof settings / sizeof *settings; k++) {
        assert_ok(svmp_options_set(options, settings[k].name, NULL)); /* back to the default */
        assert_string_equal(svmp_options_get(copy, settings[k].name), settings[k].read);
    }
    assert_string_equal(svmp_options_get(options, "iterations"), "");
    assert_string_equal(svmp_options_get(options, "kernel"), "");
    assert_string_equal(svmp_options_get(options, "method"), "auto");
    assert_ok(svmp_options_set_count(options, "seed", UINT64_MAX));
    assert_string_equal(svmp_options_get(options, "seed"), "18446744073709551615");
    assert_ok(svmp_options_set_number(options, "accept", 0.1 + 0.2));
    assert_true(strtod(svmp_options_get(options, "accept"), NULL) == 0.1 + 0.2);
    assert_ok(svmp_options_set_number(options, "particles", 12));
    assert_string_equal(svmp_options_get(options, "particles"), "12");
    assert_ok(svmp_options_set_number(options, "bandwidth", 2.5));
    assert_string_equal(svmp_options_get(options, "bandwidth"), "2.5");
    svmp_options_free(copy);
    svmp_options_free(options);
    svmp_context_free(context);
}

static void test_refused(void **state) {
    (void)state;
    const char *bad[][3] = {
        {"particles", "0", "'particles' must be a whole number from 1 to 1000000000, not '0'"},
        {"particles", "-3", "not '-3'"},
        {"particles", "2.5", "not '2.5'"},
        {"particles", "99999999999999999999999", "not '99999999999999999999999'"},
        {"iterations", "", "not ''"},
        {"tolerance", "-1", "'tolerance' must be a number from 0 to 1e+300, not '-1'"},
        {"tolerance", "nan", "not 'nan'"},
        {"seed", "18446744073709551616", "from 0 to 2^64 - 1"},
        {"colour", "red", "Unknown option 'colour'"},
    };
    svmp_context *context = test_context(1);
    svmp_options *options = new_options(context);
    assert_ok(svmp_options_set_count(options, "particles", 7));
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
        assert_int_equal(svmp_options_set(options, bad[b][0], bad[b][1]), SVMP_BAD_CALL);
        assert_non_null(strstr(svmp_context_error(context), bad[b][2]));
    }
    assert_string_equal(svmp_options_get(options, "particles"), "7"); /* refused values changed nothing */
    assert_int_equal(svmp_options_set_number(options, "particles", 2.5), SVMP_BAD_CALL);
    assert_int_equal(svmp_options_set_number(options, "tolerance", NAN), SVMP_BAD_CALL);
    assert_int_equal(svmp_options_set_number(options, "tolerance", INFINITY), SVMP_BAD_CALL);
    assert_int_equal(svmp_options_set_count(options, "chains", UINT64_MAX), SVMP_BAD_CALL);
    svmp_options *none = NULL;
    assert_int_equal(svmp_options_create(NULL, &none), SVMP_BAD_CALL);
    assert_int_equal(svmp_options_create(context, NULL), SVMP_BAD_CALL);
    assert_int_equal(svmp_options_copy(NULL, &none), SVMP_BAD_CALL);
    assert_int_equal(svmp_options_copy(options, NULL), SVMP_BAD_CALL);
    assert_int_equal(svmp_options_set(NULL, "particles", "1"), SVMP_BAD_CALL);
    assert_int_equal(svmp_options_set(options, NULL, "1"), SVMP_BAD_CALL);
    assert_int_equal(svmp_options_set_count(NULL, "particles", 1), SVMP_BAD_CALL);
    assert_int_equal(svmp_options_set_number(NULL, "particles", 1), SVMP_BAD_CALL);
    assert_null(none);
    assert_null(svmp_options_get(NULL, "particles"));
    assert_null(svmp_options_get(options, NULL));
    assert_null(svmp_options_get(options, "colour"));
    svmp_options_free(NULL);
    svmp_options_free(options);
    svmp_context_free(context);
}

/* Every listed value is accepted, with a number in place of words in capitals, and is in the help. */
static void test_choices(void **state) {
    (void)state;
    static const char *const lists[] = {"method", "bandwidth", "step", "init", "backend"};
    svmp_context *context = test_context(1);
    svmp_model *model = test_random_gaussian(context, 2, 1, 1, 1);
    for (size_t o = 0; o < sizeof lists / sizeof *lists; o++) {
        const char *choice;
        char help[1024];
        size_t k = 0;
        assert_non_null(svmp_option_help(lists[o], help, sizeof help));
        assert_null(strpbrk(help, "{}"));
        for (; (choice = svmp_option_choice(lists[o], k)) != NULL; k++) {
            static const char *const stand_ins[][2] = {
                {"NUMBER", "2"}, {"RATE", "0.1"}, {"A,B,GAMMA", "1,1,1"}, {"A,B", "0,1"}, {"SD", "1"}};
            char value[64];
            snprintf(value, sizeof value, "%s", choice);
            for (size_t s = 0; s < sizeof stand_ins / sizeof *stand_ins; s++) {
                char *at = strstr(value, stand_ins[s][0]);
                if (at) strcpy(at, stand_ins[s][1]);
            }
            svmp_options *options = new_options(context);
            svmp_run *run = NULL;
            assert_non_null(strstr(help, choice));
            assert_ok(svmp_options_set(options, "method", "graphical"));
            assert_ok(svmp_options_set(options, lists[o], value));
            const svmp_status status = svmp_run_create(model, options, &run);
            if (status == SVMP_BAD_CALL) fail_msg("%s", svmp_context_error(context));
            svmp_run_free(run);
            svmp_options_free(options);
        }
        assert_true(k >= 3);
    }
    assert_null(svmp_option_choice("particles", 0));
    assert_null(svmp_option_choice("colour", 0));
    assert_null(svmp_option_choice(NULL, 0));
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_help(void **state) {
    (void)state;
    char help[1024], cut[8];
    svmp_option row;
    for (size_t k = 0; svmp_option_at(k, &row); k++) {
        assert_ptr_equal(svmp_option_help(row.name, help, sizeof help), help);
        assert_true(strlen(help) > 3 && strpbrk(help, "{}") == NULL);
        assert_ptr_equal(svmp_option_help(row.name, cut, sizeof cut), cut);
        assert_true(strlen(cut) < sizeof cut && strncmp(help, cut, strlen(cut)) == 0);
        assert_true(row.argument && row.group);
    }
    svmp_option_help("step", help, sizeof help); /* the defaults of the methods */
    assert_non_null(strstr(help, "[langevin, mala: fixed:0.01; others: adagrad:1]"));
    assert_null(svmp_option_help("colour", help, sizeof help));
    assert_null(svmp_option_help("step", help, 0));
    assert_null(svmp_option_help("step", NULL, 8));
    assert_null(svmp_option_help(NULL, help, sizeof help));
}

/* The run reports the method that 'auto' stands for. */
static void test_auto(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_method found;
    char text[32];
    assert_ok(svmp_method_describe(context, "auto", &found));
    assert_string_equal(found.name, "transport");
    for (int boxed = 0; boxed < 2; boxed++) {
        svmp_model *model = test_random_gaussian(context, 2, 1, 1, 1);
        svmp_run *run = NULL;
        if (boxed) assert_ok(svmp_model_set_box(model, 0, -1, 1));
        assert_ok(svmp_run_create(model, NULL, &run));
        assert_string_equal(svmp_run_setting(run, "method", text, sizeof text), boxed ? "graphical" : "transport");
        svmp_run_free(run);
        svmp_model_free(model);
    }
    svmp_context_free(context);
}

/* A run keeps its settings when the options change or are freed. */
static void test_a_run_copies_options(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = test_random_gaussian(context, 2, 1, 1, 1);
    svmp_options *options = new_options(context);
    svmp_run *run = NULL;
    char text[32];
    assert_ok(svmp_options_set(options, "method", "graphical"));
    assert_ok(svmp_options_set(options, "step", "fixed:0.25"));
    assert_ok(svmp_options_set(options, "particles", "3"));
    assert_ok(svmp_run_create(model, options, &run));
    svmp_options_free(options);
    assert_string_equal(svmp_run_setting(run, "step", text, sizeof text), "fixed:0.25");
    assert_string_equal(svmp_run_setting(run, "particles", text, sizeof text), "3");
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_no_memory(void **state) {
    (void)state;
    scarce_memory memory = {LONG_MAX};
    svmp_context *context = scarce_context(&memory);
    for (long left = 0; left < 40; left++) {
        svmp_options *options = NULL, *copy = NULL;
        memory.left = left;
        svmp_status status = svmp_options_create(context, &options);
        if (status == SVMP_OK) status = svmp_options_set(options, "kernel", "rbf@all");
        if (status == SVMP_OK) status = svmp_options_copy(options, &copy);
        assert_true(status == SVMP_OK || status == SVMP_NO_MEMORY);
        if (left < 5) assert_int_equal(status, SVMP_NO_MEMORY);
        if (left > 30) assert_ok(status);
        svmp_options_free(copy);
        svmp_options_free(options);
    }
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_defaults),
                                       cmocka_unit_test(test_set_and_get),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_choices),
                                       cmocka_unit_test(test_help),
                                       cmocka_unit_test(test_auto),
                                       cmocka_unit_test(test_a_run_copies_options),
                                       cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
