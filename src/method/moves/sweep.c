#include "method/moves/sweep.h"

#include <math.h>
#include <string.h>

#include "base/peers.h"
#include "base/random.h"
#include "base/target_clones.h"
#include "base/threads.h"
#include "graph/colouring.h"
#include "method/moves/move_constants.h"
#include "method/moves/sweep_state.h"
#include "model/density_discontinuities.h"

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* The size of the matrices of a task's nodes. */
static size_t most_numbers(const sweeper *s) {
    size_t most = 0, count, hubs;
    for (size_t c = 0; c < s->colours; c++) {
        const node_task *tasks = svmp_node_evaluator_tasks(s->local, c, &count, &hubs);
        for (size_t k = 0; k < count; k++) {
            size_t numbers = 0;
            for (size_t v = 0; v < tasks[k].count; v++) {
                const size_t d = svmp_sweep_dimension(s, tasks[k].nodes[v]);
                numbers += d <= SWEEP_BLOCK ? d * d : 0;
            }
            most = numbers > most ? numbers : most;
        }
    }
    return most;
}

static svmp_status alloc_workspace(const sweeper *s, sweep_workspace *workspace) {
    svmp_context *context = s->model->context;
    const size_t row = s->n * sizeof(double), nodes = svmp_node_evaluator_most_nodes(s->local);
    double **const of_variables[] = {&workspace->score, &workspace->score_proposed, &workspace->y, &workspace->w};
    SVMP_TRY(svmp_allocate(context, nodes, row, (void **)&workspace->value));
    SVMP_TRY(svmp_allocate(context, nodes, row, (void **)&workspace->value_proposed));
    for (size_t k = 0; k < sizeof of_variables / sizeof *of_variables; k++)
        SVMP_TRY(svmp_allocate(context, svmp_node_evaluator_most_rows(s->local), row, (void **)of_variables[k]));
    SVMP_TRY(svmp_allocate(context, 1, row, (void **)&workspace->log_ratio));
    SVMP_TRY(svmp_allocate(context, 1, row, (void **)&workspace->uniform));
    SVMP_TRY(SVMP_NEW(context, workspace->matrices, most_numbers(s)));
    SVMP_TRY(SVMP_NEW(context, workspace->squares, svmp_node_evaluator_most_rows(s->local)));
    return SVMP_NEW(context, workspace->moves, s->n);
}

static svmp_status make_factors(sweeper *s) {
    svmp_context *context = s->model->context;
    const size_t own = s->model->graph->moved;
    SVMP_TRY(SVMP_NEW(context, s->log_step, own));
    SVMP_TRY(SVMP_NEW(context, s->accepted, own));
    SVMP_TRY(SVMP_NEW(context, s->learns, own));
    SVMP_TRY(SVMP_NEW(context, s->factor_at, own + 1));
    SVMP_TRY(SVMP_NEW(context, s->spread, s->model->graph->moved_variables));
    for (size_t v = 0; v < own; v++) {
        const size_t d = svmp_sweep_dimension(s, v);
        s->factor_at[v + 1] = s->factor_at[v] + (d <= SWEEP_BLOCK ? d * (d + 1) / 2 : d);
    }
    SVMP_TRY(SVMP_NEW(context, s->factor, s->factor_at[own]));
    for (size_t v = 0; v < own; v++)
        for (size_t j = 0; j < svmp_sweep_dimension(s, v); j++) svmp_sweep_factor(s, v, j)[j] = 1;
    return SVMP_OK;
}

static svmp_status find_discontinuous(sweeper *s) {
    const svmp_graph *graph = s->model->graph;
    bool *discontinuous;
    SVMP_TRY(svmp_model_discontinuities(s->model, &discontinuous));
    if (discontinuous == NULL) return SVMP_OK;
    svmp_status status = SVMP_NEW(s->model->context, s->discontinuous, graph->moved);
    for (size_t v = 0; status == SVMP_OK && v < graph->moved; v++)
        for (size_t i = graph->first[v]; i < graph->first[v + 1]; i++)
            s->discontinuous[v] = s->discontinuous[v] || discontinuous[i];
    svmp_release(s->model->context, discontinuous);
    return status;
}

