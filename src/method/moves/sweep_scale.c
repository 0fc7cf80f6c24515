/* The scales of local moves: estimates, saves and loads them. */
#include <math.h>
#include <string.h>

#include "base/peers.h"
#include "base/row_sums.h"
#include "base/threads.h"
#include "maths/order_statistics.h"
#include "method/moves/move_constants.h"
#include "method/moves/sweep_state.h"

/* ---- curvature --------------------------------------------------------------------------------------------------- */

/* sd of n numbers; 0 if they differ by rounding errors only, as for a single particle and equal ones. */
static double spread_of(size_t n, const double *x) {
    static const double rounding = 0x1p-30; /* so that 1e-4 of the sd still changes the sum */
    double mean = 0, square = 0;
    for (size_t l = 0; l < n; l++) mean += x[l] / (double)n;
    for (size_t l = 0; l < n; l++) square += (x[l] - mean) * (x[l] - mean) / (double)n;
    const double sd = sqrt(square);
    return sd > rounding * fabs(mean) && isfinite(sd) ? sd : 0;
}

/* The median of the finite numbers among n, which it reorders; NaN if there are none. */
static double median(size_t n, double *values) {
    size_t finite = 0;
    for (size_t l = 0; l < n; l++)
        if (isfinite(values[l])) values[finite++] = values[l];
    return finite ? svmp_select(values, finite, finite / 2) : NAN;
}

/* A diagonal entry must be positive: if the log density is convex or linear, uses the size of the second derivative, or
 * of the score. */
static double positive(double curvature, double square_score) {
    const double least = 1e-200, most = 1e200;
    const double size = fabs(curvature);
    if (size > least && size < most) return size;
    return square_score > least && square_score < most ? square_score : 1;
}

/* log det(L) / d, by which epsilon is rescaled when the shape is estimated again. */
static double log_size(const sweeper *s, size_t v) {
    const size_t d = svmp_sweep_dimension(s, v);
    double sum = 0;
    for (size_t j = 0; j < d; j++) sum += log(svmp_sweep_factor(s, v, j)[j]);
    return sum / (double)d;
}

/* Sets the node's A, d*d numbers or its diagonal. A matrix that is not positive definite is replaced by its
 * diagonal. */
static void set_factor(sweeper *s, size_t v, const double *square_score, double *a, int again) {
    const size_t d = svmp_sweep_dimension(s, v);
    const double before = log_size(s, v);
    double diagonal[SWEEP_BLOCK];
    if (d > SWEEP_BLOCK) {
        for (size_t j = 0; j < d; j++) svmp_sweep_factor(s, v, j)[j] = sqrt(positive(NAN, square_score[j]));
    } else {
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < i; j++) a[i * d + j] = a[j * d + i] = 0.5 * (a[i * d + j] + a[j * d + i]);
        for (size_t j = 0; j < d; j++) diagonal[j] = a[j * d + j] = positive(a[j * d + j], square_score[j]);
        const int definite = svmp_small_cholesky(d, a);
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j <= i; j++)
                svmp_sweep_factor(s, v, i)[j] = definite ? a[i * d + j] : i == j ? sqrt(diagonal[i]) : 0;
    }
    if (again) s->log_step[v] += log_size(s, v) - before;
}

typedef struct measuring {
    sweeper *s;
    const double *x;
    int again;
} measuring;

static size_t dimension_of(const measuring *m, const node_task *task, size_t k) {
    return svmp_sweep_dimension(m->s, task->nodes[k]);
}

/* Whether the matrix of a node is to be estimated. */
static int is_measured(const measuring *m, size_t dimension) {
    return dimension <= SWEEP_BLOCK && (dimension > 1 || !m->again);
}

/* y: the j-th variable of every node that has one, displaced by `sign` times the step. */
static void displace(const measuring *m, const node_task *task, size_t j, double sign, double *y) {
    const size_t n = m->s->n, *first = m->s->model->graph->first;
    for (size_t k = 0, r = 0; k < task->count; k++) {
        const size_t i = first[task->nodes[k]], d = dimension_of(m, task, k);
        memcpy(y + r * n, m->x + i * n, d * n * sizeof *y);
        for (size_t l = 0; j < d && l < n; l++)
            y[(r + j) * n + l] += sign * difference_step * fabs(m->s->spread[i + j]);
        r += d;
    }
}

