#include "command_table.h"
#include "help_text.h"

static int run(const option_set *set) {
    if (set->operand_count == 0) return print_help(stdout), EXIT_DONE;
    const command *which = find_command(set->operands[0]);
    if (which == NULL) return EXIT_WRONG;
    print_command_help(which);
    return EXIT_DONE;
}

const command command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .most = 1,
    .summary = "List the commands, or a command's options",
    .text = "The same as\n.B svmp \\-\\-help\nand\n.BR \"svmp COMMAND \\-\\-help\" .\n",
    .common = 1,
    .run = run,
};
