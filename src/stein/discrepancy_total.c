/* From the sums of each variable to the discrepancy of its node and of the whole model. */
#include <math.h>

#include "base/exact_sum.h"
#include "base/peers.h"
#include "maths/test_limits.h"
#include "stein/discrepancy.h"

/* The larger |z| of two identities of Stein, which hold for exact draws whatever the kernel: E[s] = 0 and E[s z] = -1.
 * Particles that are too wide have E[s z] < -1, too narrow ones E[s z] > -1. The variance of s z is computed from
 * second moments as for Gaussians, E[s^2] E[z^2] + E[s z]^2: fourth moments of few particles are noisy, and small when
 * the particles happen to be narrow. */
static double moment_z(size_t n, const svmp_stein_moments *sums) {
    const double count = (double)n, mean = sums->score / count, square = sums->square / count;
    const double spread = square - mean * mean, product = sums->product / count, variance = sums->variance / count;
    if (n < 2 || !(variance > 0)) return NAN;
    const double shifted = svmp_normal_z(mean * mean / (spread / (count - 1)), count - 1);
    const double scaled = fabs(product + 1) / sqrt((square * variance + 1) / count);
    return fmax(shifted, scaled);
}

/* kappa(x, x') is the inner product of the features of x and x' in a Hilbert space, and V the squared norm of their
 * mean. For n exact draws its expectation is trace/n. */
static svmp_discrepancy describe(size_t n, svmp_stein_sums sums, size_t nodes) {
    const double count = (double)n, eigenvalues = svmp_stein_trace(n, sums);
    svmp_discrepancy d = {.u = NAN, .v = sums.pairs / count / count, .ratio = NAN, .limit = NAN};
    if (n < 2) return d;
    d.u = (sums.pairs - sums.diagonal) / count / (count - 1);
    if (eigenvalues > 0)
        d.ratio = d.v * count / eigenvalues;
    else if (d.v > 0)
        d.ratio = INFINITY;
    d.limit = svmp_ratio_limit(n, eigenvalues, sums.spread, nodes);
    return d;
}

/* The sum over all nodes of all processes, without rounding, so that it does not depend on which process has which
 * node. */
enum { PAIRS, DIAGONAL, SPREAD, BANDWIDTH, TOTALS };

static void add_exactly(exact_sum *to, svmp_stein_sums sums, double h) {
    svmp_exact_add(&to[PAIRS], sums.pairs);
    svmp_exact_add(&to[DIAGONAL], sums.diagonal);
    svmp_exact_add(&to[SPREAD], sums.spread);
    svmp_exact_add(&to[BANDWIDTH], h);
}

void svmp_stein_finish(const svmp_graph *graph, size_t n, const svmp_stein_measure *measured, svmp_discrepancy *total,
                       svmp_discrepancy *nodes) {
    const svmp_peers *peers = graph->peers;
    const double limit = n > 1 ? svmp_difference_limit(2 * graph->whole_variables) : NAN;
    exact_sum whole[TOTALS] = {0};
    double largest = -1; /* of the nonnegative values; -1: there is none */
    for (size_t v = 0; v < graph->moved; v++) {
        svmp_stein_sums node = {0};
        double z = NAN;
        const double h = measured[graph->first[v]].bandwidth;
        for (size_t i = graph->first[v]; i < graph->first[v + 1]; i++) {
            node.pairs += measured[i].sums.pairs;
            node.diagonal += measured[i].sums.diagonal;
            node.spread += measured[i].sums.spread;
            z = fmax(z, moment_z(n, &measured[i].moments));
        }
        if (nodes) nodes[v] = describe(n, node, graph->whole_nodes);
        if (nodes) nodes[v].moment_z = z, nodes[v].moment_limit = limit, nodes[v].bandwidth = h;
        add_exactly(whole, node, h);
        largest = fmax(largest, z);
    }
    peers->max(peers, 1, &largest);
    svmp_peers_sum_exactly(peers, TOTALS, whole);
    const svmp_stein_sums sums = {svmp_exact_value(&whole[PAIRS]), svmp_exact_value(&whole[DIAGONAL]),
                                  svmp_exact_value(&whole[SPREAD])};
    *total = describe(n, sums, 1);
    total->moment_z = largest < 0 ? NAN : largest;
    total->moment_limit = limit;
    total->bandwidth = svmp_exact_value(&whole[BANDWIDTH]) / (double)graph->whole_nodes;
}
