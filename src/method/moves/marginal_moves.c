#include "method/moves/marginal_moves.h"

#include <math.h>

#include "base/threads.h"
#include "method/moves/marginal_move.h"

enum { SCALES = 5 };

struct marginal_moves {
    svmp_context *context;
    size_t threads, variables;
    marginal_move **move; /* of each thread; its Gaussians do not depend on the particles before */
    double *point;        /* threads * variables */
};

static svmp_status create(const backend *b, gaussian *q, marginal_moves *m) {
    SVMP_TRY(SVMP_NEW(m->context, m->move, m->threads));
    SVMP_TRY(SVMP_NEW(m->context, m->point, m->threads * m->variables));
    for (size_t t = 0; t < m->threads && (t == 0 || m->move[0]); t++)
        SVMP_TRY(svmp_marginal_move_create(b->model, q, &m->move[t]));
    return SVMP_OK;
}

svmp_status svmp_marginal_moves_create(const backend *b, gaussian *q, marginal_moves **made) {
    svmp_context *context = b->model->context;
    marginal_moves *m = NULL;
    *made = NULL;
    if (b->model->graph->halo) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(context, m, 1));
    *m = (marginal_moves){.context = context, .threads = (size_t)b->threads, .variables = b->model->graph->variables};
    const svmp_status status = create(b, q, m);
    if (status == SVMP_OK && m->move[0]) return *made = m, SVMP_OK;
    svmp_marginal_moves_free(m);
    return status;
}

void svmp_marginal_moves_free(marginal_moves *m) {
    if (m == NULL) return;
    for (size_t t = 0; m->move && t < m->threads; t++) svmp_marginal_move_free(m->move[t]);
    svmp_release(m->context, m->move);
    svmp_release(m->context, m->point);
    svmp_release(m->context, m);
}

typedef struct turn_work {
    marginal_moves *m;
    const backend *b;
    size_t turn;
    double *x;
} turn_work;

static void move_particle(void *work, size_t l) {
    const turn_work *w = work;
    const size_t n = w->b->n, thread = (size_t)svmp_thread_number();
    double *point = w->m->point + thread * w->m->variables;
    for (size_t i = 0; i < w->m->variables; i++) point[i] = w->x[i * n + l];
    svmp_marginal_move_scale(w->m->move[thread], w->turn / SCALES, exp((double)(w->turn % SCALES)));
    if (!svmp_marginal_move(w->m->move[thread], w->b->seed, w->turn, w->b->columns.first + l, 0, point)) return;
    for (size_t i = 0; i < w->m->variables; i++) w->x[i * n + l] = point[i];
}

svmp_status svmp_marginal_moves_turn(marginal_moves *m, backend *b, size_t turn) {
    double *x;
    if (m == NULL) return SVMP_OK;
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    svmp_parallel_for((int)m->threads, b->n, 1, move_particle, &(turn_work){m, b, turn, x});
    return svmp_backend_commit(b, ARRAY_PARTICLES);
}
