/* Discrete unknowns are summed out: the density is the sum over all their values, for any coupling; its gradient agrees
 * with differences; probabilities and draws follow from the terms of the sum. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/compile.h"
#include "model/evaluator.h"
#include "model/model.h"
#include "unit/files.h"
#include "unit/read_dump.h"
#include "unit/simulated_processes.h"

static svmp_model *read_model(svmp_context *context, const char *text, const char *dump, const char *monitors) {
    return read_dump(context, text, dump, &(svmp_reading){.monitors = monitors});
}

typedef struct discrete_case {
    const char *text, *dump;
    const char *names[4]; /* of the discrete unknowns */
    int first[4], states[4];
} discrete_case;

static const discrete_case cases[] = {
    /* a mixture: two components that share the other factors */
    {"model { for (i in 1:2) { z[i] ~ dcat(p[])\n y[i] ~ dnorm(m[z[i]], t) }\n p[1:3] ~ ddirch(a[])\n"
     " for (k in 1:3) { m[k] ~ dnorm(0, 1) }\n t ~ dgamma(2, 2)\n factor(0.1 * (sum(m[]) + t + p[1])) }",
     "y <- c(0.3, -1) a <- c(1, 2, 3)",
     {"z[1]", "z[2]"},
     {1, 1},
     {3, 3}},
    /* a hidden Markov chain, with an observation that only one state can make */
    {"model { z[1] ~ dbern(0.4)\n for (t in 2:4) { z[t] ~ dbern(q[z[t-1] + 1]) }\n for (t in 1:4) { y[t] ~ dnorm(m * "
     "z[t], 1) }\n k ~ dbin(r, 2 * z[3])\n for (j in 1:2) { q[j] ~ dbeta(1, 2) }\n m ~ dnorm(0, 1)\n r ~ dunif(0, 1)\n "
     "factor(0.1 * (sum(q[]) + m + r)) }",
     "y <- c(0.3, -1, 2, 1.1) k <- 1",
     {"z[1]", "z[2]", "z[3]", "z[4]"},
     {0, 0, 0, 0},
     {2, 2, 2, 2}},
    /* a loop of couplings, through a deterministic node and factor(), and a binomial count */
    {"model { a ~ dbern(p)\n b ~ dbern(p)\n c ~ dbin(0.3, 3)\n d <- a + c * b\n y ~ dnorm(d, 1)\n factor(-w * "
     "equals(a, b))\n"
     " factor(w * a * (c - 1))\n p ~ dbeta(2, 2)\n w ~ dnorm(0, 1) }",
     "y <- 1.4",
     {"a", "b", "c"},
     {0, 0, 0},
     {2, 2, 4}},
    /* a change point among known times, zero inflation, a truncated count */
    {"model { cp ~ dcat(pi[])\n for (t in 1:5) { y[t] ~ dpois(l[1 + step(t - cp)]) }\n w ~ dbern(s)\n n ~ dpois(3) "
     "T(1, 4)\n"
     " u ~ dpois(w * l[1] * n)\n for (k in 1:2) { l[k] ~ dgamma(2, 1) }\n s ~ dunif(0, 1)\n factor(0.1 * (sum(l[]) + "
     "s)) }",
     "y <- c(0, 1, 4, 3, 5) pi <- c(0.1, 0.2, 0.3, 0.2, 0.2) u <- 0",
     {"cp", "w", "n"},
     {1, 0, 1},
     {5, 2, 4}},
    /* counts whose sum is known: none exceeds it */
    {"model { z[1] ~ dpois(a)\n z[2] ~ dpois(b)\n z[3] ~ dbin(p, 2)\n y ~ dsum(z[1], z[2], z[3])\n a ~ dgamma(2, 1)\n"
     " b ~ dgamma(2, 1)\n p ~ dbeta(1, 2)\n factor(0.1 * (a + b + p)) }",
     "y <- 4",
     {"z[1]", "z[2]", "z[3]"},
     {0, 0, 0},
     {5, 5, 3}},
    /* counts of several kinds that sum to a known size */
    {"model { z[1:3] ~ dmulti(p[], 2)\n p[1:3] ~ ddirch(a[])\n y ~ dbin(q, z[2] + 1)\n q ~ dbeta(2, 2)\n"
     " factor(0.1 * (q + p[1])) }",
     "y <- 1 a <- c(1, 2, 3)",
     {"z[1]", "z[2]", "z[3]"},
     {0, 0, 0},
     {3, 3, 3}},
    /* a total whose smallest values are impossible: dhyper does not take a negative size */
    {"model { t ~ dcat(pi[])\n for (j in 1:6) { pi[j] <- pow(w, j) }\n k ~ dhyper(2, t - 2, 3, w)\n"
     " w ~ dgamma(2, 1)\n factor(0.1 * w) }",
     "k <- 1",
     {"t"},
     {1},
     {6}},
    /* partly observed vectors: the other elements are drawn and do not enter the sum */
    {"model { for (i in 1:2) { z[i] ~ dbern(p)\n y[i, 1:2] ~ dnorm(m + z[i], 1) }\n p ~ dbeta(1, 2)\n"
     " m ~ dnorm(0, 1)\n factor(0.1 * (p + m)) }",
     "y <- structure(c(0.3, NA, 1.2, 0.7), .Dim = c(2, 2))",
     {"z[1]", "z[2]"},
     {0, 0},
     {2, 2}},
    /* indicators in a regression, whose quadratic forms are collected: weighted precisions, and one that divides; with
     * and without an intercept */
    {"model { for (i in 1:7) { y[i] ~ dnorm(c + inprod(x[i,], z * b), w[i] * t)\n"
     " u[i] ~ dnorm(z[1] * b[2] * x[i, 2] - b[3], 1 / pow(s, 2))\n v[i] ~ dnorm(b[1] * x[i, 1] * (1 + z[3]), 4) }\n"
     " for (j in 1:3) { z[j] ~ dbern(p[j])\n p[j] ~ dbeta(2, 1)\n b[j] ~ dnorm(0, 1) }\n c ~ dnorm(3, 1)\n"
     " t ~ dgamma(2, 1)\n s ~ dgamma(3, 1)\n factor(0.1 * sum(p[])) }",
     "y <- c(3, 2.3, 1.8, 3, 2, 1, 4) u <- c(0.1, 1, 0.3, 2, -1, 0, 1) v <- c(1, 0, 1, 0, 2, 1, 1)"
     " x <- structure(c(1, 0, 1, 0, 1, 1, 0, 0.3, 1, 2, 1, -1, 0.3, 0.5, 1, 0, 1, 0, 2, 1, 0), .Dim = c(7, 3))"
     " w <- c(1, 2, 1, 2, 1, 0.5, 1)",
     {"z[1]", "z[2]", "z[3]"},
     {0, 0, 0},
     {2, 2, 2}},
};

