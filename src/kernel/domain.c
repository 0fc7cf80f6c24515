#include "base/random.h"
#include "kernel/kernel.h"

static int holds(const uint32_t *drawn, size_t count, uint32_t node) {
    for (size_t k = 0; k < count; k++)
        if (drawn[k] == node) return 1;
    return 0;
}

static void insert_ascending(uint32_t *drawn, size_t count, uint32_t node) {
    for (; count > 0 && drawn[count - 1] > node; count--) drawn[count] = drawn[count - 1];
    drawn[count] = node;
}

/* Floyd's way: k of b without replacement, with k numbers and no table. Place `p` of the blanket is closed[p], the
 * node itself left out. */
size_t svmp_domain_draw(const svmp_graph *graph, size_t node, size_t neighbours, uint64_t seed, size_t iteration,
                        uint32_t *drawn) {
    size_t count = 0, closed_count;
    const uint32_t *closed = svmp_graph_neighbourhood(graph, node, &closed_count);
    size_t blanket = closed_count - 1, own = 0;
    while (closed[own] != node) own++;
    if (neighbours > blanket) neighbours = blanket;

    random_stream stream = {.seed = seed, .purpose = RANDOM_NEIGHBOURS, .a = iteration, .b = node};
    for (size_t j = blanket - neighbours; j < blanket; j++) {
        size_t place = (size_t)svmp_random_below(stream, j, j + 1);
        uint32_t candidate = closed[place < own ? place : place + 1];
        if (holds(drawn, count, candidate)) candidate = closed[j < own ? j : j + 1];
        insert_ascending(drawn, count++, candidate);
    }
    insert_ascending(drawn, count++, (uint32_t)node);
    return count;
}
