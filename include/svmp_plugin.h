/* svmp_plugin.h: what a plug-in and the library share: plain data, and no other header of svmp.
 *
 * A plug-in is a shared library svmp_NAME.so that exports an svmp_plugin_entry_function. The library loads it when a
 * run asks for it: $SVMP_NAME is the path of its file (empty: it is not used); else it is sought in the folder
 * $SVMP_PLUGINS, beside the library, and where the system looks for libraries. It stays loaded until the program ends.
 * Library and plug-in are of one build: another one is refused.
 */
#ifndef SVMP_PLUGIN_H
#define SVMP_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SVMP_PLUGIN_VERSION = 1 };

/* Numbers are never reused. */
typedef enum svmp_plugin_kind { SVMP_PLUGIN_DEVICE = 1, SVMP_PLUGIN_PEERS = 2 } svmp_plugin_kind;

/* What a plug-in may ask of the library; `context` is the first argument of all. */
typedef struct svmp_host {
    void *context;
    void *(*allocate)(void *context, size_t bytes); /* zeroed; NULL, with an error recorded: there is no memory */
    void (*release)(void *context, void *pointer);  /* NULL-safe */
    void (*fail)(void *context, int status, const char *sentence); /* records an error; `status` is an svmp_status */
    void (*log)(void *context, int level, const char *sentence);   /* `level` is an svmp_log_level */
} svmp_host;

struct svmp_device;
struct svmp_peers;

typedef struct svmp_plugin {
    uint32_t version; /* SVMP_PLUGIN_VERSION */
    uint32_t kind;    /* svmp_plugin_kind */
    const char *name; /* as in svmp_NAME.so */
    const size_t *layout;
    size_t layout_count; /* SVMP_PLUGIN_LAYOUT, as compiled */

    /* Whether this machine has what the plug-in is for: 1, with its name in `words`; or 0, with sentences, of which the
     * first one says what is missing. */
    int (*look)(char *words, size_t size);

    const struct svmp_device *const *devices; /* of SVMP_PLUGIN_DEVICE; NULL behind the last one */

    /* Of SVMP_PLUGIN_PEERS: makes this process one of several; returns an svmp_status. */
    int (*join)(const svmp_host *host, const struct svmp_peers **made);
} svmp_plugin;

/* The sizes of what both sides share. */
#define SVMP_PLUGIN_LAYOUT                                                                                             \
    { sizeof(svmp_host), sizeof(svmp_plugin) }

/* What a plug-in exports, under this name. */
typedef const svmp_plugin *(*svmp_plugin_entry_function)(void);
#define SVMP_PLUGIN_ENTRY "svmp_plugin_entry"

#ifdef __cplusplus
}
#endif

#endif
