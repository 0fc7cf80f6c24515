/* Totals of discrete unknowns as unknowns: the density and its gradient are the same whether all terms are summed out
 * or the total and all terms but one. */
#include "unit/lowered.h"

static bool has_unknown(const lowered_model *model, const char *name) {
    for (size_t k = 0; k < model->summed.count; k++)
        if (strcmp(model->summed.unknowns[k].name, name) == 0) return true;
    return false;
}

static const struct total_case {
    const char *text, *dump, *total, *remainder;
} cases[] = {
    /* survivors and recruits */
    {"model { N[1] ~ dpois(l) T(, 9)\n for (t in 2:3) { S[t] ~ dbin(w, N[t-1])\n G[t] ~ dpois(g) T(, 6)\n"
     " N[t] <- S[t] + G[t] }\n for (t in 1:3) { y[t] ~ dbin(p, N[t]) }\n l ~ dgamma(2, 1)\n g ~ dgamma(2, 2)\n"
     " w ~ dbeta(2, 2)\n p ~ dbeta(2, 2) }",
     "y <- c(3, 2, 4)", "N.2", "G.2"},
    /* two terms that depend on the previous total, known numbers among the terms, and sum() */
    {"model { a[1] ~ dpois(3) T(, 5)\n b[1] ~ dbin(0.5, 4)\n for (t in 2:2) { a[t] ~ dpois(f * n[t-1]) T(, 7)\n"
     " b[t] ~ dbin(s, n[t-1]) }\n for (t in 1:2) { n[t] <- sum(a[t:t]) + b[t] + 1\n y[t] ~ dnorm(n[t], 1) }\n"
     " f ~ dgamma(2, 2)\n s ~ dbeta(2, 2) }",
     "y <- c(4.2, 5.1)", "n.2", "b.2"},
};

static void test_the_same_density(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        lowered_test plain, other;
        lower_as(&plain, cases[c].text, cases[c].dump, NULL, &(choices){.centring = 1});
        lower_as(&other, cases[c].text, cases[c].dump, NULL, &(choices){.centring = 1, .totals = true});
        assert_true(!has_unknown(plain.model, cases[c].total) && has_unknown(plain.model, cases[c].remainder));
        assert_true(has_unknown(other.model, cases[c].total) && !has_unknown(other.model, cases[c].remainder));
        assert_int_equal(plain.model->variables, other.model->variables);
        for (int turn = 0; turn < 4; turn++) {
            double x[4];
            for (size_t i = 0; i < plain.model->variables; i++) x[i] = 0.7 * sin(1.3 * turn + 2.1 * (double)i);
            assert_near(log_density(&other, x), log_density(&plain, x), 1e-10);
            for (size_t i = 0; i < plain.model->variables; i++) assert_near(other.gradient[i], plain.gradient[i], 1e-9);
        }
        end(&plain);
        end(&other);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_same_density)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
