/* A UDP socket for IPv6 and IPv4. */
#ifndef SVMP_AGENTS_UDP_SOCKET_H
#define SVMP_AGENTS_UDP_SOCKET_H

#include <sys/socket.h>

#include "swarm_files.h"

typedef struct address {
    struct sockaddr_storage at;
    socklen_t size;
} address;

/* A socket at this port of this machine; -1, with a sentence in `error`. `family`, which is set, is what the addresses
 * of others must be. */
int socket_open(const char *service, int *family, char *error, size_t size);

/* The address of a host; 0, with a sentence in `error`. */
int address_find(const host *of, int family, address *found, char *error, size_t size);

/* The port that a socket has. */
int socket_port(int descriptor);

#endif
