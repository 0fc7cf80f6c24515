/* The program svmp-agent: `svmp agent` alone (cmake/static_agent.cmake). */
#include <string.h>

#include "command_table.h"
#include "front/program_frame.h"

static int run(int count, char **arguments) {
    if (count == 1 && strcmp(arguments[0], "--version") == 0)
        return printf("svmp-agent %s\n", svmp_version()), EXIT_DONE;
    return run_command(&command_agent, count, arguments);
}

int main(int count, char **arguments) {
    program_begin("svmp-agent");
    return program_end(run(count - 1, arguments + 1));
}
