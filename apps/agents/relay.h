/* A bad network in this process: agents send to it, and it sends on, late, twice, damaged or not at all. */
#ifndef SVMP_AGENTS_RELAY_H
#define SVMP_AGENTS_RELAY_H

#include <stddef.h>
#include <stdint.h>

typedef struct relay relay;

/* Shares of datagrams, from 0 to 1, and milliseconds. With `burst` losses come in bursts of this mean length. */
typedef struct relay_options {
    double loss, twice, damage, delay, jitter, burst;
    uint64_t seed;
} relay_options;

/* Agent k is at port[k] of this machine. Returns NULL after an error message. */
relay *relay_open(const relay_options *options, size_t agents, const int *port);
void relay_close(relay *r); /* NULL-safe */
int relay_port(const relay *r);

/* Sends on what comes and is due, for at most some seconds. */
void relay_work(relay *r, double seconds);

/* The latest round that any datagram was of, or one of agent k. */
uint32_t relay_round(const relay *r);
uint32_t relay_round_of(const relay *r, size_t k);

#endif
