/* Figure 1: the variance that SVGD finds for N(0, I_d), as the dimension grows: one kernel on all variables against one
 * on each variable alone. Both start from draws of N(0, I_d), that is, from the answer; the question is where they
 * stay. So the step is chosen by the Stein discrepancy that they descend, not by the variance. */
#include <math.h>
#include <stdlib.h>

#include "paper_measure.h"

enum { ITERATIONS = 1000 };
static const size_t dimensions[] = {1, 2, 5, 10, 20, 50, 100}, quick_dimensions[] = {1, 10, 100};
static const size_t particles[] = {5, 10, 20, 50, 100, 200}, quick_particles[] = {20};

#define ADAGRAD "adagrad:0.02", "adagrad:0.05", "adagrad:0.1", "adagrad:0.2", "adagrad:0.5", "adagrad:1"
static const candidate_steps methods[] = {
    {"vanilla", {ADAGRAD}}, {"independent", {ADAGRAD}}, {DEFAULT_METHOD, {0}}, {0}};

static int measure(task *t, const svmp_model *model, size_t d, const char *method, size_t n) {
    if (!task_runs(t, method)) return 0;
    const settings options = task_options(t, method, n, ITERATIONS);
    svmp_particles *sample = NULL;
    convergence reached = {INFINITY, 1};
    double sum = 0;
    int status = task_run(t, model, &options, NULL, &sample, &reached);
    if (status) return status;
    for (size_t i = 0; sample && i < d; i++) {
        double mean, variance;
        mean_and_variance(sample, i, &mean, &variance);
        sum += variance;
    }
    char series[16];
    snprintf(series, sizeof series, "d=%zu", d);
    const place where = {series, method, options.step, (double)n};
    status = add_value(t, where, "variance", sample ? sum / (double)d : INFINITY);
    if (status == 0) status = add_value(t, where, "stein", reached.v);
    svmp_particles_free(sample);
    return status;
}

static int trial_of_dimension(task *t, size_t d, const size_t *ns, size_t count) {
    char path[PATH_SIZE], part[32], text[64];
    svmp_model *model = NULL;
    snprintf(part, sizeof part, "d%zu", d);
    task_path(t, "problems", part, "R", path);
    const int length = snprintf(text, sizeof text, "d <- %zu\n", d);
    int status = write_output(path, text, (size_t)length, 1);
    if (status == 0) status = task_model(t, "normal", path, &model);
    for (size_t k = 0; status == 0 && k < count; k++) {
        if (!task_takes(t, ns[k])) continue;
        for (const candidate_steps *m = methods; m->method && status == 0; m++)
            status = measure(t, model, d, m->method, ns[k]);
    }
    svmp_model_free(model);
    return status;
}

static int trial(task *t) {
    const int quick = t->paper->options.quick;
    const size_t *ds = quick ? quick_dimensions : dimensions, *ns = quick ? quick_particles : particles;
    int status = 0;
    for (size_t k = 0; status == 0 && k < (quick ? 3 : 7); k++)
        status = trial_of_dimension(t, ds[k], ns, quick ? 1 : 6);
    return status;
}

const figure figure_1 = {
    .name = "fig1",
    .number = 1,
    .trials = 20,
    .quick_trials = 6,
    .default_trials = 3,
    .methods = methods,
    .search_particles = 50,
    .search_problems = 2,
    .objective = "stein",
    .trial = trial,
    .budget = "1000 score evaluations a particle",
};
