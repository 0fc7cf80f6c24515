/* The head of a datagram: little endian, 72 bytes, before the payload and a tag that authenticates both (seal.h).
 *
 * Rounds count from 1. `need` is the first of your rounds that I lack, `first` its first piece that I lack, and bit k
 * of `have` says that I have piece first + 1 + k: an acknowledgement in every datagram, and of messages of any length.
 * `safe` is the first of your rounds that I may ever ask for again: a state file has what is before it. `boot` grows
 * with every start of the sender, `heard` is the newest boot of yours that it has heard of. `every` is the number of
 * rounds between two state files, which must be that of all; 0 while the sender looks for a state that it may have
 * lost, when need, safe and first mean nothing. `stamp` is when this left, `echo` your latest stamp and how long ago I
 * heard it, in microseconds. */
#ifndef SVMP_AGENTS_DATAGRAM_H
#define SVMP_AGENTS_DATAGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "seal.h"

enum {
    DATAGRAM_VERSION = 2,
    DATAGRAM_HEAD = 72,
    DATAGRAM_MOST = 1200, /* never fragmented by IP */
    DATAGRAM_PIECE = DATAGRAM_MOST - DATAGRAM_HEAD - SEAL_NONCE - SEAL_TAG
};

typedef enum datagram_kind {
    DATAGRAM_DATA = 1, /* a piece of the message of a round */
    DATAGRAM_ASK,      /* sent by a timer, and answered; */
    DATAGRAM_TELL,     /* the answer, which is not */
    DATAGRAM_STOP,     /* the sender has failed, and all must stop; the payload is a sentence */
    DATAGRAM_REFUSE,   /* the process of the receiver whose boot is `round` must stop, alone */
    DATAGRAM_KEEP,     /* a piece of the sender's state of `round`, to be kept; lockstep_keep.c */
    DATAGRAM_KEPT,     /* the pieces that have come; all of them: it is on the disk */
    DATAGRAM_WANT,     /* the sender may have lost its state: which pieces have come */
    DATAGRAM_GIVE      /* a piece of the receiver's state; of none: it is not kept here */
} datagram_kind;

typedef struct datagram {
    uint8_t version, kind;
    uint16_t piece, pieces; /* of the message of `round` */
    uint16_t every;
    uint64_t run;
    uint32_t from, to, boot, heard, round, need, safe, first;
    uint64_t have;
    uint32_t stamp, echo, build; /* build: a checksum of version and rounding */
} datagram;

void datagram_write(const datagram *d, unsigned char bytes[DATAGRAM_HEAD]);

/* Returns 0 if these are not the bytes of a datagram of any version. Of another version only `version` is read. */
int datagram_read(const unsigned char *bytes, size_t size, datagram *d);

#endif