/* Column j of the matrices: -d s / dx_j, by central differences of the scores. */
static void difference(const measuring *m, const node_task *task, size_t j, const sweep_workspace *workspace) {
    const size_t n = m->s->n, *first = m->s->model->graph->first;
    double *a = workspace->matrices;
    for (size_t k = 0, r = 0; k < task->count; k++) {
        const size_t d = dimension_of(m, task, k);
        for (size_t i = 0; j < d && is_measured(m, d) && i < d; i++) {
            const double width = 2 * difference_step * m->s->spread[first[task->nodes[k]] + j];
            const double *below = workspace->w + (r + i) * n, *above = workspace->score_proposed + (r + i) * n;
            for (size_t l = 0; l < n; l++) workspace->log_ratio[l] = (below[l] - above[l]) / width;
            a[i * d + j] = median(n, workspace->log_ratio);
        }
        if (d <= SWEEP_BLOCK) a += d * d;
        r += d;
    }
}

/* The medians of the squares of the scores. */
static void square_scores(const measuring *m, const node_task *task, const sweep_workspace *workspace) {
    const size_t n = m->s->n;
    for (size_t r = 0; r < task->rows; r++) {
        for (size_t l = 0; l < n; l++)
            workspace->log_ratio[l] = workspace->score[r * n + l] * workspace->score[r * n + l];
        workspace->squares[r] = median(n, workspace->log_ratio);
    }
}

/* The scores with the j-th variable of every node displaced to both sides: lower ones in w, upper ones in
 * score_proposed. Returns the factor that failed. */
static size_t score_sides(const measuring *m, const node_task *task, int thread, size_t j) {
    const sweeper *s = m->s;
    const sweep_workspace *workspace = &s->workspace[thread];
    displace(m, task, j, -1, workspace->y);
    const size_t failed = svmp_node_evaluate_proposed(s->local, task, thread, m->x, workspace->y, NULL, workspace->w);
    if (failed != NODE_EVALUATED) return failed;
    displace(m, task, j, 1, workspace->y);
    return svmp_node_evaluate_proposed(s->local, task, thread, m->x, workspace->y, NULL, workspace->score_proposed);
}

/* ---- where the particles do not vary ----------------------------------------------------------------------------- */

/* If the particles do not vary, the length for differences comes from the density: first 1/|s|, then 1/sqrt(curvature)
 * with the curvature estimated at this length, until it converges. During the search `spread` is negative. */

/* The initial lengths of the task's variables that need one. Returns whether there are any. */
static int begin_search(const measuring *m, const node_task *task, const sweep_workspace *workspace) {
    const size_t n = m->s->n, *first = m->s->model->graph->first;
    int any = 0;
    for (size_t k = 0, r = 0; k < task->count; k++)
        for (size_t j = 0; j < dimension_of(m, task, k); j++, r++) {
            const size_t i = first[task->nodes[k]] + j;
            const double length = 1 / sqrt(workspace->squares[r]), size = fabs(m->x[i * n]);
            if (m->s->spread[i] > 0) continue;
            m->s->spread[i] = -fmax(length > 0 && isfinite(length) ? length : size > 0 ? size : 1, 0x1p-30 * size);
            any = 1;
        }
    return any;
}

