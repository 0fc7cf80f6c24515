#include "progress.h"

#include <math.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static const double live_every = 0.1, line_every = 10; /* seconds */

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
    (void)number;
    interrupted = 1;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A signal that whoever started us ignores (nohup, a background job) stays ignored. */
static void listen_for(int number) {
    struct sigaction before, action = {.sa_handler = interrupt, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(number, &action, NULL);
}

void progress_begin(progress *watch, int quiet) {
    listen_for(SIGINT);
    listen_for(SIGTERM);
    double start = now();
    *watch = (progress){.quiet = quiet, .live = isatty(STDERR_FILENO), .started = start, .last = start};
}

/* "42 s", "3 min 20 s", "2 h 5 min" */
static void print_duration(double seconds) {
    unsigned long s = (unsigned long)(seconds + 0.5);
    if (s < 60)
        fprintf(stderr, "%lu s", s);
    else if (s < 3600)
        fprintf(stderr, "%lu min %lu s", s / 60, s % 60);
    else
        fprintf(stderr, "%lu h %lu min", s / 3600, s / 60 % 60);
}

static void print_line(progress *watch, const svmp_progress *state, double elapsed) {
    double rate = (double)state->iteration / elapsed;
    fprintf(stderr, "%s%zu of %zu iterations, %.3g per second, ", watch->live ? "\r" : "", state->iteration,
            state->iterations, rate);
    print_duration((double)(state->iterations - state->iteration) / rate);
    int phi = !isnan(state->largest_phi);
    fprintf(stderr, " left, %s %.3g%s", phi ? "largest |phi|" : "step", phi ? state->largest_phi : state->rate,
            watch->live ? "\033[K" : "\n");
    watch->shown = watch->live;
}

int progress_monitor(const svmp_progress *state, void *user_data) {
    progress *watch = user_data;
    double time = now();
    if (!watch->quiet && time - watch->last >= (watch->live ? live_every : line_every)) {
        print_line(watch, state, time - watch->started);
        watch->last = time;
    }
    return interrupted;
}

double progress_end(progress *watch) {
    if (watch->shown) fputs("\r\033[K", stderr);
    watch->shown = 0;
    return now() - watch->started;
}
