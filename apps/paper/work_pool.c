/* Items of work on several threads: whoever is free takes the next one. Which thread does what shows in no number. */
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "front/error_output.h"
#include "paper.h"

enum { THREADS_MOST = 256 };

static volatile sig_atomic_t stopped;

static void stop(int number) {
    (void)number;
    stopped = 1;
}

void pool_listen(void) {
    struct sigaction action = {.sa_handler = stop, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int pool_stopped(void) { return stopped; }

typedef struct pool {
    paper *paper;
    const char *label;
    size_t count, next, done;
    int (*work)(paper *p, size_t item, void *user);
    void *user;
    int status;
    double started, printed;
    pthread_mutex_t lock;
} pool;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A line every ten seconds, or over and over on a terminal. */
static void print_progress(pool *p) {
    const int live = isatty(STDERR_FILENO), last = p->done == p->count;
    const double time = now(), left = (time - p->started) / (double)p->done * (double)(p->count - p->done);
    if (!last && time - p->printed < (live ? 0.2 : 10)) return;
    p->printed = time;
    fprintf(stderr, "%s%s: %zu of %zu, %.0f s", live ? "\r" : "", p->label, p->done, p->count, time - p->started);
    if (!last) fprintf(stderr, ", %.0f s left", left);
    fputs(live && !last ? "\033[K" : live ? "\033[K\n" : "\n", stderr);
}

static void *serve(void *pointer) {
    pool *p = pointer;
    pthread_mutex_lock(&p->lock);
    while (p->next < p->count && p->status == 0 && !stopped) {
        const size_t item = p->next++;
        pthread_mutex_unlock(&p->lock);
        const int status = p->work(p->paper, item, p->user);
        pthread_mutex_lock(&p->lock);
        p->done++;
        if (status && p->status == 0) p->status = status;
        if (p->status == 0 && !stopped) print_progress(p);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

int run_pool(paper *of, const char *label, size_t count, int (*work)(struct paper *p, size_t item, void *user),
             void *user) {
    pool p = {.paper = of, .label = label, .count = count, .work = work, .user = user, .started = now()};
    pthread_t threads[THREADS_MOST];
    size_t started = 0;
    size_t wanted = of->options.threads < count ? of->options.threads : count;
    if (wanted > THREADS_MOST) wanted = THREADS_MOST;
    p.printed = p.started;
    pthread_mutex_init(&p.lock, NULL);
    while (started < wanted && pthread_create(&threads[started], NULL, serve, &p) == 0) started++;
    if (started == 0) serve(&p);
    for (size_t k = 0; k < started; k++) pthread_join(threads[k], NULL);
    pthread_mutex_destroy(&p.lock);
    if (stopped && isatty(STDERR_FILENO)) fputs("\n", stderr); /* after the line that `print_progress` rewrites */
    return p.status ? p.status : stopped ? EXIT_INTERRUPTED : 0;
}
