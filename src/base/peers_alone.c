/* The peers of a process that has joined no others. */
#include <string.h>

#include "base/peers.h"

static void free_none(svmp_context *context, const svmp_peers *peers) { (void)context, (void)peers; }

static void sum(const svmp_peers *peers, size_t count, int64_t *values) { (void)peers, (void)count, (void)values; }

static void max(const svmp_peers *peers, size_t count, double *values) { (void)peers, (void)count, (void)values; }

static void broadcast(const svmp_peers *peers, size_t from, size_t size, void *bytes) {
    (void)peers, (void)from, (void)size, (void)bytes;
}

static void gather(const svmp_peers *peers, size_t size, const void *mine, void *all) {
    (void)peers;
    if (size > 0) memcpy(all, mine, size);
}

static void collect(const svmp_peers *peers, size_t size, const void *mine, const size_t *sizes, void *all) {
    (void)sizes;
    gather(peers, size, mine, all);
}

static void deal(const svmp_peers *peers, size_t size, void *mine, const size_t *sizes, const void *all) {
    (void)sizes;
    gather(peers, size, all, mine);
}

static svmp_status connect(svmp_context *context, const svmp_peers *peers, const svmp_peer_routes *routes,
                           svmp_peer_line **line) {
    (void)context, (void)peers, (void)routes;
    *line = NULL;
    return SVMP_OK;
}

static void disconnect(svmp_context *context, svmp_peer_line *line) { (void)context, (void)line; }

static void depart(const svmp_peers *peers, svmp_peer_line *line, const double *leaving, double *arriving) {
    (void)peers, (void)line, (void)leaving, (void)arriving;
}

static bool arrived(const svmp_peers *peers, svmp_peer_line *line, bool wait) {
    (void)peers, (void)line, (void)wait;
    return true;
}

const svmp_peers svmp_alone = {.count = 1,
                               .free = free_none,
                               .sum = sum,
                               .max = max,
                               .broadcast = broadcast,
                               .gather = gather,
                               .collect = collect,
                               .deal = deal,
                               .connect = connect,
                               .disconnect = disconnect,
                               .depart = depart,
                               .arrived = arrived};
