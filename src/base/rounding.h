/* How the functions of the C library round. It chooses among several of each by the processor, and its versions differ:
 * in the last bit, of about one result in a thousand. */
#ifndef SVMP_BASE_ROUNDING_H
#define SVMP_BASE_ROUNDING_H

#include <stdint.h>

/* A checksum of all of them that svmp uses, at some thousand points each. Takes about two milliseconds. */
uint64_t svmp_rounding_checksum(void);

#endif
