/* Figure 6: a crowd of workers answers 80 questions, 10 of them with known answers. All is measured on the 70 unknown
 * answers. With --answers and --truth the crowd is a random part of a table; otherwise it is drawn from the model. The
 * reference is NUTS from the true answers (and, where they are known, the workers' true bias and noise). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "crowd.h"
#include "nuts_reference.h"
#include "paper_measure.h"

enum { ITERATIONS = 3000, QUESTIONS = 80, CONTROLS = 10, CHAINS = 4, PURPOSE_CROWD = 1 };
static const size_t particles[] = {10, 20, 50, 100}, quick_particles[] = {20};

#define ADAGRAD  "adagrad:0.5", "adagrad:1", "adagrad:2", "adagrad:5", "adagrad:10"
#define CONSTANT "fixed:0.01", "fixed:0.03", "fixed:0.06", "fixed:0.1"
#define FALLING  "fixed:0.02..0.002", "fixed:0.03..0.003", "fixed:0.1..0.01", "fixed:0.2..0.02", "fixed:0.3..0.03"
static const candidate_steps methods[] = {
    {"graphical", {ADAGRAD}}, {"vanilla", {ADAGRAD}}, {"langevin", {CONSTANT, FALLING}}, {DEFAULT_METHOD, {0}}, {0}};

typedef struct problem {
    crowd people;
    svmp_model *model, *boxed;
    svmp_particles *reference; /* of the unknown answers */
    size_t *variable;          /* their places among all variables */
    double r_hat, *truth, *mean, *variance, *error;
} problem;

/* Of a table's questions. */
static size_t controls_of(const crowd *table) {
    return CONTROLS < table->questions / 2 ? CONTROLS : table->questions / 4;
}

static int make_crowd(const task *t, crowd *c) {
    const paper_options *o = &t->paper->options;
    dice d = dice_make(o->seed, t->figure->number, t->trial, PURPOSE_CROWD);
    if (o->answers == NULL || t->trial >= VALIDATION) return crowd_draw(&d, QUESTIONS, CONTROLS, c);
    crowd all;
    int status = crowd_read(o->answers, o->truth, NULL, &all);
    if (status == 0) status = crowd_part(&d, &all, controls_of(&all), c);
    crowd_free(&all);
    return status;
}

/* All chains at the truth; values that the table lacks are 0. */
static int true_start(const task *t, const problem *p, svmp_particles **start) {
    const size_t d = svmp_graph_variables(svmp_model_graph(p->model));
    svmp_status status = svmp_particles_create(t->context, d, CHAINS, NULL, start);
    for (size_t i = 0; i < d && status == SVMP_OK; i++) {
        char name[64];
        status = svmp_particles_set_name(*start, i, svmp_model_variable_name(p->model, i, name, sizeof name));
        const char *index = strchr(name, '.'); /* none: the only one, such as the bias of a single worker */
        const size_t k = index ? strtoul(index + 1, NULL, 10) - 1 : 0;
        const double *of = *name == 'x' ? p->people.truth : *name == 'b' ? p->people.bias : p->people.lnu;
        for (size_t l = 0; l < CHAINS; l++) svmp_particles_values(*start)[i * CHAINS + l] = of ? of[k] : 0;
    }
    return status == SVMP_OK ? 0 : task_failed(t, status);
}

/* The unknown answers among the particles. */
static int answers_of(const task *t, const problem *p, const svmp_particles *all, svmp_particles **answers) {
    const size_t count = crowd_unknown(&p->people, all, p->variable, p->truth);
    const svmp_status status = svmp_particles_select(all, count, p->variable, 1, answers);
    return status == SVMP_OK ? 0 : task_failed(t, status);
}

/* Those of the reference, and its moments of them. */
static int take_answers(const task *t, problem *p, const reference *nuts) {
    const int status = answers_of(t, p, nuts->draws, &p->reference);
    for (size_t k = 0; status == 0 && k < svmp_particles_variables(p->reference); k++) {
        const size_t i = p->variable[k];
        p->mean[k] = nuts->mean[i];
        p->variance[k] = nuts->square[i] - nuts->mean[i] * nuts->mean[i];
        p->error[k] = nuts->error[i];
    }
    p->r_hat = nuts->r_hat;
    return status;
}

