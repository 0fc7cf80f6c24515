/* The shapes for which backends have special loops. All others are computed by the shape's functions (kernel.h), or
 * refused by a backend that cannot call them. Read by device code, too. */
#ifndef SVMP_STEIN_KERNEL_SHAPES_H
#define SVMP_STEIN_KERNEL_SHAPES_H

typedef enum shape_kind { SHAPE_RBF, SHAPE_IMQ, SHAPE_LINEAR, SHAPE_OTHER } shape_kind;

#endif
