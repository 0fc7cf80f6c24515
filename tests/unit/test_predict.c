/* Predictions: what is derived of draws, what is drawn given them, what is refused; and draws from the prior. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "support.h"

static const char text[] = "model {\n"
                           "  for (i in 1:N) { y[i] ~ dnorm(mu[i], tau); mu[i] <- a + u[g[i]] }\n"
                           "  for (j in 1:J) { u[j] ~ dnorm(0, 4) }\n"
                           "  a ~ dnorm(1, 1)\n"
                           "  tau ~ dgamma(2, 2)\n"
                           "}\n";

/* ---- models and draws -------------------------------------------------------------------------------------------- */

typedef struct one_array {
    const char *name;
    size_t count; /* 0: a number */
    double values[4];
} one_array;

static svmp_data *make_data(svmp_context *context, size_t count, const one_array *arrays) {
    svmp_data *data = NULL;
    assert_ok(svmp_data_create(context, &data));
    for (size_t k = 0; k < count; k++)
        assert_ok(svmp_data_add(data, arrays[k].name, arrays[k].count > 0, &arrays[k].count, arrays[k].values));
    return data;
}

enum { FITTED = 4, ARRAYS = 4 };
static const one_array fitted[ARRAYS] = {{"N", 0, {3}}, {"J", 0, {2}}, {"g", 3, {1, 1, 2}}, {"y", 3, {1, 2, 3}}};

/* `count` draws of u.1, u.2, a and tau; a is l/count, tau is 1 + l. */
static svmp_particles *make_draws(svmp_context *context, size_t count) {
    static const char *const names[FITTED] = {"u.1", "u.2", "a", "tau"};
    svmp_particles *draws = NULL;
    assert_ok(svmp_particles_create(context, FITTED, count, NULL, &draws));
    double *values = svmp_particles_values(draws);
    for (size_t l = 0; l < count; l++) {
        values[l] = -1 + test_random(1, l);
        values[count + l] = 1 + test_random(2, l);
        values[2 * count + l] = (double)l / (double)count;
        values[3 * count + l] = 1 + (double)l;
    }
    for (size_t k = 0; k < FITTED; k++) assert_ok(svmp_particles_set_name(draws, k, names[k]));
    return draws;
}

static svmp_status read(svmp_context *context, const char *model_text, size_t count, const one_array *arrays,
                        svmp_reading how, svmp_model **model) {
    svmp_data *data = make_data(context, count, arrays);
    const svmp_status status = svmp_model_read_text(context, NULL, model_text, data, &how, model);
    svmp_data_free(data);
    return status;
}

static svmp_particles *predict(svmp_context *context, size_t count, const one_array *arrays, svmp_reading how,
                               uint64_t seed) {
    svmp_model *model = NULL;
    svmp_particles *made = NULL;
    assert_ok(read(context, text, count, arrays, how, &model));
    assert_ok(svmp_model_predict(model, how.given, seed, &made));
    svmp_model_free(model);
    return made;
}

static const double *row(svmp_particles *particles, const char *name) {
    const size_t count = svmp_particles_count(particles);
    for (size_t i = 0; i < svmp_particles_variables(particles); i++)
        if (strcmp(svmp_particles_name(particles, i), name) == 0) return svmp_particles_values(particles) + i * count;
    fail_msg("there is no %s", name);
    return NULL;
}

/* ---- from draws -------------------------------------------------------------------------------------------------- */

/* Functions of the unknowns are computed for each draw, and nothing else is returned. */
static void derived_values_are_those_of_the_draws(void **unused) {
    (void)unused;
    enum { N = 50 };
    svmp_context *context = test_context(1);
    svmp_particles *draws = make_draws(context, N);
    const svmp_reading how = {.given = draws,
                              .monitors = "mu[3]",
                              .statements = "ratio <- exp(a); for (j in 1:J) { d[j] <- u[j] - u[1] }\n# ends here"};
    svmp_particles *made = predict(context, ARRAYS, fitted, how, 1);
    const double *given = svmp_particles_values(draws);
    assert_int_equal(svmp_particles_variables(made), 4);
    for (size_t l = 0; l < N; l++) {
        assert_near(row(made, "ratio")[l], exp(given[2 * N + l]), 1e-15);
        assert_near(row(made, "d.2")[l], given[N + l] - given[l], 1e-15);
        assert_near(row(made, "mu.3")[l], given[2 * N + l] + given[N + l], 1e-15);
        assert_true(row(made, "d.1")[l] == 0);
    }
    svmp_particles_free(made);
    svmp_particles_free(draws);
    svmp_context_free(context);
}

