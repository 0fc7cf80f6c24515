#include <math.h>
#include <string.h>

#include "command_table.h"
#include "commands/run_session.h"
#include "read_samples.h"
#include "run_arguments.h"
#include "time_estimate.h"

static int read_options(session *s) {
    const int status = options_of_run(s->set, s->context, &s->options);
    if (status) return status;
    svmp_status found = svmp_method_describe(s->context, svmp_options_get(s->options, "method"), &s->method);
    return found == SVMP_OK ? 0 : failed(s->context, found);
}

/* Refuses options for the size of a run that the method does not know, rather than ignoring them. */
static int check_sizes(const session *s) {
    static const char *const of_particles[] = {"particles", "iterations"}, *const of_samplers[] = {"warmup", "draws"},
                             *const of_chains[] = {"chains", "accept"};
    enum { DRAWS = 1 }; /* among those of samplers */
    const char *method = s->method.name;
    const int sampler = s->method.yield == SVMP_YIELD_CHAINS, sweeps = s->method.sweeps;
    for (size_t k = 0; k < 2; k++) {
        if (sampler && !sweeps && options_given(s->set, of_particles[k]))
            return report_error(EXIT_WRONG, "The method '%s' does not take --%s; use --chains, --warmup and --draws.",
                                method, of_particles[k]);
        if (!sampler && options_given(s->set, of_samplers[k]) && !(k == DRAWS && s->method.draws))
            return report_error(EXIT_WRONG, "The method '%s' does not take --%s, which is for samplers.", method,
                                of_samplers[k]);
        if (sweeps && options_given(s->set, of_chains[k]))
            return report_error(EXIT_WRONG, "The method '%s' does not take --%s; use -n, -t, --warmup and --draws.",
                                method, of_chains[k]);
        if (!sampler && options_given(s->set, of_chains[k]))
            return report_error(EXIT_WRONG,
                                "The method '%s' does not take --%s, which is for samplers of whole chains.", method,
                                of_chains[k]);
    }
    if (s->method.yield == SVMP_YIELD_DRAWS && options_given(s->set, "iterations"))
        return report_error(EXIT_WRONG, "The method '%s' does not take --iterations: it does not iterate.", method);
    return 0;
}

/* The file is read once, since it may be a pipe; of several processes each reads its own variables later. */
static int count_start(session *s, const char *path, size_t *count) {
    if (svmp_context_processes(s->context) == 1) {
        const int status = read_particles(s->context, path, &s->start);
        *count = svmp_particles_count(s->start);
        return status;
    }
    const svmp_status status = svmp_particles_read_count(s->context, path, count);
    return status == SVMP_OK ? 0 : failed(s->context, status);
}

/* --init gaussian:FILE.nc: a damaged file may crash HDF5, and is first read where that does no harm. */
static int check_point(session *s) {
    static const char fitted[] = "gaussian:";
    const char *init = options_given(s->set, "init");
    svmp_particles *particles = NULL;
    if (init == NULL || !has_ending(init, ".nc") || strncmp(init, fitted, strlen(fitted)) != 0) return 0;
    const int status = read_particles(s->context, init + strlen(fitted), &particles);
    svmp_particles_free(particles);
    return status;
}

/* Without -n there are as many particles as the file has; with -n the start gives each its row (svmp_run_start_from).
 */
static int read_start(session *s) {
    const char *path = start_file(s->set);
    size_t count = 0;
    if (path == NULL) return check_point(s);
    if (svmp_start_is_values(path)) return 0;
    if (is_misspelt_start(path)) return EXIT_WRONG;
    const int wrong = count_start(s, path, &count);
    if (wrong) return wrong;
    if (count == 1) return 0; /* one point, around which all are spread */
    if (options_given(s->set, "particles")) return 0;
    if (s->method.sweeps && count >= option_count(s->options, "particles")) return 0; /* the last of equal parts */
    const svmp_status status = svmp_options_set_count(s->options, "particles", count);
    return status == SVMP_OK ? 0 : failed(s->context, status);
}

/* Refuses what several processes cannot do. */
static int check_processes(const session *s) {
    const char *path = options_given(s->set, "output");
    if (svmp_context_processes(s->context) == 1 || s->method.shares) return 0;
    if (!s->method.parts)
        return report_error(EXIT_WRONG, "The method '%s' needs the whole model in one process: run it without mpirun.",
                            s->method.name);
    if (path == NULL || !has_ending(path, ".nc")) return 0;
    return report_error(
        EXIT_WRONG,
        "Several processes cannot write the NetCDF file '%s', because none of them holds all particles; "
        "use a file that ends in .csv.",
        path);
}

/* How long the particles may be examined; the rest of --verify auto follows from how long the run took. */
static int read_verify(session *s) {
    static const char *const names[] = {"auto", "yes", "no"};
    static const double seconds[] = {5, INFINITY, 0};
    const char *when = options_value(s->set, "verify");
    for (size_t k = 0; k < 3; k++)
        if (strcmp(when, names[k]) == 0) return s->examines = seconds[k], 0;
    return report_error(EXIT_WRONG, "The option '--verify' must be auto, yes or no, not '%s'.", when);
}

