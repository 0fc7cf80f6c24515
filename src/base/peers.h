/* The processes that work on one model: svmp_peers of svmp_plugin.h, which a plug-in makes. A context is
 * never without peers, nor is a graph: alone they are svmp_alone. A context that has joined others may have whole
 * models, too: what is done with a model concerns the peers of its graph. */
#ifndef SVMP_BASE_PEERS_H
#define SVMP_BASE_PEERS_H

#include <stdbool.h>

#include "base/context.h"
#include "base/exact_sum.h"
#include "svmp_parallel.h"
#include "svmp_plugin.h"

static inline svmp_launch svmp_launched(void) {
    svmp_launch launch;
    svmp_launch_read(&launch);
    return launch;
}

/* What to do about a launcher that does not connect the processes that it has started; "" if it does. */
const char *svmp_launch_advice(void);

/* One process, count 1: these functions do nothing, or copy what is this process's own. */
extern const svmp_peers svmp_alone;

/* The status of the first process that failed, with its error on all of them; alone: `status`. */
svmp_status svmp_peers_agree(svmp_context *context, const svmp_peers *peers, svmp_status status);

/* The same, inline, so that analysers, which see one file at a time, know that a failed status is not lost. */
static inline svmp_status svmp_agree(svmp_context *context, const svmp_peers *peers, svmp_status status) {
    const svmp_status all = svmp_peers_agree(context, peers, status);
    return all == SVMP_OK ? status : all;
}

/* svmp_context_any. */
unsigned svmp_peers_any(const svmp_peers *peers, unsigned bits);

/* Sums without rounding, one after another. */
void svmp_peers_sum_exactly(const svmp_peers *peers, size_t count, exact_sum *sums);

/* Whether all processes have the same number, such as a checksum. Allocates nothing. */
bool svmp_peers_have_one(const svmp_peers *peers, uint64_t number);

/* svmp_context_compare of a file, by its size and a checksum: "the {what} 'PATH'". */
svmp_status svmp_peers_compare_file(svmp_context *context, const char *what, const char *path);

#endif
