/* Multivariate normal densities with a computed matrix against the same text with all formulas pasted: densities and
 * scores, of covariances and precisions, also where they are not positive definite. */
#include "files.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/compile.h"
#include "model/computed.h"

static svmp_context *context;

enum { P = 22, N = 11 };

/* Every text reads x[1:22], y[1:22] and z[1:22]. */
static const char *const texts[] = {
    /* a Gaussian process */
    "model { for (i in 1:P) { zero[i] <- 0\n"
    "for (j in 1:P) { V[i,j] <- alpha^2 * exp(-pow((x[i] - x[j]) / rho, 2) / 2) + equals(i, j) * sigma^2 } }\n"
    "y[1:P] ~ dmnorm.vcov(zero[], V[,]); rho ~ dgamma(5, 5); alpha ~ dnorm(0, 1)T(0,); sigma ~ dunif(0.1, 1) }",
    /* a mean that is computed, an entry that is known, two densities of one matrix */
    "model { for (i in 1:P) { m[i] <- a + b * x[i]; for (j in 1:P) { V[i,j] <- ifelse(equals(abs(i - j), 2), 0.01, \n"
    "s * exp(-abs(x[i] - x[j]) / 0.5) + equals(i, j)) } }\n"
    "y[1:P] ~ dmnorm.vcov(m[], V[,]); z[1:P] ~ dmnorm.vcov(x[], V[,])\n"
    "a ~ dnorm(0, 1); b ~ dnorm(0, 1); s ~ dunif(0, 1) }",
    /* a precision matrix, and unknown values, which are scaled */
    "model { for (i in 1:P) { for (j in 1:P) { Q[i,j] <- tau * (equals(i, j) * 2 - rho * equals(abs(i - j), 1)) } }\n"
    "f[1:P] ~ dmnorm(x[], Q[,]); for (i in 1:P) { y[i] ~ dnorm(s * f[i], 4) }\n"
    "tau ~ dgamma(2, 2); rho ~ dunif(0, 1.5); s ~ dnorm(1, 1) }",
};

static svmp_data *make_data(void) {
    svmp_data *data = NULL;
    double x[P], y[P], z[P], count = P;
    const size_t p = P;
    for (size_t i = 0; i < P; i++) {
        x[i] = 0.2 * (double)i;
        y[i] = test_random(1, i);
        z[i] = test_random(2, i);
    }
    assert_ok(svmp_data_create(context, &data));
    assert_ok(svmp_data_add(data, "x", 1, &p, x));
    assert_ok(svmp_data_add(data, "y", 1, &p, y));
    assert_ok(svmp_data_add(data, "z", 1, &p, z));
    assert_ok(svmp_data_add(data, "P", 0, NULL, &count));
    return data;
}

static svmp_status try_reading(svmp_context *with, const char *text, const svmp_data *data, double store_above,
                               svmp_model **model) {
    const model_files files = {.name = "model.bug", .text = text, .data = data};
    parsed_model *parsed = NULL;
    svmp_status status = svmp_parse(with, &files, &parsed);
    if (status == SVMP_OK)
        status = svmp_compile(parsed, &(choices){.centring = 1, .store_above = store_above}, NULL, NULL, model);
    svmp_parsed_free(parsed);
    return status;
}

static size_t stored_rows(const svmp_model *model) {
    size_t rows = 0;
    for (size_t g = 0; g < model->group_count; g++)
        for (size_t k = 0; svmp_computed_group_is(&model->groups[g]) && k < model->groups[g].instances; k++)
            rows += svmp_computed_group_rows(&model->groups[g], k);
    return rows;
}

static void compare(const svmp_model *pasted, const svmp_model *stored) {
    const size_t d = pasted->graph->variables;
    double *x = malloc(d * N * sizeof *x), *score[2], density[2][N];
    size_t finite = 0;
    for (size_t k = 0; k < d * N; k++) x[k] = 0.5 * test_random(5, k);
    for (int which = 0; which < 2; which++) {
        score[which] = malloc(d * N * sizeof **score);
        assert_ok(svmp_model_evaluate(which ? stored : pasted, N, x, density[which], score[which]));
    }
    for (size_t l = 0; l < N; l++) {
        assert_int_equal(isfinite(density[0][l]), isfinite(density[1][l]));
        if (!isfinite(density[0][l])) continue;
        finite++;
        assert_near(density[1][l], density[0][l], 1e-8 * (1 + fabs(density[0][l])));
        for (size_t i = 0; i < d; i++)
            assert_near(score[1][i * N + l], score[0][i * N + l], 1e-6 * (1 + fabs(score[0][i * N + l])));
    }
    assert_true(finite > 2);
    free(score[0]);
    free(score[1]);
    free(x);
}

static void test_texts(void **state) {
    (void)state;
    svmp_data *data = make_data();
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        svmp_model *pasted = NULL, *stored = NULL;
        assert_ok(try_reading(context, texts[k], data, INFINITY, &pasted));
        assert_ok(try_reading(context, texts[k], data, 0, &stored));
        assert_int_equal(stored_rows(pasted), 0);
        assert_true(stored_rows(stored) >= P * (P - 1) / 2);
        compare(pasted, stored);
        svmp_model_free(pasted);
        svmp_model_free(stored);
    }
    svmp_data_free(data);
}

/* Allocations fail in turn; the model can still be freed. */
static void test_memory(void **state) {
    (void)state;
    svmp_status status = SVMP_NO_MEMORY;
    svmp_data *data = make_data();
    for (long allowed = 0; status == SVMP_NO_MEMORY; allowed += 1 + allowed / 50) {
        scarce_memory memory = {1};
        svmp_context *scarce = scarce_context(&memory);
        svmp_model *model = NULL;
        memory.left = allowed;
        status = try_reading(scarce, texts[1], data, 0, &model);
        if (status != SVMP_OK) assert_non_null(strstr(svmp_context_error(scarce), "Out of memory"));
        svmp_model_free(model);
        svmp_context_free(scarce);
    }
    assert_ok(status);
    svmp_data_free(data);
}

static int setup(void **state) {
    (void)state;
    context = test_context(2);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    svmp_context_free(context);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
