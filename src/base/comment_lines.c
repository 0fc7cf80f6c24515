#include "base/comment_lines.h"

#include <stdio.h>
#include <string.h>

int svmp_comment_find(const char *comments, const char *name, char *value, size_t size) {
    if (comments == NULL || name == NULL || value == NULL) return 0;
    const size_t length = strlen(name);
    for (const char *line = comments; *line; line += *line == '\n') {
        const size_t end = strcspn(line, "\n");
        if (end > length + 3 && strncmp(line, name, length) == 0 && strncmp(line + length, " = ", 3) == 0) {
            snprintf(value, size, "%.*s", (int)(end - length - 3), line + length + 3);
            return 1;
        }
        line += end;
    }
    return 0;
}
