/* A parsed model is immutable: models compiled from it in any order, with any choices, also after a refused
 * compilation, equal those of separate parses. */
#include <math.h>
#include <string.h>

#include "lang/compile.h"
#include "model/fingerprint.h"
#include "model/natural_values.h"
#include "support.h"

static svmp_context *context;

/* Texts that exercise the compilation: numbers that depend on data only, chains, totals, unbounded counts, monitors,
 * leaves, recursions, nodes in other coordinates; and texts with only discrete unknowns. */
static const struct case_text {
    const char *text, *monitors;
} cases[] = {
    {"data { for (i in 1:length(y)) { z[i] <- y[i] - mean(y) } }\n"
     "model { for (i in 1:length(y)) { m[i] <- a * z[i] + sd(y)\n y[i] ~ dnorm(m[i], t) }\n a ~ dnorm(0, 1)\n"
     " t ~ dgamma(1, 1)\n p ~ dnorm(m[1], t) }",
     "m,log_lik,deviance,posterior_predictive"},
    {"model { x[1] ~ dnorm(0, 1)\n for (i in 2:4) { x[i] ~ dnorm(x[i-1], t) }\n for (i in 1:4) { e[i] ~ dnorm(u, t)\n"
     " y[i] ~ dnorm(x[i] + e[i], 1) }\n u ~ dnorm(0, 1)\n t ~ dgamma(1, 1) }",
     NULL},
    {"model { N[1] ~ dpois(l)\n for (t in 2:3) { S[t] ~ dbin(w, N[t-1])\n G[t] ~ dpois(g)\n N[t] <- S[t] + G[t] }\n"
     " for (t in 1:3) { k[t] ~ dbin(p, N[t]) }\n l ~ dgamma(2, 1)\n g ~ dgamma(2, 2)\n w ~ dbeta(2, 2)\n"
     " p ~ dbeta(2, 2)\n for (i in 1:4) { y[i] ~ dnorm(l, 1) } }",
     "N"},
    {"model { h[1] <- a\n for (i in 2:4) { h[i] <- a + b * h[i-1] + 0.1 * y[i-1]^2 }\n"
     " for (i in 1:4) { y[i] ~ dnorm(0, 1 / h[i]) }\n a ~ dgamma(2, 2)\n b ~ dunif(0, 1)\n c ~ dcat(q[])\n"
     " k[1] ~ dpois(c)\n for (j in 1:3) { q[j] <- 1 / 3 } }",
     "h"},
    {"model { c ~ dcat(q[])\n for (j in 1:3) { q[j] <- 1 / 3 }\n for (i in 1:4) { y[i] ~ dnorm(c, 1) } }",
     "posterior_predictive"},
    {"model { c ~ dbern(0.3)\n d ~ dbin(0.5, c + 1) }", NULL},
};

static const choices ways[] = {{.centring = 1, .short_sums = true, .small_tables = true},
                               {.centring = 0, .store_above = -1},
                               {.centring = 1, .totals = true, .short_sums = true},
                               {.centring = 1, .ends = (const uint32_t[]){30, 9, 9, 9, 9}},
                               {.centring = 1, .store_above = INFINITY},
                               {.centring = 0.5, .fixed = (const uint32_t[]){1, 1, 1, 1, 1}}};

enum { CASES = sizeof cases / sizeof *cases, WAYS = sizeof ways / sizeof *ways, MOST_TEXT = 4096 };

/* All properties of a model and of the report. */
typedef struct summary {
    svmp_status status;
    bool sum_refused;
    fingerprint taken;
    size_t outputs, observed;
    char said[MOST_TEXT];
} summary;

static void keep_error(svmp_status status, const char *message, void *user_data) {
    char *said = user_data;
    (void)status;
    strncat(said, message, MOST_TEXT - strlen(said) - 1);
}

static void keep_log(svmp_log_level level, const char *message, void *user_data) {
    keep_error(level == SVMP_LOG_INFO ? SVMP_OK : SVMP_BAD_INPUT, message, user_data);
}