static svmp_status make_parts(sweeper *s, const uint32_t *colour) {
    SVMP_TRY(
        svmp_node_evaluator_create_share(s->model, s->n, s->columns.whole, s->threads, s->colours, colour, &s->local));
    const size_t tasks = svmp_node_evaluator_task_count(s->local);
    SVMP_TRY(SVMP_NEW(s->model->context, s->period, tasks));
    for (size_t k = 0; k < tasks; k++) s->period[k] = 1;
    SVMP_TRY(make_factors(s));
    SVMP_TRY(find_discontinuous(s));
    SVMP_TRY(SVMP_NEW(s->model->context, s->workspace, (size_t)s->threads));
    for (int t = 0; t < s->threads; t++) SVMP_TRY(alloc_workspace(s, &s->workspace[t]));
    return SVMP_OK;
}

svmp_status svmp_sweeper_create(const backend *b, sweeper **made) {
    const svmp_model *model = b->model;
    svmp_context *context = b->context;
    sweeper *s = NULL;
    uint32_t *colour = NULL;
    svmp_status status = SVMP_NEW(context, s, 1);
    if (status == SVMP_OK) {
        *s = (sweeper){.model = model, .columns = b->columns, .n = b->n, .threads = b->threads};
        status = SVMP_NEW(context, colour, model->graph->nodes);
    }
    SVMP_CHECK(svmp_model_agree(model, status));
    SVMP_CHECK(svmp_graph_colour(model->graph, colour, &s->colours));
    SVMP_CHECK(svmp_model_agree(model, make_parts(s, colour)));
    *made = s;
    s = NULL;
done:
    svmp_release(context, colour);
    svmp_sweeper_free(s);
    return status;
}

void svmp_sweeper_free(sweeper *s) {
    if (s == NULL) return;
    svmp_context *context = s->model->context;
    for (int t = 0; s->workspace && t < s->threads; t++) {
        const sweep_workspace *workspace = &s->workspace[t];
        void *const rows[] = {workspace->value,     workspace->value_proposed,
                              workspace->score,     workspace->score_proposed,
                              workspace->y,         workspace->w,
                              workspace->log_ratio, workspace->uniform,
                              workspace->moves,     workspace->matrices,
                              workspace->squares};
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) svmp_release(context, rows[k]);
    }
    void *const arrays[] = {s->workspace, s->period, s->log_step, s->accepted,     s->learns,
                            s->factor_at, s->factor, s->spread,   s->discontinuous};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(context, arrays[k]);
    svmp_cauchy_free(s->cauchy);
    svmp_node_evaluator_free(s->local);
    svmp_release(context, s);
}

svmp_status svmp_sweeper_add_cauchy(sweeper *s, const gaussian *q) {
    return svmp_cauchy_create(s->model->context, q, &s->cauchy);
}

exact_sum svmp_sweeper_steps(const sweeper *s) {
    exact_sum sum = {0};
    for (size_t v = 0; v < s->model->graph->moved; v++) svmp_exact_add(&sum, exp(s->log_step[v]));
    return sum;
}

void svmp_sweeper_add_moves(sweeper *s, int64_t *moves) {
    for (int t = 0; t < s->threads; t++)
        for (size_t l = 0; l < s->n; l++) {
            moves[l] += s->workspace[t].moves[l];
            s->workspace[t].moves[l] = 0;
        }
}

/* ---- a move ------------------------------------------------------------------------------------------------------ */

typedef struct move {
    const sweeper *s;
    sweep_workspace *workspace;
    size_t t;
    uint64_t seed;
    double gain, *x;
} move;

/* u = L^-1 s, rows of the node's variables, in place. */
SVMP_CLONES static void solve_lower(const sweeper *s, size_t v, double *rows) {
    const size_t n = s->n, d = svmp_sweep_dimension(s, v);
    for (size_t j = 0; j < d; j++) {
        const double *factor = svmp_sweep_factor(s, v, j), inverse = 1 / factor[j];
        double *row = rows + j * n;
        for (size_t k = 0; d <= SWEEP_BLOCK && k < j; k++)
            for (size_t l = 0; l < n; l++) row[l] -= factor[k] * rows[k * n + l];
        for (size_t l = 0; l < n; l++) row[l] *= inverse;
    }
}

/* z = L'^-1 w, in place. */
SVMP_CLONES static void solve_upper(const sweeper *s, size_t v, double *rows) {
    const size_t n = s->n, d = svmp_sweep_dimension(s, v);
    for (size_t j = d; j-- > 0;) {
        const double inverse = 1 / svmp_sweep_factor(s, v, j)[j];
        double *row = rows + j * n;
        for (size_t k = j + 1; d <= SWEEP_BLOCK && k < d; k++) {
            const double factor = svmp_sweep_factor(s, v, k)[j];
            for (size_t l = 0; l < n; l++) row[l] -= factor * rows[k * n + l];
        }
        for (size_t l = 0; l < n; l++) row[l] *= inverse;
    }
}