static size_t unknowns_of(const discrete_case *which) {
    size_t count = 0;
    while (count < 4 && which->names[count]) count++;
    return count;
}

/* The data with values for all discrete unknowns; brackets denote elements of one array. */
static char *with_values(const discrete_case *which, const int *value) {
    static char text[1000];
    size_t length = (size_t)snprintf(text, sizeof text, "%s", which->dump);
    const size_t count = unknowns_of(which);
    bool array = false;
    for (size_t k = 0; k < count; k++) {
        const char *bracket = strchr(which->names[k], '[');
        if (bracket == NULL)
            length += (size_t)snprintf(text + length, sizeof text - length, " %s <- %d", which->names[k], value[k]);
        else
            length +=
                (size_t)snprintf(text + length, sizeof text - length, "%s%d", array ? ", " : " z <- c(", value[k]);
        array = array || bracket;
    }
    snprintf(text + length, sizeof text - length, "%s", array ? ")" : "");
    return text;
}

/* An impossible combination is refused with the data, as an observation outside its support. */
static svmp_model *read_possible(svmp_context *context, const discrete_case *which, const int *value) {
    svmp_data *data = NULL;
    svmp_model *model = NULL;
    const char *dump = with_values(which, value);
    assert_ok(svmp_data_create(context, &data));
    assert_ok(svmp_data_read_text(data, "d.R", dump, strlen(dump)));
    const svmp_status status = svmp_model_read_text(context, "m.bug", which->text, data, NULL, &model);
    const char *sentence = svmp_context_error(context);
    assert_true(status == SVMP_OK || strstr(sentence, "is outside the support") || strstr(sentence, "n2 = -1") ||
                strstr(sentence, "m1"));
    svmp_data_free(data);
    return model;
}

/* Factors without unknowns are constants and are left out: the density is known up to a factor that depends on the
 * values. `constant` is its log, computed by hand. */
static double constant_of(size_t which, const int *value) {
    static const double choose[] = {1, 3, 3, 1}, pi[] = {0.1, 0.2, 0.3, 0.2, 0.2};
    switch (which) {
    case 1: return log(value[0] ? 0.4 : 0.6);
    case 2: {
        const double d = value[0] + value[2] * value[1];
        return log(choose[value[2]] * pow(0.3, value[2]) * pow(0.7, 3 - value[2])) - 0.5 * (1.4 - d) * (1.4 - d) -
               0.5 * log(2 * acos(-1.0));
    }
    case 3: {
        double total = 0;
        for (int n = 1; n <= 4; n++) total += pow(3, n) / tgamma(n + 1);
        double constant = log(pi[value[0] - 1]) + log(pow(3, value[2]) / tgamma(value[2] + 1) / total);
        return constant; /* the Poisson terms depend on l, or are exp(-0) */
    }
    default: return 0;
    }
}