static summary compile(const parsed_model *parsed, const choices *made) {
    summary result = {0};
    svmp_model *model = NULL;
    compile_report report = {0};
    assert_ok(svmp_context_set_error(context, keep_error, result.said));
    assert_ok(svmp_context_set_log(context, keep_log, result.said));
    result.status = svmp_compile(parsed, made, NULL, &report, &model);
    assert_int_equal(result.said[0], '\0'); /* nothing is reported before the caller does so */
    result.sum_refused = report.sum_refused;
    svmp_compile_report(context, &report);
    svmp_compile_report_free(context, &report);
    assert_ok(svmp_context_set_error(context, NULL, NULL));
    assert_ok(svmp_context_set_log(context, NULL, NULL));
    if (result.status == SVMP_OK) {
        assert_ok(svmp_fingerprint_take(model, &result.taken));
        result.outputs = svmp_model_outputs(model);
        result.observed = model->lowered->observed;
    } else {
        assert_true(result.status == SVMP_BAD_INPUT && result.said[0] != '\0');
    }
    svmp_model_free(model);
    return result;
}

static bool are_equal(const summary *a, const summary *b) {
    return a->status == b->status && a->sum_refused == b->sum_refused && a->outputs == b->outputs &&
           a->observed == b->observed && a->taken.structure == b->taken.structure &&
           a->taken.density == b->taken.density && strcmp(a->said, b->said) == 0;
}

static parsed_model *parse(size_t which, const svmp_data *data) {
    const model_files files = {
        .name = "model.bug", .text = cases[which].text, .data = data, .monitors = cases[which].monitors};
    parsed_model *parsed = NULL;
    if (svmp_parse(context, &files, &parsed) != SVMP_OK) fail_msg("%s", svmp_context_error(context));
    return parsed;
}

static svmp_data *make_data(void) {
    static const char dump[] = "y <- c(0.5, -1, 2, 1.5) k <- c(3, 2, 4) unused <- 1";
    svmp_data *data = NULL;
    assert_ok(svmp_data_create(context, &data));
    assert_ok(svmp_data_read_text(data, "d.R", dump, strlen(dump)));
    return data;
}

/* Every ordered pair, and all of them in sequence. */
static void test_any_order(void **state) {
    (void)state;
    size_t models = 0, refused = 0;
    svmp_data *data = make_data();
    for (size_t c = 0; c < CASES; c++) {
        static summary alone[WAYS];
        for (size_t w = 0; w < WAYS; w++) {
            parsed_model *parsed = parse(c, data);
            alone[w] = compile(parsed, &ways[w]);
            models += alone[w].status == SVMP_OK;
            refused += alone[w].sum_refused;
            svmp_parsed_free(parsed);
        }
        for (size_t first = 0; first < WAYS; first++) {
            parsed_model *parsed = parse(c, data);
            for (size_t k = 0; k <= WAYS; k++) { /* and the first again */
                const size_t w = (first + k) % WAYS;
                const summary again = compile(parsed, &ways[w]);
                if (!are_equal(&again, &alone[w]))
                    fail_msg("text %zu, choices %zu after %zu: %s", c, w, first, again.said);
            }
            svmp_parsed_free(parsed);
        }
    }
    assert_true(models > CASES && refused > 0);
    svmp_data_free(data);
}

/* Errors of the text are reported by the parse, together; those that depend on choices by the compilation. */
static void test_errors(void **state) {
    (void)state;
    char said[MOST_TEXT] = "";
    const model_files files = {.name = "m.bug", .text = "model { y ~ dnorm(m, 1)\n z ~ dnrm(0, 1)\n u <- v }"};
    parsed_model *parsed = NULL;
    assert_ok(svmp_context_set_error(context, keep_error, said));
    assert_int_equal(svmp_parse(context, &files, &parsed), SVMP_BAD_INPUT);
    assert_null(parsed);
    assert_non_null(strstr(said, "m.bug:1:19: error: 'm' is not defined"));
    assert_non_null(strstr(said, "m.bug:2:6: error: unknown distribution 'dnrm'"));
    assert_non_null(strstr(said, "m.bug:3:7: error: 'v' is not defined"));
    assert_ok(svmp_context_set_error(context, NULL, NULL));
}

static int open_context(void **state) { return (void)state, svmp_context_create(NULL, &context) != SVMP_OK; }
static int close_context(void **state) { return (void)state, svmp_context_free(context), 0; }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_order), cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
