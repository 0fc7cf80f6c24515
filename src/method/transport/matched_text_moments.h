/* Matches a variable that moves in other coordinates to its average mean and sd on the scale of the model text. */
#ifndef SVMP_METHOD_TRANSPORT_MATCHED_TEXT_MOMENTS_H
#define SVMP_METHOD_TRANSPORT_MATCHED_TEXT_MOMENTS_H

#include "method/transport/averages.h"
#include "model/text_scale.h"

/* x: its n particles, in the coordinates in which they move; unchanged if no shift and scale achieves both. */
void svmp_match_text_moments(size_t n, const average *to, const text_row *row, double *x);

#endif