/* Limits |u|, whose squares have mean 1 under the posterior, to 4 sqrt(d): where the density falls faster than a
 * Gaussian's, proposals of a distant particle would overshoot to the other side and always be rejected. */
SVMP_CLONES static void bound(size_t n, size_t d, double *rows, double *length) {
    const double most = 16 * (double)d;
    int any = 0;
    for (size_t l = 0; l < n; l++) length[l] = rows[l] * rows[l];
    for (size_t j = 1; j < d; j++)
        for (size_t l = 0; l < n; l++) length[l] += rows[j * n + l] * rows[j * n + l];
    for (size_t l = 0; l < n; l++) any |= length[l] > most;
    if (!any) return;
    for (size_t l = 0; l < n; l++) length[l] = length[l] > most ? sqrt(most / length[l]) : 1;
    for (size_t j = 0; j < d; j++)
        for (size_t l = 0; l < n; l++) rows[j * n + l] *= length[l];
}

static bool is_discontinuous(const sweeper *s, size_t v) { return s->discontinuous && s->discontinuous[v]; }

static double step_of(const move *m, size_t v) {
    static const double stretch[] = {1, 6, 36};
    return exp(m->s->log_step[v]) * (is_discontinuous(m->s, v) ? stretch[m->t % 3] : 1);
}

/* w = h/2 u + epsilon xi, y = x + L'^-1 w: rows r ... of the task; u overwrites the score. */
SVMP_CLONES static void propose(const move *m, size_t v, size_t r) {
    const sweeper *s = m->s;
    const svmp_graph *graph = s->model->graph;
    const size_t n = s->n, d = svmp_sweep_dimension(s, v);
    const double epsilon = step_of(m, v), half = 0.5 * epsilon * epsilon;
    double *u = m->workspace->score + r * n, *w = m->workspace->w + r * n, *y = m->workspace->y + r * n;
    solve_lower(s, v, u);
    bound(n, d, u, m->workspace->log_ratio);
    if (is_discontinuous(s, v)) memset(u, 0, d * n * sizeof *u);
    for (size_t j = 0; j < d; j++) {
        const random_stream stream = {.seed = m->seed,
                                      .purpose = RANDOM_LOCAL,
                                      .a = m->t,
                                      .b = svmp_variable_key(graph, graph->first[v] + j),
                                      .first = s->columns.first};
        svmp_random_quick_normals(stream, n, w + j * n);
    }
    for (size_t k = 0; k < d * n; k++) y[k] = w[k] = half * u[k] + epsilon * w[k];
    solve_upper(s, v, y);
    const double *x = m->x + graph->first[v] * n;
    for (size_t k = 0; k < d * n; k++) y[k] += x[k];
}

/* y: of the node's variables in turn one is proposed. The log ratio of the proposal's densities goes to w. */
static void propose_cauchy(const move *m, size_t v, size_t r, size_t turn) {
    const sweeper *s = m->s;
    const svmp_graph *graph = s->model->graph;
    const size_t n = s->n, d = svmp_sweep_dimension(s, v), j = turn / 2 % d, i = graph->first[v] + j;
    const random_stream stream = {.seed = m->seed,
                                  .purpose = RANDOM_LOCAL,
                                  .a = m->t,
                                  .b = svmp_variable_key(graph, i),
                                  .first = s->columns.first};
    double *y = m->workspace->y + r * n;
    memcpy(y, m->x + graph->first[v] * n, d * n * sizeof *y);
    svmp_cauchy_propose(s->cauchy, stream, turn % 2 ? cauchy_stretch : 1, n, i, m->x, y + j * n,
                        m->workspace->w + r * n, m->workspace->uniform);
}

static void weigh_cauchy(const move *m, size_t place, size_t r) {
    const size_t n = m->s->n;
    const double *before = m->workspace->value + place * n, *after = m->workspace->value_proposed + place * n;
    const double *w = m->workspace->w + r * n;
    for (size_t l = 0; l < n; l++) m->workspace->log_ratio[l] = w[l] + (after[l] - before[l]);
}

/* log of  p(y) q(x | y) / ( p(x) q(y | x) ),  where
 *     -2h log q(y | x) = |w - h/2 u(x)|^2,    -2h log q(x | y) = |w + h/2 u(y)|^2,
 * into the row `log_ratio`. */
