#include "guard.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "command.h"

static struct {
    volatile sig_atomic_t watching;
    long patience; /* microseconds: mpirun waits a second before it kills, srun half a minute */
    const keeper *k;
    char *lost, *kept; /* what to say without a checkpoint, and with one */
} guard;

static void give_up(int number) {
    (void)number;
    const char *words = guard.k->kept ? guard.kept : guard.lost;
    if (write(STDERR_FILENO, words, strlen(words)) < 0) _exit(EXIT_FAILED);
    _exit(EXIT_FAILED);
}

static char *compose(const keeper *k, const option_set *set, int kept) {
    static const char said[] =
        "svmp: The processes did not stop together: one of them has died, or its iteration takes "
        "too long.";
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL) return NULL;
    fprintf(stream, kept ? "%s The last checkpoint is whole.\n" : "%s There is no checkpoint to go on from.\n", said);
    if (kept && k->path) keeper_print_how(k, set, stream);
    if (fclose(stream) == 0) return text;
    free(text);
    return NULL;
}

void guard_begin(const keeper *k, const option_set *set) {
    if (svmp_context_processes(k->context) == 1 || !is_speaker()) return;
    guard.k = k;
    guard.patience = getenv("SLURM_PROCID") && !getenv("OMPI_COMM_WORLD_SIZE") ? 20000000 : 500000;
    guard.lost = compose(k, set, 0);
    guard.kept = compose(k, set, 1);
    signal(SIGALRM, give_up);
    guard.watching = guard.lost && guard.kept;
}

void guard_arm(void) {
    const struct itimerval soon = {
        .it_value = {.tv_sec = guard.patience / 1000000, .tv_usec = guard.patience % 1000000}};
    if (guard.watching) setitimer(ITIMER_REAL, &soon, NULL);
}

void guard_end(void) {
    const struct itimerval never = {{0, 0}, {0, 0}};
    if (guard.watching) setitimer(ITIMER_REAL, &never, NULL);
    guard.watching = 0;
    free(guard.lost);
    free(guard.kept);
    guard.lost = guard.kept = NULL;
}
