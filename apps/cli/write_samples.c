#include "write_samples.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "checkpoint_writer.h"
#include "choose_variables.h"
#include "command_table.h"
#include "front/netcdf_subprocess.h"
#include "progress.h"
#include "run_arguments.h"
#include "split_files.h"

static int check_paths(const writer *w, const char *path) {
    const int force = options_given(w->set, "force") != NULL;
    int status = check_output(path, OUTPUT_PARTICLES, force || w->split);
    if (status == 0 && !w->split) status = refuse_input(w->set, path);
    for (size_t part = 1; part <= w->split && status == 0; part++) {
        char *made = part_path(path, part);
        if (made == NULL)
            status = report_error(EXIT_FAILED, "Out of memory.");
        else if (same_file(made, checkpoint_path(w->set)))
            status = report_error(EXIT_WRONG, "'%s' cannot be both an output of --split and the checkpoint.", made);
        else if ((status = check_output(made, OUTPUT_PARTICLES, force)) == 0)
            status = refuse_input(w->set, made);
        free(made);
    }
    return status == 0 && w->split && !force ? parts_refuse_later(path, w->split) : status;
}

/* The file of --particles. */
static int check_particles_file(const writer *w, const svmp_method *method) {
    const char *path = options_given(w->set, "particles-file"), *output = options_given(w->set, "output");
    if (path == NULL) return 0;
    if (method->yield != SVMP_YIELD_PARTICLES)
        return report_error(EXIT_WRONG,
                            "The method '%s' has no particles to write to '%s'; --output writes its result.",
                            method->name, path);
    if (!is_reporting()) return 0; /* of several processes, the one that writes */
    if (same_file(path, output) || same_file(path, checkpoint_path(w->set)))
        return report_error(EXIT_WRONG, "'%s' cannot be both the file of --particles and that of another option.",
                            path);
    const int status = check_output(path, OUTPUT_PARTICLES, options_given(w->set, "force") != NULL);
    return status ? status : refuse_input(w->set, path);
}

int writer_begin(writer *w, const option_set *set, const svmp_options *options, const svmp_method *method) {
    static const char *const needs_output[] = {"save", "thin", "split"}, *const of_samplers[] = {"thin", "split"};
    const char *path = options_given(set, "output");
    *w = (writer){.set = set, .quiet = options_given(set, "quiet") != NULL};
    int status = read_count("thin", options_value(set, "thin"), 0, SIZE_MAX, &w->thin);
    if (status) return status;
    for (size_t k = 0; k < sizeof needs_output / sizeof *needs_output; k++)
        if (options_given(set, needs_output[k]) && path == NULL)
            return report_error(EXIT_WRONG, "The option '--%s' needs '--output'.", needs_output[k]);
    for (size_t k = 0; k < sizeof of_samplers / sizeof *of_samplers; k++)
        if (options_given(set, of_samplers[k]) && method->yield != SVMP_YIELD_CHAINS)
            return report_error(EXIT_WRONG, "The method '%s' does not take --%s, which is for samplers.", method->name,
                                of_samplers[k]);
    const size_t draws = *svmp_options_get(options, "draws") ? option_count(options, "draws")
                         : method->draws                     ? method->draws
                                                             : 1;
    if (w->thin == 0 || w->thin > draws)
        return report_error(EXIT_WRONG,
                            "The option '--thin' must be a whole number from 1 to %zu, the draws per chain, not '%s'.",
                            draws, options_value(set, "thin"));
    status = check_particles_file(w, method);
    if (status || path == NULL) return status;
    if (options_given(set, "split")) w->split = option_count(options, method->sweeps ? "particles" : "chains");
    if (w->split && has_ending(path, ".nc"))
        return report_error(
            EXIT_WRONG, "The option '--split' is for .csv files only; a .nc file keeps the chains separate anyway.");
    return is_reporting() ? check_paths(w, path) : 0; /* of several processes, the one that writes */
}

void writer_free(writer *w) {
    free(w->chosen);
    free(w->written);
    *w = (writer){0};
}

