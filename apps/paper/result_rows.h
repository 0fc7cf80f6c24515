/* Measurements: the rows of the CSV files that claims and pictures are made of. */
#ifndef SVMP_PAPER_RESULT_ROWS_H
#define SVMP_PAPER_RESULT_ROWS_H

#include <stddef.h>

typedef struct measurement {
    size_t trial;
    char series[16]; /* what the figure varies besides x: "d=10", a start; or "" */
    char method[16];
    char step[32];
    double x; /* the axis: particles, or a radius */
    char metric[16];
    double value;
} measurement;

typedef struct results {
    measurement *rows;
    size_t count, capacity;
} results;

/* Returns 0, or an exit status when memory is out, which it says. */
int results_add(results *r, measurement row);
void results_free(results *r);

/* CSV with a header; `comment` is a first line after "# ", or NULL. Text that the caller frees; NULL: no memory. */
char *results_text(const results *r, const char *comment, size_t *size);

/* Reads such a file. 1: read; 0: it is not there, has another comment, is none of ours or not whole. */
int results_read(const char *path, const char *comment, results *r);

/* The value of a trial, NaN when there is none. */
double results_value(const results *r, size_t trial, const char *series, const char *method, double x,
                     const char *metric);

/* How many trials there are: the highest number and one. */
size_t results_trials(const results *r);

/* The summary: mean, standard error and count of each (series, method, x, metric); of log10, but for shares and
 * variances. */
char *results_summary(const results *r, size_t *size);

#endif
