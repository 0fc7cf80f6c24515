/* The special functions of the language in one unit, each file with its own names for what it keeps to itself. */
#ifndef SVMP_CUDA_DEVICE_SPECIAL_H
#define SVMP_CUDA_DEVICE_SPECIAL_H

#include "cuda/device_program.h"
#include "maths/special.h"

#define dual     gamma_dual
#define series   gamma_series
#define fraction gamma_fraction
#include "maths/special_gamma.c"
#undef dual
#undef series
#undef fraction
#define dual     beta_dual
#define fraction beta_fraction
#include "maths/special_beta.c"
#undef dual
#undef fraction
#include "maths/special_hypergeometric.c"
#include "maths/special_noncentral.c"
#include "maths/special_quantile.c"

#endif
