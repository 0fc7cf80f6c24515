/* svmp_agents.h: one model on many machines that talk only to their neighbours (docs/agents.md).
 *
 * A planner with the whole model writes a part for each agent: its own nodes, the factors that touch them, its start,
 * and the names of the nodes that it reads from others. Each agent runs its part, and exchanges rows with the agents
 * that have these nodes, through the functions `plan`, `connect`, `send`, `receive` and `close` of svmp_peers
 * (svmp_plugin.h), which the program provides. The outputs of all agents are joined to the particles that one process
 * would have computed from the whole model: the same bits.
 */
#ifndef SVMP_AGENTS_H
#define SVMP_AGENTS_H

#include "svmp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- planning ------------------------------------------------------------------------------- */

/* Which agent has which node, and what agents are called. `run` is a number that no other plan has. */
typedef struct svmp_agents {
    size_t count;
    const char *const *names;
    const uint32_t *owner; /* of each node of the model */
    uint64_t run;
    const char *record; /* lines for the comments of the joined particles, such as "model = FILE" */
    int until_settled;  /* agents ask each other whether all averages have settled, and stop then */
} svmp_agents;

/* Divides the nodes among `count` agents of about equal work with few messages; owner[v] < count. */
SVMP_API svmp_status svmp_agents_partition(const svmp_model *model, size_t count, uint32_t *owner);

/* Writes the part file of agent `which`. `run` is a run of the whole model that has not begun: its method, options and
 * start are the agents'. Fails if an agent has no nodes, if the method needs more than neighbours, or if the start is
 * impossible. An existing file is replaced. */
SVMP_API svmp_status svmp_part_write(svmp_run *run, const svmp_agents *agents, size_t which, const char *path);

/* A number that says how the functions of this machine's C library round: agents with the same number and the same
 * version of svmp compute the same bits. */
SVMP_API uint64_t svmp_agents_rounding(void);

/* ---- an agent ------------------------------------------------------------------------------- */

/* The part of a run that one agent has. */
typedef struct svmp_part svmp_part;

/* How processes exchange numbers: svmp_plugin.h. */
typedef struct svmp_peers svmp_peers;

/* What a part says of itself. */
typedef struct svmp_part_about {
    const char *name, *method;
    uint64_t run;
    size_t agent, agents;              /* its number, and how many there are */
    size_t neighbours;                 /* agents with which it exchanges rows, */
    const uint32_t *neighbour;         /* their numbers, ascending, */
    const char *const *neighbour_name; /* and names */
    size_t nodes;
    size_t rounds; /* about how many exchanges the run takes */
    size_t hops;   /* what one agent says has reached all after this many exchanges; 0: some are never reached */
    int until_settled;
} svmp_part_about;

/* Reads a part file. Fails if it is damaged, or written by another version of svmp. */
SVMP_API svmp_status svmp_part_read(svmp_context *context, const char *path, svmp_part **part);
SVMP_API void svmp_part_free(svmp_part *part); /* NULL-safe */
SVMP_API svmp_part_about svmp_part_describe(const svmp_part *part);

/* Makes the part's run. Of `lines` only `own`, `plan`, `connect`, `send`, `receive` and `close` are used; what `own`
 * points to must outlive the part. */
SVMP_API svmp_status svmp_part_start(svmp_part *part, const svmp_peers *lines);

/* Called after each iteration; a run stops where it returns nonzero. */
typedef int (*svmp_part_monitor)(size_t iteration, void *user_data);

/* Iterates to the end. `after` may be NULL. */
SVMP_API svmp_status svmp_part_go(svmp_part *part, svmp_part_monitor after, void *user_data, svmp_outcome *outcome);

/* The state after an iteration as bytes, valid until the next call, and back, before the first iteration. */
SVMP_API svmp_status svmp_part_save(svmp_part *part, const void **bytes, size_t *size);
SVMP_API svmp_status svmp_part_load(svmp_part *part, const void *bytes, size_t size);

/* Whether the averages of all variables of this part have settled, in a method whose particles are chains: at least 8
 * kept states, R-hat and effective draws within svmp_chains_limits (svmp_tools.h), and standard errors of the means of
 * at most 5 % of the standard deviations. */
SVMP_API svmp_status svmp_part_has_settled(const svmp_part *part, int *has);

/* The number of states that have been kept; the same for all agents after the same iteration. */
SVMP_API size_t svmp_part_kept(const svmp_part *part);

/* Writes the output of a part that has come to its end. Exchanges rows once more, as the other agents do. */
SVMP_API svmp_status svmp_part_write_output(svmp_part *part, const char *path);

/* ---- joining -------------------------------------------------------------------------------- */

/* The particles of one process from the outputs of all agents of a run, in any order, with lines of comments
 * (svmp_particles_write), which svmp_outputs_free_comments releases. Fails if one is missing, occurs twice or is of
 * another run; the error names the agent. */
SVMP_API svmp_status svmp_outputs_join(svmp_context *context, size_t count, const char *const *paths,
                                       svmp_particles **particles, char **comments);
SVMP_API void svmp_outputs_free_comments(svmp_context *context, char *comments); /* NULL-safe */

#ifdef __cplusplus
}
#endif

#endif
