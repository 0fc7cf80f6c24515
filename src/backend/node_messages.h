/* Messages to nodes (stein/near_domain.h), of kernels that have terms on `message` or `near`. Of a part of a model, a
 * node's neighbours are its own or in the halo, so that its process has all factors of its message: the bits are those
 * of one process. */
#ifndef SVMP_BACKEND_NODE_MESSAGES_H
#define SVMP_BACKEND_NODE_MESSAGES_H

#include "backend/backend.h"
#include "model/node_evaluator.h"
#include "stein/near_domain.h"

typedef struct messages {
    index_lists hubs[KERNEL_TERMS_MAX]; /* term -> the nodes that its hubs read */
    unsigned char *has_message;         /* own node -> whether it has a message */
    node_evaluator *evaluators[2];      /* for the interior and for the boundary; NULL if there are no messages */
    size_t variables[2];                /* of these nodes */
    double *at; /* own variables * n: the points at which scores are evaluated; only the rows of nodes with a message */
    double *rows; /* own variables * n: the messages t, for the same rows */
} messages;

/* Makes b->messages if a term needs any. Collective for a part of a model. */
svmp_status svmp_messages_create(backend *b, const kernel *k);
void svmp_messages_free(backend *b);

/* Updates the messages that belong to b->span from the current particles: of the interior with the first nodes, of the
 * boundary with the last ones, when the halo has arrived. Does nothing without messages. */
svmp_status svmp_messages_update(backend *b);

/* The same at given particles, for all own nodes. */
svmp_status svmp_messages_at(backend *b, const double *x);

/* The point at which the score of a message is evaluated: all n numbers are the mean of the n numbers x. */
void svmp_message_place(size_t n, const double *x, double *at);

/* T to t, n numbers. */
void svmp_message_standardise(size_t n, double *row);

#endif
