#include <stdlib.h>

#include "base/team.h"

/* How many processes the launcher says that there are, mpirun or Slurm's srun; 0: no launcher. */
static long launched(void) {
    static const struct {
        const char *size, *mark; /* the size counts where the mark is set */
    } launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"},
                     {"PMI_SIZE", "PMI_SIZE"},
                     {"MPI_LOCALNRANKS", "MPI_LOCALNRANKS"},
                     {"SLURM_STEP_NUM_TASKS", "PMIX_RANK"},
                     {"SLURM_STEP_NUM_TASKS", "PMI_RANK"}};
    for (size_t k = 0; k < sizeof launchers / sizeof *launchers; k++) {
        const char *text = getenv(launchers[k].mark) ? getenv(launchers[k].size) : NULL;
        if (text) return strtol(text, NULL, 10);
    }
    return 0;
}

#ifndef SVMP_HAVE_MPI

svmp_status svmp_context_join(svmp_context *context) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (launched() <= 1) return SVMP_OK;
    return svmp_fail(context, SVMP_UNSUPPORTED,
                     "%ld processes were started, but MPI was left out of this build: each would do the whole run.",
                     launched());
}

#else

#include <limits.h>
#include <mpi.h>
#include <string.h>

/* The team's communicator, and whether MPI ends with it. */
typedef struct mpi_team {
    MPI_Comm all;
    int ours;
} mpi_team;

static MPI_Comm all_of(const team *t) { return ((const mpi_team *)t->own)->all; }

/* MPI counts with int: what is longer goes in pieces. */
enum { PIECE = 1 << 27 };

static void reduce(const team *t, size_t count, size_t size, void *values, MPI_Datatype type, MPI_Op how) {
    for (size_t at = 0; at < count; at += PIECE) {
        const size_t left = count - at;
        MPI_Allreduce(MPI_IN_PLACE, (char *)values + at * size, left < PIECE ? (int)left : PIECE, type, how, all_of(t));
    }
}

static void sum(const team *t, size_t count, double *values) {
    reduce(t, count, sizeof *values, values, MPI_DOUBLE, MPI_SUM);
}

static void sum_whole(const team *t, size_t count, int64_t *values) {
    reduce(t, count, sizeof *values, values, MPI_INT64_T, MPI_SUM);
}

static void max(const team *t, size_t count, double *values) {
    reduce(t, count, sizeof *values, values, MPI_DOUBLE, MPI_MAX);
}

static void broadcast(const team *t, size_t from, size_t size, void *bytes) {
    for (size_t at = 0; at < size; at += PIECE) {
        const size_t left = size - at;
        MPI_Bcast((char *)bytes + at, left < PIECE ? (int)left : PIECE, MPI_BYTE, (int)from, all_of(t));
    }
}

static void gather(const team *t, size_t size, const void *mine, void *all) {
    MPI_Allgather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, all_of(t));
}

/* Counts and places as MPI takes them, behind the team itself. */
static const int *places(const team *t, const size_t *sizes, int **counts) {
    int *made = (int *)((mpi_team *)t->own + 1), at = 0;
    for (size_t k = 0; k < t->count; k++) {
        made[k] = (int)sizes[k];
        made[t->count + k] = at;
        at += made[k];
    }
    *counts = made;
    return made + t->count;
}

static void collect(const team *t, size_t size, const void *mine, const size_t *sizes, void *all) {
    int *counts = NULL;
    const int *displacements = t->rank == 0 ? places(t, sizes, &counts) : NULL;
    MPI_Gatherv(mine, (int)size, MPI_BYTE, all, counts, displacements, MPI_BYTE, 0, all_of(t));
}

static void deal(const team *t, size_t size, void *mine, const size_t *sizes, const void *all) {
    int *counts = NULL;
    const int *displacements = t->rank == 0 ? places(t, sizes, &counts) : NULL;
    MPI_Scatterv(all, counts, displacements, MPI_BYTE, mine, (int)size, MPI_BYTE, 0, all_of(t));
}

static void free_team(svmp_context *context, team *t) {
    mpi_team *own = t->own;
    MPI_Comm_free(&own->all);
    if (own->ours) MPI_Finalize();
    svmp_release(context, own);
    svmp_release(context, t);
}

static svmp_status make_team(svmp_context *context, size_t rank, size_t count, int ours) {
    team *made = NULL;
    mpi_team *own = NULL;
    SVMP_TRY(SVMP_NEW(context, made, 1));
    svmp_status status = svmp_allocate(context, 1, sizeof *own + 2 * count * sizeof(int), (void **)&own);
    if (status != SVMP_OK) {
        svmp_release(context, made);
        return status;
    }
    own->ours = ours;
    MPI_Comm_dup(MPI_COMM_WORLD, &own->all);
    *made = (team){rank, count, own, free_team, sum, sum_whole, max, broadcast, gather, collect, deal};
    context->team = made;
    return SVMP_OK;
}

/* Only the thread that joined calls MPI. */
svmp_status svmp_context_join(svmp_context *context) {
    if (context == NULL) return SVMP_BAD_CALL;
    int there = 0, rank, count, level;
    if (context->team) return svmp_fail(context, SVMP_BAD_CALL, "The context has joined the other processes already.");
    MPI_Initialized(&there);
    if (!there && launched() <= 1) return SVMP_OK;
    if (!there) MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    svmp_status status = count > 1 ? make_team(context, (size_t)rank, (size_t)count, !there) : SVMP_OK;
    if (status == SVMP_OK) status = svmp_team_compare(context, "the version of svmp", svmp_version());
    if (context->team == NULL && !there) MPI_Finalize();
    return status;
}

#endif
