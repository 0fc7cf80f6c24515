/* Internal declarations of the verdict. */
#ifndef SVMP_VERIFY_VERIFY_H
#define SVMP_VERIFY_VERIFY_H

#include "method/method.h"

enum { VERDICT_FEWEST = 10 }; /* particles: with fewer, nothing is large enough to stand out from chance */

/* An empty verdict on a run. */
void svmp_verdict_describe(const svmp_run *run, svmp_verdict *verdict);

#endif
