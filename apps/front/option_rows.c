#include "option_rows.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 80, INDENT = 28 };

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

void print_options(const option_set *set) { for_each_option(set, print_heading, print_row); }
