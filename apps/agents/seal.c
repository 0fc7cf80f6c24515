#include "seal.h"

#include <string.h>

#include "front/error_output.h"

#ifdef SVMP_HAVE_SODIUM
#include <sodium.h>

int seal_available(void) {
    return sodium_init() >= 0 || (report_error(EXIT_FAILED, "libsodium cannot start: there is no randomness."), 0);
}

void seal_random(size_t size, void *bytes) { randombytes_buf(bytes, size); }

void seal_tag(const unsigned char key[SEAL_KEY], size_t size, const unsigned char *bytes, unsigned char *tag) {
    crypto_generichash(tag, SEAL_TAG, bytes, size, key, SEAL_KEY);
}

int seal_is_right(const unsigned char key[SEAL_KEY], size_t size, const unsigned char *bytes,
                  const unsigned char *tag) {
    unsigned char right[SEAL_TAG];
    seal_tag(key, size, bytes, right);
    return sodium_memcmp(right, tag, SEAL_TAG) == 0;
}

void seal_blocks(const unsigned char key[SEAL_KEY], size_t count, const seal_block *blocks, unsigned char *tag) {
    crypto_generichash_state state;
    crypto_generichash_init(&state, key, SEAL_KEY, SEAL_TAG);
    for (size_t k = 0; k < count; k++) crypto_generichash_update(&state, blocks[k].bytes, blocks[k].size);
    crypto_generichash_final(&state, tag, SEAL_TAG);
}

static void encrypt(const unsigned char key[SEAL_KEY], size_t head, size_t size, const unsigned char *payload,
                    unsigned char *bytes) {
    unsigned char *nonce = bytes + head;
    randombytes_buf(nonce, SEAL_NONCE);
    crypto_aead_xchacha20poly1305_ietf_encrypt(nonce + SEAL_NONCE, NULL, payload, size, bytes, head, NULL, nonce, key);
}

static int decrypt(const unsigned char key[SEAL_KEY], size_t head, size_t all, unsigned char *bytes) {
    unsigned char *nonce = bytes + head, *sealed = nonce + SEAL_NONCE;
    return crypto_aead_xchacha20poly1305_ietf_decrypt(sealed, NULL, NULL, sealed, all - head - SEAL_NONCE, bytes, head,
                                                      nonce, key) == 0;
}
#else
int seal_available(void) {
    report_error(EXIT_WRONG, "This build has no agents: it was built without libsodium (Debian: libsodium-dev).");
    return 0;
}

/* Never called. */
void seal_random(size_t size, void *bytes) { memset(bytes, 0, size); }

void seal_tag(const unsigned char key[SEAL_KEY], size_t size, const unsigned char *bytes, unsigned char *tag) {
    (void)key, (void)size, (void)bytes;
    memset(tag, 0, SEAL_TAG);
}

void seal_blocks(const unsigned char key[SEAL_KEY], size_t count, const seal_block *blocks, unsigned char *tag) {
    (void)key, (void)count, (void)blocks;
    memset(tag, 0, SEAL_TAG);
}

int seal_is_right(const unsigned char key[SEAL_KEY], size_t size, const unsigned char *bytes,
                  const unsigned char *tag) {
    (void)key, (void)size, (void)bytes, (void)tag;
    return 0;
}

static void encrypt(const unsigned char key[SEAL_KEY], size_t head, size_t size, const unsigned char *payload,
                    unsigned char *bytes) {
    (void)key, (void)head, (void)size, (void)payload, (void)bytes;
}

static int decrypt(const unsigned char key[SEAL_KEY], size_t head, size_t all, unsigned char *bytes) {
    (void)key, (void)head, (void)all, (void)bytes;
    return 0;
}
#endif

size_t seal_close(int encrypts, const unsigned char key[SEAL_KEY], size_t head, size_t size,
                  const unsigned char *payload, unsigned char *bytes) {
    if (encrypts) {
        encrypt(key, head, size, payload, bytes);
        return head + SEAL_NONCE + size + SEAL_TAG;
    }
    if (size > 0) memcpy(bytes + head, payload, size);
    seal_tag(key, head + size, bytes, bytes + head + size);
    return head + size + SEAL_TAG;
}

unsigned char *seal_open(int encrypts, const unsigned char key[SEAL_KEY], size_t head, size_t all, unsigned char *bytes,
                         size_t *size) {
    const size_t more = head + (encrypts ? SEAL_NONCE : 0);
    if (all < more + SEAL_TAG) return NULL;
    *size = all - more - SEAL_TAG;
    const int right =
        encrypts ? decrypt(key, head, all, bytes) : seal_is_right(key, all - SEAL_TAG, bytes, bytes + all - SEAL_TAG);
    return right ? bytes + more : NULL;
}
