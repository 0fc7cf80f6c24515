/* The augmentation. A new particle of node v is, with probability 0.75, drawn through an edge: a neighbour u and one of
 * its kept particles x_u are taken at random, and x_v follows the conditional that the two potentials give,
 *
 *     q(x_v)  proportional to  exp( psi_uv(x_u, x_v) + theta_v(x_v) ).
 *
 * Factors are arbitrary functions that can only be evaluated, so the draw is made among candidates: some around x_u
 * itself (if both nodes have the same number of variables, since positions, colours and levels of neighbours are
 * similar), some around a kept particle of v, on eight scales from 2 to 1/64 times the distance between these two. One
 * candidate is drawn in proportion to its q and is the centre of the next of three rounds. Large scales find the shell
 * that a range or a difference puts around x_u, small ones refine it. There is nothing to tune, no derivative is
 * needed, and q need not be normalised. The density of the candidates is not divided out, because the aim is a probable
 * position, not an unbiased draw. q includes theta_v because that contains the diagonal of a Gaussian pair
 * (model/pairwise.h): without it the conditional of such a pair would be improper.
 *
 * Otherwise, and always for a node without neighbours, the particle makes a random walk: a kept one plus a Gaussian of
 * variance 0.05. Every new value is projected onto its box. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/threads.h"
#include "method/pmp/pmp.h"

static const double neighbour_share = 0.75, walk_variance = 0.05;
enum { SCALES = 8 };

static uint32_t pick_below(double uniform, size_t bound) {
    const size_t at = (size_t)(uniform * (double)bound);
    return (uint32_t)(at < bound ? at : bound - 1);
}

static double project(const svmp_model *model, size_t i, double x) {
    return x < model->lower[i] ? model->lower[i] : x > model->upper[i] ? model->upper[i] : x;
}

static const double *column(const pmp *p, size_t variable) { return p->x + variable * 2 * p->n; }

/* ---- plans ------------------------------------------------------------------------------------------------------- */

static size_t dimension_of(const pmp *p, size_t v) {
    return p->pairs->model->graph->first[v + 1] - p->pairs->model->graph->first[v];
}

/* The root mean square, over variables, of the distance from the kept particle to the neighbour's particle or, if the
 * nodes differ in dimension, to the next kept one. At least a step of the random walk, because kept particles may all
 * be equal. */
static double spread_of(const pmp *p, size_t v, const pmp_plan *plan) {
    const size_t *first = p->pairs->model->graph->first, u = p->pairs->node[plan->end ^ 1], d = dimension_of(p, v);
    const int alike = dimension_of(p, u) == d;
    double sum = 0;
    for (size_t k = 0; k < d; k++) {
        const double *own = column(p, first[v] + k);
        const double other = alike ? column(p, first[u] + k)[plan->neighbour] : own[(plan->kept + 1) % p->n];
        sum += (own[plan->kept] - other) * (own[plan->kept] - other);
    }
    return fmax(sqrt(sum / (double)d), sqrt(walk_variance));
}

/* Numbers 4l ... 4l + 3 of (seed, iteration, node) determine new particle l: whether it is a random walk, through which
 * edge it is drawn, from which particle of the neighbour and near which kept one. */
static void plan_node(pmp *p, const backend *b, size_t t, size_t v, pmp_workspace *workspace) {
    const pairwise *pairs = p->pairs;
    const size_t ends = pairs->ends_start[v + 1] - pairs->ends_start[v];
    svmp_random_uniforms((random_stream){.seed = b->seed, .purpose = RANDOM_PMP_PLAN, .a = t, .b = v}, 4 * p->n,
                         workspace->numbers);
    for (size_t l = 0; l < p->n; l++) {
        const double *uniform = workspace->numbers + 4 * l;
        pmp_plan *plan = &p->plan[v * p->n + l];
        *plan = (pmp_plan){.end = PMP_WALK, .kept = pick_below(uniform[3], p->n)};
        if (ends == 0 || uniform[0] >= neighbour_share) continue;
        plan->end = pairs->ends[pairs->ends_start[v] + pick_below(uniform[1], ends)];
        plan->neighbour = pick_below(uniform[2], p->n);
        plan->spread = spread_of(p, v, plan);
    }
}

