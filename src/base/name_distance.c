#include "base/name_distance.h"

#include <string.h>
#include <strings.h>

static int smallest(int a, int b) { return a < b ? a : b; }

int svmp_name_distance(const char *text, size_t length, const char *candidate) {
    size_t rows = length, columns = strlen(candidate);
    if (rows >= NAME_LONGEST_COMPARED || columns >= NAME_LONGEST_COMPARED) return -1;
    if (rows == columns && strncasecmp(text, candidate, rows) == 0) return strncmp(text, candidate, rows) != 0;
    int distance[3][NAME_LONGEST_COMPARED] = {{0}}; /* rows i - 2, i - 1 and i of the edit table, in turn */
    for (size_t j = 0; j <= columns; j++) distance[0][j] = (int)j;
    for (size_t i = 1; i <= rows; i++) {
        int *now = distance[i % 3], *before = distance[(i + 2) % 3], *twice = distance[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= columns; j++) {
            now[j] = smallest(smallest(before[j], now[j - 1]) + 1, before[j - 1] + (text[i - 1] != candidate[j - 1]));
            if (i > 1 && j > 1 && text[i - 1] == candidate[j - 2] && text[i - 2] == candidate[j - 1])
                now[j] = smallest(now[j], twice[j - 2] + 1);
        }
    }
    int result = distance[rows % 3][columns];
    size_t shorter = rows < columns ? rows : columns;
    return result <= (shorter < 3 ? 0 : shorter < 6 ? 1 : 2) ? result : -1;
}

const char *svmp_name_suggest(const char *typed, size_t length, size_t count, const char *const *names) {
    const char *nearest = NULL;
    int least = NAME_LONGEST_COMPARED;
    if (typed == NULL || names == NULL) return NULL;
    for (size_t k = 0; k < count; k++) {
        const int begins = length >= 3 && strncmp(names[k], typed, length) == 0;
        const int distance = begins ? 0 : svmp_name_distance(typed, length, names[k]);
        if (distance < 0 || distance >= least) continue;
        least = distance;
        nearest = names[k];
    }
    return nearest;
}