static void draw_point(size_t which, size_t turn, size_t count, double *x) {
    svmp_random_normals((random_stream){.seed = turn, .a = which, .purpose = RANDOM_TEST}, count, x);
}

/* The texts end with a factor() of all other unknowns, so that none becomes a leaf if some values leave it without
 * children. Calls `visit` for every combination with its log density. */
typedef void (*combination_visitor)(const discrete_case *which, const int *value, double log_density, void *user_data);

static void visit_all(size_t c, const double *x, combination_visitor visit, void *user_data) {
    const discrete_case *which = &cases[c];
    const size_t count = unknowns_of(which);
    svmp_context *context = test_context(1);
    int value[4] = {which->first[0], which->first[1], which->first[2], which->first[3]};
    for (bool more = true; more;) {
        svmp_model *model = read_possible(context, which, value);
        if (model) visit(which, value, log_density_at(model, x) + constant_of(c, value), user_data);
        svmp_model_free(model);
        more = false;
        for (size_t k = 0; !more && k < count; k++) {
            more = ++value[k] < which->first[k] + which->states[k];
            if (!more) value[k] = which->first[k];
        }
    }
    svmp_context_free(context);
}

static void add_up(const discrete_case *which, const int *value, double log_density, void *user_data) {
    (void)which, (void)value;
    *(double *)user_data += exp(log_density);
}

