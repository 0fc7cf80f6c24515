/* Compiles a model text and its data to a lowered model (model/text_model.h). */
#ifndef SVMP_LANG_COMPILE_H
#define SVMP_LANG_COMPILE_H

#include "base/source_text.h"
#include "data/data_set.h"
#include "model/text_model.h"

/* What is wanted of a text. */
typedef struct lower_request {
    const char *monitors;       /* names of deterministic nodes to report, commas between them, or NULL */
    const graph_owners *owners; /* for one of several processes: all nodes, but of factors and priors those alone that
                                 * its own nodes need, and what is monitored in the first process. NULL: everything */
    double centring;            /* of nodes that can have it (model/text_model.h): 1 leaves all as they are, */
    const node_coordinates *coordinates; /* or, unless NULL, of each node */
    const uint32_t *ends; /* of each discrete unknown that has no largest value: where its sum ends; 0, or NULL: where
                           * lang/discrete/discrete_unknowns.c says */
    const uint32_t
        *fixed;  /* of each discrete unknown: 1 + the state, counted from 0, that it is to have; 0, or NULL: any */
    bool totals; /* sums of discrete unknowns are unknowns by themselves: lang/discrete/discrete_totals.c */
    bool *sums;  /* set where a sum is refused, because it is too long or has no term; may be NULL */
    bool strict; /* only small tables: others may be smaller with totals */
    bool brief;  /* sums without an end of their own begin short, since the ends will be looked at
                    (prepare/sum_truncation.h) */
    double
        store_above; /* elements of recursions are stored if pasting costs more than so many times their operations
                      * (compile/stored_elements.c); 0: the standard; INFINITY: none is; negative: all elements are */
} lower_request;

/* Reads the text and checks it against the data. Every error in the text is told to the context's error callback, the
 * first is svmp_context_error. `data` may go afterwards. Groups of one of several processes know what they are of the
 * whole. */
svmp_status svmp_lower(svmp_context *context, const text_source *source, const data_set *data,
                       const lower_request *request, lowered_model **result);

/* The graph alone, unfinished: nothing else is kept. */
svmp_status svmp_lower_graph(svmp_context *context, const text_source *source, const data_set *data,
                             const lower_request *request, svmp_graph *graph);

#endif
