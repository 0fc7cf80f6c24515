/* The output folder. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "front/error_output.h"
#include "paper.h"
#include "paper_files.h"

static int make_folder(const char *path) {
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return 0;
    return report_error(EXIT_WRONG, "Cannot create the folder '%s': %s.", path, strerror(errno));
}

/* With those that it lies in. */
static int make_path(const char *path) {
    char part[PATH_SIZE];
    int status = 0;
    for (const char *slash = path; status == 0 && (slash = strchr(slash + 1, '/')) != NULL;) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        status = make_folder(part);
    }
    return status ? status : make_folder(path);
}

int make_folders(const paper *p) {
    enum { LONGEST_NAME = 64 }; /* of a file in it */
    static const char *const parts[] = {"models", "problems", "references", "trials", "paper", "png", "plots"};
    char path[PATH_SIZE];
    if (*p->options.folder == '\0') return report_error(EXIT_WRONG, "The option '--output' needs a folder.");
    if (strlen(p->options.folder) + LONGEST_NAME > PATH_SIZE)
        return report_error(EXIT_WRONG, "The name of the folder '%s' is too long.", p->options.folder);
    int status = make_path(p->options.folder);
    for (size_t k = 0; k < sizeof parts / sizeof *parts && status == 0; k++) {
        snprintf(path, sizeof path, "%s/%s", p->options.folder, parts[k]);
        status = make_folder(path);
    }
    return status;
}

int file_there(const char *path) {
    struct stat about;
    return stat(path, &about) == 0;
}

/* FNV-1a. */
uint64_t file_number(const char *path, uint64_t so_far) {
    uint64_t number = so_far ? so_far : 0xcbf29ce484222325;
    FILE *file = fopen(path, "r");
    if (file == NULL) return number;
    for (int byte; (byte = getc(file)) != EOF;) number = (number ^ (uint64_t)byte) * 0x100000001b3;
    fclose(file);
    return number;
}

int write_models(const paper *p) {
    static const struct {
        const char *name;
        const embedded_file *file;
    } models[] = {{"normal", &model_normal},   {"gaussian_grid", &model_gaussian}, {"sensors", &model_sensors},
                  {"crowd_log", &model_crowd}, {"ranges", &model_ranges},          {"rss", &model_rss}};
    char path[PATH_SIZE];
    int status = 0;
    for (size_t k = 0; k < sizeof models / sizeof *models && status == 0; k++) {
        snprintf(path, sizeof path, "%s/models/%s.bug", p->options.folder, models[k].name);
        status = write_output(path, embedded_text(models[k].file), models[k].file->size, 1);
    }
    return status;
}
