/* Protection of datagrams by libsodium, an optional part of the build: a tag of keyed BLAKE2b, or XChaCha20-Poly1305,
 * which encrypts, too. */
#ifndef SVMP_AGENTS_SEAL_H
#define SVMP_AGENTS_SEAL_H

#include <stddef.h>

enum { SEAL_KEY = 32, SEAL_TAG = 16, SEAL_NONCE = 24 };

/* The keys of an agent's links, and whether what goes over them is encrypted. */
typedef struct seal_keys {
    int encrypts;
    unsigned char (*key)[SEAL_KEY];
} seal_keys;

/* 0 after an error message if this build cannot authenticate. */
int seal_available(void);

void seal_random(size_t size, void *bytes);

/* A datagram is a head, which is never encrypted, the nonce if the payload is, the payload, and the tag of all.
 * seal_close adds what follows the head, and returns the size of all. A nonce is random: 192 bits do not repeat,
 * whatever is restarted, copied or restored from a backup. */
size_t seal_close(int encrypts, const unsigned char key[SEAL_KEY], size_t head, size_t size,
                  const unsigned char *payload, unsigned char *bytes);

/* Finds the payload, decrypted in place; NULL unless the tag is right. */
unsigned char *seal_open(int encrypts, const unsigned char key[SEAL_KEY], size_t head, size_t all, unsigned char *bytes,
                         size_t *size);

/* A tag alone. seal_is_right takes a time that does not depend on where the first difference is. */
void seal_tag(const unsigned char key[SEAL_KEY], size_t size, const unsigned char *bytes, unsigned char *tag);
int seal_is_right(const unsigned char key[SEAL_KEY], size_t size, const unsigned char *bytes, const unsigned char *tag);

/* The tag of several blocks, one after another. */
typedef struct seal_block {
    const void *bytes;
    size_t size;
} seal_block;
void seal_blocks(const unsigned char key[SEAL_KEY], size_t count, const seal_block *blocks, unsigned char *tag);

#endif
