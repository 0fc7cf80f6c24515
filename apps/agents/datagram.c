#include "datagram.h"

#include <string.h>

static const unsigned char magic[] = {'S', 'V', 'A'};

static unsigned char *put(unsigned char *to, int bytes, uint64_t value) {
    for (int k = 0; k < bytes; k++) *to++ = (unsigned char)(value >> 8 * k);
    return to;
}

static uint64_t take(const unsigned char **from, int bytes) {
    uint64_t value = 0;
    for (int k = 0; k < bytes; k++) value |= (uint64_t) * (*from)++ << 8 * k;
    return value;
}

void datagram_write(const datagram *d, unsigned char bytes[DATAGRAM_HEAD]) {
    const uint32_t words[] = {d->from, d->to, d->boot, d->heard, d->round, d->need, d->safe, d->first};
    memcpy(bytes, magic, sizeof magic);
    unsigned char *at = put(bytes + sizeof magic, 1, d->version);
    at = put(at, 1, d->kind);
    at = put(at, 1, 0);
    at = put(at, 2, d->piece);
    at = put(at, 2, d->pieces);
    at = put(at, 2, d->every);
    at = put(at, 8, d->run);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) at = put(at, 4, words[k]);
    at = put(at, 8, d->have);
    at = put(at, 4, d->stamp);
    at = put(at, 4, d->echo);
    put(at, 4, d->build);
}

int datagram_read(const unsigned char *bytes, size_t size, datagram *d) {
    uint32_t *const words[] = {&d->from, &d->to, &d->boot, &d->heard, &d->round, &d->need, &d->safe, &d->first};
    const unsigned char *at = bytes + sizeof magic;
    *d = (datagram){0};
    if (size < sizeof magic + 1 || memcmp(bytes, magic, sizeof magic) != 0) return 0;
    d->version = (uint8_t)take(&at, 1);
    if (d->version != DATAGRAM_VERSION) return 1;
    if (size < DATAGRAM_HEAD + SEAL_TAG || size > DATAGRAM_MOST) return 0;
    d->kind = (uint8_t)take(&at, 1);
    take(&at, 1);
    d->piece = (uint16_t)take(&at, 2);
    d->pieces = (uint16_t)take(&at, 2);
    d->every = (uint16_t)take(&at, 2);
    d->run = take(&at, 8);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) *words[k] = (uint32_t)take(&at, 4);
    d->have = take(&at, 8);
    d->stamp = (uint32_t)take(&at, 4);
    d->echo = (uint32_t)take(&at, 4);
    d->build = (uint32_t)take(&at, 4);
    return 1;
}
