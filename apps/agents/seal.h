/* Authentication of datagrams: keyed BLAKE2b of libsodium, an optional part of the build. */
#ifndef SVMP_AGENTS_SEAL_H
#define SVMP_AGENTS_SEAL_H

#include <stddef.h>

enum { SEAL_KEY = 32 };

/* 0 after an error message if this build cannot authenticate. */
int seal_available(void);

void seal_random(size_t size, void *bytes);
void seal_tag(const unsigned char key[SEAL_KEY], size_t size, const unsigned char *bytes, unsigned char *tag);

/* In a time that does not depend on where the first difference is. */
int seal_is_right(const unsigned char key[SEAL_KEY], size_t size, const unsigned char *bytes, const unsigned char *tag);

#endif
