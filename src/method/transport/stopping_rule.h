/* When the moves of the method transport end. The averages are inspected after 25 and 75 iterations, while steps adapt,
 * then after 100 and 125, and after every quarter more. From iteration 125 on the moves end when the averages are
 * accurate, or fair and no longer improving, as the sd of a variable with heavy tails. */
#ifndef SVMP_METHOD_TRANSPORT_STOPPING_RULE_H
#define SVMP_METHOD_TRANSPORT_STOPPING_RULE_H

#include "base/archive.h"
#include "method/transport/transport_constants.h"

typedef struct stopping_rule {
    double precision;             /* the standard error that is wanted, in sd */
    size_t inspections, next;     /* of the averages: the number so far, and the iteration of the next one */
    size_t converged;             /* at the last inspection */
    double convergence[LOOKBACK]; /* at the last inspections, the last one first; INFINITY if they had not converged */
    double error, ratio; /* the largest standard error, and its ratio to that of the inspection before; 0: unknown */
} stopping_rule;

/* What an inspection finds: the largest standard error in units of the sd, the ratios of the averages to small and to
 * fair limits (transport_convergence.h), and whether the chains have mixed. */
typedef struct inspection {
    double error, small, fair;
    int mixed;
} inspection;

typedef enum moves_end { MOVES_CONTINUE, MOVES_CONVERGED, MOVES_AT_LIMIT } moves_end;

stopping_rule svmp_stopping_rule(double precision);

/* After `passed` of at most `limit` iterations of moves and transport. */
moves_end svmp_stopping_inspect(stopping_rule *rule, size_t passed, size_t limit, const inspection *found);

/* Whether there can be another inspection before the limit. */
int svmp_stopping_has_time(const stopping_rule *rule, size_t limit);

/* The iteration at which moves of `particles` chains and the transport are expected to end. */
size_t svmp_stopping_expect(const stopping_rule *rule, size_t passed, size_t limit, size_t particles);

svmp_status svmp_stopping_state(stopping_rule *rule, archive *a);

#endif
