/* Simulation-based calibration (Talts et al. 2018): parameters drawn from the prior, data from the parameters, draws
 * from the posterior by NUTS or by local moves. The rank of the true parameter among the draws is uniform when the
 * sampler is right, for every parameter and every function of them. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "graph/colouring.h"
#include "model/model.h"
#include "unit/files.h"
#include "unit/support.h"
#include "unit/targets.h"

enum { REPLICATES = 3200, DRAWS = 63, THIN = 6, BINS = 16, OBSERVATIONS = 20 };

typedef struct problem {
    size_t parameters;
    double data[OBSERVATIONS];
} problem;

typedef struct sbc_model {
    const char *name;
    size_t parameters;
    void (*simulate)(const double *theta, const double *normals, const double *uniforms, double *data);
    svmp_factor_function likelihood; /* the prior of every parameter is N(0, 1), by a factor of its own */
} sbc_model;

/* y ~ N(m, exp(s/2)^2) */
static void normal_simulate(const double *theta, const double *normals, const double *uniforms, double *data) {
    (void)uniforms;
    for (size_t k = 0; k < OBSERVATIONS; k++) data[k] = theta[0] + exp(theta[1] / 2) * normals[k];
}

static int normal_likelihood(size_t n, const double *const *x, double *value, double *const *gradient,
                             void *user_data) {
    const problem *here = user_data;
    for (size_t l = 0; l < n; l++) {
        const double m = x[0][l], s = x[1][l], precision = exp(-s);
        value[l] = gradient[0][l] = gradient[1][l] = 0;
        for (size_t k = 0; k < OBSERVATIONS; k++) {
            const double rest = here->data[k] - m;
            value[l] -= s / 2 + rest * rest * precision / 2;
            gradient[0][l] += rest * precision;
            gradient[1][l] += rest * rest * precision / 2 - 0.5;
        }
    }
    return 0;
}

/* P(y = 1) = 1 / (1 + exp(-eta)),  eta = a + b z + c z^2 */
static double covariate(size_t k) { return -2 + 4.0 * (double)k / (OBSERVATIONS - 1); }

static void logistic_simulate(const double *theta, const double *normals, const double *uniforms, double *data) {
    (void)normals;
    for (size_t k = 0; k < OBSERVATIONS; k++) {
        const double z = covariate(k), eta = theta[0] + theta[1] * z + theta[2] * z * z;
        data[k] = uniforms[k] < 1 / (1 + exp(-eta));
    }
}

static int logistic_likelihood(size_t n, const double *const *x, double *value, double *const *gradient,
                               void *user_data) {
    const problem *here = user_data;
    for (size_t l = 0; l < n; l++) {
        value[l] = gradient[0][l] = gradient[1][l] = gradient[2][l] = 0;
        for (size_t k = 0; k < OBSERVATIONS; k++) {
            const double z = covariate(k), eta = x[0][l] + x[1][l] * z + x[2][l] * z * z;
            const double rest = here->data[k] - 1 / (1 + exp(-eta));
            value[l] += here->data[k] * eta - (eta > 0 ? eta + log1p(exp(-eta)) : log1p(exp(eta)));
            gradient[0][l] += rest;
            gradient[1][l] += rest * z;
            gradient[2][l] += rest * z * z;
        }
    }
    return 0;
}

/* The samplers: NUTS, every THIN-th draw of one chain; local moves, the last states of DRAWS chains, node by node or
 * with all parameters as one node. */
typedef enum sampler { BY_NUTS, BY_NODES, BY_BLOCKS } sampler;

static svmp_model *build(svmp_context *context, const sbc_model *which, sampler by, problem *data) {
    const double identity[9] = {1, [4] = 1, [8] = 1}, of_two[4] = {1, 0, 0, 1}, one = 1;
    const size_t nodes = by == BY_BLOCKS ? 1 : which->parameters, dimension = by == BY_BLOCKS ? which->parameters : 1;
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < nodes; v++) {
        assert_ok(svmp_model_add_node(model, NULL, dimension, NULL, NULL, NULL));
        assert_ok(svmp_model_add_gaussian(model, 1, &v,
                                          dimension == 1   ? &one
                                          : dimension == 2 ? of_two
                                                           : identity,
                                          NULL));
    }
    assert_ok(svmp_model_add_callback(model, nodes, (size_t[]){0, 1, 2}, which->likelihood, data));
    assert_ok(svmp_model_finish(model));
    return model;
}

static run_options options_of(sampler by, uint64_t seed) {
    run_options options = graphical_options();
    options.seed = seed;
    if (by == BY_NUTS) {
        options.method = "nuts";
        options.chains = 1;
        options.warmup = 300;
        options.draws = DRAWS * THIN;
    } else {
        options.method = "local";
        options.particles = DRAWS;
        options.iterations = 240;
        options.draws = 1; /* the last power of two after the warm-up */
    }
    return options;
}

