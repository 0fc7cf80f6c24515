#include "table.h"

#include <string.h>

static const char heading[] = "variable";

int names_width(const svmp_particles *particles, size_t count, const size_t *variables) {
    size_t width = strlen(heading);
    for (size_t k = 0; k < count; k++) {
        size_t length = strlen(svmp_particles_name(particles, variables ? variables[k] : k));
        if (length > width) width = length;
    }
    return (int)width;
}

void print_moments_heading(int width) {
    printf("%-*s  %11s %11s %11s %11s %11s\n", width, heading, "mean", "sd", "5%", "50%", "95%");
}

void print_moments(int width, const char *name, const svmp_moments *moments) {
    printf("%-*s  %11.4g %11.4g %11.4g %11.4g %11.4g\n", width, name, moments->mean, moments->sd, moments->q05,
           moments->q50, moments->q95);
}
