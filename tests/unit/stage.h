/* Several processes simulated by threads: each has its own context, and collective calls use shared memory. If one has
 * ended, or makes a different call, while others wait for it, the program reports it and aborts. */
#ifndef SVMP_TEST_STAGE_H
#define SVMP_TEST_STAGE_H

#include "base/peers.h"
#include "unit/support.h"

enum { STAGE_MOST = 7 };

typedef struct stage stage;

typedef struct player {
    stage *stage;
    svmp_peers peers;
    svmp_context *context;
    void (*play)(struct player *p);
    const void *script;
    svmp_status status;
    size_t calls;    /* collective calls */
    long made, live; /* allocations so far, of memory or a locale; and unreleased ones of memory */
    long scarce;     /* the allocation that fails, counted from 1; 0: none */
    long lost, late; /* receives that found no rows, or those of the previous round */
} player;

/* Runs `play` in `count` processes; allocation `scarce` of process `failing_process` fails. */
void stage_play(size_t count, void (*play)(player *), const void *script, player *players);
void stage_play_scarce(size_t count, void (*play)(player *), const void *script, size_t failing_process, long scarce,
                       player *players);

/* The same over lossy links: a process may receive no rows of a neighbour, or those of the previous round, and has to
 * try again. */
void stage_play_lossy(size_t count, void (*play)(player *), const void *script, player *players);

/* Frees the contexts and checks that all memory has been released. */
void stage_end(size_t count, player *players);

#endif
