/* Lockstep with neighbours alone. To compute a round an agent needs its neighbours' rows of the round before, so it is
 * at most one round ahead of any. It sends each neighbour what that one lacks, again and again, until a datagram says
 * that it is there. Loss, delay, order, duplicates and restarts change the time and not one bit.
 *
 * Messages of past rounds are kept until no neighbour may ask for them again (`safe`): an agent that is killed goes on
 * from its last state file, and its neighbours still have what it has not yet had then. */
#ifndef SVMP_AGENTS_LOCKSTEP_H
#define SVMP_AGENTS_LOCKSTEP_H

#include <stdint.h>
#include <stdio.h>

#include "svmp_agents.h"
#include "svmp_plugin.h"
#include "udp_socket.h"

typedef struct svmp_peer_line lockstep;

typedef struct lockstep_options {
    double least;   /* seconds between two attempts, at least */
    double budget;  /* bytes sent in a second, at most; 0: as many as it takes */
    double linger;  /* seconds of quiet before it leaves */
    double stay;    /* seconds without a word of neighbours that have not finished, before it leaves them */
    double report;  /* seconds between two lines of JSON; 0: none */
    uint16_t every; /* rounds between two state files */
    size_t keepers; /* neighbours that keep its state, */
    char *folder;   /* and where it keeps theirs */
} lockstep_options;

/* Returns NULL, with an exit status, after an error message. `keys` are those of the neighbours. */
lockstep *lockstep_open(const svmp_part_about *about, const char *hosts, const host *relay, const seal_keys *keys,
                        const lockstep_options *options, int *status);
void lockstep_close(lockstep *line); /* NULL-safe */

/* The number of this start, which grows with every start: before anything is sent. */
void lockstep_set_boot(lockstep *line, uint32_t boot);
uint32_t lockstep_boot(const lockstep *line);

/* The functions of a line, for svmp_part_start. */
svmp_peers lockstep_peers(lockstep *line);

/* The round that is complete. */
uint32_t lockstep_round(const lockstep *line);

/* Whether a state is to be written after this iteration; waits for keepers that are late with the last one. */
int lockstep_is_due(lockstep *line);

/* What a state file has of the line, and back: bytes that the caller frees; NULL: no memory. */
unsigned char *lockstep_save(const lockstep *line, size_t *size);
int lockstep_load(lockstep *line, const unsigned char *bytes, size_t size); /* 0: not of this line */

/* The state file of this round, whose bytes become the line's, is safe on the disk. They go to the keepers, and once
 * all of these have them (at once without keepers), the agent announces `safe` to its neighbours. */
void lockstep_secure(lockstep *line, int finished, unsigned char *bytes, size_t size);
int lockstep_is_kept(const lockstep *line); /* by all keepers */

/* Asks the neighbours for a state that was lost, before anything else. Bytes that the caller frees; NULL: all
 * neighbours have answered, and none has one. */
unsigned char *lockstep_find(lockstep *line, size_t *size);

/* After an iteration, before its state is written: whether to stop now, at the same iteration as all others. `asks` if
 * `votes` is an answer to whether the averages of this agent have settled: all stop once all have said so. */
int lockstep_agree(lockstep *line, uint32_t iteration, int asks, int votes);

/* Whether that has been decided before. */
int lockstep_has_stopped(const lockstep *line);

/* Proposes, once, that all stop as soon as all can know it. Returns 1 if a state must be written, and kept, before the
 * next iteration, so that the proposal is never taken back. */
int lockstep_propose_stop(lockstep *line);

/* Answers the neighbours for some seconds. */
void lockstep_serve(lockstep *line, double seconds);

/* Stays until all neighbours have finished, too. */
void lockstep_leave(lockstep *line);

/* Prints a line of JSON, where such lines are wanted. */
void lockstep_report(lockstep *line);

/* Tells everybody that this agent has failed, through the neighbours. Does not return. */
_Noreturn void lockstep_stop(lockstep *line, const char *sentence);

#endif
