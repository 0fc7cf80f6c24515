/* CHOLMOD's own factor, for the solutions of `exact`: they keep CHOLMOD's bits. */
#ifndef SVMP_MATHS_CHOLMOD_CALLS_H
#define SVMP_MATHS_CHOLMOD_CALLS_H

#ifdef SVMP_HAVE_CHOLMOD

#include <cholmod.h>

#include "maths/sparse_factor.h"

cholmod_factor *svmp_factorisation_cholmod(factorisation *f, cholmod_common **common);

/* CHOLMOD failed: out of memory, or something that should not be. */
svmp_status svmp_factorisation_report(const factorisation *f);

#endif
#endif
