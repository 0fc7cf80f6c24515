/* Truncation of sums over counts without a largest value: high enough that the density around the posterior is that of
 * the infinite sum, which a thinned Poisson count has in closed form, and not much higher. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "model/text_model.h"
#include "unit/files.h"
#include "unit/read_dump.h"
#include "unit/support.h"

/* y_i ~ dbin(p, n_i), n_i ~ dpois(l), so that y_i ~ dpois(p l); l ~ dgamma(a, a): x = log l. */
static const char text[] = "model { for (i in 1:N) { n[i] ~ dpois(l)\n y[i] ~ dbin(p, n[i]) }\n l ~ dgamma(a, a / m) }";

static svmp_model *read_model(svmp_context *context, const char *dump, const char *coordinates) {
    return read_dump(context, text, dump, &(svmp_reading){.coordinates = coordinates});
}

static double log_poisson(double y, double rate) { return y * log(rate) - rate - lgamma(y + 1); }

/* The difference between log densities at two points, which cancels constants, is that of the infinite sums. */
static void assert_whole(const svmp_model *model, size_t count, const double *y, double p, double a, double m) {
    double shape = a, rate = a / m, first = 0;
    for (size_t i = 0; i < count; i++) shape += y[i], rate += p;
    for (int k = -6; k <= 6; k++) { /* -3 to 3 sds about the mean of the posterior, dgamma(shape, rate) */
        const double l = shape / rate * exp(0.5 * k / sqrt(shape)), x = log(l);
        double value = NAN, exact = a * x - a / m * l;
        assert_ok(svmp_model_evaluate(model, 1, &x, &value, NULL));
        for (size_t i = 0; i < count; i++) exact += log_poisson(y[i], p * l);
        if (k == -6) first = value - exact;
        if (fabs(value - exact - first) > 1e-6) fail_msg("at %g: %.9g, not %.9g", l, value - first, exact);
    }
}

static uint32_t most_states(const svmp_model *model) {
    uint32_t most = 0;
    for (size_t k = 0; k < model->lowered->summed.count; k++)
        if (model->lowered->summed.unknowns[k].states > most) most = model->lowered->summed.unknowns[k].states;
    return most;
}

static void test_truncation_is_low(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    const char *dump = "N <- 4 y <- c(3, 1, 4, 2) p <- 0.5 a <- 20 m <- 5";
    svmp_model *plain = read_model(context, dump, "centred"), *chosen = read_model(context, dump, "auto");
    assert_whole(plain, 4, (const double[]){3, 1, 4, 2}, 0.5, 20, 5);
    assert_whole(chosen, 4, (const double[]){3, 1, 4, 2}, 0.5, 20, 5);
    assert_true(most_states(plain) > 100);
    assert_true(most_states(chosen) < 50);
    svmp_model_free(plain);
    svmp_model_free(chosen);
    svmp_context_free(context);
}

/* Few of many are observed: the data alone do not determine the truncation. */
static void test_truncation_is_high_enough(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    const char *dump = "N <- 2 y <- c(5, 7) p <- 0.02 a <- 200 m <- 300";
    svmp_model *chosen = read_model(context, dump, "auto");
    assert_whole(chosen, 2, (const double[]){5, 7}, 0.02, 200, 300);
    assert_true(most_states(chosen) > 350 && most_states(chosen) < 1000);
    svmp_model_free(chosen);
    svmp_context_free(context);
}

typedef struct messages {
    size_t ends, unused;
    double end; /* the truncation in the last warning */
} messages;

static void note(svmp_log_level level, const char *message, void *data) {
    messages *t = data;
    const char *end = strstr(message, " ends at ");
    (void)level;
    t->unused += strstr(message, "'zed' is not used by the model") != NULL;
    if (end == NULL) return;
    t->ends++;
    t->end = strtod(end + 9, NULL);
}

/* Values above any truncation are probable: the warning reports the truncation that is used, which is not lower than
 * without the search. */
static void test_no_truncation_suffices(void **state) {
    (void)state;
    static const char improper_direction[] =
        "model { n ~ dpois(l)\n s ~ dbin(0.5, n)\n for (j in 1:2) { y[j] ~ dbin(p, s) }\n"
        " l ~ dunif(0, 5000)\n p ~ dunif(0, 1) }";
    const char *dump = "y <- c(2, 5)";
    svmp_context *context = test_context(1);
    svmp_data *data = NULL;
    svmp_model *model = NULL, *plain = NULL;
    messages t = {0};
    assert_ok(svmp_data_create(context, &data));
    assert_ok(svmp_data_read_text(data, "d.R", dump, strlen(dump)));
    assert_ok(svmp_model_read_text(context, "m.bug", improper_direction, data, NULL, &plain));
    assert_ok(svmp_context_set_log(context, note, &t));
    assert_ok(svmp_model_read_text(context, "m.bug", improper_direction, data, &(svmp_reading){.coordinates = "auto"},
                                   &model));
    assert_int_equal(t.ends, 1);
    assert_true(t.end == most_states(model) - 1);
    assert_true(most_states(model) >= most_states(plain));
    svmp_model_free(plain);
    svmp_model_free(model);
    svmp_data_free(data);
    svmp_context_free(context);
}

/* The first compilation is refused, since its tables are too large; the warning comes from the next one, once. */
static void test_messages_come_once(void **state) {
    (void)state;
    static const char pair[] = "model { N1 ~ dpois(l)\n S ~ dbin(w, N1)\n y1 ~ dbin(p, N1)\n y2 ~ dbin(p, S)\n"
                               " l ~ dgamma(50, 1)\n w ~ dbeta(20, 10)\n p ~ dbeta(90, 10) }";
    const char *dump = "y1 <- 45 y2 <- 30 zed <- 3";
    svmp_context *context = test_context(1);
    svmp_data *data = NULL;
    svmp_model *model = NULL;
    messages t = {0};
    assert_ok(svmp_data_create(context, &data));
    assert_ok(svmp_data_read_text(data, "d.R", dump, strlen(dump)));
    assert_ok(svmp_context_set_log(context, note, &t));
    assert_ok(svmp_model_read_text(context, "m.bug", pair, data, &(svmp_reading){.coordinates = "auto"}, &model));
    assert_int_equal(t.unused, 1);
    svmp_model_free(model);
    svmp_data_free(data);
    svmp_context_free(context);
}

static void test_allocations_may_fail(void **state) {
    (void)state;
    const char *dump = "N <- 1 y <- 3 p <- 0.1 a <- 20 m <- 50";
    svmp_status status = SVMP_NO_MEMORY;
    for (long allowed = 1; status == SVMP_NO_MEMORY; allowed += 1 + allowed / 32) {
        scarce_memory memory = {1000000000};
        svmp_context *context = scarce_context(&memory);
        svmp_data *data = NULL;
        svmp_model *model = NULL;
        assert_ok(svmp_data_create(context, &data));
        assert_ok(svmp_data_read_text(data, "d.R", dump, strlen(dump)));
        memory.left = allowed;
        status = svmp_model_read_text(context, "m.bug", text, data, &(svmp_reading){.coordinates = "auto"}, &model);
        memory.left = 1000000000;
        svmp_model_free(model);
        svmp_data_free(data);
        svmp_context_free(context);
    }
    assert_ok(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncation_is_low), cmocka_unit_test(test_truncation_is_high_enough),
        cmocka_unit_test(test_no_truncation_suffices), cmocka_unit_test(test_messages_come_once),
        cmocka_unit_test(test_allocations_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
