/* Compares the particles before and after exact moves, variable by variable: moments, quantiles and scores of the start
 * with those of a window of iterations of all particles. */
#ifndef SVMP_VERIFY_BEFORE_AFTER_H
#define SVMP_VERIFY_BEFORE_AFTER_H

#include "base/context.h"

/* The tests of one row; those of the log density and of other modes are not among them. */
typedef enum before_after_test {
    TEST_MEAN,
    TEST_SPREAD,
    TEST_MEDIAN,
    TEST_TAILS,
    TEST_SCORES,
    TEST_SHAPE,
    BEFORE_AFTER_TESTS
} before_after_test;

typedef struct before_after_row {
    double effect[BEFORE_AFTER_TESTS], z[BEFORE_AFTER_TESTS]; /* svmp_drift; NaN: not tested */
    double level;                                             /* TEST_SHAPE: of the quantile that is farthest off */
    double between_share; /* the variance of the particles' own means over that of all: 1 if no particle has mixed with
                             the others, 1/k after k independent draws each; NaN: nothing moves */
} before_after_row;

typedef struct before_after before_after;

/* Rows are `variables` that have scores, then `views` of them that have none (viewed_values.h). */
typedef struct before_after_size {
    size_t variables, views, n;
    int threads;
} before_after_size;

/* `x` and `score`: the particles that are examined, variables * n numbers; `views` has views * n; copied. */
svmp_status svmp_before_after_create(svmp_context *context, const before_after_size *size, const double *x,
                                     const double *score, const double *views, before_after **made);
void svmp_before_after_free(before_after *a); /* NULL-safe */

/* Opens a window of `length` iterations, at least 4; the contents of the last one are discarded. */
void svmp_before_after_open(before_after *a, size_t length);

/* Makes the full window twice as long: it keeps what it has. */
void svmp_before_after_extend(before_after *a);

/* Adds the particles of an iteration, their scores and views. Returns whether the log density is needed, too: */
int svmp_before_after_add(before_after *a, const double *x, const double *score, const double *views);
void svmp_before_after_add_density(before_after *a, const double *log_density);

/* The tests of all rows, variables and then views, once the window is full. */
void svmp_before_after_close(before_after *a, before_after_row *rows);

/* The same for the log density, `before` of the start; `halves`: the number of variables over two. */
before_after_row svmp_before_after_density(const before_after *a, const double *before, double halves);

/* The values for ranks: the n particles at the start; and snapshots of the full window, one after another,
 * svmp_before_after_snapshot_count(n) values in all, NULL if this row has none. */
const double *svmp_before_after_start(const before_after *a, size_t i);
const double *svmp_before_after_snapshots(const before_after *a, size_t i);
size_t svmp_before_after_snapshot_count(size_t n);

/* Sorts values; the number of sorted values below x, with ties counted as half. */
void svmp_before_after_sort(const double *values, size_t count, double *sorted);
double svmp_before_after_rank(const double *sorted, size_t count, double x);

#endif
