/* One node of a lowered model at a time, all particles: what its prior yields, and room for one particle's numbers. */
#ifndef SVMP_MODEL_NODE_PRIOR_H
#define SVMP_MODEL_NODE_PRIOR_H

#include "model/text_model.h"

typedef struct lowered_work {
    void *scratch;
    double *prior; /* outputs of the program, n numbers each */
    double *lower, *upper, *values, *variables;
    double *arguments;
} lowered_work;

svmp_status svmp_work_reserve(const lowered_model *lowered, size_t n, lowered_work *work);
void svmp_work_release(const lowered_model *lowered, lowered_work *work); /* takes one that is all zeros */

/* Arguments and bounds of a node for all particles. */
void svmp_work_evaluate(const lowered_model *lowered, const lowered_node *node, size_t n, const double *variables,
                        lowered_work *work);

/* Those of particle l: the bounds to work->lower and work->upper, the arguments, which lie in work->arguments. */
void svmp_work_bounds(const lowered_model *lowered, const lowered_node *node, size_t n, size_t l, lowered_work *work);
void svmp_work_arguments(const lowered_model *lowered, const lowered_node *node, size_t n, size_t l, lowered_work *work,
                         number_array *arguments);

/* In place of work->variables, a node's on the whole line, what is moved of it, z; and back. From what
 * svmp_work_evaluate left for particle l. Of a node that is centred nothing changes. */
void svmp_work_to_moved(const lowered_model *lowered, const lowered_node *node, size_t n, size_t l, lowered_work *work);
void svmp_work_from_moved(const lowered_model *lowered, const lowered_node *node, size_t n, size_t l,
                          lowered_work *work);

/* u = origin + z / root, of element k of a node, for particle l: the node on the whole line from what is moved
 * (lang/compile/moved_coordinates.c), of a node that is not centred. */
typedef struct moved_line {
    double origin, root;
} moved_line;

moved_line svmp_work_line(const lowered_model *lowered, const lowered_node *node, size_t n, size_t l, size_t k,
                          const lowered_work *work);

/* `numbers`, a node's variables, become those of particle l. */
void svmp_work_put(const lowered_node *node, size_t n, size_t l, const double *numbers, double *variables);

/* The first place in by_level of this level, or of those behind it. */
size_t svmp_lowered_level_start(const lowered_model *lowered, size_t level);

#endif
