/* Saves and loads a run: first the identity of its model and options, then its state. */
#include <string.h>

#include "backend/device_backend.h"
#include "base/number.h"
#include "model/fingerprint.h"
#include "run/checkpoint_file.h"
#include "run/option_table.h"
#include "run/run.h"

/* ---- of what it is ----------------------------------------------------------------------------------------------- */

static svmp_status version(checkpoint *file) {
    const char *saved;
    if (!file->archive.loading) return svmp_checkpoint_put_text(file, "svmp", svmp_version());
    SVMP_TRY(svmp_checkpoint_take_text(file, "svmp", &saved));
    if (saved == NULL || strcmp(saved, svmp_version()) == 0) return SVMP_OK;
    return svmp_fail(
        file->archive.context, SVMP_BAD_INPUT,
        "The checkpoint '%s' was written by svmp %.40s; this is svmp %s, which may compute different numbers.",
        file->path, saved, svmp_version());
}

static svmp_status model(checkpoint *file, const svmp_run *run, fingerprint now) {
    fingerprint saved = now;
    svmp_context *context = run->context;
    SVMP_TRY(svmp_archive_count(&file->archive, "nodes", &saved.nodes));
    SVMP_TRY(svmp_archive_count(&file->archive, "variables", &saved.variables));
    SVMP_TRY(svmp_archive_count(&file->archive, "factors", &saved.factors));
    SVMP_TRY(file->archive.numbers(&file->archive, "structure", ARCHIVE_COUNTS, 1, &saved.structure));
    SVMP_TRY(file->archive.numbers(&file->archive, "density", ARCHIVE_COUNTS, 1, &saved.density));
    if (saved.nodes != now.nodes || saved.variables != now.variables || saved.factors != now.factors)
        return svmp_fail(context, SVMP_BAD_INPUT,
                         "The checkpoint '%s' belongs to another model: that has %zu nodes, %zu variables and %zu "
                         "factors, this one has %zu, %zu and %zu.",
                         file->path, saved.nodes, saved.variables, saved.factors, now.nodes, now.variables,
                         now.factors);
    if (saved.structure != now.structure)
        return svmp_fail(
            context, SVMP_BAD_INPUT,
            "The checkpoint '%s' belongs to another model: the same size, but other names, bounds or edges.",
            file->path);
    if (saved.density != now.density)
        return svmp_fail(context, SVMP_BAD_INPUT,
                         "The checkpoint '%s' belongs to another model: the same graph, but other numbers in the "
                         "factors or other data.",
                         file->path);
    return SVMP_OK;
}

/* The iterations, and the draws of a sampler, may be increased, which continues a longer run. This is not possible if
 * the step decreases over the whole run, because it would have decreased more slowly. */
static svmp_status may_grow(const checkpoint *file, const svmp_run *run, const char *name, const char *saved,
                            const char *now) {
    size_t before = 0, after = 0;
    if (!svmp_number_parse_size(saved, saved + strlen(saved), &before) ||
        !svmp_number_parse_size(now, now + strlen(now), &after) || after < before)
        return svmp_fail(run->context, SVMP_BAD_INPUT,
                         "The checkpoint '%s' has %s = %.40s, but this run has %s = %s, which must not be smaller.",
                         file->path, name, saved, name, now);
    if (run->method->step && run->step.from != run->step.to && after > before)
        return svmp_fail(run->context, SVMP_BAD_INPUT,
                         "The checkpoint '%s' has %s = %s, which cannot be increased to %s: the step size decreases "
                         "from %g to %g over the run.",
                         file->path, name, saved, now, run->step.from, run->step.to);
    return SVMP_OK;
}

/* Checkpoints of svmp 0.2.0 store the requested backend. If that is `auto`, they continue with whatever it selects now.
 * It may also be a GPU that was not used. */
