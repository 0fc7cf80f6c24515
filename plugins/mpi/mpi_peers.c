#define _GNU_SOURCE /* which processors a process may run on */
#include "base/peers.h"

#ifndef SVMP_HAVE_MPI

svmp_status svmp_context_join(svmp_context *context) {
    if (context == NULL) return SVMP_BAD_CALL;
    const size_t processes = svmp_launched().processes;
    if (processes <= 1) return SVMP_OK;
    return svmp_fail(
        context, SVMP_UNSUPPORTED,
        "%zu processes were started, but this build has no MPI support: each of them would do the whole run.",
        processes);
}

#else

#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/libm_rounding.h"

typedef struct mpi_peers {
    svmp_peers peers;
    MPI_Comm all;
} mpi_peers;

static MPI_Comm all_of(const svmp_peers *t) { return ((const mpi_peers *)t->own)->all; }

/* MPI starts once in a process, and ends once: with the program, if it was started here, so that contexts may come and
 * go. A program that has started it may also have ended it while there are still contexts. */
static int has_ended(void) {
    int ended = 0;
    MPI_Finalized(&ended);
    return ended;
}

/* Contexts that have joined, of this process as MPI itself is. A program that ends with one of them leaves the others
 * in the middle of their work (OpenMP's runtime calls exit when it cannot start a thread): MPI would wait for them, and
 * they for it. Without MPI's end the launcher notices, and ends them. */
static int joined;

static void end_mpi(void) {
    if (joined == 0 && !has_ended()) MPI_Finalize();
}

/* MPI counts with int: what is longer goes in pieces. */
enum { PIECE = 1 << 27 };

static void reduce(const svmp_peers *t, size_t count, size_t size, void *values, MPI_Datatype type, MPI_Op how) {
    for (size_t at = 0; at < count; at += PIECE) {
        const size_t left = count - at;
        MPI_Allreduce(MPI_IN_PLACE, (char *)values + at * size, left < PIECE ? (int)left : PIECE, type, how, all_of(t));
    }
}

static void sum(const svmp_peers *t, size_t count, int64_t *values) {
    reduce(t, count, sizeof *values, values, MPI_INT64_T, MPI_SUM);
}

static void max(const svmp_peers *t, size_t count, double *values) {
    reduce(t, count, sizeof *values, values, MPI_DOUBLE, MPI_MAX);
}

static void broadcast(const svmp_peers *t, size_t from, size_t size, void *bytes) {
    for (size_t at = 0; at < size; at += PIECE) {
        const size_t left = size - at;
        MPI_Bcast((char *)bytes + at, left < PIECE ? (int)left : PIECE, MPI_BYTE, (int)from, all_of(t));
    }
}

static void gather(const svmp_peers *t, size_t size, const void *mine, void *all) {
    if (size <= PIECE) {
        MPI_Allgather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, all_of(t));
        return;
    }
    memcpy((char *)all + t->rank * size, mine, size);
    for (size_t k = 0; k < t->count; k++) broadcast(t, k, size, (char *)all + k * size);
}

/* Between process 0 and another. */
static void send(const svmp_peers *t, size_t to, size_t size, const void *bytes) {
    for (size_t at = 0; at < size; at += PIECE)
        MPI_Send((const char *)bytes + at, size - at < PIECE ? (int)(size - at) : PIECE, MPI_BYTE, (int)to, 0,
                 all_of(t));
}

static void receive(const svmp_peers *t, size_t from, size_t size, void *bytes) {
    for (size_t at = 0; at < size; at += PIECE)
        MPI_Recv((char *)bytes + at, size - at < PIECE ? (int)(size - at) : PIECE, MPI_BYTE, (int)from, 0, all_of(t),
                 MPI_STATUS_IGNORE);
}

static void collect(const svmp_peers *t, size_t size, const void *mine, const size_t *sizes, void *all) {
    char *to = all;
    if (t->rank > 0) send(t, 0, size, mine);
    for (size_t k = 0; t->rank == 0 && k < t->count; to += sizes[k++])
        if (k > 0)
            receive(t, k, sizes[k], to);
        else if (size > 0)
            memcpy(to, mine, size);
}

static void deal(const svmp_peers *t, size_t size, void *mine, const size_t *sizes, const void *all) {
    const char *from = all;
    if (t->rank > 0) receive(t, 0, size, mine);
    for (size_t k = 0; t->rank == 0 && k < t->count; from += sizes[k++])
        if (k > 0)
            send(t, k, sizes[k], from);
        else if (size > 0)
            memcpy(mine, from, size);
}

/* ---- neighbours -------------------------------------------------------------------------------------------------- */

