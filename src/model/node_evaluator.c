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
typedef struct local_room {
    double *value, *gradient; /* of a chunk of factors */
    double *quadratic;        /* rows of a task: the score of the quadratic at x */
    double *y, *score;        /* rows of a task, for svmp_local_score */
    unsigned char *own;       /* slot -> whether it is the node's, of a factor without a pattern's flags */
    void *scratch;
} local_room;

struct local {
    const svmp_model *model;
    size_t n;
    int threads;
    local_plan plan;
    size_t most_nodes, most_rows;
    local_room *room; /* of each thread */
    double *parts;    /* of a hub: LOCAL_PARTS times value and score rows */
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

static svmp_status make_room(const local *l, size_t scratch, local_room *room) {
    svmp_context *context = l->model->context;
    const size_t row = l->n * sizeof(double), derivatives = larger(l->plan.most_derivatives, l->plan.most_slots);
    SVMP_TRY(SVMP_NEW(context, room->value, larger(CHUNK, l->n)));
    SVMP_TRY(svmp_allocate(context, larger(CHUNK / l->n + 1, derivatives), row, (void **)&room->gradient));
    SVMP_TRY(svmp_allocate(context, l->most_rows, row, (void **)&room->quadratic));
    SVMP_TRY(svmp_allocate(context, l->most_rows, row, (void **)&room->y));
    SVMP_TRY(svmp_allocate(context, l->most_rows, row, (void **)&room->score));
    SVMP_TRY(SVMP_NEW(context, room->own, l->plan.most_slots));
    return svmp_allocate(context, scratch, 1, &room->scratch);
}

static svmp_status make_rooms(local *l) {
    svmp_context *context = l->model->context;
    const local_plan *plan = &l->plan;
    size_t scratch = 0, hub_rows = 0;
    for (size_t k = 0; k < plan->pattern_count; k++) {
        const factor_group *group = &l->model->groups[plan->patterns[k].group];
        scratch = larger(scratch, group->kind->view_scratch(group, plan->patterns[k].partial, l->n));
    }
    for (size_t k = 0; k < plan->task_start[plan->colours]; k++) {
        const local_task *task = &plan->tasks[k];
        l->most_nodes = larger(l->most_nodes, task->count);
        l->most_rows = larger(l->most_rows, task->rows);
        if (task->hub) hub_rows = larger(hub_rows, task->rows + 1);
    }
    SVMP_TRY(SVMP_NEW(context, l->room, (size_t)l->threads));
    for (int t = 0; t < l->threads; t++) SVMP_TRY(make_room(l, scratch, &l->room[t]));
    return svmp_allocate(context, LOCAL_PARTS * hub_rows, l->n * sizeof(double), (void **)&l->parts);
}

svmp_status svmp_local_create(const svmp_model *model, size_t n, int threads, size_t colours, const uint32_t *colour,
                              local **made) {
    local *l = NULL;
    SVMP_TRY(SVMP_NEW(model->context, l, 1));
    *l = (local){.model = model, .n = n, .threads = threads};
    svmp_status status = svmp_local_plan_make(model, n, colours, colour, &l->plan);
    if (status == SVMP_OK) status = make_rooms(l);
    if (status == SVMP_OK)
        *made = l;
    else
        svmp_local_free(l);
    return status;
}

void svmp_local_free(local *l) {
    if (l == NULL) return;
    svmp_context *context = l->model->context;
    for (int t = 0; l->room && t < l->threads; t++) {
        local_room *room = &l->room[t];
        void *const arrays[] = {room->value, room->gradient, room->quadratic, room->y,
                                room->score, room->own,      room->scratch};
        for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(context, arrays[k]);
    }
    svmp_release(context, l->room);
    svmp_release(context, l->parts);
    svmp_local_plan_free(l->model, &l->plan);
    svmp_release(context, l);
}

const local_task *svmp_local_tasks(const local *l, size_t colour, size_t *count, size_t *hubs) {
    const size_t first = l->plan.task_start[colour];
    *count = l->plan.task_start[colour + 1] - first;
    *hubs = l->plan.hub_start[colour] - first;
    return l->plan.tasks + first;
}

size_t svmp_local_most_nodes(const local *l) { return l->most_nodes; }
size_t svmp_local_most_rows(const local *l) { return l->most_rows; }

svmp_status svmp_local_fail(const local *l, size_t failure) { return svmp_model_fail(l->model, failure); }

/* Two operations an entry of a row, and of a score all gradients are added up. */
local_work svmp_local_work(const local *l) {
    const svmp_model *model = l->model;
    const local_plan *plan = &l->plan;
    const size_t entries = model->quadratic.start[model->graph->moved_variables];
    local_work work = {.score = 2 * entries, .sweep = 2 * entries};
    for (size_t g = 0; g < model->group_count; g++) {
        const factor_group *group = &model->groups[g];
        work.score += group->instances * (group->kind->operations(group, NULL) + group->slots);
    }
    for (size_t k = 0; k < plan->task_start[plan->colours]; k++)
        for (const local_run *run = plan->runs + plan->tasks[k].run;
             run < plan->runs + plan->tasks[k].run + plan->tasks[k].runs; run++) {
            const local_pattern *pattern = &plan->patterns[run->pattern];
            const factor_group *group = &model->groups[pattern->group];
            work.sweep +=
                2 * (run->to - run->from) * (group->kind->operations(group, pattern->partial) + 1 + pattern->count);
        }
    return work;
}

/* ---- the quadratic ----------------------------------------------------------------------------------------------- */

/* Of variable i of node v, row r of the task, particles from ... to - 1; `values` are the node's. */
typedef struct quadratic_row {
    size_t v, i, r, from, to;
    double *values;
} quadratic_row;

/* s_i(x) = b_i - sum_j A_ij x_j, kept for what follows. */
static void quadratic_here(const local *l, const quadratic_row *at, const place *p, double *kept) {
    const size_t n = l->n;
    double *score = kept + at->r * n;
    svmp_quadratic_score(&l->model->quadratic, at->i, n, at->from, at->to, p->x, score);
    memcpy(p->score + at->r * n + at->from, score + at->from, (at->to - at->from) * sizeof *score);
}

/* s_i(y) = s_i(x) - sum over j in v of A_ij (y_j - x_j), and the difference of the values,
 * sum over i in v of (y_i - x_i) (s_i(x) + s_i(y)) / 2. */
SVMP_CLONES static void quadratic_there(const local *l, const quadratic_row *at, const place *p, const double *kept) {
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
SVMP_CLONES static void quadratic_alone(const local *l, const quadratic_row *at, const place *p) {
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
static void begin(const local *l, const local_task *task, const place *p, double *kept, size_t from, size_t to) {
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
static void add_touches(const local *l, const local_pattern *pattern, size_t first, size_t count, const place *p,
                        const local_room *room) {
    const local_plan *plan = &l->plan;
    const factor_group *group = &l->model->groups[pattern->group];
    const size_t n = l->n, stride = pattern->partial ? pattern->count : group->slots;
    for (size_t k = 0; k < count; k++) {
        const size_t at = first + k;
        const uint32_t *variables = group->variables + plan->instance[at] * group->slots;
        if (p->value) add_row(n, room->value + k * n, p->value + plan->place[at] * n);
        for (size_t j = 0; j < pattern->count; j++) {
            const uint32_t slot = pattern->slots[j], row = variables[slot] + plan->shift[at];
            add_row(n, room->gradient + (k * stride + (pattern->partial ? j : slot)) * n, p->score + row * n);
        }
    }
}

/* Evaluates touches from ... to - 1, all of one pattern, and adds them up. Returns the factor that failed. */
static size_t evaluate_run(const local *l, size_t pattern_number, size_t from, size_t to, const place *p,
                           const local_room *room) {
    const local_plan *plan = &l->plan;
    const local_pattern *pattern = &plan->patterns[pattern_number];
    const factor_group *group = &l->model->groups[pattern->group];
    const size_t fit = CHUNK / (pattern->count * l->n), together = pattern->partial && fit > 1 ? fit : 1;
    const unsigned char *own = pattern->own;
    if (pattern->partial == NULL) {
        memset(room->own, 0, group->slots);
        for (size_t j = 0; j < pattern->count; j++) room->own[pattern->slots[j]] = 1;
        own = room->own;
    }
    for (size_t first = from; first < to; first += together) {
        const size_t count = to - first < together ? to - first : together;
        const instance_view view = {count, plan->instance + first, plan->shift + first, own, p->x, p->y};
        const int wrong = group->kind->evaluate_view(group, pattern->partial, &view, l->n, room->scratch,
                                                     p->value ? room->value : NULL, room->gradient);
        if (wrong) return svmp_model_failure(l->model, pattern->group, plan->instance[first], wrong);
        add_touches(l, pattern, first, count, p, room);
    }
    return LOCAL_DONE;
}

/* Touches from ... to - 1 of a task. */
static size_t evaluate_touches(const local *l, const local_task *task, size_t from, size_t to, const place *p,
                               const local_room *room) {
    const local_run *runs = l->plan.runs + task->run;
    for (size_t k = 0; k < task->runs; k++) {
        const size_t first = larger(runs[k].from, from), last = runs[k].to < to ? runs[k].to : to;
        if (first >= last) continue;
        const size_t failed = evaluate_run(l, runs[k].pattern, first, last, p, room);
        if (failed != LOCAL_DONE) return failed;
    }
    return LOCAL_DONE;
}

/* ---- hubs -------------------------------------------------------------------------------------------------------- */

typedef struct hub_work {
    local *l;
    const local_task *task;
    const place *p;
    atomic_size_t failed; /* the first factor that did */
} hub_work;

static void begin_block(void *work, size_t b) {
    const hub_work *h = work;
    const size_t n = h->l->n;
    begin(h->l, h->task, h->p, h->l->room[0].quadratic, b * BLOCK, (b + 1) * BLOCK < n ? (b + 1) * BLOCK : n);
}

static void evaluate_share(void *work, size_t k) {
    hub_work *h = work;
    const local_task *task = h->task;
    const place *p = h->p;
    const size_t n = h->l->n, rows = task->rows + 1;
    double *sums = h->l->parts + k * rows * n;
    const place part = {p->where, p->x, p->y, p->value ? sums : NULL, sums + n};
    const size_t from = task->from + k * task->together, end = from + task->together;
    memset(sums, 0, rows * n * sizeof *sums);
    svmp_keep_least(&h->failed, evaluate_touches(h->l, task, from, end < task->to ? end : task->to, &part,
                                                 &h->l->room[svmp_thread_number()]));
}

static size_t evaluate_hub(local *l, const local_task *task, const place *p) {
    const size_t n = l->n, rows = task->rows + 1;
    const size_t parts = (task->to - task->from + task->together - 1) / task->together;
    const int threads = svmp_threads_for(l->threads, 20 * (double)task->lanes);
    hub_work work = {l, task, p, LOCAL_DONE};
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

static size_t evaluate(local *l, const local_task *task, int thread, const place *p) {
    if (task->hub) return evaluate_hub(l, task, p);
    begin(l, task, p, l->room[thread].quadratic, 0, l->n);
    return evaluate_touches(l, task, task->from, task->to, p, &l->room[thread]);
}

size_t svmp_local_here(local *l, const local_task *task, int thread, const double *x, double *value, double *score) {
    const place p = {HERE, x, NULL, value, score};
    return evaluate(l, task, thread, &p);
}

size_t svmp_local_there(local *l, const local_task *task, int thread, const double *x, const double *y, double *value,
                        double *score) {
    const place p = {THERE, x, y, value, score};
    return evaluate(l, task, thread, &p);
}

/* The rows of a task out of those of all variables, or back. */
static void copy_rows(const local *l, const local_task *task, const double *from, double *to, int out) {
    const size_t n = l->n, *first = l->model->graph->first;
    for (size_t k = 0, r = 0; k < task->count; k++) {
        const size_t i = first[task->nodes[k]], rows = first[task->nodes[k] + 1] - i;
        memcpy(to + (out ? r : i) * n, from + (out ? i : r) * n, rows * n * sizeof *to);
        r += rows;
    }
}

typedef struct score_work {
    local *l;
    const local_task *tasks;
    const double *x, *y;
    double *score;
    atomic_size_t failed; /* the first factor that did */
} score_work;

static void score_task(void *work, size_t k) {
    score_work *s = work;
    const local_task *task = &s->tasks[k];
    const int thread = svmp_thread_number();
    local_room *room = &s->l->room[thread];
    const place p = {THERE_ALONE, s->x, room->y, NULL, room->score};
    copy_rows(s->l, task, s->y, room->y, 1);
    svmp_keep_least(&s->failed, evaluate(s->l, task, thread, &p));
    copy_rows(s->l, task, room->score, s->score, 0);
}

svmp_status svmp_local_score(local *l, const double *x, const double *y, double *score) {
    score_work work = {l, NULL, x, y, score, LOCAL_DONE};
    for (size_t c = 0; c < l->plan.colours; c++) {
        size_t count, hubs;
        double lanes = 0;
        work.tasks = svmp_local_tasks(l, c, &count, &hubs);
        for (size_t k = 0; k < hubs; k++) lanes += (double)work.tasks[k].lanes;
        svmp_parallel_for(svmp_threads_for(l->threads, 20 * lanes), hubs, 1, score_task, &work);
        for (size_t k = hubs; k < count; k++) score_task(&work, k);
    }
    return work.failed == LOCAL_DONE ? SVMP_OK : svmp_local_fail(l, work.failed);
}
