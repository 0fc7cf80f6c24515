/* What the particles were before they were moved, and what they are afterwards, variable by variable: moments,
 * quantiles and scores of the start are compared with those of a window of iterations of all particles. */
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
    double between_share; /* the variance of the particles' own means over that of all: 1 where no particle has come to
                           * where the others are, 1/k after k independent draws each; NaN: nothing moves */
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

/* Opens a window of `length` iterations, at least 4; what the last one held is forgotten. */
void svmp_before_after_open(before_after *a, size_t length);

/* Adds the particles of an iteration, their score and what is seen of them. Returns whether the log density is wanted,
 * too: */
int svmp_before_after_add(before_after *a, const double *x, const double *score, const double *views);
void svmp_before_after_add_density(before_after *a, const double *log_density);

/* The tests of all rows, variables and then views, once the window is full. */
void svmp_before_after_close(before_after *a, before_after_row *rows);

/* The same for the log density, `before` of the start; `halves`: the number of variables over two. */
before_after_row svmp_before_after_density(const before_after *a, const double *before, double halves);

/* What ranks are taken from: the particles at the start, n of them; and some states of the window that is full, one
 * after another, svmp_before_after_snapshot_count(n) values in all, NULL: those of this row are not kept. */
const double *svmp_before_after_start(const before_after *a, size_t i);
const double *svmp_before_after_snapshots(const before_after *a, size_t i);
size_t svmp_before_after_snapshot_count(size_t n);

/* Sorts values; how many of the sorted values are below x, where equals count half. */
void svmp_before_after_sort(const double *values, size_t count, double *sorted);
double svmp_before_after_rank(const double *sorted, size_t count, double x);

/* Where a window's particles are: mean and sd of all, for each variable. */
void svmp_before_after_moments(const before_after *a, double *mean, double *sd);

/* The share of particles, at the start and in the states that were kept of the window, of which some variable is
 * farther than `far` from `mean`, in units of `sd`. */
double svmp_before_after_share_beyond(const before_after *a, const double *mean, const double *sd, double far);

/* For each particle the variable whose own mean over the window is farthest from `mean`, in units of `sd`, and how far
 * it is; and its own mean log density. n numbers each. */
void svmp_before_after_find_strays(const before_after *a, const double *mean, const double *sd, size_t *variable,
                                   double *far, double *log_density);

#endif