/* New rows have the mean and sd of their draw; a group that the draws lack has those of its prior. */
static void new_rows_are_drawn_given_the_draws(void **unused) {
    (void)unused;
    enum { N = 20000 };
    static const one_array fresh[] = {{"N", 0, {2}}, {"J", 0, {3}}, {"g", 2, {2, 3}}};
    svmp_context *context = test_context(2);
    svmp_particles *draws = make_draws(context, N), *again = NULL;
    const svmp_reading how = {.given = draws};
    svmp_particles *made = predict(context, 3, fresh, how, 7);
    const double *given = svmp_particles_values(draws);
    double known[2] = {0}, group[2] = {0};
    assert_int_equal(svmp_particles_variables(made), 3);
    for (size_t l = 0; l < N; l++) {
        const double sd = 1 / sqrt(given[3 * N + l]);
        const double z[2] = {(row(made, "y.1")[l] - given[2 * N + l] - given[N + l]) / sd, row(made, "u.3")[l] * 2};
        for (int k = 0; k < 2; k++) known[k] += pow(z[0], k + 1) / N, group[k] += pow(z[1], k + 1) / N;
        const double other = row(made, "y.2")[l] - given[2 * N + l] - row(made, "u.3")[l];
        assert_true(fabs(other) < 6 * sd);
    }
    assert_near(known[0], 0, 5 / sqrt(N));
    assert_near(group[0], 0, 5 / sqrt(N));
    assert_near(known[1], 1, 5 * sqrt(2.0 / N));
    assert_near(group[1], 1, 5 * sqrt(2.0 / N));
    again = predict(context, 3, fresh, how, 7);
    assert_memory_equal(svmp_particles_values(again), svmp_particles_values(made), 3 * N * sizeof(double));
    svmp_particles_free(again);
    svmp_particles_free(made);
    svmp_particles_free(draws);
    svmp_context_free(context);
}

/* With other data, responses are drawn again, also those that the draws name; unknowns that others depend on are not.
 */
static void fresh_data_have_fresh_responses(void **unused) {
    (void)unused;
    enum { N = 2000 };
    static const char line[] =
        "model { for (i in 1:N) { mu[i] <- b * x[i]; y[i] ~ dnorm(mu[i], 4) }\n"
        "b ~ dnorm(0, 1); z ~ dnorm(b, 1); p[1] ~ dnorm(b, 1); for (t in 2:3) { p[t] ~ dnorm(p[t-1], 1) } }";
    static const one_array data[] = {{"N", 0, {2}}, {"x", 2, {100, 200}}};
    static const char *const names[] = {"b", "y.1", "z", "p.2"};
    svmp_context *context = test_context(1);
    svmp_particles *draws = NULL, *made = NULL;
    svmp_model *model = NULL;
    assert_ok(svmp_particles_create(context, 4, N, NULL, &draws));
    for (size_t i = 0; i < 4; i++) {
        assert_ok(svmp_particles_set_name(draws, i, names[i]));
        for (size_t l = 0; l < N; l++) svmp_particles_values(draws)[i * N + l] = 1;
    }
    assert_int_equal(read(context, line, 2, data, (svmp_reading){.given = draws}, &model), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "the draws have no 'p[1]'"));
    assert_ok(read(context, line, 2, data, (svmp_reading){.given = draws, .fresh = 1}, &model));
    assert_ok(svmp_model_predict(model, draws, 1, &made));
    assert_int_equal(svmp_particles_variables(made), 2 + 1 + 3);
    double mean = 0;
    for (size_t l = 0; l < N; l++) mean += row(made, "y.1")[l] / N;
    assert_near(mean, 100, 1e-3);
    svmp_particles_free(made);
    svmp_particles_free(draws);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A mixture's labels are drawn given the draws and the data: z = 2 has odds of 9 exp(-0) / exp(-2). */
