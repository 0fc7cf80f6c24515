#include "table.h"

#include <math.h>
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

/* A blank and the number in `width` columns; "-" for NaN. */
static void print_as(const char *format, int width, double value) {
    char text[64];
    if (isnan(value))
        snprintf(text, sizeof text, "-");
    else
        snprintf(text, sizeof text, format, value); /* one of the constants below */
    printf(" %*s", width, text);
}

void print_number(double value) { print_as("%.4g", 11, value); }

void print_moments_heading(int width, int chains) {
    printf("%-*s  %11s", width, heading, "mean");
    if (chains) printf(" %8s", "MCSE");
    printf(" %11s %11s %11s %11s", "sd", "5%", "50%", "95%");
    if (chains) printf(" %7s %8s %8s", "R-hat", "bulk ESS", "tail ESS");
    putchar('\n');
}

void print_moments(int width, const char *name, const svmp_moments *moments, const svmp_mixing *mixing) {
    printf("%-*s ", width, name);
    print_number(moments->mean);
    if (mixing) print_as("%.2g", 8, mixing->mean_error);
    print_number(moments->sd);
    print_number(moments->q05);
    print_number(moments->q50);
    print_number(moments->q95);
    if (mixing) {
        print_as(mixing->r_hat < 100 ? "%.3f" : "%.3g", 7, mixing->r_hat);
        print_as("%.0f", 8, mixing->bulk_draws);
        print_as("%.0f", 8, mixing->tail_draws);
    }
    putchar('\n');
}
