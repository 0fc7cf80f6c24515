/* One trial at work: its names, its seeds, its runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "front/error_output.h"
#include "paper.h"
#include "paper_random.h"

int task_failed(const task *t, svmp_status status) {
    if (pool_stopped()) return EXIT_INTERRUPTED;
    return report_error(EXIT_FAILED, "%s, trial %zu: %s", t->figure->name, t->trial + 1,
                        *svmp_context_error(t->context) ? svmp_context_error(t->context) : svmp_status_text(status));
}

int task_runs(const task *t, const char *method) {
    const int added = strcmp(method, DEFAULT_METHOD) == 0;
    return t->only ? strcmp(t->only, method) == 0 : added == t->added;
}

int task_takes(const task *t, size_t particles) { return t->only == NULL || particles == t->figure->search_particles; }

/* The seed of the runs of this trial. */
static uint64_t task_seed(const task *t) {
    dice d = dice_make(t->paper->options.seed, t->figure->number, t->trial, 0);
    return dice_word(&d);
}

void task_path(const task *t, const char *kind, const char *part, const char *ending, char path[PATH_SIZE]) {
    const int validation = t->trial >= VALIDATION;
    snprintf(path, PATH_SIZE, "%s/%s/%s_%s%03zu%s%s.%s", t->paper->options.folder, kind, t->figure->name,
             validation ? "validation_" : "", t->trial % VALIDATION + 1, part ? "_" : "", part ? part : "", ending);
}

int task_model(const task *t, const char *name, const char *data_path, svmp_model **model) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/models/%s.bug", t->paper->options.folder, name);
    const char *files[] = {path, data_path};
    const svmp_status status = svmp_model_read(t->context, 2, files, NULL, model);
    return status == SVMP_OK ? 0 : task_failed(t, status);
}

static const char *step_of(const task *t, const char *method) {
    if (t->only) return t->step;
    for (size_t k = 0; k < t->paper->step_count; k++) {
        const chosen_step *s = &t->paper->steps[k];
        if (strcmp(s->figure, t->figure->name) == 0 && strcmp(s->method, method) == 0) return s->step;
    }
    return NULL;
}

settings task_options(const task *t, const char *method, size_t particles, size_t iterations) {
    return (settings){.method = method,
                      .step = step_of(t, method),
                      .particles = particles,
                      .iterations = strcmp(method, DEFAULT_METHOD) == 0 ? 0 : iterations, /* it stops by itself */
                      .seed = task_seed(t)};
}

static svmp_status set_count(svmp_options *made, const char *name, size_t count) {
    return count ? svmp_options_set_count(made, name, count) : SVMP_OK;
}

svmp_status task_create(const task *t, const svmp_model *model, const settings *options, svmp_run **run) {
    svmp_options *made = NULL;
    svmp_status status = svmp_options_create(t->context, &made);
    if (status == SVMP_OK) status = svmp_options_set(made, "method", options->method);
    if (status == SVMP_OK) status = svmp_options_set(made, "step", options->step);
    if (status == SVMP_OK) status = svmp_options_set(made, "init", options->init);
    if (status == SVMP_OK) status = svmp_options_set_count(made, "particles", options->particles);
    if (status == SVMP_OK) status = set_count(made, "iterations", options->iterations);
    if (status == SVMP_OK) status = set_count(made, "chains", options->chains);
    if (status == SVMP_OK) status = set_count(made, "warmup", options->warmup);
    if (status == SVMP_OK) status = set_count(made, "draws", options->draws);
    if (status == SVMP_OK) status = svmp_options_set_count(made, "seed", options->seed);
    if (status == SVMP_OK) status = svmp_run_create(model, made, run);
    svmp_options_free(made);
    return status;
}

static int stop_on_signal(const svmp_progress *progress, void *user_data) {
    (void)progress;
    (void)user_data;
    return pool_stopped();
}

static svmp_status measure_draws(const svmp_run *run, const svmp_model *model, convergence *c) {
    svmp_discrepancy total;
    const size_t count = svmp_graph_nodes(svmp_model_graph(model));
    svmp_discrepancy *nodes = calloc(count, sizeof *nodes);
    if (nodes == NULL) return SVMP_NO_MEMORY;
    const svmp_status status = svmp_run_discrepancy(run, &total, nodes);
    *c = (convergence){.v = total.v};
    for (size_t k = 0; k < count; k++) c->beyond += (svmp_discrepancy_excess(&nodes[k]) > 1) / (double)count;
    free(nodes);
    return status;
}

int task_run(const task *t, const svmp_model *model, const settings *options, const svmp_particles *start,
             svmp_particles **particles, convergence *c) {
    svmp_run *run = NULL;
    svmp_outcome outcome = SVMP_UNFINISHED;
    *particles = NULL;
    svmp_status status = task_create(t, model, options, &run);
    if (status == SVMP_OK && start) status = svmp_run_start_from(run, start);
    if (status == SVMP_OK) status = svmp_run_set_monitor(run, stop_on_signal, NULL);
    if (status == SVMP_OK) status = svmp_run_go(run, &outcome);
    const int diverged = status == SVMP_NOT_FINITE;
    if (status == SVMP_OK && outcome != SVMP_STOPPED) status = svmp_run_particles(run, particles);
    if (status == SVMP_OK && c && *particles) status = measure_draws(run, model, c);
    svmp_run_free(run);
    if (diverged) return 0;
    if (status != SVMP_OK) return task_failed(t, status);
    return outcome == SVMP_STOPPED ? EXIT_INTERRUPTED : 0;
}
