/* The Stein kernel of variable i between two particles, s and s' its scores and u = x_i - x_i':
 *
 *     kappa = s s' k + s dk/dx_i' + s' dk/dx_i + d2k/dx_i dx_i'
 *
 *     k = f(D)                      s s' k + r u (s - s') + r - c u^2,     r = -2 f'(D), c = 4 f''(D)
 *         rbf: exp(-D/h)            r = 2k/h,  c = 4k/h^2
 *         imq: (1 + D/h)^(-1/2)     r = k^3/h, c = 3k^5/h^2
 *     k = 1 + sum_j z_j z_j'/v      s s' k + (s z_i + s' z_i' + 1)/v,      mean and v held constant
 *
 * With h = 0 or v = 0 only s s' k is left, as in the velocities. A node's kappa is the sum over its variables and the
 * weighted sum over the terms of the kernel. The mean of kappa over all pairs is V, over pairs of different particles
 * U.
 */
#include "diag/ksd.h"

#include <math.h>
#include <string.h>

#include "base/exact.h"
#include "base/team.h"
#include "base/thread.h"
#include "base/vector.h"
#include "kernel/unit.h"

/* What one thread needs for a unit. The triangles hold the pairs l < m, row after row: (0,1), (0,2), ..., (1,2), ... */
typedef struct ksd_room {
    const double **rows; /* the particles of the domain's variables */
    uint32_t *drawn;     /* the nodes of a random domain */
    double *k, *r, *c;   /* triangles: kernel, repulsion, curvature */
    double k0, r0;       /* the first two between a particle and itself */
    double **row, **sum; /* thread of a team -> n numbers: kappa of a row, and its sums over the other particle */
} ksd_room;

/* Sums of kappa: over all n^2 pairs, over the n of a particle and itself, and a bound on the root mean square of the
 * centred kappa between different particles. Sums of terms add up, the bound by the triangle inequality. */
typedef struct stein_sums {
    double pairs, diagonal, spread;
} stein_sums;

static void add_sums(stein_sums *to, double weight, stein_sums sums) {
    to->pairs += weight * sums.pairs;
    to->diagonal += weight * sums.diagonal;
    to->spread += weight * sums.spread;
}

typedef struct ksd {
    svmp_context *context;
    const stein_sample *sample;
    int threads;
    ksd_room *rooms;   /* one a thread */
    uint32_t *nodes;   /* 0, 1, 2, ... */
    double *centred;   /* variables * n: x less its mean over particles, for linear terms */
    double *variance;  /* variables: mean square of that */
    double *products;  /* n*n, and the summed variance: of linear terms on all variables of several processes */
    const team *team;  /* the other processes that have parts; NULL: there are none */
    stein_sums *sums;  /* of every own variable */
    double *bandwidth; /* of every own node, in the first term that has one; NaN: none has */
} ksd;

/* ---- radial terms ------------------------------------------------------------------------------------------------ */

/* Row l of the triangle of squared distances. */
static void distance_row(size_t n, size_t count, const double *const *rows, size_t l, double *distance) {
    const size_t length = n - l - 1;
    memset(distance, 0, length * sizeof *distance);
    for (size_t j = 0; j < count; j++) {
        const double *x = rows[j] + l + 1, here = rows[j][l];
#pragma omp simd
        for (size_t m = 0; m < length; m++) distance[m] += (here - x[m]) * (here - x[m]);
    }
}

static size_t row_start(size_t n, size_t l) { return l * (2 * n - l - 1) / 2; }

static void shape_values(const kernel_shape *shape, size_t count, double h, double *k, double *r, double *c) {
    shape->value(count, k, h, k);
    shape->curvature(count, k, h, c);
    if (shape->repulsion) {
        shape->repulsion(count, k, h, r);
        return;
    }
    const double ratio = shape->ratio(h);
    for (size_t p = 0; p < count; p++) r[p] = ratio * k[p];
}

