/* Messages to nodes (stein/hubs.h), of kernels that have terms on `message` or `near`. Of a part of a model, a node's
 * neighbours are its own or in the halo, so that its process has all factors of its message: the bits are those of one
 * process. */
#ifndef SVMP_BACKEND_NODE_MESSAGES_H
#define SVMP_BACKEND_NODE_MESSAGES_H

#include "backend/backend.h"
#include "model/node_evaluator.h"
#include "stein/hubs.h"

typedef struct messages {
    index_lists hubs[KERNEL_TERMS_MAX]; /* term -> what its hubs see */
    unsigned char *has_message;         /* own node -> whether it has a message */
    node_evaluator *evaluators[2];      /* of those of the interior, and of the boundary; NULL: there is none */
    size_t variables[2];                /* that these have */
    double *at;                         /* own variables * n: where the scores are taken; rows of those asked alone */
    double *rows;                       /* own variables * n: the messages t, the same */
} messages;

/* Makes b->messages if a term asks for any. Of a part of a model all processes call it. */
svmp_status svmp_messages_create(backend *b, const kernel *k);
void svmp_messages_free(backend *b);

/* The messages that go with b->span, from the particles as they are: of the interior with the first nodes, of the
 * boundary with the last ones, when the halo is there. Nothing where none are asked for. */
svmp_status svmp_messages_update(backend *b);

/* The same at given particles, of all own nodes. */
svmp_status svmp_messages_at(backend *b, const double *x);

/* Where the score of a message is taken: all n numbers are the mean of x, n numbers. */
void svmp_message_place(size_t n, const double *x, double *at);

/* T to t, n numbers. */
void svmp_message_standardise(size_t n, double *row);

#endif
