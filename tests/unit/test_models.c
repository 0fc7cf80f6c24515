/* Every model of models/: whole-model gradients, natural values, a run; and one Gaussian specified in three ways. */
#include "support.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/curvature.h"
#include "model/natural_values.h"

#include "listed.h" /* test_every_model_is_here finds one that is missing */

static void test_every_model_is_here(void **state) {
    (void)state;
    size_t found = 0;
    DIR *folder = opendir(SVMP_MODELS);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        found += length > 4 && strcmp(entry->d_name + length - 4, ".bug") == 0;
    }
    closedir(folder);
    assert_int_equal(found, ALL_MODELS);
}

/* The score against central differences of the log density, at two points. */
static void check_gradient(const svmp_model *model, const char *name) {
    size_t variables = svmp_graph_variables(svmp_model_graph(model));
    double *x = calloc(variables, sizeof *x), *score = calloc(variables, sizeof *score);
    for (int point = 0; point < 2; point++) {
        for (size_t i = 0; i < variables; i++) x[i] = 0.7 * sin((double)(7 * i + 3 * (size_t)point + 1));
        double value;
        assert_ok(svmp_model_evaluate(model, 1, x, &value, score));
        if (!isfinite(value)) fail_msg("%s: the log density is %g", name, value);
        for (size_t i = 0; i < variables; i++) {
            double at = x[i], h = 1e-5, above, below;
            x[i] = at + h;
            assert_ok(svmp_model_evaluate(model, 1, x, &above, NULL));
            x[i] = at - h;
            assert_ok(svmp_model_evaluate(model, 1, x, &below, NULL));
            x[i] = at;
            double rounding = 1e-15 * fabs(value) / h, wanted = (above - below) / (2 * h);
            if (!(fabs(score[i] - wanted) <= 1e-6 * (1 + fabs(wanted)) + 10 * rounding))
                fail_msg("%s: variable %zu: the score is %.10g, differences say %.10g", name, i, score[i], wanted);
        }
    }
    free(x);
    free(score);
}

/* The mean curvature of three particles against differences of their scores; entries outside the pattern are 0. */
static void check_curvature(const svmp_model *model, const char *name) {
    enum { N = 3 };
    const size_t d = svmp_graph_variables(svmp_model_graph(model));
    double *x = calloc(d * N, sizeof *x), *above = calloc(d * N, sizeof *above), *below = calloc(d * N, sizeof *below);
    double *dense = calloc(d * d, sizeof *dense);
    curvature *c = NULL;
    for (size_t k = 0; k < d * N; k++) x[k] = 0.7 * sin((double)(7 * k + 1));
    assert_ok(svmp_curvature_create(model, 1, &c));
    const sparsity *pattern = svmp_curvature_pattern(c);
    double *H = calloc(pattern->entries, sizeof *H);
    assert_ok(svmp_curvature_evaluate(c, N, x, NULL, H));
    for (size_t j = 0; j < d; j++)
        for (size_t e = pattern->start[j]; e < pattern->start[j + 1]; e++)
            dense[pattern->row[e] * d + j] = dense[j * d + pattern->row[e]] = H[e];
    for (size_t j = 0; j < d; j++) {
        const double h = 1e-5;
        for (size_t l = 0; l < N; l++) x[j * N + l] += h;
        assert_ok(svmp_model_evaluate(model, N, x, NULL, above));
        for (size_t l = 0; l < N; l++) x[j * N + l] -= 2 * h;
        assert_ok(svmp_model_evaluate(model, N, x, NULL, below));
        for (size_t l = 0; l < N; l++) x[j * N + l] += h;
        for (size_t i = 0; i < d; i++) {
            double wanted = 0, size = 0;
            for (size_t l = 0; l < N; l++) {
                wanted -= (above[i * N + l] - below[i * N + l]) / (2 * h * N);
                size += fabs(above[i * N + l]);
            }
            if (!(fabs(dense[i * d + j] - wanted) <= 1e-6 * (1 + fabs(wanted)) + 1e-15 * size / h))
                fail_msg("%s: (%zu, %zu): the curvature is %.10g, differences say %.10g", name, i, j, dense[i * d + j],
                         wanted);
        }
    }
    svmp_curvature_free(c);
    free(x);
    free(above);
    free(below);
    free(dense);
    free(H);
}

/* Draws from the priors are recovered from their natural values. */
static void check_natural(const svmp_model *model, const char *name) {
    enum { N = 8 };
    size_t variables = svmp_graph_variables(svmp_model_graph(model)), outputs = svmp_model_outputs(model);
    double *x = calloc(variables * N, sizeof *x), *back = calloc(variables * N, sizeof *back);
    double *natural = calloc(outputs * N, sizeof *natural);
    assert_ok(svmp_model_draw_priors(model, 1, N, x));
    for (size_t k = 0; k < variables * N; k++)
        x[k] = fmin(fmax(x[k], -5), 5); /* draws of a vague prior may round to 0 or 1 */
    assert_ok(svmp_model_natural(model, N, x, natural));
    assert_ok(svmp_model_unconstrain(model, N, natural, back));
    for (size_t k = 0; k < variables * N; k++)
        if (!(fabs(back[k] - x[k]) <= 1e-6 * (1 + fabs(x[k]))))
            fail_msg("%s: variable %zu: %.10g came back as %.10g", name, k / N, x[k], back[k]);
    free(x);
    free(back);
    free(natural);
}

