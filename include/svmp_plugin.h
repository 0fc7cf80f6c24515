/* svmp_plugin.h: what a plug-in and the library share: plain data, and no other header of svmp.
 *
 * A plug-in is a shared library svmp_NAME.so that exports an svmp_plugin_entry_function. The library loads it when a
 * run asks for it: $SVMP_NAME is the path of its file (empty: it is not used); else it is sought in the folder
 * $SVMP_PLUGINS, beside the library, and where the system looks for libraries. It stays loaded until the program ends.
 * Library and plug-in are of one build: another one is refused.
 */
#ifndef SVMP_PLUGIN_H
#define SVMP_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SVMP_PLUGIN_VERSION = 1 };

/* Numbers are never reused. */
typedef enum svmp_plugin_kind { SVMP_PLUGIN_DEVICE = 1, SVMP_PLUGIN_PEERS = 2 } svmp_plugin_kind;

/* What a plug-in may ask of the library; `context` is the first argument of all. */
typedef struct svmp_host {
    void *context;
    void *(*allocate)(void *context, size_t bytes); /* zeroed; NULL, with an error recorded: there is no memory */
    void (*release)(void *context, void *pointer);  /* NULL-safe */
    void (*fail)(void *context, int status, const char *sentence); /* records an error; `status` is an svmp_status */
    void (*log)(void *context, int level, const char *sentence);   /* `level` is an svmp_log_level */
} svmp_host;

/* ---- processes --------------------------------------------------------------------------------------------------- */

/* Rows of `length` numbers that go to neighbours and come from them, again and again: out[k] rows to process rank[k],
 * and in[k] rows from it, one neighbour after the other. */
typedef struct svmp_peer_routes {
    size_t neighbours, length;
    const uint32_t *rank;
    const size_t *out, *in;
} svmp_peer_routes;

typedef struct svmp_peer_line svmp_peer_line; /* what carries these rows; each kind of peers has its own */

/* The processes that work on one model, of which this is process `rank`. A call is made by all of them, in the same
 * order, and gives all the same result, unless stated otherwise. None but `plan` allocates or fails. */
typedef struct svmp_peers svmp_peers;
struct svmp_peers {
    size_t rank, count;
    size_t local, sharing; /* its number among those of its machine; how many may run on the same processors as it */
    void *own;
    void (*leave)(const svmp_peers *peers); /* by each for itself: releases `peers`, too */

    /* In place, item by item. Only integers are summed: sums of reals would depend on the order. */
    void (*sum)(const svmp_peers *peers, size_t count, int64_t *values);
    void (*max)(const svmp_peers *peers, size_t count, double *values);

    void (*broadcast)(const svmp_peers *peers, size_t from, size_t size, void *bytes);

    /* `size` bytes of every process, in their order. */
    void (*gather)(const svmp_peers *peers, size_t size, const void *mine, void *all);

    /* Moves `mine`, `size` bytes here, to or from `all` of process 0, where process k has sizes[k] bytes, in order;
     * `sizes` and `all` are used only there. */
    void (*collect)(const svmp_peers *peers, size_t size, const void *mine, const size_t *sizes, void *all);
    void (*deal)(const svmp_peers *peers, size_t size, void *mine, const size_t *sizes, const void *all);

    /* Makes a line; each process for itself, since it may fail: returns an svmp_status. `routes` are copied. If all
     * have succeeded, `connect` follows. `close` is for each line, connected or not, and for NULL. */
    int (*plan)(const svmp_peers *peers, const svmp_peer_routes *routes, svmp_peer_line **line);
    void (*connect)(svmp_peer_line *line);
    void (*close)(svmp_peer_line *line);

    /* `send` begins round `round`, which is above those before it. `leaving` must not be changed and `arriving` not be
     * read until each neighbour's rows of this round have come. `receive` moves on what is on its way, and waits until
     * something has come if `wait` is set; then round[k] is the round of the rows of neighbour k. It may be an earlier
     * one, where rows can be late or lost: ask again. By each process for itself. */
    void (*send)(svmp_peer_line *line, uint64_t round, const double *leaving, double *arriving);
    void (*receive)(svmp_peer_line *line, uint64_t *round, int wait);
};

/* ---- plug-ins ---------------------------------------------------------------------------------------------------- */

struct svmp_device;

typedef struct svmp_plugin {
    uint32_t version; /* SVMP_PLUGIN_VERSION */
    uint32_t kind;    /* svmp_plugin_kind */
    const char *name; /* as in svmp_NAME.so */
    const size_t *layout;
    size_t layout_count; /* SVMP_PLUGIN_LAYOUT, as compiled */

    /* Whether this machine has what the plug-in is for: 1, with its name in `words`; or 0, with sentences, of which the
     * first one says what is missing. */
    int (*look)(char *words, size_t size);

    const struct svmp_device *const *devices; /* of SVMP_PLUGIN_DEVICE; NULL behind the last one */

    /* Of SVMP_PLUGIN_PEERS: connects this process with the others that the launcher has started, which call it, too;
     * *made is NULL if there are none. `host` and its context outlive what is made. Returns an svmp_status. */
    int (*join)(const svmp_host *host, const svmp_peers **made);
} svmp_plugin;

/* The sizes of what both sides share. */
#define SVMP_PLUGIN_LAYOUT                                                                                             \
    { sizeof(svmp_host), sizeof(svmp_peers), sizeof(svmp_peer_routes), sizeof(svmp_plugin) }

/* What a plug-in exports, under this name. */
typedef const svmp_plugin *(*svmp_plugin_entry_function)(void);
#define SVMP_PLUGIN_ENTRY "svmp_plugin_entry"

#ifdef __cplusplus
}
#endif

#endif
