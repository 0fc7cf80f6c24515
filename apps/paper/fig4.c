/* Figure 4: nine sensors and three anchors. A and B measure each other and the sensors C and D alone, so that they may
 * as well lie on the other side of the line through C and D. A method has found both modes when, for A and for B, a
 * tenth of its particles or more is near each of the two places. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fig4.h"
#include "nuts_reference.h"
#include "paper_measure.h"
#include "sensors.h"

enum {
    ITERATIONS = 5000,
    PARTICLES = 50,
    CHAINS = 10,
    ANCHORS = 3,
    SENSORS = 9,
    SENSOR_D = ANCHORS + 4,
    SENSOR_C = ANCHORS + 6,
    SENSOR_A = ANCHORS + 7,
    SENSOR_B = ANCHORS + 8,
    PURPOSE_NETWORK = 1
};
static const double layout[] = {0,    0,    0.55, 0,    0,    0.55,                      /* anchors */
                                0.1,  0.1,  0.3,  0.08, 0.08, 0.3,  0.2,  0.2, 0.5, 0.3, /* the last: D */
                                0.38, 0.02, 0.3,  0.5,  0.52, 0.62, 0.64, 0.5};          /* the last three: C, A, B */
#define START "uniform:0,0.7"
static const double sigma = 0.05, reach = 0.5, near = 0.15, least = 0.1;

#define ADAGRAD  "adagrad:0.005", "adagrad:0.01", "adagrad:0.02", "adagrad:0.05", "adagrad:0.1", "adagrad:0.2"
#define CONSTANT "fixed:0.000003", "fixed:0.00001", "fixed:0.00003", "fixed:0.0001", "fixed:0.0003"
#define FALLING  "fixed:0.0003..0.00003", "fixed:0.001..0.0001"
static const candidate_steps methods[] = {{"graphical", {ADAGRAD}},
                                          {"vanilla", {ADAGRAD}},
                                          {"langevin", {CONSTANT, FALLING}},
                                          {"dpmp", {0}},
                                          {"tpmp", {0}},
                                          {DEFAULT_METHOD, {0}},
                                          {0}};

/* The place of a sensor on the other side of the line through C and D. */
static void mirror(const double *position, size_t sensor, double place_[2]) {
    const double *c = position + 2 * SENSOR_C, *d = position + 2 * SENSOR_D, *a = position + 2 * sensor;
    const double u = d[0] - c[0], v = d[1] - c[1];
    const double along = ((a[0] - c[0]) * u + (a[1] - c[1]) * v) / (u * u + v * v);
    place_[0] = 2 * (c[0] + along * u) - a[0];
    place_[1] = 2 * (c[1] + along * v) - a[1];
}

size_t fig4_marks(map_mark *marks) {
    enum { CROSS = 2, DOT = 7, RING = 6 };
    static const size_t named[] = {SENSOR_A, SENSOR_B};
    static const char *const labels[][2] = {{"A", "A′"}, {"B", "B′"}};
    size_t count = 0;
    for (; count < ANCHORS + SENSORS; count++)
        marks[count] = (map_mark){layout[2 * count], layout[2 * count + 1], count < ANCHORS ? CROSS : DOT, NULL};
    for (size_t k = 0; k < 2; k++) {
        double other[2];
        mirror(layout, named[k], other);
        marks[named[k]].label = labels[k][0];
        marks[count++] = (map_mark){other[0], other[1], RING, labels[k][1]};
    }
    return count;
}

/* The share of a sensor's particles that are near a place. */
static double share_near(svmp_particles *sample, size_t sensor, const double place_[2]) {
    const size_t n = svmp_particles_count(sample), i = 2 * (sensor - ANCHORS);
    const double *x = svmp_particles_values(sample) + i * n, *y = x + n;
    size_t inside = 0;
    for (size_t l = 0; l < n; l++) inside += hypot(x[l] - place_[0], y[l] - place_[1]) < near;
    return (double)inside / (double)n;
}

