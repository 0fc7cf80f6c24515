#include "model/curvature.h"

#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "expr/hessian.h"
#include "maths/eigenvalues.h"
#include "model/curvature_group.h"

/* Instances with the same variables are added up in cells, at most so many cells for a run of them; a task is as many
 * cells as have about so many instances. How threads share the tasks does not matter. */
enum { CELLS_PER_RUN = 16, LEAST_CELL = 64, TASK_INSTANCES = 64, CLIP_SLOTS = 64 };

/* Instances first ... first + count - 1 of a group, all of the same variables. */
typedef struct cell {
    uint32_t group;
    size_t first, count;
    size_t at; /* of its pairs in `part` */
} cell;

struct curvature {
    const svmp_model *model;
    size_t n; /* that there is room for */
    int threads;
    sparsity pattern;
    curvature_group *groups;
    cell *cells;
    size_t cell_count, cell_capacity;
    size_t *tasks; /* task -> its first cell; task_count + 1 */
    size_t task_count, task_capacity;
    double *part;       /* the curvature of each cell, pair by pair */
    uint32_t *place;    /* where it goes in the pattern */
    uint32_t *diagonal; /* entry of the quadratic's lower triangle -> where it goes */
    void **workspace;   /* thread -> scratch of the groups */
    size_t *workspace_size;
};

/* ---- plans ------------------------------------------------------------------------------------------------------- */

/* How many instances from k on have the same variables. */
static size_t run_length(const factor_group *group, size_t k) {
    const uint32_t *variables = group->variables + k * group->slots;
    size_t end = k + 1;
    while (end < group->instances && (group->slots == 0 || memcmp(variables, group->variables + end * group->slots,
                                                                  group->slots * sizeof *variables) == 0))
        end++;
    return end - k;
}

static svmp_status plan_cells(curvature *c, size_t *numbers) {
    svmp_context *context = c->model->context;
    *numbers = 0;
    for (uint32_t g = 0; g < c->model->group_count; g++) {
        const factor_group *group = &c->model->groups[g];
        for (size_t k = 0, run; c->groups[g].pairs > 0 && k < group->instances; k += run) {
            run = run_length(group, k);
            size_t most = (run + CELLS_PER_RUN - 1) / CELLS_PER_RUN;
            if (most < LEAST_CELL) most = LEAST_CELL;
            for (size_t done = 0; done < run; done += most) {
                SVMP_TRY(SVMP_GROW(context, c->cells, c->cell_capacity, c->cell_count + 1));
                c->cells[c->cell_count++] = (cell){g, k + done, run - done < most ? run - done : most, *numbers};
                *numbers += c->groups[g].pairs;
            }
        }
    }
    return SVMP_OK;
}

static svmp_status plan_tasks(curvature *c) {
    size_t instances = 0;
    for (size_t k = 0; k <= c->cell_count; k++) {
        const cell *here = &c->cells[k];
        const int begins =
            k == 0 || k == c->cell_count || here->group != here[-1].group || instances + here->count > TASK_INSTANCES;
        if (begins) {
            SVMP_TRY(SVMP_GROW(c->model->context, c->tasks, c->task_capacity, c->task_count + 1));
            c->tasks[c->task_count++] = k;
            instances = 0;
        }
        if (k < c->cell_count) instances += here->count;
    }
    c->task_count--; /* the last one only ends the one before */
    return SVMP_OK;
}

static size_t quadratic_lower(const svmp_model *model) {
    const quadratic *q = &model->quadratic;
    size_t count = 0;
    for (size_t i = 0; i < model->graph->variables; i++)
        for (size_t e = q->start[i]; e < q->start[i + 1]; e++) count += q->column[e] <= i;
    return count;
}

/* The places of the cells' pairs, then of the quadratic. */
static void list_places(const curvature *c, sparse_place *places) {
    const quadratic *q = &c->model->quadratic;
    for (size_t k = 0; k < c->cell_count; k++) {
        const curvature_group *group = &c->groups[c->cells[k].group];
        const factor_group *factors = &c->model->groups[c->cells[k].group];
        const uint32_t *variables = factors->variables + c->cells[k].first * factors->slots;
        for (size_t p = 0; p < group->pairs; p++)
            *places++ = (sparse_place){variables[group->row[p]], variables[group->column[p]]};
    }
    for (uint32_t i = 0; i < c->model->graph->variables; i++)
        for (size_t e = q->start[i]; e < q->start[i + 1]; e++)
            if (q->column[e] <= i) *places++ = (sparse_place){i, q->column[e]};
}

static svmp_status plan_pattern(curvature *c, size_t numbers) {
    svmp_context *context = c->model->context;
    const size_t count = numbers + quadratic_lower(c->model);
    sparse_place *places = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, places, count));
    SVMP_CHECK(SVMP_NEW(context, c->place, count));
    list_places(c, places);
    SVMP_CHECK(svmp_sparsity_create(context, c->model->graph->variables, count, places, c->place, &c->pattern));
    c->diagonal = c->place + numbers;
done:
    svmp_release(context, places);
    return status;
}

