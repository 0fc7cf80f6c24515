#include "base/peers.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

svmp_status svmp_peers_agree(svmp_context *context, const svmp_peers *peers, svmp_status status) {
    double failed = status == SVMP_OK ? 0 : (double)(peers->count - peers->rank); /* the first one's is the largest */
    peers->max(peers, 1, &failed);
    if (failed == 0) return SVMP_OK;
    const size_t first = peers->count - (size_t)failed;
    peers->broadcast(peers, first, sizeof status, &status);
    peers->broadcast(peers, first, sizeof context->error, context->error);
    return status;
}

size_t svmp_context_process(const svmp_context *context) { return context ? context->peers->rank : 0; }

size_t svmp_context_processes(const svmp_context *context) { return context ? context->peers->count : 1; }

unsigned svmp_peers_any(const svmp_peers *peers, unsigned bits) {
    enum { BITS = 8 };
    double set[BITS];
    if (peers->count == 1) return bits;
    for (unsigned k = 0; k < BITS; k++) set[k] = bits >> k & 1;
    peers->max(peers, BITS, set);
    bits = 0;
    for (unsigned k = 0; k < BITS; k++) bits |= (unsigned)set[k] << k;
    return bits;
}

unsigned svmp_context_any(const svmp_context *context, unsigned bits) {
    return context ? svmp_peers_any(context->peers, bits) : bits;
}

void svmp_context_gather(const svmp_context *context, size_t size, const void *mine, void *all) {
    if (mine == NULL || all == NULL) return;
    const svmp_peers *peers = context ? context->peers : &svmp_alone;
    peers->gather(peers, size, mine, all);
}

void svmp_peers_sum_exactly(const svmp_peers *peers, size_t count, exact_sum *sums) {
    if (peers->count == 1) return;
    peers->sum(peers, count * EXACT_WORDS, svmp_exact_to_words(count, sums));
    svmp_exact_from_words(count, sums);
}

/* The halves of a number are exact, and of one number the largest is the smallest. */
bool svmp_peers_have_one(const svmp_peers *peers, uint64_t number) {
    const double low = (double)(number & UINT32_MAX), high = (double)(number >> 32);
    double most[] = {low, -low, high, -high};
    peers->max(peers, 4, most);
    return most[0] == -most[1] && most[2] == -most[3];
}

/* Reports the first process whose text differs from that of process 0. */
static svmp_status tell_apart(svmp_context *context, const char *what, const char *mine, uint64_t hash) {
    enum { SHOWN = 301 };
    struct said {
        uint64_t hash;
        char host[64], words[SHOWN];
    } own = {hash, {0}, {0}}, *all = NULL;
    const svmp_peers *t = context->peers;
    size_t k = 1;
    svmp_status status;
    if (gethostname(own.host, sizeof own.host - 1) != 0) own.host[0] = '\0';
    snprintf(own.words, sizeof own.words, "%s", mine);
    SVMP_CHECK(svmp_agree(context, context->peers, SVMP_NEW(context, all, t->count)));
    t->gather(t, sizeof own, &own, all);
    while (k + 1 < t->count && all[k].hash == all[0].hash) k++;
    if (strcmp(all[0].words, all[k].words) == 0)
        status = svmp_fail(
            context, SVMP_BAD_INPUT,
            "The processes disagree on %s: process 0 on %s and process %zu on %s differ after the first %d characters.",
            what, all[0].host, k, all[k].host, SHOWN - 1);
    else
        status = svmp_fail(context, SVMP_BAD_INPUT,
                           "The processes disagree on %s: %s in process 0 on %s, but %s in process %zu on %s.", what,
                           all[0].words, all[0].host, all[k].words, k, all[k].host);
done:
    svmp_release(context, all);
    return status;
}

svmp_status svmp_context_compare(svmp_context *context, const char *what, const char *mine) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (what == NULL || mine == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_context_compare: the name or the text is NULL.");
    const uint64_t hash = svmp_hash_bytes(SVMP_HASH_START, strlen(mine), mine);
    return svmp_peers_have_one(context->peers, hash) ? SVMP_OK : tell_apart(context, what, mine, hash);
}

/* Describes a file by its size and a checksum, or says why it cannot be read. */
static void describe_file(const char *path, char *words, size_t size) {
    enum { BLOCK = 1 << 16 };
    char block[BLOCK];
    FILE *file = fopen(path, "rb");
    uint64_t hash = SVMP_HASH_START;
    size_t got, total = 0;
    for (; file && (got = fread(block, 1, BLOCK, file)) > 0; total += got) hash = svmp_hash_bytes(hash, got, block);
    if (file == NULL || ferror(file))
        snprintf(words, size, "unreadable (%s)", strerror(errno));
    else
        snprintf(words, size, "%zu bytes, checksum %016llx", total, (unsigned long long)hash);
    if (file) fclose(file);
}

svmp_status svmp_peers_compare_file(svmp_context *context, const char *what, const char *path) {
    char whose[300], words[200];
    if (context->peers->count == 1) return SVMP_OK;
    describe_file(path, words, sizeof words);
    snprintf(whose, sizeof whose, "the %s '%.250s'", what, path);
    return svmp_context_compare(context, whose, words);
}
