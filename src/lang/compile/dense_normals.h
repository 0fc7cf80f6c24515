/* Multivariate normal densities of many dimensions with a computed matrix (dense_normals.c). */
#ifndef SVMP_LANG_COMPILE_DENSE_NORMALS_H
#define SVMP_LANG_COMPILE_DENSE_NORMALS_H

#include "lang/compile/factor_builder.h"

/* Marks these densities, and stores what their matrices and means are made of: *elements more. */
svmp_status svmp_dense_choose(model_lowering *lowering, size_t *elements);

/* The factor of a marked density, once its values are built. *added: false if one of them is a formula. */
svmp_status svmp_dense_add(model_lowering *lowering, const factor_work *factor, bool *added);

#endif