/* x_new = x_kept + sqrt(0.05) z */
static void walk_node(pmp *p, const backend *b, size_t t, size_t v, pmp_workspace *workspace) {
    const svmp_model *model = p->pairs->model;
    for (size_t i = model->graph->first[v]; i < model->graph->first[v + 1]; i++) {
        double *x = p->x + i * 2 * p->n;
        svmp_random_normals((random_stream){.seed = b->seed, .purpose = RANDOM_PMP_WALK, .a = t, .b = i}, p->n,
                            workspace->numbers);
        for (size_t l = 0; l < p->n; l++) {
            const pmp_plan *plan = &p->plan[v * p->n + l];
            if (plan->end == PMP_WALK)
                x[p->n + l] = project(model, i, x[plan->kept] + sqrt(walk_variance) * workspace->numbers[l]);
        }
    }
}

/* ---- candidates -------------------------------------------------------------------------------------------------- */

static double *candidates_of(const pmp *p, size_t v, size_t l) {
    return p->candidate + (p->pairs->model->graph->first[v] * p->n + l * dimension_of(p, v)) * PMP_CANDIDATES;
}

/* In the first round even candidates lie around the neighbour's particle and odd ones around the kept one; later all
 * lie around the choice of the last round, x[N + l], which is itself a candidate. */
static void scatter(const pmp *p, size_t v, size_t l, size_t round, const double *normal, double *candidate) {
    const svmp_model *model = p->pairs->model;
    const pmp_plan *plan = &p->plan[v * p->n + l];
    const size_t *first = model->graph->first, u = p->pairs->node[plan->end ^ 1], d = dimension_of(p, v);
    const int alike = dimension_of(p, u) == d;
    for (size_t k = 0; k < d; k++) {
        const double *own = column(p, first[v] + k), kept = own[plan->kept];
        const double even = round > 0 ? own[p->n + l] : alike ? column(p, first[u] + k)[plan->neighbour] : kept;
        const double odd = round > 0 ? even : kept;
        for (size_t m = 0; m < PMP_CANDIDATES; m++) {
            const double scale = ldexp(plan->spread, 1 - (int)(m / 2 % SCALES));
            const double centre = m % 2 ? odd : even,
                         noise = round > 0 && m == 0 ? 0 : scale * normal[k * PMP_CANDIDATES + m];
            const double x = centre + noise;
            candidate[k * PMP_CANDIDATES + m] = project(model, first[v] + k, isfinite(x) ? x : kept);
        }
    }
}

/* Candidates of all new particles of a node, and their theta_v. */
static size_t scatter_node(pmp *p, const backend *b, size_t t, size_t round, size_t v, pmp_workspace *workspace) {
    for (size_t l = 0; l < p->n; l++) {
        if (p->plan[v * p->n + l].end == PMP_WALK) continue;
        const random_stream stream = {
            .seed = b->seed, .purpose = RANDOM_PMP_CANDIDATES, .a = t * PMP_ROUNDS + round, .b = v * p->n + l};
        double *candidate = candidates_of(p, v, l);
        svmp_random_normals(stream, dimension_of(p, v) * PMP_CANDIDATES, workspace->numbers);
        scatter(p, v, l, round, workspace->numbers, candidate);
        const size_t failed = svmp_pairwise_node(p->pairs, v, PMP_CANDIDATES, candidate, &workspace->pairs,
                                                 p->weight + (v * p->n + l) * PMP_CANDIDATES);
        if (failed != PAIRWISE_DONE) return failed;
    }
    return PAIRWISE_DONE;
}

/* Adds psi to the weights of the candidates that are drawn through this end of an edge. */
static size_t weigh_end(pmp *p, size_t end, pmp_workspace *workspace) {
    const size_t v = p->pairs->node[end], u = p->pairs->node[end ^ 1], *first = p->pairs->model->graph->first;
    const size_t dv = dimension_of(p, v), du = dimension_of(p, u);
    double *xv = workspace->pairs.x + (end % 2 ? du * PMP_CANDIDATES : 0); /* the lower node's variables come first */
    double *xu = workspace->pairs.x + (end % 2 ? 0 : dv * PMP_CANDIDATES);
    for (size_t l = 0; l < p->n; l++) {
        const pmp_plan *plan = &p->plan[v * p->n + l];
        if (plan->end != end) continue;
        memcpy(xv, candidates_of(p, v, l), dv * PMP_CANDIDATES * sizeof *xv);
        for (size_t k = 0; k < du; k++)
            for (size_t m = 0; m < PMP_CANDIDATES; m++)
                xu[k * PMP_CANDIDATES + m] = column(p, first[u] + k)[plan->neighbour];
        const size_t failed = svmp_pairwise_edge(p->pairs, end / 2, PMP_CANDIDATES, workspace->pairs.x,
                                                 &workspace->pairs, workspace->numbers);
        if (failed != PAIRWISE_DONE) return failed;
        double *weight = p->weight + (v * p->n + l) * PMP_CANDIDATES;
        for (size_t m = 0; m < PMP_CANDIDATES; m++) weight[m] += workspace->numbers[m];
    }
    return PAIRWISE_DONE;
}

