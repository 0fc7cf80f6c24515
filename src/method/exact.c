/* Independent draws from a Gaussian model: x = mean + P' L'^-1 z with the Cholesky factor LL' = P A P'. */
#include "base/random.h"
#include "method/method.h"
#include "model/cholesky.h"

static svmp_status alloc(svmp_run *run) {
    cholesky *factor = NULL;
    SVMP_TRY(svmp_cholesky_create(run->model, &factor));
    run->own = factor;
    return SVMP_OK;
}

static svmp_status iterate(svmp_run *run) {
    backend *b = run->backend;
    const size_t n = b->n;
    for (size_t i = 0; i < run->model->graph->variables; i++)
        svmp_random_normals((random_stream){.seed = b->seed, .purpose = RANDOM_EXACT, .b = i}, n, b->phi + i * n);
    SVMP_TRY(svmp_cholesky_draws(run->own, n, b->phi, b->x));
    return SVMP_OK;
}

static void free_exact(svmp_run *run) { svmp_cholesky_free(run->own); }

const method svmp_method_exact = {
    .name = "exact", .yield = SVMP_DRAWS, .alloc = alloc, .iterate = iterate, .free = free_exact};