static int ascending(const void *a, const void *b) {
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Suggests --monitor for names of --save that the model computes. */
static void hint_at_monitor(const svmp_model *model, const char *names, const svmp_particles *there) {
    char name[256];
    for (; *names; names += *names == ',') {
        const size_t length = strcspn(names, ",");
        int found = 0;
        snprintf(name, sizeof name, "%.*s", (int)length, names);
        for (size_t i = 0; i < svmp_particles_variables(there); i++)
            found |= strncmp(svmp_particles_name(there, i), name, strlen(name)) == 0;
        if (!found && svmp_model_computes(model, name))
            report_error(EXIT_WRONG, "'%s' is a deterministic node: add --monitor %s.", name, name);
        names += length;
    }
}

/* Whether a list with commas has the name, or an element of that array. */
static int lists(const char *list, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && strchr(",[", at[length])) return 1; /* or its end */
    return 0;
}

/* Refuses names that the file cannot hold before the run, not after it. */
static int check_names(const writer *w, const svmp_model *model) {
    static const char *const reserved[] = {"chain", "draw"};
    const char *path = options_given(w->set, "output");
    svmp_array array;
    if (path == NULL || !has_ending(path, ".nc")) return 0;
    for (size_t k = 0; svmp_model_array(model, k, &array); k++)
        for (size_t r = 0; r < sizeof reserved / sizeof *reserved; r++)
            if (strcmp(array.name, reserved[r]) == 0 &&
                (array.unknown || lists(options_given(w->set, "monitor"), array.name)))
                return report_error(
                    EXIT_WRONG,
                    "The file '%s' cannot have a variable '%s': a dimension has that name. Use a file that "
                    "ends in .csv, or another name in the model.",
                    path, array.name);
    return 0;
}

int writer_choose(writer *w, svmp_context *context, const svmp_model *model, const svmp_run *run) {
    const char *names = options_given(w->set, "save");
    svmp_particles *start = NULL;
    w->context = context;
    const int wrong = check_names(w, model);
    if (wrong || names == NULL) return wrong;
    svmp_status taken = svmp_run_particles(run, &start);
    if (taken != SVMP_OK) return failed(context, taken);
    w->chosen = calloc(svmp_particles_variables(start) + 1, sizeof *w->chosen);
    int status = svmp_context_any(context, w->chosen == NULL)
                     ? report_error(EXIT_FAILED, "Out of memory.")
                     : choose_variables(context, start, "the model", names, w->chosen, &w->chosen_count);
    if (status) hint_at_monitor(model, names, start);
    if (status == 0 && w->chosen) qsort(w->chosen, w->chosen_count, sizeof *w->chosen, ascending); /* as in the model */
    svmp_particles_free(start);
    return status;
}

static int is_finite(svmp_particles *particles, size_t variable) {
    const size_t count = svmp_particles_count(particles);
    const double *values = svmp_particles_values(particles) + variable * count;
    size_t l = 0;
    while (l < count && isfinite(values[l])) l++;
    return l == count;
}

static int is_finite_everywhere(svmp_particles *result, size_t variable) {
    svmp_particles *compressed = (svmp_particles *)svmp_particles_compressed(result); /* its values are only read */
    return is_finite(result, variable) && (compressed == NULL || is_finite(compressed, variable));
}

/* kept[0 ... *count - 1] are the variables that stay, place[i] is where variable i goes, or SIZE_MAX. */
static void find_finite(const svmp_model *model, svmp_particles *result, size_t *kept, size_t *place, size_t *count) {
    for (size_t i = 0; i < svmp_particles_variables(result); i++) {
        const char *name = svmp_particles_name(result, i);
        place[i] = !svmp_model_computes(model, name) || is_finite_everywhere(result, i) ? *count : SIZE_MAX;
        if (place[i] != SIZE_MAX)
            kept[(*count)++] = i;
        else
            report_error(EXIT_DONE, "'%s' is omitted: it is not finite in some particles.", name);
    }
}

