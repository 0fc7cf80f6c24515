#include <string.h>

#include "svmp_tools.h"

const char *svmp_version(void) { return SVMP_VERSION; }

const char *svmp_build_parts(void) { return SVMP_PARTS; }

int svmp_build_has(const char *part) {
    static const char yes[] = ": yes";
    const size_t length = part ? strlen(part) : 0;
    for (const char *line = SVMP_PARTS; length && *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, part, length) == 0 && strncmp(line + length, yes, sizeof yes - 1) == 0) return 1;
    return 0;
}
