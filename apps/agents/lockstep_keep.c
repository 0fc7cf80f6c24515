/* Keepers: neighbours that keep the last state of an agent on their disks. A state is only announced as `safe` once all
 * of them have it, and an agent that has lost its folder asks them for it.
 *
 * A state travels as a parcel: pieces that are sent until a datagram says that they are there. KEEP is a piece for a
 * keeper, KEPT its answer; WANT asks for the own state, GIVE is a piece of it. KEPT and WANT have the bits of the
 * pieces from the first one that is lacking. The payload of all four begins with the last bytes of the parcel's
 * checksum, so that pieces of different states never mix. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent_state.h"
#include "base/whole_file.h"
#include "front/error_output.h"
#include "lockstep_inside.h"

enum {
    MARK = PARCEL_MARK,
    PIECE = DATAGRAM_PIECE - MARK,
    MOST_PIECES = UINT16_MAX,
    BURST = 32,
    BITS = 8 * PIECE /* of the pieces that one answer speaks of */
};

static unsigned pieces_of(size_t size) { return (unsigned)((size + PIECE - 1) / PIECE); }

static const unsigned char *mark_of(const parcel *x) { return x->bytes + x->size - MARK; }

static void clear(parcel *x) {
    free(x->bytes);
    free(x->got);
    *x = (parcel){0};
}

void free_parcels(neighbour *p) {
    clear(&p->coming);
    clear(&p->going);
    free(p->has);
    p->has = NULL;
}

void forget_pieces(const lockstep *line, neighbour *p) {
    if (p->coming.there < p->coming.pieces) clear(&p->coming);
    if (p->has && !p->has_kept) memset(p->has, 0, line->parcel.pieces);
}

/* The next pieces that the receiver is not known to have. */
static void send_pieces(lockstep *line, neighbour *p, datagram_kind kind, const parcel *x, const unsigned char *has) {
    unsigned char payload[DATAGRAM_PIECE];
    memcpy(payload, mark_of(x), MARK);
    for (unsigned k = 0, sent = 0; k < x->pieces && sent < BURST; k++) {
        const unsigned q = p->cursor = (p->cursor + 1) % x->pieces;
        const size_t from = (size_t)q * PIECE, size = q + 1 < x->pieces ? PIECE : x->size - from;
        if (has[q]) continue;
        memcpy(payload + MARK, x->bytes + from, size);
        post(line, p, kind, x->round, q, x->pieces, payload, MARK + size);
        sent++;
    }
}

/* Says which pieces are here, with KEPT or WANT. */
static void answer(lockstep *line, neighbour *p, datagram_kind kind) {
    unsigned char payload[DATAGRAM_PIECE] = {0};
    const parcel *x = &p->coming;
    unsigned first = 0, bits = 0;
    while (first < x->pieces && x->got[first]) first++;
    memcpy(payload, x->mark, MARK);
    for (; bits < BITS && first + bits < x->pieces; bits++)
        payload[MARK + bits / 8] |= (unsigned char)(x->got[first + bits] << bits % 8);
    post(line, p, kind, x->round, first, x->pieces, payload, MARK + (bits + 7) / 8);
}

/* What such an answer says of a parcel; returns 0 if it is of another one. */
static int read_answer(const parcel *x, const datagram *d, const unsigned char *payload, size_t size,
                       unsigned char *has) {
    if (size < MARK || d->pieces != x->pieces || d->piece > x->pieces || memcmp(payload, mark_of(x), MARK) != 0)
        return 0;
    for (unsigned q = 0; q < d->piece; q++) has[q] = 1;
    for (size_t k = 0; k < 8 * (size - MARK) && d->piece + k < x->pieces; k++)
        has[d->piece + k] |= payload[MARK + k / 8] >> k % 8 & 1;
    return 1;
}

/* Takes a piece of a parcel that comes; the newest parcel counts. Returns 0 if it cannot be used. */
static int take_parcel_piece(neighbour *p, const datagram *d, const unsigned char *payload, size_t size) {
    parcel *x = &p->coming;
    const int last = d->piece + 1 == d->pieces;
    if (size <= MARK || size > DATAGRAM_PIECE || d->piece >= d->pieces || (!last && size != DATAGRAM_PIECE)) return 0;
    if (x->bytes == NULL || x->pieces != d->pieces || memcmp(x->mark, payload, MARK) != 0) {
        if (x->bytes && d->round < x->round) return 0;
        clear(x);
        *x = (parcel){.round = d->round, .pieces = d->pieces, .bytes = malloc((size_t)d->pieces * PIECE)};
        x->got = calloc(d->pieces, 1);
        memcpy(x->mark, payload, MARK);
        if (x->bytes == NULL || x->got == NULL) {
            clear(x);
            return 0;
        }
    }
    if (x->got[d->piece]) return 1;
    memcpy(x->bytes + (size_t)d->piece * PIECE, payload + MARK, size - MARK);
    x->got[d->piece] = 1;
    x->there++;
    if (last) x->size = (size_t)d->piece * PIECE + size - MARK;
    return 1;
}