int writer_leave_out(writer *w, const svmp_model *model, svmp_particles **result) {
    const size_t variables = svmp_particles_variables(*result);
    size_t *kept = calloc(2 * variables + 1, sizeof *kept), count = 0, chosen = 0;
    if (svmp_context_any(w->context, kept == NULL) || kept == NULL) {
        free(kept);
        return report_error(EXIT_FAILED, "Out of memory.");
    }
    size_t *place = kept + variables;
    svmp_particles *finite = NULL;
    find_finite(model, *result, kept, place, &count);
    for (size_t k = 0; k < w->chosen_count; k++)
        if (place[w->chosen[k]] != SIZE_MAX) w->chosen[chosen++] = place[w->chosen[k]];
    w->chosen_count = chosen;
    svmp_status status = SVMP_OK;
    if (svmp_context_any(w->context, count < variables))
        status = svmp_particles_select(*result, count, kept, 1, &finite);
    free(kept);
    if (finite) {
        svmp_particles_free(*result);
        *result = finite;
    }
    return status == SVMP_OK ? 0 : failed(w->context, status);
}

/* The processes that write parts of a file together; NULL: each file is written by one. */
static const svmp_context *writers(const writer *w) { return w->copies ? NULL : w->context; }

/* How large the file will be, when that is worth a word. */
static void announce(const writer *w, const svmp_particles *written, const char *path) {
    const double large = 100e6, bytes = svmp_particles_file_size(written, path);
    if (!w->quiet && !w->replaces && bytes > large)
        report_error(EXIT_DONE, "Writing about %.2g GB to '%s'.", bytes / 1e9, path);
}

/* FILE-2.csv and so on if another process has created FILE.csv since the run began and it must not be overwritten. */
static char *free_path(const writer *w, size_t part) {
    enum { MOST = 1000 };
    char *requested = part_path(options_given(w->set, "output"), part),
         *path = requested ? part_path(requested, 0) : NULL;
    const char *ending = path ? strrchr(requested, '.') : NULL;
    struct stat about;
    for (int k = 2;
         path && !options_given(w->set, "force") && k < MOST && stat(path, &about) == 0 && S_ISREG(about.st_mode); k++)
        snprintf(path, strlen(requested) + PART_ROOM, "%.*s-%d%s", (int)(ending - requested), requested, k, ending);
    if (path && strcmp(path, requested) != 0)
        report_error(EXIT_DONE, "The file '%s' was created in the meantime and is left unchanged.", requested);
    free(requested);
    return path;
}

/* Opening a named pipe waits for a reader, and the user may interrupt that. Returns 0 and a
 * descriptor that keeps it open, or -1 if the path is no pipe; or an exit status. */
