/* Peers over MPI: the plug-in svmp_mpi.so, the only file with MPI in it. */
#define _GNU_SOURCE /* which processors a process may run on */
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "svmp.h"
#include "svmp_plugin.h"

typedef struct mpi_peers {
    svmp_peers peers;
    svmp_host host;
    MPI_Comm all;
} mpi_peers;

static const mpi_peers *own_of(const svmp_peers *peers) { return peers->own; }

static MPI_Comm all_of(const svmp_peers *peers) { return own_of(peers)->all; }

static int fail(const svmp_host *host, svmp_status status, const char *sentence) {
    host->fail(host->context, status, sentence);
    return status;
}

static void *allocate(const svmp_host *host, size_t count, size_t size) {
    return host->allocate(host->context, count * size);
}

static void release(const svmp_host *host, void *pointer) { host->release(host->context, pointer); }

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

static void reduce(const svmp_peers *peers, size_t count, size_t size, void *values, MPI_Datatype type, MPI_Op how) {
    for (size_t at = 0; at < count; at += PIECE) {
        const size_t left = count - at;
        MPI_Allreduce(MPI_IN_PLACE, (char *)values + at * size, left < PIECE ? (int)left : PIECE, type, how,
                      all_of(peers));
    }
}

static void sum(const svmp_peers *peers, size_t count, int64_t *values) {
    reduce(peers, count, sizeof *values, values, MPI_INT64_T, MPI_SUM);
}

static void max(const svmp_peers *peers, size_t count, double *values) {
    reduce(peers, count, sizeof *values, values, MPI_DOUBLE, MPI_MAX);
}

static void broadcast(const svmp_peers *peers, size_t from, size_t size, void *bytes) {
    for (size_t at = 0; at < size; at += PIECE) {
        const size_t left = size - at;
        MPI_Bcast((char *)bytes + at, left < PIECE ? (int)left : PIECE, MPI_BYTE, (int)from, all_of(peers));
    }
}

static void gather(const svmp_peers *peers, size_t size, const void *mine, void *all) {
    if (size <= PIECE) {
        MPI_Allgather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, all_of(peers));
        return;
    }
    memcpy((char *)all + peers->rank * size, mine, size);
    for (size_t k = 0; k < peers->count; k++) broadcast(peers, k, size, (char *)all + k * size);
}

/* Between process 0 and another. */
static void send_bytes(const svmp_peers *peers, size_t to, size_t size, const void *bytes) {
    for (size_t at = 0; at < size; at += PIECE)
        MPI_Send((const char *)bytes + at, size - at < PIECE ? (int)(size - at) : PIECE, MPI_BYTE, (int)to, 0,
                 all_of(peers));
}

static void receive_bytes(const svmp_peers *peers, size_t from, size_t size, void *bytes) {
    for (size_t at = 0; at < size; at += PIECE)
        MPI_Recv((char *)bytes + at, size - at < PIECE ? (int)(size - at) : PIECE, MPI_BYTE, (int)from, 0,
                 all_of(peers), MPI_STATUS_IGNORE);
}

static void collect(const svmp_peers *peers, size_t size, const void *mine, const size_t *sizes, void *all) {
    char *to = all;
    if (peers->rank > 0) send_bytes(peers, 0, size, mine);
    for (size_t k = 0; peers->rank == 0 && k < peers->count; to += sizes[k++])
        if (k > 0)
            receive_bytes(peers, k, sizes[k], to);
        else if (size > 0)
            memcpy(to, mine, size);
}

static void deal(const svmp_peers *peers, size_t size, void *mine, const size_t *sizes, const void *all) {
    const char *from = all;
    if (peers->rank > 0) receive_bytes(peers, 0, size, mine);
    for (size_t k = 0; peers->rank == 0 && k < peers->count; from += sizes[k++])
        if (k > 0)
            send_bytes(peers, k, sizes[k], from);
        else if (size > 0)
            memcpy(mine, from, size);
}

/* ---- neighbours -------------------------------------------------------------------------------------------------- */

