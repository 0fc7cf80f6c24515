#define _GNU_SOURCE /* which processors a process may run on */
#include <stdlib.h>

#include "base/team.h"

/* mpirun, or Slurm's srun. */
size_t svmp_processes_launched(void) {
    static const struct {
        const char *size, *mark; /* the size counts where the mark is set */
    } launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"},
                     {"PMI_SIZE", "PMI_SIZE"},
                     {"MPI_LOCALNRANKS", "MPI_LOCALNRANKS"},
                     {"SLURM_STEP_NUM_TASKS", "PMIX_RANK"},
                     {"SLURM_STEP_NUM_TASKS", "PMI_RANK"}};
    for (size_t k = 0; k < sizeof launchers / sizeof *launchers; k++) {
        const char *text = getenv(launchers[k].mark) ? getenv(launchers[k].size) : NULL;
        if (text) return strtoul(text, NULL, 10);
    }
    return 0;
}

#ifndef SVMP_HAVE_MPI

svmp_status svmp_context_join(svmp_context *context) {
    if (context == NULL) return SVMP_BAD_CALL;
    if (svmp_processes_launched() <= 1) return SVMP_OK;
    return svmp_fail(context, SVMP_UNSUPPORTED,
                     "%zu processes were started, but MPI was left out of this build: each would do the whole run.",
                     svmp_processes_launched());
}

#else

#include <mpi.h>
#include <sched.h>
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

/* Between process 0 and another. */
static void send(const team *t, size_t to, size_t size, const void *bytes) {
    for (size_t at = 0; at < size; at += PIECE)
        MPI_Send((const char *)bytes + at, size - at < PIECE ? (int)(size - at) : PIECE, MPI_BYTE, (int)to, 0,
                 all_of(t));
}

static void receive(const team *t, size_t from, size_t size, void *bytes) {
    for (size_t at = 0; at < size; at += PIECE)
        MPI_Recv((char *)bytes + at, size - at < PIECE ? (int)(size - at) : PIECE, MPI_BYTE, (int)from, 0, all_of(t),
                 MPI_STATUS_IGNORE);
}

static void collect(const team *t, size_t size, const void *mine, const size_t *sizes, void *all) {
    char *to = all;
    if (t->rank > 0) send(t, 0, size, mine);
    for (size_t k = 0; t->rank == 0 && k < t->count; to += sizes[k++])
        if (k > 0)
            receive(t, k, sizes[k], to);
        else if (size > 0)
            memcpy(to, mine, size);
}

static void deal(const team *t, size_t size, void *mine, const size_t *sizes, const void *all) {
    const char *from = all;
    if (t->rank > 0) receive(t, 0, size, mine);
    for (size_t k = 0; t->rank == 0 && k < t->count; from += sizes[k++])
        if (k > 0)
            send(t, k, sizes[k], from);
        else if (size > 0)
            memcpy(mine, from, size);
}

static void free_team(svmp_context *context, team *t) {
    mpi_team *own = t->own;
    MPI_Comm_free(&own->all);
    if (own->ours) MPI_Finalize();
    svmp_release(context, own);
    svmp_release(context, t);
}

/* How many processes of this machine, this one included, may run on a processor that this one may run on: all of them,
 * unless the launcher has bound them to different ones. */
static svmp_status count_sharing(svmp_context *context, int *sharing) {
    MPI_Comm near;
    int count, failed;
    cpu_set_t mine, common, *all = NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    MPI_Comm_size(near, &count);
    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) memset(&mine, 0xff, sizeof mine);
    const svmp_status status = SVMP_NEW(context, all, (size_t)count);
    failed = status != SVMP_OK;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!failed) MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, near);
    *sharing = 0;
    for (int k = 0; !failed && k < count; k++) {
        CPU_AND(&common, &mine, &all[k]);
        *sharing += CPU_COUNT(&common) > 0;
    }
    MPI_Comm_free(&near);
    svmp_release(context, all);
    return failed ? SVMP_NO_MEMORY : SVMP_OK;
}

static svmp_status make_team(svmp_context *context, int ours) {
    int rank, count, failed;
    team *made = NULL;
    mpi_team *own = NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    if (count == 1) return SVMP_OK;
    svmp_status status = SVMP_NEW(context, made, 1);
    if (status == SVMP_OK) status = SVMP_NEW(context, own, 1);
    failed = status != SVMP_OK;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (failed || made == NULL || own == NULL || count_sharing(context, &context->sharing) != SVMP_OK) {
        svmp_release(context, made);
        svmp_release(context, own);
        return svmp_fail(context, SVMP_NO_MEMORY, "Out of memory: the processes could not join.");
    }
    own->ours = ours;
    MPI_Comm_dup(MPI_COMM_WORLD, &own->all);
    *made = (team){(size_t)rank, (size_t)count, own, free_team, sum, sum_whole, max, broadcast, gather, collect, deal};
    context->team = made;
    return SVMP_OK;
}

/* Only the thread that joined calls MPI. */
svmp_status svmp_context_join(svmp_context *context) {
    if (context == NULL) return SVMP_BAD_CALL;
    int there = 0, level;
    if (context->team) return svmp_fail(context, SVMP_BAD_CALL, "The context has joined the other processes already.");
    MPI_Initialized(&there);
    if (!there && svmp_processes_launched() <= 1) return SVMP_OK;
    if (!there) MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    svmp_status status = make_team(context, !there);
    if (context->team == NULL && !there) MPI_Finalize();
    return status == SVMP_OK ? svmp_context_compare(context, "the version of svmp", svmp_version()) : status;
}

#endif
