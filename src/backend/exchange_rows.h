/* For a part of a model: the backend that wraps a local one and exchanges rows with the processes that have the other
 * parts. */
#ifndef SVMP_BACKEND_EXCHANGE_ROWS_H
#define SVMP_BACKEND_EXCHANGE_ROWS_H

#include "backend/backend.h"

/* Wraps the local backend of a part of a model:
 *
 *     exchange        sends the particles of the boundary
 *     score, stein    process the interior while messages travel, then the boundary
 *     step            moves all nodes, or none if one process fails
 */
svmp_status svmp_exchange_attach(backend *b);
void svmp_exchange_detach(backend *b);

/* Seconds that the backend has spent on communication. */
typedef struct exchange_times {
    double packing, waiting, agreeing; /* packing messages; waiting for messages; agreeing on the outcome of the step */
} exchange_times;

exchange_times svmp_exchange_times(const backend *b);

#endif
