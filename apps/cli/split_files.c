#include "split_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_table.h"

char *part_path(const char *path, size_t part) {
    const char *ending = strrchr(path, '.');
    const size_t size = strlen(path) + PART_ROOM;
    char *made = malloc(size);
    if (made == NULL) return NULL;
    snprintf(made, size, "%s", path);
    if (part) snprintf(made, size, "%.*s_%zu%s", (int)(ending - path), path, part, ending);
    return made;
}

char *all_parts(const char *path) {
    char *made = part_path(path, 0);
    const size_t stem = (size_t)(strrchr(path, '.') - path);
    if (made) snprintf(made + stem, strlen(path) + PART_ROOM - stem, "_*%s", path + stem);
    return made;
}

/* Whether the record of the file says that it is chain `part` of a run of svmp. */
static int is_chain(const char *path, size_t part) {
    FILE *file = fopen(path, "r");
    char line[256], wanted[48];
    int found = 0, ours = 0;
    snprintf(wanted, sizeof wanted, "# id = %zu\n", part);
    for (int starts = 1; file && !found && fgets(line, sizeof line, file); starts = strchr(line, '\n') != NULL) {
        ours |= starts && strncmp(line, "# svmp ", 7) == 0;
        if (!ours || (starts && *line != '#')) break;
        found = starts && strcmp(line, wanted) == 0;
    }
    if (file) fclose(file);
    return found;
}

/* The number of the part that a file of the folder is, by its name: N of STEM_N.csv; 0: none. */
static size_t part_of(const char *name, const char *stem, size_t length, const char *ending) {
    char *end;
    if (strncmp(name, stem, length) != 0 || name[length] != '_') return 0;
    const char *digits = name + length + 1;
    if (*digits < '1' || *digits > '9') return 0;
    const size_t part = strtoul(digits, &end, 10);
    return strcmp(end, ending) == 0 ? part : 0;
}

/* Calls `take` for every chain beyond `count` until one returns something else than 0. */
static int each_later(const char *path, size_t count, int (*take)(const char *later, const char *spared),
                      const char *spared) {
    const char *slash = strrchr(path, '/'), *stem = slash ? slash + 1 : path, *ending = strrchr(path, '.');
    char *folder = part_path(path, 0);
    struct dirent **entries = NULL;
    int status = 0;
    if (folder == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    snprintf(folder, strlen(path) + PART_ROOM, "%.*s", slash ? (int)(slash - path) + 1 : 2, slash ? path : "./");
    const int entry_count = scandir(folder, &entries, NULL, alphasort);
    for (int k = 0; k < entry_count; k++) {
        const size_t part = part_of(entries[k]->d_name, stem, (size_t)(ending - stem), ending);
        char *later = part > count && status == 0 ? part_path(path, part) : NULL;
        if (later && is_chain(later, part)) status = take(later, spared);
        free(later);
        free(entries[k]);
    }
    free(entries);
    free(folder);
    return status;
}

static int refuse(const char *later, const char *spared) {
    (void)spared;
    return report_error(EXIT_WRONG, "The file '%s' is left over from a run with more chains; use --force to remove it.",
                        later);
}

int parts_refuse_later(const char *path, size_t count) { return each_later(path, count, refuse, NULL); }

static int take_away(const char *later, const char *spared) {
    if (same_file(later, spared))
        report_error(EXIT_DONE, "Kept '%s' from a run with more chains: this run starts from it.", later);
    else if (remove(later) == 0)
        report_error(EXIT_DONE, "Removed '%s', left over from a run with more chains.", later);
    else
        report_error(EXIT_DONE, "Cannot remove '%s', left over from a run with more chains: %s.", later,
                     strerror(errno));
    return 0;
}

void parts_remove_later(const char *path, size_t count, const char *spared) {
    each_later(path, count, take_away, spared);
}
