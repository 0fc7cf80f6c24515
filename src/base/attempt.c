#include "base/attempt.h"

svmp_error_function svmp_attempt_begin(svmp_context *context) {
    const svmp_error_function on_error = context->on_error;
    context->on_error = NULL;
    return on_error;
}

void svmp_attempt_end(svmp_context *context, svmp_error_function on_error, svmp_status status) {
    context->on_error = on_error;
    if (status != SVMP_NO_MEMORY) context->advised = 0;
    if (status == SVMP_NO_MEMORY && on_error) on_error(status, context->error, context->on_error_data);
}
