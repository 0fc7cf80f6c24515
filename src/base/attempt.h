/* Attempts whose failure is no error. */
#ifndef SVMP_BASE_ATTEMPT_H
#define SVMP_BASE_ATTEMPT_H

#include "base/context.h"

/* Returns the error callback of the context, which is not called until svmp_attempt_end puts it back. `status` is how
 * the attempt ended: a lack of memory is reported then. The text of another failure stays svmp_context_error until the
 * next one, without its advice. */
svmp_error_function svmp_attempt_begin(svmp_context *context);
void svmp_attempt_end(svmp_context *context, svmp_error_function on_error, svmp_status status);

#endif
