/* Joining the processes that a launcher has started, through the plug-in that connects them. */
#include "base/libm_rounding.h"
#include "base/peers.h"
#include "base/plugin.h"
#include "base/shared_library.h"
#include "known_plugins.h"

/* Plug-ins that connect processes. */
typedef struct known_peers {
    const char *plugin;
    const char *started; /* a function of the program: whether it has started them itself, its launcher unknown here */
    const char *advice;  /* if the processes of a launcher do not find each other */
} known_peers;

static const known_peers known[] = {
#define ROW(...) {__VA_ARGS__},
    KNOWN_PEERS(ROW) /* */ {NULL, NULL, NULL}
#undef ROW
};

static int is_started_by_program(const known_peers *peers) {
    int (*function)(int *) = NULL;
    int started = 0;
    return svmp_library_bind(NULL, peers->started, &function) && function(&started) == 0 && started;
}

/* Each would do the whole run, and write the same files. */
static svmp_status refuse_strangers(svmp_context *context, const svmp_launch *launch, const known_peers *peers) {
    return svmp_fail(context, SVMP_UNSUPPORTED,
                     "%s started %zu processes that are not connected, and each would do the whole run. %s",
                     launch->name, launch->processes, launch->connects ? peers->advice : svmp_launch_advice());
}

static svmp_status refuse_without_plugin(svmp_context *context, const svmp_launch *launch, const char *why) {
    return svmp_fail(context, SVMP_UNSUPPORTED,
                     "%s started %zu processes, but they cannot be connected, and each would do the whole run. %s",
                     launch->name, launch->processes, why);
}

/* With several roundings the bits of a result would depend on which process moves a node. */
static svmp_status compare_rounding(svmp_context *context) {
    char words[80];
    snprintf(words, sizeof words, "checksum %016llx of exp, log and other functions",
             (unsigned long long)svmp_rounding_checksum());
    return svmp_context_compare(context, "the rounding of the C library", words);
}

svmp_status svmp_context_join(svmp_context *context) {
    if (context == NULL) return SVMP_BAD_CALL;
    const svmp_launch launch = svmp_launched();
    const known_peers *peers = known;
    while (peers->plugin && !is_started_by_program(peers)) peers++;
    const bool started = peers->plugin != NULL;
    const svmp_plugin *plugin = NULL;
    const svmp_peers *joined = NULL;
    char why[600] = "This build knows no plug-in that connects processes.";
    if (context->peers->count > 1)
        return svmp_fail(context, SVMP_BAD_CALL, "The context has already joined the other processes.");
    if (!started && launch.processes <= 1) return SVMP_OK;
    if (!started) peers = known;
    if (!started && !launch.connects) return refuse_strangers(context, &launch, peers);
    if (peers->plugin == NULL ||
        svmp_plugin_find(SVMP_PLUGIN_PEERS, peers->plugin, &plugin, why, sizeof why) != PLUGIN_FOUND)
        return launch.processes > 1 ? refuse_without_plugin(context, &launch, why) : SVMP_OK;
    const svmp_host host = svmp_plugin_host(context);
    SVMP_TRY((svmp_status)plugin->join(&host, &joined));
    if (joined == NULL) return launch.processes > 1 ? refuse_strangers(context, &launch, peers) : SVMP_OK;
    context->peers = joined;
    SVMP_TRY(svmp_context_compare(context, "the version of svmp", svmp_version()));
    return compare_rounding(context);
}