struct svmp_peer_line {
    const mpi_peers *own;
    size_t neighbours, length;
    MPI_Comm graph; /* a distributed graph: who sends to whom; MPI_COMM_NULL: not connected */
    MPI_Datatype row;
    MPI_Request request;
    uint64_t round;
    int *ranks, *out, *out_at, *in, *in_at; /* of each neighbour: its process, and its rows and where they begin */
};

static void count_rows(size_t neighbours, const size_t *rows, int *count, int *at, size_t *all) {
    *all = 0;
    for (size_t k = 0; k < neighbours; *all += rows[k++]) count[k] = (int)rows[k], at[k] = (int)*all;
}

static int plan(const svmp_peers *peers, const svmp_peer_routes *routes, svmp_peer_line **line) {
    const svmp_host *host = &own_of(peers)->host;
    const size_t neighbours = routes->neighbours;
    size_t out = 0, in = 0;
    char words[200];
    svmp_peer_line *made = *line = allocate(host, 1, sizeof *made);
    if (made == NULL) return SVMP_NO_MEMORY;
    *made = (svmp_peer_line){
        .own = own_of(peers), .neighbours = neighbours, .length = routes->length, .graph = MPI_COMM_NULL};
    made->ranks = allocate(host, 5 * neighbours, sizeof *made->ranks);
    if (made->ranks == NULL) return SVMP_NO_MEMORY;
    made->out = made->ranks + neighbours;
    made->out_at = made->out + neighbours;
    made->in = made->out_at + neighbours;
    made->in_at = made->in + neighbours;
    for (size_t k = 0; k < neighbours; k++) made->ranks[k] = (int)routes->rank[k];
    count_rows(neighbours, routes->out, made->out, made->out_at, &out);
    count_rows(neighbours, routes->in, made->in, made->in_at, &in);
    if (out <= INT_MAX && in <= INT_MAX && routes->length <= INT_MAX) return SVMP_OK;
    snprintf(words, sizeof words,
             "A process would send %zu and receive %zu variables of %zu particles in one exchange; MPI can count at "
             "most %d numbers.",
             out, in, routes->length, INT_MAX);
    return fail(host, SVMP_UNSUPPORTED, words);
}

static void connect(svmp_peer_line *line) {
    const int neighbours = (int)line->neighbours;
    MPI_Dist_graph_create_adjacent(line->own->all, neighbours, line->ranks, line->in, neighbours, line->ranks,
                                   line->out, MPI_INFO_NULL, 0, &line->graph);
    MPI_Type_contiguous((int)line->length, MPI_DOUBLE, &line->row);
    MPI_Type_commit(&line->row);
}

static void close_line(svmp_peer_line *line) {
    if (line == NULL) return;
    const svmp_host *host = &line->own->host;
    if (line->graph != MPI_COMM_NULL && !has_ended()) {
        MPI_Type_free(&line->row);
        MPI_Comm_free(&line->graph);
    }
    release(host, line->ranks);
    release(host, line);
}

static void send(svmp_peer_line *line, uint64_t round, const double *leaving, double *arriving) {
    line->round = round;
    MPI_Ineighbor_alltoallv(leaving, line->out, line->out_at, line->row, arriving, line->in, line->in_at, line->row,
                            line->graph, &line->request);
}

/* The rows of all neighbours come together. */
static void receive(svmp_peer_line *line, uint64_t *round, int wait) {
    int there = 1;
    if (wait)
        MPI_Wait(&line->request, MPI_STATUS_IGNORE);
    else
        MPI_Test(&line->request, &there, MPI_STATUS_IGNORE);
    for (size_t k = 0; there && k < line->neighbours; k++) round[k] = line->round;
}

/* ---- joining and parting ----------------------------------------------------------------------------------------- */

static void leave(const svmp_peers *peers) {
    mpi_peers *own = peers->own;
    const svmp_host host = own->host;
    joined--;
    if (!has_ended()) MPI_Comm_free(&own->all);
    release(&host, own);
}

/* The worst status of all processes: of the others' errors no more is known, before they have joined. */
static int agree_to_join(const svmp_host *host, int mine) {
    int worst = mine;
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (worst == SVMP_OK || mine != SVMP_OK) return mine;
    return fail(host, (svmp_status)worst,
                worst == SVMP_NO_MEMORY ? "Out of memory: the processes cannot join."
                                        : "Another process failed: the processes cannot join.");
}

