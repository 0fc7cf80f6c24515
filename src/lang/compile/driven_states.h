/* Unknowns that drive a recursion, moved as its states (driven_states.c). */
#ifndef SVMP_LANG_COMPILE_DRIVEN_STATES_H
#define SVMP_LANG_COMPILE_DRIVEN_STATES_H

#include "lang/compile/compile_passes.h"

/* Chooses the unknowns and the states of all recursions, once the nodes are made. recursive[k] > 0: instance k is an
 * element of a recursion. */
svmp_status svmp_states_choose(model_lowering *lowering, const double *recursive);

/* The unknown moves as it is written. */
void svmp_state_undo(model_lowering *lowering, uint32_t unknown);

/* Notes what the state reads as parents of the unknown, which has no other coordinates. */
svmp_status svmp_state_finish(model_lowering *lowering, uint32_t unknown);

/* The state is rest + slope * e of the unknown e. */
svmp_status svmp_state_line(model_lowering *lowering, uint32_t unknown, expr *rest, expr *slope);

/* In place of the state, the unknown. */
svmp_status svmp_state_natural(model_lowering *lowering, uint32_t unknown, expr *variable);

/* The element of a state: its memo. */
svmp_status svmp_state_read(model_lowering *lowering, model_element *element);

/* The log density of the state that is moved in place of the current instance's node; picked are the arguments of the
 * distribution, rest, slope, and the state. */
svmp_status svmp_state_density(model_lowering *lowering, const lowered_node *node, expr *picked, expr *density);

#endif
