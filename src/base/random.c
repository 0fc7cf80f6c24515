#include "base/random.h"

#include <Random123/philox.h>
#include <math.h>

/* Four independent 64-bit words: block `index` of the stream. */
static philox4x64_ctr_t words(random_stream stream, uint64_t index) {
    philox4x64_ctr_t counter = {{index, stream.a, stream.b, (uint64_t)stream.purpose}};
    philox4x64_key_t key = {{stream.seed, UINT64_C(0x73766d70)}}; /* "svmp" */
    return philox4x64(counter, key);
}

/* The middle of one of 2^52 equal cells of (0, 1): never 0, never 1. */
static double uniform(uint64_t word) { return ((double)(word >> 12) + 0.5) * 0x1p-52; }

void svmp_random_uniforms(random_stream stream, size_t n, double *values) {
    const uint64_t first = stream.first;
    for (uint64_t l = first; l < first + n; l += 4 - l % 4) {
        const philox4x64_ctr_t word = words(stream, l / 4);
        for (uint64_t k = l; k < first + n && k / 4 == l / 4; k++) values[k - first] = uniform(word.v[k % 4]);
    }
}

/* Box and Muller: words (0, 1) and (2, 3) are pairs. */
static double normal(const philox4x64_ctr_t *word, size_t k) {
    const double two_pi = 6.283185307179586476925;
    double radius = sqrt(-2 * log(uniform(word->v[k & ~(size_t)1])));
    double angle = two_pi * uniform(word->v[k | 1]);
    return radius * (k % 2 == 0 ? cos(angle) : sin(angle));
}

void svmp_random_normals(random_stream stream, size_t n, double *values) {
    const uint64_t first = stream.first;
    for (uint64_t l = first; l < first + n; l += 4 - l % 4) {
        const philox4x64_ctr_t word = words(stream, l / 4);
        for (uint64_t k = l; k < first + n && k / 4 == l / 4; k++) values[k - first] = normal(&word, k % 4);
    }
}

double svmp_random_uniform(random_stream stream, uint64_t l) {
    const uint64_t at = stream.first + l;
    return uniform(words(stream, at / 4).v[at % 4]);
}

double svmp_random_normal(random_stream stream, uint64_t l) {
    const uint64_t at = stream.first + l;
    const philox4x64_ctr_t word = words(stream, at / 4);
    return normal(&word, at % 4);
}

uint64_t svmp_random_below(random_stream stream, uint64_t index, uint64_t bound) {
    return words(stream, index).v[0] % bound; /* its bias, bound / 2^64, is far below what any sample can show */
}

/* Rounds of a Feistel network permute 0 ... 4^half - 1, a power of four of at least `count`; what falls beyond `count`
 * is permuted again until it does not. A rotation makes every place exactly as likely as the others. */
uint64_t svmp_random_place(random_stream stream, uint64_t index, uint64_t count) {
    enum { ROUNDS = 6 };
    uint64_t half = 1;
    while (UINT64_C(1) << 2 * half < count) half++;
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    do {
        uint64_t left = index >> half, right = index & mask;
        for (uint64_t round = 0; round < ROUNDS; round++) {
            const uint64_t mixed = left ^ svmp_random_below(stream, round << half | right, mask + 1);
            left = right;
            right = mixed;
        }
        index = left << half | right;
    } while (index >= count);
    return (index + svmp_random_below(stream, UINT64_MAX, count)) % count;
}