/* The part of the preparation that needs no other process. */
static int read_all(session *s) {
    int status = is_reporting() ? checkpoint_check_options(s->set) : 0;
    if (status == 0 && is_reporting() && checkpoint_path(s->set)) {
        status = file_lock_take(&s->lock, checkpoint_path(s->set));
        if (status == 0)
            status =
                checkpoint_check_options(s->set); /* another run may have made the file before the lock was taken */
    }
    if (status == 0) status = progress_parse(options_value(s->set, "progress"), &s->mode);
    if (options_given(s->set, "quiet") || !is_reporting()) s->mode = PROGRESS_NONE;
    if (status == 0) status = read_verify(s);
    if (status == 0) status = read_options(s);
    if (status == 0) status = check_processes(s);
    if (status == 0) status = check_sizes(s);
    if (status == 0) status = writer_begin(&s->writer, s->set, s->options, &s->method);
    return status == 0 ? read_start(s) : status;
}

/* All processes must have the same options, except the number of threads. */
static int compare_options(const session *s) {
    svmp_status same = SVMP_OK;
    for (size_t k = 0; k < s->set->count && same == SVMP_OK; k++) {
        const option_row *row = &s->set->rows[k];
        const char *value = s->set->values[k];
        char what[64];
        snprintf(what, sizeof what, "the option --%s", row->name);
        if (value && !row->argument) value = "given";
        if (strcmp(row->name, "threads") != 0)
            same = svmp_context_compare(s->context, what, value ? value : "not given");
    }
    return same == SVMP_OK ? 0 : failed(s->context, same);
}

/* Every process read a start file with the same number of particles; the bytes are compared later. */
static int compare_starts(const session *s) {
    const char *path = start_file(s->set);
    char what[300], count[48];
    if (path == NULL) return 0;
    snprintf(what, sizeof what, "the start '%.250s'", path);
    snprintf(count, sizeof count, "%s particles", svmp_options_get(s->options, "particles"));
    const svmp_status same = svmp_context_compare(s->context, what, count);
    return same == SVMP_OK ? 0 : failed(s->context, same);
}

static svmp_status start(session *s) {
    const char *path = start_file(s->set);
    if (path == NULL) return SVMP_OK;
    const svmp_status status =
        s->start ? svmp_run_start_from(s->run, s->start) : svmp_run_start_from_file(s->run, path);
    svmp_particles_free(s->start);
    s->start = NULL;
    return status;
}

/* Why a run with `auto` needs a GPU that is not there, or that failed. */
static void explain_backend(const session *s, const char *from, svmp_status status) {
    const char *given = options_given(s->set, "backend"), *taken = svmp_options_get(s->options, "backend");
    const int device = status == SVMP_UNSUPPORTED || status == SVMP_NO_MEMORY || status == SVMP_DEVICE_FAILED;
    if (from && s->run == NULL && device && given && strcmp(given, taken) != 0 && strncmp(taken, "cuda", 4) == 0)
        report_error(EXIT_WRONG, "The backend must be '%s', as in the checkpoint '%s'.", taken, from);
}

/* By chains every process has the whole model, by nodes a part of it. */
static svmp_status read_in_layout(session *s) {
    const char *const *files = (const char *const *)s->set->operands;
    const size_t count = s->set->operand_count;
    s->coordinates = options_given(s->set, "coordinates");
    if (s->coordinates == NULL) s->coordinates = s->method.coordinates;
    const svmp_reading how = {.monitors = options_given(s->set, "monitor"), .coordinates = s->coordinates};
    s->shares = svmp_context_processes(s->context) > 1 && s->method.shares;
    s->writer.copies = s->shares;
    s->split = (svmp_split){.processes = 1};
    return s->shares ? svmp_model_read_shared(s->context, count, files, &how, &s->model)
                     : svmp_model_read_split(s->context, count, files, &how, &s->model, &s->split);
}

/* A model that is too large for a copy in every process is split; then there is another default method. */
static svmp_status create_run(session *s) {
    svmp_status made = svmp_run_create(s->model, s->options, &s->run);
    if (made != SVMP_NO_MEMORY || !s->shares || options_given(s->set, "method")) return made;
    report_error(
        EXIT_DONE,
        "The model is split by nodes, with the method 'graphical', because it is too large for a copy in every "
        "process. %s",
        svmp_context_error(s->context));
    svmp_model_free(s->model);
    s->model = NULL;
    made = svmp_options_set(s->options, "method", "graphical");
    if (made == SVMP_OK) made = svmp_method_describe(s->context, "graphical", &s->method);
    if (made == SVMP_OK) made = read_in_layout(s);
    return made == SVMP_OK ? svmp_run_create(s->model, s->options, &s->run) : made;
}

int session_prepare(session *s) {
    const char *from = options_given(s->set, "resume");
    int status = open_joined_context(s->set, &s->context);
    if (status == 0) status = compare_options(s);
    if (status == 0) status = agree_on_status(s->context, read_all(s));
    if (status == 0) status = compare_starts(s);
    if (status) return status;
    svmp_status made = read_in_layout(s);
    if (made == SVMP_OK && (s->mode == PROGRESS_LIVE || s->mode == PROGRESS_LINES))
        estimate_start(s->set, s->options, &s->method, s->model);
    if (made == SVMP_OK && from) made = svmp_options_resume(s->options, from);
    if (made == SVMP_OK) made = svmp_context_set_log(s->context, stage_print_log, &s->stage);
    stage_begin(&s->stage, s->mode, "start");
    if (made == SVMP_OK) made = create_run(s);
    if (made == SVMP_OK) made = start(s);
    stage_end(&s->stage);
    if (made == SVMP_OK && from) made = svmp_run_load(s->run, from);
    if (made == SVMP_OK) return writer_choose(&s->writer, s->context, s->model, s->run);
    status = failed(s->context, made);
    explain_backend(s, from, made);
    return status;
}