static int is_whole(const parcel *x) { return x->pieces > 0 && x->there == x->pieces; }

/* ---- the agent whose state is kept ------------------------------------------------------------------------------- */

/* The neighbours after this agent, by their numbers, so that all keep about as many. */
void choose_keepers(lockstep *line) {
    size_t first = 0;
    while (first < line->count && line->neighbours[first].rank < line->about.agent) first++;
    for (size_t k = 0; k < line->options.keepers && k < line->count; k++)
        line->neighbours[(first + k) % line->count].keeps = 1;
}

static int is_kept(const lockstep *line) {
    for (size_t k = 0; k < line->count; k++)
        if (line->neighbours[k].keeps && !line->neighbours[k].has_kept) return 0;
    return 1;
}

int lockstep_is_kept(const lockstep *line) { return line->parcel.bytes == NULL; }

void settle_kept(lockstep *line) {
    if (!is_kept(line)) return;
    if (line->parcel.round > line->durable) line->durable = line->parcel.round;
    line->finished = line->parcel_finished;
    clear(&line->parcel);
}

void lockstep_secure(lockstep *line, int finished, unsigned char *bytes, size_t size) {
    const unsigned pieces = pieces_of(size);
    int good = size > MARK && size <= (size_t)MOST_PIECES * PIECE;
    clear(&line->parcel);
    line->saved = lockstep_round(line);
    line->parcel = (parcel){.round = line->saved, .pieces = pieces, .size = size, .bytes = bytes};
    line->parcel_finished = finished;
    for (size_t k = 0; k < line->count; k++) {
        neighbour *p = &line->neighbours[k];
        free(p->has);
        p->has = p->keeps && good ? calloc(pieces, 1) : NULL;
        p->has_kept = p->keeps && p->has == NULL;
        p->keep_due = 0;
        if (p->has_kept && !line->noted_keeping++)
            note(line, "its state of %zu bytes is too long for keepers, or memory is; they keep an older one.", size);
    }
    settle_kept(line);
}

static void take_kept(lockstep *line, neighbour *p, const datagram *d, const unsigned char *payload, size_t size) {
    if (line->parcel.bytes == NULL || p->has == NULL || p->has_kept) return;
    if (!read_answer(&line->parcel, d, payload, size, p->has)) return;
    if (d->piece < d->pieces) return;
    p->has_kept = 1;
    settle_kept(line);
}

/* ---- a keeper ---------------------------------------------------------------------------------------------------- */

static char *kept_path(const lockstep *line, const neighbour *p) {
    return swarm_path(line->options.folder, p->name, ".kept");
}

/* Finds the state that is kept for a neighbour, for WANT. */
static int load_kept(const lockstep *line, neighbour *p) {
    parcel *x = &p->going;
    if (x->bytes) return 1;
    char *path = kept_path(line, p);
    x->bytes = path ? state_bytes(path, &x->size) : NULL;
    free(path);
    if (x->bytes && state_is_whole(x->bytes, x->size, line->about.run, p->rank, &x->round)) {
        x->pieces = pieces_of(x->size);
        x->got = calloc(x->pieces, 1);
        if (x->got) return 1;
    }
    clear(x);
    return 0;
}

/* Writes a state that is here in full; 0 after a note if that is not possible, and the owner goes on sending. */
static int store(lockstep *line, neighbour *p) {
    const parcel *x = &p->coming;
    whole_file output = {0};
    uint32_t round;
    if (p->stored && memcmp(p->stored_mark, x->mark, MARK) == 0) return 1;
    if (!state_is_whole(x->bytes, x->size, line->about.run, p->rank, &round)) {
        clear(&p->coming);
        return 0;
    }
    if (now() < p->store_again) return 0;
    char *path = kept_path(line, p);
    const int good = path && svmp_whole_write(path, (const char *)x->bytes, x->size, 1, &output);
    if (good) {
        p->stored = 1;
        memcpy(p->stored_mark, x->mark, MARK);
        clear(&p->going);
    } else {
        p->store_again = now() + 1;
        if (!p->noted_store++)
            note(line, "cannot keep the state of agent '%s': %s It tries again every second.", p->name,
                 path ? output.error : "out of memory.");
    }
    free(path);
    return good;
}

