/* An empty plug-in: of this build with the name "fake", or of another version, other formulas, kind or name chosen by
 * $FAKE_PLUGIN. */
#include <stdlib.h>
#include <string.h>

#include "known_plugins.h"
#include "svmp_plugin.h"

__attribute__((visibility("default"))) const svmp_plugin *svmp_plugin_entry(void);
const svmp_plugin *svmp_plugin_entry(void) {
    static svmp_plugin plugin;
    const char *other = getenv("FAKE_PLUGIN");
    if (other == NULL) other = "";
    plugin = (svmp_plugin){.version = SVMP_PLUGIN_VERSION, .kind = SVMP_PLUGIN_PEERS, .name = "fake"};
    if (strcmp(other, "version") == 0) plugin.version++;
    if (strcmp(other, "kind") == 0) plugin.kind = SVMP_PLUGIN_DEVICE, plugin.formulas = KNOWN_FORMULAS;
    if (strcmp(other, "formulas") == 0) plugin.kind = SVMP_PLUGIN_DEVICE, plugin.formulas = "others";
    if (strcmp(other, "none") == 0) plugin.kind = SVMP_PLUGIN_DEVICE;
    if (strcmp(other, "name") == 0) plugin.name = "other";
    return &plugin;
}
