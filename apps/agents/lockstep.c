#define _GNU_SOURCE /* ppoll */
#include "lockstep.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "front/error_output.h"
#include "lockstep_inside.h"
#include "row_changes.h"

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

uint32_t microseconds(double t) { return (uint32_t)(uint64_t)(t * 1e6); }

static int is_complete(const neighbour *p, uint32_t t) {
    const arrival *a = &p->arrival[t % 2];
    return a->round == t && a->there > 0 && a->there == a->pieces;
}

uint32_t needed(const lockstep *line, const neighbour *p) {
    const uint32_t next = p->received + 1;
    return line->planned && is_complete(p, next) ? next + 1 : next;
}

uint32_t lockstep_round(const lockstep *line) { return line->sending ? line->round - 1 : line->round; }

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static int find_addresses(lockstep *line, const char *hosts, const host *relay) {
    char error[400];
    host own, other;
    int status = hosts_find(hosts, line->about.name, &own);
    if (status) return status;
    line->descriptor = socket_open(own.service, &line->family, error, sizeof error);
    if (line->descriptor < 0) return report_error(EXIT_FAILED, "Agent '%s': %s.", line->about.name, error);
    for (size_t k = 0; k < line->count && status == 0; k++) {
        neighbour *p = &line->neighbours[k];
        if (relay == NULL) status = hosts_find(hosts, p->name, &other);
        if (status == 0 && !address_find(relay ? relay : &other, line->family, &p->at, error, sizeof error))
            status = report_error(EXIT_FAILED, "Agent '%s': %s.", line->about.name, error);
    }
    return status;
}

/* A checksum of what computes the bits. */
static uint32_t build_of(void) {
    uint32_t hash = 2166136261u;
    char words[80];
    snprintf(words, sizeof words, "%s %016llx", svmp_version(), (unsigned long long)svmp_agents_rounding());
    for (const char *at = words; *at; at++) hash = (hash ^ (unsigned char)*at) * 16777619u;
    return hash;
}

lockstep *lockstep_open(const svmp_part_about *about, const char *hosts, const host *relay, const seal_keys *keys,
                        const lockstep_options *options, int *status) {
    lockstep *line = calloc(1, sizeof *line);
    if (line) {
        *line = (lockstep){.about = *about, .options = *options, .descriptor = -1, .count = about->neighbours};
        line->neighbours = calloc(line->count ? line->count : 1, sizeof *line->neighbours);
    }
    if (line == NULL || line->neighbours == NULL) {
        free(line);
        *status = report_error(EXIT_FAILED, "Agent '%s': out of memory.", about->name);
        return NULL;
    }
    line->stop_at = NEVER;
    line->encrypts = keys->encrypts;
    line->build = build_of();
    line->began = line->reported = line->refilled = now();
    for (size_t k = 0; k < line->count; k++) {
        neighbour *p = &line->neighbours[k];
        *p = (neighbour){
            .rank = about->neighbour[k], .name = about->neighbour_name[k], .need = 1, .safe = 1, .rtt = 0.02};
        memcpy(p->key, keys->key[k], SEAL_KEY);
    }
    choose_keepers(line);
    *status = find_addresses(line, hosts, relay);
    if (*status == 0) return line;
    lockstep_close(line);
    return NULL;
}

void lockstep_set_boot(lockstep *line, uint32_t boot) {
    line->boot = boot;
    srand(boot + (unsigned)line->about.agent);
}

uint32_t lockstep_boot(const lockstep *line) { return line->boot; }

static void free_neighbour(neighbour *p) {
    for (uint32_t t = 0; p->ring && t < p->depth; t++) free(p->ring[t].bytes);
    for (int s = 0; s < 2; s++) free(p->arrival[s].bytes), free(p->arrival[s].got);
    free(p->ring);
    free(p->sent);
    free(p->rows);
    free_parcels(p);
}

void lockstep_close(lockstep *line) {
    if (line == NULL) return;
    for (size_t k = 0; k < line->count; k++) free_neighbour(&line->neighbours[k]);
    if (line->descriptor >= 0) close(line->descriptor);
    free(line->neighbours);
    free(line->scratch);
    free(line->parcel.bytes);
    free(line);
}

/* ---- the line ---------------------------------------------------------------------------------------------------- */

int deepen(neighbour *p, uint32_t depth) {
    message *grown = depth > p->depth ? calloc(depth, sizeof *grown) : NULL;
    if (depth <= p->depth) return 1;
    if (grown == NULL) return 0;
    for (uint32_t k = 0; k < p->depth; k++) {
        message *m = &p->ring[k];
        if (m->round >= p->safe && m->round > 0)
            grown[m->round % depth] = *m;
        else
            free(m->bytes);
    }
    free(p->ring);
    p->ring = grown;
    p->depth = depth;
    return 1;
}

