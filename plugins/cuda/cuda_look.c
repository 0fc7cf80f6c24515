/* What the plug-in says of this machine. */
#include "cuda/cuda_backend.h"
#include "cuda/nvrtc.h"

#include <stdio.h>
#include <string.h>

int svmp_cuda_look(const device_ops *ops, char *words, size_t size) {
    char why[512];
    nvrtc compiler;
    device *d = NULL;
    const int found = ops->open(&d, 0, words, size) == 0;
    if (found) snprintf(words, size, "%s", ops->describe(d));
    if (found) ops->close(d);
    const size_t length = strlen(words);
    if (svmp_nvrtc_find(&compiler, why, sizeof why))
        snprintf(words + length, size - length, "\nnvrtc: yes, %d.%d", compiler.major, compiler.minor);
    else
        snprintf(words + length, size - length, "\nnvrtc: no, GPUs interpret the statements of a model (%s)", why);
    return found;
}
