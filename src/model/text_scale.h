/* Variables of nodes that move in other coordinates than their own (lang/coordinates.c), on the unconstrained scale of
 * the model text: what is reported follows from these, whatever moves. */
#ifndef SVMP_MODEL_TEXT_SCALE_H
#define SVMP_MODEL_TEXT_SCALE_H

#include "model/model.h"

typedef struct text_scale text_scale;

/* For n particles. *made is NULL if all nodes move as they are in the text. The model must live as long. */
svmp_status svmp_text_scale_create(const svmp_model *model, size_t n, text_scale **made);
void svmp_text_scale_free(text_scale *t); /* NULL-safe */

/* How many variables move in other coordinates; 0 for NULL. */
size_t svmp_text_scale_rows(const text_scale *t);

/* Their values on the scale of the text, rows*n numbers, from the variables x[i*n + l] of all nodes. */
void svmp_text_scale_find(text_scale *t, const double *x, double *u);

/* The reverse: moves those variables of x to where they have the values u. */
void svmp_text_scale_set(text_scale *t, const double *u, double *x);

#endif
