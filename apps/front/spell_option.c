#include "spell_option.h"

#include <stdio.h>
#include <string.h>

#include "svmp_tools.h"

void spell_option(const char *option, const char *value, void *user_data, char *buffer, size_t size) {
    svmp_option known;
    char letter = strcmp(option, "output") == 0 ? 'o' : '\0';
    (void)user_data;
    for (size_t k = 0; letter == '\0' && svmp_option_at(k, &known); k++)
        if (strcmp(known.name, option) == 0) letter = known.letter;
    const char *blank = *value ? " " : "";
    if (letter)
        snprintf(buffer, size, "-%c%s%s", letter, blank, value);
    else
        snprintf(buffer, size, "--%s%s%s", option, blank, value);
}
