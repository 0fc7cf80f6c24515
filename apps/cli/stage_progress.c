#include "stage_progress.h"

#include <stdio.h>
#include <string.h>

#include "front/program_context.h"

void stage_begin(stage *at, progress_mode mode, const char *name) {
    const double now = progress_clock();
    *at = (stage){.mode = mode, .name = name, .began = now, .last = now};
}

static void print(stage *at, double seconds, size_t done, size_t most) {
    const int live = at->mode == PROGRESS_LIVE;
    if (at->mode == PROGRESS_JSON) {
        fprintf(stderr, "{\"stage\": \"%s\", \"seconds\": %.6g", at->name, seconds);
        if (most) fprintf(stderr, ", \"moves\": %zu, \"most\": %zu", done, most);
        fputs("}\n", stderr);
        return;
    }
    fprintf(stderr, "%s%s: ", live ? "\r" : "",
            strcmp(at->name, "start") == 0 ? "Searching for the start" : "Examining the particles");
    if (most) fprintf(stderr, "%zu of at most %zu moves, ", done, most);
    progress_print_duration(seconds);
    fputs(live ? " so far\033[K" : " so far\n", stderr);
    at->shown = live;
}

void stage_update(stage *at, size_t done, size_t most) {
    static const double every[] = {[PROGRESS_LIVE] = 1, [PROGRESS_LINES] = 10, [PROGRESS_JSON] = 1}; /* seconds */
    if (at->name == NULL || at->mode == PROGRESS_NONE) return;
    const double now = progress_clock();
    if (now - at->last < every[at->mode]) return;
    print(at, now - at->began, done, most);
    at->last = now;
}

void stage_end(stage *at) {
    if (at->shown) fputs("\r\033[K", stderr);
    at->shown = 0;
    at->name = NULL;
}

void stage_print_log(svmp_log_level level, const char *message, void *at) {
    if (level == SVMP_LOG_DEBUG) stage_update(at, 0, 0);
    print_log(level, message, NULL);
}
