/* What an agent hears. Nothing that is not authenticated has an effect but a note. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "front/error_output.h"
#include "lockstep_inside.h"
#include "row_changes.h"

static neighbour *find(lockstep *line, uint32_t rank) {
    for (size_t k = 0; k < line->count; k++)
        if (line->neighbours[k].rank == rank) return &line->neighbours[k];
    return NULL;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void begin(arrival *a, const datagram *d) {
    memset(a->got, 0, d->pieces);
    a->round = d->round;
    a->pieces = d->pieces;
    a->there = 0;
    a->size = 0;
}

static size_t most_pieces(const lockstep *line, const neighbour *p);

static void take_piece(lockstep *line, neighbour *p, const datagram *d, const unsigned char *payload, size_t size) {
    if (!line->planned || d->round <= p->received || d->round > line->round + 1 || d->round > p->received + 2) {
        line->tally.twice++;
        if (p->owes == 0) p->owes = now() + p->rtt / 4;
        return;
    }
    arrival *a = &p->arrival[d->round % 2];
    const int last = d->piece + 1 == d->pieces;
    if (d->pieces == 0 || d->piece >= d->pieces || d->pieces > most_pieces(line, p) ||
        (!last && size != DATAGRAM_PIECE) || (a->round == d->round && a->there > 0 && a->pieces != d->pieces)) {
        line->tally.refused++;
        return;
    }
    if (p->owes == 0) p->owes = now() + p->rtt / 4;
    if (a->round != d->round) begin(a, d);
    unsigned char *to = a->bytes + (size_t)d->piece * DATAGRAM_PIECE;
    if (a->got[d->piece]) {
        line->tally.twice++;
        if (memcmp(to, payload, size) != 0) {
            char words[200];
            snprintf(words, sizeof words,
                     "agent '%s' has sent two different states of round %u: do two processes run as '%s'?", p->name,
                     (unsigned)d->round, p->name);
            lockstep_stop(line, words);
        }
        return;
    }
    memcpy(to, payload, size);
    a->got[d->piece] = 1;
    a->there++;
    if (last) a->size = (size_t)d->piece * DATAGRAM_PIECE + size;
}

/* ---- heads ------------------------------------------------------------------------------------------------------- */

/* Some damage is nothing to speak of: a note only follows on many datagrams, if a neighbour was never understood. */
static int is_worth_a_note(const lockstep *line, unsigned *count) {
    enum { MANY = 30 };
    int silent = 0;
    for (size_t k = 0; k < line->count; k++) silent |= line->neighbours[k].heard == 0;
    return silent && ++*count == MANY;
}

static void note_stranger(lockstep *line, const datagram *d) {
    if (d->version != DATAGRAM_VERSION) {
        if (is_worth_a_note(line, &line->other_version))
            note(line,
                 "datagrams of another version of the protocol come (%u; this is %d): all agents need the same version "
                 "of svmp.",
                 d->version, DATAGRAM_VERSION);
    } else if (d->run != line->about.run && is_worth_a_note(line, &line->other_run)) {
        const neighbour *p = find(line, d->from);
        note(line, "datagrams of another plan come, as from agent '%s': all part files must be of one plan.",
             p ? p->name : "another");
    }
}

static void note_key(lockstep *line, neighbour *p) {
    if (p->heard == 0 && ++p->other_key == 30)
        note(line,
             "datagrams in the name of agent '%s' do not fit the key of the link: were the key files made by one plan?",
             p->name);
}

static void note_build(lockstep *line, neighbour *p, uint32_t build) {
    if (build == line->build || p->noted_build) return;
    p->noted_build = 1;
    note(line,
         "agent '%s' has another C library or version of svmp, which rounds differently: the agents agree among "
         "themselves, but not to the last bit with one process.",
         p->name);
}

/* With different numbers of rounds between two states, one agent would wait for a state that the other never writes. A
 * sender that has not heard of this start may be of an earlier run. */
static void check_every(lockstep *line, const neighbour *p, const datagram *d) {
    char words[200];
    if (d->every == line->options.every || d->heard != line->boot || line->leaving) return;
    snprintf(words, sizeof words, "agent '%s' was started with --every %u, but agent '%s' with --every %u", p->name,
             (unsigned)d->every, line->about.name, (unsigned)line->options.every);
    lockstep_stop(line, words);
}

/* An agent that has lost its folder has lost the number of its start, too. */
static void raise_boot(lockstep *line, uint32_t heard) {
    if (heard == UINT32_MAX) {
        note(line, "has been started too often. The run of all agents must begin anew.");
        exit(EXIT_FAILED);
    }
    line->boot = heard + 1;
}

