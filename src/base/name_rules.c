#include "base/name_rules.h"

#include <string.h>

enum { LONGEST_NAME = 1000 };

int svmp_name_is_internal(const char *name) {
    size_t length = strlen(name);
    return length >= 2 && strcmp(name + length - 2, "__") == 0;
}

const char *svmp_name_problem(const char *name) {
    size_t length = strlen(name);
    if (length == 0) return "is empty";
    if (length > LONGEST_NAME) return "is longer than 1000 characters";
    if (name[0] == '#') return "begins with '#', like a comment";
    if (name[0] == ' ' || name[length - 1] == ' ') return "ends with a space";
    for (const char *c = name; *c; c++)
        if (*c == ',' || *c == '"' || (unsigned char)*c < ' ' || *c == 127)
            return "contains a comma, a quotation mark or a control character";
    return NULL;
}
