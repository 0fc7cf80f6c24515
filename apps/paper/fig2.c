/* Figure 2: Gaussian Markov random fields on a 10 x 10 grid. (a-c) neighbours only, as the particles grow in number;
 * (d) 20 particles, as the graph becomes denser: all points up to a distance r joined. */
#include <math.h>

#include "paper_gaussian.h"

enum { ITERATIONS = 1000, SIDE = 10, FEW = 20 };
static const size_t particles[] = {10, 20, 50, 100, 200}, quick_particles[] = {20, 50};
static const size_t radii[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}, quick_radii[] = {1, 3, 14};

#define ADAGRAD  "adagrad:0.5", "adagrad:1", "adagrad:2", "adagrad:5", "adagrad:10", "adagrad:20"
#define CONSTANT "fixed:0.02", "fixed:0.05", "fixed:0.1", "fixed:0.2", "fixed:0.5", "fixed:1"
#define FALLING  "fixed:0.1..0.01", "fixed:0.2..0.02", "fixed:0.5..0.05", "fixed:1..0.1", "fixed:2..0.2"
static const candidate_steps methods[] = {
    {"graphical", {ADAGRAD}}, {"vanilla", {ADAGRAD}}, {"langevin", {CONSTANT, FALLING}},
    {"exact", {0}},           {DEFAULT_METHOD, {0}},  {0}};

static int near(size_t i, size_t j, double radius) {
    const double rows = (double)(i / SIDE) - (double)(j / SIDE), columns = (double)(i % SIDE) - (double)(j % SIDE);
    return hypot(rows, columns) <= radius + 1e-9;
}

static int many_particles(task *t, const size_t *ns, size_t count) {
    gaussian_problem problem;
    int status = gaussian_draw(t, (size_t)SIDE * SIDE, near, 1, NULL, &problem);
    for (size_t k = 0; k < count && status == 0; k++) {
        if (!task_takes(t, ns[k])) continue;
        for (const candidate_steps *m = methods; m->method && status == 0; m++)
            status = gaussian_measure(t, &problem, "", m->method, ns[k], ITERATIONS, (double)ns[k]);
    }
    gaussian_free(&problem);
    return status;
}

static int denser_graph(task *t, size_t radius) {
    static const char *const shown[] = {"graphical", "vanilla", DEFAULT_METHOD};
    char part[32];
    gaussian_problem problem;
    snprintf(part, sizeof part, "r%zu", radius);
    int status = gaussian_draw(t, (size_t)SIDE * SIDE, near, (double)radius, part, &problem);
    for (size_t k = 0; k < 3 && status == 0; k++)
        status = gaussian_measure(t, &problem, "radius", shown[k], FEW, ITERATIONS, (double)radius);
    gaussian_free(&problem);
    return status;
}

static int trial(task *t) {
    const int quick = t->paper->options.quick;
    int status = many_particles(t, quick ? quick_particles : particles, quick ? 2 : 5);
    for (size_t k = 0; status == 0 && t->only == NULL && k < (quick ? 3 : 14); k++)
        status = denser_graph(t, quick ? quick_radii[k] : radii[k]);
    return status;
}

const figure figure_2 = {
    .name = "fig2",
    .number = 2,
    .trials = 50,
    .quick_trials = 6,
    .default_trials = 6,
    .methods = methods,
    .search_particles = 50,
    .search_problems = 4,
    .trial = trial,
    .budget = "1000 score evaluations a particle",
};
