#define _DEFAULT_SOURCE /* AI_V4MAPPED is not in POSIX's base */
#include "udp_socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUEUE = 1 << 20 }; /* bytes that wait while the agent computes */

static int open_family(int family, uint16_t port) {
    const int descriptor = socket(family, SOCK_DGRAM, 0), off = 0, queue = QUEUE;
    struct sockaddr_in six_less = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (descriptor < 0) return -1;
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &queue, sizeof queue);
    if (family == AF_INET6) setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    const int bound = family == AF_INET6 ? bind(descriptor, (const struct sockaddr *)&six, sizeof six)
                                         : bind(descriptor, (const struct sockaddr *)&six_less, sizeof six_less);
    if (bound == 0) return descriptor;
    const int why = errno;
    close(descriptor);
    errno = why;
    return -1;
}

int socket_open(const char *service, int *family, char *error, size_t size) {
    const uint16_t port = (uint16_t)strtoul(service, NULL, 10);
    *family = AF_INET6;
    int descriptor = open_family(AF_INET6, port);
    if (descriptor < 0 && errno != EADDRINUSE && errno != EACCES) /* a machine without IPv6 */
        descriptor = open_family(*family = AF_INET, port);
    if (descriptor < 0 && errno == EADDRINUSE)
        snprintf(error, size, "port %s is in use: does this agent, or another one with this port, run already?",
                 service);
    else if (descriptor < 0)
        snprintf(error, size, "cannot open UDP port %s: %s", service, strerror(errno));
    return descriptor;
}

int address_find(const host *of, int family, address *found, char *error, size_t size) {
    struct addrinfo *list = NULL;
    const struct addrinfo wanted = {
        .ai_family = family, .ai_socktype = SOCK_DGRAM, .ai_flags = family == AF_INET6 ? AI_V4MAPPED | AI_ALL : 0};
    const int wrong = getaddrinfo(of->name, of->service, &wanted, &list);
    if (wrong || list == NULL) {
        snprintf(error, size, "cannot find the host '%s': %s", of->name, gai_strerror(wrong));
        return 0;
    }
    const struct addrinfo *chosen = list;
    for (const struct addrinfo *a = list; family == AF_INET6 && a;
         a = a->ai_next) /* IPv4 where there is one: it works everywhere */
        if (IN6_IS_ADDR_V4MAPPED(&((const struct sockaddr_in6 *)(const void *)a->ai_addr)->sin6_addr)) {
            chosen = a;
            break;
        }
    memcpy(&found->at, chosen->ai_addr, chosen->ai_addrlen);
    found->size = chosen->ai_addrlen;
    freeaddrinfo(list);
    return 1;
}

int socket_port(int descriptor) {
    struct sockaddr_storage at;
    socklen_t size = sizeof at;
    if (getsockname(descriptor, (struct sockaddr *)&at, &size) != 0) return 0;
    return ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)(void *)&at)->sin6_port
                                          : ((struct sockaddr_in *)(void *)&at)->sin_port);
}
