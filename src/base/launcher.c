#include <stdlib.h>

#include "base/peers.h"
#include "known_plugins.h"
#include "svmp_parallel.h"

/* The environment variables of launchers, from the plug-ins that connect processes. */
static const struct launcher {
    const char *name;
    const char *mark, *processes, *process; /* the others count where the mark is set */
    const char *setting;                    /* of the seconds between SIGTERM and SIGKILL, or NULL */
    double grace;                           /* these seconds by default */
    const char *advice;                     /* if it does not connect its processes; NULL: it does */
} launchers[] = {
#define ROW(plugin, ...) {__VA_ARGS__},
    KNOWN_LAUNCHER(ROW) /* */ {NULL, NULL, NULL, NULL, NULL, 0, NULL}
#undef ROW
};

static size_t number(const char *name) {
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 10) : 0;
}

static const struct launcher *find(void) {
    for (const struct launcher *l = launchers; l->name; l++)
        if (getenv(l->mark) && getenv(l->processes)) return l;
    return NULL;
}

const char *svmp_launch_advice(void) {
    const struct launcher *l = find();
    return l && l->advice ? l->advice : "";
}

void svmp_launch_read(svmp_launch *launch) {
    if (launch == NULL) return;
    *launch = (svmp_launch){0};
    const struct launcher *l = find();
    if (l == NULL) return;
    const char *setting = l->setting ? getenv(l->setting) : NULL;
    const double seconds = setting ? strtod(setting, NULL) : 0;
    *launch = (svmp_launch){number(l->processes), number(l->process), seconds > 0 && seconds < 1e6 ? seconds : l->grace,
                            l->name, l->advice == NULL};
}