/* Returns 0 if it is from before the sender's restart. */
static int take_boot(lockstep *line, neighbour *p, const datagram *d) {
    char words[300];
    const double at = now();
    if (d->heard > line->boot && line->finding) raise_boot(line, d->heard);
    if (d->every == 0) { /* it looks for its state, with a new number, or one that it must raise */
        if (d->boot <= p->boot && p->owes == 0) p->owes = at;
        return d->boot > p->boot;
    }
    if (d->heard > line->boot) {
        snprintf(words, sizeof words,
                 "agent '%s' has heard of a later start in my name: another process runs as '%s', or its state folder "
                 "is not that of its last run",
                 p->name, line->about.name);
        note(line, "%s.", words);
        exit(EXIT_FAILED);
    }
    if (d->boot < p->boot && at - p->boot_since > 5 && ++p->of_others == 10) {
        note(line, "two processes run as agent '%s'; the one that started later counts.", p->name);
    }
    if (d->boot < p->boot) return 0;
    if (d->boot == p->boot) return 1;
    if (d->need < p->safe) {
        snprintf(words, sizeof words,
                 "agent '%s' has lost its state: it asks for round %u, but what is before round %u is kept no more",
                 p->name, (unsigned)d->need, (unsigned)p->safe);
        post(line, p, DATAGRAM_REFUSE, d->boot, 0, 0, words, strlen(words));
        if (!p->noted_lost++) note(line, "%s.", words);
        return 0;
    }
    p->boot = d->boot;
    p->boot_since = at;
    forget_pieces(line, p);
    p->need = d->need;
    p->first = d->first;
    p->have = d->have;
    p->due = 0;
    return 1;
}

static void take_acknowledgement(neighbour *p, const datagram *d) {
    if (d->need > p->need || (d->need == p->need && d->first > p->first)) {
        p->need = d->need;
        p->first = d->first;
        p->have = d->have;
    } else if (d->need == p->need && d->first == p->first) {
        p->have |= d->have;
    }
    if (d->safe > p->safe) p->safe = d->safe;
}

static void take_time(neighbour *p, const datagram *d) {
    const double at = now(), trip = 1e-6 * (int32_t)(microseconds(at) - d->echo);
    if (d->echo && trip > 0 && trip < 10) {
        p->rtt = p->rtt_known ? p->rtt + 0.125 * (trip - p->rtt) : trip;
        p->rtt_known = 1;
    }
    p->stamp = d->stamp;
    p->heard = at;
    if (p->tries > 40) p->due = 0; /* it is back */
    p->tries = 0;
}

static void take_stop(lockstep *line, neighbour *p, const datagram *d, const unsigned char *payload, size_t size) {
    char sentence[512];
    snprintf(sentence, sizeof sentence, "%.*s", (int)(size < 500 ? size : 500), (const char *)payload);
    if (d->kind == DATAGRAM_REFUSE && d->round != line->boot) return;
    if (d->kind == DATAGRAM_REFUSE) {
        note(line, "%s.", sentence);
        exit(EXIT_FAILED);
    }
    p->stopped = 1;
    if (!line->leaving) lockstep_stop(line, sentence);
}

static void take_one(lockstep *line, unsigned char *bytes, size_t all) {
    datagram d;
    size_t size = 0;
    if (!datagram_read(bytes, all, &d)) {
        line->tally.refused++;
        return;
    }
    neighbour *p = d.version == DATAGRAM_VERSION ? find(line, d.from) : NULL;
    if (p == NULL || d.run != line->about.run || d.to != line->about.agent) {
        line->tally.refused++;
        note_stranger(line, &d);
        return;
    }
    const unsigned char *payload = seal_open(line->encrypts, p->key, DATAGRAM_HEAD, all, bytes, &size);
    if (payload == NULL) {
        line->tally.refused++;
        note_key(line, p);
        return;
    }
    line->tally.received++;
    if (!take_boot(line, p, &d)) return;
    if (d.kind != DATAGRAM_STOP && d.every > 0) check_every(line, p, &d);
    note_build(line, p, d.build);
    if (d.every > 0) take_acknowledgement(p, &d);
    take_time(p, &d);
    if (take_parcel(line, p, &d, payload, size)) return;
    if (d.kind == DATAGRAM_ASK && p->owes == 0) p->owes = now() + p->rtt / 8;
    if (d.kind == DATAGRAM_DATA) take_piece(line, p, &d, payload, size);
    if (d.kind == DATAGRAM_STOP || d.kind == DATAGRAM_REFUSE) take_stop(line, p, &d, payload, size);
}

void take_datagrams(lockstep *line) {
    unsigned char bytes[2048];
    for (;;) {
        const ssize_t got = recv(line->descriptor, bytes, sizeof bytes, MSG_DONTWAIT);
        if (got < 0 && errno == ECONNREFUSED) continue; /* an agent that is not there yet */
        if (got < 0) return;
        take_one(line, bytes, (size_t)got);
    }
}

static size_t most_pieces(const lockstep *line, const neighbour *p) {
    const size_t most = changes_most(p->in, line->length) + CONTROL;
    return (most + DATAGRAM_PIECE - 1) / DATAGRAM_PIECE;
}
