/* The plug-in svmp_cuda.so without a device: of this build, or, if $FAKE_DEVICE is "version", of another one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "known_plugins.h"
#include "svmp_plugin.h"

static int look(char *words, size_t size) {
    snprintf(words, size, "No device is in here. There may be one elsewhere.\nnvrtc: yes, 1.2");
    return 0;
}

__attribute__((visibility("default"))) const svmp_plugin *svmp_plugin_entry(void);
const svmp_plugin *svmp_plugin_entry(void) {
    static const svmp_device *const devices[] = {NULL};
    static svmp_plugin plugin;
    plugin = (svmp_plugin){.version = SVMP_PLUGIN_VERSION + (strcmp(getenv("FAKE_DEVICE"), "version") == 0),
                           .kind = SVMP_PLUGIN_DEVICE,
                           .name = "cuda",
                           .formulas = KNOWN_FORMULAS,
                           .look = look,
                           .devices = devices};
    return &plugin;
}
