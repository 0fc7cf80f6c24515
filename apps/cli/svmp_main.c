/* The command `svmp`: finds the command that is meant, reads its options, runs it. */
#include <string.h>

#include "command_table.h"
#include "front/program_frame.h"
#include "help_text.h"

static int run_command(const command *which, int count, char **arguments) {
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

static void say_version(void) {
    char gpu[1200];
    printf("svmp %s\n%s%s\n", svmp_version(), svmp_build_parts(), svmp_gpu_found(gpu, sizeof gpu));
}

static int dispatch(int count, char **arguments) {
    if (count < 2) {
        error_output_of_launched();
        if (is_reporting()) print_help(stderr);
        return EXIT_WRONG;
    }
    const char *name = arguments[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        return error_output_of_launched(), say_version(), EXIT_DONE;
    const int help = strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
    const command *which = help ? &command_help : find_command(name);
    return which ? run_command(which, count - 2, arguments + 2) : EXIT_WRONG;
}

int main(int count, char **arguments) {
    program_begin("svmp");
    return program_end(dispatch(count, arguments));
}
