/* The special functions of the language in one unit, each file with its own names for what it keeps to itself. */
#ifndef SVMP_BACKEND_CUDA_SPECIAL_H
#define SVMP_BACKEND_CUDA_SPECIAL_H

#include "expr/special.h"

#include "expr/special_normal.c"
#define dual     gamma_dual
#define series   gamma_series
#define fraction gamma_fraction
#include "expr/special_gamma.c"
#undef dual
#undef series
#undef fraction
#define dual     beta_dual
#define fraction beta_fraction
#include "expr/special_beta.c"
#undef dual
#undef fraction
#include "expr/special_hypergeometric.c"
#include "expr/special_noncentral.c"
#include "expr/special_quantile.c"

#endif
