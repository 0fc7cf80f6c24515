#include "run_arguments.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/name_distance.h"
#include "command_table.h"

int options_of_run(const option_set *set, svmp_context *context, svmp_options **options) {
    svmp_option row;
    svmp_status status = svmp_options_create(context, options);
    for (size_t k = 0; status == SVMP_OK && svmp_option_at(k, &row); k++) {
        const char *value = options_given(set, row.name);
        if (value == NULL || (strcmp(row.name, "init") == 0 && start_file(set))) continue;
        status = svmp_options_set(*options, row.name, value);
    }
    return status == SVMP_OK ? 0 : failed(context, status);
}

size_t option_count(const svmp_options *options, const char *name) {
    return strtoul(svmp_options_get(options, name), NULL, 10);
}

/* Whether a value is written as one of the choices: "map", or "normal:..." for "normal:SD". */
static int is_choice(const char *value, const char *choice) {
    const size_t length = strcspn(choice, ":");
    return choice[length] ? strncmp(value, choice, length + 1) == 0 : strcmp(value, choice) == 0;
}

const char *start_file(const option_set *set) {
    const char *init = options_given(set, "init"), *choice;
    if (init == NULL) return NULL;
    for (size_t k = 0; (choice = svmp_option_choice("init", k)) != NULL; k++)
        if (is_choice(init, choice)) return NULL;
    return init;
}

int is_misspelt_start(const char *init) {
    enum { MOST = 16, LONGEST = 32 };
    char starts[MOST][LONGEST];
    const char *names[MOST], *choice;
    const size_t length = strcspn(init, ":");
    size_t count = 0;
    for (; count < MOST && (choice = svmp_option_choice("init", count)) != NULL; count++) {
        snprintf(starts[count], LONGEST, "%.*s", (int)strcspn(choice, ":"), choice);
        names[count] = starts[count];
    }
    const char *meant = access(init, F_OK) == 0 ? NULL : svmp_name_suggest(init, length, count, names);
    if (meant)
        report_error(EXIT_WRONG, "'%s' is neither a start nor a file; did you mean '%s%s'?", init, meant,
                     init + length);
    return meant != NULL;
}
