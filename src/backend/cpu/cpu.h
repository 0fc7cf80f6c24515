/* The backend for this machine's cores: OpenMP over nodes, loops over particles that vectorise. */
#ifndef SVMP_BACKEND_CPU_H
#define SVMP_BACKEND_CPU_H

#include "backend/backend.h"
#include "kernel/unit.h"

/* What one thread needs for a unit. */
typedef struct stein_room {
    const double **rows; /* the particles of the domain's variables */
    double *k;           /* n*n: squared distances, then the kernel matrix */
    double *repulsion;   /* n*n, of shapes whose repulsion is not proportional to k */
    double *pairs;       /* n(n-1)/2 squared distances, for the bandwidth */
    double *column_sum;  /* n: sum over l of the repulsion */
    uint32_t *drawn;     /* the nodes of a random domain */
    double **row;        /* thread of a team -> n numbers */
} stein_room;

typedef struct cpu {
    stein_room *rooms; /* one a thread */
    uint32_t *nodes;   /* 0, 1, 2, ...: the domain `all`, and every `self` a piece of it */
    double *centred;   /* variables * n: x less its mean over particles, for linear terms */
    double *variance;  /* variables: mean square of that */
} cpu;

/* Add a term's phi to the members of a unit, with a team of `threads`; with one, the caller may be one of many at work
 * on units of their own. The bits are the same. */
void svmp_cpu_radial(backend *b, const kernel_term *term, const stein_unit *unit, stein_room *room, int threads);
void svmp_cpu_linear(backend *b, const kernel_term *term, const stein_unit *unit, stein_room *room, int threads);

/* Fills `centred` and `variance`; once an iteration, before svmp_cpu_linear. */
void svmp_cpu_centre(backend *b);

#endif
