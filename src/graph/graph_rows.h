/* Exchange of rows of numbers for the variables of a part of a graph: rows of nodes moved here are sent to the
 * neighbours that read them, and rows read here are received. A whole graph exchanges nothing. */
#ifndef SVMP_GRAPH_GRAPH_ROWS_H
#define SVMP_GRAPH_GRAPH_ROWS_H

#include <stdbool.h>

#include "graph/graph.h"

typedef struct graph_rows graph_rows;

/* Rows of n numbers. Each process plans independently; after all have succeeded, they connect. */
svmp_status svmp_graph_rows_plan(const svmp_graph *graph, size_t n, graph_rows **made);
void svmp_graph_rows_connect(graph_rows *rows);
void svmp_graph_rows_free(graph_rows *rows); /* NULL-safe */

/* Begins a round: sends rows of `values`, n numbers for each variable; rows that are read here arrive in their places
 * there. Every round is received before the next is sent. */
void svmp_graph_rows_send(graph_rows *rows, double *values);

/* Whether all rows of the round have arrived; with `wait` it waits for them. */
bool svmp_graph_rows_received(graph_rows *rows, bool wait);

/* One round with one number for each variable. Collective among the processes that have parts. */
svmp_status svmp_graph_exchange(const svmp_graph *graph, double *values);

#endif
