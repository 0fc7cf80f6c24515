#include "watchdog.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command_table.h"
#include "front/memory_file.h"

/* Another process: its number, its machine and PID namespace, and the message if it has died. */
typedef struct peer {
    long id;
    char host[64], space[64], died[160];
} peer;

static struct {
    atomic_int watching, inside; /* inside: handlers at work, in whichever thread */
    timer_t timer;
    struct itimerspec timeout;
    const checkpoint_writer *k;
    peer *peers; /* those on this machine, */
    size_t near; /* how many these are */
    char late[320], *how;
} watchdog;

static void write_words(const char *words) {
    if (write(STDERR_FILENO, words, strlen(words)) < 0) return; /* no reader is left */
}

static void print_run_state(const char *why) {
    write_words(why);
    write_words(watchdog.k->kept ? " The last checkpoint is intact.\n" : " There is no checkpoint to resume from.\n");
    if (watchdog.k->kept) write_words(watchdog.how);
}

/* A handler may run in any thread while the first one ends the watchdog: what it reads is freed only after it left. */
static int enter(void) {
    atomic_fetch_add(&watchdog.inside, 1);
    return atomic_load(&watchdog.watching);
}

static void leave(void) { atomic_fetch_sub(&watchdog.inside, 1); }

/* The launcher may be about to kill the processes. The run continues, and ends normally if it is not killed. */
static void report_late(int number) {
    const int before = errno;
    (void)number;
    if (enter()) print_run_state(watchdog.late);
    leave();
    errno = before;
}

/* Those on this machine come first; `all` becomes `watchdog.peers`. */
static void keep_near(size_t count, peer *all, const peer *mine) {
    watchdog.near = 0;
    for (size_t k = 0; k < count; k++) {
        if (strcmp(all[k].host, mine->host) != 0 || strcmp(all[k].space, mine->space) != 0) continue;
        watchdog.peers[watchdog.near] = all[k];
        snprintf(watchdog.peers[watchdog.near++].died, sizeof all->died,
                 "svmp: Process %zu of %zu, on %.64s, has died.", k, count, mine->host);
    }
}

/* Half of the time that the launcher leaves between SIGTERM and SIGKILL, so that the message comes before the kill. */
static int make_timer(size_t count) {
    svmp_launch launch;
    svmp_launch_read(&launch);
    const double seconds = launch.grace / 2;
    struct sigaction action = {.sa_handler = report_late, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    watchdog.timeout.it_value.tv_sec = (time_t)seconds;
    watchdog.timeout.it_value.tv_nsec = (long)(1e9 * (seconds - (double)watchdog.timeout.it_value.tv_sec));
    snprintf(watchdog.late, sizeof watchdog.late,
             "svmp: The run was asked to stop %g s ago and has not ended%s; it may be killed before it does.", seconds,
             watchdog.near < count ? ", or a process on another machine has died" : "");
    sigemptyset(&action.sa_mask);
    return sigaction(SIGALRM, &action, NULL) == 0 && timer_create(CLOCK_MONOTONIC, &event, &watchdog.timer) == 0;
}

static char *compose(const checkpoint_writer *k, const option_set *set) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_written(&text, &size);
    if (stream == NULL) return NULL;
    if (k->path) checkpoint_print_resume(k, set, stream);
    close_written(stream, &text);
    return text;
}

void watchdog_begin(const checkpoint_writer *k, const option_set *set) {
    const size_t count = svmp_context_processes(k->context);
    if (count == 1) return;
    peer mine = {.id = (long)getpid()};
    if (gethostname(mine.host, sizeof mine.host - 1) != 0) mine.host[0] = '\0';
    if (readlink("/proc/self/ns/pid", mine.space, sizeof mine.space - 1) < 0) mine.space[0] = '\0';
    watchdog.peers = calloc(count, sizeof *watchdog.peers);
    watchdog.how = compose(k, set);
    if (svmp_context_any(k->context, watchdog.peers == NULL || watchdog.how == NULL))
        return; /* no process watches then */
    svmp_context_gather(k->context, sizeof mine, &mine, watchdog.peers);
    watchdog.k = k;
    keep_near(count, watchdog.peers, &mine);
    atomic_store(&watchdog.watching, is_reporting() && make_timer(count));
}

static void look_around(void) {
    for (size_t p = 0; p < watchdog.near; p++) {
        if (kill((pid_t)watchdog.peers[p].id, 0) == 0 || errno != ESRCH) continue;
        print_run_state(watchdog.peers[p].died);
        _exit(EXIT_FAILED);
    }
    timer_settime(watchdog.timer, 0, &watchdog.timeout, NULL);
}

void watchdog_arm(void) {
    const int before = errno;
    if (enter()) look_around();
    leave();
    errno = before;
}

void watchdog_end(void) {
    const int watched = atomic_exchange(&watchdog.watching, 0);
    while (atomic_load(&watchdog.inside) > 0) sched_yield();
    if (watched) timer_delete(watchdog.timer);
    free(watchdog.peers);
    free(watchdog.how);
    watchdog.peers = NULL;
    watchdog.how = NULL;
}
