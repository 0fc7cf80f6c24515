#include "front/netcdf_subprocess.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front/error_output.h"
#include "front/output_check.h"
#include "front/program_context.h"

typedef struct work {
    svmp_context *context;
    const svmp_particles *particles; /* to write; NULL: to read */
    const char *path, *comments;
    int overwrite;
} work;

/* HDF5 prints its errors if memory runs out before NetCDF has silenced it. Returns the former stderr for
 * restore_stderr, or -1 if it was left as it is. */
static int silence_stderr(const char *path) {
    if (!has_ending(path, ".nc")) return -1;
    fflush(stderr);
    const int nowhere = open("/dev/null", O_WRONLY), before = nowhere >= 0 ? dup(STDERR_FILENO) : -1;
    if (before >= 0) dup2(nowhere, STDERR_FILENO);
    if (nowhere >= 0) close(nowhere);
    return before;
}

static void restore_stderr(int before) {
    if (before < 0) return;
    dup2(before, STDERR_FILENO);
    close(before);
}

svmp_status netcdf_read_directly(svmp_context *context, const char *path, svmp_particles **particles) {
    const int before = silence_stderr(path);
    const svmp_status status = svmp_particles_read(context, path, particles);
    restore_stderr(before);
    return status;
}

static int write_here(const work *w) {
    const int before = silence_stderr(w->path);
    const svmp_status status = svmp_particles_write(w->particles, w->path, w->comments, w->overwrite);
    restore_stderr(before);
    return status == SVMP_OK ? EXIT_DONE : failed(w->context, status);
}

static _Noreturn void do_in_child(const work *w) {
    enum { LONGEST_READ = 600 }; /* seconds; writing has no limit */
    if (w->particles) _exit(write_here(w));
    svmp_particles *particles = NULL;
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
    alarm(LONGEST_READ);
    svmp_particles_read(w->context, w->path, &particles);
    _exit(EXIT_DONE);
}

static int is_crash(int by) {
    return by == SIGSEGV || by == SIGBUS || by == SIGABRT || by == SIGFPE || by == SIGILL || by == SIGALRM;
}

/* The status of waitpid; -1 if no child could be started. */
static int try_in_child(const work *w, pid_t *child) {
    int ended = -1;
    fflush(NULL); /* or the child might print it, too */
    *child = fork();
    if (*child == 0) do_in_child(w);
    while (*child > 0 && waitpid(*child, &ended, 0) != *child) continue; /* interrupted */
    return ended;
}

int netcdf_read_is_safe(svmp_context *context, const char *path) {
    const work w = {.context = context, .path = path};
    pid_t child;
    const int ended = try_in_child(&w, &child);
    if (ended == -1) return 1;
    return WIFSIGNALED(ended) ? !is_crash(WTERMSIG(ended))
                              : WEXITSTATUS(ended) == EXIT_DONE; /* sanitizers exit with 1 */
}

/* The temporary file of a writer that has crashed (src/base/output_file.c). */
static void remove_rest(const char *path, pid_t writer) {
    const char *slash = strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    char *rest = malloc(folder + 64);
    if (rest == NULL) return;
    snprintf(rest, folder + 64, "%.*s.svmp-%ld-0", (int)folder, path, (long)writer);
    unlink(rest);
    free(rest);
}

/* NAME.csv, or a name that is free; NULL without memory. */
static char *other_path(const char *path) {
    enum { MOST = 1000, ROOM = 16 };
    const size_t stem = strlen(path) - 3;
    char *made = malloc(stem + ROOM);
    for (int k = 1; made && k < MOST; k++) {
        snprintf(made, stem + ROOM, k > 1 ? "%.*s-%d.csv" : "%.*s.csv", (int)stem, path, k);
        if (access(made, F_OK) != 0) break;
    }
    return made;
}

static int write_csv_instead(work w, char **written) {
    char *other = other_path(w.path);
    const char *requested = w.path;
    if (other == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    w.path = other;
    w.overwrite = 0;
    const int status = write_here(&w);
    if (status == 0)
        report_error(EXIT_FAILED, "NetCDF crashed while it wrote '%s'; the particles are in '%s'.", requested, other);
    if (status == 0)
        *written = other;
    else
        free(other);
    return status ? status : EXIT_FAILED;
}

int netcdf_write_in_subprocess(svmp_context *context, const svmp_particles *particles, const char *path,
                               const char *comments, int overwrite, char **written) {
    const work w = {context, particles, path, comments, overwrite};
    int status = EXIT_FAILED, ended = -1;
    pid_t child = 0;
    *written = NULL;
    if (has_ending(path, ".nc") && svmp_context_processes(context) == 1) ended = try_in_child(&w, &child);
    if (ended == -1) status = write_here(&w);
    if (ended != -1 && WIFEXITED(ended)) status = WEXITSTATUS(ended);
    if (ended != -1 && WIFSIGNALED(ended)) {
        remove_rest(path, child);
        return write_csv_instead(w, written);
    }
    if (status == EXIT_DONE && (*written = strdup(path)) == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    return status;
}
