/* Compiles a parsed model to nodes and factors, with given choices. */
#ifndef SVMP_LANG_COMPILE_H
#define SVMP_LANG_COMPILE_H

#include "lang/parsed_model.h"
#include "model/model.h"
#include "model/text_model.h"

/* Plain data; {.centring = 1} is the text as it is written. */
typedef struct choices {
    double centring;                     /* of nodes that can have it (model/text_model.h): 1 leaves all as they are, */
    const node_coordinates *coordinates; /* or, unless NULL, of each node */
    const uint32_t *ends;  /* of each discrete unknown without a largest value, the last value of its sum; 0, or NULL:
                              as lang/discrete/discrete_unknowns.h has it */
    const uint32_t *fixed; /* of each discrete unknown, 1 + its state, counted from 0; 0, or NULL: any state */
    bool totals;           /* sums of discrete unknowns are unknowns by themselves: discrete/discrete_totals.c */
    bool short_sums;       /* sums without a last value begin short, since prepare/sum_truncation.h moves their ends */
    bool small_tables;     /* refuse large tables: with totals they may be smaller */
    bool states;           /* unknowns that drive a recursion move as its states (compile/driven_states.c) */
    double store_above;    /* elements of recursions are stored if pasting costs more than this many times their
                              operations (compile/stored_elements.c); 0: the standard; INFINITY: none is; negative: all
                              elements are */
} choices;

typedef struct compile_message {
    svmp_log_level level;
    char *text;
} compile_message;

/* The result of a compilation apart from its model; the caller decides whether it is reported. Begins as {0}. */
typedef struct compile_report {
    bool sum_refused;           /* a sum over discrete unknowns is too long, or has no term */
    struct diagnostics *errors; /* of the text; NULL: none */
    compile_message *messages;  /* warnings, in their order */
    size_t count, capacity;
} compile_report;

/* Reports the errors, and fails with the first of them; if there are none, logs the messages. */
svmp_status svmp_compile_report(svmp_context *context, compile_report *report);
void svmp_compile_report_free(svmp_context *context, compile_report *report);

/* Makes the model, finished. With `owners`, only the fragment that the nodes of this process need, placed in the whole
 * (graph/graph_part.h): all nodes, but of factors and priors those alone that its own nodes need, and what is monitored
 * in the first process; all processes call this together. `report` NULL: messages and errors are reported at once. */
svmp_status svmp_compile(const parsed_model *parsed, const choices *made, const graph_owners *owners,
                         compile_report *report, svmp_model **model);

/* The graph of the whole model alone, finished. */
svmp_status svmp_compile_graph(const parsed_model *parsed, const choices *made, svmp_graph **graph);

/* Nodes and groups of a model text that are not a model yet, or the graph alone, unfinished: unless these are NULL. */
svmp_status svmp_compile_nodes(const parsed_model *parsed, const choices *made, const graph_owners *owners,
                               compile_report *report, svmp_graph *graph, lowered_model **lowered);

#endif
