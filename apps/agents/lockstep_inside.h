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

/* What is at the end of each message besides rows: `stop_at` and `all_settled` of the sender. */
enum { CONTROL = 5 };
#define NEVER UINT32_MAX

/* A state on its way to a keeper or back. */
enum { PARCEL_MARK = 8 };
typedef struct parcel {
    uint32_t round;
    unsigned pieces, there;
    size_t size;
    unsigned char mark[PARCEL_MARK], *bytes, *got;
} parcel;

typedef struct neighbour {
    uint32_t rank;
    const char *name;
    address at;
    unsigned char key[SEAL_KEY];
    size_t out, in;      /* rows to it, rows from it */
    double *sent, *rows; /* as it has them, and as it has sent them last */
    message *ring;       /* of round t in place t % depth; it grows with what the neighbour may ask for */
    uint32_t depth;
    arrival arrival[2]; /* of round t in place t % 2 */
    uint32_t received;  /* the last round whose rows are in `rows` */

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

    int keeps, has_kept, has_none; /* it keeps this agent's state, has the latest one, has none to give back */
    unsigned char *has;            /* has[q]: it has piece q of the latest one */
    unsigned cursor, keep_tries;   /* the piece that was sent last; bursts since the last answer */
    double keep_due, owes_kept;    /* when to send the next pieces; when an answer is due, 0: none is */
    parcel coming, going;          /* its state, to be kept, or this agent's, given back; its state, to give back */
    int stored, noted_store;       /* whether one is on the disk: */
    unsigned char stored_mark[PARCEL_MARK];
    double store_again;
} neighbour;

struct svmp_peer_line {
    svmp_part_about about;
    lockstep_options options;
    int descriptor, family, encrypts;
    neighbour *neighbours;
    size_t count, length;
    uint32_t round, saved, durable, build, boot;
    uint32_t iteration, stop_at; /* all stop after iteration stop_at; NEVER */
    uint32_t asked;              /* the round after which all were asked whether they have settled; 0: not now */
    uint32_t all_settled;        /* whether those that have been heard of have */
    uint64_t counted;            /* the caller's number of `round`, which begins anew with every start */
    int sending;                 /* round `round` has been sent, and is not complete */
    int finished, planned, leaving;
    int finding;   /* a state that may be lost */
    parcel parcel; /* the state that keepers are to have; bytes NULL: they have it */
    int parcel_finished, noted_keeping;
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

/* lockstep.c: makes the ring at least so deep; 0: no memory. */
int deepen(neighbour *p, uint32_t depth);

/* lockstep_send.c */
void post(lockstep *line, neighbour *p, datagram_kind kind, uint32_t round, unsigned piece, unsigned pieces,
          const void *payload, size_t size);
void offer(lockstep *line, neighbour *p, int again);
double pause_of(const lockstep *line, const neighbour *p, unsigned tries);

/* lockstep_stop.c: what goes with the message of a round, and comes with it. */
void write_control(const lockstep *line, unsigned char to[CONTROL]);
void take_control(lockstep *line, const unsigned char from[CONTROL]);

/* lockstep_keep.c. `send_parcels` sends what is due, and says when the next is. */
void choose_keepers(lockstep *line);
void settle_kept(lockstep *line);
void free_parcels(neighbour *p);
void forget_pieces(const lockstep *line, neighbour *p); /* that an earlier start of it has had, or sent */
int take_parcel(lockstep *line, neighbour *p, const datagram *d, const unsigned char *payload, size_t size);
double send_parcels(lockstep *line, neighbour *p, double at);

/* lockstep_receive.c: takes what has arrived. */
void take_datagrams(lockstep *line);

/* lockstep_report.c */
extern volatile sig_atomic_t status_wanted;
void report_if_wanted(lockstep *line);
void note(const lockstep *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
