/* The linear-quadratic part of a model, c + b'x - x'Ax/2: all Gaussian factors added up into one sparse matrix. */
#ifndef SVMP_MODEL_QUADRATIC_H
#define SVMP_MODEL_QUADRATIC_H

#include "base/context.h"

typedef struct quadratic_entry {
    uint32_t row, column;
    double value;
} quadratic_entry;

typedef struct quadratic {
    /* While factors are added: their entries as they come. */
    quadratic_entry *entries;
    size_t count, entries_capacity, linear_capacity;
    double constant;

    /* Afterwards: the rows of A with ascending columns, both halves; b. */
    size_t *start;
    uint32_t *column;
    double *value;
    double *linear;
} quadratic;

/* Adds `value` to A[row][column], or to b[row]. */
svmp_status svmp_quadratic_add(svmp_context *context, quadratic *q, uint32_t row, uint32_t column, double value);

/* Makes b long enough for `variables`, the new ones zero. */
svmp_status svmp_quadratic_extend(svmp_context *context, quadratic *q, size_t variables);

/* Sorts the entries into rows and adds up those of one place, in the order they came. Linear time. */
svmp_status svmp_quadratic_finish(svmp_context *context, quadratic *q, size_t variables);

void svmp_quadratic_free(svmp_context *context, quadratic *q);

/* score[l] = b_i - sum_j A_ij x_j[l] for from <= l < to, the terms of the sum in the order of the columns. */
void svmp_quadratic_score(const quadratic *q, size_t i, size_t n, size_t from, size_t to, const double *x,
                          double *score);

#endif
