#include "base/peers.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

svmp_status svmp_team_settle(svmp_context *context, svmp_status status) {
    const team *t = context->team;
    if (t == NULL) return status;
    double failed = status == SVMP_OK ? 0 : (double)(t->count - t->rank); /* the first one's is the largest */
    t->max(t, 1, &failed);
    if (failed == 0) return SVMP_OK;
    const size_t first = t->count - (size_t)failed;
    t->broadcast(t, first, sizeof status, &status);
    t->broadcast(t, first, sizeof context->error, context->error);
    return status;
}

size_t svmp_context_process(const svmp_context *context) { return context && context->team ? context->team->rank : 0; }

size_t svmp_context_processes(const svmp_context *context) {
    return context && context->team ? context->team->count : 1;
}

unsigned svmp_context_any(const svmp_context *context, unsigned bits) {
    enum { BITS = 8 };
    double set[BITS];
    if (context == NULL || context->team == NULL) return bits;
    for (unsigned k = 0; k < BITS; k++) set[k] = bits >> k & 1;
    context->team->max(context->team, BITS, set);
    bits = 0;
    for (unsigned k = 0; k < BITS; k++) bits |= (unsigned)set[k] << k;
    return bits;
}

void svmp_context_gather(const svmp_context *context, size_t size, const void *mine, void *all) {
    if (mine == NULL || all == NULL) return;
    if (context && context->team)
        context->team->gather(context->team, size, mine, all);
    else if (size > 0)
        memcpy(all, mine, size);
}

/* The halves of a number are exact, and of one number the largest is the smallest. */
bool svmp_team_has_one(const team *t, uint64_t number) {
    if (t == NULL) return true;
    const double low = (double)(number & UINT32_MAX), high = (double)(number >> 32);
    double most[] = {low, -low, high, -high};
    t->max(t, 4, most);
    return most[0] == -most[1] && most[2] == -most[3];
}

/* Who is the first to say something else than process 0, and what. */
static svmp_status tell_apart(svmp_context *context, const char *what, const char *mine, uint64_t hash) {
    enum { SHOWN = 301 };
    struct said {
        uint64_t hash;
        char host[64], words[SHOWN];
    } own = {hash, {0}, {0}}, *all = NULL;
    const team *t = context->team;
    size_t k = 1;
    svmp_status status;
    if (gethostname(own.host, sizeof own.host - 1) != 0) own.host[0] = '\0';
    snprintf(own.words, sizeof own.words, "%s", mine);
    SVMP_CHECK(svmp_team_agree(context, SVMP_NEW(context, all, t->count)));
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
    return svmp_team_has_one(context->team, hash) ? SVMP_OK : tell_apart(context, what, mine, hash);
}

/* What there is to say of a file: its size and a checksum, or why it cannot be read. */
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

svmp_status svmp_team_compare_file(svmp_context *context, const char *what, const char *path) {
    char whose[300], words[200];
    if (context->team == NULL) return SVMP_OK;
    describe_file(path, words, sizeof words);
    snprintf(whose, sizeof whose, "the %s '%.250s'", what, path);
    return svmp_context_compare(context, whose, words);
}