static int alloc_neighbour(const lockstep *line, neighbour *p) {
    const size_t in = changes_most(p->in, line->length) + CONTROL, pieces = (in + DATAGRAM_PIECE - 1) / DATAGRAM_PIECE;
    p->sent = calloc(p->out * line->length + 1, sizeof *p->sent);
    p->rows = calloc(p->in * line->length + 1, sizeof *p->rows);
    int there = p->sent && p->rows && deepen(p, 2 * (uint32_t)line->options.every + 3);
    for (int s = 0; s < 2; s++) {
        p->arrival[s].bytes = calloc(pieces + 1, DATAGRAM_PIECE);
        p->arrival[s].got = calloc(pieces + 1, 1);
        there = there && p->arrival[s].bytes && p->arrival[s].got;
    }
    return there;
}

static int plan(const svmp_peers *peers, const svmp_peer_routes *routes, svmp_peer_line **made) {
    enum { MOST_PIECES = 65535 };
    lockstep *line = peers->own;
    size_t longest = 0;
    int there = 1;
    *made = NULL;
    if (line->planned || routes->neighbours != line->count) {
        report_error(EXIT_FAILED, "Agent '%s': this method needs another exchange than that of particles.",
                     line->about.name);
        return SVMP_UNSUPPORTED;
    }
    line->length = routes->length;
    for (size_t k = 0; k < line->count && there; k++) {
        neighbour *p = &line->neighbours[k];
        p->out = routes->out[k];
        p->in = routes->in[k];
        const size_t out = changes_most(p->out, line->length) + CONTROL;
        const size_t in = changes_most(p->in, line->length) + CONTROL;
        if (out > longest) longest = out;
        if (out / DATAGRAM_PIECE >= MOST_PIECES || in / DATAGRAM_PIECE >= MOST_PIECES) {
            report_error(EXIT_FAILED, "Agent '%s' would exchange more than %zu bytes a round with '%s'.",
                         line->about.name, (size_t)MOST_PIECES * DATAGRAM_PIECE, p->name);
            return SVMP_UNSUPPORTED;
        }
        there = alloc_neighbour(line, p);
    }
    line->scratch = malloc(longest + 1);
    if (!there || line->scratch == NULL) {
        report_error(EXIT_FAILED, "Agent '%s': out of memory for messages.", line->about.name);
        return SVMP_NO_MEMORY;
    }
    line->planned = 1;
    *made = line;
    return SVMP_OK;
}

static void connect_nothing(svmp_peer_line *line) { (void)line; }

static _Noreturn void end_without_memory(const lockstep *line) {
    report_error(EXIT_FAILED, "Agent '%s': out of memory for messages; it can be started again.", line->about.name);
    exit(EXIT_FAILED);
}

/* An iteration may take any number of rounds, and states are written between iterations: no message is overwritten that
 * the neighbour may ask for again. */
static void keep_message(lockstep *line, neighbour *p, size_t size) {
    if (line->round >= p->safe + p->depth && !deepen(p, 2 * p->depth)) end_without_memory(line);
    message *m = &p->ring[line->round % p->depth];
    if (m->bytes == NULL || m->capacity < size) {
        unsigned char *grown = realloc(m->bytes, size);
        if (grown == NULL) end_without_memory(line);
        m->bytes = grown;
        m->capacity = size;
    }
    memcpy(m->bytes, line->scratch, size);
    m->round = line->round;
    m->size = size;
}

static void send_rows(svmp_peer_line *line, uint64_t round, const double *leaving, double *arriving) {
    line->counted = round;
    line->round++;
    line->sending = 1;
    line->arriving = arriving;
    for (size_t k = 0; k < line->count; k++) {
        neighbour *p = &line->neighbours[k];
        const size_t size = changes_write(p->out, line->length, leaving, p->sent, line->scratch);
        write_control(line, line->scratch + size);
        keep_message(line, p, size + CONTROL);
        leaving += p->out * line->length;
        offer(line, p, 0);
        p->due = now() + pause_of(line, p, p->tries);
    }
}

/* Rows of the current round that have come go to their places. */
static int deliver(lockstep *line) {
    double *to = line->arriving;
    int all = 1;
    for (size_t k = 0; k < line->count; k++) {
        neighbour *p = &line->neighbours[k];
        const size_t numbers = p->in * line->length;
        arrival *a = &p->arrival[line->round % 2];
        if (p->received < line->round && is_complete(p, line->round)) {
            const size_t size = a->size > CONTROL ? a->size - CONTROL : 0;
            if (!changes_apply(p->in, line->length, size, a->bytes, p->rows)) {
                char words[200];
                snprintf(words, sizeof words, "a message of agent '%s' for round %u has a wrong length", p->name,
                         (unsigned)line->round);
                lockstep_stop(line, words);
            }
            take_control(line, a->bytes + size);
            p->received = line->round;
            memcpy(to, p->rows, numbers * sizeof *to);
        }
        all = all && p->received == line->round;
        to += numbers;
    }
    return all;
}

