/* One node of a lowered model at a time, all particles: what its prior yields, and room for one particle's numbers. */
#ifndef SVMP_MODEL_NODE_PRIOR_H
#define SVMP_MODEL_NODE_PRIOR_H

#include "model/text_model.h"

typedef struct prior_workspace {
    void *scratch;
    double *prior; /* outputs of the program, n numbers each */
    double *lower, *upper, *values, *variables;
    double *arguments;
} prior_workspace;

svmp_status svmp_prior_reserve(const lowered_model *lowered, size_t n, prior_workspace *work);
void svmp_prior_release(const lowered_model *lowered, prior_workspace *work); /* takes one that is all zeros */

/* Arguments and bounds of a node for all particles. */
void svmp_prior_evaluate(const lowered_model *lowered, const lowered_node *node, size_t n, const double *variables,
                         prior_workspace *work);

/* Those of particle l: the bounds to work->lower and work->upper, the arguments, which lie in work->arguments. */
void svmp_prior_bounds(const lowered_model *lowered, const lowered_node *node, size_t n, size_t l,
                       prior_workspace *work);
void svmp_prior_arguments(const lowered_model *lowered, const lowered_node *node, size_t n, size_t l,
                          prior_workspace *work, number_array *arguments);

/* In place of work->variables, a node's on the whole line, what is moved of it, z; and back. From what
 * svmp_prior_evaluate left for particle l. Of a node that is centred nothing changes. */
void svmp_prior_to_moved(const lowered_model *lowered, const lowered_node *node, size_t n, size_t l,
                         prior_workspace *work);
void svmp_prior_from_moved(const lowered_model *lowered, const lowered_node *node, size_t n, size_t l,
                           prior_workspace *work);

/* u = origin + z / root, of element k of a node, for particle l: the node on the whole line from what is moved
 * (lang/compile/moved_coordinates.c), of a node that is not centred. */
typedef struct moved_line {
    double origin, root;
} moved_line;

moved_line svmp_prior_line(const lowered_model *lowered, const lowered_node *node, size_t n, size_t l, size_t k,
                           const prior_workspace *work);

/* The same of a location-scale node in the coordinates of the text, or of the state that moves in its place: the
 * location, and the inverse of the scale. */
moved_line svmp_prior_location_scale(const lowered_model *lowered, const lowered_node *node, size_t n, size_t l,
                                     size_t k, const prior_workspace *work);

/* `numbers`, a node's variables, become those of particle l. */
void svmp_prior_put(const lowered_node *node, size_t n, size_t l, const double *numbers, double *variables);

/* The first place in by_level of this level, or of those behind it. */
size_t svmp_lowered_level_start(const lowered_model *lowered, size_t level);

#endif
