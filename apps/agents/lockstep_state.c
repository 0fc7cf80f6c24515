/* What a state file has of a line: the round, the rows of both sides, and the messages that neighbours may ask for. */
#include <stdlib.h>
#include <string.h>

#include "lockstep_inside.h"

/* Bytes that are written, or read; `bytes` NULL: they are only counted. */
typedef struct stream {
    unsigned char *bytes;
    size_t at, size;
    int reading, good;
} stream;

static void move_number(stream *s, int bytes, uint64_t *value) {
    if (s->reading && (!s->good || s->size - s->at < (size_t)bytes)) {
        s->good = 0;
        *value = 0;
        return;
    }
    if (s->reading) *value = 0;
    for (int k = 0; k < bytes; k++, s->at++) {
        if (s->reading)
            *value |= (uint64_t)s->bytes[s->at] << 8 * k;
        else if (s->bytes)
            s->bytes[s->at] = (unsigned char)(*value >> 8 * k);
    }
}

static void move_round(stream *s, uint32_t *value) {
    uint64_t word = *value;
    move_number(s, 4, &word);
    *value = (uint32_t)word;
}

static void move_reals(stream *s, size_t count, double *values) {
    for (size_t k = 0; k < count; k++) {
        uint64_t word;
        memcpy(&word, &values[k], sizeof word);
        move_number(s, 8, &word);
        memcpy(&values[k], &word, sizeof word);
    }
}

static void move_message(stream *s, neighbour *p, uint32_t t) {
    message *m = &p->ring[t % p->depth];
    uint64_t size = s->reading ? 0 : m->size;
    move_number(s, 8, &size);
    if (s->reading && (!s->good || size > s->size - s->at)) {
        s->good = 0;
        return;
    }
    if (s->reading) {
        m->bytes = malloc(size + 1);
        m->capacity = m->size = size;
        m->round = t;
        s->good = m->bytes != NULL;
    }
    if (!s->good) return;
    if (s->reading)
        memcpy(m->bytes, s->bytes + s->at, size);
    else if (s->bytes)
        memcpy(s->bytes + s->at, m->bytes, size);
    s->at += size;
}

static void move_neighbour(stream *s, const lockstep *line, neighbour *p) {
    uint64_t out = p->out, in = p->in;
    uint32_t rank = p->rank;
    move_round(s, &rank);
    move_number(s, 8, &out);
    move_number(s, 8, &in);
    move_round(s, &p->safe);
    if (rank != p->rank || out != p->out || in != p->in) s->good = 0;
    if (!s->good || p->safe == 0 || p->safe > line->round + 2) {
        s->good = 0;
        return;
    }
    move_reals(s, p->out * line->length, p->sent);
    move_reals(s, p->in * line->length, p->rows);
    const uint32_t messages = p->safe <= line->round ? line->round - p->safe + 1 : 0;
    if (s->reading && (messages > s->size || !deepen(p, messages + 1))) s->good = 0;
    for (uint32_t t = p->safe; t <= line->round && s->good; t++) move_message(s, p, t);
    if (!s->reading) return;
    p->received = line->round;
    p->need = p->safe;
    p->first = 0;
    p->have = 0;
}

static void move_line(stream *s, lockstep *line) {
    uint32_t every = line->options.every;
    move_round(s, &line->round);
    move_round(s, &line->durable);
    move_round(s, &line->iteration);
    move_round(s, &line->stop_at);
    move_round(s, &line->asked);
    move_round(s, &line->all_settled);
    move_round(s, &every);
    if (every != line->options.every) s->good = 0;
    for (size_t k = 0; k < line->count && s->good; k++) move_neighbour(s, line, &line->neighbours[k]);
}

unsigned char *lockstep_save(const lockstep *line, size_t *size) {
    stream s = {.good = 1};
    lockstep *read_only = (lockstep *)(uintptr_t)line; /* a stream that writes changes nothing */
    move_line(&s, read_only);
    *size = s.at;
    s = (stream){.good = 1, .bytes = malloc(s.at + 1)};
    if (s.bytes) move_line(&s, read_only);
    return s.bytes;
}

int lockstep_load(lockstep *line, const unsigned char *bytes, size_t size) {
    stream s = {.bytes = (unsigned char *)(uintptr_t)bytes, .size = size, .reading = 1, .good = 1}; /* only read */
    move_line(&s, line);
    line->saved = line->round;
    line->began_round = line->round;
    return s.good && s.at == size;
}
