/* Figure 3: a fully connected Gaussian Markov random field of 50 variables, where the blanket is everything: kernels on
 * the node and four neighbours, drawn afresh in each iteration, by themselves and together with one on all variables.
 */
#include "paper_gaussian.h"

enum { ITERATIONS = 1000, VARIABLES = 50 };
static const size_t particles[] = {10, 20, 50, 100, 200}, quick_particles[] = {20, 50};

#define ADAGRAD  "adagrad:0.05", "adagrad:0.1", "adagrad:0.2", "adagrad:0.5", "adagrad:1", "adagrad:2", "adagrad:5"
#define CONSTANT "fixed:0.01", "fixed:0.02", "fixed:0.05", "fixed:0.1", "fixed:0.2", "fixed:0.5"
#define FALLING  "fixed:0.1..0.01", "fixed:0.2..0.02", "fixed:0.5..0.05"
static const candidate_steps methods[] = {{"random", {ADAGRAD}},
                                          {"combined", {ADAGRAD}},
                                          {"vanilla", {ADAGRAD}},
                                          {"langevin", {CONSTANT, FALLING}},
                                          {"exact", {0}},
                                          {DEFAULT_METHOD, {0}},
                                          {0}};

static int always(size_t i, size_t j, double radius) {
    (void)i, (void)j, (void)radius;
    return 1;
}

static int trial(task *t) {
    const int quick = t->paper->options.quick;
    const size_t *ns = quick ? quick_particles : particles;
    gaussian_problem problem;
    int status = gaussian_draw(t, VARIABLES, always, 0, NULL, &problem);
    for (size_t k = 0; k < (quick ? 2 : 5) && status == 0; k++) {
        if (!task_takes(t, ns[k])) continue;
        for (const candidate_steps *m = methods; m->method && status == 0; m++)
            status = gaussian_measure(t, &problem, "", m->method, ns[k], ITERATIONS, (double)ns[k]);
    }
    gaussian_free(&problem);
    return status;
}

const figure figure_3 = {
    .name = "fig3",
    .number = 3,
    .trials = 50,
    .quick_trials = 6,
    .default_trials = 6,
    .methods = methods,
    .search_particles = 50,
    .search_problems = 4,
    .trial = trial,
    .budget = "1000 score evaluations a particle",
};