/* The rank of the true value among the draws, for each parameter, then for lp__. */
static void add_ranks(svmp_context *context, const sbc_model *which, sampler by, uint64_t replicate,
                      size_t counts[][BINS]) {
    const size_t count = by == BY_NUTS ? DRAWS * THIN : DRAWS, thin = by == BY_NUTS ? THIN : 1;
    problem data = {.parameters = which->parameters};
    double normals[OBSERVATIONS + 3], uniforms[OBSERVATIONS], truth_density;
    svmp_random_normals((random_stream){.seed = 1, .purpose = RANDOM_TEST, .a = replicate}, OBSERVATIONS + 3, normals);
    svmp_random_uniforms((random_stream){.seed = 2, .purpose = RANDOM_TEST, .a = replicate}, OBSERVATIONS, uniforms);
    const double *theta = normals + OBSERVATIONS;
    which->simulate(theta, normals, uniforms, data.data);
    svmp_model *model = build(context, which, by, &data);
    const run_options options = options_of(by, replicate);
    svmp_particles *particles = target_infer(model, &options);
    assert_int_equal(svmp_particles_count(particles), count);
    assert_ok(svmp_model_evaluate(model, 1, theta, &truth_density, NULL));
    for (size_t i = 0; i <= which->parameters; i++) {
        const double *draws = i < which->parameters ? svmp_particles_values(particles) + i * count
                                                    : svmp_particles_statistic(particles, "lp__");
        const double truth = i < which->parameters ? theta[i] : truth_density;
        size_t rank = 0;
        for (size_t l = thin - 1; l < count; l += thin) rank += draws[l] < truth;
        counts[i][rank * BINS / (DRAWS + 1)]++;
    }
    svmp_particles_free(particles);
    svmp_model_free(model);
}

/* A chi-square of 15 degrees of freedom exceeds 44.3 with probability 1e-4. */
static void check_uniform(const char *what, size_t number, uint64_t replicates, const size_t counts[BINS]) {
    const double expected = (double)replicates / BINS;
    double chi_square = 0;
    for (size_t b = 0; b < BINS; b++) chi_square += pow((double)counts[b] - expected, 2) / expected;
    print_message("%s %zu: chi-square %.1f of 15\n", what, number, chi_square);
    assert_true(chi_square < 44.3);
}

static void check_calibration(const sbc_model *which, sampler by) {
    static const char *const names[] = {"NUTS", "local moves", "local moves of a block"};
    svmp_context *context = test_context(1);
    size_t counts[4][BINS] = {{0}};
    const uint64_t replicates = by == BY_NUTS ? REPLICATES : REPLICATES / 2;
    for (uint64_t k = 0; k < replicates; k++) add_ranks(context, which, by, k, counts);
    for (size_t i = 0; i <= which->parameters; i++) {
        char what[100];
        snprintf(what, sizeof what, "%s by %s, %s", which->name, names[by],
                 i < which->parameters ? "parameter" : "lp__");
        check_uniform(what, i + 1, replicates, counts[i]);
    }
    svmp_context_free(context);
}

/* ---- a text ------------------------------------------------------------------------------------------------------ */

enum { GROUPS = 5, EACH = 2, PAIR = 2, UNKNOWNS = GROUPS + PAIR + 2 };

/* Effects, a colour of them, under a location and a scale; and a node of two variables. */
static const char effects[] = "model {\n"
                              "  for (j in 1:5) {\n"
                              "    theta[j] ~ dnorm(mu, tau)\n"
                              "    for (k in 1:2) { y[j,k] ~ dnorm(theta[j] + b[k], 1) }\n"
                              "  }\n"
                              "  b[1:2] ~ dmnorm(zero, Q)\n"
                              "  mu ~ dnorm(0, 1)\n"
                              "  tau ~ dgamma(3, 2)\n"
                              "}\n";

typedef struct effects_truth {
    double value[UNKNOWNS + 1]; /* theta, b, mu, tau; and the residual sum of squares */
    double y[GROUPS][EACH];
} effects_truth;

static double left(const effects_truth *t, const double *theta, const double *b) {
    double sum = 0;
    for (size_t j = 0; j < GROUPS; j++)
        for (size_t k = 0; k < EACH; k++) sum += pow(t->y[j][k] - theta[j] - b[k], 2);
    return sum;
}

static effects_truth simulate_effects(uint64_t replicate) {
    effects_truth t;
    double z[UNKNOWNS + GROUPS * EACH], u[3], tau = 0, *value = t.value;
    svmp_random_normals((random_stream){.seed = 3, .purpose = RANDOM_TEST, .a = replicate}, sizeof z / sizeof *z, z);
    svmp_random_uniforms((random_stream){.seed = 4, .purpose = RANDOM_TEST, .a = replicate}, 3, u);
    for (size_t k = 0; k < 3; k++) tau -= log(u[k]) / 2;
    const double mu = value[GROUPS + PAIR] = z[0];
    value[GROUPS + PAIR + 1] = tau;
    for (size_t j = 0; j < GROUPS; j++) value[j] = mu + z[1 + j] / sqrt(tau);
    value[GROUPS] = 0.5 * z[6]; /* Q = (5, -2; -2, 4): its inverse is (4, 2; 2, 5) / 16 */
    value[GROUPS + 1] = 0.25 * z[6] + 0.5 * z[7];
    for (size_t j = 0; j < GROUPS; j++)
        for (size_t k = 0; k < EACH; k++) t.y[j][k] = value[j] + value[GROUPS + k] + z[UNKNOWNS + j * EACH + k];
    value[UNKNOWNS] = left(&t, value, value + GROUPS);
    return t;
}

