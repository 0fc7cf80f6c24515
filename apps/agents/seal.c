#include "seal.h"

#include "datagram.h"
#include "front/error_output.h"

#ifdef SVMP_HAVE_SODIUM
#include <sodium.h>

int seal_available(void) {
    return sodium_init() >= 0 || (report_error(EXIT_FAILED, "libsodium cannot start: there is no randomness."), 0);
}

void seal_random(size_t size, void *bytes) { randombytes_buf(bytes, size); }

void seal_tag(const unsigned char key[SEAL_KEY], size_t size, const unsigned char *bytes, unsigned char *tag) {
    crypto_generichash(tag, DATAGRAM_TAG, bytes, size, key, SEAL_KEY);
}

int seal_is_right(const unsigned char key[SEAL_KEY], size_t size, const unsigned char *bytes,
                  const unsigned char *tag) {
    unsigned char right[DATAGRAM_TAG];
    seal_tag(key, size, bytes, right);
    return sodium_memcmp(right, tag, DATAGRAM_TAG) == 0;
}
#else
#include <string.h>

int seal_available(void) {
    report_error(EXIT_WRONG, "This build has no agents: it was built without libsodium (Debian: libsodium-dev).");
    return 0;
}

/* Never called. */
void seal_random(size_t size, void *bytes) { memset(bytes, 0, size); }

void seal_tag(const unsigned char key[SEAL_KEY], size_t size, const unsigned char *bytes, unsigned char *tag) {
    (void)key, (void)size, (void)bytes;
    memset(tag, 0, DATAGRAM_TAG);
}

int seal_is_right(const unsigned char key[SEAL_KEY], size_t size, const unsigned char *bytes,
                  const unsigned char *tag) {
    (void)key, (void)size, (void)bytes, (void)tag;
    return 0;
}
#endif
