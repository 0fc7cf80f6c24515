#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

/* Lets a run go until so many draws of each chain are there. */
typedef struct until {
    size_t iteration;
} until;

static int stop_there(const svmp_progress *progress, void *user_data) {
    return pool_stopped() || progress->iteration >= ((const until *)user_data)->iteration;
}

static int largest_r_hat(const task *t, const svmp_particles *draws, double *largest) {
    const size_t d = svmp_particles_variables(draws);
    svmp_mixing *mixing = calloc(d, sizeof *mixing);
    if (mixing == NULL) return task_no_memory();
    const svmp_status status = svmp_particles_summarise(draws, d, NULL, NULL, mixing);
    *largest = 0;
    for (size_t i = 0; i < d; i++) *largest = fmax(*largest, mixing[i].r_hat);
    free(mixing);
    return status == SVMP_OK ? 0 : task_failed(t, status);
}

/* Goes on until the chains have mixed; *draws are all that were made. */
static int sample(const task *t, svmp_run *run, const reference_plan *plan, svmp_particles **draws, double *r_hat) {
    until end = {plan->warmup + plan->draws};
    svmp_outcome outcome = SVMP_STOPPED;
    svmp_status status = svmp_run_set_monitor(run, stop_there, &end);
    for (size_t made = plan->draws; status == SVMP_OK; made *= 2) {
        end.iteration = plan->warmup + made;
        status = svmp_run_go(run, &outcome);
        if (pool_stopped()) return EXIT_INTERRUPTED;
        svmp_particles_free(*draws);
        *draws = NULL;
        if (status == SVMP_OK) status = svmp_run_particles(run, draws);
        if (status != SVMP_OK) break;
        const int failed_ = largest_r_hat(t, *draws, r_hat);
        if (failed_ || *r_hat < REFERENCE_LIMIT || made >= plan->most) return failed_;
    }
    return task_failed(t, status);
}

static int keep(const task *t, const svmp_particles *draws, const reference_plan *plan, double r_hat, const char *path,
                svmp_particles **kept) {
    char comments[256];
    const size_t each = svmp_particles_count(draws) / plan->chains;
    snprintf(comments, sizeof comments, "NUTS, %zu chains of %zu draws\nr_hat = %.6f\n", plan->chains, each, r_hat);
    svmp_status status = svmp_particles_select(draws, 0, NULL, each > plan->kept ? each / plan->kept : 1, kept);
    if (status == SVMP_OK) status = svmp_particles_write(*kept, path, comments, 1);
    return status == SVMP_OK ? 0 : task_failed(t, status);
}

static int make(const task *t, const svmp_model *model, const reference_plan *plan, const char *path,
                svmp_particles **kept, double *r_hat) {
    svmp_run *run = NULL;
    svmp_particles *draws = NULL;
    svmp_run_options options = task_options(t, "nuts", 1, 1);
    options.step = NULL;
    options.chains = plan->chains;
    options.warmup = plan->warmup;
    options.draws = plan->most;
    if (plan->init) options.init = plan->init;
    svmp_status created = svmp_run_create(model, &options, &run);
    if (created == SVMP_OK && plan->start) created = svmp_run_start_from(run, plan->start);
    int status = created == SVMP_OK ? sample(t, run, plan, &draws, r_hat) : task_failed(t, created);
    if (status == 0) status = keep(t, draws, plan, *r_hat, path, kept);
    svmp_particles_free(draws);
    svmp_run_free(run);
    return status;
}

int reference_get(const task *t, const svmp_model *model, reference_plan plan, svmp_particles **draws, double *r_hat) {
    char path[PATH_SIZE];
    *draws = NULL;
    task_path(t, "references", NULL, "csv", path);
    if (!file_there(path)) return make(t, model, &plan, path, draws, r_hat);
    const svmp_status status = svmp_particles_read(t->context, path, draws);
    if (status != SVMP_OK) return task_failed(t, status);
    const char *said = strstr(svmp_particles_comments(*draws), "r_hat = ");
    *r_hat = said ? strtod(said + 8, NULL) : NAN;
    return 0;
}
