/* Tables of moments: on the terminal, and in the page of a report. */
#ifndef SVMP_CLI_SUMMARY_TABLE_H
#define SVMP_CLI_SUMMARY_TABLE_H

#include "svmp_tools.h"

/* The width of a column of the names of these `count` variables, with its heading; `variables` NULL: the first. */
int names_width(const svmp_particles *particles, size_t count, const size_t *variables);

enum { TABLE_COLUMNS = 9, TABLE_CELL = 64 };

typedef struct table_column {
    const char *heading;
    int width;
    int chains; /* 1: for chains alone */
} table_column;

/* The columns after the name; returns their number. `chains`: including those for chains. */
size_t table_columns(int chains, table_column columns[TABLE_COLUMNS]);

/* The text of their cells; `mixing` NULL: no chains. */
void table_cells(const svmp_moments *moments, const svmp_mixing *mixing, char cells[TABLE_COLUMNS][TABLE_CELL]);

/* `chains`: with the error of the mean, R-hat and the effective draws, which `mixing` holds (or NULL). */
void print_moments_heading(int width, int chains);
void print_moments(int width, const char *name, const svmp_moments *moments, const svmp_mixing *mixing);

/* A line for each of the first few variables whose standard deviation is many times that of their quantiles: strays, or
 * a heavy tail. `variables` NULL: the first `count`. */
void print_strays(const svmp_particles *particles, size_t count, const size_t *variables, const svmp_moments *moments);

/* A number with four digits in a column of 11 after a blank; "-" for NaN. */
void print_number(double value);

#endif
