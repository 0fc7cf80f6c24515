#include "base/name_list.h"

#include <stdio.h>

const char *svmp_list_names(name_list names, const char *conjunction, char *buffer, size_t size) {
    size_t length = 0;
    *buffer = '\0';
    for (size_t k = 0; names(k) && length < size; k++) {
        const int last = conjunction && k > 0 && names(k + 1) == NULL;
        length += (size_t)snprintf(buffer + length, size - length, "%s%s%s%s",
                                   last    ? " "
                                   : k > 0 ? ", "
                                           : "",
                                   last ? conjunction : "", last ? " " : "", names(k));
    }
    return buffer;
}