/* Updates the lengths of the j-th variables from the scores at both sides. */
static void search_on(const measuring *m, const node_task *task, size_t j, const sweep_workspace *workspace) {
    const size_t n = m->s->n, *first = m->s->model->graph->first;
    for (size_t k = 0, r = 0; k < task->count; r += dimension_of(m, task, k++)) {
        if (j >= dimension_of(m, task, k)) continue;
        const size_t i = first[task->nodes[k]] + j;
        double *spread = &m->s->spread[i];
        if (*spread > 0) continue;
        const double width = -2 * difference_step * *spread;
        const double *below = workspace->w + (r + j) * n, *above = workspace->score_proposed + (r + j) * n;
        for (size_t l = 0; l < n; l++) workspace->log_ratio[l] = fabs(below[l] - above[l]) / width;
        const double curvature = median(n, workspace->log_ratio), length = 1 / sqrt(curvature);
        const double least = 0x1p-30 * fabs(m->x[i * n]);
        if (!isfinite(curvature))
            *spread /= 16; /* too far */
        else if (isfinite(length) && length > 0 && (length < -0.25 * *spread || length > -4 * *spread))
            *spread = -fmax(length, least);
        else
            *spread = -*spread;
        if (-*spread == least) *spread = least;
    }
}

/* Returns the factor that failed. */
static size_t search_lengths(const measuring *m, const node_task *task, int thread, size_t columns) {
    const sweep_workspace *workspace = &m->s->workspace[thread];
    const size_t *first = m->s->model->graph->first;
    if (!begin_search(m, task, workspace)) return NODE_EVALUATED;
    for (int search = 0, any = 1; search < LENGTH_SEARCHES && any; search++) {
        for (size_t j = 0; j < columns; j++) {
            const size_t failed = score_sides(m, task, thread, j);
            if (failed != NODE_EVALUATED) return failed;
            search_on(m, task, j, workspace);
        }
        any = 0;
        for (size_t k = 0; k < task->count; k++)
            for (size_t j = 0; j < dimension_of(m, task, k); j++) any |= m->s->spread[first[task->nodes[k]] + j] < 0;
    }
    for (size_t k = 0; k < task->count; k++)
        for (size_t j = 0; j < dimension_of(m, task, k); j++) {
            double *spread = &m->s->spread[first[task->nodes[k]] + j];
            *spread = fabs(*spread);
        }
    return NODE_EVALUATED;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

/* Returns the factor that failed. */
static size_t measure_task(const measuring *m, const node_task *task, int thread) {
    sweeper *s = m->s;
    if (s->period[svmp_sweep_task_number(s, task)] == 0) return NODE_EVALUATED;
    const sweep_workspace *workspace = &s->workspace[thread];
    size_t columns = 0, failed = svmp_node_evaluate_current(s->local, task, thread, m->x, NULL, workspace->score);
    for (size_t k = 0; k < task->count; k++) {
        const size_t d = dimension_of(m, task, k);
        if (is_measured(m, d) && d > columns) columns = d;
    }
    square_scores(m, task, workspace);
    if (failed == NODE_EVALUATED) failed = search_lengths(m, task, thread, columns);
    for (size_t j = 0; j < columns && failed == NODE_EVALUATED; j++) {
        failed = score_sides(m, task, thread, j);
        difference(m, task, j, workspace);
    }
    double *a = workspace->matrices;
    for (size_t k = 0, r = 0; k < task->count && failed == NODE_EVALUATED; k++) {
        const size_t d = dimension_of(m, task, k);
        if (d > 1 || !m->again) set_factor(s, task->nodes[k], workspace->squares + r, a, m->again);
        if (d <= SWEEP_BLOCK) a += d * d;
        r += d;
    }
    return failed;
}

typedef struct hub_work {
    const measuring *m;
    const node_task *tasks;
    atomic_size_t failed; /* the first factor that failed */
} hub_work;

static void measure_hub(void *work, size_t k) {
    hub_work *w = work;
    svmp_keep_least(&w->failed, measure_task(w->m, &w->tasks[k], svmp_thread_number()));
}

static size_t measure_colour(const measuring *m, size_t colour) {
    const sweeper *s = m->s;
    size_t count, hubs;
    const node_task *tasks = svmp_node_evaluator_tasks(s->local, colour, &count, &hubs);
    hub_work work = {m, tasks, NODE_EVALUATED};
    svmp_parallel_for(s->threads, hubs, 1, measure_hub, &work);
    size_t failed = work.failed;
    for (size_t k = hubs; k < count && failed == NODE_EVALUATED; k++) failed = measure_task(m, &tasks[k], 0);
    return failed;
}

static void measure_spread(void *work, size_t i) {
    const measuring *m = work;
    m->s->spread[i] = spread_of(m->s->n, m->x + i * m->s->n);
}

static void copy_scales(sweeper *to, const sweeper *from) {
    const size_t own = from->model->graph->moved;
    memcpy(to->log_step, from->log_step, own * sizeof *to->log_step);
    memcpy(to->factor, from->factor, from->factor_at[own] * sizeof *to->factor);
    memcpy(to->period, from->period, svmp_node_evaluator_task_count(from->local) * sizeof *to->period);
}

/* With all particles, of which s moves a share. */
static svmp_status measure_with_all(sweeper *s, backend *all, int again) {
    sweeper *whole = NULL;
    SVMP_TRY(svmp_sweeper_create(all, &whole));
    copy_scales(whole, s);
    const svmp_status status = svmp_sweeper_measure_curvature(whole, all, again);
    copy_scales(s, whole);
    svmp_sweeper_free(whole);
    return status;
}

svmp_status svmp_sweeper_measure_curvature(sweeper *s, backend *b, int again) {
    if (b->n != s->n) return measure_with_all(s, b, again);
    const size_t variables = s->model->graph->moved_variables;
    const double *x = NULL;
    size_t failed = NODE_EVALUATED;
    SVMP_TRY(svmp_backend_refresh(b));
    SVMP_TRY(svmp_backend_view(b, ARRAY_PARTICLES, &x));
    measuring m = {s, x, again};
    const int threads = svmp_threads_for(s->threads, 4 * (double)variables * (double)s->n);
    svmp_parallel_for(threads, variables, 0, measure_spread, &m);
    for (size_t c = 0; c < s->colours && failed == NODE_EVALUATED; c++) failed = measure_colour(&m, c);
    return svmp_model_agree(s->model, failed == NODE_EVALUATED ? SVMP_OK : svmp_node_evaluator_fail(s->local, failed));
}

/* ---- saved and loaded -------------------------------------------------------------------------------------------- */

/* Column c of the factors L of all nodes, a number per variable: 0 if a node has no such column. */
static void exchange_column(const sweeper *s, size_t c, int loading, double *column) {
    const svmp_graph *graph = s->model->graph;
    for (size_t v = 0; v < graph->moved; v++) {
        const size_t d = svmp_sweep_dimension(s, v);
        for (size_t j = 0; j < d; j++) {
            const size_t at = d <= SWEEP_BLOCK ? c : j; /* a large node has only the diagonal, in column 0 */
            double *number = &column[graph->first[v] + j];
            const int there = d <= SWEEP_BLOCK ? c <= j : c == 0;
            if (loading && there) svmp_sweep_factor(s, v, j)[at] = *number;
            if (!loading) *number = there ? svmp_sweep_factor(s, v, j)[at] : 0;
        }
    }
}

/* The largest dimension of a node with a full L, over all processes. */
static size_t most_columns(const sweeper *s) {
    double most = 1;
    for (size_t v = 0; v < s->model->graph->moved; v++) {
        const size_t d = svmp_sweep_dimension(s, v);
        if (d <= SWEEP_BLOCK && (double)d > most) most = (double)d;
    }
    const svmp_peers *peers = s->model->graph->peers;
    peers->max(peers, 1, &most);
    return (size_t)most;
}

svmp_status svmp_sweeper_state(sweeper *s, archive *a) {
    const svmp_graph *graph = s->model->graph;
    double *column = s->spread;
    for (size_t v = 0; v < graph->moved; v++)
        for (size_t i = graph->first[v]; i < graph->first[v + 1]; i++) column[i] = s->log_step[v];
    SVMP_TRY(svmp_archive_rows(a, "log step", 1, column));
    for (size_t v = 0; v < graph->moved && a->loading; v++) s->log_step[v] = column[graph->first[v]];
    const size_t columns = most_columns(s);
    for (size_t c = 0; c < columns; c++) {
        exchange_column(s, c, 0, column);
        SVMP_TRY(svmp_archive_rows(a, "scale", 1, column));
        if (a->loading) exchange_column(s, c, 1, column);
    }
    return SVMP_OK;
}
