/* The rate of false alarms for exact draws: prints the tables of docs/diagnostics.md. */
#include <math.h>
#include <stdlib.h>

#include "stein/discrepancy.h"
#include "unit/support.h"

enum { SAMPLES = 300, REFERENCE = 1000 };

/* The limits are set for a rate of 1 % with many draws and Gaussian scores. At a rate of 3 %, more than 21 of SAMPLES
 * exceed them with probability 2e-4. */
enum { MOST_ALARMS = 21 };

static svmp_model *read_grid(svmp_context *context) {
    const char *files[] = {SVMP_MODELS "/grid.mtx", SVMP_MODELS "/grid_b.mtx"};
    svmp_model *model = NULL;
    assert_ok(svmp_model_read(context, 2, files, NULL, &model));
    return model;
}

/* Returns NULL if this build has no exact draws. */
static svmp_particles *draw(const svmp_model *model, size_t n, uint64_t seed) {
    run_options options = graphical_options();
    options.method = "exact";
    options.particles = n;
    options.seed = seed;
    svmp_run *run = NULL;
    svmp_particles *particles = NULL;
    svmp_outcome outcome;
    if (svmp_run_make(model, &options, &run) == SVMP_UNSUPPORTED) return NULL;
    assert_ok(svmp_run_go(run, &outcome));
    assert_ok(svmp_run_particles(run, &particles));
    svmp_run_free(run);
    return particles;
}

typedef struct alarms {
    int ratio, moment; /* 1 if a node of the sample exceeds its limit */
} alarms;

static alarms find_alarms(svmp_context *context, const svmp_model *model, const kernel *k, svmp_particles *particles) {
    const svmp_graph *graph = svmp_model_graph(model);
    const size_t n = svmp_particles_count(particles), nodes = svmp_graph_nodes(graph);
    double *score = malloc(svmp_particles_variables(particles) * n * sizeof *score);
    svmp_discrepancy total, *each = malloc(nodes * sizeof *each);
    alarms found = {0};
    assert_ok(svmp_model_evaluate(model, n, svmp_particles_values(particles), NULL, score));
    const stein_sample sample = {
        .graph = graph, .kernel = k, .n = n, .x = svmp_particles_values(particles), .score = score, .seed = 1};
    assert_ok(svmp_stein_discrepancy(context, &sample, &total, each));
    for (size_t v = 0; v < nodes; v++) {
        found.ratio |= each[v].ratio > each[v].limit;
        found.moment |= each[v].moment_z > each[v].moment_limit;
    }
    free(score);
    free(each);
    return found;
}

static void test_discrepancies_of_exact_draws(void **state) {
    (void)state;
    const size_t counts[] = {10, 20, 50, 100, 300};
    svmp_context *context = test_context(0);
    svmp_model *model = read_grid(context);
    bandwidth standard;
    kernel k;
    assert_ok(svmp_bandwidth_parse(context, "median", &standard));
    assert_ok(svmp_kernel_parse(context, "rbf@blanket", standard, &k));
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        size_t ratio = 0, moment = 0;
        for (uint64_t seed = 1; seed <= SAMPLES; seed++) {
            svmp_particles *particles = draw(model, counts[c], seed);
            if (particles == NULL) skip();
            const alarms found = find_alarms(context, model, &k, particles);
            ratio += (size_t)found.ratio;
            moment += (size_t)found.moment;
            svmp_particles_free(particles);
        }
        print_message("%zu draws: %.1f %% of %d samples with a ratio beyond its limit, %.1f %% with a moment z\n",
                      counts[c], 100.0 * (double)ratio / SAMPLES, SAMPLES, 100.0 * (double)moment / SAMPLES);
        assert_true(ratio <= MOST_ALARMS && moment <= MOST_ALARMS);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

static int differs(const svmp_particles *particles, const svmp_particles *reference) {
    const size_t variables = svmp_particles_variables(particles);
    const double limit = svmp_difference_limit(2 * variables);
    svmp_difference *rows = malloc(variables * sizeof *rows);
    int beyond = 0;
    assert_ok(svmp_particles_differences(particles, reference, rows));
    for (size_t i = 0; i < variables; i++) beyond |= fabs(rows[i].z_mean) > limit || fabs(rows[i].z_sd) > limit;
    free(rows);
    return beyond;
}

static void test_comparisons_of_exact_draws(void **state) {
    (void)state;
    const size_t counts[] = {20, 50, 200};
    svmp_context *context = test_context(0);
    svmp_model *model = read_grid(context);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        size_t wrong = 0;
        for (uint64_t seed = 1; seed <= SAMPLES; seed++) {
            svmp_particles *particles = draw(model, counts[c], seed);
            svmp_particles *reference = draw(model, REFERENCE, SAMPLES + seed);
            if (particles == NULL) skip();
            wrong += (size_t)differs(particles, reference);
            svmp_particles_free(particles);
            svmp_particles_free(reference);
        }
        print_message("%zu draws against %d: %.1f %% of %d comparisons say that they differ\n", counts[c], REFERENCE,
                      100.0 * (double)wrong / SAMPLES, SAMPLES);
        assert_true(wrong <= MOST_ALARMS);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_discrepancies_of_exact_draws),
        cmocka_unit_test(test_comparisons_of_exact_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
