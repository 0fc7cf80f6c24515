/* What an agent sends, and how often. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep_inside.h"

/* Of `need`: the first piece that is lacking, and which of those behind it are here. */
static void acknowledge(const neighbour *p, datagram *d) {
    const arrival *a = &p->arrival[d->need % 2];
    if (a->round != d->need || a->there == 0) return;
    unsigned first = 0;
    while (first < a->pieces && a->got[first]) first++;
    d->first = first;
    for (unsigned k = 0; k < 64 && first + 1 + k < a->pieces; k++)
        if (a->got[first + 1 + k]) d->have |= (uint64_t)1 << k;
}

/* Takes bytes from a bucket that fills with `budget` bytes a second. Returns 0, or in how many seconds it has them. */
static double spend(lockstep *line, double size) {
    const double budget = line->options.budget, at = now();
    if (budget <= 0) return 0;
    line->tokens = fmin(line->tokens + budget * (at - line->refilled), fmax(budget, DATAGRAM_MOST));
    line->refilled = at;
    if (line->tokens < size) return (size - line->tokens) / budget;
    line->tokens -= size;
    return 0;
}

void post(lockstep *line, neighbour *p, datagram_kind kind, uint32_t round, unsigned piece, unsigned pieces,
          const void *payload, size_t size) {
    unsigned char bytes[DATAGRAM_MOST];
    const double at = now();
    const double wait = spend(line, (double)(DATAGRAM_MOST - DATAGRAM_PIECE + size));
    if (wait > 0) {
        if (p->owes > 0) p->owes = fmax(p->owes, at + wait);
        return;
    }
    datagram d = {.version = DATAGRAM_VERSION,
                  .kind = (uint8_t)kind,
                  .piece = (uint16_t)piece,
                  .pieces = (uint16_t)pieces,
                  .every = line->finding ? 0 : line->options.every,
                  .run = line->about.run,
                  .from = (uint32_t)line->about.agent,
                  .to = p->rank,
                  .boot = line->boot,
                  .heard = p->boot,
                  .round = round,
                  .need = needed(line, p),
                  .safe = line->durable + 1,
                  .stamp = microseconds(at),
                  .echo = p->heard > 0 ? p->stamp + microseconds(at - p->heard) : 0,
                  .build = line->build};
    acknowledge(p, &d);
    datagram_write(&d, bytes);
    const size_t all = seal_close(line->encrypts, p->key, DATAGRAM_HEAD, size, payload, bytes);
    /* what does not leave is lost, as on the way */
    (void)sendto(line->descriptor, bytes, all, MSG_DONTWAIT, (const struct sockaddr *)&p->at.at, p->at.size);
    line->tally.sent++;
    line->tally.bytes += all;
    p->owes = 0;
}

/* The pieces of a message that the neighbour is not known to have. */
static void send_message(lockstep *line, neighbour *p, const message *m) {
    enum { BURST = 48 };
    const unsigned pieces = m->size == 0 ? 1 : (unsigned)((m->size + DATAGRAM_PIECE - 1) / DATAGRAM_PIECE);
    for (unsigned q = 0, sent = 0; q < pieces && sent < BURST; q++) {
        if (m->round == p->need && q < p->first) continue;
        if (m->round == p->need && q > p->first && q - p->first <= 64 && (p->have >> (q - p->first - 1) & 1)) continue;
        const size_t from = (size_t)q * DATAGRAM_PIECE;
        post(line, p, DATAGRAM_DATA, m->round, q, pieces, m->bytes + from,
             m->size - from < DATAGRAM_PIECE ? m->size - from : DATAGRAM_PIECE);
        sent++;
    }
}

/* The newest round at once; by the timer the two oldest that are lacking. */
void offer(lockstep *line, neighbour *p, int again) {
    const uint32_t from = again ? p->need : line->round;
    if (!again && line->round > p->need + 1) return;
    for (uint32_t t = from; t <= line->round && t < from + 2; t++) {
        const message *m = &p->ring[t % p->depth];
        if (m->round == t && t > 0) send_message(line, p, m);
    }
    line->tally.again += (uint64_t)again;
}

/* Loss is no congestion: it backs off from silence alone. At the end it asks often for a while, since a neighbour that
 * has finished leaves after some seconds without a question. */
double pause_of(const lockstep *line, const neighbour *p, unsigned tries) {
    enum { PATIENCE = 40, LAST_QUESTIONS = 3000 }; /* at 90 % loss one question in a hundred is answered */
    if (line->leaving && tries < LAST_QUESTIONS) return fmax(line->options.least, 0.02);
    const double most = 1, span = fmin(fmax(0.5 * p->rtt, line->options.least), most);
    const unsigned over = tries > PATIENCE ? tries - PATIENCE : 0;
    return fmin(span * pow(1.5, over < 40 ? over : 40), most) * (0.9 + 0.2 * rand() / RAND_MAX);
}
