/* libFuzzer: any bytes as a particle file in CSV, written by svmp or other programs. */
#define _GNU_SOURCE /* memfd_create */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "svmp_tools.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char path[64];
    svmp_context *context = NULL;
    svmp_particles *particles = NULL;
    size_t count = 0;
    const int file = memfd_create("fuzz.csv", MFD_CLOEXEC);
    if (file < 0) return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (write(file, bytes, size) == (ssize_t)size && svmp_context_create(NULL, &context) == SVMP_OK) {
        (void)svmp_particles_read_count(context, path, &count);
        (void)svmp_particles_read(context, path, &particles);
    }
    svmp_particles_free(particles);
    svmp_context_free(context);
    close(file);
    return 0;
}
