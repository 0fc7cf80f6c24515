#include "progress.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "command_table.h"
#include "print_verdict.h"
#include "watchdog.h"

static volatile sig_atomic_t interrupted;
static volatile double interrupted_at;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One request may arrive as several signals: timeout(1) signals the process and then its group. A later signal means
 * that the user does not want to wait for the end of the iteration. */
static void interrupt(int number) {
    static const char words[] = "svmp: Interrupted again: the run is aborted.\n";
    const double same_request = 1; /* seconds */
    if (!interrupted) {
        interrupted_at = now(); /* first: another thread may be signalled at the same time */
        interrupted = 1;
        watchdog_arm();
    } else if (now() - interrupted_at >= same_request) {
        if (write(STDERR_FILENO, words, sizeof words - 1) < 0) _exit(EXIT_FAILED);
        signal(number, SIG_DFL);
        raise(number);
    }
}

/* A signal that the parent ignores (nohup, a background job) stays ignored. */
static void listen_for(int number) {
    struct sigaction before, action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(number, &action, NULL);
}

int progress_parse(const char *text, progress_mode *mode) {
    static const char *const names[] = {"auto", "json", "none"};
    const progress_mode modes[] = {isatty(STDERR_FILENO) ? PROGRESS_LIVE : PROGRESS_LINES, PROGRESS_JSON,
                                   PROGRESS_NONE};
    for (size_t k = 0; k < 3; k++)
        if (strcmp(text, names[k]) == 0) return *mode = modes[k], 0;
    return report_error(EXIT_WRONG, "The option '--progress' must be auto, json or none, not '%s'.", text);
}

double progress_clock(void) { return now(); }

double progress_processor(void) {
    struct timespec t;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : now();
}

void progress_begin(progress *watch, progress_mode mode, const svmp_method *method, size_t first) {
    listen_for(SIGINT);
    listen_for(SIGTERM);
    double start = now();
    *watch = (progress){
        .mode = mode, .largest = method->largest, .first = first, .started = start, .last = start, .printed = 1};
    watch->marks[0] = watch->marks[1] = (struct progress_mark){first, start};
}

/* The first iterations may take longer than later ones: the last half of the time predicts the rest. */
static void mark(progress *watch, double time) {
    if (time - watch->started < 2 * (watch->marks[1].time - watch->started)) return;
    watch->marks[0] = watch->marks[1];
    watch->marks[1] = (struct progress_mark){watch->state.iteration, time};
}

static double time_left(const progress *watch, double time) {
    const struct progress_mark *from = &watch->marks[0];
    const double done = (double)(watch->state.iteration - from->iteration), spent = time - from->time;
    const size_t iterations = watch->expected ? watch->expected : watch->state.iterations;
    const size_t remain = iterations > watch->state.iteration ? iterations - watch->state.iteration : 0;
    return done > 0 ? (double)remain * spent / done : NAN;
}

void progress_print_duration(double seconds) {
    unsigned long s = (unsigned long)(seconds + 0.5);
    if (s < 60)
        fprintf(stderr, "%lu s", s);
    else if (s < 3600)
        fprintf(stderr, "%lu min %lu s", s / 60, s % 60);
    else
        fprintf(stderr, "%lu h %lu min", s / 3600, s / 60 % 60);
}

static void print_line(progress *watch, double rate, double left) {
    const svmp_progress *state = &watch->state;
    const int live = watch->mode == PROGRESS_LIVE;
    const int sooner = watch->expected && watch->expected < state->iterations;
    fprintf(stderr, "%s%zu of %s%zu iterations, %.3g per second, %s", live ? "\r" : "", state->iteration,
            sooner ? "at most " : "", state->iterations, rate, sooner ? "about " : "");
    progress_print_duration(left);
    fputs(" left", stderr);
    if (watch->largest && isfinite(state->largest))
        fprintf(stderr, ", largest %s %.3g", watch->largest, state->largest);
    if (!watch->largest) fprintf(stderr, ", step %.3g", state->rate);
    if (state->divergences) fprintf(stderr, ", %zu divergent", state->divergences);
    fputs(live ? "\033[K" : "\n", stderr);
    watch->shown = live;
}

/* A number, or null for what JSON has no number for. */
static void print_member(const char *name, double value) {
    fprintf(stderr, ", \"%s\": ", name);
    fprintf(stderr, isfinite(value) ? "%.6g" : "null", value);
}

