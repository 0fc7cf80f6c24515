/* Modes due to a discrete unknown: given each of its values the posterior is Gaussian, so that means and shares are
 * known. Jumps between the modes leave the posterior invariant, and move particles that all start in one mode to the
 * correct shares. */
#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "method/moves/mode_jump.h"
#include "model/model.h"
#include "model/posterior_modes.h"
#include "model/text_model.h"
#include "unit/read_dump.h"
#include "unit/support.h"

enum { DATA = 6 };

static const double y[DATA] = {19.1, 20.3, 20.9, 19.4, 20.2, 19.6}, slope[2] = {1, 2}, variance = 400;

static svmp_model *read_model(svmp_context *context, const char *text, const char *dump) {
    return read_dump(context, text, dump, &(svmp_reading){.coordinates = "auto"});
}

static const char slopes[] =
    "model { for (i in 1:6) { y[i] ~ dnorm(b * s[k], 1) }\n k ~ dcat(prior[])\n b ~ dnorm(0, 1 / 400) }";
static const char slopes_data[] = "y <- c(19.1, 20.3, 20.9, 19.4, 20.2, 19.6) s <- c(1, 2) prior <- c(0.3, 0.7)";

static svmp_model *two_slopes(svmp_context *context) { return read_model(context, slopes, slopes_data); }

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

/* If the modes of the values overlap, or few data depend on the unknown, no jumps are made. */
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

/* In any coordinates, also without the option; with the data as one vector, or only two of them. */
static void test_other_coordinates(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    const char *coordinates[] = {"centred", "noncentred", NULL};
    for (size_t k = 0; k < 4; k++) {
        svmp_model *model =
            read_dump(context, slopes, slopes_data, k < 3 ? &(svmp_reading){.coordinates = coordinates[k]} : NULL);
        assert_non_null(model->modes);
        assert_near(model->modes->mode[1].share, exact_share(), 1e-6);
        svmp_model_free(model);
    }
    svmp_model *vector =
        read_model(context,
                   "model { y[1:6] ~ dmnorm(m[], P[,])\n for (i in 1:6) { m[i] <- b * s[k]\n"
                   " for (j in 1:6) { P[i, j] <- equals(i, j) } }\n k ~ dcat(prior[])\n b ~ dnorm(0, 1 / 400) }",
                   slopes_data);
    assert_non_null(vector->modes);
    assert_near(vector->modes->mode[1].share, exact_share(), 1e-6);
    svmp_model_free(vector);
    svmp_model *few = read_model(
        context, "model { for (i in 1:2) { y[i] ~ dnorm(b * s[k], 1) }\n k ~ dcat(prior[])\n b ~ dnorm(0, 1 / 400) }",
        "y <- c(19.1, 20.3) s <- c(1, 2) prior <- c(0.3, 0.7)");
    assert_non_null(few->modes);
    assert_near(few->modes->mode[1].mean[0], 2 * 39.4 / (8 + 1 / variance), 1e-6);
    svmp_model_free(few);
    svmp_context_free(context);
}

/* Proposals with equal shares and too wide Gaussians: acceptance corrects both. */
static void distort(svmp_context *context, model_modes *modes) {
    for (size_t k = 0; k < 2; k++) {
        modes->mode[k].share = 0.5;
        modes->mode[k].root[0] *= 1.5;
    }
    assert_ok(svmp_modes_finish(context, modes));
}

/* Given the mode, x is normal: its mean and mean square have standard errors sd / sqrt(m) and var sqrt(2 / m). The
 * density is at most 1.7 times that of the proposed mixture, so that the distribution of a particle after 40 jumps
 * differs from the posterior by less than (1 - 1/1.7)^40. */
