/* Whether Stein's transport has failed. */
#ifndef SVMP_METHOD_TRANSPORT_TRANSPORT_FAILURE_H
#define SVMP_METHOD_TRANSPORT_TRANSPORT_FAILURE_H

#include "method/transport/averages.h"

/* Whether the transport has failed in some variable: its sd is far from the average, as when many more variables than
 * particles share a hub; or its kurtosis exceeds that after the exact moves, as along weakly determined directions such
 * as a level and the sum of the effects around it. `before` are the particles after the exact moves, `most` is the
 * largest allowed ratio between an sd and its average. */
int svmp_transport_failed(const average *rows, size_t variables, size_t n, const double *x, const double *before,
                          double most);

#endif
