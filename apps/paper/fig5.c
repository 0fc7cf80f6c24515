/* Figure 5: 100 sensors, 4 anchors in the corners. Every method from the same two starts: uniform, and from the data
 * alone; the default method also from its own start. The reference is NUTS from the true positions, as in the paper. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nuts_reference.h"
#include "paper_measure.h"
#include "sensors.h"

enum { ITERATIONS = 1000, PASSES_LEAST = 10, SENSORS = 100, ANCHORS = 4, CHAINS = 4, PURPOSE_NETWORK = 1 };
static const double sigma = 0.05, reach = 0.5, start_spread = 0.1;
static const size_t particles[] = {10, 20, 50, 100}, quick_particles[] = {20};
static const char *const starts[] = {"uniform", "data", "own"}; /* the last: of the default method alone */

#define ADAGRAD                                                                                                        \
    "adagrad:0.005", "adagrad:0.01", "adagrad:0.02", "adagrad:0.05", "adagrad:0.1", "adagrad:0.2", "adagrad:0.5"
#define CONSTANT "fixed:0.000003", "fixed:0.00001", "fixed:0.00003", "fixed:0.0001", "fixed:0.0002"
#define FALLING  "fixed:0.0001..0.00001", "fixed:0.0003..0.00003", "fixed:0.0005..0.00005"
static const candidate_steps methods[] = {{"graphical", {ADAGRAD}},
                                          {"vanilla", {ADAGRAD}},
                                          {"langevin", {CONSTANT, FALLING}},
                                          {"dpmp", {0}},
                                          {"tpmp", {0}},
                                          {DEFAULT_METHOD, {0}},
                                          {0}};

typedef struct problem {
    network net;
    svmp_model *model;
    reference nuts;
    double *widest, widest_sd; /* the direction in which the posterior is widest, and how wide */
} problem;

static int draw_network(const task *t, network *net) {
    static const double corners[] = {-1, -1, 1, -1, -1, 1, 1, 1};
    dice d = dice_make(t->paper->options.seed, t->figure->number, t->trial, PURPOSE_NETWORK);
    *net = (network){.anchors = ANCHORS, .points = ANCHORS + SENSORS};
    net->position = malloc(2 * net->points * sizeof *net->position);
    if (net->position == NULL) return task_no_memory();
    memcpy(net->position, corners, sizeof corners);
    for (size_t k = 2 * ANCHORS; k < 2 * net->points; k++) net->position[k] = dice_uniform(&d, -1, 1);
    return network_measure(net, &d, reach, sigma);
}

static int find_reference(const task *t, problem *p) {
    svmp_particles *truth = NULL;
    int status = network_particles(t, &p->net, p->net.position, CHAINS, 0, &truth);
    const int quick = t->paper->options.quick;
    const reference_plan plan = {.start = truth,
                                 .chains = CHAINS,
                                 .warmup = 1000,
                                 .draws = quick ? 1000 : 16000,
                                 .most = quick ? 1000 : 32000,
                                 .kept = 500};
    if (status == 0) status = reference_get(t, p->model, plan, &p->nuts);
    svmp_particles_free(truth);
    if (status) return status;
    p->widest = calloc(svmp_particles_variables(p->nuts.draws), sizeof *p->widest);
    if (p->widest == NULL) return task_no_memory();
    status = widest_direction(p->nuts.draws, p->widest);
    return status ? status : sd_along(p->nuts.draws, p->widest, &p->widest_sd);
}

/* Root mean square over sensors of the distance between where the particles' mean is and where the sensor is. */
static double location_error(const problem *p, svmp_particles *sample) {
    return sqrt(2 * mse_mean(sample, p->net.position + 2 * p->net.anchors));
}

/* What part of the posterior's spread the particles have: of a variable, in the mean, and in the widest direction. */
static int add_spread(task *t, const problem *p, place where, svmp_particles *sample) {
    const size_t d = svmp_particles_variables(sample);
    double sum = 0, sd = 0, mean, variance;
    for (size_t i = 0; i < d; i++) {
        mean_and_variance(sample, i, &mean, &variance);
        sum += sqrt(variance / (p->nuts.square[i] - p->nuts.mean[i] * p->nuts.mean[i]));
    }
    int status = sd_along(sample, p->widest, &sd);
    if (status == 0) status = add_value(t, where, "spread", sum / (double)d);
    return status ? status : add_value(t, where, "widest", sd / p->widest_sd);
}