static int find_reference(const task *t, problem *p) {
    const int quick = t->paper->options.quick;
    const size_t questions = p->people.questions;
    svmp_particles *start = NULL;
    reference nuts = {0};
    p->variable = calloc(questions, sizeof *p->variable);
    p->truth = calloc(4 * questions, sizeof *p->truth);
    if (p->variable == NULL || p->truth == NULL) return task_no_memory();
    p->mean = p->truth + questions;
    p->variance = p->mean + questions;
    p->error = p->variance + questions;
    int status = true_start(t, p, &start);
    const reference_plan plan = {.start = start,
                                 .chains = CHAINS,
                                 .warmup = 1000,
                                 .draws = quick ? 1000 : 16000,
                                 .most = quick ? 1000 : 32000,
                                 .kept = 500};
    if (status == 0) status = reference_get(t, p->model, plan, &nuts);
    if (status == 0) status = take_answers(t, p, &nuts);
    reference_free(&nuts);
    svmp_particles_free(start);
    return status;
}

/* `answers` are NULL where the run diverged. */
static int add_rows(task *t, const problem *p, place where, svmp_particles *answers) {
    svmp_comparison c = {INFINITY, INFINITY, INFINITY};
    const svmp_status compared = answers ? svmp_particles_compare(answers, p->reference, &c) : SVMP_OK;
    if (compared != SVMP_OK) return task_failed(t, compared);
    int status = add_value(t, where, "truth", answers ? mse_mean(answers, p->truth) : INFINITY);
    if (p->r_hat >= REFERENCE_LIMIT && !t->only && !t->paper->options.quick) return status;
    const double variance = answers ? mse_variance(answers, p->variance) : INFINITY;
    if (status == 0) status = add_value(t, where, "mean", answers ? mse_mean(answers, p->mean) : INFINITY);
    if (status == 0) status = add_value(t, where, "posterior_var", variance);
    return status ? status : add_value(t, where, "mmd", c.mmd);
}

static int measure(task *t, const problem *p, const char *method, size_t n) {
    if (!task_runs(t, method)) return 0;
    const settings options = task_options(t, method, n, ITERATIONS);
    svmp_particles *sample = NULL, *answers = NULL;
    const place where = {"", method, options.step, (double)n};
    const svmp_model *model = t->added ? p->model : p->boxed; /* the default method takes no boxes, as NUTS */
    int status = task_run(t, model, &options, NULL, &sample, NULL);
    if (status == 0 && sample) status = answers_of(t, p, sample, &answers);
    if (status == 0) status = add_rows(t, p, where, answers);
    svmp_particles_free(answers);
    svmp_particles_free(sample);
    return status;
}

static int check(const paper_options *o) {
    crowd all;
    if (o->answers == NULL) return 0;
    int status = crowd_read(o->answers, o->truth, NULL, &all);
    if (status == 0) status = crowd_suits(&all, o->answers, controls_of(&all));
    crowd_free(&all);
    return status;
}

static uint64_t inputs(const paper_options *o) {
    return o->answers ? file_number(o->truth, file_number(o->answers, 0)) : 0;
}

static int trial(task *t) {
    const int quick = t->paper->options.quick;
    const size_t *ns = quick ? quick_particles : particles;
    problem p = {0};
    int status = make_crowd(t, &p.people);
    if (status == 0) status = crowd_model(t, &p.people, 0, &p.model);
    if (status == 0) status = crowd_model(t, &p.people, 1, &p.boxed);
    if (status == 0) status = find_reference(t, &p);
    for (size_t k = 0; status == 0 && k < (quick ? 1 : 4); k++)
        for (const candidate_steps *m = methods; m->method && status == 0; m++)
            if (task_takes(t, ns[k])) status = measure(t, &p, m->method, ns[k]);
    const place nuts = {"", "nuts", NULL, 0};
    const int contends = !t->only && !t->added;
    if (status == 0 && contends) status = add_value(t, nuts, "rhat", p.r_hat);
    if (status == 0 && contends) status = add_value(t, nuts, "truth", mse_mean(p.reference, p.truth));
    if (status == 0 && contends)
        status = add_value(t, nuts, "noise", mean_of_squares(svmp_particles_variables(p.reference), p.error));
    svmp_particles_free(p.reference);
    svmp_model_free(p.model);
    svmp_model_free(p.boxed);
    crowd_free(&p.people);
    free(p.variable);
    free(p.truth);
    return status;
}

const figure figure_6 = {
    .name = "fig6",
    .number = 6,
    .trials = 50,
    .quick_trials = 8,
    .default_trials = 3,
    .methods = methods,
    .search_particles = 50,
    .search_problems = 3,
    .trial = trial,
    .check = check,
    .inputs = inputs,
    .budget = "3000 score evaluations a particle",
};
