/* Internal declarations of the verdict. */
#ifndef SVMP_VERIFY_VERIFY_H
#define SVMP_VERIFY_VERIFY_H

#include "method/method.h"

enum { VERDICT_FEWEST = 10 }; /* particles: with fewer, nothing is large enough to stand out from chance */

/* svmp_run_examine, of `count` other particles x[i*count + l] of the own variables; NULL: those of the run. `verdict`
 * says whether by local moves alone. */
svmp_status svmp_examine_values(const svmp_run *run, size_t count, const double *x, double seconds, size_t moves,
                                svmp_verdict *verdict);

/* An empty verdict on a run. */
void svmp_verdict_describe(const svmp_run *run, svmp_verdict *verdict);

#endif
