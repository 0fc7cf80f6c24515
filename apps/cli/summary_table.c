#include "summary_table.h"

#include <math.h>
#include <string.h>

#include "front/error_output.h"

static const char heading[] = "variable";

int names_width(const svmp_particles *particles, size_t count, const size_t *variables) {
    size_t width = strlen(heading);
    for (size_t k = 0; k < count; k++) {
        size_t length = strlen(svmp_particles_name(particles, variables ? variables[k] : k));
        if (length > width) width = length;
    }
    return (int)width;
}

/* "-" for NaN. */
static void format_as(const char *format, double value, char *text, size_t size) {
    if (isnan(value))
        snprintf(text, size, "-");
    else
        snprintf(text, size, format, value); /* one of the constants below */
}

void print_number(double value) {
    char text[TABLE_CELL];
    format_as("%.4g", value, text, sizeof text);
    printf(" %11s", text);
}

/* The columns, and those among them that chains alone have. */
static const table_column columns[] = {
    {"mean", 11, 0}, {"MCSE", 8, 1},  {"sd", 11, 0},      {"5%", 11, 0},      {"50%", 11, 0},
    {"95%", 11, 0},  {"R-hat", 7, 1}, {"bulk ESS", 8, 1}, {"tail ESS", 8, 1},
};

size_t table_columns(int chains, table_column chosen[TABLE_COLUMNS]) {
    size_t count = 0;
    for (size_t k = 0; k < TABLE_COLUMNS; k++)
        if (chains || !columns[k].chains) chosen[count++] = columns[k];
    return count;
}

/* Four digits, and of a number far from 0 as many as show two digits of its sd. */
static int digits_of(double value, double sd) {
    enum { FEWEST = 4, MOST = 8 };
    const double orders = sd > 0 && isfinite(value) ? ceil(log10(fabs(value) / sd)) : 0;
    return orders + 2 > FEWEST ? (int)fmin(orders + 2, MOST) : FEWEST;
}

void table_cells(const svmp_moments *moments, const svmp_mixing *mixing, char cells[TABLE_COLUMNS][TABLE_CELL]) {
    static const svmp_mixing none;
    const svmp_mixing *m = mixing ? mixing : &none; /* whose columns are not shown */
    const double values[TABLE_COLUMNS] = {moments->mean, m->error.mean, moments->sd,   moments->q05, moments->q50,
                                          moments->q95,  m->r_hat,      m->bulk_draws, m->tail_draws};
    const char *const formats[TABLE_COLUMNS] = {
        NULL, "%.2g", "%.4g", NULL, NULL, NULL, m->r_hat < 100 ? "%.3f" : "%.3g", "%.0f", "%.0f"};
    size_t count = 0;
    for (size_t k = 0; k < TABLE_COLUMNS; k++)
        if (formats[k] && (mixing || !columns[k].chains))
            format_as(formats[k], values[k], cells[count++], TABLE_CELL);
        else if (formats[k] == NULL)
            snprintf(cells[count++], TABLE_CELL, isnan(values[k]) ? "-" : "%.*g", digits_of(values[k], moments->sd),
                     values[k]);
}

void print_moments_heading(int width, int chains) {
    table_column chosen[TABLE_COLUMNS];
    const size_t count = table_columns(chains, chosen);
    printf("%-*s ", width, heading);
    for (size_t k = 0; k < count; k++) printf(" %*s", chosen[k].width, chosen[k].heading);
    putchar('\n');
}

void print_moments(int width, const char *name, const svmp_moments *moments, const svmp_mixing *mixing) {
    table_column chosen[TABLE_COLUMNS];
    char cells[TABLE_COLUMNS][TABLE_CELL];
    const size_t count = table_columns(mixing != NULL, chosen);
    table_cells(moments, mixing, cells);
    printf("%-*s ", width, name);
    for (size_t k = 0; k < count; k++) printf(" %*s", chosen[k].width, cells[k]);
    putchar('\n');
}

/* How many times the standard deviation is that of a Gaussian with these quantiles; 0 where most values are one. */
static double stretch_of(const svmp_moments *m) {
    const double between = 2 * 1.6448536269514722; /* sds between 5 % and 95 % */
    return m->q95 > m->q05 ? m->sd * between / (m->q95 - m->q05) : 0;
}

void print_strays(const svmp_particles *particles, size_t count, const size_t *variables, const svmp_moments *moments) {
    enum { NAMED = 3 };
    const double many = 3;
    size_t found = 0;
    for (size_t k = 0; k < count; k++) {
        const double stretch = stretch_of(&moments[k]);
        if (!(stretch > many) || found++ >= NAMED) continue;
        printf("%s: the sd is %.2g times what its quantiles suggest; a few values far from the others make up most of "
               "it.\n",
               svmp_particles_name(particles, variables ? variables[k] : k), stretch);
    }
    if (found > NAMED) printf("The same is true of %zu more variable%s.\n", found - NAMED, plural(found - NAMED));
}
