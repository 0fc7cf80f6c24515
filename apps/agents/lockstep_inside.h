/* Shared by lockstep.c, lockstep_send.c, lockstep_receive.c and lockstep_report.c. */
#ifndef SVMP_AGENTS_LOCKSTEP_INSIDE_H
#define SVMP_AGENTS_LOCKSTEP_INSIDE_H

#include <signal.h>

#include "datagram.h"
#include "lockstep.h"

typedef struct message {
    uint32_t round; /* 0: none */
    size_t size, capacity;
    unsigned char *bytes;
} message;

/* A message on its way here. */
typedef struct arrival {
    uint32_t round;
    unsigned pieces, there;
    size_t size;
    unsigned char *bytes, *got; /* got[q]: whether piece q is here */
} arrival;

typedef struct neighbour {
    uint32_t rank;
    const char *name;
    address at;
    unsigned char key[SEAL_KEY];
    size_t out, in;      /* rows to it, rows from it */
    double *sent, *rows; /* as it has them, and as it has sent them last */
    message *ring;       /* of round t in place t % depth */
    arrival arrival[2];  /* of round t in place t % 2 */
    uint32_t received;   /* the last round whose rows are in `rows` */

    /* What it has said last. */
    uint32_t need, first, boot, safe;
    uint64_t have;
    uint32_t stamp, build;
    double heard, rtt, boot_since;
    int rtt_known;

    double due, owes;                     /* when to send again; when an answer is due, 0: none is */
    unsigned tries;                       /* since it was heard */
    unsigned of_others;                   /* datagrams of an older start, long after the last one */
    unsigned other_key;                   /* datagrams in its name that do not fit the key */
    int noted_build, noted_lost, stopped; /* what was said already; whether it knows that all stops */
} neighbour;

struct svmp_peer_line {
    svmp_part_about about;
    lockstep_options options;
    int descriptor, family, encrypts;
    neighbour *neighbours;
    size_t count, length;
    uint32_t round, durable, depth, build, boot;
    uint64_t counted; /* the caller's number of `round`, which begins anew with every start */
    int sending;      /* round `round` has been sent, and is not complete */
    int finished, planned, leaving;
    unsigned other_run, other_version; /* datagrams of another plan, of another protocol */
    double *arriving;
    unsigned char *scratch; /* the longest message */
    double tokens, refilled, began;
    uint32_t began_round;
    double reported, waited_since;
    struct {
        uint64_t sent, bytes, again, received, twice, refused;
    } tally;
};

double now(void);
uint32_t microseconds(double t);

/* The first round of the neighbour that is not complete here. */
uint32_t needed(const lockstep *line, const neighbour *p);

/* lockstep_send.c */
void post(lockstep *line, neighbour *p, datagram_kind kind, uint32_t round, unsigned piece, unsigned pieces,
          const void *payload, size_t size);
void offer(lockstep *line, neighbour *p, int again);
double pause_of(const lockstep *line, const neighbour *p);

/* lockstep_receive.c: takes what has arrived. */
void take_datagrams(lockstep *line);

/* lockstep_report.c */
extern volatile sig_atomic_t status_wanted;
void report_if_wanted(lockstep *line);
void note(const lockstep *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