static svmp_status other_backend(const checkpoint *file, const svmp_run *run, const char *saved, const char *now) {
    if (run->method->on_host && svmp_device_is_named(saved)) return SVMP_OK;
    if (strcmp(saved, svmp_backend_auto.name) != 0)
        return svmp_run_refuse_backend(run->context, file->path, saved, now);
    svmp_log(
        run->context, SVMP_LOG_WARNING,
        "The checkpoint '%s' does not say whether it was written on the CPU or on a GPU; the run continues with the "
        "backend '%s'.",
        file->path, now);
    return SVMP_OK;
}

static svmp_status option(checkpoint *file, const svmp_run *run, const option_row *row) {
    char item[ARCHIVE_NAME + 1], buffer[NUMBER_TEXT];
    const char *saved, *name = row->option.name, *now = svmp_run_options_text(&run->options, row, buffer);
    const int iterations = strcmp(name, "iterations") == 0,
              draws = strcmp(name, "draws") == 0 && run->method->answers == 0,
              by_backend = strcmp(name, "backend") == 0;
    snprintf(item, sizeof item, CHECKPOINT_OPTION "%s", name);
    if (by_backend) now = run->backend->local->name; /* what `auto` has selected */
    if (iterations &&
        (run->method->yield != SVMP_YIELD_CHAINS || run->method->sweeps)) /* the method's default, unless given */
        snprintf(buffer, sizeof buffer, "%zu", run->iterations), now = buffer;
    if (!file->archive.loading) return svmp_checkpoint_put_text(file, item, now);
    SVMP_TRY(svmp_checkpoint_take_text(file, item, &saved));
    if (saved == NULL || strcmp(saved, now) == 0) return SVMP_OK;
    if (iterations || draws) return may_grow(file, run, name, saved, now);
    if (by_backend) return other_backend(file, run, saved, now);
    return svmp_fail(run->context, SVMP_BAD_INPUT, "The checkpoint '%s' has %s = %.200s, but this run has %s = %.200s.",
                     file->path, name, *saved ? saved : "(the method's default)", name,
                     *now ? now : "(the method's default)");
}

static svmp_status options(checkpoint *file, const svmp_run *run) {
    size_t count;
    const option_row *all = svmp_option_rows(&count);
    for (size_t k = 0; k < count; k++) SVMP_TRY(option(file, run, &all[k]));
    return SVMP_OK;
}

static svmp_status start(checkpoint *file, const svmp_run *run) {
    uint64_t saved = run->started_from;
    SVMP_TRY(file->archive.numbers(&file->archive, "start", ARCHIVE_COUNTS, 1, &saved));
    if (saved == run->started_from) return SVMP_OK;
    return svmp_fail(run->context, SVMP_BAD_INPUT, "The checkpoint '%s' belongs to a run that started from %s.",
                     file->path, saved ? "other particles" : "random particles, not from a file");
}

/* Texts are written, read and compared by the process that has the file, numbers by all. */
static svmp_status identity(checkpoint *file, const svmp_run *run) {
    fingerprint now = {0};
    svmp_status status = svmp_fingerprint_take(run->model, &now);
    if (status == SVMP_OK) status = version(file);
    SVMP_TRY(svmp_model_agree_all(run->model, status));
    SVMP_TRY(model(file, run, now));
    SVMP_TRY(svmp_model_agree_all(run->model, options(file, run)));
    return start(file, run);
}

/* ---- where it stands --------------------------------------------------------------------------------------------- */

/* Saves or loads an array of the backend, n numbers per variable. */
static svmp_status array(archive *a, const char *name, backend_array which, size_t n, backend *b) {
    double *values;
    SVMP_TRY(svmp_backend_edit(b, which, &values));
    if (values == NULL) return SVMP_OK; /* unused */
    SVMP_TRY(svmp_archive_rows(a, name, n, values));
    return a->loading ? svmp_backend_commit(b, which) : SVMP_OK;
}

