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
    size_t size, part_size, line_size;
} agent_state;

/* Makes the folder if there is none, locks it, and reads the state; a damaged one is taken for none if others keep it.
 * Returns 0, or an exit status after an error message that names the agent. */
int state_open(const char *folder, const svmp_part_about *about, int is_kept, agent_state *state);
void state_close(agent_state *state);

/* Numbers this start, higher than the last one: only once nothing else can keep the agent from its work, since a
 * supervisor may start it every second until its network is there. Returns as state_open. */
int state_count_start(const agent_state *state, uint32_t *boot);

/* Writes that number, if it has become another one. */
int state_set_start(const agent_state *state, uint32_t boot);

/* Writes the state of a part and its line, and gives the bytes of the file to the caller, who frees them, unless
 * `written` is NULL. Returns 1, or 0 with a sentence in `error`; the old state is then unchanged. */
int state_write(const agent_state *state, const seal_block *part, const seal_block *line, int finished,
                unsigned char **written, size_t *size, char *error, size_t room);

/* Takes bytes that a keeper has given back, and writes them; they are then its own. Returns as state_open. */
int state_adopt(agent_state *state, unsigned char *bytes, size_t size);

/* A file's bytes; NULL: it cannot be read. */
unsigned char *state_bytes(const char *path, size_t *size);

/* Whether these are the undamaged bytes of a state of this run and agent, and its round. */
int state_is_whole(const unsigned char *bytes, size_t size, uint64_t run, uint32_t agent, uint32_t *round);

#endif
