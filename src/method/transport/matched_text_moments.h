/* Gives a variable the mean and sd of its average on the scale of the model text, where it moves on another. */
#ifndef SVMP_METHOD_TRANSPORT_MATCHED_TEXT_MOMENTS_H
#define SVMP_METHOD_TRANSPORT_MATCHED_TEXT_MOMENTS_H

#include "method/transport/averages.h"
#include "model/text_scale.h"

/* x: its n particles as they move. They stay as they are where no shift and stretch gives both. */
void svmp_match_text_moments(size_t n, const average *to, const text_row *row, double *x);

#endif