/* The smaller one of the shares of a sensor's two modes. */
static double smaller_share(const network *net, svmp_particles *sample, size_t sensor) {
    double other[2];
    mirror(net->position, sensor, other);
    return fmin(share_near(sample, sensor, net->position + 2 * sensor), share_near(sample, sensor, other));
}

static int add_shares(task *t, const network *net, place where, svmp_particles *sample) {
    const double a = smaller_share(net, sample, SENSOR_A), b = smaller_share(net, sample, SENSOR_B);
    int status = add_value(t, where, "share_a", a);
    if (status == 0) status = add_value(t, where, "share_b", b);
    return status ? status : add_value(t, where, "found", a >= least && b >= least);
}

/* The particles of the first trial are kept: they are the picture. */
static int keep_picture(const task *t, const char *method, const svmp_particles *sample) {
    char path[PATH_SIZE];
    if (t->trial != 0) return 0;
    task_path(t, "plots", method, "csv", path);
    const svmp_status status = svmp_particles_write(sample, path, NULL, 1);
    return status == SVMP_OK ? 0 : task_failed(t, status);
}

static int measure(task *t, const network *net, const svmp_model *model, const reference *nuts, const char *method) {
    if (!task_runs(t, method)) return 0;
    const int messages = strcmp(method, "dpmp") == 0 || strcmp(method, "tpmp") == 0;
    settings options = task_options(t, method, PARTICLES, messages ? ITERATIONS / (4 * PARTICLES) : ITERATIONS);
    options.init = START;
    svmp_particles *sample = NULL;
    svmp_comparison c = {INFINITY, INFINITY, INFINITY};
    int status = task_run(t, model, &options, NULL, &sample, NULL);
    if (status == 0 && sample) {
        const svmp_status compared = svmp_particles_compare(sample, nuts->draws, &c);
        if (compared != SVMP_OK) status = task_failed(t, compared);
    }
    const place where = {"", method, options.step, PARTICLES};
    if (status == 0) status = add_value(t, where, "mmd", c.mmd);
    if (status == 0 && sample && t->only == NULL) status = add_shares(t, net, where, sample);
    if (status == 0 && sample && t->only == NULL) status = keep_picture(t, method, sample);
    svmp_particles_free(sample);
    return status;
}

static int trial(task *t) {
    network net = {.anchors = ANCHORS, .points = ANCHORS + SENSORS, .position = malloc(sizeof layout)};
    svmp_model *model = NULL;
    reference nuts = {0};
    dice d = dice_make(t->paper->options.seed, t->figure->number, t->trial, PURPOSE_NETWORK);
    int status = net.position ? 0 : task_no_memory();
    if (status == 0) memcpy(net.position, layout, sizeof layout);
    if (status == 0) status = network_measure(&net, &d, reach, sigma);
    if (status == 0) status = network_model(t, &net, "sensors", &model);
    const reference_plan plan = {
        .init = START, .chains = CHAINS, .warmup = 1000, .draws = 2000, .most = 2000, .kept = 200};
    if (status == 0) status = reference_get(t, model, plan, &nuts);
    const place where = {"", "nuts", NULL, PARTICLES};
    const int contends = t->only == NULL && !t->added;
    if (status == 0 && contends) status = add_shares(t, &net, where, nuts.draws);
    if (status == 0 && contends) status = add_value(t, where, "rhat", nuts.r_hat);
    if (status == 0) status = keep_picture(t, "nuts", nuts.draws);
    for (const candidate_steps *m = methods; m->method && status == 0; m++)
        status = measure(t, &net, model, &nuts, m->method);
    reference_free(&nuts);
    svmp_model_free(model);
    network_free(&net);
    return status;
}

const figure figure_4 = {
    .name = "fig4",
    .number = 4,
    .trials = 20,
    .quick_trials = 6,
    .default_trials = 6,
    .methods = methods,
    .search_particles = PARTICLES,
    .search_problems = 2,
    .objective = "mmd",
    .trial = trial,
    .budget = "5000 score evaluations a particle; D-PMP and T-PMP as many evaluations of each pair",
};
