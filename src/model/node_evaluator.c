#include "model/node_evaluator.h"

#include <string.h>

#include "base/target_clones.h"
#include "base/threads.h"
#include "model/node_evaluator_plan.h"

/* Numbers that are evaluated before they are added up: they stay near. */
enum { CHUNK = 8192 };

/* Particles that share a row of the quadratic's matrix, where threads share a hub. */
enum { BLOCK = 64 };

/* What a thread works with. */
typedef struct node_workspace {
    double *value, *gradient; /* of a chunk of factors */
    double *quadratic;        /* rows of a task: the score of the quadratic at x */
    double *y, *score;        /* rows of a task, for svmp_node_evaluate_scores */
    unsigned char *own;       /* slot -> whether it is the node's, of a factor without a pattern's flags */
    void *scratch;
} node_workspace;

struct node_evaluator {
    const svmp_model *model;
    size_t n;
    int threads;
    node_plan plan;
    size_t most_nodes, most_rows;
    node_workspace *workspace; /* of each thread */
    double *parts;             /* of a hub: NODE_HUB_PARTS times value and score rows */
};

/* Where a node is evaluated. */
typedef enum where { HERE, THERE, THERE_ALONE } where; /* the last one without HERE before it */

typedef struct place {
    where where;
    const double *x, *y;
    double *value, *score; /* value NULL: not wanted */
} place;

/* ---- making ------------------------------------------------------------------------------------------------------ */

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static svmp_status alloc_workspace(const node_evaluator *l, size_t scratch, node_workspace *workspace) {
    svmp_context *context = l->model->context;
    const size_t row = l->n * sizeof(double), derivatives = larger(l->plan.most_derivatives, l->plan.most_slots);
    SVMP_TRY(SVMP_NEW(context, workspace->value, larger(CHUNK, l->n)));
    SVMP_TRY(svmp_allocate(context, larger(CHUNK / l->n + 1, derivatives), row, (void **)&workspace->gradient));
    SVMP_TRY(svmp_allocate(context, l->most_rows, row, (void **)&workspace->quadratic));
    SVMP_TRY(svmp_allocate(context, l->most_rows, row, (void **)&workspace->y));
    SVMP_TRY(svmp_allocate(context, l->most_rows, row, (void **)&workspace->score));
    SVMP_TRY(SVMP_NEW(context, workspace->own, l->plan.most_slots));
    return svmp_allocate(context, scratch, 1, &workspace->scratch);
}

static svmp_status alloc_workspaces(node_evaluator *l) {
    svmp_context *context = l->model->context;
    const node_plan *plan = &l->plan;
    size_t scratch = 0, hub_rows = 0;
    for (size_t k = 0; k < plan->pattern_count; k++) {
        const factor_group *group = &l->model->groups[plan->patterns[k].group];
        scratch = larger(scratch, group->kind->view_scratch(group, plan->patterns[k].partial, l->n));
    }
    for (size_t k = 0; k < plan->task_start[plan->colours]; k++) {
        const node_task *task = &plan->tasks[k];
        l->most_nodes = larger(l->most_nodes, task->count);
        l->most_rows = larger(l->most_rows, task->rows);
        if (task->hub) hub_rows = larger(hub_rows, task->rows + 1);
    }
    SVMP_TRY(SVMP_NEW(context, l->workspace, (size_t)l->threads));
    for (int t = 0; t < l->threads; t++) SVMP_TRY(alloc_workspace(l, scratch, &l->workspace[t]));
    return svmp_allocate(context, NODE_HUB_PARTS * hub_rows, l->n * sizeof(double), (void **)&l->parts);
}

svmp_status svmp_node_evaluator_create(const svmp_model *model, size_t n, int threads, size_t colours,
                                       const uint32_t *colour, node_evaluator **made) {
    return svmp_node_evaluator_create_share(model, n, n, threads, colours, colour, made);
}

