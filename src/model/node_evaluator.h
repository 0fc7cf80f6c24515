/* A node and the factors that touch it: their log values and the node's own score, for n particles, with the node at y
 * and everything else at x. Other factors are not looked at: a move of one node, or a message to it, costs what its
 * factors cost.
 *
 *     value_v(y) = sum over the factors f that touch v of log f(y_v, x)        (up to a number that y does not change)
 *     score_i(y) = d value_v / d y_i,  i a variable of v
 *
 * The nodes to be looked at come with colours; nodes of one colour share no factor. The work of a colour is cut into
 * tasks: some nodes each, or one hub, whose factors all threads share. Every sum has an order that depends on the model
 * and on n alone: the same bits for any number of threads, and for any number of processes.
 *
 *     for each colour
 *         for each task of the colour, in parallel unless it is a hub
 *             svmp_node_evaluate_current        value and score at x
 *             svmp_node_evaluate_proposed       and at y, made from them
 *
 * svmp_node_evaluate_scores does all of it for given y: the messages of hubs.
 */
#ifndef SVMP_MODEL_NODE_EVALUATOR_H
#define SVMP_MODEL_NODE_EVALUATOR_H

#include "model/model.h"

/* The colour of a node that is not looked at. */
#define NODE_UNCOLOURED UINT32_MAX

typedef struct node_evaluator node_evaluator;

typedef struct node_task {
    const uint32_t *nodes; /* `count` of them, ascending; a hub is alone */
    size_t count;
    size_t rows;               /* variables of these nodes: node after node, they are the rows of y and of scores */
    int hub;                   /* its factors are shared by the threads */
    size_t lanes;              /* factors that touch the nodes, times particles: what it costs */
    size_t run, runs;          /* private: which factors */
    size_t from, to, together; /* of its factors; so many are a part of a hub */
} node_task;

/* Plans for the own nodes of a model, or of a part of one: colour[v] < colours, or NODE_UNCOLOURED. svmp_graph_colour
 * gives all of them colours; fewer nodes may have these, too. The model must live as long. Memory: three numbers of 4
 * bytes for every pair of a node and a factor that touches it, and for each thread some rows of n numbers. */
svmp_status svmp_node_evaluator_create(const svmp_model *model, size_t n, int threads, size_t colours,
                                       const uint32_t *colour, node_evaluator **made);

/* The same for n of `whole` particles: tasks and the order of sums are those for all of them. */
svmp_status svmp_node_evaluator_create_share(const svmp_model *model, size_t n, size_t whole, int threads,
                                             size_t colours, const uint32_t *colour, node_evaluator **made);
void svmp_node_evaluator_free(node_evaluator *l);

/* The tasks of a colour; hubs are the last ones, from *hubs on. */
const node_task *svmp_node_evaluator_tasks(const node_evaluator *l, size_t colour, size_t *count, size_t *hubs);

/* The most nodes and the most rows of a task: room for value and score. */
size_t svmp_node_evaluator_most_nodes(const node_evaluator *l);
size_t svmp_node_evaluator_most_rows(const node_evaluator *l);

/* The task's nodes at x: value[k*n + l] of its k-th node, score[r*n + l] of its r-th variable. `value` may be NULL.
 * `thread` is the caller's number, below the threads of the plan: the tasks of one colour may be done at the same time.
 * A hub is done outside of a parallel region. Allocates nothing. Returns NODE_EVALUATED, or a failure (model.h),
 * which svmp_node_evaluator_fail tells. */
#define NODE_EVALUATED FAILURE_NONE
size_t svmp_node_evaluate_current(node_evaluator *l, const node_task *task, int thread, const double *x, double *value,
                                  double *score);
svmp_status svmp_node_evaluator_fail(const node_evaluator *l, size_t failure);

/* The same at y, rows like those of the score. `x` is what it was in svmp_node_evaluate_current, with which this thread
 * has just looked at the same task. value - the value at x is the log ratio of the density of the particle with the
 * node at y to that at x; what the quadratic part has of it is exact where x is large and y near it, because it is a
 * difference from the first. */
size_t svmp_node_evaluate_proposed(node_evaluator *l, const node_task *task, int thread, const double *x,
                                   const double *y, double *value, double *score);

/* The number of tasks of all colours; those of one colour follow those of the one before it in memory. */
size_t svmp_node_evaluator_task_count(const node_evaluator *l);

/* Operations a particle: of a task's nodes once at x and once at y, without the quadratic. */
size_t svmp_node_evaluator_task_work(const node_evaluator *l, const node_task *task);

/* Operations a particle: of a score of the whole model, and of all nodes once at x and once at y, where the quadratic
 * costs little the second time. Of factors that are functions nobody knows: they count as their variables. For reports.
 */
typedef struct node_work {
    size_t score, sweep;
} node_work;
node_work svmp_node_evaluator_work(const node_evaluator *l);

/* All nodes of the plan, each at y and the others at x: score[i*n + l] of their variables i, y[i*n + l] laid out like
 * x. Other rows are neither read nor written. Threads share the work. */
svmp_status svmp_node_evaluate_scores(node_evaluator *l, const double *x, const double *y, double *score);

#endif