static int wait_for_reader(const char *path, int *descriptor) {
    const struct timespec moment = {0, 50000000};
    const int before = progress_interrupted();
    struct stat about;
    *descriptor = -1;
    if (stat(path, &about) != 0 || !S_ISFIFO(about.st_mode)) return 0;
    while ((*descriptor = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && errno == ENXIO) {
        if (progress_interrupted() != before)
            return report_error(EXIT_INTERRUPTED,
                                "Interrupted: nothing was written to '%s', because no process reads from it.", path);
        nanosleep(&moment, NULL);
    }
    return 0;
}

static int write_part(writer *w, const svmp_particles *particles, run_record *record, size_t part) {
    record->chain = part;
    char *comments = record_text(record, particles);
    char *path = w->replaces ? strdup(w->written) : free_path(w, part), *written = NULL;
    int status = EXIT_FAILED, reader = -1;
    const int unread = path ? wait_for_reader(path, &reader) : 0;
    if (unread) {
        free(comments);
        free(path);
        return unread;
    }
    if (svmp_context_any(writers(w), comments == NULL || path == NULL) || path == NULL) {
        report_error(EXIT_FAILED, "Out of memory.");
    } else {
        announce(w, particles, path);
        const int overwrite = w->replaces || options_given(w->set, "force");
        status = netcdf_write_in_subprocess(w->context, particles, path, comments, overwrite, &written);
    }
    if (reader >= 0) close(reader);
    free(comments);
    if (written && w->written == NULL) w->written = part ? all_parts(options_given(w->set, "output")) : written;
    if (written != w->written) free(written);
    free(path);
    return status;
}

/* If some chains are missing, no file is recommended. */
static void forget_written(writer *w) {
    free(w->written);
    w->written = NULL;
}

static int write_parts(writer *w, const svmp_particles *written, run_record *record) {
    int status = w->split ? 0 : write_part(w, written, record, 0);
    for (size_t part = 1; part <= w->split && status == 0; part++) {
        svmp_particles *chain = NULL;
        svmp_status taken = svmp_particles_chain(written, part - 1, &chain);
        status = taken == SVMP_OK ? write_part(w, chain, record, part) : failed(w->context, taken);
        svmp_particles_free(chain);
        if (status && part > 1)
            report_error(EXIT_FAILED, "Only %zu of the %zu chains were written.", part - 1, w->split);
        if (status) forget_written(w);
    }
    if (w->split && status == 0 && options_given(w->set, "force"))
        parts_remove_later(options_given(w->set, "output"), w->split, options_given(w->set, "init"));
    return status;
}

/* A pipe or a device, which cannot be written again. */
static int is_stream(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && !S_ISREG(about.st_mode);
}

/* Writes in the processes that write, and gives all of them the exit status. */
static int write_together(writer *w, int (*write)(writer *, const svmp_particles *, run_record *),
                          const svmp_particles *result, run_record *record) {
    if (!w->copies) return write(w, result, record);
    return agree_on_status(w->context, is_reporting() ? write(w, result, record) : 0);
}

static int write_result(writer *w, const svmp_particles *result, run_record *record) {
    svmp_particles *part = NULL;
    if (options_given(w->set, "output") == NULL) return 0;
    const size_t draws = svmp_particles_count(result) / svmp_particles_chains(result);
    record->thin = w->thin < draws ? w->thin : draws; /* a run that was stopped early has fewer */
    if (w->chosen == NULL && record->thin == 1) return write_parts(w, result, record);
    if (w->chosen && !svmp_context_any(writers(w), w->chosen_count > 0))
        return report_error(EXIT_FAILED, "Nothing is written to '%s': all variables of --save are omitted.",
                            options_given(w->set, "output"));
    svmp_status selected = svmp_particles_select(result, w->chosen_count, w->chosen, record->thin, &part);
    if (selected != SVMP_OK) return failed(w->context, selected);
    int status = write_parts(w, part, record);
    svmp_particles_free(part);
    return status;
}

static int secure_result(writer *w, const svmp_particles *result, run_record *record) {
    const char *path = options_given(w->set, "output");
    if (path == NULL || w->split || svmp_context_any(writers(w), is_stream(path))) return 0;
    const int status = write_result(w, result, record);
    w->replaces = w->written != NULL;
    return status;
}

static int write_compressed(writer *w, const svmp_particles *result, run_record *record) {
    const char *path = options_given(w->set, "particles-file");
    const svmp_particles *compressed = svmp_particles_compressed(result), *from = compressed ? compressed : result;
    svmp_particles *part = NULL;
    char *comments = NULL, *written = NULL;
    if (path == NULL) return 0;
    if (w->chosen && w->chosen_count == 0)
        return report_error(EXIT_FAILED, "Nothing is written to '%s': all variables of --save are omitted.", path);
    const svmp_status selected = svmp_particles_select(from, w->chosen_count, w->chosen, 1, &part);
    if (selected != SVMP_OK) return failed(w->context, selected);
    record->thin = 1;
    record->compressed = compressed != NULL;
    int status = EXIT_FAILED;
    if ((comments = record_text(record, part)) == NULL)
        report_error(EXIT_FAILED, "Out of memory.");
    else
        status = netcdf_write_in_subprocess(w->context, part, path, comments, options_given(w->set, "force") != NULL,
                                            &written);
    free(comments);
    free(written);
    svmp_particles_free(part);
    return status;
}

int writer_secure(writer *w, const svmp_particles *result, run_record *record) {
    return write_together(w, secure_result, result, record);
}

int writer_write(writer *w, const svmp_particles *result, run_record *record) {
    return write_together(w, write_result, result, record);
}

int writer_write_particles(writer *w, const svmp_particles *result, run_record *record) {
    return write_together(w, write_compressed, result, record);
}
