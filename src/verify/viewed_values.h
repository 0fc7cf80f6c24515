/* What is looked at besides the variables that move: the values on the scale of the model text of those that move in
 * other coordinates (model/text_scale.h), natural values that depend on several variables (parts of a simplex or of a
 * matrix, values above an unknown bound), and weighted sums of all variables,
 *
 *     sum over i of w_i y_i,     y_i = (x_i - m_i)/sd_i, at most 5 in size,
 *
 * along which the Gaussian on the graph, of means m and in units of its sds, is longest and shortest: what variables
 * that move together do in common, and their differences, which no single variable shows; and the plain sum. The
 * weights owe nothing to the particles. */
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

/* "b1 - b2", "x.4 + x.5 + x.3 + ..." for a sum of all variables by their shares: those with the largest. */
void svmp_sum_name(const svmp_model *model, const double *share, char *buffer, size_t size);

/* That of a sum; the variable's name otherwise. */
void svmp_views_name(const views *v, size_t k, char *buffer, size_t size);

#endif