static void test_density_is_the_sum(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        svmp_context *context = test_context(1);
        svmp_model *model = read_model(context, cases[c].text, cases[c].dump, NULL);
        const size_t d = svmp_graph_variables(svmp_model_graph(model));
        double x[16];
        assert_true(d <= 16);
        for (size_t turn = 0; turn < 3; turn++) {
            double sum = 0;
            draw_point(c, turn, d, x);
            visit_all(c, x, add_up, &sum);
            assert_near(log_density_at(model, x), log(sum), 1e-11);
        }
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

/* The score of a model against central differences of its density. */
static void test_gradient(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        svmp_context *context = test_context(1);
        svmp_model *model = read_model(context, cases[c].text, cases[c].dump, NULL);
        const size_t d = svmp_graph_variables(svmp_model_graph(model));
        double x[16], score[16];
        evaluator *e = NULL;
        draw_point(c, 7, d, x);
        assert_ok(svmp_evaluator_create(model, 1, 1, &e));
        assert_ok(svmp_evaluate(e, x, NULL, score));
        for (size_t i = 0; i < d; i++) {
            const double h = 1e-4, at = x[i];
            double difference = 0;
            static const double weight[] = {1. / 12, -8. / 12, 8. / 12, -1. / 12};
            static const int place[] = {-2, -1, 1, 2};
            for (int k = 0; k < 4; k++) {
                x[i] = at + place[k] * h;
                difference += weight[k] * log_density_at(model, x) / h;
            }
            x[i] = at;
            assert_near(score[i], difference, 1e-8);
        }
        svmp_evaluator_free(e);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

typedef struct joint_sums {
    double total, state[4][8];
} joint_sums;

static void add_states(const discrete_case *which, const int *value, double log_density, void *user_data) {
    joint_sums *sums = user_data;
    sums->total += exp(log_density);
    for (size_t k = 0; k < unknowns_of(which); k++) sums->state[k][value[k] - which->first[k]] += exp(log_density);
}

/* A particle without a density gets no state. */
static void test_no_state(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = read_model(context, cases[0].text, cases[0].dump, NULL);
    const size_t d = svmp_graph_variables(svmp_model_graph(model));
    double x[16], draws[2], probability[12] = {0};
    for (size_t i = 0; i < d; i++) x[i] = NAN;
    assert_ok(svmp_summed_draw(context, &model->lowered->summed, 3, 1, &(uint64_t){0}, x, draws, probability));
    for (size_t k = 0; k < 2; k++) assert_true(isnan(draws[k]));
    for (size_t k = 0; k < 12; k++) assert_true(isnan(probability[k]));
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Probabilities follow from the terms of the sum, and draws have these frequencies. */
static void test_probabilities_and_draws(void **state) {
    (void)state;
    enum { DRAWS = 4000 };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        svmp_context *context = test_context(1);
        svmp_model *model = read_model(context, cases[c].text, cases[c].dump, NULL);
        const lowered_summed *summed = &model->lowered->summed;
        const size_t d = svmp_graph_variables(svmp_model_graph(model)), count = unknowns_of(&cases[c]);
        double point[16], probability[64] = {0}; /* two numbers each */
        double *x = malloc(d * DRAWS * sizeof *x), *draws = malloc(count * DRAWS * sizeof *draws);
        uint64_t *keys = malloc(DRAWS * sizeof *keys);
        joint_sums sums = {0};
        assert_int_equal(summed->count, count);
        draw_point(c, 11, d, point);
        visit_all(c, point, add_states, &sums);
        for (size_t l = 0; l < DRAWS; l++) keys[l] = l;
        for (size_t k = 0; k < d * DRAWS; k++) x[k] = point[k / DRAWS];
        assert_ok(svmp_summed_draw(context, summed, 3, DRAWS, keys, x, draws, probability));
        for (size_t k = 0, at = 0; k < count; k++) {
            assert_int_equal(summed->unknowns[k].states, cases[c].states[k]);
            for (int s = 0; s < cases[c].states[k]; s++, at++) {
                const double p = sums.state[k][s] / sums.total;
                double hits = 0;
                for (size_t l = 0; l < DRAWS; l++) hits += draws[k * DRAWS + l] == cases[c].first[k] + s;
                assert_near((probability[2 * at] + probability[2 * at + 1]) / DRAWS, p, 1e-10);
                assert_true(fabs(hits / DRAWS - p) <= 5 * sqrt(p * (1 - p) / DRAWS) + 1e-12);
            }
        }
        free(keys);
        free(draws);
        free(x);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

/* A long chain against the forward recursion. */
static void test_forward_recursion(void **state) {
    (void)state;
    enum { LONG = 300 };
    static const char text[] = "model { z[1] ~ dcat(start[])\n for (t in 2:T) { z[t] ~ dcat(P[z[t-1],]) }\n"
                               " for (t in 1:T) { y[t] ~ dnorm(m[z[t]], 1) }\n for (k in 1:2) { m[k] ~ dnorm(0, 1) } }";
    static const double P[2][2] = {{0.9, 0.1}, {0.25, 0.75}};
    char dump[LONG * 12 + 200];
    double y[LONG], x[2] = {-0.4, 0.9}, alpha[2] = {0.5, 0.5}, total = 0;
    svmp_random_normals((random_stream){.seed = 5, .purpose = RANDOM_TEST}, LONG, y);
    size_t length =
        (size_t)snprintf(dump, sizeof dump,
                         "T <- %d start <- c(0.5, 0.5) P <- structure(c(0.9, 0.25, 0.1, 0.75), .Dim = c(2L, "
                         "2L)) y <- c(",
                         LONG);
    for (size_t t = 0; t < LONG; t++) {
        y[t] = round(y[t] * 1e4) / 1e4;
        length += (size_t)snprintf(dump + length, sizeof dump - length, "%s%.4f", t ? ", " : "", y[t]);
    }
    snprintf(dump + length, sizeof dump - length, ")");
    svmp_context *context = test_context(1);
    svmp_model *model = read_model(context, text, dump, NULL);
    for (size_t t = 0; t < LONG; t++) {
        double next[2], sum = 0;
        for (size_t k = 0; k < 2; k++) {
            next[k] = t == 0 ? alpha[k] : alpha[0] * P[0][k] + alpha[1] * P[1][k];
            next[k] *= exp(-0.5 * (y[t] - x[k]) * (y[t] - x[k])) / sqrt(2 * acos(-1.0));
            sum += next[k];
        }
        for (size_t k = 0; k < 2; k++) alpha[k] = next[k] / sum;
        total += log(sum);
    }
    for (size_t k = 0; k < 2; k++) total += -0.5 * x[k] * x[k] - 0.5 * log(2 * acos(-1.0));
    assert_near(log_density_at(model, x), total, 1e-11);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        svmp_status status = SVMP_NO_MEMORY;
        for (long allowed = 1; status == SVMP_NO_MEMORY; allowed += 1 + allowed / 64) {
            scarce_memory memory = {1000000000};
            svmp_context *context = scarce_context(&memory);
            svmp_data *data = NULL;
            svmp_model *model = NULL;
            assert_ok(svmp_data_create(context, &data));
            assert_ok(svmp_data_read_text(data, "d.R", cases[c].dump, strlen(cases[c].dump)));
            memory.left = allowed;
            status = svmp_model_read_text(context, "m.bug", cases[c].text, data,
                                          &(svmp_reading){.monitors = c < 2 ? "z" : "d"}, &model);
            memory.left = 1000000000;
            svmp_model_free(model);
            svmp_data_free(data);
            svmp_context_free(context);
        }
        assert_ok(status);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_density_is_the_sum),      cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_probabilities_and_draws), cmocka_unit_test(test_no_state),
        cmocka_unit_test(test_forward_recursion),       cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
