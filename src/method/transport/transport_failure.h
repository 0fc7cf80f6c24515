/* Whether Stein's transport has failed. */
#ifndef SVMP_METHOD_TRANSPORT_TRANSPORT_FAILURE_H
#define SVMP_METHOD_TRANSPORT_TRANSPORT_FAILURE_H

#include "method/transport/averages.h"

/* Whether particles have been led astray in some variable: to an sd that is far from its average, as where many
 * more variables than particles share a hub; or farther out than exact moves left any, as along a direction that the
 * data hardly determine, such as a level and the sum of the effects around it. `before` are the
 * particles that exact moves left, `most` is the largest ratio of an sd and its average. */
int svmp_transport_failed(const average *rows, size_t variables, size_t n, const double *x, const double *before,
                          double most);

#endif
