/* Making a symmetric matrix positive definite, in units of its own diagonal. */
#ifndef SVMP_START_DEFINITE_H
#define SVMP_START_DEFINITE_H

#include "model/factorisation.h"

svmp_status svmp_make_definite(factorisation *factor, const sparsity *pattern, double *H, int *repaired);

#endif