static void write_effects(const effects_truth *t) {
    FILE *file = fopen("effects.R", "w");
    assert_non_null(file);
    fprintf(file, "zero <- c(0, 0)\nQ <- structure(c(5, -2, -2, 4), .Dim = c(2, 2))\ny <- structure(c(");
    for (size_t k = 0; k < EACH; k++)
        for (size_t j = 0; j < GROUPS; j++) fprintf(file, "%s%.17g", k + j ? ", " : "", t->y[j][k]);
    fprintf(file, "), .Dim = c(5, 2))\n");
    assert_int_equal(fclose(file), 0);
}

static const double *find_column(svmp_particles *p, const char *name) {
    for (size_t i = 0; i < svmp_particles_variables(p); i++)
        if (strcmp(svmp_particles_name(p, i), name) == 0) return svmp_particles_values(p) + i * svmp_particles_count(p);
    fail_msg("there is no %s", name);
    return NULL;
}

static void add_text_ranks(svmp_context *context, const char *coordinates, uint64_t replicate,
                           size_t counts[UNKNOWNS + 1][BINS]) {
    static const char *const names[UNKNOWNS] = {"theta.1", "theta.2", "theta.3", "theta.4", "theta.5",
                                                "b.1",     "b.2",     "mu",      "tau"};
    const effects_truth t = simulate_effects(replicate);
    svmp_model *model = NULL;
    uint32_t colour[UNKNOWNS];
    size_t colours, rank[UNKNOWNS + 1] = {0};
    write_effects(&t);
    assert_ok(svmp_model_read(context, 2, (const char *[]){"effects.bug", "effects.R"},
                              &(svmp_reading){.coordinates = coordinates}, &model));
    assert_ok(svmp_graph_colour(model->graph, colour, &colours));
    assert_true(model->graph->nodes == GROUPS + 3 && colours <= 4);
    run_options options = options_of(BY_NODES, replicate);
    options.init = "gaussian";
    options.iterations = 800;
    svmp_particles *particles = target_infer(model, &options);
    assert_int_equal(svmp_particles_count(particles), DRAWS);
    const double *column[UNKNOWNS];
    for (size_t i = 0; i < UNKNOWNS; i++) column[i] = find_column(particles, names[i]);
    for (size_t l = 0; l < DRAWS; l++) {
        double draw[UNKNOWNS];
        for (size_t i = 0; i < UNKNOWNS; i++) {
            draw[i] = column[i][l];
            rank[i] += draw[i] < t.value[i];
        }
        rank[UNKNOWNS] += left(&t, draw, draw + GROUPS) < t.value[UNKNOWNS];
    }
    for (size_t i = 0; i <= UNKNOWNS; i++) counts[i][rank[i] * BINS / (DRAWS + 1)]++;
    svmp_particles_free(particles);
    svmp_model_free(model);
}

/* Nodes that move together, a node of two variables, factors of the language, and every kind of coordinates. */
static void test_a_text_in_all_coordinates(void **state) {
    (void)state;
    static const char *const all[] = {"centred", "noncentred", "auto"};
    enum { TEXTS = REPLICATES / 4 };
    write_text("effects.bug", effects);
    for (size_t c = 0; c < sizeof all / sizeof *all; c++) {
        svmp_context *context = test_context(1);
        size_t counts[UNKNOWNS + 1][BINS] = {{0}};
        char what[100];
        snprintf(what, sizeof what, "effects by local moves, %s, number", all[c]);
        for (uint64_t k = 0; k < TEXTS; k++) add_text_ranks(context, all[c], k, counts);
        for (size_t i = 0; i <= UNKNOWNS; i++) check_uniform(what, i + 1, TEXTS, counts[i]);
        svmp_context_free(context);
    }
}

static void test_normal_with_unknown_scale(void **state) {
    (void)state;
    for (sampler by = BY_NUTS; by <= BY_BLOCKS; by++)
        check_calibration(&(sbc_model){"normal", 2, normal_simulate, normal_likelihood}, by);
}

static void test_logistic_regression(void **state) {
    (void)state;
    for (sampler by = BY_NUTS; by <= BY_BLOCKS; by++)
        check_calibration(&(sbc_model){"logistic", 3, logistic_simulate, logistic_likelihood}, by);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal_with_unknown_scale),
        cmocka_unit_test(test_logistic_regression),
        cmocka_unit_test(test_a_text_in_all_coordinates),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
