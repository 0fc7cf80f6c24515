#include "method/moves/hamiltonian.h"

#include <math.h>
#include <string.h>

void svmp_phase_point_take(phase_point *z, double **workspace, size_t variables) {
    z->q = svmp_workspace_take(workspace, variables);
    z->p = svmp_workspace_take(workspace, variables);
    z->score = svmp_workspace_take(workspace, variables);
}

void svmp_phase_point_copy(phase_point *to, const phase_point *from, size_t variables) {
    memcpy(to->q, from->q, variables * sizeof *to->q);
    memcpy(to->p, from->p, variables * sizeof *to->p);
    memcpy(to->score, from->score, variables * sizeof *to->score);
    to->log_density = from->log_density;
}

void svmp_hamiltonian_take(hamiltonian *h, size_t variables, double **workspace) {
    double **const vectors[HAMILTONIAN_VECTORS] = {&h->inverse_metric, &h->x,    &h->lost_at,
                                                   &h->score,          &h->part, &h->workspace};
    for (size_t k = 0; k < HAMILTONIAN_VECTORS; k++) *vectors[k] = svmp_workspace_take(workspace, variables);
    h->variables = h->all = variables;
    for (size_t i = 0; i < variables; i++) h->inverse_metric[i] = 1;
}

void svmp_hamiltonian_restrict(hamiltonian *h, size_t count, const uint32_t *moved, const whitening *coordinates,
                               const double *x) {
    h->variables = count;
    h->moved = moved;
    h->whitening = coordinates;
    memcpy(h->x, x, h->all * sizeof *x);
    for (size_t i = 0; i < count; i++) h->inverse_metric[i] = 1;
}

static size_t moved_variable(const hamiltonian *h, size_t i) { return h->moved ? h->moved[i] : i; }

void svmp_hamiltonian_enter(hamiltonian *h, size_t n, size_t l, const double *x, double *z) {
    double *point = h->whitening ? h->part : z;
    for (size_t i = 0; i < h->variables; i++) point[i] = x[moved_variable(h, i) * n + l];
    if (h->whitening) svmp_whitening_coordinates(h->whitening, h->workspace, point, z);
}

/* h->x becomes the point: of those that do not move it has the values. */
static void place(hamiltonian *h, const double *z) {
    const double *point = h->whitening ? h->part : z;
    if (h->whitening) svmp_whitening_point(h->whitening, h->workspace, z, h->part);
    for (size_t i = 0; i < h->variables; i++) h->x[moved_variable(h, i)] = point[i];
}

void svmp_hamiltonian_leave(hamiltonian *h, const double *z, double *x) {
    place(h, z);
    memcpy(x, h->x, h->all * sizeof *x);
}

void svmp_hamiltonian_evaluate(hamiltonian *h, phase_point *z) {
    place(h, z->q);
    if (h->failed || svmp_evaluate_silently(h->evaluator, h->x, &z->log_density, h->score) != 0) {
        h->failed = 1;
        z->log_density = NAN; /* ends the trajectory */
    }
    double *score = h->whitening ? h->part : z->score;
    for (size_t i = 0; i < h->variables; i++) score[i] = h->score[moved_variable(h, i)];
    if (h->whitening) svmp_whitening_gradient(h->whitening, score, z->score);
    if (isfinite(z->log_density)) return;
    h->lost = 1;
    memcpy(h->lost_at, h->x, h->all * sizeof *h->x);
}

int svmp_hamiltonian_is_finite(const hamiltonian *h, const phase_point *z) {
    int finite = isfinite(z->log_density) != 0;
    for (size_t i = 0; i < h->variables; i++) finite &= isfinite(z->score[i]) != 0;
    return finite;
}

void svmp_hamiltonian_draw_momentum(const hamiltonian *h, random_stream stream, double *p) {
    svmp_random_normals(stream, h->variables, p);
    for (size_t i = 0; i < h->variables; i++) p[i] /= sqrt(h->inverse_metric[i]);
}

double svmp_hamiltonian_energy(const hamiltonian *h, const phase_point *z) {
    double kinetic = 0;
    for (size_t i = 0; i < h->variables; i++) kinetic += h->inverse_metric[i] * z->p[i] * z->p[i];
    const double energy = 0.5 * kinetic - z->log_density;
    return isfinite(energy) ? energy : INFINITY;
}

void svmp_hamiltonian_leapfrog(hamiltonian *h, phase_point *z, double step) {
    for (size_t i = 0; i < h->variables; i++) {
        z->p[i] += 0.5 * step * z->score[i];
        z->q[i] += step * h->inverse_metric[i] * z->p[i];
    }
    svmp_hamiltonian_evaluate(h, z);
    for (size_t i = 0; i < h->variables; i++) z->p[i] += 0.5 * step * z->score[i];
}

/* Whether the energy error of a step of this length is within log 0.8. */
static int is_careful(hamiltonian *h, const phase_point *start, double step, random_stream stream, phase_point *z) {
    svmp_phase_point_copy(z, start, h->variables);
    svmp_hamiltonian_draw_momentum(h, stream, z->p);
    const double before = svmp_hamiltonian_energy(h, z);
    svmp_hamiltonian_leapfrog(h, z, step);
    return before - svmp_hamiltonian_energy(h, z) > log(0.8);
}

double svmp_hamiltonian_find_step(hamiltonian *h, const phase_point *start, double step, random_stream stream,
                                  phase_point *z) {
    const double longest = 1e7;
    const int careful = is_careful(h, start, step, stream, z);
    do {
        step *= careful ? 2 : 0.5;
        if (step > longest) return INFINITY;
        if (step == 0) return 0;
    } while (is_careful(h, start, step, stream, z) == careful && !h->failed);
    return step;
}