static void check_run(const svmp_model *model, const char *name) {
    run_options options = graphical_options();
    svmp_run *run = NULL;
    svmp_particles *particles = NULL;
    svmp_outcome outcome;
    options.particles = 10;
    options.iterations = 20;
    assert_ok(svmp_run_make(model, &options, &run));
    if (svmp_run_go(run, &outcome) != SVMP_OK) fail_msg("%s: the run failed", name);
    assert_ok(svmp_run_particles(run, &particles));
    assert_int_equal(svmp_particles_variables(particles), svmp_model_outputs(model));
    svmp_particles_free(particles);
    svmp_run_free(run);
}

static void test_every_model(void **state) {
    (void)state;
    for (size_t k = 0; k < ALL_MODELS; k++) {
        if (!can_read_model(all_models[k])) continue;
        svmp_context *context = test_context(1);
        svmp_model *model = read_model(context, all_models[k]);
        check_gradient(model, all_models[k][0]);
        check_curvature(model, all_models[k][0]);
        check_natural(model, all_models[k][0]);
        check_run(model, all_models[k][0]);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

static void run_model(const svmp_model *model, svmp_particles **particles) {
    run_options options = graphical_options();
    svmp_run *run = NULL;
    svmp_outcome outcome;
    options.particles = 20;
    options.iterations = 10;
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_go(run, &outcome));
    assert_ok(svmp_run_particles(run, particles));
    svmp_run_free(run);
}

/* The Gaussian grid from Matrix Market files, from the language, and by calls: the same particles to rounding. */
static void test_one_gaussian_three_ways(void **state) {
    (void)state;
    static const char *const files[] = {"grid.mtx", "grid_b.mtx", NULL}, *const text[] = {"gaussian_grid.bug",
                                                                                          "gaussian_grid.json", NULL};
    if (!can_read_model(text)) skip();
    svmp_context *context = test_context(1);
    svmp_model *way[3] = {read_model(context, files), read_model(context, text), NULL};
    size_t variables = svmp_graph_variables(svmp_model_graph(way[0]));
    double *x = calloc(variables, sizeof *x), *b = calloc(variables, sizeof *b), *row = calloc(variables, sizeof *row);

    /* By calls: the score is b - Ax, so the scores at 0 and at unit vectors are b and the columns of A. */
    assert_ok(svmp_model_create(context, &way[2]));
    for (size_t i = 0; i < variables; i++) assert_ok(svmp_model_add_node(way[2], NULL, 1, NULL, NULL, NULL));
    assert_ok(svmp_model_evaluate(way[0], 1, x, NULL, b));
    for (size_t i = 0; i < variables; i++) {
        x[i] = 1;
        assert_ok(svmp_model_evaluate(way[0], 1, x, NULL, row));
        x[i] = 0;
        double own = b[i] - row[i];
        assert_ok(svmp_model_add_gaussian(way[2], 1, &i, &own, &b[i]));
        for (size_t j = 0; j < i; j++) {
            double entry = b[j] - row[j];
            if (fabs(entry) < 1e-12) continue;
            assert_ok(svmp_model_add_gaussian(way[2], 2, (size_t[]){j, i}, (double[]){0, entry, entry, 0}, NULL));
        }
    }
    assert_ok(svmp_model_finish(way[2]));

    for (int k = 0; k < 3; k++) assert_true(svmp_model_is_gaussian(way[k]));
    svmp_particles *particles[3] = {NULL, NULL, NULL};
    for (int k = 0; k < 3; k++) run_model(way[k], &particles[k]);
    for (size_t k = 0; k < variables * 20; k++)
        for (int other = 1; other < 3; other++)
            assert_near(svmp_particles_values(particles[other])[k], svmp_particles_values(particles[0])[k], 1e-9);
    assert_memory_equal(svmp_particles_values(particles[1]), svmp_particles_values(particles[0]),
                        variables * 20 * sizeof(double)); /* both files have the same numbers: the same bits */
    for (size_t i = 0; i < variables; i++)
        assert_string_equal(svmp_particles_name(particles[0], i), svmp_particles_name(particles[1], i));
    for (int k = 0; k < 3; k++) {
        svmp_particles_free(particles[k]);
        svmp_model_free(way[k]);
    }
    free(x);
    free(b);
    free(row);
    svmp_context_free(context);
}

/* A run writes natural values, and another run can start from them. */
static void test_start_from_natural_values(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = read_model(context, (const char *const[]){"schools.bug", "schools.R", NULL});
    run_options options = graphical_options();
    svmp_run *run = NULL;
    svmp_particles *first = NULL, *again = NULL;
    options.particles = 5;
    options.init = "prior";
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_particles(run, &first));
    for (size_t i = 0; i < svmp_particles_variables(first); i++)
        if (strcmp(svmp_particles_name(first, i), "tau") == 0)
            for (size_t l = 0; l < 5; l++) assert_true(svmp_particles_values(first)[i * 5 + l] > 0);
    svmp_run_free(run);
    options.init = "normal:1";
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_start_from(run, first));
    assert_ok(svmp_run_particles(run, &again));
    for (size_t k = 0; k < svmp_particles_variables(first) * 5; k++)
        assert_near(svmp_particles_values(again)[k], svmp_particles_values(first)[k], 1e-12);
    svmp_particles_free(first);
    svmp_particles_free(again);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_model_is_here),
        cmocka_unit_test(test_every_model),
        cmocka_unit_test(test_one_gaussian_three_ways),
        cmocka_unit_test(test_start_from_natural_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
