#include "front/output_check.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/whole_file.h"
#include "front/error_output.h"

static int check_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    char folder[4096] = ".";
    size_t length = slash ? (size_t)(slash - path) + 1 : 1;
    if (length >= sizeof folder) return report_error(EXIT_WRONG, "The path '%s' is too long.", path);
    if (slash) memcpy(folder, path, length);
    struct stat about;
    if (stat(folder, &about) == 0 && access(folder, W_OK | X_OK) == 0) return 0;
    return report_error(EXIT_WRONG, "Cannot write '%s': folder '%s': %s.", path, folder, strerror(errno));
}

int has_ending(const char *path, const char *endings) {
    const char *ending = strrchr(path, '.');
    const size_t length = ending ? strlen(ending) : 0;
    for (const char *at = endings; ending && *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, ending, length) == 0 && (at[length] == ' ' || at[length] == '\0')) return 1;
    return 0;
}

int check_output(const char *path, output_kind kind, int force) {
    const int particles = kind == OUTPUT_PARTICLES;
    const int netcdf = svmp_build_has("netcdf");
    if (particles && has_ending(path, ".nc") && !netcdf)
        return report_error(EXIT_WRONG, "Cannot write '%s': this build has no NetCDF support.", path);
    if (particles && !has_ending(path, ".csv .nc"))
        return report_error(EXIT_WRONG, "The output file '%s' must end in .csv%s.", path, netcdf ? " or .nc" : "");
    if (kind == OUTPUT_PAGE && !has_ending(path, ".html"))
        return report_error(EXIT_WRONG, "The output file '%s' must end in .html.", path);
    struct stat about;
    if (stat(path, &about) != 0)
        return lstat(path, &about) == 0 ? report_error(EXIT_WRONG, "The file '%s' is a broken symbolic link.", path)
                                        : check_folder(path);
    if (S_ISDIR(about.st_mode)) return report_error(EXIT_WRONG, "The output '%s' is a folder.", path);
    if (!S_ISREG(about.st_mode)) return 0;
    if (!force && kind == OUTPUT_CHECKPOINT)
        return report_error(
            EXIT_WRONG,
            "The file '%s' already exists: use --resume %s to continue from it, or --force to start again "
            "and overwrite it.",
            path, path);
    if (!force) return report_error(EXIT_WRONG, "The file '%s' already exists; use --force to overwrite it.", path);
    return check_folder(path);
}

int same_file(const char *a, const char *b) {
    struct stat one, other;
    if (a == NULL || b == NULL) return 0;
    if (stat(a, &one) == 0 && stat(b, &other) == 0) return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
    const char *paths[] = {a, b}, *names[2];
    char folders[2][PATH_MAX];
    for (size_t k = 0; k < 2; k++) { /* of what is not there: the folder, and the name in it */
        const char *slash = strrchr(paths[k], '/');
        names[k] = slash ? slash + 1 : paths[k];
        snprintf(folders[k], PATH_MAX, "%.*s", slash ? (int)(slash - paths[k]) + 1 : 1, slash ? paths[k] : ".");
    }
    return strcmp(names[0], names[1]) == 0 && stat(folders[0], &one) == 0 && stat(folders[1], &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static int is_input(const char *path, const char *input) {
    struct stat about;
    return input && same_file(path, input) && stat(input, &about) == 0 && S_ISREG(about.st_mode);
}

int refuse_input(const option_set *set, const char *path) {
    static const char *const named[] = {"init", "resume", "odometry"}, fitted[] = "gaussian:";
    const char *found = NULL;
    for (size_t k = 0; k < set->operand_count; k++)
        if (is_input(path, set->operands[k])) found = set->operands[k];
    for (size_t k = 0; k < sizeof named / sizeof *named; k++) {
        const char *given = options_given(set, named[k]);
        if (k == 0 && given && strncmp(given, fitted, strlen(fitted)) == 0) given += strlen(fitted);
        if (is_input(path, given)) found = given;
    }
    if (found == NULL) return 0;
    return report_error(EXIT_WRONG,
                        "The output '%s' would overwrite '%s', which this command reads; choose another file.", path,
                        found);
}

int write_output(const char *path, const char *bytes, size_t size, int overwrite) {
    whole_file file;
    if (svmp_whole_write(path, bytes, size, overwrite, &file)) return 0;
    return report_error(EXIT_FAILED, "%s", file.error);
}