/* The triangles of a unit. */
static void fill_triangles(const ksd *of, const kernel_term *term, const stein_unit *unit, ksd_room *room,
                           int threads) {
    const size_t n = of->sample->n, pairs = n * (n - 1) / 2;
    const size_t count = svmp_unit_rows(of->sample->graph, unit, n, of->sample->x, room->rows);
#pragma omp parallel for schedule(static, 1) if (threads > 1) num_threads(threads)
    for (size_t l = 0; l < n; l++) distance_row(n, count, room->rows, l, room->k + row_start(n, l));
    if (of->team && term->domain == DOMAIN_ALL) of->team->sum(of->team, pairs, room->k);
    memcpy(room->r, room->k, pairs * sizeof *room->r); /* the choice reorders */
    const double h = svmp_bandwidth_choose(&term->bandwidth, n, room->r);
    for (size_t v = 0; v < unit->member_count; v++)
        if (isnan(of->bandwidth[unit->members[v]])) of->bandwidth[unit->members[v]] = h;
    room->k0 = 1;
    room->r0 = 0;
    if (h > 0) {
        double zero = 0, unused;
        shape_values(term->shape, pairs, h, room->k, room->r, room->c);
        shape_values(term->shape, 1, h, &zero, &room->r0, &unused);
        return;
    }
    memset(room->r, 0, pairs * sizeof *room->r);
    memset(room->c, 0, pairs * sizeof *room->c);
    for (size_t p = 0; p < pairs; p++) room->k[p] = room->k[p] == 0;
}

/* kappa between particle l and those behind it. */
static void stein_row(size_t n, const ksd_room *room, size_t l, const double *x, const double *s, double *kappa) {
    const size_t at = row_start(n, l);
    const double *k = room->k + at, *r = room->r + at, *c = room->c + at, *y = x + l + 1, *t = s + l + 1;
#pragma omp simd
    for (size_t m = 0; m < n - l - 1; m++) {
        const double u = x[l] - y[m];
        kappa[m] = k[m] * (s[l] * t[m]) + r[m] * (1 + u * (s[l] - t[m])) - c[m] * (u * u);
    }
}

/* The centred kappa is kappa_lm - a_l - a_m + a, with a_l the mean of a row and a that of all:
 *
 *     sum_lm centred^2 = sum_lm kappa^2 - 2n sum_l a_l^2 + n^2 a^2,    of which the diagonal is taken out again. */
static stein_sums sums_of(size_t n, const ksd_room *room, const double *x, const double *s, double *row, double *sum) {
    const double count = (double)n;
    stein_sums sums = {0};
    double squares = 0;
    for (size_t l = 0; l < n; l++) sum[l] = room->k0 * s[l] * s[l] + room->r0;
    sums.diagonal = svmp_sum(n, sum);
    for (size_t l = 0; l < n; l++) {
        const double own = room->k0 * s[l] * s[l] + room->r0;
        squares += own * own;
    }
    for (size_t l = 0; l + 1 < n; l++) {
        const size_t behind = n - l - 1;
        stein_row(n, room, l, x, s, row);
        sum[l] += svmp_sum(behind, row);
        squares += 2 * svmp_dot(behind, row, row);
#pragma omp simd
        for (size_t m = 0; m < behind; m++) sum[l + 1 + m] += row[m];
    }
    sums.pairs = svmp_sum(n, sum);
    const double mean = sums.pairs / (count * count);
    squares += sums.pairs * mean - 2 * svmp_dot(n, sum, sum) / count;
    for (size_t l = 0; l < n; l++) {
        const double own = room->k0 * s[l] * s[l] + room->r0 - 2 * sum[l] / count + mean;
        squares -= own * own;
    }
    sums.spread = n > 1 && squares > 0 ? sqrt(squares / (count * (count - 1))) : 0;
    return sums;
}

static void add_radial(const ksd *of, const kernel_term *term, const stein_unit *unit, ksd_room *room, int threads) {
    const stein_sample *sample = of->sample;
    const size_t n = sample->n, *first = sample->graph->first;
    fill_triangles(of, term, unit, room, threads);
#pragma omp parallel for if (threads > 1) num_threads(threads)
    for (size_t v = 0; v < unit->member_count; v++)
        for (size_t i = first[unit->members[v]]; i < first[unit->members[v] + 1]; i++) {
            const int t = threads > 1 ? svmp_thread_number() : 0;
            add_sums(&of->sums[i], term->weight,
                     sums_of(n, room, sample->x + i * n, sample->score + i * n, room->row[t], room->sum[t]));
        }
}

/* ---- linear terms, by moments ------------------------------------------------------------------------------------ */

static void centre(const ksd *of) {
    const stein_sample *sample = of->sample;
    const size_t n = sample->n;
    for (size_t i = 0; i < sample->graph->variables; i++) {
        const double *x = sample->x + i * n, mean = svmp_sum(n, x) / (double)n;
        double *z = of->centred + i * n;
        for (size_t l = 0; l < n; l++) z[l] = x[l] - mean;
        of->variance[i] = svmp_dot(n, z, z) / (double)n;
    }
}

