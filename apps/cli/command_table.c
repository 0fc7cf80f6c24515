#include "command_table.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/spell_option.h"

static const command *const all[] = {&command_run,      &command_verify,  &command_plan,    &command_check,
                                     &command_graph,    &command_summary, &command_compare, &command_report,
                                     &command_localise, &command_help,    &command_manual,  &command_completion};

enum { COMMANDS = sizeof all / sizeof all[0] };

const command *const *commands(size_t *count) {
    *count = COMMANDS;
    return all;
}

/* Where svmp-paper is: beside this program, if it was built or installed there. */
static void point_to_paper(void) {
    static const char program[] = "svmp-paper";
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof program);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash) memcpy(slash + 1, program, sizeof program);
    if (slash && access(path, X_OK) == 0)
        report_error(EXIT_WRONG, "The paper's experiments are a separate program: '%s'.", path);
    else
        report_error(EXIT_WRONG,
                     "The paper's experiments are a separate program, 'svmp-paper', which is not installed here. "
                     "'make' builds it from the sources as build/release/svmp-paper; "
                     "'cmake --install build/release --component paper' installs it.");
}

const command *find_command(const char *name) {
    const char *names[COMMANDS];
    for (size_t k = 0; k < COMMANDS; k++)
        if (strcmp(names[k] = all[k]->name, name) == 0) return all[k];
    const char *near = svmp_name_suggest(name, strlen(name), COMMANDS, names);
    error_output_of_launched();
    if (strcmp(name, "paper") == 0)
        point_to_paper();
    else if (near)
        report_error(EXIT_WRONG, "Unknown command '%s'; did you mean '%s'?", name, near);
    else
        report_error(EXIT_WRONG, "Unknown command '%s'; see 'svmp --help'.", name);
    return NULL;
}

void command_options(const command *which, option_set *set) {
    static const option_row help = {"help", 'h', NULL, "", "show this help", "Help"};
    snprintf(set->command, sizeof set->command, "svmp %s", which->name);
    if (which->options) which->options(set);
    options_add(set, 1, &help);
}

static int exit_of(svmp_status status) {
    switch (status) {
    case SVMP_OK: return EXIT_DONE;
    case SVMP_BAD_CALL:
    case SVMP_BAD_INPUT:
    case SVMP_CANNOT_READ:
    case SVMP_UNSUPPORTED:
    case SVMP_NOT_POSITIVE_DEFINITE: return EXIT_WRONG;
    case SVMP_NO_MEMORY:
    case SVMP_CANNOT_WRITE:
    case SVMP_NOT_FINITE:
    case SVMP_CALLBACK_FAILED:
    case SVMP_DEVICE_FAILED: return EXIT_FAILED;
    }
    return EXIT_FAILED;
}

/* Errors in a model or its data come with their place, like a compiler's, and several at once: they are told as they
 * come, and as they are. */
static int has_place(const char *message) { return strstr(message, ": error: ") != NULL; }

static void tell_error(svmp_status status, const char *message, void *user_data) {
    (void)status;
    (void)user_data;
    if (has_place(message) && is_reporting()) fprintf(stderr, "%s\n", message);
    if (has_place(message) && !is_reporting()) report_error(EXIT_WRONG, "%s", message);
}

int failed(const svmp_context *context, svmp_status status) {
    const char *sentence = svmp_context_error(context);
    if (has_place(sentence)) return exit_of(status);
    return report_error(exit_of(status), "%s", *sentence ? sentence : svmp_status_text(status));
}

void tell_log(svmp_log_level level, const char *message, void *user_data) {
    (void)user_data;
    if (level != SVMP_LOG_WARNING || !is_reporting()) return;
    fprintf(stderr, strstr(message, ": warning: ") ? "%s\n" : "svmp: warning: %s\n", message);
}

int open_context(const option_set *set, svmp_context **context) {
    const char *text = options_value(set, "threads");
    size_t threads = 0;
    int wrong = text ? read_count("threads", text, 0, 4096, &threads) : 0;
    if (wrong) return wrong;
    svmp_status status = svmp_context_create(NULL, context);
    if (status == SVMP_OK) status = svmp_context_set_threads(*context, (int)threads);
    if (status == SVMP_OK) status = svmp_context_set_speller(*context, spell_option, NULL);
    if (status == SVMP_OK) status = svmp_context_set_log(*context, tell_log, NULL);
    if (status == SVMP_OK) status = svmp_context_set_error(*context, tell_error, NULL);
    return status == SVMP_OK ? 0 : failed(NULL, status);
}

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

const option_row coordinates_option = {
    "coordinates", 0, "KIND", "", "auto, centred or noncentred; the default depends on the method", "Start",
};

static int find_coordinates(const option_set *set, svmp_context *context, const char **coordinates) {
    svmp_method method;
    *coordinates = options_given(set, "coordinates");
    if (*coordinates) return 0;
    const svmp_status status = svmp_method_describe(context, options_value(set, "method"), &method);
    *coordinates = method.coordinates;
    return status == SVMP_OK ? 0 : failed(context, status);
}

int read_model(const option_set *set, svmp_context *context, svmp_model **model) {
    svmp_reading how = {0};
    const int wrong = find_coordinates(set, context, &how.coordinates);
    if (wrong) return wrong;
    const svmp_status status =
        svmp_model_read(context, set->operand_count, (const char *const *)set->operands, &how, model);
    return status == SVMP_OK ? 0 : failed(context, status);
}
