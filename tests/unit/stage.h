/* Several processes played by threads: each has a context of its own, and their collective calls meet in shared memory.
 * When one has left, or calls something else, while others wait for it, that is said and the program ends. */
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
    size_t calls;    /* collective ones */
    long made, live; /* allocations so far, of memory or of a locale; and those of memory that are not released */
    long scarce;     /* the one that fails, counted from 1; 0: none */
    long lost,
        late; /* rows of a neighbour that had not come when they were asked for, or were those of the round before */
} player;

/* Runs `play` in `count` processes; `scarce`, of process `poor`, is the allocation that fails. */
void stage_play(size_t count, void (*play)(player *), const void *script, player *players);
void stage_play_poor(size_t count, void (*play)(player *), const void *script, size_t poor, long scarce,
                     player *players);

/* The same over links that lose: whoever asks for the rows of a neighbour may find none, or those of the round before,
 * and has to ask again. */
void stage_play_lossy(size_t count, void (*play)(player *), const void *script, player *players);

/* Frees the contexts; all that was allocated has been released. */
void stage_end(size_t count, player *players);

#endif
