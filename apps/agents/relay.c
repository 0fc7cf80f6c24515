#define _GNU_SOURCE /* ppoll */
#include "relay.h"

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "datagram.h"
#include "front/error_output.h"
#include "lockstep_inside.h"

typedef struct item {
    double due;
    size_t size, agent;
    unsigned char bytes[DATAGRAM_MOST];
} item;

struct relay {
    relay_options options;
    int descriptor, family;
    size_t agents;
    int *port;
    item **heap; /* the one that is due first comes first */
    size_t count, capacity;
    double *until; /* of each link: when its state changes, */
    char *bad;     /* and whether it is a bad one */
    uint64_t random;
    uint32_t round, *rounds; /* of all, of each agent */
};

static double uniform(relay *r) { /* xorshift64* */
    r->random ^= r->random >> 12;
    r->random ^= r->random << 25;
    r->random ^= r->random >> 27;
    return (double)((r->random * UINT64_C(0x2545f4914f6cdd1d)) >> 11) * 0x1p-53;
}

relay *relay_open(const relay_options *options, size_t agents, const int *port) {
    char error[300];
    relay *r = calloc(1, sizeof *r);
    if (r == NULL) return report_error(EXIT_FAILED, "Out of memory."), NULL;
    *r = (relay){.options = *options, .agents = agents, .random = options->seed | 1, .descriptor = -1};
    r->port = calloc(agents, sizeof *r->port);
    r->until = calloc(agents * agents, sizeof *r->until);
    r->bad = calloc(agents * agents, 1);
    r->rounds = calloc(agents, sizeof *r->rounds);
    if (r->port && r->until && r->bad && r->rounds) {
        memcpy(r->port, port, agents * sizeof *port);
        r->descriptor = socket_open("0", &r->family, error, sizeof error);
        if (r->descriptor >= 0) return r;
    }
    report_error(EXIT_FAILED, "The relay cannot start.");
    relay_close(r);
    return NULL;
}

void relay_close(relay *r) {
    if (r == NULL) return;
    for (size_t k = 0; k < r->count; k++) free(r->heap[k]);
    if (r->descriptor >= 0) close(r->descriptor);
    free(r->heap);
    free(r->port);
    free(r->until);
    free(r->bad);
    free(r->rounds);
    free(r);
}

int relay_port(const relay *r) { return socket_port(r->descriptor); }

uint32_t relay_round(const relay *r) { return r->round; }

uint32_t relay_round_of(const relay *r, size_t k) { return r->rounds[k]; }

/* ---- what is on its way ------------------------------------------------------------------------------------------ */

static void push(relay *r, item *x) {
    if (r->count == r->capacity) {
        item **grown = realloc(r->heap, (2 * r->capacity + 64) * sizeof(item *));
        if (grown == NULL) {
            free(x); /* lost */
            return;
        }
        r->heap = grown;
        r->capacity = 2 * r->capacity + 64;
    }
    size_t k = r->count++;
    for (; k > 0 && r->heap[(k - 1) / 2]->due > x->due; k = (k - 1) / 2) r->heap[k] = r->heap[(k - 1) / 2];
    r->heap[k] = x;
}

static item *pop(relay *r) {
    item *first = r->heap[0], *x = r->heap[--r->count];
    size_t k = 0;
    for (size_t c; (c = 2 * k + 1) < r->count; k = c) {
        if (c + 1 < r->count && r->heap[c + 1]->due < r->heap[c]->due) c++;
        if (r->heap[c]->due >= x->due) break;
        r->heap[k] = r->heap[c];
    }
    r->heap[k] = x;
    return first;
}

static int is_lost(relay *r, size_t from, size_t to, double at) {
    const relay_options *o = &r->options;
    const size_t link = from * r->agents + to;
    if (o->burst <= 0) return uniform(r) < o->loss;
    if (at > r->until[link]) {
        r->bad[link] = uniform(r) < o->loss;
        r->until[link] = at - 1e-3 * o->burst * log(1 - uniform(r));
    }
    return r->bad[link];
}

static void take(relay *r, const unsigned char *bytes, size_t size) {
    const relay_options *o = &r->options;
    const double at = now();
    datagram d;
    if (!datagram_read(bytes, size, &d) || d.from >= r->agents || d.to >= r->agents) return;
    if (d.round > r->round) r->round = d.round;
    if (d.round > r->rounds[d.from]) r->rounds[d.from] = d.round;
    for (int copies = uniform(r) < o->twice ? 2 : 1; copies-- > 0;) {
        if (is_lost(r, d.from, d.to, at)) continue;
        item *x = malloc(sizeof *x);
        if (x == NULL) return;
        *x = (item){.due = at + 1e-3 * (o->delay + o->jitter * uniform(r)), .size = size, .agent = d.to};
        memcpy(x->bytes, bytes, size);
        if (uniform(r) < o->damage)
            x->bytes[(size_t)(uniform(r) * (double)size)] ^= (unsigned char)(1u << (unsigned)(8 * uniform(r)));
        push(r, x);
    }
}

static void send_on(const relay *r, const item *x) {
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)r->port[x->agent])};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)r->port[x->agent])};
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &six.sin6_addr);
    if (r->family == AF_INET6)
        (void)sendto(r->descriptor, x->bytes, x->size, MSG_DONTWAIT, (const struct sockaddr *)&six, sizeof six);
    else
        (void)sendto(r->descriptor, x->bytes, x->size, MSG_DONTWAIT, (const struct sockaddr *)&four, sizeof four);
}

void relay_work(relay *r, double seconds) {
    unsigned char bytes[2048];
    ssize_t got;
    for (const double until = now() + seconds; now() < until;) {
        while ((got = recv(r->descriptor, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
            if (got <= DATAGRAM_MOST) take(r, bytes, (size_t)got);
        for (; r->count > 0 && r->heap[0]->due <= now();) {
            item *x = pop(r);
            send_on(r, x);
            free(x);
        }
        const double left = fmin(until, r->count > 0 ? r->heap[0]->due : until) - now();
        const struct timespec wait = {0, left > 0 ? (long)(1e9 * fmin(left, 0.9)) : 0};
        struct pollfd f = {r->descriptor, POLLIN, 0};
        ppoll(&f, 1, &wait, NULL);
    }
}