static void test_mode_jumps(void **state) {
    (void)state;
    enum { PARTICLES = 2000, LEAPS = 40 };
    svmp_context *context = test_context(1);
    svmp_model *model = two_slopes(context);
    backend *b = NULL;
    mode_jump *l = NULL;
    double *x, inside = 0, sum = 0, squares = 0;
    distort(context, model->modes);
    assert_ok(svmp_backend_create(&svmp_backend_ref, model, PARTICLES, 5, NULL, NULL, &b));
    assert_ok(svmp_mode_jump_create(b, model->modes, &l));
    assert_ok(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    for (size_t k = 0; k < PARTICLES; k++) x[k] = exact_mean(0);
    assert_ok(svmp_backend_commit(b, ARRAY_PARTICLES));
    for (size_t t = 0; t < LEAPS; t++) assert_ok(svmp_mode_jump_move(l, b, t));
    assert_ok(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    for (size_t k = 0; k < PARTICLES; k++) {
        const double from = x[k] - exact_mean(1);
        if (fabs(from) >= 3) continue;
        inside++;
        sum += from;
        squares += from * from;
    }
    const double share = exact_share(), square = 1 / (DATA * slope[1] * slope[1] + 1 / variance);
    assert_near(inside / PARTICLES, share, 4.5 * sqrt(share * (1 - share) / PARTICLES));
    assert_near(sum / inside, 0, 4.5 * sqrt(square / inside));
    assert_near(squares / inside / square, 1, 4.5 * sqrt(2 / inside));
    svmp_mode_jump_free(l);
    svmp_backend_free(b);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A start that has no density anywhere near the mean of its mode is an error. */
static void test_no_start(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = two_slopes(context);
    backend *b = NULL;
    mode_jump *l = NULL;
    double x[10];
    model->modes->mode[0].mean[0] = 1e200; /* whose square is infinite */
    model->modes->mode[0].share = model->modes->mode[1].share = 0.5;
    assert_ok(svmp_modes_finish(context, model->modes));
    assert_ok(svmp_backend_create(&svmp_backend_ref, model, 10, 5, NULL, NULL, &b));
    assert_ok(svmp_mode_jump_create(b, model->modes, &l));
    assert_int_equal(svmp_mode_jump_start(l, x), SVMP_NOT_FINITE);
    assert_string_equal(svmp_context_error(context), "Particle 1 cannot start: the log density is -inf at the mean of "
                                                     "its mode. Try another init.");
    svmp_mode_jump_free(l);
    svmp_backend_free(b);
    svmp_model_free(model);
    svmp_context_free(context);
}

static svmp_status read_and_jump(svmp_context *context, const svmp_data *data) {
    svmp_model *model = NULL;
    backend *b = NULL;
    mode_jump *l = NULL;
    svmp_status status = svmp_model_read_text(context, "m.bug", slopes, data, NULL, &model);
    if (status == SVMP_OK) assert_non_null(model->modes);
    if (status == SVMP_OK) status = svmp_backend_create(&svmp_backend_ref, model, 10, 5, NULL, NULL, &b);
    if (status == SVMP_OK) status = svmp_mode_jump_create(b, model->modes, &l);
    svmp_mode_jump_free(l);
    svmp_backend_free(b);
    svmp_model_free(model);
    return status;
}

static void test_allocations_may_fail(void **state) {
    (void)state;
    svmp_status status = SVMP_NO_MEMORY;
    for (long allowed = 1; status == SVMP_NO_MEMORY; allowed += 1 + allowed / 256) {
        scarce_memory memory = {1000000000};
        svmp_context *context = scarce_context(&memory);
        svmp_data *data = NULL;
        assert_ok(svmp_data_create(context, &data));
        assert_ok(svmp_data_read_text(data, "d.R", slopes_data, strlen(slopes_data)));
        memory.left = allowed;
        status = read_and_jump(context, data);
        memory.left = 1000000000;
        svmp_data_free(data);
        svmp_context_free(context);
    }
    assert_ok(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_means_and_shares),  cmocka_unit_test(test_no_modes),
        cmocka_unit_test(test_other_coordinates), cmocka_unit_test(test_mode_jumps),
        cmocka_unit_test(test_no_start),          cmocka_unit_test(test_allocations_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