static void discrete_unknowns_follow_the_data(void **unused) {
    (void)unused;
    enum { N = 20000 };
    static const char mixture[] = "model { z ~ dcat(p[]); p[1] <- 0.1; p[2] <- 0.9; m[1] <- 0; m[2] <- c\n"
                                  "y ~ dnorm(m[z], 1); c ~ dnorm(0, 1) }";
    static const one_array data[] = {{"y", 0, {2}}};
    svmp_context *context = test_context(1);
    svmp_particles *draws = NULL, *made = NULL;
    svmp_model *model = NULL;
    assert_ok(svmp_particles_create(context, 1, N, NULL, &draws));
    assert_ok(svmp_particles_set_name(draws, 0, "c"));
    for (size_t l = 0; l < N; l++) svmp_particles_values(draws)[l] = 2;
    assert_ok(
        read(context, mixture, 1, data, (svmp_reading){.given = draws, .statements = "second <- z == 2"}, &model));
    assert_ok(svmp_model_predict(model, draws, 1, &made));
    double mean = 0;
    for (size_t l = 0; l < N; l++) mean += row(made, "second")[l] / N;
    const double p = 9 / (9 + exp(-2));
    assert_near(mean, p, 5 * sqrt(p * (1 - p) / N));
    svmp_particles_free(made);
    svmp_particles_free(draws);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* An array of one element is called x or x.1. */
static void an_array_of_one_is_found(void **unused) {
    (void)unused;
    static const one_array one[] = {{"N", 0, {1}}, {"J", 0, {1}}, {"g", 1, {1}}};
    svmp_context *context = test_context(1);
    svmp_particles *draws = make_draws(context, 10);
    svmp_particles *made = predict(context, 3, one, (svmp_reading){.given = draws, .statements = "v <- u[1]"}, 1);
    assert_memory_equal(row(made, "v"), svmp_particles_values(draws), 10 * sizeof(double));
    svmp_particles_free(made);
    svmp_particles_free(draws);
    svmp_context_free(context);
}

/* One parsed text serves with any statements: each reading forgets those before. */
static void a_parsed_text_forgets_statements(void **unused) {
    (void)unused;
    svmp_context *context = test_context(1);
    svmp_particles *draws = make_draws(context, 10);
    svmp_data *data = make_data(context, ARRAYS, fitted);
    svmp_text *parsed = NULL;
    static const char *const statements[] = {"r <- exp(a)", "r <- 2 * a; s <- r", NULL, "r <-", "r <- a"};
    static const size_t variables[] = {1, 2, 0, 0, 1};
    assert_ok(svmp_text_parse(context, NULL, text, &parsed));
    for (size_t k = 0; k < sizeof variables / sizeof *variables; k++) {
        svmp_model *model = NULL;
        svmp_particles *made = NULL;
        const svmp_reading how = {.given = draws, .statements = statements[k]};
        const svmp_status status = svmp_text_model(parsed, data, &how, &model);
        assert_int_equal(status, k == 3 ? SVMP_BAD_INPUT : SVMP_OK);
        if (model)
            assert_int_equal(svmp_model_predict(model, draws, 1, &made), variables[k] ? SVMP_OK : SVMP_BAD_INPUT);
        if (made) assert_int_equal(svmp_particles_variables(made), variables[k]);
        svmp_particles_free(made);
        svmp_model_free(model);
    }
    svmp_text_free(parsed);
    svmp_data_free(data);
    svmp_particles_free(draws);
    svmp_context_free(context);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void bad_predictions_are_refused(void **unused) {
    (void)unused;
    static const char pair[] = "model { x[1:2] ~ dmnorm(m, S); m[1] <- 0; m[2] <- 0; S[1,1] <- 1; S[1,2] <- 0\n"
                               "S[2,1] <- 0; S[2,2] <- 1; f ~ dflat(); tau ~ dgamma(1, 1) }";
    static const char flat[] = "model { y ~ dnorm(a, tau); a ~ dnorm(f, 1); f ~ dflat(); tau ~ dgamma(1, 1) }";
    static const char named[] = "model { y ~ dnorm(a, tau); a ~ dnorm(0, 1); tau ~ dgamma(1, 1); u.1 <- a }";
    static const one_array new_group[] = {{"N", 0, {1}}, {"J", 0, {3}}, {"g", 1, {3}}, {"y", 1, {1}}};
    static const struct {
        const char *text, *statements;
        const one_array *data;
        const char *error;
    } cases[] = {
        {text, "q <- exp(b)", fitted, "<statements>:1:10: error: 'b' "},
        {text, "q <- a\n\n  r <- }\n s <- a", fitted, "<statements>:3:8: error: expected an expression, not '}'"},
        {text, "q <- a } v <- a", fitted, "<statements>:1:8: error: expected a statement, not '}'"},
        {text, "a <- 3", fitted, "<statements>:1:1: error: 'a' is already defined on line 4"},
        {text, "model { q <- a }", fitted, "<statements>:1:1: error: expected a statement, not 'model'"},
        {text, NULL, new_group, "the draws have no 'u[3]', on which something depends that is observed"},
        {pair, NULL, NULL, "the draws have no 'f', and its distribution cannot be drawn from"},
        {flat, NULL, NULL, "the draws have no 'f', on which something depends that is observed or that they have"},
        {named, NULL, NULL, NULL},
    };
    svmp_context *context = test_context(1);
    svmp_particles *draws = make_draws(context, 5), *made = NULL;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        svmp_model *model = NULL;
        const svmp_reading how = {.given = draws, .statements = cases[k].statements};
        const svmp_status status = read(context, cases[k].text, cases[k].data ? ARRAYS : 0, cases[k].data, how, &model);
        assert_int_equal(status, cases[k].error ? SVMP_BAD_INPUT : SVMP_OK);
        if (cases[k].error && !strstr(svmp_context_error(context), cases[k].error))
            fail_msg("case %zu: %s", k, svmp_context_error(context));
        svmp_model_free(model);
    }
    /* draws that lack what the model was read with; a model to infer */
    svmp_model *model = NULL;
    svmp_particles *other = NULL;
    assert_ok(read(context, text, ARRAYS, fitted, (svmp_reading){.given = draws}, &model));
    assert_ok(svmp_particles_create(context, 1, 5, NULL, &other));
    assert_int_equal(svmp_model_predict(model, other, 1, &made), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "The draws have no 'u.1'"));
    assert_int_equal(svmp_model_predict(model, NULL, 1, &made), SVMP_BAD_CALL);
    assert_int_equal(svmp_model_predict(model, draws, 1, NULL), SVMP_BAD_CALL);
    assert_int_equal(svmp_model_predict(NULL, draws, 1, &made), SVMP_BAD_CALL);
    svmp_model_free(model);
    model = test_random_gaussian(context, 3, 0.5, 1, 1);
    assert_int_equal(svmp_model_predict(model, draws, 1, &made), SVMP_UNSUPPORTED);
    svmp_model_free(model);
    svmp_particles_free(other);
    svmp_particles_free(draws);
    svmp_context_free(context);
}

