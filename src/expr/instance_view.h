/* A view of instances of a group from one node each: the variables of that node are read from other values than x. */
#ifndef SVMP_EXPR_INSTANCE_VIEW_H
#define SVMP_EXPR_INSTANCE_VIEW_H

#include <stddef.h>
#include <stdint.h>

typedef struct instance_view {
    size_t count;
    const uint32_t *instance; /* the k-th of them is this instance of the group */
    const uint32_t *shift;    /* of the k-th: its node's variable i is row i + shift[k], modulo 2^32, of y */
    const unsigned char *own; /* slot -> whether the node's variables stand there: in all of these instances alike */
    const double *x, *y;      /* rows of n numbers; y NULL: everything is read from x */

    /* NULL, or the row in each slot, slots of the first one, slots of the second one ...: then only `count` and
     * `instance` are read beside it. */
    const double *const *row;
} instance_view;

#endif
