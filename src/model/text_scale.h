/* Variables of nodes that move in other coordinates than their own (lang/compile/moved_coordinates.c), on the
 * unconstrained scale of the model text: what is reported follows from these, whatever moves. */
#ifndef SVMP_MODEL_TEXT_SCALE_H
#define SVMP_MODEL_TEXT_SCALE_H

#include "model/model.h"

typedef struct text_scale text_scale;

/* For n particles. *made is NULL if all nodes move as they are in the text. The model must live as long. */
svmp_status svmp_text_scale_create(const svmp_model *model, size_t n, text_scale **made);
void svmp_text_scale_free(text_scale *t); /* NULL-safe */

/* How many variables move in other coordinates; 0 for NULL. */
size_t svmp_text_scale_rows(const text_scale *t);

/* Row r of these, nodes in an order in which parents come first: on the scale of the text it is
 *
 *     u = origin + width x,     x = x[variable*n + l],
 *
 * with an origin and a width for each of the n particles, which depend on the variables of the parents. */
typedef struct text_row {
    size_t variable;
    double *origin, *width; /* valid until the next call */
} text_row;

text_row svmp_text_scale_row(text_scale *t, size_t r, const double *x);

/* All rows: rows*n values u. */
void svmp_text_scale_find(text_scale *t, const double *x, double *u);

#endif