/* The default method starts from the Gaussian that it finds from there: a file of its own. */
static int start_from_file(const task *t, svmp_particles **from, char init[PATH_SIZE + 16]) {
    char path[PATH_SIZE];
    task_path(t, "references", "start", "csv", path);
    snprintf(init, PATH_SIZE + 16, "gaussian:%s", path);
    const svmp_status status = svmp_particles_write(*from, path, NULL, 1);
    svmp_particles_free(*from);
    *from = NULL;
    return status == SVMP_OK ? 0 : task_failed(t, status);
}

static int measure(task *t, const problem *p, const char *start, const char *method, size_t n) {
    if (!task_runs(t, method)) return 0;
    const int messages = strcmp(method, "dpmp") == 0 || strcmp(method, "tpmp") == 0;
    size_t passes = ITERATIONS / (4 * n); /* tables of (2n)^2 values an edge instead of n scores */
    if (passes < PASSES_LEAST) passes = PASSES_LEAST;
    settings options = task_options(t, method, n, messages ? passes : ITERATIONS);
    options.init = strcmp(start, "own") == 0 ? NULL : "uniform:-1,1";
    char init[PATH_SIZE + 16];
    svmp_particles *from = NULL, *sample = NULL;
    svmp_comparison c = {INFINITY, INFINITY, INFINITY};
    int status = strcmp(start, "data") == 0 ? network_start(t, &p->net, n, start_spread, &from) : 0;
    if (status == 0 && from && t->added) {
        status = start_from_file(t, &from, init);
        options.init = init;
    }
    if (status == 0) status = task_run(t, p->model, &options, from, &sample, NULL);
    if (status == 0 && sample) {
        const svmp_status compared = svmp_particles_compare(sample, p->nuts.draws, &c);
        if (compared != SVMP_OK) status = task_failed(t, compared);
    }
    const place where = {start, method, options.step, (double)n};
    if (status == 0) status = add_value(t, where, "location", sample ? location_error(p, sample) : INFINITY);
    if (p->nuts.r_hat < REFERENCE_LIMIT || t->only || t->paper->options.quick) {
        if (status == 0) status = add_value(t, where, "mean", sample ? mse_mean(sample, p->nuts.mean) : INFINITY);
        if (status == 0) status = add_value(t, where, "square", sample ? mse_square(sample, p->nuts.square) : INFINITY);
        if (status == 0) status = add_value(t, where, "mmd", c.mmd);
        if (status == 0 && sample && t->only == NULL) status = add_spread(t, p, where, sample);
    }
    svmp_particles_free(sample);
    svmp_particles_free(from);
    return status;
}

static int measure_all(task *t, const problem *p) {
    const int quick = t->paper->options.quick;
    const size_t *ns = quick ? quick_particles : particles;
    int status = 0;
    for (size_t s = 0; s < (t->added ? 3 : 2); s++)
        for (size_t k = 0; k < (quick ? 1 : 4); k++)
            for (const candidate_steps *m = methods; m->method && status == 0; m++)
                if (task_takes(t, ns[k])) status = measure(t, p, starts[s], m->method, ns[k]);
    return status;
}

/* What the starts themselves and the reference come to. */
static int measure_marks(task *t, const problem *p) {
    svmp_particles *start = NULL;
    if (t->only || t->added) return 0;
    int status = network_start(t, &p->net, 1, 0, &start);
    const place scaling = {"data", "start", NULL, 0}, nuts = {"", "nuts", NULL, 0};
    if (status == 0) status = add_value(t, scaling, "location", location_error(p, start));
    if (status == 0) status = add_value(t, nuts, "location", location_error(p, p->nuts.draws));
    if (status == 0) status = add_value(t, nuts, "rhat", p->nuts.r_hat);
    if (status == 0)
        status = add_value(t, nuts, "noise", mean_of_squares(svmp_particles_variables(p->nuts.draws), p->nuts.error));
    svmp_particles_free(start);
    return status;
}

static int trial(task *t) {
    problem p = {0};
    int status = draw_network(t, &p.net);
    if (status == 0) status = network_model(t, &p.net, "sensors", &p.model);
    if (status == 0) status = find_reference(t, &p);
    if (status == 0) status = measure_all(t, &p);
    if (status == 0) status = measure_marks(t, &p);
    reference_free(&p.nuts);
    free(p.widest);
    svmp_model_free(p.model);
    network_free(&p.net);
    return status;
}

const figure figure_5 = {
    .name = "fig5",
    .number = 5,
    .trials = 20,
    .quick_trials = 4,
    .default_trials = 2,
    .methods = methods,
    .search_particles = 20,
    .search_problems = 2,
    .trial = trial,
    .budget =
        "1000 score evaluations a particle; D-PMP and T-PMP as many evaluations of each pair, and 10 passes at least",
};
