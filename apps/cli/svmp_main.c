/* The command `svmp`: finds the command that is meant and runs it. */
#include <string.h>

#include "command_table.h"
#include "front/program_frame.h"
#include "help_text.h"

static void print_version(void) {
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
        return error_output_of_launched(), print_version(), EXIT_DONE;
    const int help = strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
    const command *which = help ? &command_help : find_command(name);
    return which ? run_command(which, count - 2, arguments + 2) : EXIT_WRONG;
}

int main(int count, char **arguments) {
    program_begin("svmp");
    return program_end(dispatch(count, arguments));
}
