/* A device library without a device: of this build, or of another version or layout chosen by $FAKE_DEVICE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/device.h"

static int open_device(device **made, size_t which, char *text, size_t size) {
    (void)made, (void)which;
    snprintf(text, size, "No device is in here. There may be one elsewhere.");
    return 1;
}

__attribute__((visibility("default"))) const device_ops *svmp_cuda_device(void);
const device_ops *svmp_cuda_device(void) {
    static device_ops ops;
    const char *other = getenv("FAKE_DEVICE");
    ops = (device_ops){.version = DEVICE_VERSION, .layout = DEVICE_NUMBERS, .name = "fake", .open = open_device};
    ops.version += strcmp(other, "version") == 0;
    ops.layout[DEVICE_COUNT - 1] += strcmp(other, "layout") == 0;
    return &ops;
}
