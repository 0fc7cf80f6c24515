#include "method/nuts_tree.h"

#include <math.h>
#include <string.h>

static const double divergence = 1000; /* a larger energy error is a divergence */

static double *vector_copy(double *to, const double *from, size_t variables) {
    return memcpy(to, from, variables * sizeof *to);
}

static void swap(double **a, double **b) {
    double *kept = *a;
    *a = *b;
    *b = kept;
}

static void take_stretch(stretch *s, double **workspace, size_t variables) {
    s->begin = svmp_workspace_take(workspace, variables);
    s->end = svmp_workspace_take(workspace, variables);
    s->rho = svmp_workspace_take(workspace, variables);
    s->draw.q = svmp_workspace_take(workspace, variables);
    s->draw.score = svmp_workspace_take(workspace, variables);
}

size_t svmp_tree_workspace_size(size_t variables) { return (5 * (NUTS_DEEPEST + 1) + 3 * 2) * variables; }

void svmp_tree_take(tree *t, hamiltonian *h, double **workspace) {
    t->h = h;
    take_stretch(&t->trajectory, workspace, h->variables);
    for (size_t k = 0; k < NUTS_DEEPEST; k++) take_stretch(&t->level[k], workspace, h->variables);
    for (size_t k = 0; k < 2; k++) svmp_phase_point_take(&t->edge[k], workspace, h->variables);
}

static double uniform(tree *t) { return svmp_random_uniform(t->stream, t->drawn++); }

static double log_add(double a, double b) {
    const double high = a > b ? a : b, low = a > b ? b : a;
    return low == -INFINITY ? high : high + log1p(exp(low - high));
}

/* A sub-trajectory of the single point z. */
static void begin_stretch(const tree *t, const phase_point *z, double energy, stretch *s) {
    const size_t variables = t->h->variables;
    vector_copy(s->begin, z->p, variables);
    vector_copy(s->end, z->p, variables);
    vector_copy(s->rho, z->p, variables);
    vector_copy(s->draw.q, z->q, variables);
    vector_copy(s->draw.score, z->score, variables);
    s->draw.log_density = z->log_density;
    s->draw_energy = energy;
    s->log_weight = t->energy - energy;
}

/* The generalised U-turn criterion: at both ends of a sub-trajectory the velocity M^-1 p still points along rho, the
 * sum of its momenta. It is checked for a and b together, for a with the first point of b, and for b with the last
 * point of a; the latter two detect turns that the ends of the whole hide. */
static int goes_on(const hamiltonian *h, const stretch *a, const stretch *b) {
    double whole[2] = {0}, left[2] = {0}, right[2] = {0};
    for (size_t i = 0; i < h->variables; i++) {
        const double m = h->inverse_metric[i];
        const double rho = m * (a->rho[i] + b->rho[i]);
        const double rho_left = m * (a->rho[i] + b->begin[i]), rho_right = m * (a->end[i] + b->rho[i]);
        whole[0] += a->begin[i] * rho, whole[1] += b->end[i] * rho;
        left[0] += a->begin[i] * rho_left, left[1] += b->begin[i] * rho_left;
        right[0] += a->end[i] * rho_right, right[1] += b->end[i] * rho_right;
    }
    return whole[0] > 0 && whole[1] > 0 && left[0] > 0 && left[1] > 0 && right[0] > 0 && right[1] > 0;
}

static void choose_draw(stretch *a, stretch *b) {
    swap(&a->draw.q, &b->draw.q);
    swap(&a->draw.score, &b->draw.score);
    a->draw.log_density = b->draw.log_density;
    a->draw_energy = b->draw_energy;
}

/* Appends b to a; b's memory can be reused afterwards. */
static void append(const hamiltonian *h, stretch *a, stretch *b) {
    for (size_t i = 0; i < h->variables; i++) a->rho[i] += b->rho[i];
    swap(&a->end, &b->end);
    a->log_weight = log_add(a->log_weight, b->log_weight);
}

static int build_leaf(tree *t, int forwards, stretch *s) {
    phase_point *z = &t->edge[forwards];
    svmp_hamiltonian_leapfrog(t->h, z, forwards ? t->step : -t->step);
    const double energy = svmp_hamiltonian_energy(t->h, z), error = energy - t->energy;
    t->leapfrogs++;
    t->acceptance += error < 0 ? 1 : exp(-error);
    if (error > divergence) return t->divergent = 1, 0;
    begin_stretch(t, z, energy, s);
    return 1;
}

/* Builds a sub-trajectory of 2^depth points from the edge; returns 0 if it diverges or turns back. Its draw is a point
 * with probability proportional to exp(-H). */
static int build(tree *t, int forwards, size_t depth, stretch *s) {
    if (depth == 0) return build_leaf(t, forwards, s);
    stretch *rest = &t->level[depth - 1];
    if (!build(t, forwards, depth - 1, s)) return 0;
    if (!build(t, forwards, depth - 1, rest)) return 0;
    const int persists = goes_on(t->h, s, rest);
    const double of_rest = rest->log_weight;
    append(t->h, s, rest);
    if (uniform(t) < exp(of_rest - s->log_weight)) choose_draw(s, rest);
    return persists;
}

/* Extends the trajectory by a sub-trajectory that was built from one of its edges. The draw moves to the new half with
 * probability min(1, w_new / w_old), which favours distant points and keeps exp(-H) invariant. */
static int extend(tree *t, int forwards, stretch *s) {
    stretch *trajectory = &t->trajectory;
    if (uniform(t) < exp(s->log_weight - trajectory->log_weight)) choose_draw(trajectory, s);
    if (!forwards) swap(&trajectory->begin, &trajectory->end); /* in reverse order */
    const int persists = goes_on(t->h, trajectory, s);
    append(t->h, trajectory, s);
    if (!forwards) swap(&trajectory->begin, &trajectory->end);
    return persists;
}

void svmp_tree_transition(tree *t, phase_point *z, double step, uint64_t seed, size_t iteration, size_t chain) {
    hamiltonian *h = t->h;
    random_stream momenta = {.seed = seed, .purpose = RANDOM_MOMENTUM, .a = iteration, .b = chain};
    t->stream = (random_stream){.seed = seed, .purpose = RANDOM_TREE, .a = iteration, .b = chain};
    t->drawn = 0;
    t->step = step;
    t->depth = t->leapfrogs = 0;
    t->acceptance = 0;
    t->divergent = 0;

    svmp_hamiltonian_draw_momentum(h, momenta, z->p);
    t->energy = svmp_hamiltonian_energy(h, z);
    svmp_phase_point_copy(&t->edge[0], z, h->variables);
    svmp_phase_point_copy(&t->edge[1], z, h->variables);
    begin_stretch(t, z, t->energy, &t->trajectory);
    for (int persists = 1; persists && t->depth < NUTS_DEEPEST;) {
        const int forwards = uniform(t) < 0.5;
        stretch *s = &t->level[t->depth];
        if (!build(t, forwards, t->depth, s)) break;
        persists = extend(t, forwards, s);
        t->depth++;
    }

    swap(&z->q, &t->trajectory.draw.q);
    swap(&z->score, &t->trajectory.draw.score);
    z->log_density = t->trajectory.draw.log_density;
    t->energy = t->trajectory.draw_energy;
}