/* A number below PMP_CANDIDATES, drawn in proportion to exp(weight). */
static size_t draw(const double *weight, double uniform) {
    double most = weight[0], sum = 0, part[PMP_CANDIDATES];
    for (size_t m = 1; m < PMP_CANDIDATES; m++) most = weight[m] > most ? weight[m] : most;
    for (size_t m = 0; m < PMP_CANDIDATES; m++) part[m] = sum += exp(weight[m] - most);
    size_t m = 0;
    while (m + 1 < PMP_CANDIDATES && part[m] < uniform * sum) m++;
    return m;
}

static void draw_node(pmp *p, const backend *b, size_t t, size_t round, size_t v, pmp_workspace *workspace) {
    const random_stream stream = {.seed = b->seed, .purpose = RANDOM_PMP_DRAW, .a = t * PMP_ROUNDS + round, .b = v};
    svmp_random_uniforms(stream, p->n, workspace->numbers);
    for (size_t l = 0; l < p->n; l++) {
        if (p->plan[v * p->n + l].end == PMP_WALK) continue;
        const size_t m = draw(p->weight + (v * p->n + l) * PMP_CANDIDATES, workspace->numbers[l]);
        double *x = p->x + p->pairs->model->graph->first[v] * 2 * p->n + p->n + l;
        for (size_t k = 0; k < dimension_of(p, v); k++)
            x[k * 2 * p->n] = candidates_of(p, v, l)[k * PMP_CANDIDATES + m];
    }
}

typedef struct grow_work {
    pmp *p;
    const backend *b;
    size_t t, round;
    atomic_size_t failed; /* the first factor that failed */
} grow_work;

static void plan_and_walk(void *work, size_t v) {
    const grow_work *w = work;
    pmp_workspace *workspace = &w->p->workspace[svmp_thread_number()];
    plan_node(w->p, w->b, w->t, v, workspace);
    walk_node(w->p, w->b, w->t, v, workspace);
}

static void scatter_one(void *work, size_t v) {
    grow_work *w = work;
    svmp_keep_least(&w->failed, scatter_node(w->p, w->b, w->t, w->round, v, &w->p->workspace[svmp_thread_number()]));
}

static void weigh_edge(void *work, size_t e) {
    grow_work *w = work;
    pmp_workspace *workspace = &w->p->workspace[svmp_thread_number()];
    size_t here = weigh_end(w->p, 2 * e, workspace);
    if (here == PAIRWISE_DONE) here = weigh_end(w->p, 2 * e + 1, workspace);
    svmp_keep_least(&w->failed, here);
}

static void draw_one(void *work, size_t v) {
    const grow_work *w = work;
    draw_node(w->p, w->b, w->t, w->round, v, &w->p->workspace[svmp_thread_number()]);
}

/* Potentials of nodes and of edges are evaluated one after the other, each by one thread, and so is every factor. */
svmp_status svmp_pmp_grow(pmp *p, const backend *b, size_t t) {
    const size_t nodes = p->pairs->model->graph->nodes, variables = p->pairs->model->graph->variables;
    const int threads = svmp_threads_for(p->threads, 50.0 * PMP_CANDIDATES * (double)variables * (double)p->n);
    grow_work work = {p, b, t, 0, PAIRWISE_DONE};
    svmp_parallel_for(threads, nodes, 4, plan_and_walk, &work);
    for (; work.round < PMP_ROUNDS; work.round++) {
        svmp_parallel_for(threads, nodes, 4, scatter_one, &work);
        svmp_parallel_for(threads, p->pairs->edges, 4, weigh_edge, &work);
        svmp_parallel_for(threads, nodes, 4, draw_one, &work);
        SVMP_TRY(svmp_pmp_check(p, work.failed));
    }
    return SVMP_OK;
}
