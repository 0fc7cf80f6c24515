/* The simulated device as the library that svmp loads for GPUs, so that tests of the programs can name it in SVMP_CUDA.
 * $SIMULATED_FAILURE: the launch that fails; $SIMULATED_ROOM: the device's memory in bytes. */
#include <stdlib.h>

#include "simulated.h"

__attribute__((visibility("default"))) const device_ops *svmp_cuda_device(void);
const device_ops *svmp_cuda_device(void) {
    static device_ops ops;
    static const size_t layout[] = DEVICE_NUMBERS;
    const char *failure = getenv("SIMULATED_FAILURE"), *room = getenv("SIMULATED_ROOM");
    ops = *test_simulated_launches;
    for (size_t k = 0; k < DEVICE_COUNT; k++) ops.layout[k] = layout[k];
    test_simulated_failure = failure ? strtoul(failure, NULL, 10) : 0;
    test_simulated_room = room ? strtoul(room, NULL, 10) : test_simulated_room;
    return &ops;
}