struct svmp_peer_line {
    MPI_Comm neighbours; /* a distributed graph: who sends to whom */
    MPI_Datatype row;
    MPI_Request request;
    int *ranks, *out, *out_at, *in, *in_at; /* of each neighbour: its process, and its rows and where they begin */
};

static void count_rows(size_t neighbours, const size_t *rows, int *count, int *at, size_t *all) {
    *all = 0;
    for (size_t k = 0; k < neighbours; *all += rows[k++]) count[k] = (int)rows[k], at[k] = (int)*all;
}

static svmp_status make_line(svmp_context *context, const svmp_peer_routes *routes, svmp_peer_line **line) {
    const size_t neighbours = routes->neighbours;
    size_t out = 0, in = 0;
    SVMP_TRY(SVMP_NEW(context, *line, 1));
    svmp_peer_line *made = *line;
    SVMP_TRY(SVMP_NEW(context, made->ranks, 5 * neighbours));
    made->out = made->ranks + neighbours;
    made->out_at = made->out + neighbours;
    made->in = made->out_at + neighbours;
    made->in_at = made->in + neighbours;
    for (size_t k = 0; k < neighbours; k++) made->ranks[k] = (int)routes->rank[k];
    count_rows(neighbours, routes->out, made->out, made->out_at, &out);
    count_rows(neighbours, routes->in, made->in, made->in_at, &in);
    if (out <= INT_MAX && in <= INT_MAX && routes->length <= INT_MAX) return SVMP_OK;
    return svmp_fail(context, SVMP_UNSUPPORTED,
                     "A process would send %zu and receive %zu variables of %zu particles in one exchange; MPI can "
                     "count at most %d numbers.",
                     out, in, routes->length, INT_MAX);
}

static void release_line(svmp_context *context, svmp_peer_line *line) {
    if (line) svmp_release(context, line->ranks);
    svmp_release(context, line);
}

static svmp_status connect(svmp_context *context, const svmp_peers *t, const svmp_peer_routes *routes,
                           svmp_peer_line **line) {
    const int neighbours = (int)routes->neighbours;
    svmp_peer_line *made = NULL;
    const svmp_status status = svmp_agree(context, t, make_line(context, routes, &made));
    if (status != SVMP_OK) return release_line(context, made), status;
    MPI_Dist_graph_create_adjacent(all_of(t), neighbours, made->ranks, made->in, neighbours, made->ranks, made->out,
                                   MPI_INFO_NULL, 0, &made->neighbours);
    MPI_Type_contiguous((int)routes->length, MPI_DOUBLE, &made->row);
    MPI_Type_commit(&made->row);
    *line = made;
    return SVMP_OK;
}

static void disconnect(svmp_context *context, svmp_peer_line *line) {
    if (!has_ended()) {
        MPI_Type_free(&line->row);
        MPI_Comm_free(&line->neighbours);
    }
    release_line(context, line);
}

static void depart(const svmp_peers *t, svmp_peer_line *line, const double *leaving, double *arriving) {
    (void)t;
    MPI_Ineighbor_alltoallv(leaving, line->out, line->out_at, line->row, arriving, line->in, line->in_at, line->row,
                            line->neighbours, &line->request);
}

static bool arrived(const svmp_peers *t, svmp_peer_line *line, bool wait) {
    int there = 1;
    (void)t;
    if (wait)
        MPI_Wait(&line->request, MPI_STATUS_IGNORE);
    else
        MPI_Test(&line->request, &there, MPI_STATUS_IGNORE);
    return there;
}

/* ---- joining and parting ----------------------------------------------------------------------------------------- */

static void free_peers(svmp_context *context, const svmp_peers *t) {
    joined--;
    mpi_peers *own = t->own;
    if (!has_ended()) MPI_Comm_free(&own->all);
    svmp_release(context, own);
}

/* The worst status of all processes: of the others' errors no more is known, before they have joined. */
static svmp_status agree_to_join(svmp_context *context, svmp_status mine) {
    int worst = (int)mine;
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (worst == SVMP_OK || mine != SVMP_OK) return mine;
    return svmp_fail(context, (svmp_status)worst, "%s: the processes cannot join.",
                     worst == SVMP_NO_MEMORY ? "Out of memory" : "Another process failed");
}

/* How many processes of this machine, this one included, may run on a processor that this one may run on: all of them,
 * unless the launcher has bound them to different ones. And the number of this one among those of its machine. */
