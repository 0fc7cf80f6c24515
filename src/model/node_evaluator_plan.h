/* The plan of local.c: which factors touch the nodes of a task, and in which order. */
#ifndef SVMP_MODEL_NODE_EVALUATOR_PLAN_H
#define SVMP_MODEL_NODE_EVALUATOR_PLAN_H

#include "model/node_evaluator.h"

/* At most so many parts of a hub are evaluated side by side, and added up in their order. */
enum { NODE_HUB_PARTS = 64 };

/* The slots of a group's instance in which a node's variables stand, ascending. Patterns are ordered by group, then by
 * their slots: an order that a part of the model does not change. */
typedef struct node_pattern {
    size_t group, count;
    const uint32_t *slots;
    unsigned char *own; /* slot -> whether it is one of these; NULL where `partial` is */
    void *partial;      /* of the group's kind; NULL: derivatives by all slots are evaluated, one instance at a time */
} node_pattern;

/* Touches of one task and one pattern, one behind the other. */
typedef struct node_run {
    size_t pattern, from, to;
} node_run;

/* A touch is a factor seen from a node. Touches of a task are ordered by pattern, then by instance. */
typedef struct node_plan {
    node_pattern *patterns;
    size_t pattern_count;
    uint32_t *slots;                    /* of all patterns */
    unsigned char *owns;                /* of all patterns with a partial */
    uint32_t *instance, *shift, *place; /* of a touch: see expr/instance_view.h; which node of the task it is */
    uint32_t *nodes;                    /* by task */
    node_run *runs;
    node_task *tasks;
    size_t colours;
    size_t *task_start, *hub_start; /* of each colour; task_start has one more */
    size_t *block; /* own variable -> the first entry of its row of the quadratic that is of its own node */
    size_t most_slots, most_derivatives; /* of a group without partials, of a pattern with one */
} node_plan;

svmp_status svmp_node_plan_create(const svmp_model *model, size_t n, size_t colours, const uint32_t *colour,
                                  node_plan *plan);
void svmp_node_plan_free(const svmp_model *model, node_plan *plan);

#endif
