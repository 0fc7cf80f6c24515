/* The Stein kernel of variable i between two particles, s and s' its scores and u = x_i - x_i':
 *
 *     kappa = s s' k + s dk/dx_i' + s' dk/dx_i + d2k/dx_i dx_i'
 *
 *     k = f(D)                      s s' k + r u (s - s') + r - c u^2,     r = -2 f'(D), c = 4 f''(D)
 *         rbf: exp(-D/h)            r = 2k/h,  c = 4k/h^2
 *         imq: (1 + D/h)^(-1/2)     r = k^3/h, c = 3k^5/h^2
 *     k = 1 + sum_j z_j z_j'/v      s s' k + (s z_i + s' z_i' + 1)/v,      mean and v held constant
 *
 * With h = 0 or v = 0 only s s' k is left, as in the velocities.
 *
 * In the metric sd, with z = (x - mean)/sd, S = s sd, u = z_i - z_i' and v = 1, the same formulas are sd_i^2 kappa:
 * that of the velocity in units of the sd. A kernel with such a term is measured in these units, so that the result
 * does not depend on the units of the model: kappa of its other terms is multiplied by sd_i^2. Where sd_i = 0, S = s
 * and only S S' k is left.
 *
 * A node's kappa is the sum over its variables and the weighted sum over the terms of the kernel. The mean of kappa
 * over all pairs is V, over pairs of different particles U. */
#include <math.h>
#include <string.h>

#include "base/peers.h"
#include "base/row_sums.h"
#include "base/threads.h"
#include "stein/discrepancy_terms.h"

typedef struct term_work {
    const ksd *of;
    size_t term;
    unit_source from;
    int threads; /* that work on one unit */
} term_work;

static void add_unit(void *work, size_t u) {
    const term_work *w = work;
    const stein_sample *sample = w->of->sample;
    const kernel_term *term = &sample->kernel->terms[w->term];
    ksd_workspace *workspace = &w->of->workspaces[svmp_thread_number()];
    stein_unit unit =
        svmp_unit_draw(&w->from, sample->kernel, w->term, u, sample->seed, sample->iteration, workspace->drawn);
    (term->shape->value ? svmp_ksd_radial : svmp_ksd_linear)(w->of, term, &unit, workspace, w->threads);
}

static void add_term(const ksd *of, size_t a) {
    const stein_sample *sample = of->sample;
    const size_t units = svmp_unit_count(sample->graph, sample->kernel->terms[a].domain);
    const int together = units < (size_t)of->threads; /* fewer units than threads: the threads share each unit */
    term_work work = {of, a, {sample->graph, of->nodes, sample->hubs}, together ? of->threads : 1};
    svmp_parallel_for(together ? 1 : of->threads, units, 1, add_unit, &work);
}

/* The sums that need no kernel. */
static void add_moments(const ksd *of, size_t i) {
    const size_t n = of->sample->n;
    const double *s = of->sample->score + i * n;
    svmp_ksd_centre(of->sample, i, of->row);
    of->measured[i].moments =
        (svmp_stein_moments){svmp_sum(n, s), svmp_dot(n, s, s), svmp_dot(n, s, of->row), svmp_dot(n, of->row, of->row)};
}

/* Particles and scores in units of the sd. */
static void scale(const ksd *of) {
    const stein_sample *sample = of->sample;
    const size_t n = sample->n;
    for (size_t i = 0; i < sample->graph->variables; i++) {
        double *z = of->scaled + i * n;
        const double sd = of->sd[i] = svmp_centre(n, sample->x + i * n, z), by = sd > 0 ? 1 / sd : 0;
        for (size_t l = 0; l < n; l++) z[l] *= by;
        if (i >= sample->graph->moved_variables) continue;
        const double *s = sample->score + i * n;
        for (size_t l = 0; l < n; l++) of->scaled_score[i * n + l] = s[l] * (sd > 0 ? sd : 1);
    }
}

