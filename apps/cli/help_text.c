#include "help_text.h"

#include "command_table.h"

enum { SUMMARY = 37 };

void print_help(FILE *file) {
    size_t count;
    const command *const *all = commands(&count);
    fputs("Usage: svmp COMMAND [OPTION...] ...\n\n"
          "Inference in continuous graphical models by Stein variational message passing.\n\n",
          file);
    for (size_t k = 0; k < count; k++) {
        int at = fprintf(file, "  svmp %s %s", all[k]->name, all[k]->operands);
        fprintf(file, "%*s%s\n", at < SUMMARY ? SUMMARY - at : 2, "", all[k]->summary);
    }
    fputs("\n'svmp COMMAND --help' lists the options of a command, 'svmp --version' the\n"
          "features of this build. 'man svmp' is the full manual.\n",
          file);
}
