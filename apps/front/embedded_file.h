/* A file that is part of the program: cmake/embed.cmake wrote it as C when it was built. */
#ifndef SVMP_FRONT_EMBEDDED_FILE_H
#define SVMP_FRONT_EMBEDDED_FILE_H

#include <stddef.h>

typedef struct embedded_file {
    const unsigned char *bytes; /* a zero byte follows them */
    size_t size;
} embedded_file;

#endif
