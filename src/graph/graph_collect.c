#include <string.h>

#include "base/peer_rows.h"
#include "graph/graph.h"

svmp_status svmp_graph_collect(const svmp_graph *graph, const double *own, double *whole) {
    if (graph == NULL) return SVMP_BAD_CALL;
    if (own == NULL || (whole == NULL && graph->peers->rank == 0))
        return svmp_fail(graph->context, SVMP_BAD_CALL, "svmp_graph_collect: the values or the result is NULL.");
    const size_t together = svmp_spread_rows(1);
    spread s = {0};
    svmp_status status;
    SVMP_CHECK(svmp_spread_open(graph->context, graph->peers, graph->whole_nodes, graph->moved, graph->node_key,
                                svmp_spread_most(graph->whole_nodes, 1), SVMP_OK, &s));
    for (size_t from = 0; from < s.whole; from += together) {
        const size_t to = from + together < s.whole ? from + together : s.whole;
        const double *block = svmp_spread_collect(&s, (spread_block){from, to, 0, 1}, 1, own);
        if (block && whole) memcpy(whole + from, block, (to - from) * sizeof *block);
    }
done:
    svmp_spread_close(&s);
    return status;
}