/* How many processes of this machine, this one included, may run on a processor that this one may run on: all of them,
 * unless the launcher has bound them to different ones. And the number of this one among those of its machine. */
static int count_sharing(const svmp_host *host, size_t *sharing, size_t *local) {
    MPI_Comm near;
    int count, rank;
    cpu_set_t mine, common, *all = NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    MPI_Comm_size(near, &count);
    MPI_Comm_rank(near, &rank);
    *local = (size_t)rank;
    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) memset(&mine, 0xff, sizeof mine);
    all = allocate(host, (size_t)count, sizeof *all);
    const int status = agree_to_join(host, all ? SVMP_OK : SVMP_NO_MEMORY);
    if (status == SVMP_OK) MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, near);
    *sharing = 0;
    for (int k = 0; status == SVMP_OK && k < count; k++) {
        CPU_AND(&common, &mine, &all[k]);
        *sharing += CPU_COUNT(&common) > 0;
    }
    MPI_Comm_free(&near);
    release(host, all);
    return status;
}

/* Only the thread that joined calls MPI, but it is not alone. */
static int check_level(const svmp_host *host) {
    int level;
    MPI_Query_thread(&level);
    if (level >= MPI_THREAD_FUNNELED) return SVMP_OK;
    return fail(host, SVMP_UNSUPPORTED,
                "The processes cannot join: MPI was initialised for single-threaded programs; call MPI_Init_thread "
                "with MPI_THREAD_FUNNELED or higher.");
}

static int start_mpi(const svmp_host *host) {
    int level; /* is looked at later, as that of a program that has started it */
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    if (atexit(end_mpi) == 0) return SVMP_OK;
    return fail(host, SVMP_NO_MEMORY, "Out of memory: cannot register MPI_Finalize to run at exit.");
}

static int join(const svmp_host *host, const svmp_peers **all) {
    int there = 0, rank, count;
    size_t local = 0, sharing = 0;
    mpi_peers *made = NULL;
    *all = NULL;
    if (has_ended())
        return fail(host, SVMP_BAD_CALL,
                    "The processes cannot join: MPI is finalised and cannot be initialised again.");
    MPI_Initialized(&there);
    int status = there ? SVMP_OK : start_mpi(host);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    if (count == 1) return status;
    if (status == SVMP_OK) status = check_level(host);
    if (status == SVMP_OK && (made = allocate(host, 1, sizeof *made)) == NULL) status = SVMP_NO_MEMORY;
    status = agree_to_join(host, status);
    if (status == SVMP_OK) status = count_sharing(host, &sharing, &local);
    if (status != SVMP_OK || made == NULL) return release(host, made), status;
    MPI_Comm_dup(MPI_COMM_WORLD, &made->all);
    made->host = *host;
    made->peers = (svmp_peers){.rank = (size_t)rank,
                               .count = (size_t)count,
                               .local = local,
                               .sharing = sharing,
                               .own = made,
                               .leave = leave,
                               .sum = sum,
                               .max = max,
                               .broadcast = broadcast,
                               .gather = gather,
                               .collect = collect,
                               .deal = deal,
                               .plan = plan,
                               .connect = connect,
                               .close = close_line,
                               .send = send,
                               .receive = receive};
    *all = &made->peers;
    joined++;
    return SVMP_OK;
}

/* ---- the plug-in ------------------------------------------------------------------------------------------------- */

static int look(char *words, size_t size) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    snprintf(words, size, "%.*s", (int)strcspn(version, ",\n"), version);
    return 1;
}

#ifdef SVMP_MPI_INSIDE /* the library: base/plugin.c calls it by this name */
#define svmp_plugin_entry svmp_mpi_plugin_entry
#else
__attribute__((visibility("default")))
#endif
const svmp_plugin *svmp_plugin_entry(void);
const svmp_plugin *svmp_plugin_entry(void) {
    static const svmp_plugin plugin = {
        .version = SVMP_PLUGIN_VERSION, .kind = SVMP_PLUGIN_PEERS, .name = "mpi", .look = look, .join = join};
    return &plugin;
}