static svmp_status alloc(ksd *of) {
    svmp_context *context = of->context;
    const stein_sample *sample = of->sample;
    const kernel *k = sample->kernel;
    const size_t n = sample->n, variables = sample->graph->variables, pairs = n * (n - 1) / 2;
    int radial = 0, linear = 0, scaled = 0, common = 0, products = 0, gathered = 0;
    for (size_t a = 0; a < k->count; a++) {
        radial |= k->terms[a].shape->value != NULL;
        linear |= k->terms[a].shape->value == NULL && k->terms[a].metric == METRIC_NONE;
        scaled |= k->terms[a].metric == METRIC_SD;
        common |= k->terms[a].domain == DOMAIN_ALL;
        products |= svmp_ksd_multiplies(of, &k->terms[a]);
        gathered |= svmp_ksd_gathers(of, &k->terms[a]);
    }
    const double threes = 3.0 * radial * (double)pairs * of->threads,
                 squares = (common + products) * (double)n * (double)n;
    SVMP_TRY(svmp_require_memory(context, (threes + squares) * sizeof(double),
                                 "the Stein discrepancy of this many particles needs"));
    of->grid = (common_grid){.n = n, .variables = sample->graph->whole_variables, .peers = sample->graph->peers};
    if (common) SVMP_TRY(SVMP_NEW(context, of->grid.of, n));
    if (common) SVMP_TRY(SVMP_NEW(context, of->grid.steps, n * n));
    if (common) SVMP_TRY(SVMP_NEW(context, of->grid.near, (size_t)GRID_NEAR));
    if (products) SVMP_TRY(SVMP_NEW(context, of->products, n * n));
    if (gathered) SVMP_TRY(SVMP_NEW(context, of->gathered, sample->graph->whole_variables * n));
    SVMP_TRY(SVMP_NEW(context, of->measured, variables));
    for (size_t i = 0; i < variables; i++) of->measured[i].bandwidth = NAN;
    SVMP_TRY(SVMP_NEW(context, of->nodes, sample->graph->nodes));
    for (size_t v = 0; v < sample->graph->nodes; v++) of->nodes[v] = (uint32_t)v;
    SVMP_TRY(SVMP_NEW(context, of->row, n));
    if (linear) SVMP_TRY(svmp_allocate(context, variables, n * sizeof(double), (void **)&of->centred));
    for (size_t i = 0; linear && i < variables; i++) svmp_ksd_centre(sample, i, of->centred + i * n);
    if (scaled) {
        SVMP_TRY(svmp_allocate(context, variables, n * sizeof(double), (void **)&of->scaled));
        SVMP_TRY(
            svmp_allocate(context, sample->graph->moved_variables, n * sizeof(double), (void **)&of->scaled_score));
        SVMP_TRY(SVMP_NEW(context, of->sd, variables));
        scale(of);
    }
    SVMP_TRY(SVMP_NEW(context, of->workspaces, (size_t)of->threads));
    for (int t = 0; t < of->threads; t++) {
        ksd_workspace *workspace = &of->workspaces[t];
        const size_t rows = svmp_unit_rows_most(sample->graph, k);
        SVMP_TRY(SVMP_NEW(context, workspace->rows, gathered ? sample->graph->whole_variables : rows));
        SVMP_TRY(SVMP_NEW(context, workspace->drawn, svmp_unit_drawn_most(k)));
        double **triangles[] = {&workspace->k, &workspace->r, &workspace->c};
        for (size_t a = 0; radial && a < 3; a++) SVMP_TRY(SVMP_NEW(context, *triangles[a], pairs + 1));
        SVMP_TRY(SVMP_NEW(context, workspace->row, (size_t)of->threads));
        SVMP_TRY(SVMP_NEW(context, workspace->sum, (size_t)of->threads));
        for (int member = 0; radial && member < of->threads; member++) {
            SVMP_TRY(SVMP_NEW(context, workspace->row[member], n));
            SVMP_TRY(SVMP_NEW(context, workspace->sum[member], n));
        }
    }
    return SVMP_OK;
}

static void release(const ksd *of) {
    svmp_context *context = of->context;
    for (int t = 0; of->workspaces && t < of->threads; t++) {
        const ksd_workspace *workspace = &of->workspaces[t];
        for (int member = 0; workspace->row && member < of->threads; member++)
            svmp_release(context, workspace->row[member]);
        for (int member = 0; workspace->sum && member < of->threads; member++)
            svmp_release(context, workspace->sum[member]);
        svmp_release_all(context, workspace->row, workspace->sum, workspace->rows, workspace->drawn, workspace->k,
                         workspace->r, workspace->c);
    }
    svmp_release_all(context, of->workspaces, of->nodes, of->centred, of->scaled, of->scaled_score, of->sd, of->row,
                     of->grid.of, of->grid.steps, of->grid.near, of->products, of->gathered, of->measured);
}

svmp_status svmp_stein_discrepancy(svmp_context *context, const stein_sample *sample, svmp_discrepancy *total,
                                   svmp_discrepancy *nodes) {
    ksd of = {.context = context, .sample = sample};
    of.threads = svmp_threads_for(svmp_context_threads(context),
                                  20 * (double)sample->n * (double)sample->n * (double)sample->graph->variables);
    svmp_status status = alloc(&of);
    status = svmp_agree(context, sample->graph->peers, status);
    for (size_t a = 0; status == SVMP_OK && a < sample->kernel->count; a++) add_term(&of, a);
    for (size_t i = 0; status == SVMP_OK && i < sample->graph->moved_variables; i++) add_moments(&of, i);
    if (status == SVMP_OK) svmp_stein_finish(sample->graph, sample->n, of.measured, total, nodes);
    release(&of);
    return status;
}
