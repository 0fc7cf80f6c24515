/* A 64-bit checksum: the hash of Fowler, Noll and Vo on whole words, with the high half folded into the low one after
 * every word. Each step is a bijection of the word and of the previous hash, so that a change within one word is always
 * detected. It protects against accidents, not against attacks. */
#ifndef SVMP_BASE_HASH_H
#define SVMP_BASE_HASH_H

#include <stdint.h>
#include <string.h>

#define SVMP_HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t svmp_hash_word(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

/* The last word is padded with zeros. */
static inline uint64_t svmp_hash_bytes(uint64_t hash, size_t size, const void *bytes) {
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + at, size - at < sizeof word ? size - at : sizeof word);
        hash = svmp_hash_word(hash, word);
    }
    return hash;
}

static inline uint64_t svmp_double_bits(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* The finisher of splitmix64: for tables, whose places are the low bits of a hash. */
static inline uint64_t svmp_mix_bits(uint64_t h) {
    h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
    return h ^ (h >> 31);
}

static inline uint64_t svmp_table_hash(size_t size, const void *bytes) {
    return svmp_mix_bits(svmp_hash_bytes(SVMP_HASH_START ^ size, size, bytes));
}

#endif
