#include "help.h"

#include <string.h>

enum { WIDTH = 80, INDENT = 28, SUMMARY = 37 };

void for_each_option(const option_set *set, void (*heading)(const char *group), void (*row)(const option_row *option)) {
    for (size_t first = 0; first < set->count; first++) {
        const char *group = set->rows[first].group;
        size_t before = 0;
        while (before < first && strcmp(set->rows[before].group, group) != 0) before++;
        if (before < first) continue;
        heading(group);
        for (size_t k = first; k < set->count; k++)
            if (strcmp(set->rows[k].group, group) == 0) row(&set->rows[k]);
    }
}

/* Prints words from column `at` on, breaking lines at blanks and going on at column INDENT. */
static void print_wrapped(const char *text, size_t at) {
    while (*text) {
        size_t length = strcspn(text, " ");
        if (at > INDENT && at + 1 + length > WIDTH) {
            printf("\n%*s", INDENT, "");
            at = INDENT;
        }
        at += (size_t)printf("%s%.*s", at > INDENT ? " " : "", (int)length, text);
        text += length + strspn(text + length, " ");
    }
    putchar('\n');
}

static void print_heading(const char *group) { printf("%s:\n", group); }

static void print_row(const option_row *option) {
    int at = option->letter ? printf("  -%c, ", option->letter) : printf("      ");
    at += printf("--%s", option->name);
    if (option->argument) at += printf(" %s", option->argument);
    if (at >= INDENT) {
        putchar('\n');
        at = 0;
    }
    printf("%*s", INDENT - at, "");
    char text[512];
    int standard = option->argument && *option->standard;
    snprintf(text, sizeof text, standard ? "%s [%s]" : "%s", option->help, option->standard);
    print_wrapped(text, INDENT);
}

void print_command_help(const command *which) {
    option_set set = {0};
    command_options(which, &set);
    printf("Usage: svmp %s [OPTION...]%s%s\n\n", which->name, *which->operands ? " " : "", which->operands);
    printf("%s.\n%s\n", which->summary, which->help ? which->help : "");
    for_each_option(&set, print_heading, print_row);
}

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
    fputs("\n'svmp COMMAND --help' shows the options of a command, 'svmp --version' what is\n"
          "in this build, and 'man svmp' the rest.\n",
          file);
}
