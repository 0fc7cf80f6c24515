#include "command_table.h"

#include <limits.h>
#include <string.h>

#include "base/name_distance.h"
#include "front/program_frame.h"

static const command *const all[] = {&command_run,      &command_verify,  &command_plan,    &command_check,
                                     &command_graph,    &command_summary, &command_compare, &command_predict,
                                     &command_simulate, &command_report,  &command_agents,  &command_agent,
                                     &command_localise, &command_help,    &command_manual,  &command_completion};

enum { COMMANDS = sizeof all / sizeof all[0] };

const command *const *commands(size_t *count) {
    *count = COMMANDS;
    return all;
}

/* Where svmp-paper is: beside this program, if it was built or installed there. */
static void point_to_paper(void) {
    char path[PATH_MAX];
    if (program_beside("svmp-paper", path, sizeof path))
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

const option_row coordinates_option = {
    "coordinates", 0, "KIND", "", "auto, centred or noncentred [set by the method]", "Start",
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
