/* Nodes of location-scale families, moved in other coordinates than their own (moved_coordinates.c). */
#ifndef SVMP_LANG_COMPILE_MOVED_COORDINATES_H
#define SVMP_LANG_COMPILE_MOVED_COORDINATES_H

#include "lang/compile/compile_passes.h"

/* Whether the node of the current instance, the `which`-th of all, can have other coordinates, and which it has.
 * `elements`: of its left-hand side, known ones too. */
svmp_status svmp_coordinates_choose(model_lowering *lowering, const evaluated_distribution *evaluated, size_t elements,
                                    size_t which, lowered_node *node);

/* Replaces z, the variables that are moved, by u, the node on the whole line. */
svmp_status svmp_coordinates_build(model_lowering *lowering, const lowered_node *node, expr *variables);

/* The log density of z; picked are its arguments and itself, (arguments + 1) for each element. */
svmp_status svmp_coordinates_density(model_lowering *lowering, const lowered_node *node, expr *picked, expr *density);

#endif
