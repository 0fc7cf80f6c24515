/* The peers of a process that has joined no others. */
#include <string.h>

#include "base/peers.h"

static void leave(const svmp_peers *peers) { (void)peers; }

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

static int plan(const svmp_peers *peers, const svmp_peer_routes *routes, svmp_peer_line **line) {
    (void)peers, (void)routes;
    *line = NULL;
    return SVMP_OK;
}

static void connect(svmp_peer_line *line) { (void)line; }

static void close_none(svmp_peer_line *line) { (void)line; }

static void send(svmp_peer_line *line, uint64_t round, const double *leaving, double *arriving) {
    (void)line, (void)round, (void)leaving, (void)arriving;
}

static void receive(svmp_peer_line *line, uint64_t *round, int wait) { (void)line, (void)round, (void)wait; }

const svmp_peers svmp_alone = {.count = 1,
                               .sharing = 1,
                               .leave = leave,
                               .sum = sum,
                               .max = max,
                               .broadcast = broadcast,
                               .gather = gather,
                               .collect = collect,
                               .deal = deal,
                               .plan = plan,
                               .connect = connect,
                               .close = close_none,
                               .send = send,
                               .receive = receive};
