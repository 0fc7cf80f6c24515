#include "front/command_row.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/error_output.h"
#include "front/option_rows.h"
#include "front/program_frame.h"

void command_options(const command *which, option_set *set) {
    static const option_row help = {"help", 'h', NULL, "", "show this help", "Help"};
    snprintf(set->command, sizeof set->command, "svmp %s", which->name);
    if (which->options) which->options(set);
    options_add(set, 1, &help);
}

void print_command_help(const command *which) {
    option_set set = {0};
    command_options(which, &set);
    printf("Usage: svmp %s [OPTION...]%s%s\n\n", which->name, *which->operands ? " " : "", which->operands);
    printf("%s.\n%s\n", which->summary, which->help ? which->help : "");
    print_options(&set);
}

/* Only returns if there is no such program. */
static int become_program(const command *which, int count, char **arguments) {
    char path[PATH_MAX];
    char **all = calloc((size_t)count + 2, sizeof *all);
    if (all == NULL) return report_error(EXIT_FAILED, "Out of memory.");
    if (!program_beside(which->program, path, sizeof path)) {
        free(all);
        return report_error(EXIT_WRONG, "'svmp %s' is a separate program, '%s', which is not beside this one.",
                            which->name, which->program);
    }
    all[0] = path;
    memcpy(all + 1, arguments, (size_t)count * sizeof *all);
    execv(path, all);
    free(all);
    return report_error(EXIT_FAILED, "Cannot start '%s': %s.", path, strerror(errno));
}

int run_command(const command *which, int count, char **arguments) {
    if (which->program) return become_program(which, count, arguments);
    option_set set = {0};
    command_options(which, &set);
    if (which->joins) defer_errors();
    if (which->common) error_output_of_launched();
    int wrong = options_parse(&set, count, arguments);
    if (wrong == 0 && options_given(&set, "help"))
        return error_output_of_launched(), print_command_help(which), EXIT_DONE;
    if (wrong == 0) wrong = options_check_operands(&set, which->least, which->most, which->operands);
    if (wrong) return which->joins ? fail_together(wrong) : wrong;
    return which->run(&set);
}
