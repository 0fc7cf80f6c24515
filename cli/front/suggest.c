#include "front/suggest.h"

#include <string.h>

enum { LONGEST = 32 };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* How many letters must be put in, left out, changed or swapped with the next to make b of a. */
static size_t edits(const char *a, size_t n, const char *b, size_t m) {
    size_t row[3][LONGEST + 1]; /* rows i-2, i-1 and i of the table of all beginnings of a and b */
    for (size_t j = 0; j <= m; j++) row[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = row[i % 3], *before = row[(i + 2) % 3], *twice = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            now[j] = smaller(smaller(before[j], now[j - 1]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller(now[j], twice[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

const char *suggest(const char *typed, size_t length, size_t count, const char *const *names) {
    const char *nearest = NULL;
    size_t least = length < 5 ? 2 : 3; /* as many edits are too many */
    if (length > LONGEST) return NULL;
    for (size_t k = 0; k < count; k++) {
        if (strlen(names[k]) > LONGEST) continue;
        int begins = length >= 3 && strncmp(names[k], typed, length) == 0;
        size_t distance = begins ? 0 : edits(typed, length, names[k], strlen(names[k]));
        if (distance >= least) continue;
        least = distance;
        nearest = names[k];
    }
    return nearest;
}