static svmp_status prepare(curvature *c) {
    const svmp_model *model = c->model;
    svmp_context *context = model->context;
    size_t numbers;
    SVMP_TRY(SVMP_NEW(context, c->groups, model->group_count));
    for (size_t g = 0; g < model->group_count; g++)
        SVMP_TRY(svmp_curvature_group_create(context, &model->groups[g], &c->groups[g]));
    SVMP_TRY(plan_cells(c, &numbers));
    SVMP_TRY(plan_tasks(c));
    SVMP_TRY(plan_pattern(c, numbers));
    SVMP_TRY(SVMP_NEW(context, c->part, numbers));
    SVMP_TRY(SVMP_NEW(context, c->workspace, (size_t)c->threads));
    return SVMP_NEW(context, c->workspace_size, (size_t)c->threads);
}

/* Scratch for n particles; fewer may need more. */
static svmp_status alloc_workspace(curvature *c, size_t n) {
    size_t bytes = 1;
    if (n == c->n) return SVMP_OK;
    c->n = 0;
    for (size_t g = 0; g < c->model->group_count; g++) {
        const size_t own = svmp_curvature_group_scratch(&c->groups[g], n, TASK_INSTANCES);
        if (own > bytes) bytes = own;
    }
    for (int t = 0; t < c->threads; t++)
        SVMP_TRY(svmp_grow(c->model->context, bytes, 1, &c->workspace[t], &c->workspace_size[t]));
    c->n = n;
    return SVMP_OK;
}

svmp_status svmp_curvature_create(const svmp_model *model, int threads, curvature **made) {
    curvature *c = NULL;
    SVMP_TRY(svmp_model_require_whole(model, "The curvature"));
    SVMP_TRY(SVMP_NEW(model->context, c, 1));
    *c = (curvature){.model = model, .threads = threads};
    svmp_status status = prepare(c);
    if (status == SVMP_OK)
        *made = c;
    else
        svmp_curvature_free(c);
    return status;
}

void svmp_curvature_free(curvature *c) {
    if (c == NULL) return;
    svmp_context *context = c->model->context;
    for (size_t g = 0; c->groups && g < c->model->group_count; g++) svmp_curvature_group_free(context, &c->groups[g]);
    for (int t = 0; c->workspace && t < c->threads; t++) svmp_release(context, c->workspace[t]);
    svmp_sparsity_free(context, &c->pattern);
    svmp_release(context, c->groups);
    svmp_release(context, c->cells);
    svmp_release(context, c->tasks);
    svmp_release(context, c->part);
    svmp_release(context, c->place);
    svmp_release(context, c->workspace);
    svmp_release(context, c->workspace_size);
    svmp_release(context, c);
}

const sparsity *svmp_curvature_pattern(const curvature *c) { return &c->pattern; }

int svmp_curvature_is_expensive(const curvature *c) {
    for (size_t g = 0; g < c->model->group_count; g++)
        if (svmp_curvature_group_is_expensive(&c->groups[g])) return 1;
    return 0;
}

/* ---- evaluation -------------------------------------------------------------------------------------------------- */

/* The cells of a task, whose instances follow one another. Returns a failure, or FAILURE_NONE. */
static size_t evaluate_task(curvature *c, size_t task, const double *x, const double *width, void *workspace) {
    const cell *here = &c->cells[c->tasks[task]], *last = &c->cells[c->tasks[task + 1] - 1];
    const curvature_group *group = &c->groups[here->group];
    const size_t end = last->first + last->count;
    double *mean = workspace;
    void *scratch = mean + TASK_INSTANCES * group->pairs;
    for (size_t first = here->first; first < end; first += TASK_INSTANCES) {
        const size_t count = end - first < TASK_INSTANCES ? end - first : TASK_INSTANCES;
        const int wrong = svmp_curvature_group_mean(group, first, count, c->n, x, width, scratch, mean);
        if (wrong) return svmp_model_failure(c->model, here->group, first, wrong);
        for (size_t i = 0; i < count; i++) {
            if (first + i == here->first + here->count) here++;
            double *sum = c->part + here->at;
            if (first + i == here->first) memset(sum, 0, group->pairs * sizeof *sum);
            for (size_t p = 0; p < group->pairs; p++) sum[p] -= mean[i * group->pairs + p];
        }
    }
    return FAILURE_NONE;
}

/* A variable that stands in two slots has its part of the diagonal from both halves of their pair. */
static void add_cells(const curvature *c, double *H) {
    for (size_t k = 0; k < c->cell_count; k++) {
        const cell *here = &c->cells[k];
        const curvature_group *group = &c->groups[here->group];
        const factor_group *factors = &c->model->groups[here->group];
        const uint32_t *variables = factors->variables + here->first * factors->slots;
        for (size_t p = 0; p < group->pairs; p++) {
            const uint32_t a = group->row[p], b = group->column[p];
            const int twice = a != b && variables[a] == variables[b];
            H[c->place[here->at + p]] += twice ? 2 * c->part[here->at + p] : c->part[here->at + p];
        }
    }
}

