/* Totals of discrete unknowns that are unknowns by themselves: the density and its gradient are the same, whether the
 * terms are summed out or the total and all terms but one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/lower.h"
#include "unit/support.h"

static lowered_model *lower(svmp_context *context, const char *text, const char *dump, bool totals) {
    const lower_request request = {.centring = 1, .totals = totals};
    lowered_model *made = NULL;
    text_source source = {0};
    data_set *data = NULL;
    assert_ok(svmp_source_copy(context, "m.bug", text, strlen(text), &source));
    assert_ok(svmp_data_create(context, &data));
    svmp_status status = svmp_data_read_text(data, "d.R", dump, strlen(dump));
    if (status == SVMP_OK) status = svmp_lower(context, &source, data, &request, &made);
    if (status != SVMP_OK) fail_msg("%s: %s", text, svmp_context_error(context));
    svmp_data_free(data);
    svmp_source_free(context, &source);
    return made;
}

static double log_density(const lowered_model *model, const double *x, double *slope) {
    double total = 0;
    for (size_t i = 0; i < model->variables; i++) slope[i] = 0;
    for (size_t g = 0; g < model->group_count; g++) {
        const factor_group *group = &model->groups[g];
        double *value = calloc(group->instances, sizeof *value);
        double *gradient = calloc(group->instances * group->slots + 1, sizeof *gradient);
        void *scratch = malloc(group->kind->scratch(group, 1) + 1);
        assert_int_equal(group->kind->evaluate(group, 0, group->instances, 1, x, scratch, value, gradient), 0);
        for (size_t k = 0; k < group->instances; k++) {
            total += value[k];
            for (size_t j = 0; j < group->slots; j++)
                slope[group->variables[k * group->slots + j]] += gradient[k * group->slots + j];
        }
        free(value);
        free(gradient);
        free(scratch);
    }
    return total;
}

static bool has_unknown(const lowered_model *model, const char *name) {
    for (size_t k = 0; k < model->summed.count; k++)
        if (strcmp(model->summed.unknowns[k].name, name) == 0) return true;
    return false;
}

static const struct total_case {
    const char *text, *dump, *total, *remainder;
} cases[] = {
    /* those that survive, and those that are added */
    {"model { N[1] ~ dpois(l) T(, 9)\n for (t in 2:3) { S[t] ~ dbin(w, N[t-1])\n G[t] ~ dpois(g) T(, 6)\n"
     " N[t] <- S[t] + G[t] }\n for (t in 1:3) { y[t] ~ dbin(p, N[t]) }\n l ~ dgamma(2, 1)\n g ~ dgamma(2, 2)\n"
     " w ~ dbeta(2, 2)\n p ~ dbeta(2, 2) }",
     "y <- c(3, 2, 4)", "N.2", "G.2"},
    /* two terms that depend on the total before them, known numbers among the terms, and sum() */
    {"model { a[1] ~ dpois(3) T(, 5)\n b[1] ~ dbin(0.5, 4)\n for (t in 2:2) { a[t] ~ dpois(f * n[t-1]) T(, 7)\n"
     " b[t] ~ dbin(s, n[t-1]) }\n for (t in 1:2) { n[t] <- sum(a[t:t]) + b[t] + 1\n y[t] ~ dnorm(n[t], 1) }\n"
     " f ~ dgamma(2, 2)\n s ~ dbeta(2, 2) }",
     "y <- c(4.2, 5.1)", "n.2", "b.2"},
};

static void test_the_same_density(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        svmp_context *context = test_context(1);
        lowered_model *plain = lower(context, cases[c].text, cases[c].dump, false),
                      *other = lower(context, cases[c].text, cases[c].dump, true);
        assert_true(!has_unknown(plain, cases[c].total) && has_unknown(plain, cases[c].remainder));
        assert_true(has_unknown(other, cases[c].total) && !has_unknown(other, cases[c].remainder));
        assert_int_equal(plain->variables, other->variables);
        for (int turn = 0; turn < 4; turn++) {
            double x[4], one[4], two[4];
            for (size_t i = 0; i < plain->variables; i++) x[i] = 0.7 * sin(1.3 * turn + 2.1 * (double)i);
            assert_near(log_density(other, x, two), log_density(plain, x, one), 1e-10);
            for (size_t i = 0; i < plain->variables; i++) assert_near(two[i], one[i], 1e-9);
        }
        svmp_lowered_free(plain);
        svmp_lowered_free(other);
        svmp_context_free(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_same_density)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