/* The estimate of the sum of the eigenvalues of kappa. */
static double trace(size_t n, double pairs, double diagonal) {
    return n > 1 ? (diagonal - pairs / (double)n) / (double)(n - 1) : 0;
}

/* sum_j z_j[l] z_j[m] over the variables of all processes, and their summed variance. */
static void add_products(const ksd *of, size_t count, const double *const *z, double v) {
    const size_t n = of->sample->n;
    memset(of->products, 0, n * n * sizeof *of->products);
    for (size_t j = 0; j < count; j++)
        for (size_t l = 0; l < n; l++)
            for (size_t m = 0; m < n; m++) of->products[l * n + m] += z[j][l] * z[j][m];
    of->products[n * n] = v;
    of->team->sum(of->team, n * n + 1, of->products);
}

/* The sums of linear_sums, with sum_j (sum_l s z_j)^2 and sum_lj (s z_j)^2 from the products. */
static stein_sums common_sums(size_t n, const double *products, const double *z_i, const double *s) {
    const double sum = svmp_sum(n, s), v = products[n * n];
    stein_sums sums = {.pairs = sum * sum, .diagonal = svmp_dot(n, s, s)};
    double along = 0, squares = 0;
    for (size_t l = 0; v > 0 && l < n; l++) {
        along += s[l] * svmp_dot(n, products + l * n, s);
        squares += s[l] * s[l] * products[l * n + l];
    }
    if (v > 0) {
        const double own = svmp_dot(n, s, z_i);
        sums.pairs += (along + (double)n * (2 * own + (double)n)) / v;
        sums.diagonal += (squares + 2 * own + (double)n) / v;
    }
    sums.spread = fmax(trace(n, sums.pairs, sums.diagonal), 0);
    return sums;
}

/* The sums over all pairs,  n^2 ( mean(s)^2 + ( sum_j mean(s z_j)^2 + 2 mean(s z_i) + 1 ) / v ),  and over the
 * diagonal, sum_l ( s^2 + ( s^2 sum_j z_j^2 + 2 s z_i + 1 ) / v ). The spread is taken at its worst, as of a single
 * eigenvalue. */
static stein_sums linear_sums(size_t n, size_t count, const double *const *z, double v, const double *z_i,
                              const double *s) {
    const double sum = svmp_sum(n, s);
    stein_sums sums = {.pairs = sum * sum, .diagonal = svmp_dot(n, s, s)};
    double along = 0, squares = 0;
    for (size_t j = 0; v > 0 && j < count; j++) {
        double lane[8] = {0};
        const double slope = svmp_dot(n, s, z[j]);
        for (size_t l = 0; l < n; l++) lane[l % 8] += (s[l] * z[j][l]) * (s[l] * z[j][l]);
        along += slope * slope;
        squares += svmp_add_lanes(lane);
    }
    if (v > 0) {
        const double own = svmp_dot(n, s, z_i);
        sums.pairs += (along + (double)n * (2 * own + (double)n)) / v;
        sums.diagonal += (squares + 2 * own + (double)n) / v;
    }
    sums.spread = fmax(trace(n, sums.pairs, sums.diagonal), 0);
    return sums;
}

static void add_linear(const ksd *of, const kernel_term *term, const stein_unit *unit, ksd_room *room, int threads) {
    const stein_sample *sample = of->sample;
    const size_t n = sample->n, *first = sample->graph->first;
    const size_t count = svmp_unit_rows(sample->graph, unit, n, of->centred, room->rows);
    double v = 0;
    for (size_t w = 0; w < unit->domain_count; w++)
        for (size_t j = first[unit->domain[w]]; j < first[unit->domain[w] + 1]; j++) v += of->variance[j];
    const int common = of->team && term->domain == DOMAIN_ALL;
    if (common) add_products(of, count, room->rows, v);
#pragma omp parallel for if (threads > 1) num_threads(threads)
    for (size_t w = 0; w < unit->member_count; w++)
        for (size_t i = first[unit->members[w]]; i < first[unit->members[w] + 1]; i++)
            add_sums(&of->sums[i], term->weight,
                     common ? common_sums(n, of->products, of->centred + i * n, sample->score + i * n)
                            : linear_sums(n, count, room->rows, v, of->centred + i * n, sample->score + i * n));
}

