/* Compiles a model text and its data to a lowered model (model/lowered.h). */
#ifndef SVMP_LANG_LOWER_H
#define SVMP_LANG_LOWER_H

#include "base/source.h"
#include "data/data.h"
#include "model/lowered.h"

/* Reads the text and checks it against the data. Every error in the text is told to the context's error callback, the
 * first is svmp_context_error. `monitors`: names of deterministic nodes to report, commas between them, or NULL. `data`
 * may go afterwards.
 *
 * `owners`: NULL, or who moves which node, for one of several processes. It has all nodes, but of factors and priors
 * those alone that its own nodes need, and what is monitored in the first process. Groups know what they are of the
 * whole. */
svmp_status svmp_lower(svmp_context *context, const text_source *source, const data_set *data, const char *monitors,
                       const graph_owners *owners, lowered_model **result);

/* The graph alone, unfinished: nothing else is kept. */
svmp_status svmp_lower_graph(svmp_context *context, const text_source *source, const data_set *data, svmp_graph *graph);

#endif