svmp_status svmp_node_evaluator_create_share(const svmp_model *model, size_t n, size_t whole, int threads,
                                             size_t colours, const uint32_t *colour, node_evaluator **made) {
    node_evaluator *l = NULL;
    SVMP_TRY(SVMP_NEW(model->context, l, 1));
    *l = (node_evaluator){.model = model, .n = n, .threads = threads};
    svmp_status status = svmp_node_plan_create(model, whole, colours, colour, &l->plan);
    if (status == SVMP_OK) status = alloc_workspaces(l);
    if (status == SVMP_OK)
        *made = l;
    else
        svmp_node_evaluator_free(l);
    return status;
}

void svmp_node_evaluator_free(node_evaluator *l) {
    if (l == NULL) return;
    svmp_context *context = l->model->context;
    for (int t = 0; l->workspace && t < l->threads; t++) {
        node_workspace *workspace = &l->workspace[t];
        void *const arrays[] = {workspace->value, workspace->gradient, workspace->quadratic, workspace->y,
                                workspace->score, workspace->own,      workspace->scratch};
        for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(context, arrays[k]);
    }
    svmp_release(context, l->workspace);
    svmp_release(context, l->parts);
    svmp_node_plan_free(l->model, &l->plan);
    svmp_release(context, l);
}

const node_task *svmp_node_evaluator_tasks(const node_evaluator *l, size_t colour, size_t *count, size_t *hubs) {
    const size_t first = l->plan.task_start[colour];
    *count = l->plan.task_start[colour + 1] - first;
    *hubs = l->plan.hub_start[colour] - first;
    return l->plan.tasks + first;
}

size_t svmp_node_evaluator_most_nodes(const node_evaluator *l) { return l->most_nodes; }
size_t svmp_node_evaluator_most_rows(const node_evaluator *l) { return l->most_rows; }

svmp_status svmp_node_evaluator_fail(const node_evaluator *l, size_t failure) {
    return svmp_model_fail(l->model, failure);
}

size_t svmp_node_evaluator_task_count(const node_evaluator *l) { return l->plan.task_start[l->plan.colours]; }

size_t svmp_node_evaluator_task_work(const node_evaluator *l, const node_task *task) {
    const node_plan *plan = &l->plan;
    size_t work = 0;
    for (const node_run *run = plan->runs + task->run; run < plan->runs + task->run + task->runs; run++) {
        const node_pattern *pattern = &plan->patterns[run->pattern];
        const factor_group *group = &l->model->groups[pattern->group];
        work += 2 * (run->to - run->from) * (group->kind->operations(group, pattern->partial) + 1 + pattern->count);
    }
    return work;
}

/* Two operations an entry of a row, and of a score all gradients are added up. */
node_work svmp_node_evaluator_work(const node_evaluator *l) {
    const svmp_model *model = l->model;
    const size_t entries = model->quadratic.start[model->graph->moved_variables];
    node_work work = {.score = 2 * entries, .sweep = 2 * entries};
    for (size_t g = 0; g < model->group_count; g++) {
        const factor_group *group = &model->groups[g];
        work.score += group->instances * (group->kind->operations(group, NULL) + group->slots);
    }
    for (size_t k = 0; k < svmp_node_evaluator_task_count(l); k++)
        work.sweep += svmp_node_evaluator_task_work(l, &l->plan.tasks[k]);
    return work;
}

/* ---- the quadratic ----------------------------------------------------------------------------------------------- */

/* Of variable i of node v, row r of the task, particles from ... to - 1; `values` are the node's. */
typedef struct quadratic_row {
    size_t v, i, r, from, to;
    double *values;
} quadratic_row;

/* s_i(x) = b_i - sum_j A_ij x_j, kept for what follows. */
static void quadratic_here(const node_evaluator *l, const quadratic_row *at, const place *p, double *kept) {
    const size_t n = l->n;
    double *score = kept + at->r * n;
    svmp_quadratic_score(&l->model->quadratic, at->i, n, at->from, at->to, p->x, score);
    memcpy(p->score + at->r * n + at->from, score + at->from, (at->to - at->from) * sizeof *score);
}