SVMP_CLONES static void weigh(const move *m, size_t v, size_t place, size_t r) {
    const sweeper *s = m->s;
    const size_t n = s->n, d = svmp_sweep_dimension(s, v);
    const double epsilon = step_of(m, v), half = 0.5 * epsilon * epsilon;
    const double *u = m->workspace->score + r * n, *w = m->workspace->w + r * n;
    double *there = m->workspace->score_proposed + r * n, *ratio = m->workspace->log_ratio;
    solve_lower(s, v, there);
    bound(n, d, there, ratio);
    if (is_discontinuous(s, v)) memset(there, 0, d * n * sizeof *there);
    memset(ratio, 0, n * sizeof *ratio);
    for (size_t j = 0; j < d; j++)
        for (size_t l = 0; l < n; l++) {
            const double log_ratio = w[j * n + l] - half * u[j * n + l], back = w[j * n + l] + half * there[j * n + l];
            ratio[l] += log_ratio * log_ratio - back * back;
        }
    const double *before = m->workspace->value + place * n, *after = m->workspace->value_proposed + place * n;
    for (size_t l = 0; l < n; l++) ratio[l] = ratio[l] / (4 * half) + (after[l] - before[l]);
}

size_t svmp_sweeper_rounds(const sweeper *s) { return s->colours; }

double svmp_sweeper_scores(const sweeper *s) {
    const svmp_peers *peers = s->model->graph->peers;
    const node_work own = svmp_node_evaluator_work(s->local);
    int64_t work[2] = {(int64_t)own.sweep, (int64_t)own.score};
    peers->sum(peers, 2, work);
    return work[1] > 0 ? (double)work[0] / (double)work[1] : 0;
}

/* The steps learn from the acceptances of all particles, whichever process has them. */
static void adapt(const sweeper *s, double gain) {
    const size_t own = s->model->graph->moved;
    for (size_t v = 0; v < own; v++) s->learns[v] = s->accepted[v] >= 0;
    svmp_shared_sum(&s->columns, own, s->accepted);
    for (size_t v = 0; v < own; v++) {
        const double acceptance = svmp_units_share(s->accepted[v]) / (double)s->columns.whole;
        const double moved = s->log_step[v] + gain * (acceptance - sweep_acceptance);
        if (s->learns[v]) s->log_step[v] = fmin(fmax(moved, -most_log_step), most_log_step);
    }
}

/* Moves the particles whose ratio exceeds a uniform number; a NaN rejects. */
SVMP_CLONES static void decide(const move *m, size_t v, size_t place, size_t r) {
    const sweeper *s = m->s;
    const svmp_graph *graph = s->model->graph;
    const size_t n = s->n, d = svmp_sweep_dimension(s, v);
    const double *after = m->workspace->value_proposed + place * n;
    double *ratio = m->workspace->log_ratio, *log_uniform = m->workspace->uniform;
    const bool learns = m->gain > 0 && !(is_discontinuous(s, v) && m->t % 3);
    const random_stream stream = {.seed = m->seed,
                                  .purpose = RANDOM_LOCAL_ACCEPT,
                                  .a = m->t,
                                  .b = svmp_node_key(graph, v),
                                  .first = s->columns.first};
    svmp_random_log_uniforms(stream, n, log_uniform);
    for (size_t l = 0; l < n; l++) ratio[l] = after[l] < INFINITY ? ratio[l] : NAN;
    s->accepted[v] = learns ? 0 : -1;
    for (size_t l = 0; learns && l < n; l++)
        s->accepted[v] += svmp_share_units(ratio[l] < 0 ? exp(ratio[l]) : ratio[l] >= 0);
    for (size_t l = 0; l < n; l++) ratio[l] = log_uniform[l] < ratio[l];
    for (size_t l = 0; l < n; l++) m->workspace->moves[l] += ratio[l] > 0;
    for (size_t j = 0; j < d; j++) {
        double *x = m->x + (graph->first[v] + j) * n;
        const double *y = m->workspace->y + (r + j) * n;
        for (size_t l = 0; l < n; l++) x[l] = ratio[l] > 0 ? y[l] : x[l];
    }
}

/* Tasks of the same period take turns. */
static int is_due(const sweeper *s, const node_task *task, size_t t) {
    const size_t number = svmp_sweep_task_number(s, task);
    return s->period[number] > 0 && (t + number) % s->period[number] == 0;
}

/* How often the task would have moved in all sweeps before this one. */
static size_t turn_of(const sweeper *s, const node_task *task, size_t t) {
    const size_t number = svmp_sweep_task_number(s, task);
    return (t + number) / s->period[number];
}