svmp_status svmp_run_archive(svmp_run *run, archive *a) {
    backend *b = run->backend;
    SVMP_TRY(svmp_archive_count(a, "iteration", &run->iteration));
    if (run->iteration > run->iterations)
        return svmp_fail(run->context, SVMP_BAD_INPUT,
                         "The checkpoint is at iteration %zu, but this run has only %zu iterations.", run->iteration,
                         run->iterations);
    if (!a->loading) SVMP_TRY(svmp_backend_gather(run->own, b));
    SVMP_TRY(svmp_archive_real(a, "rate", &run->rate));
    SVMP_TRY(svmp_archive_real(a, "largest", &b->largest));
    SVMP_TRY(svmp_history_archive(a, "way", &run->trace));
    SVMP_TRY(svmp_history_archive(a, "measured", &run->measured));
    SVMP_TRY(array(a, "x", ARRAY_PARTICLES, b->n, b));
    SVMP_TRY(array(a, "step first", ARRAY_STEP_FIRST, b->n, b));
    SVMP_TRY(array(a, "step second", ARRAY_STEP_SECOND, b->n, b));
    SVMP_TRY(array(a, "sd", ARRAY_SD, 1, b));
    if (a->loading) SVMP_TRY(svmp_backend_take(run->own, b));
    return run->method->state ? run->method->state(run, a) : SVMP_OK;
}

/* In a file, rows are those of all processes: each has those of its own nodes, or all have all of them. */
static svmp_status state(checkpoint *file, svmp_run *run) {
    const svmp_graph *graph = run->model->graph;
    const size_t many = svmp_spread_most(graph->whole_variables, run->backend->n),
                 one = svmp_spread_most(graph->whole_variables, 1);
    spread own = {0};
    svmp_status status;
    file->variables = graph->variables;
    if (run->model->sharers) return svmp_run_archive(run, &file->archive);
    SVMP_CHECK(svmp_spread_open(run->context, file->peers, graph->whole_variables, graph->moved_variables,
                                graph->variable_key, many > one ? many : one, SVMP_OK, &own));
    file->own = &own;
    SVMP_CHECK(svmp_run_archive(run, &file->archive));
done:
    file->own = NULL;
    svmp_spread_close(&own);
    return status;
}

svmp_status svmp_run_save(svmp_run *run, const char *path) {
    if (run == NULL) return SVMP_BAD_CALL;
    if (path == NULL) return svmp_fail(run->context, SVMP_BAD_CALL, "svmp_run_save: the path is NULL.");
    if (run->unusable) return svmp_run_refuse_unusable(run);
    checkpoint file = {0};
    number_locale locale = {0};
    svmp_status status;
    SVMP_TRY(svmp_run_synchronise(run));
    SVMP_CHECK(svmp_model_agree_all(run->model, svmp_number_enter(run->context, &locale)));
    SVMP_CHECK(svmp_checkpoint_create(run->context, svmp_model_peers(run->model), path, &file));
    SVMP_CHECK(identity(&file, run));
    SVMP_CHECK(state(&file, run));
    SVMP_CHECK(svmp_checkpoint_finish(&file));
done:
    svmp_checkpoint_close(&file);
    svmp_number_leave(&locale);
    return status;
}

svmp_status svmp_run_load(svmp_run *run, const char *path) {
    if (run == NULL) return SVMP_BAD_CALL;
    if (path == NULL) return svmp_fail(run->context, SVMP_BAD_CALL, "svmp_run_load: the path is NULL.");
    if (run->iteration > 0)
        return svmp_fail(run->context, SVMP_BAD_CALL,
                         "The run is at iteration %zu; its start can no longer be changed.", run->iteration);
    checkpoint file = {0};
    number_locale locale = {0};
    svmp_status status;
    SVMP_CHECK(svmp_model_agree_all(run->model, svmp_number_enter(run->context, &locale)));
    SVMP_CHECK(svmp_checkpoint_open(run->context, svmp_model_peers(run->model), path, &file));
    SVMP_CHECK(identity(&file, run));
    run->unusable = 1; /* until the whole state has been loaded */
    SVMP_CHECK(state(&file, run));
    SVMP_CHECK(svmp_checkpoint_expect_end(&file));
    run->unusable = 0;
done:
    svmp_checkpoint_close(&file);
    svmp_number_leave(&locale);
    return status;
}