/* ---- the sum over terms, and what is told ------------------------------------------------------------------------ */

static void add_term(const ksd *of, const kernel_term *term) {
    const stein_sample *sample = of->sample;
    const size_t units = svmp_unit_count(sample->graph, term->domain);
    const int together = units < (size_t)of->threads; /* too few units to go round: share each of them */
#pragma omp parallel for schedule(dynamic) num_threads(together ? 1 : of->threads)
    for (size_t u = 0; u < units; u++) {
        ksd_room *room = &of->rooms[together ? 0 : svmp_thread_number()];
        stein_unit unit =
            svmp_unit_draw(sample->graph, term, u, sample->seed, sample->iteration, of->nodes, room->drawn);
        (term->shape->value ? add_radial : add_linear)(of, term, &unit, room, together ? of->threads : 1);
    }
}

/* The two identities of Stein that every variable of exact draws obeys, whatever the kernel: the mean of s is 0, and
 * that of s z is -1. Particles that are too wide have less than that, narrow ones more. The larger |z| of the two. The
 * variance of s z is taken from second moments, E[s^2] E[z^2] + E[s z]^2 as of Gaussian ones: fourth moments of few
 * particles tell little, and are small when by chance the particles are narrow. */
static double moment_z(const ksd *of, size_t i) {
    const size_t n = of->sample->n;
    const double count = (double)n, *s = of->sample->score + i * n, *z = of->centred + i * n;
    const double mean = svmp_sum(n, s) / count, square = svmp_dot(n, s, s) / count;
    const double spread = square - mean * mean, product = svmp_dot(n, s, z) / count;
    if (n < 2 || !(of->variance[i] > 0)) return NAN;
    const double shifted = svmp_normal_z(mean * mean / (spread / (count - 1)), count - 1);
    const double scaled = fabs(product + 1) / sqrt((square * of->variance[i] + 1) / count);
    return fmax(shifted, scaled);
}

/* kappa(x, x') is the product of x's and x''s features in a Hilbert space, and V the squared length of their mean. That
 * of n exact draws is on average trace/n. */
