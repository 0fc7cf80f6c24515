#include "guard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "command.h"

/* Another process: its number at home, and what to say when it is no longer there. */
typedef struct peer {
    long id;
    char host[64], died[160];
} peer;

static struct {
    volatile sig_atomic_t watching;
    double patience; /* seconds */
    const keeper *k;
    peer *peers; /* those on this machine, */
    size_t near; /* so many */
    char late[320], *how;
} guard;

/* The launcher tells the processes to end and kills them a while later: mpirun after a second, unless it was told
 * otherwise, and Slurm after half a minute. What is said is said before. */
static double patience(void) {
    const char *told = getenv("OMPI_MCA_odls_base_sigkill_timeout");
    const double seconds = told ? strtod(told, NULL) : 0;
    if (getenv("SLURM_PROCID") && !getenv("OMPI_COMM_WORLD_SIZE")) return 20;
    return seconds > 0 && seconds < 1e6 ? seconds / 2 : 0.5;
}

static void say(const char *words) {
    if (write(STDERR_FILENO, words, strlen(words)) < 0) _exit(EXIT_FAILED);
}

static void end(const char *why) {
    say(why);
    say(guard.k->kept ? " The last checkpoint is whole.\n" : " There is no checkpoint to go on from.\n");
    if (guard.k->kept) say(guard.how);
    _exit(EXIT_FAILED);
}

static void give_up(int number) {
    (void)number;
    end(guard.late);
}

/* Those on this machine come first; `all` becomes `guard.peers`. */
static void keep_near(size_t count, peer *all, const char *host) {
    guard.near = 0;
    for (size_t k = 0; k < count; k++) {
        if (strcmp(all[k].host, host) != 0) continue;
        guard.peers[guard.near] = all[k];
        snprintf(guard.peers[guard.near++].died, sizeof all->died, "svmp: Process %zu of %zu, on %.64s, has died.", k,
                 count, host);
    }
    snprintf(guard.late, sizeof guard.late,
             "svmp: The run was asked to stop, and its iteration takes longer than the %g s that there are for it%s.",
             guard.patience, guard.near < count ? ", or a process on another machine has died" : "");
}

static char *compose(const keeper *k, const option_set *set) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL) return NULL;
    if (k->path) keeper_print_how(k, set, stream);
    if (fclose(stream) == 0) return text;
    free(text);
    return NULL;
}

void guard_begin(const keeper *k, const option_set *set) {
    const size_t count = svmp_context_processes(k->context);
    if (count == 1) return;
    peer mine = {.id = (long)getpid()};
    if (gethostname(mine.host, sizeof mine.host - 1) != 0) mine.host[0] = '\0';
    guard.peers = calloc(count, sizeof *guard.peers);
    guard.how = compose(k, set);
    if (svmp_context_any(k->context, guard.peers == NULL || guard.how == NULL)) return; /* nobody watches, then */
    svmp_context_gather(k->context, sizeof mine, &mine, guard.peers);
    guard.k = k;
    guard.patience = patience();
    keep_near(count, guard.peers, mine.host);
    signal(SIGALRM, give_up);
    guard.watching = is_speaker();
}

void guard_arm(void) {
    const long whole = (long)guard.patience;
    const struct itimerval soon = {
        .it_value = {.tv_sec = whole, .tv_usec = (suseconds_t)(1e6 * (guard.patience - (double)whole))}};
    if (!guard.watching) return;
    for (size_t p = 0; p < guard.near; p++)
        if (kill((pid_t)guard.peers[p].id, 0) != 0 && errno == ESRCH) end(guard.peers[p].died);
    setitimer(ITIMER_REAL, &soon, NULL);
}

void guard_end(void) {
    const struct itimerval never = {{0, 0}, {0, 0}};
    if (guard.watching) setitimer(ITIMER_REAL, &never, NULL);
    guard.watching = 0;
    free(guard.peers);
    free(guard.how);
    guard.peers = NULL;
    guard.how = NULL;
}
