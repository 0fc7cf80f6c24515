/* Plug-ins (svmp_plugin.h): finding, loading and checking them. */
#ifndef SVMP_BASE_PLUGIN_H
#define SVMP_BASE_PLUGIN_H

#include "base/context.h"
#include "svmp_plugin.h"

/* BROKEN: its file is there, or a variable of the environment names one, and it cannot be used. */
typedef enum plugin_state { PLUGIN_FOUND, PLUGIN_ABSENT, PLUGIN_BROKEN } plugin_state;

/* Loads svmp_NAME.so. `why`: the sentences that say why it cannot be used. */
plugin_state svmp_plugin_find(svmp_plugin_kind kind, const char *name, const svmp_plugin **found, char *why,
                              size_t size);

/* The same; without it, these sentences are the error. */
svmp_status svmp_plugin_open(svmp_context *context, svmp_plugin_kind kind, const char *name, const svmp_plugin **found);

/* The functions of a context that a plug-in may call. */
svmp_host svmp_plugin_host(svmp_context *context);

#endif
