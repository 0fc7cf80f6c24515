/* Moments of many variables and, for chains, their mixing. */
#include <math.h>

#include "base/row_sums.h"
#include "base/threads.h"
#include "sample/particles.h"
#include "sample/r_hat_and_ess.h"

int svmp_particles_are_chains(const svmp_particles *particles) {
    return particles && (particles->chains > 1 || svmp_particles_statistic(particles, "n_leapfrog__") != NULL ||
                         svmp_particles_statistic(particles, "n_sweeps__") != NULL);
}

static svmp_moments moments_of(size_t count, const double *x, chain_workspace *workspace) {
    for (size_t l = 0; l < count; l++) workspace->sorted[l] = (placed){x[l], l};
    svmp_sort(workspace->sorted, workspace->spare, count);
    const double unit = svmp_unit(2, (double[]){workspace->sorted[0].value, workspace->sorted[count - 1].value});
    double sum = 0, squares = 0;
    for (size_t l = 0; l < count; l++) sum += workspace->sorted[l].value / unit;
    const double mean = sum / (double)count;
    for (size_t l = 0; l < count; l++) {
        const double z = workspace->sorted[l].value / unit - mean;
        squares += z * z;
    }
    return (svmp_moments){
        .mean = unit * mean,
        .sd = count > 1 ? unit * sqrt(squares / (double)(count - 1)) : 0,
        .q05 = svmp_quantile(workspace->sorted, count, 0.05),
        .q50 = svmp_quantile(workspace->sorted, count, 0.50),
        .q95 = svmp_quantile(workspace->sorted, count, 0.95),
    };
}

static svmp_status check(const svmp_particles *particles, size_t count, const size_t *variables) {
    for (size_t k = 0; k < count; k++) {
        const size_t i = variables ? variables[k] : k;
        if (i >= particles->variables)
            return svmp_fail(particles->context, SVMP_BAD_CALL,
                             "Variable %zu is out of range: the particles have %zu variables, counted from 0.", i,
                             particles->variables);
    }
    return SVMP_OK;
}

typedef struct summary_work {
    const svmp_particles *particles;
    const size_t *variables; /* or NULL: all */
    chain_workspace *workspaces;
    svmp_moments *moments;
    svmp_mixing *mixing;
    int mixed;
} summary_work;

static void summarise_variable(void *work, size_t k) {
    const summary_work *w = work;
    const size_t n = w->particles->count;
    const double *x = w->particles->values + (w->variables ? w->variables[k] : k) * n;
    chain_workspace *workspace = &w->workspaces[svmp_thread_number()];
    if (w->moments) w->moments[k] = moments_of(n, x, workspace);
    if (w->mixing) w->mixing[k] = w->mixed ? svmp_chains_mixing(workspace, x) : svmp_mixing_unknown;
}

svmp_status svmp_particles_summarise(const svmp_particles *particles, size_t count, const size_t *variables,
                                     svmp_moments *moments, svmp_mixing *mixing) {
    if (particles == NULL) return SVMP_BAD_CALL;
    svmp_context *context = particles->context;
    if (moments == NULL && mixing == NULL)
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_particles_summarise: all results are NULL.");
    SVMP_TRY(check(particles, count, variables));
    const size_t n = particles->count, chains = particles->chains;
    const int threads = svmp_threads_for(svmp_context_threads(context), 100 * (double)n * (double)count);
    const int mixed = mixing && svmp_particles_are_chains(particles);
    chain_workspace *workspaces = NULL;
    SVMP_TRY(SVMP_NEW(context, workspaces, (size_t)threads));
    svmp_status status = SVMP_OK;
    for (int t = 0; status == SVMP_OK && t < threads; t++)
        status = svmp_chain_workspace_create(context, chains, n / chains, mixed, &workspaces[t]);
    summary_work work = {particles, variables, workspaces, moments, mixing, mixed};
    if (status == SVMP_OK) svmp_parallel_for(threads, count, 16, summarise_variable, &work);
    for (int t = 0; t < threads; t++) svmp_chain_workspace_free(context, &workspaces[t]);
    svmp_release(context, workspaces);
    return status;
}

svmp_status svmp_particles_moments(const svmp_particles *particles, size_t variable, svmp_moments *moments) {
    if (particles == NULL) return SVMP_BAD_CALL;
    if (moments == NULL)
        return svmp_fail(particles->context, SVMP_BAD_CALL, "svmp_particles_moments: the result is NULL.");
    return svmp_particles_summarise(particles, 1, &variable, moments, NULL);
}