/* Returns the factor that failed. */
static size_t move_by_cauchy(const node_task *task, int thread, move *m, size_t turn) {
    const sweeper *s = m->s;
    size_t failed = svmp_node_evaluate_current(s->local, task, thread, m->x, m->workspace->value, m->workspace->score);
    for (size_t k = 0, r = 0; failed == NODE_EVALUATED && k < task->count; k++) {
        propose_cauchy(m, task->nodes[k], r, turn);
        r += svmp_sweep_dimension(s, task->nodes[k]);
    }
    if (failed == NODE_EVALUATED)
        failed = svmp_node_evaluate_proposed(s->local, task, thread, m->x, m->workspace->y,
                                             m->workspace->value_proposed, m->workspace->score_proposed);
    m->gain = 0; /* the sizes of steps learn nothing */
    for (size_t k = 0, r = 0; failed == NODE_EVALUATED && k < task->count; k++) {
        weigh_cauchy(m, k, r);
        decide(m, task->nodes[k], k, r);
        r += svmp_sweep_dimension(s, task->nodes[k]);
    }
    return failed;
}

/* Returns the factor that failed. */
static size_t move_task(const sweeper *s, const node_task *task, int thread, const move *asked) {
    move m = *asked;
    if (!is_due(s, task, m.t)) return NODE_EVALUATED;
    m.workspace = &s->workspace[thread];
    const size_t turn = turn_of(s, task, m.t);
    if (s->cauchy && turn % CAUCHY_EVERY == CAUCHY_EVERY - 1)
        return move_by_cauchy(task, thread, &m, turn / CAUCHY_EVERY);
    size_t failed = svmp_node_evaluate_current(s->local, task, thread, m.x, m.workspace->value, m.workspace->score);
    if (failed != NODE_EVALUATED) return failed;
    for (size_t k = 0, r = 0; k < task->count; k++) {
        propose(&m, task->nodes[k], r);
        r += svmp_sweep_dimension(s, task->nodes[k]);
    }
    failed = svmp_node_evaluate_proposed(s->local, task, thread, m.x, m.workspace->y, m.workspace->value_proposed,
                                         m.workspace->score_proposed);
    for (size_t k = 0, r = 0; failed == NODE_EVALUATED && k < task->count; k++) {
        weigh(&m, task->nodes[k], k, r);
        decide(&m, task->nodes[k], k, r);
        r += svmp_sweep_dimension(s, task->nodes[k]);
    }
    return failed;
}

/* ---- a sweep ----------------------------------------------------------------------------------------------------- */

typedef struct hub_work {
    const sweeper *s;
    const node_task *tasks;
    const move *m;
    atomic_size_t failed; /* the first factor that failed */
} hub_work;

static void move_hub(void *work, size_t k) {
    hub_work *w = work;
    svmp_keep_least(&w->failed, move_task(w->s, &w->tasks[k], svmp_thread_number(), w->m));
}

static size_t move_colour(const sweeper *s, size_t colour, const move *m) {
    size_t count, hubs;
    const node_task *tasks = svmp_node_evaluator_tasks(s->local, colour, &count, &hubs);
    double lanes = 0;
    for (size_t k = 0; k < hubs; k++) lanes += (double)tasks[k].lanes;
    hub_work work = {s, tasks, m, NODE_EVALUATED};
    svmp_parallel_for(svmp_threads_for(s->threads, 100 * lanes), hubs, 1, move_hub, &work);
    size_t failed = work.failed;
    for (size_t k = hubs; k < count && failed == NODE_EVALUATED; k++) failed = move_task(s, &tasks[k], 0, m);
    return failed;
}

/* A process in which a factor failed continues to the end of the sweep, because the others wait for its messages. */
svmp_status svmp_sweep(sweeper *s, backend *b, size_t t, double gain) {
    size_t failed = NODE_EVALUATED;
    move m = {.s = s, .t = t, .seed = b->seed, .gain = gain};
    for (size_t v = 0; v < s->model->graph->moved; v++) s->accepted[v] = -1;
    for (size_t c = 0; c < s->colours; c++) {
        SVMP_TRY(svmp_backend_refresh(b)); /* the neighbours that have moved already */
        SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &m.x));
        if (failed == NODE_EVALUATED) failed = move_colour(s, c, &m);
        SVMP_TRY(svmp_backend_commit(b, ARRAY_PARTICLES));
    }
    SVMP_TRY(svmp_model_agree_all(s->model,
                                  failed == NODE_EVALUATED ? SVMP_OK : svmp_node_evaluator_fail(s->local, failed)));
    if (gain > 0) adapt(s, gain);
    return SVMP_OK;
}
