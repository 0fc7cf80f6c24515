/* Independent draws from a Gaussian model: x = mean + P' L'^-1 z with the Cholesky factor LL' = P A P'. */
#include "base/random.h"
#include "method/method.h"
#include "model/quadratic_factor.h"

static svmp_status alloc(svmp_run *run) {
    cholesky *factor = NULL;
    SVMP_TRY(svmp_cholesky_create(run->model, &factor));
    run->state = factor;
    return SVMP_OK;
}

static svmp_status iterate(svmp_run *run) {
    backend *b = run->backend;
    const size_t n = b->n;
    double *x, *z;
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PHI, &z));
    for (size_t i = 0; i < run->model->graph->variables; i++)
        svmp_random_normals((random_stream){.seed = b->seed, .purpose = RANDOM_EXACT, .b = i}, n, z + i * n);
    SVMP_TRY(svmp_cholesky_draws(run->state, n, z, x));
    return svmp_backend_commit(b, ARRAY_PARTICLES);
}

static void free_exact(svmp_run *run) { svmp_cholesky_free(run->state); }

const method svmp_method_exact = {.name = "exact",
                                  .yield = SVMP_YIELD_DRAWS,
                                  .on_host = 1,
                                  .shared = 1,
                                  .alloc = alloc,
                                  .iterate = iterate,
                                  .free = free_exact};