static void take_keep(lockstep *line, neighbour *p, const datagram *d, const unsigned char *payload, size_t size) {
    if (line->finding || !take_parcel_piece(p, d, payload, size)) return; /* its own state comes first */
    if (is_whole(&p->coming) && !store(line, p)) return;
    if (p->owes_kept == 0) p->owes_kept = now() + p->rtt / 8;
}

static void take_want(lockstep *line, neighbour *p, const datagram *d, const unsigned char *payload, size_t size) {
    if (!load_kept(line, p)) {
        post(line, p, DATAGRAM_GIVE, 0, 0, 0, NULL, 0);
        return;
    }
    if (!read_answer(&p->going, d, payload, size, p->going.got)) memset(p->going.got, 0, p->going.pieces);
    send_pieces(line, p, DATAGRAM_GIVE, &p->going, p->going.got);
}

/* ---- a state that was lost --------------------------------------------------------------------------------------- */

static void take_give(const lockstep *line, neighbour *p, const datagram *d, const unsigned char *payload,
                      size_t size) {
    if (!line->finding) return;
    if (d->pieces == 0)
        p->has_none = 1;
    else
        take_parcel_piece(p, d, payload, size);
}

/* The newest state that is here in full; NULL: none. */
static parcel *newest(const lockstep *line) {
    parcel *best = NULL;
    for (size_t k = 0; k < line->count; k++) {
        parcel *x = &line->neighbours[k].coming;
        uint32_t round;
        if (!is_whole(x)) continue;
        if (!state_is_whole(x->bytes, x->size, line->about.run, (uint32_t)line->about.agent, &round))
            clear(x);
        else if (best == NULL || round > best->round)
            best = x;
    }
    return best;
}

static int all_have_answered(const lockstep *line) {
    for (size_t k = 0; k < line->count; k++)
        if (!line->neighbours[k].has_none && !is_whole(&line->neighbours[k].coming)) return 0;
    return 1;
}

/* A neighbour may be gone for good, so others need not wait for its answer. */
unsigned char *lockstep_find(lockstep *line, size_t *size) {
    enum { PATIENCE = 3 }; /* seconds */
    parcel *best = NULL;
    double since = 0;
    line->finding = 1;
    while (!all_have_answered(line) && !(best && now() - since > PATIENCE)) {
        lockstep_serve(line, 0.05);
        best = newest(line);
        if (best == NULL || since == 0) since = now();
    }
    line->finding = 0;
    best = newest(line);
    unsigned char *bytes = best ? best->bytes : NULL;
    if (best) {
        *size = best->size;
        best->bytes = NULL;
        note(line, "its keepers have given back its state of round %u.", (unsigned)best->round);
    }
    for (size_t k = 0; k < line->count; k++) clear(&line->neighbours[k].coming);
    return bytes;
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

int take_parcel(lockstep *line, neighbour *p, const datagram *d, const unsigned char *payload, size_t size) {
    if (d->kind == DATAGRAM_KEPT || d->kind == DATAGRAM_GIVE) p->keep_tries = 0;
    switch (d->kind) {
    case DATAGRAM_KEEP: return take_keep(line, p, d, payload, size), 1;
    case DATAGRAM_KEPT: return take_kept(line, p, d, payload, size), 1;
    case DATAGRAM_WANT: return take_want(line, p, d, payload, size), 1;
    case DATAGRAM_GIVE: return take_give(line, p, d, payload, size), 1;
    default: return 0;
    }
}

double send_parcels(lockstep *line, neighbour *p, double at) {
    double next = INFINITY;
    const int keeps = line->parcel.bytes && p->has && !p->has_kept;
    const int wants = line->finding && !p->has_none && !is_whole(&p->coming);
    if ((keeps || wants) && at >= p->keep_due) {
        p->keep_tries++;
        if (wants)
            answer(line, p, DATAGRAM_WANT);
        else
            send_pieces(line, p, DATAGRAM_KEEP, &line->parcel, p->has);
        p->keep_due = at + pause_of(line, p, p->keep_tries);
    }
    if (keeps || wants) next = p->keep_due;
    if (p->owes_kept > 0 && at >= p->owes_kept) {
        p->owes_kept = 0;
        answer(line, p, DATAGRAM_KEPT);
    }
    return p->owes_kept > 0 ? fmin(next, p->owes_kept) : next;
}