/* s_i(y) = s_i(x) - sum over j in v of A_ij (y_j - x_j), and the difference of the values,
 * sum over i in v of (y_i - x_i) (s_i(x) + s_i(y)) / 2. */
SVMP_CLONES static void quadratic_there(const node_evaluator *l, const quadratic_row *at, const place *p,
                                        const double *kept) {
    const quadratic *q = &l->model->quadratic;
    const size_t n = l->n, first = l->model->graph->first[at->v], last = l->model->graph->first[at->v + 1];
    const double *before = kept + at->r * n, *xi = p->x + at->i * n, *yi = p->y + at->r * n;
    double *score = p->score + at->r * n;
    memcpy(score + at->from, before + at->from, (at->to - at->from) * sizeof *score);
    for (size_t e = l->plan.block[at->i]; e < q->start[at->i + 1]; e++) {
        const size_t j = q->column[e];
        if (j < first || j >= last) break;
        const double a = q->value[e], *xj = p->x + j * n, *yj = yi + j * n - at->i * n;
        for (size_t k = at->from; k < at->to; k++) score[k] -= a * (yj[k] - xj[k]);
    }
    for (size_t k = at->from; at->values && k < at->to; k++)
        at->values[k] += 0.5 * (yi[k] - xi[k]) * (before[k] + score[k]);
}

/* s_i(y) from nothing but y and the neighbours: x_v does not show in its bits. */
SVMP_CLONES static void quadratic_alone(const node_evaluator *l, const quadratic_row *at, const place *p) {
    const quadratic *q = &l->model->quadratic;
    const size_t n = l->n, first = l->model->graph->first[at->v], last = l->model->graph->first[at->v + 1];
    double *score = p->score + at->r * n;
    for (size_t k = at->from; k < at->to; k++) score[k] = q->linear[at->i];
    for (size_t e = q->start[at->i]; e < q->start[at->i + 1]; e++) {
        const size_t j = q->column[e];
        const double a = q->value[e], *from = j >= first && j < last ? p->y + (at->r + j - at->i) * n : p->x + j * n;
        for (size_t k = at->from; k < at->to; k++) score[k] -= a * from[k];
    }
}

/* Values and scores of the task begin with what the quadratic has of them, for the particles from ... to - 1. */
static void begin(const node_evaluator *l, const node_task *task, const place *p, double *kept, size_t from,
                  size_t to) {
    const size_t *first = l->model->graph->first;
    for (size_t k = 0, r = 0; k < task->count; k++) {
        const size_t v = task->nodes[k];
        double *values = p->value ? p->value + k * l->n : NULL;
        if (values) memset(values + from, 0, (to - from) * sizeof *values);
        for (size_t i = first[v]; i < first[v + 1]; i++, r++) {
            const quadratic_row at = {v, i, r, from, to, values};
            switch (p->where) {
            case HERE: quadratic_here(l, &at, p, kept); break;
            case THERE: quadratic_there(l, &at, p, kept); break;
            case THERE_ALONE: quadratic_alone(l, &at, p); break;
            }
        }
    }
}

/* ---- factors ----------------------------------------------------------------------------------------------------- */

SVMP_CLONES static void add_row(size_t n, const double *row, double *to) {
    for (size_t k = 0; k < n; k++) to[k] += row[k];
}

/* Adds what was evaluated of `count` touches from `first` on; derivative j of each is by slot slots[j]. `stride` rows
 * of derivatives belong to a touch. */
