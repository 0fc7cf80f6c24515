/* Several processes: a team of those that mpirun started, and the backend that stands before a local one to bring it
 * the halo. A build without MPI has both, and they do nothing. */
#ifndef SVMP_BACKEND_MPI_H
#define SVMP_BACKEND_MPI_H

#include "backend/backend.h"

/* Puts `mpi` before the local backend of a part of a model:
 *
 *     exchange        the boundary's particles leave
 *     score, stein    of the interior, while they travel; then of the boundary
 *     step            moves all, or where one process fails none
 */
svmp_status svmp_mpi_attach(backend *b);
void svmp_mpi_detach(backend *b);

/* Values of variables, one number each: those of the halo arrive from the processes that own them. All processes that
 * have parts call it; of a whole graph there is nothing to do. */
svmp_status svmp_mpi_bring(const svmp_graph *graph, double *values);

/* Seconds since the backend was made, by what they went to. */
typedef struct mpi_times {
    double packing, waiting, agreeing; /* messages; for them; on how the step went */
} mpi_times;

mpi_times svmp_mpi_times(const backend *b);

#endif
