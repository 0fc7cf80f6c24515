#include "base/random.h"
#include "stein/kernel.h"

static int holds(const uint32_t *drawn, size_t count, uint32_t place) {
    for (size_t k = 0; k < count; k++)
        if (drawn[k] == place) return 1;
    return 0;
}

static void insert_ascending(uint32_t *drawn, size_t count, uint32_t place) {
    for (; count > 0 && drawn[count - 1] > place; count--) drawn[count] = drawn[count - 1];
    drawn[count] = place;
}

/* Floyd's algorithm: k of b without replacement, from k random numbers and without a table. It draws positions in the
 * closed neighbourhood, whose order is that of the whole graph in every part. */
size_t svmp_domain_draw(const svmp_graph *graph, size_t node, size_t neighbours, uint64_t seed, size_t iteration,
                        uint32_t *drawn) {
    size_t count = 0, closed_count;
    const uint32_t *closed = svmp_graph_neighbourhood(graph, node, &closed_count);
    size_t blanket = closed_count - 1, own = 0;
    while (closed[own] != node) own++;
    if (neighbours > blanket) neighbours = blanket;

    const random_stream stream = {
        .seed = seed, .purpose = RANDOM_NEIGHBOURS, .a = iteration, .b = svmp_node_key(graph, node)};
    for (size_t j = blanket - neighbours; j < blanket; j++) {
        size_t place = (size_t)svmp_random_below(stream, j, j + 1), last = j < own ? j : j + 1;
        place = place < own ? place : place + 1; /* the node itself is left out */
        insert_ascending(drawn, count, (uint32_t)(holds(drawn, count, (uint32_t)place) ? last : place));
        count++;
    }
    insert_ascending(drawn, count++, (uint32_t)own);
    for (size_t k = 0; k < count; k++) drawn[k] = closed[drawn[k]];
    return count;
}