static void print_json(const progress *watch, double elapsed, double rate, double left) {
    const svmp_progress *state = &watch->state;
    fprintf(stderr, "{\"iteration\": %zu, \"iterations\": %zu", state->iteration, state->iterations);
    if (watch->expected && watch->expected != state->iterations)
        fprintf(stderr, ", \"expected\": %zu", watch->expected);
    print_member("seconds", elapsed);
    print_member("rate", rate);
    print_member("left", left);
    print_member("largest_phi", watch->largest && strcmp(watch->largest, "|phi|") == 0 ? state->largest : NAN);
    print_member("step_size", state->rate);
    fprintf(stderr, ", \"divergences\": %zu", state->divergences);
    print_member("largest", state->largest);
    if (watch->largest)
        fprintf(stderr, ", \"largest_of\": \"%s\"}\n", watch->largest);
    else
        fputs(", \"largest_of\": null}\n", stderr);
}

static void print_state(progress *watch, double time) {
    const double elapsed = time - watch->started;
    const double rate = (double)(watch->state.iteration - watch->first) / elapsed;
    const double left = time_left(watch, time);
    if (watch->mode == PROGRESS_JSON)
        print_json(watch, elapsed, rate, left);
    else
        print_line(watch, rate, left);
    watch->last = time;
    watch->printed = 1;
}

/* Announces the duration of a long run after some iterations, and again if it turns out to be wrong by more than 30 %.
 */
static void announce(progress *watch, double time) {
    const double soon = 5, late = 30, is_long = 60, elapsed = time - watch->started; /* seconds */
    struct rusage used;
    if (watch->state.iteration < watch->first + (elapsed < late ? 10 : 3) || elapsed < soon) return; /* steps adapt */
    if (watch->state.iteration < watch->warmup / 2) return; /* its first trajectories are long */
    const double iterations = elapsed + time_left(watch, time), total = watch->begun + iterations * (1 + watch->after);
    if (!(total >= is_long) || getrusage(RUSAGE_SELF, &used) != 0) return;
    if (watch->announced > 0 && fabs(total - watch->announced) < 0.3 * watch->announced) return;
    if (watch->announced > 0 && time - watch->announced_at < 0.5 * elapsed) return; /* seldom */
    progress_wipe(watch);
    fprintf(stderr, "svmp: This run will %stake about ", watch->announced > 0 ? "rather " : "");
    progress_print_duration(total);
    fprintf(stderr, " and %.2g GB of memory.\n", (1024.0 * (double)used.ru_maxrss + watch->result) / 1e9);
    watch->announced = total;
    watch->announced_at = time;
}

int progress_update(progress *watch, const svmp_progress *state) {
    static const double every[] = {[PROGRESS_LIVE] = 0.1, [PROGRESS_LINES] = 10, [PROGRESS_JSON] = 1}; /* seconds */
    const double time = now();
    watch->state = *state;
    watch->printed = 0;
    mark(watch, time);
    if (watch->mode == PROGRESS_LIVE || watch->mode == PROGRESS_LINES) announce(watch, time);
    if (watch->mode != PROGRESS_NONE && time - watch->last >= every[watch->mode]) print_state(watch, time);
    return interrupted;
}

int progress_interrupted(void) { return interrupted; }

static void print_text(const char *name, const char *text) {
    fprintf(stderr, "\"%s\": \"", name);
    for (; *text; text++) fprintf(stderr, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    fputc('"', stderr);
}

void progress_print_verdict(const progress *watch, const svmp_verdict *verdict) {
    char text[VERDICT_TEXT];
    if (watch->mode != PROGRESS_JSON) return;
    fputc('{', stderr);
    print_text("verdict", svmp_verdict_word(verdict));
    fprintf(stderr, ", \"clear\": %s, ", svmp_verdict_is_clear(verdict) ? "true" : "false");
    print_text("sentence", svmp_verdict_sentence(verdict, text, sizeof text));
    fputs(", ", stderr);
    print_text("advice", svmp_verdict_advice(verdict, text, sizeof text));
    fputs("}\n", stderr);
}

double progress_seconds(const progress *watch) { return now() - watch->started; }

void progress_wipe(progress *watch) {
    if (watch->shown) fputs("\r\033[K", stderr);
    watch->shown = 0;
}

double progress_end(progress *watch) {
    const double time = now();
    if (watch->mode == PROGRESS_JSON && !watch->printed) print_state(watch, time);
    progress_wipe(watch);
    return time - watch->started;
}
