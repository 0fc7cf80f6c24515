/* Modes that a discrete unknown makes: given each of its values the posterior below is Gaussian, so that means and
 * shares are known; leaps between the modes leave the posterior as it is, and bring particles that are all in one mode
 * to its shares. */
#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "method/leap.h"
#include "model/lowered.h"
#include "model/model.h"
#include "model/modes.h"
#include "unit/support.h"

enum { DATA = 6 };

static const double y[DATA] = {19.1, 20.3, 20.9, 19.4, 20.2, 19.6}, slope[2] = {1, 2}, variance = 400;

static svmp_model *read_model(svmp_context *context, const char *text, const char *dump) {
    svmp_data *data = NULL;
    svmp_model *model = NULL;
    assert_ok(svmp_data_create(context, &data));
    assert_ok(svmp_data_read_text(data, "d.R", dump, strlen(dump)));
    const svmp_status status =
        svmp_model_read_text(context, "m.bug", text, data, &(svmp_reading){.coordinates = "auto"}, &model);
    if (status != SVMP_OK) fail_msg("%s", svmp_context_error(context));
    svmp_data_free(data);
    return model;
}

static svmp_model *two_slopes(svmp_context *context) {
    return read_model(
        context,
        "model { for (i in 1:6) { y[i] ~ dnorm(b * s[k], 1) }\n k ~ dcat(prior[])\n b ~ dnorm(0, 1 / 400) "
        "}",
        "y <- c(19.1, 20.3, 20.9, 19.4, 20.2, 19.6) s <- c(1, 2) prior <- c(0.3, 0.7)");
}

/* y given k is N(0, I + s^2 v 11'): with S the sum and n s^2 v = c, log density -log(1 + c)/2 + s^2 v S^2/(2(1 + c)).
 */
static double exact_share(void) {
    double sum = 0, log_evidence[2];
    for (size_t i = 0; i < DATA; i++) sum += y[i];
    for (size_t k = 0; k < 2; k++) {
        const double c = DATA * slope[k] * slope[k] * variance;
        log_evidence[k] = -0.5 * log1p(c) + 0.5 * slope[k] * slope[k] * variance * sum * sum / (1 + c);
    }
    return 1 / (1 + 0.3 / 0.7 * exp(log_evidence[0] - log_evidence[1]));
}

static double exact_mean(size_t k) {
    double sum = 0;
    for (size_t i = 0; i < DATA; i++) sum += y[i];
    return slope[k] * sum / (DATA * slope[k] * slope[k] + 1 / variance);
}

static void test_means_and_shares(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = two_slopes(context);
    assert_non_null(model->modes);
    assert_int_equal(model->modes->count, 2);
    assert_near(model->modes->mode[1].share, exact_share(), 1e-6);
    for (size_t k = 0; k < 2; k++) {
        const posterior_mode *mode = &model->modes->mode[k];
        assert_near(mode->mean[0], exact_mean(k), 1e-6);
        assert_near(fabs(mode->root[0]), 1 / sqrt(DATA * slope[k] * slope[k] + 1 / variance), 1e-6);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Where the values lead to places that meet, or few data depend on the unknown, there is nothing to do. */
static void test_no_modes(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *near = read_model(
        context, "model { for (i in 1:6) { y[i] ~ dnorm(b * s[k], 1) }\n k ~ dcat(prior[])\n b ~ dnorm(0, 1 / 400) }",
        "y <- c(19.1, 20.3, 20.9, 19.4, 20.2, 19.6) s <- c(1, 1.02) prior <- c(0.3, 0.7)");
    assert_null(near->modes);
    svmp_model_free(near);
    svmp_model *mixture = read_model(
        context, "model { for (i in 1:6) { z[i] ~ dbern(0.5)\n y[i] ~ dnorm(b * (1 + z[i]), 1) }\n b ~ dnorm(0, 1) }",
        "y <- c(19.1, 20.3, 20.9, 19.4, 20.2, 19.6)");
    assert_null(mixture->modes);
    svmp_model_free(mixture);
    svmp_context_free(context);
}

static void test_leaps(void **state) {
    (void)state;
    enum { PARTICLES = 2000, LEAPS = 12 };
    svmp_context *context = test_context(1);
    svmp_model *model = two_slopes(context);
    backend *b = NULL;
    leaper *l = NULL;
    double *x, inside = 0;
    assert_ok(svmp_backend_create(&svmp_backend_ref, model, PARTICLES, 5, NULL, NULL, &b));
    assert_ok(svmp_leaper_create(b, &l));
    assert_ok(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    for (size_t k = 0; k < PARTICLES; k++) x[k] = exact_mean(0);
    assert_ok(svmp_backend_commit(b, ARRAY_PARTICLES));
    for (size_t t = 0; t < LEAPS; t++) assert_ok(svmp_leap(l, b, t));
    assert_ok(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    for (size_t k = 0; k < PARTICLES; k++) inside += fabs(x[k] - exact_mean(1)) < 3;
    const double share = exact_share();
    assert_near(inside / PARTICLES, share, 4.5 * sqrt(share * (1 - share) / PARTICLES));
    svmp_leaper_free(l);
    svmp_backend_free(b);
    svmp_model_free(model);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_means_and_shares), cmocka_unit_test(test_no_modes),
                                       cmocka_unit_test(test_leaps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