static svmp_status count_sharing(svmp_context *context, int *sharing, int *local) {
    MPI_Comm near;
    int count;
    cpu_set_t mine, common, *all = NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    MPI_Comm_size(near, &count);
    MPI_Comm_rank(near, local);
    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) memset(&mine, 0xff, sizeof mine);
    const svmp_status status = agree_to_join(context, SVMP_NEW(context, all, (size_t)count));
    if (status == SVMP_OK) MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, near);
    *sharing = 0;
    for (int k = 0; status == SVMP_OK && k < count; k++) {
        CPU_AND(&common, &mine, &all[k]);
        *sharing += CPU_COUNT(&common) > 0;
    }
    MPI_Comm_free(&near);
    svmp_release(context, all);
    return status;
}

/* Each would do the whole run, and write the same files. */
static svmp_status refuse_strangers(svmp_context *context) {
    const svmp_launch launch = svmp_launched();
    if (!launch.connects)
        return svmp_fail(context, SVMP_UNSUPPORTED,
                         "srun started %zu tasks without MPI, so each of them would do the whole run. Use srun "
                         "--mpi=pmix; for independent runs, unset SLURM_STEP_NUM_TASKS.",
                         launch.processes);
    return svmp_fail(context, SVMP_UNSUPPORTED,
                     "%s started %zu processes, but each is alone in MPI and would do the whole run. Use the launcher "
                     "of the MPI that svmp was built with.",
                     launch.name, launch.processes);
}

/* Only the thread that joined calls MPI, but it is not alone. */
static svmp_status check_level(svmp_context *context) {
    int level;
    MPI_Query_thread(&level);
    if (level >= MPI_THREAD_FUNNELED) return SVMP_OK;
    return svmp_fail(context, SVMP_UNSUPPORTED,
                     "The processes cannot join: MPI was initialised for single-threaded programs; call "
                     "MPI_Init_thread with MPI_THREAD_FUNNELED or higher.");
}

/* `started`: whether this process has come so far. */
static svmp_status join_all(svmp_context *context, svmp_status started) {
    int rank, count, local = 0;
    mpi_peers *made = NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    if (count == 1) return started == SVMP_OK && svmp_launched().processes > 1 ? refuse_strangers(context) : started;
    svmp_status status = started == SVMP_OK ? check_level(context) : started;
    if (status == SVMP_OK) status = SVMP_NEW(context, made, 1);
    status = agree_to_join(context, status);
    if (status == SVMP_OK) status = count_sharing(context, &context->sharing, &local);
    if (status != SVMP_OK || made == NULL) return svmp_release(context, made), status;
    MPI_Comm_dup(MPI_COMM_WORLD, &made->all);
    made->peers = (svmp_peers){.rank = (size_t)rank,
                               .count = (size_t)count,
                               .local = (size_t)local,
                               .own = made,
                               .free = free_peers,
                               .sum = sum,
                               .max = max,
                               .broadcast = broadcast,
                               .gather = gather,
                               .collect = collect,
                               .deal = deal,
                               .connect = connect,
                               .disconnect = disconnect,
                               .depart = depart,
                               .arrived = arrived};
    context->peers = &made->peers;
    joined++;
    return SVMP_OK;
}

/* The result would have the bits of no process alone, and the next run others, as nodes go elsewhere. */
static svmp_status compare_rounding(svmp_context *context) {
    char words[80];
    snprintf(words, sizeof words, "checksum %016llx of exp, log and other functions",
             (unsigned long long)svmp_rounding_checksum());
    return svmp_context_compare(context, "the rounding of the C library", words);
}

static svmp_status start_mpi(svmp_context *context) {
    int level; /* is looked at later, as that of a program that has started it */
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    if (atexit(end_mpi) == 0) return SVMP_OK;
    return svmp_fail(context, SVMP_NO_MEMORY, "Out of memory: cannot register MPI_Finalize to run at exit.");
}

svmp_status svmp_context_join(svmp_context *context) {
    if (context == NULL) return SVMP_BAD_CALL;
    int there = 0;
    if (context->peers->count > 1)
        return svmp_fail(context, SVMP_BAD_CALL, "The context has already joined the other processes.");
    if (has_ended())
        return svmp_fail(context, SVMP_BAD_CALL,
                         "The processes cannot join: MPI is finalised and cannot be initialised again.");
    MPI_Initialized(&there);
    if (!there && svmp_launched().processes <= 1) return SVMP_OK;
    if (!there && !svmp_launched().connects) return refuse_strangers(context);
    SVMP_TRY(join_all(context, there ? SVMP_OK : start_mpi(context)));
    if (context->peers->count == 1) return SVMP_OK;
    SVMP_TRY(svmp_context_compare(context, "the version of svmp", svmp_version()));
    return compare_rounding(context);
}

#endif
