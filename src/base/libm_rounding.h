/* Rounding of the C library's functions. The library selects an implementation by processor, and versions differ: about
 * one result in a thousand has another last bit. */
#ifndef SVMP_BASE_LIBM_ROUNDING_H
#define SVMP_BASE_LIBM_ROUNDING_H

#include <stdint.h>

/* A checksum of all functions that svmp uses, at some thousand points each. Takes about two milliseconds. */
uint64_t svmp_rounding_checksum(void);

#endif