/* Of a node with several values, the draws have all or none. */
static void parts_of_nodes_are_refused(void **unused) {
    (void)unused;
    static const char pair[] = "model { x[1:2] ~ dmnorm(m, S); m[1] <- 0; m[2] <- 0; S[1,1] <- 1; S[1,2] <- 0\n"
                               "S[2,1] <- 0; S[2,2] <- 1; s <- sum(x) }";
    svmp_context *context = test_context(1);
    svmp_particles *draws = NULL;
    svmp_model *model = NULL;
    assert_ok(svmp_particles_create(context, 2, 5, NULL, &draws));
    assert_ok(read(context, pair, 0, NULL, (svmp_reading){.given = draws}, &model));
    svmp_model_free(model);
    model = NULL;
    assert_ok(svmp_particles_set_name(draws, 1, "z"));
    assert_int_equal(read(context, pair, 0, NULL, (svmp_reading){.given = draws}, &model), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "the draws have no 'x[1:2]', but a part of it"));
    svmp_particles_free(draws);
    svmp_context_free(context);
}

/* ---- from the prior ---------------------------------------------------------------------------------------------- */

/* tau ~ dgamma(2, 2) has mean 1 and variance 1/2; y is a + u + e, of variance 1 + 1/4 + E[1/tau] = 13/4. */
static void the_prior_has_its_moments(void **unused) {
    (void)unused;
    enum { N = 40000 };
    svmp_context *context = test_context(2);
    svmp_model *model = NULL;
    svmp_particles *made = NULL;
    assert_ok(read(context, text, ARRAYS, fitted, (svmp_reading){.simulated = 1, .monitors = "mu"}, &model));
    assert_ok(svmp_model_simulate(model, N, 1, &made));
    assert_int_equal(svmp_particles_variables(made), 3 + 3 + 2 + 2);
    double tau[2] = {0}, mu[2] = {0}, inside = 0;
    for (size_t l = 0; l < N; l++) {
        const double t = row(made, "tau")[l], m = row(made, "mu.2")[l];
        assert_near(m, row(made, "a")[l] + row(made, "u.1")[l], 1e-12);
        for (int k = 0; k < 2; k++) tau[k] += pow(t - 1, k + 1) / N, mu[k] += pow(m - 1, k + 1) / N;
        inside += fabs((row(made, "y.2")[l] - m) * sqrt(t)) < 1 ? 1.0 / N : 0;
    }
    assert_near(tau[0], 0, 5 * sqrt(0.5 / N));
    assert_near(tau[1], 0.5, 0.05);
    assert_near(mu[0], 0, 5 * sqrt(1.25 / N));
    assert_near(mu[1], 1.25, 5 * 1.25 * sqrt(2.0 / N));
    assert_near(inside, 0.6826895, 5 * sqrt(0.25 / N));
    svmp_particles_free(made);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void some_priors_cannot_be_drawn_from(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"model { y ~ dnorm(f, 1); f ~ dflat() }", "The prior of 'f' cannot be drawn from: it is improper."},
        {"model { y ~ dnorm(a, 1); a ~ dnorm(0, 1); factor(-a^4) }", "A model with factor() cannot be drawn from"},
        {"model { y ~ dbern(p); p <- 0.3 }", NULL},
        {"model { z ~ dbern(0.3); y ~ dnorm(z, 1) }", NULL},
    };
    static const one_array data[] = {{"y", 0, {1}}};
    svmp_context *context = test_context(1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        svmp_model *model = NULL;
        svmp_particles *made = NULL;
        assert_ok(read(context, cases[k].text, 1, data, (svmp_reading){.simulated = 1}, &model));
        const svmp_status status = svmp_model_simulate(model, 10, 1, &made);
        assert_int_equal(status, cases[k].error ? SVMP_UNSUPPORTED : SVMP_OK);
        if (cases[k].error) assert_non_null(strstr(svmp_context_error(context), cases[k].error));
        if (made) assert_non_null(row(made, "y")); /* and no auxiliary.number */
        if (made) assert_int_equal(svmp_particles_variables(made), k == 2 ? 1 : 2);
        assert_int_equal(svmp_model_simulate(model, 0, 1, &made), SVMP_BAD_CALL);
        svmp_particles_free(made);
        svmp_model_free(model);
    }
    svmp_context_free(context);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static svmp_status attempt(svmp_context *context) {
    static const char *const names[FITTED] = {"u.1", "u.2", "a", "tau"};
    svmp_data *data = NULL;
    svmp_particles *draws = NULL, *made = NULL;
    svmp_model *model = NULL;
    double values[2 * FITTED] = {1, 1, 1, 1, 1, 1, 1, 1};
    svmp_status status = svmp_data_create(context, &data);
    for (size_t k = 0; k < ARRAYS && status == SVMP_OK; k++)
        status = svmp_data_add(data, fitted[k].name, fitted[k].count > 0, &fitted[k].count, fitted[k].values);
    if (status == SVMP_OK) status = svmp_particles_create(context, FITTED, 2, values, &draws);
    for (size_t k = 0; k < FITTED && status == SVMP_OK; k++) status = svmp_particles_set_name(draws, k, names[k]);
    const svmp_reading how = {.given = draws, .statements = "r <- exp(a)", .monitors = "posterior_predictive"};
    if (status == SVMP_OK) status = svmp_model_read_text(context, NULL, text, data, &how, &model);
    if (status == SVMP_OK) status = svmp_model_predict(model, draws, 1, &made);
    svmp_particles_free(made);
    svmp_model_free(model);
    svmp_particles_free(draws);
    svmp_data_free(data);
    return status;
}

/* Whichever allocation fails, nothing leaks and the status says so. */
static void every_allocation_may_fail(void **unused) {
    (void)unused;
    for (long k = 0;; k++) {
        scarce_memory memory = {.left = LONG_MAX};
        svmp_context *context = scarce_context(&memory);
        memory.left = k;
        const svmp_status status = attempt(context);
        svmp_context_free(context);
        if (status == SVMP_OK) break;
        assert_int_equal(status, SVMP_NO_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derived_values_are_those_of_the_draws),
        cmocka_unit_test(new_rows_are_drawn_given_the_draws),
        cmocka_unit_test(fresh_data_have_fresh_responses),
        cmocka_unit_test(discrete_unknowns_follow_the_data),
        cmocka_unit_test(an_array_of_one_is_found),
        cmocka_unit_test(a_parsed_text_forgets_statements),
        cmocka_unit_test(bad_predictions_are_refused),
        cmocka_unit_test(parts_of_nodes_are_refused),
        cmocka_unit_test(the_prior_has_its_moments),
        cmocka_unit_test(some_priors_cannot_be_drawn_from),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
