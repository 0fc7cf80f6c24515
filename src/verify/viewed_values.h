/* Quantities that are examined besides the variables that move: the values on the scale of the model text of those that
 * move in other coordinates (model/text_scale.h), natural values that depend on several variables (parts of a simplex
 * or of a matrix, values above an unknown bound), and weighted sums of all variables,
 *
 *     sum over i of w_i y_i,     y_i = (x_i - m_i)/sd_i, at most 5 in size,
 *
 * along which the Gaussian on the graph, with means m and in units of its sds, is longest and shortest, which show
 * common changes and differences of correlated variables that no single variable shows; and the plain sum. The weights
 * do not depend on the particles. */
#ifndef SVMP_VERIFY_VIEWED_VALUES_H
#define SVMP_VERIFY_VIEWED_VALUES_H

#include "model/text_scale.h"
#include "prepare/fitted_gaussian.h"

typedef struct views views;

/* For n particles of a whole model. `q` NULL: no sums. */
svmp_status svmp_views_create(const svmp_model *model, gaussian *q, size_t n, int threads, views **made);
void svmp_views_free(views *v); /* NULL-safe */

size_t svmp_views_count(const views *v); /* 0 for NULL */

/* Fills count*n values of the particles x. */
svmp_status svmp_views_find(views *v, const double *x, double *values);

/* The variable that view k is, on the scale of the text, or as a sum without others; SIZE_MAX: it is a natural value or
 * a sum of several. */
size_t svmp_views_variable(const views *v, size_t k);

/* Writes "b1 - b2", or "x.4 + x.5 + x.3 + ..." with the largest shares for a sum of all variables. */
void svmp_sum_name(const svmp_model *model, const double *share, char *buffer, size_t size);

/* Writes the name of a sum as above, otherwise that of the variable. */
void svmp_views_name(const views *v, size_t k, char *buffer, size_t size);

#endif