static void add_quadratic(const curvature *c, double *H) {
    const quadratic *q = &c->model->quadratic;
    const uint32_t *place = c->diagonal;
    for (size_t i = 0; i < c->pattern.order; i++)
        for (size_t e = q->start[i]; e < q->start[i + 1]; e++)
            if (q->column[e] <= i) H[*place++] += q->value[e];
}

static void add_up(const curvature *c, double *H) {
    memset(H, 0, c->pattern.entries * sizeof *H);
    add_quadratic(c, H);
    add_cells(c, H);
}

typedef struct curvature_work {
    curvature *c;
    const double *x, *width;
    atomic_size_t failed; /* the first factor that did */
} curvature_work;

static void do_task(void *work, size_t task) {
    curvature_work *w = work;
    svmp_keep_least(&w->failed, evaluate_task(w->c, task, w->x, w->width, w->c->workspace[svmp_thread_number()]));
}

svmp_status svmp_curvature_evaluate(curvature *c, size_t n, const double *x, const double *width, double *H) {
    curvature_work work = {c, x, width, FAILURE_NONE};
    SVMP_TRY(alloc_workspace(c, n));
    svmp_parallel_for(c->threads, c->task_count, 1, do_task, &work);
    if (work.failed != FAILURE_NONE) return svmp_model_fail(c->model, work.failed);
    add_up(c, H);
    return SVMP_OK;
}

/* ---- without negative eigenvalues -------------------------------------------------------------------------------- */

/* Room for a factor of CLIP_SLOTS slots: its matrix, eigenvectors, eigenvalues. */
typedef struct clip_workspace {
    double matrix[CLIP_SLOTS * CLIP_SLOTS], vectors[CLIP_SLOTS * CLIP_SLOTS], value[CLIP_SLOTS], workspace[CLIP_SLOTS];
    size_t first[CLIP_SLOTS]; /* slot -> the first one with the same variable */
} clip_workspace;

/* A slot whose variable stands before it has its numbers there: H is that of the variables. */
static void gather_cell(const curvature *c, const cell *here, const double *unit, clip_workspace *r) {
    const curvature_group *group = &c->groups[here->group];
    const size_t slots = group->factors->slots;
    const uint32_t *variables = group->factors->variables + here->first * slots;
    for (size_t a = 0; a < slots; a++)
        for (r->first[a] = 0; variables[r->first[a]] != variables[a];) r->first[a]++;
    memset(r->matrix, 0, slots * slots * sizeof *r->matrix);
    for (size_t p = 0; p < group->pairs; p++) {
        const size_t a = group->row[p], b = group->column[p], i = r->first[a], j = r->first[b];
        const double h = c->part[here->at + p] / (unit[variables[a]] * unit[variables[b]]);
        r->matrix[i * slots + j] += h;
        if (a != b) r->matrix[j * slots + i] += h;
    }
}

static void scatter_cell(const curvature *c, const cell *here, const double *unit, const clip_workspace *r) {
    const curvature_group *group = &c->groups[here->group];
    const size_t slots = group->factors->slots;
    const uint32_t *variables = group->factors->variables + here->first * slots;
    for (size_t p = 0; p < group->pairs; p++) {
        const size_t a = group->row[p], b = group->column[p];
        const int own = r->first[a] == a && r->first[b] == b;
        c->part[here->at + p] = own ? r->matrix[a * slots + b] * (unit[variables[a]] * unit[variables[b]]) : 0;
    }
}

/* matrix -= sum over negative eigenvalues e of e v v' */
static void clip_cell(const curvature *c, const cell *here, const double *unit, clip_workspace *r) {
    const size_t slots = c->groups[here->group].factors->slots;
    gather_cell(c, here, unit, r);
    memcpy(r->vectors, r->matrix, slots * slots * sizeof *r->matrix);
    if (!svmp_eigen_symmetric(slots, r->vectors, r->value, r->workspace)) return;
    for (size_t k = 0; k < slots; k++) {
        const double *v = r->vectors + k * slots;
        for (size_t i = 0; r->value[k] < 0 && i < slots; i++)
            for (size_t j = 0; j < slots; j++) r->matrix[i * slots + j] -= r->value[k] * v[i] * v[j];
    }
    scatter_cell(c, here, unit, r);
}

typedef struct clip_work {
    const curvature *c;
    const double *unit;
    clip_workspace *workspaces;
} clip_work;

static void clip_small(void *work, size_t k) {
    const clip_work *w = work;
    const cell *here = &w->c->cells[k];
    if (w->c->groups[here->group].factors->slots <= CLIP_SLOTS)
        clip_cell(w->c, here, w->unit, &w->workspaces[svmp_thread_number()]);
}

svmp_status svmp_curvature_clip(curvature *c, const double *unit, double *H) {
    svmp_context *context = c->model->context;
    clip_workspace *workspaces = NULL;
    SVMP_TRY(SVMP_NEW(context, workspaces, (size_t)c->threads));
    svmp_parallel_for(c->threads, c->cell_count, 0, clip_small, &(clip_work){c, unit, workspaces});
    svmp_release(context, workspaces);
    add_up(c, H);
    return SVMP_OK;
}
