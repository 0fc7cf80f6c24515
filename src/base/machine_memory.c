#include "base/machine_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

double svmp_machine_limit(const char *path) {
    char text[64] = "", *end;
    FILE *file = fopen(path, "r");
    if (file == NULL) return INFINITY;
    const int read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    const double limit = strtod(text, &end);
    return read && end != text && limit > 0 ? limit : INFINITY;
}

/* The least limit of the control group in a line of /proc/self/cgroup, "0::/a/b" (version 2) or "4:memory:/a/b"
 * (version 1), and of the groups above it. Inside of a container its own group is the root. */
static double limit_of_group(const char *line) {
    const char *first = strchr(line, ':'), *second = first ? strchr(first + 1, ':') : NULL;
    char path[1024];
    double least = INFINITY;
    if (second == NULL) return INFINITY;
    const int unified = second == first + 1, memory = strncmp(first + 1, "memory:", 7) == 0;
    if (!unified && !memory) return INFINITY;
    const char *root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const char *file = unified ? "memory.max" : "memory.limit_in_bytes";
    size_t length = strcspn(second + 1, "\n");
    for (;;) {
        const int fits = snprintf(path, sizeof path, "%s%.*s/%s", root, (int)length, second + 1, file);
        if (fits > 0 && (size_t)fits < sizeof path) least = fmin(least, svmp_machine_limit(path));
        if (length == 0) return least;
        do length--;
        while (length > 0 && second[1 + length] != '/');
    }
}

static double whole_memory(void) { return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE); }

int svmp_machine_is_limited(void) { return svmp_machine_memory() < whole_memory(); }

/* The limit of the process itself (ulimit -v, ulimit -d). */
static double own_limit(int resource) {
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? (double)limit.rlim_cur : INFINITY;
}

double svmp_machine_memory(void) {
    double least = fmin(whole_memory(), fmin(own_limit(RLIMIT_AS), own_limit(RLIMIT_DATA)));
    char line[1024];
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file)) least = fmin(least, limit_of_group(line));
    if (file) fclose(file);
    return least;
}