static void add_incidences(const node_evaluator *l, const node_pattern *pattern, size_t first, size_t count,
                           const place *p, const node_workspace *workspace) {
    const node_plan *plan = &l->plan;
    const factor_group *group = &l->model->groups[pattern->group];
    const size_t n = l->n, stride = pattern->partial ? pattern->count : group->slots;
    for (size_t k = 0; k < count; k++) {
        const size_t at = first + k;
        const uint32_t *variables = group->variables + plan->instance[at] * group->slots;
        if (p->value) add_row(n, workspace->value + k * n, p->value + plan->place[at] * n);
        for (size_t j = 0; j < pattern->count; j++) {
            const uint32_t slot = pattern->slots[j], row = variables[slot] + plan->shift[at];
            add_row(n, workspace->gradient + (k * stride + (pattern->partial ? j : slot)) * n, p->score + row * n);
        }
    }
}

/* Evaluates touches from ... to - 1, all of one pattern, and adds them up. Returns the factor that failed. */
static size_t evaluate_run(const node_evaluator *l, size_t pattern_number, size_t from, size_t to, const place *p,
                           const node_workspace *workspace) {
    const node_plan *plan = &l->plan;
    const node_pattern *pattern = &plan->patterns[pattern_number];
    const factor_group *group = &l->model->groups[pattern->group];
    const size_t fit = CHUNK / (pattern->count * l->n), together = pattern->partial && fit > 1 ? fit : 1;
    const unsigned char *own = pattern->own;
    if (pattern->partial == NULL) {
        memset(workspace->own, 0, group->slots);
        for (size_t j = 0; j < pattern->count; j++) workspace->own[pattern->slots[j]] = 1;
        own = workspace->own;
    }
    for (size_t first = from; first < to; first += together) {
        const size_t count = to - first < together ? to - first : together;
        const instance_view view = {.count = count,
                                    .instance = plan->instance + first,
                                    .shift = plan->shift + first,
                                    .own = own,
                                    .x = p->x,
                                    .y = p->y};
        const int wrong = group->kind->evaluate_view(group, pattern->partial, &view, l->n, workspace->scratch,
                                                     p->value ? workspace->value : NULL, workspace->gradient);
        if (wrong) return svmp_model_failure(l->model, pattern->group, plan->instance[first], wrong);
        add_incidences(l, pattern, first, count, p, workspace);
    }
    return NODE_EVALUATED;
}

/* Touches from ... to - 1 of a task. */
static size_t evaluate_incidences(const node_evaluator *l, const node_task *task, size_t from, size_t to,
                                  const place *p, const node_workspace *workspace) {
    const node_run *runs = l->plan.runs + task->run;
    for (size_t k = 0; k < task->runs; k++) {
        const size_t first = larger(runs[k].from, from), last = runs[k].to < to ? runs[k].to : to;
        if (first >= last) continue;
        const size_t failed = evaluate_run(l, runs[k].pattern, first, last, p, workspace);
        if (failed != NODE_EVALUATED) return failed;
    }
    return NODE_EVALUATED;
}

/* ---- hubs -------------------------------------------------------------------------------------------------------- */

typedef struct hub_work {
    node_evaluator *l;
    const node_task *task;
    const place *p;
    atomic_size_t failed; /* the first factor that did */
} hub_work;

static void begin_block(void *work, size_t b) {
    const hub_work *h = work;
    const size_t n = h->l->n;
    begin(h->l, h->task, h->p, h->l->workspace[0].quadratic, b * BLOCK, (b + 1) * BLOCK < n ? (b + 1) * BLOCK : n);
}

static void evaluate_share(void *work, size_t k) {
    hub_work *h = work;
    const node_task *task = h->task;
    const place *p = h->p;
    const size_t n = h->l->n, rows = task->rows + 1;
    double *sums = h->l->parts + k * rows * n;
    const place part = {p->where, p->x, p->y, p->value ? sums : NULL, sums + n};
    const size_t from = task->from + k * task->together, end = from + task->together;
    memset(sums, 0, rows * n * sizeof *sums);
    svmp_keep_least(&h->failed, evaluate_incidences(h->l, task, from, end < task->to ? end : task->to, &part,
                                                    &h->l->workspace[svmp_thread_number()]));
}

