/* The simulated device as the plug-in svmp_cuda.so, so that tests of the programs can name it in SVMP_CUDA.
 * $SIMULATED_FAILURE: launches until one fails; $SIMULATED_ROOM: bytes of memory that it has. */
#include <stdlib.h>

#include "known_plugins.h"
#include "simulated.h"

static int look(char *words, size_t size) { return svmp_cuda_look(test_simulated_launches, words, size); }

__attribute__((visibility("default"))) const svmp_plugin *svmp_plugin_entry(void);
const svmp_plugin *svmp_plugin_entry(void) {
    static const svmp_device *const devices[] = {&test_device_simulated_whole, &test_device_simulated_f64, NULL};
    static const svmp_plugin plugin = {.version = SVMP_PLUGIN_VERSION,
                                       .kind = SVMP_PLUGIN_DEVICE,
                                       .name = "cuda",
                                       .formulas = KNOWN_FORMULAS,
                                       .look = look,
                                       .devices = devices};
    const char *failure = getenv("SIMULATED_FAILURE"), *room = getenv("SIMULATED_ROOM");
    test_simulated_failure = failure ? strtoul(failure, NULL, 10) : 0;
    test_simulated_room = room ? strtoul(room, NULL, 10) : test_simulated_room;
    return &plugin;
}