static svmp_discrepancy describe(size_t n, stein_sums sums, size_t nodes) {
    const double count = (double)n, eigenvalues = trace(n, sums.pairs, sums.diagonal);
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

static svmp_status alloc(ksd *of) {
    svmp_context *context = of->context;
    const stein_sample *sample = of->sample;
    const kernel *k = sample->kernel;
    const size_t n = sample->n, variables = sample->graph->variables, pairs = n * (n - 1) / 2;
    int radial = 0, products = 0;
    for (size_t a = 0; a < k->count; a++) {
        radial |= k->terms[a].shape->value != NULL;
        products |= of->team && k->terms[a].shape->value == NULL && k->terms[a].domain == DOMAIN_ALL;
    }
    if (products) SVMP_TRY(SVMP_NEW(context, of->products, n * n + 1));
    SVMP_TRY(svmp_require_memory(context, 3.0 * radial * (double)pairs * of->threads * sizeof(double),
                                 "the Stein discrepancy of so many particles takes"));
    SVMP_TRY(SVMP_NEW(context, of->sums, variables));
    SVMP_TRY(SVMP_NEW(context, of->nodes, sample->graph->nodes));
    SVMP_TRY(SVMP_NEW(context, of->bandwidth, sample->graph->nodes));
    for (size_t v = 0; v < sample->graph->nodes; v++) of->nodes[v] = (uint32_t)v, of->bandwidth[v] = NAN;
    SVMP_TRY(svmp_allocate(context, variables, n * sizeof(double), (void **)&of->centred));
    SVMP_TRY(SVMP_NEW(context, of->variance, variables));
    centre(of);
    SVMP_TRY(SVMP_NEW(context, of->rooms, (size_t)of->threads));
    for (int t = 0; t < of->threads; t++) {
        ksd_room *room = &of->rooms[t];
        SVMP_TRY(SVMP_NEW(context, room->rows, svmp_unit_rows_most(sample->graph, k)));
        SVMP_TRY(SVMP_NEW(context, room->drawn, svmp_unit_drawn_most(k)));
        double **triangles[] = {&room->k, &room->r, &room->c};
        for (size_t a = 0; radial && a < 3; a++) SVMP_TRY(SVMP_NEW(context, *triangles[a], pairs + 1));
        SVMP_TRY(SVMP_NEW(context, room->row, (size_t)of->threads));
        SVMP_TRY(SVMP_NEW(context, room->sum, (size_t)of->threads));
        for (int member = 0; radial && member < of->threads; member++) {
            SVMP_TRY(SVMP_NEW(context, room->row[member], n));
            SVMP_TRY(SVMP_NEW(context, room->sum[member], n));
        }
    }
    return SVMP_OK;
}

static void release(const ksd *of) {
    svmp_context *context = of->context;
    for (int t = 0; of->rooms && t < of->threads; t++) {
        const ksd_room *room = &of->rooms[t];
        for (int member = 0; room->row && member < of->threads; member++) svmp_release(context, room->row[member]);
        for (int member = 0; room->sum && member < of->threads; member++) svmp_release(context, room->sum[member]);
        svmp_release(context, room->row);
        svmp_release(context, room->sum);
        svmp_release(context, room->rows);
        svmp_release(context, room->drawn);
        svmp_release(context, room->k);
        svmp_release(context, room->r);
        svmp_release(context, room->c);
    }
    svmp_release(context, of->rooms);
    svmp_release(context, of->nodes);
    svmp_release(context, of->bandwidth);
    svmp_release(context, of->centred);
    svmp_release(context, of->variance);
    svmp_release(context, of->products);
    svmp_release(context, of->sums);
}

/* The sum over all nodes, of all processes: without rounding, so that it does not matter who has which. */
typedef struct exact_sums {
    exact_sum pairs, diagonal, spread, bandwidth;
} exact_sums;

static void add_exactly(exact_sums *to, stein_sums sums) {
    svmp_exact_add(&to->pairs, sums.pairs);
    svmp_exact_add(&to->diagonal, sums.diagonal);
    svmp_exact_add(&to->spread, sums.spread);
}

static double total_of(const ksd *of, exact_sum *sum) {
    svmp_exact_carry(sum);
    if (of->team) {
        of->team->sum_whole(of->team, EXACT_DIGITS, sum->digit);
        of->team->sum(of->team, 1, &sum->beyond);
    }
    return svmp_exact_value(sum);
}

static void finish(const ksd *of, svmp_discrepancy *total, svmp_discrepancy *nodes) {
    const svmp_graph *graph = of->sample->graph;
    const size_t n = of->sample->n;
    const double limit = n > 1 ? svmp_difference_limit(2 * graph->whole_variables) : NAN;
    exact_sums whole = {0};
    double largest = -1; /* of what are not negative numbers; -1: there is none */
    for (size_t v = 0; v < graph->own; v++) {
        stein_sums node = {0};
        double z = NAN;
        for (size_t i = graph->first[v]; i < graph->first[v + 1]; i++) {
            add_sums(&node, 1, of->sums[i]);
            z = fmax(z, moment_z(of, i));
        }
        if (nodes) nodes[v] = describe(n, node, graph->whole_nodes);
        if (nodes) nodes[v].moment_z = z, nodes[v].moment_limit = limit, nodes[v].bandwidth = of->bandwidth[v];
        add_exactly(&whole, node);
        svmp_exact_add(&whole.bandwidth, of->bandwidth[v]);
        largest = fmax(largest, z);
    }
    if (of->team) of->team->max(of->team, 1, &largest);
    const stein_sums sums = {total_of(of, &whole.pairs), total_of(of, &whole.diagonal), total_of(of, &whole.spread)};
    *total = describe(n, sums, 1);
    total->moment_z = largest < 0 ? NAN : largest;
    total->moment_limit = limit;
    total->bandwidth = total_of(of, &whole.bandwidth) / (double)graph->whole_nodes;
}

svmp_status svmp_stein_discrepancy(svmp_context *context, const stein_sample *sample, svmp_discrepancy *total,
                                   svmp_discrepancy *nodes) {
    ksd of = {.context = context, .sample = sample, .team = sample->graph->halo ? context->team : NULL};
    of.threads = svmp_threads_for(svmp_context_threads(context),
                                  20 * (double)sample->n * (double)sample->n * (double)sample->graph->variables);
    svmp_status status = alloc(&of);
    if (of.team) status = svmp_team_agree(context, status);
    for (size_t a = 0; status == SVMP_OK && a < sample->kernel->count; a++) add_term(&of, &sample->kernel->terms[a]);
    if (status == SVMP_OK) finish(&of, total, nodes);
    release(&of);
    return status;
}
