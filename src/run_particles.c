/* Particles into a run, and out of it. */
#include <math.h>
#include <string.h>

#include "init.h"
#include "io/particles.h"
#include "method/method.h"
#include "model/natural.h"

svmp_status svmp_run_particles(const svmp_run *run, svmp_particles **particles) {
    if (run == NULL) return SVMP_BAD_CALL;
    svmp_context *context = run->context;
    if (particles == NULL) return svmp_fail(context, SVMP_BAD_CALL, "svmp_run_particles needs a place for them.");
    svmp_particles *made = NULL;
    const size_t outputs = svmp_model_outputs(run->model);
    SVMP_TRY(svmp_particles_create(context, outputs, run->backend->n, NULL, &made));
    svmp_status status = svmp_model_natural(run->model, run->backend->n, run->backend->x, svmp_particles_values(made));
    for (size_t i = 0; status == SVMP_OK && i < outputs; i++) {
        char name[1024];
        svmp_model_output_name(run->model, i, name, sizeof name);
        if (strcmp(name, svmp_particles_name(made, i)) != 0) status = svmp_particles_set_name(made, i, name);
    }
    if (status != SVMP_OK) {
        svmp_particles_free(made);
        return status;
    }
    *particles = made;
    return SVMP_OK;
}

static svmp_status check_start(const svmp_run *run, const svmp_particles *particles) {
    const size_t n = run->backend->n;
    if (run->iteration > 0)
        return svmp_fail(run->context, SVMP_BAD_CALL, "The run is at iteration %zu; it can no longer start elsewhere.",
                         run->iteration);
    if (particles->count != n)
        return svmp_fail(run->context, SVMP_BAD_INPUT, "The start has %zu particles, but the run has %zu.",
                         particles->count, n);
    for (size_t k = 0; k < particles->variables * n; k++)
        if (!isfinite(particles->values[k]))
            return svmp_fail(run->context, SVMP_BAD_INPUT, "The start has the value %g for %.80s in particle %zu.",
                             particles->values[k], svmp_particles_name(particles, k / n), k % n + 1);
    return SVMP_OK;
}

svmp_status svmp_run_start_from(svmp_run *run, const svmp_particles *particles) {
    if (run == NULL) return SVMP_BAD_CALL;
    if (particles == NULL) return svmp_fail(run->context, SVMP_BAD_CALL, "svmp_run_start_from needs particles.");
    SVMP_TRY(check_start(run, particles));
    const size_t n = run->backend->n;
    svmp_particles *now = NULL;
    size_t *to = NULL, *from = NULL;
    SVMP_TRY(svmp_run_particles(run, &now));
    svmp_status status = svmp_particles_match(now, "the model", particles, "the start", &to, &from);
    for (size_t k = 0; status == SVMP_OK && k < particles->variables; k++)
        memcpy(now->values + to[k] * n, particles->values + from[k] * n, n * sizeof(double));
    if (status == SVMP_OK) status = svmp_model_unconstrain(run->model, n, now->values, run->backend->x);
    if (status == SVMP_OK) svmp_init_project(run->backend);
    svmp_release(run->context, to);
    svmp_release(run->context, from);
    svmp_particles_free(now);
    return status;
}
