/* Tables of moments on the terminal. */
#ifndef SVMP_CLI_TABLE_H
#define SVMP_CLI_TABLE_H

#include "svmp.h"

/* The width of a column of the names of these `count` variables, with its heading; `variables` NULL: the first. */
int names_width(const svmp_particles *particles, size_t count, const size_t *variables);

void print_moments_heading(int width);
void print_moments(int width, const char *name, const svmp_moments *moments);

#endif