static size_t evaluate_hub(node_evaluator *l, const node_task *task, const place *p) {
    const size_t n = l->n, rows = task->rows + 1;
    const size_t parts = (task->to - task->from + task->together - 1) / task->together;
    const int threads = svmp_threads_for(l->threads, 20 * (double)task->lanes);
    hub_work work = {l, task, p, NODE_EVALUATED};
    svmp_parallel_for(threads, (n + BLOCK - 1) / BLOCK, 0, begin_block, &work);
    svmp_parallel_for(threads, parts, 1, evaluate_share, &work);
    for (size_t k = 0; k < parts; k++) {
        const double *sums = l->parts + k * rows * n;
        if (p->value) add_row(n, sums, p->value);
        add_row(task->rows * n, sums + n, p->score);
    }
    return work.failed;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static size_t evaluate(node_evaluator *l, const node_task *task, int thread, const place *p) {
    if (task->hub) return evaluate_hub(l, task, p);
    begin(l, task, p, l->workspace[thread].quadratic, 0, l->n);
    return evaluate_incidences(l, task, task->from, task->to, p, &l->workspace[thread]);
}

size_t svmp_node_evaluate_current(node_evaluator *l, const node_task *task, int thread, const double *x, double *value,
                                  double *score) {
    const place p = {HERE, x, NULL, value, score};
    return evaluate(l, task, thread, &p);
}

size_t svmp_node_evaluate_proposed(node_evaluator *l, const node_task *task, int thread, const double *x,
                                   const double *y, double *value, double *score) {
    const place p = {THERE, x, y, value, score};
    return evaluate(l, task, thread, &p);
}

/* The rows of a task out of those of all variables, or back. */
static void copy_rows(const node_evaluator *l, const node_task *task, const double *from, double *to, int out) {
    const size_t n = l->n, *first = l->model->graph->first;
    for (size_t k = 0, r = 0; k < task->count; k++) {
        const size_t i = first[task->nodes[k]], rows = first[task->nodes[k] + 1] - i;
        memcpy(to + (out ? r : i) * n, from + (out ? i : r) * n, rows * n * sizeof *to);
        r += rows;
    }
}

typedef struct score_work {
    node_evaluator *l;
    const node_task *tasks;
    const double *x, *y;
    double *score;
    atomic_size_t failed; /* the first factor that did */
} score_work;

static void score_task(void *work, size_t k) {
    score_work *s = work;
    const node_task *task = &s->tasks[k];
    const int thread = svmp_thread_number();
    node_workspace *workspace = &s->l->workspace[thread];
    const place p = {THERE_ALONE, s->x, workspace->y, NULL, workspace->score};
    copy_rows(s->l, task, s->y, workspace->y, 1);
    svmp_keep_least(&s->failed, evaluate(s->l, task, thread, &p));
    copy_rows(s->l, task, workspace->score, s->score, 0);
}

svmp_status svmp_node_evaluate_scores(node_evaluator *l, const double *x, const double *y, double *score) {
    score_work work = {l, NULL, x, y, score, NODE_EVALUATED};
    for (size_t c = 0; c < l->plan.colours; c++) {
        size_t count, hubs;
        double lanes = 0;
        work.tasks = svmp_node_evaluator_tasks(l, c, &count, &hubs);
        for (size_t k = 0; k < hubs; k++) lanes += (double)work.tasks[k].lanes;
        svmp_parallel_for(svmp_threads_for(l->threads, 20 * lanes), hubs, 1, score_task, &work);
        for (size_t k = hubs; k < count; k++) score_task(&work, k);
    }
    return work.failed == NODE_EVALUATED ? SVMP_OK : svmp_node_evaluator_fail(l, work.failed);
}
