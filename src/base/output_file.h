/* Output files of the library: those of whole_file.h, whose errors are those of a context. */
#ifndef SVMP_BASE_OUTPUT_FILE_H
#define SVMP_BASE_OUTPUT_FILE_H

#include "base/context.h"
#include "base/whole_file.h"

typedef struct output_file {
    svmp_context *context;
    whole_file whole;
} output_file;

svmp_status svmp_output_open(svmp_context *context, const char *path, int overwrite, output_file *output);
svmp_status svmp_output_open_again(svmp_context *context, const char *path, output_file *output);
svmp_status svmp_output_put(output_file *output, const void *bytes, size_t length);
svmp_status svmp_output_finish(output_file *output);
void svmp_output_close(output_file *output); /* accepts an all-zero value */

#endif
