/* An empty plug-in: of this build with the name "fake", or of another version, layout, kind or name chosen by
 * $FAKE_PLUGIN. */
#include <stdlib.h>
#include <string.h>

#include "svmp_plugin.h"

__attribute__((visibility("default"))) const svmp_plugin *svmp_plugin_entry(void);
const svmp_plugin *svmp_plugin_entry(void) {
    static size_t layout[] = SVMP_PLUGIN_LAYOUT;
    static svmp_plugin plugin;
    enum { COUNT = sizeof layout / sizeof *layout };
    const char *other = getenv("FAKE_PLUGIN");
    if (other == NULL) other = "";
    plugin = (svmp_plugin){.version = SVMP_PLUGIN_VERSION,
                           .kind = SVMP_PLUGIN_PEERS,
                           .name = "fake",
                           .layout = layout,
                           .layout_count = COUNT};
    layout[COUNT - 1] = sizeof(svmp_device) + (strcmp(other, "layout") == 0);
    if (strcmp(other, "version") == 0) plugin.version++;
    if (strcmp(other, "count") == 0) plugin.layout_count--;
    if (strcmp(other, "kind") == 0) plugin.kind = SVMP_PLUGIN_DEVICE;
    if (strcmp(other, "name") == 0) plugin.name = "other";
    return &plugin;
}
