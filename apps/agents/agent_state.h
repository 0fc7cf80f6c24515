/* The state folder of an agent: a lock, the number of its last start, and the last state, so that it goes on after
 * SIGKILL. */
#ifndef SVMP_AGENTS_AGENT_STATE_H
#define SVMP_AGENTS_AGENT_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "lockstep.h"

typedef struct agent_state {
    char folder[4000], path[4096];
    uint64_t run;
    uint32_t agent;
    const char *name;
    int lock;            /* of the folder, as long as this process lives */
    int there, finished; /* whether there is a state; whether it is that of the end */
    unsigned char *bytes;
    const unsigned char *part, *line;
    size_t part_size, line_size;
} agent_state;

/* Makes the folder if there is none, locks it, and reads the state. Returns 0, or an exit status
 * after an error message that names the agent. */
int state_open(const char *folder, const svmp_part_about *about, agent_state *state);
void state_close(agent_state *state);

/* Numbers this start, higher than the last one: only once nothing else can keep the agent from its work, since a
 * supervisor may start it every second until its network is there. Returns as state_open. */
int state_count_start(const agent_state *state, uint32_t *boot);

/* Writes the state of a part and its line. Returns 1, or 0 with a sentence in `error`; the old state is then
 * unchanged. */
int state_write(const agent_state *state, const void *part, size_t part_size, const void *line, size_t line_size,
                int finished, char *error, size_t size);

#endif
