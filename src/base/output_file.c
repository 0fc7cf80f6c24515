#include "base/output_file.h"

static svmp_status status_of(const output_file *output, int done) {
    return done ? SVMP_OK : svmp_fail(output->context, SVMP_CANNOT_WRITE, "%s", output->whole.error);
}

svmp_status svmp_output_open(svmp_context *context, const char *path, int overwrite, output_file *output) {
    output->context = context;
    return status_of(output, svmp_whole_open(path, overwrite, &output->whole));
}

svmp_status svmp_output_open_again(svmp_context *context, const char *path, output_file *output) {
    output->context = context;
    return status_of(output, svmp_whole_open_again(path, &output->whole));
}

svmp_status svmp_output_put(output_file *output, const void *bytes, size_t length) {
    return status_of(output, svmp_whole_put(&output->whole, bytes, length));
}

svmp_status svmp_output_finish(output_file *output) { return status_of(output, svmp_whole_finish(&output->whole)); }

void svmp_output_close(output_file *output) { svmp_whole_close(&output->whole); }
