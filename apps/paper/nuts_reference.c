#include "nuts_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "front/error_output.h"
#include "front/memory_file.h"
#include "paper_measure.h"

/* Stops a run at this iteration. */
typedef struct until {
    size_t iteration;
} until;

static int stop_there(const svmp_progress *progress, void *user_data) {
    return pool_stopped() || progress->iteration >= ((const until *)user_data)->iteration;
}

static int room_for_moments(reference *r, size_t d) {
    r->mean = calloc(3 * d + 1, sizeof *r->mean);
    if (r->mean == NULL) return task_no_memory();
    r->square = r->mean + d;
    r->error = r->square + d;
    return 0;
}

/* Moments and R-hat of all draws. */
static int measure_draws(const task *t, svmp_particles *draws, reference *r) {
    const size_t d = svmp_particles_variables(draws);
    svmp_mixing *mixing = calloc(d, sizeof *mixing);
    if (mixing == NULL) return task_no_memory();
    const svmp_status status = svmp_particles_summarise(draws, d, NULL, NULL, mixing);
    r->r_hat = 0;
    for (size_t i = 0; i < d; i++) {
        mean_and_variance(draws, i, &r->mean[i], &r->square[i]);
        r->square[i] += r->mean[i] * r->mean[i];
        r->error[i] = mixing[i].error.mean;
        r->r_hat = fmax(r->r_hat, isnan(mixing[i].r_hat) ? INFINITY : mixing[i].r_hat);
    }
    free(mixing);
    return status == SVMP_OK ? 0 : task_failed(t, status);
}

/* Goes on until the chains have mixed; *draws are all that were made. */
static int sample(const task *t, svmp_run *run, const reference_plan *plan, svmp_particles **draws, reference *r) {
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
        const int failed = measure_draws(t, *draws, r);
        if (failed || r->r_hat < REFERENCE_LIMIT || made >= plan->most) return failed;
    }
    return task_failed(t, status);
}

/* ---- the file -----------------------------------------------------------------------------------------------------*/

/* What a reference depends on: a file with another key is not used. */
static void make_key(const task *t, const reference_plan *plan, char *key, size_t size) {
    char path[PATH_SIZE];
    task_path(t, "problems", NULL, "R", path);
    snprintf(key, size, "problem = %016llx, seed %llu, %zu chains from %s, warm-up %zu, %zu to %zu draws, %zu kept\n",
             (unsigned long long)file_number(path, 0), (unsigned long long)t->paper->options.seed, plan->chains,
             plan->start ? "given places" : plan->init, plan->warmup, plan->draws, plan->most, plan->kept);
}

static char *comments_text(const reference *r, const char *key, size_t chains, size_t each) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_written(&text, &size);
    if (file == NULL) return NULL;
    fprintf(file, "%sNUTS, %zu chains of %zu draws\nr_hat = %.17g\nmoments =", key, chains, each, r->r_hat);
    for (size_t i = 0; i < svmp_particles_variables(r->draws); i++)
        fprintf(file, " %.17g %.17g %.17g", r->mean[i], r->square[i], r->error[i]);
    fputs("\n", file);
    close_written(file, &text);
    return text;
}

static int keep(const task *t, const svmp_particles *draws, const reference_plan *plan, const char *key,
                const char *path, reference *r) {
    const size_t each = svmp_particles_count(draws) / plan->chains;
    svmp_status status = svmp_particles_select(draws, 0, NULL, each > plan->kept ? each / plan->kept : 1, &r->draws);
    if (status != SVMP_OK) return task_failed(t, status);
    char *comments = comments_text(r, key, plan->chains, each);
    if (comments == NULL) return task_no_memory();
    status = svmp_particles_write(r->draws, path, comments, 1);
    free(comments);
    return status == SVMP_OK ? 0 : task_failed(t, status);
}

static int make(const task *t, const svmp_model *model, const reference_plan *plan, const char *key, const char *path,
                reference *r) {
    svmp_run *run = NULL;
    svmp_particles *draws = NULL;
    settings options = task_options(t, "nuts", 1, 1);
    options.step = NULL;
    options.chains = plan->chains;
    options.warmup = plan->warmup;
    options.draws = plan->most;
    if (plan->init) options.init = plan->init;
    int status = room_for_moments(r, svmp_graph_variables(svmp_model_graph(model)));
    if (status) return status;
    svmp_status created = task_create(t, model, &options, &run);
    if (created == SVMP_OK && plan->start) created = svmp_run_start_from(run, plan->start);
    status = created == SVMP_OK ? sample(t, run, plan, &draws, r) : task_failed(t, created);
    if (status == 0) status = keep(t, draws, plan, key, path, r);
    svmp_particles_free(draws);
    svmp_run_free(run);
    return status;
}

/* Whether the comments are those of this key, and what they say. */
static int read_comments(const char *comments, const char *key, size_t d, reference *r) {
    const char *said = strstr(comments, "r_hat = "), *moments = strstr(comments, "moments = ");
    if (strncmp(comments, key, strlen(key)) != 0 || said == NULL || moments == NULL) return 0;
    r->r_hat = strtod(said + 8, NULL);
    char *at = (char *)(uintptr_t)(moments + 10);
    for (size_t i = 0; i < d; i++) {
        r->mean[i] = strtod(at, &at);
        r->square[i] = strtod(at, &at);
        r->error[i] = strtod(at, &at);
    }
    return 1;
}

int reference_get(const task *t, const svmp_model *model, reference_plan plan, reference *r) {
    char path[PATH_SIZE], key[512];
    *r = (reference){0};
    make_key(t, &plan, key, sizeof key);
    task_path(t, "references", NULL, "csv", path);
    if (!file_there(path)) return make(t, model, &plan, key, path, r);
    const svmp_status status = svmp_particles_read(t->context, path, &r->draws);
    if (status != SVMP_OK) return task_failed(t, status);
    const size_t d = svmp_particles_variables(r->draws);
    if (room_for_moments(r, d) != 0) return EXIT_FAILED;
    if (read_comments(svmp_particles_comments(r->draws), key, d, r)) return 0;
    reference_free(r);
    return make(t, model, &plan, key, path, r);
}

void reference_free(reference *r) {
    svmp_particles_free(r->draws);
    free(r->mean);
    *r = (reference){0};
}
