/* A kernel is a sum of terms, each a weight, a shape, a metric, a domain and a bandwidth rule (docs/kernels.md):
 *
 *     kernel    = term { "+" term }
 *     term      = [ weight "*" ] shape [ "(" bandwidth ")" ] [ "/" metric ] "@" domain
 *     shape     = "rbf" | "imq" | "linear"
 *     metric    = "sd"
 *     domain    = "blanket" | "all" | "self" | "random:" k | "message" | "near" [ ":" k ]
 *     bandwidth = "median" | "median-log" | "median-zeros" | number
 */
#ifndef SVMP_STEIN_KERNEL_H
#define SVMP_STEIN_KERNEL_H

#include "graph/graph.h"
#include "svmp_plugin.h"

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* A shape that is a function f(D) of the squared distance on its domain: dk/dx_i = -r (x_i - x_i') with the repulsion
 * r = -2 f'(D). With h = 0, the limit of narrow kernels, k is 1 where D is 0 and 0 elsewhere, and the repulsion is 0.
 */
typedef struct kernel_shape {
    const char *name;
    svmp_shape kind;

    /* k[m] = f(distance[m]), h > 0; k may be `distance` itself. Finite where the distance is infinite. NULL: not a
     * function of the distance (linear). */
    void (*value)(size_t count, const double *distance, double h, double *k);

    /* The repulsion computed from k: either r = ratio(h) k, or element by element. The other function is NULL. */
    double (*ratio)(double h);
    void (*repulsion)(size_t count, const double *k, double h, double *r);

    /* The curvature c = 4 f''(D) computed from k: d2k / dx_i dx_i' = r - c (x_i - x_i')^2. NULL if `value` is NULL. */
    void (*curvature)(size_t count, const double *k, double h, double *c);
} kernel_shape;

/* The names of shape k, bandwidth rule k and domain k; NULL beyond the last one. */
const char *svmp_kernel_shape_name(size_t k);
const char *svmp_bandwidth_name(size_t k);
const char *svmp_domain_name(size_t k);

extern const kernel_shape svmp_shape_rbf, svmp_shape_imq, svmp_shape_linear;

/* ---- bandwidths -------------------------------------------------------------------------------------------------- */

typedef struct bandwidth {
    enum bandwidth_rule { BANDWIDTH_MEDIAN, BANDWIDTH_MEDIAN_LOG, BANDWIDTH_MEDIAN_ZEROS, BANDWIDTH_FIXED } rule;
    double fixed;
} bandwidth;

svmp_status svmp_bandwidth_parse(svmp_context *context, const char *text, bandwidth *parsed);

/* A rule uses two of the n(n-1)/2 squared distances between different particles, given by rank from the smallest: the
 * lower and the upper middle (SIZE_MAX: a distance of 0). Returns 0 if the rule uses none: h is then
 * svmp_bandwidth_value(b, n, 0, 0). */
int svmp_bandwidth_ranks(const bandwidth *b, size_t n, size_t *lower, size_t *upper);

/* h from the squared distances at those two ranks. */
double svmp_bandwidth_value(const bandwidth *b, size_t n, double lower, double upper);

/* h from all n(n-1)/2 squared distances, in any order; reorders them. A fixed bandwidth ignores them. */
double svmp_bandwidth_choose(const bandwidth *b, size_t n, double *pairs);

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

/* The coordinates that a term uses. METRIC_NONE: the variables x_c as they are. METRIC_SD: z_c = (x_c - m_c)/sd_c, with
 * the particles' mean and standard deviation, both held constant when differentiating: dk/dx_c = (dk/dz_c)/sd_c. In
 * METRIC_SD the shape linear is 1 + sum_c z_c z_c', without a division. A variable in which all particles are equal has
 * z = 0, and k does not depend on it. */
typedef enum kernel_metric { METRIC_NONE, METRIC_SD } kernel_metric;

/* ---- domains ----------------------------------------------------------------------------------------------------- */

/* The domain of a term: the variables that its distances are computed on. Terms are added in this order: a blanket term
 * may be computed with an earlier node that shares the blanket, and the term on all variables comes last. */
typedef enum kernel_domain {
    DOMAIN_BLANKET, /* the closed neighbourhood */
    DOMAIN_SELF,    /* the node */
    DOMAIN_RANDOM,  /* the node and some of its neighbours */
    DOMAIN_MESSAGE, /* the node and its message (near_domain.h) */
    DOMAIN_NEAR,    /* the closed neighbourhood if it is small; for a hub the node, its message and other hubs
                       (near_domain.h) */
    DOMAIN_ALL      /* every variable */
} kernel_domain;

/* Draws a random domain: the node and `neighbours` nodes of its blanket, without replacement (all of them if there are
 * no more), ascending, keyed by (seed, iteration, node). `drawn` has room for neighbours + 1 nodes; returns their
 * number. */
size_t svmp_domain_draw(const svmp_graph *graph, size_t node, size_t neighbours, uint64_t seed, size_t iteration,
                        uint32_t *drawn);

/* ---- the sum ----------------------------------------------------------------------------------------------------- */

typedef struct kernel_term {
    double weight;
    const kernel_shape *shape;
    kernel_metric metric;
    kernel_domain domain;
    size_t neighbours; /* of DOMAIN_RANDOM */
    size_t most; /* of DOMAIN_NEAR: the most variables of a closed neighbourhood that is used as a whole; 0: n/3 */
    bandwidth bandwidth;
} kernel_term;

/* Whether a linear term on all variables is computed from products of particles, which is the case if there are at most
 * as many particles as variables. Otherwise it is computed from moments, and every process needs all particles. */
static inline int svmp_term_multiplies(const kernel_term *term, size_t particles, size_t variables) {
    return term->shape->value == NULL && term->domain == DOMAIN_ALL && particles <= variables;
}

enum { KERNEL_TERMS_MAX = 16 };

typedef struct kernel {
    size_t count;
    kernel_term terms[KERNEL_TERMS_MAX]; /* in the order of their domains, which fixes the order of sums */
} kernel;

/* Whether a term has this metric. */
int svmp_kernel_measures(const kernel *k, kernel_metric metric);

/* `standard`: the bandwidth rule of terms without one. */
svmp_status svmp_kernel_parse(svmp_context *context, const char *text, bandwidth standard, kernel *parsed);

#endif
