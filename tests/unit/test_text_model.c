/* Models of one parsed text with different data: each is the model that a text of its own gives. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/fingerprint.h"
#include "model/natural_values.h"
#include "support.h"

static svmp_context *context;

static svmp_data *make_data(size_t count, double shift) {
    double y[10];
    svmp_data *data = NULL;
    for (size_t k = 0; k < count; k++) y[k] = shift + (double)(k % 3);
    assert_ok(svmp_data_create(context, &data));
    assert_ok(svmp_data_add(data, "y", 1, &count, y));
    return data;
}

static fingerprint take(svmp_model *model) {
    fingerprint taken;
    assert_ok(svmp_fingerprint_take(model, &taken));
    svmp_model_free(model);
    return taken;
}

/* Texts to which statements are added: replicates of what is observed, and a variable where all unknowns are discrete,
 * here unless there are data. */
static const char *const texts[] = {
    "model { for (i in 1:length(y)) { y[i] ~ dnorm(m, t) }\n m ~ dnorm(0, 1)\n t ~ dgamma(1, 1) }",
    "data { n <- length(y) }\nmodel { for (i in 1:n) { y[i] ~ dpois(p[c])\n p[i] <- 0.1 * i }\n c ~ dcat(q[1:2])\n"
    " q[1] <- 0.5\n q[2] <- 0.5 }"};

static void test_the_same_model(void **state) {
    (void)state;
    static const struct {
        size_t count;
        double shift;
        svmp_reading how;
    } given[] = {{3, 0, {.coordinates = "auto"}},
                 {5, -2, {.monitors = "posterior_predictive"}},
                 {4, 0, {.monitors = "log_lik,posterior_predictive", .coordinates = "auto"}},
                 {3, 0, {.coordinates = "auto"}}};
    size_t models = 0;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        svmp_text *parsed = NULL;
        assert_ok(svmp_text_parse(context, "m.bug", texts[t], &parsed));
        for (size_t k = 0; k < sizeof given / sizeof *given; k++) {
            svmp_data *data = make_data(given[k].count, given[k].shift);
            svmp_model *one = NULL, *other = NULL;
            const svmp_status status = svmp_text_model(parsed, data, &given[k].how, &one);
            char error[1024];
            snprintf(error, sizeof error, "%s", svmp_context_error(context));
            assert_int_equal(svmp_model_read_text(context, "m.bug", texts[t], data, &given[k].how, &other), status);
            if (status != SVMP_OK) assert_string_equal(error, svmp_context_error(context)); /* -2 is no count */
            if (status == SVMP_OK) {
                assert_int_equal(svmp_model_outputs(one), svmp_model_outputs(other));
                const fingerprint a = take(one), b = take(other);
                assert_true(a.structure == b.structure && a.density == b.density);
                models++;
            }
            svmp_data_free(data);
        }
        svmp_text_free(parsed);
    }
    assert_int_equal(models, 7);
}

static void test_errors(void **state) {
    (void)state;
    svmp_text *parsed = NULL;
    svmp_model *model = NULL;
    assert_int_equal(svmp_text_parse(context, "m.bug", "model { y ~ }", &parsed), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "m.bug:1:13: error: expected a distribution"));
    assert_null(parsed);
    assert_int_equal(svmp_text_parse(context, NULL, NULL, &parsed), SVMP_BAD_CALL);
    assert_int_equal(svmp_text_parse(NULL, NULL, texts[0], &parsed), SVMP_BAD_CALL);
    assert_ok(svmp_text_parse(context, NULL, texts[0], &parsed));
    assert_int_equal(svmp_text_model(parsed, NULL, NULL, &model), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "<text>:1:28: error: the dimensions of 'y' are unknown here"));
    assert_int_equal(svmp_text_model(parsed, NULL, NULL, NULL), SVMP_BAD_CALL);
    svmp_text_free(parsed);
    svmp_text_free(NULL);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void *allocate(size_t size, void *blocks) {
    void *made = calloc(1, size);
    *(long *)blocks += made != NULL;
    return made;
}

static void *resize(void *pointer, size_t size, void *blocks) {
    void *made = realloc(pointer, size);
    *(long *)blocks += made && pointer == NULL;
    return made;
}

static void release(void *pointer, void *blocks) {
    *(long *)blocks -= pointer != NULL;
    free(pointer);
}

/* What models of other data add to a text is freed, however many there are. */
static void test_models_leave_no_memory(void **state) {
    (void)state;
    const svmp_reading how = {.monitors = "posterior_predictive"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        long blocks = 0, after_first = 0;
        const svmp_allocator counting = {allocate, resize, release, &blocks};
        svmp_context *counted = NULL;
        svmp_text *parsed = NULL;
        assert_ok(svmp_context_create(&counting, &counted));
        assert_ok(svmp_text_parse(counted, NULL, texts[t], &parsed));
        for (size_t k = 0; k < 100; k++) {
            svmp_data *data = make_data(3 + k % 3, 0);
            svmp_model *model = NULL;
            assert_ok(svmp_text_model(parsed, data, &how, &model));
            svmp_model_free(model);
            svmp_data_free(data);
            if (k == 0) after_first = blocks;
        }
        assert_true(blocks <= after_first);
        svmp_text_free(parsed);
        svmp_context_free(counted);
        assert_int_equal(blocks, 0);
    }
}

static svmp_status two_models(svmp_context *scarce, const svmp_data *data) {
    const svmp_reading how = {.monitors = "posterior_predictive"};
    svmp_text *parsed = NULL;
    svmp_status status = svmp_text_parse(scarce, NULL, texts[1], &parsed);
    for (size_t k = 0; k < 2 && status == SVMP_OK; k++) {
        svmp_model *model = NULL;
        status = svmp_text_model(parsed, data, &how, &model);
        svmp_model_free(model);
    }
    svmp_text_free(parsed);
    return status;
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    svmp_status status = SVMP_NO_MEMORY;
    svmp_data *data = make_data(3, 0);
    for (long count = 0; status != SVMP_OK; count++) {
        scarce_memory memory = {.left = 1};
        svmp_context *scarce = scarce_context(&memory);
        memory.left = count;
        status = two_models(scarce, data);
        assert_true(status == SVMP_OK || status == SVMP_NO_MEMORY);
        svmp_context_free(scarce);
    }
    svmp_data_free(data);
}

static int open_context(void **state) { return (void)state, svmp_context_create(NULL, &context) != SVMP_OK; }
static int close_context(void **state) { return (void)state, svmp_context_free(context), 0; }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_same_model), cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_models_leave_no_memory),
                                       cmocka_unit_test(test_every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
