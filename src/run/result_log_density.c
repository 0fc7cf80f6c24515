/* The exact sums of a particle take 560 bytes per thread, so they are computed for a block of particles at a time. */
#include "run/result_log_density.h"

#include <string.h>

#include "base/exact_sum.h"
#include "base/peers.h"

enum { BLOCK = 1024 }; /* particles; the same in all processes, whatever their threads */

static size_t block_of(size_t count) { return count < BLOCK ? count : BLOCK; }

/* Particles first ... first + block - 1 of `count`, all rows of them. */
static void copy_block(size_t rows, size_t count, size_t first, size_t block, const double *x, double *some) {
    for (size_t i = 0; i < rows; i++) memcpy(some + i * block, x + i * count + first, block * sizeof *x);
}

static svmp_status compute(const svmp_run *run, const double *x, size_t count, double *log_density, int *known) {
    const svmp_model *model = run->model;
    svmp_context *context = run->context;
    const size_t rows = model->graph->variables, block = block_of(count);
    double *some = NULL;
    evaluator *e = NULL;
    svmp_status status = svmp_evaluator_create(model, block, svmp_context_threads(context), &e);
    if (status == SVMP_OK && block < count) status = svmp_allocate(context, rows, block * sizeof *some, (void **)&some);
    SVMP_CHECK(svmp_model_agree_all(model, status));
    *known = 1;
    for (size_t from = 0; from < count; from += block) {
        const size_t first = from + block <= count ? from : count - block; /* the last block is as long as the others */
        int these = 0;
        if (some) copy_block(rows, count, first, block, x, some);
        SVMP_CHECK(svmp_evaluate_log_density(e, some ? some : x, log_density + first, &these));
        *known &= these;
    }
done:
    svmp_release(context, some);
    svmp_evaluator_free(e);
    return status;
}

svmp_status svmp_run_set_log_density(const svmp_run *run, const double *x, svmp_particles *particles) {
    if (svmp_particles_statistic(particles, "lp__")) return SVMP_OK;
    svmp_context *context = run->context;
    double *log_density = NULL;
    int known = 0;
    svmp_status status = svmp_model_agree_all(run->model, SVMP_NEW(context, log_density, particles->count));
    if (status == SVMP_OK)
        status =
            compute(run, particles->peers->count > 1 ? x : particles->values, particles->count, log_density, &known);
    if (status == SVMP_OK && known) status = svmp_particles_set_statistic(particles, "lp__", log_density);
    svmp_release(context, log_density);
    status = svmp_model_agree_all(run->model, status);
    if (status != SVMP_NO_MEMORY) return status;
    svmp_particles_drop_statistic(particles, "lp__"); /* of a process with enough memory */
    svmp_log(context, SVMP_LOG_WARNING, "The result has no lp__: there is not enough memory to compute it.");
    return SVMP_OK;
}

double svmp_run_log_density_bytes(const svmp_model *model, size_t count) {
    const double block = (double)block_of(count), threads = svmp_context_threads(model->context);
    const double copied = count > BLOCK ? block * (double)model->graph->variables * sizeof(double) : 0;
    return sizeof(double) * (double)count + block * threads * sizeof(exact_sum) + copied;
}
