#include "read_samples.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "front/netcdf_subprocess.h"

/* Major, minor and patch of "0.1.0..."; where a number is missing, 0. */
static void read_version(const char *text, unsigned long numbers[3]) {
    char *rest;
    for (size_t k = 0; k < 3; k++) {
        numbers[k] = strtoul(text, &rest, 10);
        text = rest + (*rest == '.');
    }
}

/* Warns if a later version wrote the file, since its format may have changed. */
static void compare_versions(const svmp_particles *particles, const char *path) {
    static const char start[] = "svmp ";
    const char *written = svmp_particles_comments(particles);
    unsigned long there[3], here[3];
    size_t k = 0;
    if (strncmp(written, start, sizeof start - 1) != 0) return;
    written += sizeof start - 1;
    read_version(written, there);
    read_version(svmp_version(), here);
    while (k < 2 && there[k] == here[k]) k++;
    if (there[k] > here[k])
        report_error(EXIT_DONE,
                     "warning: '%s' was written by svmp %.*s; this is svmp %s, which may not understand all of it.",
                     path, (int)strcspn(written, "\n"), written, svmp_version());
}

int read_particles(svmp_context *context, const char *path, svmp_particles **particles) {
    struct stat about;
    if (has_ending(path, ".bug .jags .mtx"))
        return report_error(EXIT_WRONG, "'%s' is a model: a file of particles (.csv or .nc) must come first.", path);
    if (has_ending(path, ".nc") && stat(path, &about) == 0 && S_ISFIFO(about.st_mode))
        return report_error(EXIT_WRONG, "'%s' is a pipe; NetCDF can be read from a file only.", path);
    if (svmp_context_processes(context) == 1 && has_ending(path, ".nc") && !svmp_particles_file_sealed(path) &&
        !netcdf_read_is_safe(context, path))
        return report_error(EXIT_WRONG, "%s: the file is damaged: HDF5 crashes on it.", path);
    const svmp_status read = netcdf_read_directly(context, path, particles);
    if (read != SVMP_OK) return failed(context, read);
    compare_versions(*particles, path);
    return 0;
}

size_t sample_files(const option_set *set) {
    size_t count = 0;
    while (count < set->operand_count && has_ending(set->operands[count], ".csv .nc")) count++;
    return count > 0 ? count : 1;
}

/* Whether a line of a record only identifies a chain: its number, its seed, its times. */
static int is_incidental(const char *line, size_t length) {
    static const char *const starts[] = {
        "id = ", "seed = ", "threads = ", "resumed at = ", "seconds = ", "verdict", "Elapsed Time: ", "  "};
    int found = 0;
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++)
        found |= length >= strlen(starts[k]) && strncmp(line, starts[k], strlen(starts[k])) == 0;
    return found;
}

/* The length of the next line that says more; 0 at the end. */
static size_t next_line(const char **at) {
    for (;;) {
        const size_t length = strcspn(*at, "\n");
        if (length == 0 || !is_incidental(*at, length)) return length;
        *at += length + ((*at)[length] == '\n');
    }
}

/* Chains that are to be one sample are of one run, or of several that differ in nothing that matters. */
static void compare_records(const char *a, const char *a_path, const char *b, const char *b_path) {
    for (;;) {
        const size_t here = next_line(&a), there = next_line(&b);
        if (here != there || strncmp(a, b, here) != 0) {
            report_error(EXIT_DONE, "warning: '%s' and '%s' are from different runs: '%.*s' and '%.*s'.", a_path,
                         b_path, (int)here, a, (int)there, b);
            return;
        }
        if (here == 0) return;
        a += here + (a[here] == '\n');
        b += there + (b[there] == '\n');
    }
}

static int read_parts(const option_set *set, svmp_context *context, size_t count, svmp_particles **parts) {
    for (size_t p = 0; p < count; p++) {
        int status = read_particles(context, set->operands[p], &parts[p]);
        if (status) return status;
        if (!svmp_particles_are_chains(parts[p]))
            return report_error(EXIT_WRONG,
                                "Several files must be the chains of one sampler, but '%s' contains particles.",
                                set->operands[p]);
        if (p > 0)
            compare_records(svmp_particles_comments(parts[0]), set->operands[0], svmp_particles_comments(parts[p]),
                            set->operands[p]);
    }
    return 0;
}

int read_sample(const option_set *set, svmp_context *context, size_t count, svmp_particles **sample) {
    if (count == 1) return read_particles(context, set->operands[0], sample);
    svmp_particles **parts = calloc(count, sizeof *parts);
    if (parts == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    int status = read_parts(set, context, count, parts);
    if (status == 0) {
        svmp_status joined = svmp_particles_join(count, (const svmp_particles *const *)parts, sample);
        if (joined != SVMP_OK) status = failed(context, joined);
    }
    for (size_t p = 0; p < count; p++) svmp_particles_free(parts[p]);
    free(parts);
    return status;
}