/* What this agent waits for: rows of the current round, or, at the end, that all are at the end. */
static int waits_for(const lockstep *line, const neighbour *p) {
    if (line->leaving) return p->need <= line->round || p->safe <= line->round;
    return line->sending && p->received < line->round;
}

/* Sends what is due; returns when the next is, or `until`. */
static double send_due(lockstep *line, double until) {
    const double at = now();
    double next = until;
    for (size_t k = 0; k < line->count; k++) {
        neighbour *p = &line->neighbours[k];
        const int lacks = p->need <= line->round, waiting = waits_for(line, p);
        if ((lacks || waiting) && at >= p->due) {
            p->tries++;
            if (lacks) offer(line, p, 1);
            if (!lacks || p->tries > 4) post(line, p, DATAGRAM_ASK, line->round, 0, 0, NULL, 0);
            p->due = at + pause_of(line, p, p->tries);
        }
        if (p->owes > 0 && at >= p->owes) post(line, p, DATAGRAM_TELL, line->round, 0, 0, NULL, 0);
        if (lacks || waiting) next = fmin(next, p->due);
        if (p->owes > 0) next = fmin(next, p->owes);
        next = fmin(next, send_parcels(line, p, at));
    }
    return next;
}

/* Sends what is due, and sleeps until something comes, or something is due, or `until`. */
static void turn(lockstep *line, double until) {
    const double next = send_due(line, until);
    report_if_wanted(line);
    const double left = fmin(fmax(next - now(), 0), 1);
    const struct timespec wait = {(time_t)left, (long)(1e9 * (left - floor(left)))};
    struct pollfd f = {line->descriptor, POLLIN, 0};
    ppoll(&f, 1, &wait, NULL);
    take_datagrams(line);
}

static void receive_rows(svmp_peer_line *line, uint64_t *round, int wait) {
    take_datagrams(line);
    while (line->sending && !deliver(line)) {
        if (!wait) return;
        turn(line, now() + 1);
    }
    line->sending = 0;
    if (line->parcel.bytes) send_due(line, 0);
    report_if_wanted(line);
    for (size_t k = 0; k < line->count; k++) round[k] = line->counted;
}

static void close_nothing(svmp_peer_line *line) { (void)line; }

svmp_peers lockstep_peers(lockstep *line) {
    return (svmp_peers){.own = line,
                        .plan = plan,
                        .connect = connect_nothing,
                        .close = close_nothing,
                        .send = send_rows,
                        .receive = receive_rows};
}

/* Neighbours keep messages since the last state that is kept: it must not get too old. */
int lockstep_is_due(lockstep *line) {
    const uint32_t every = line->options.every, old = line->round - line->saved;
    while (old >= 2 * every && !lockstep_is_kept(line)) turn(line, now() + 1);
    return old >= every && lockstep_is_kept(line);
}

void lockstep_serve(lockstep *line, double seconds) {
    for (const double until = now() + seconds; now() < until;) turn(line, until);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

void lockstep_leave(lockstep *line) {
    line->leaving = 1;
    for (double quiet = now();;) {
        int waiting = 0;
        const char *who = "";
        turn(line, now() + 0.1);
        for (size_t k = 0; k < line->count; k++) {
            const neighbour *p = &line->neighbours[k];
            if (p->heard > quiet) quiet = p->heard;
            if (waits_for(line, p) || (line->parcel.bytes && p->has && !p->has_kept)) waiting = 1, who = p->name;
        }
        const double silent = now() - quiet;
        if (!waiting && silent > line->options.linger) return;
        if (waiting && silent > line->options.stay) {
            note(line,
                 "agent '%s' has not finished, and was silent for %.0f s. If it needs this agent, start this agent "
                 "again with the same command.",
                 who, silent);
            return;
        }
    }
}

_Noreturn void lockstep_stop(lockstep *line, const char *sentence) {
    const double until = now() + 5;
    int all = 0;
    if (!line->leaving) note(line, "%s. All agents stop; their states are kept.", sentence);
    line->leaving = 1;
    while (!all && now() < until) {
        const struct timespec moment = {0, 30000000};
        all = 1;
        for (size_t k = 0; k < line->count; k++) {
            neighbour *p = &line->neighbours[k];
            if (!p->stopped) post(line, p, DATAGRAM_STOP, line->round, 0, 0, sentence, strlen(sentence));
            all = all && p->stopped;
        }
        nanosleep(&moment, NULL);
        take_datagrams(line);
    }
    exit(EXIT_FAILED);
}
