/* Particles into a run, and out of it. */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/names.h"
#include "init.h"
#include "io/particles.h"
#include "method/method.h"
#include "model/natural.h"

static svmp_status set_names(const svmp_model *model, svmp_particles *particles) {
    for (size_t i = 0; i < particles->variables; i++) {
        char name[1024];
        svmp_model_output_name(model, i, name, sizeof name);
        if (strcmp(name, svmp_particles_name(particles, i)) != 0) SVMP_TRY(svmp_particles_set_name(particles, i, name));
    }
    return SVMP_OK;
}

/* Particles of the model's natural values, and of what is monitored, in place of those of its variables; chains and
 * statistics go with them. */
static svmp_status make_natural(const svmp_model *model, svmp_particles **particles) {
    const svmp_particles *from = *particles;
    svmp_particles *made = NULL;
    const size_t outputs = svmp_model_outputs(model);
    SVMP_TRY(svmp_particles_create(from->context, outputs + svmp_model_monitored(model), from->count, NULL, &made));
    made->chains = from->chains;
    svmp_status status = svmp_model_natural(model, from->count, from->values, made->values);
    if (status == SVMP_OK)
        status = svmp_model_monitor(model, from->count, from->values, made->values + outputs * from->count);
    for (size_t k = 0; status == SVMP_OK && k < from->statistic_count; k++)
        status = svmp_particles_set_statistic(made, from->statistics[k].name, from->statistics[k].values);
    if (status == SVMP_OK) {
        svmp_particles_free(*particles);
        *particles = made;
    } else {
        svmp_particles_free(made);
    }
    return status;
}

/* lp__, unless the method has told it already; particles where a factor's function fails go without. */
static svmp_status set_log_density(const svmp_model *model, svmp_particles *particles) {
    if (svmp_particles_statistic(particles, "lp__")) return SVMP_OK;
    svmp_context *context = particles->context;
    svmp_status status;
    double *log_density = NULL;
    evaluator *e = NULL;
    SVMP_CHECK(SVMP_NEW(context, log_density, particles->count));
    SVMP_CHECK(svmp_evaluator_create(model, particles->count, svmp_context_threads(context), &e));
    if (svmp_evaluate_silently(e, particles->values, log_density, NULL) == 0)
        SVMP_CHECK(svmp_particles_set_statistic(particles, "lp__", log_density));
done:
    svmp_evaluator_free(e);
    svmp_release(context, log_density);
    return status;
}

static svmp_status backend_result(const svmp_run *run, svmp_particles **particles) {
    const backend *b = run->backend;
    return svmp_particles_create(run->context, run->model->graph->variables, b->n, b->x, particles);
}

/* A column of a history under its own name; one without any number is left out. */
static svmp_status set_column(svmp_particles *particles, const history *h, size_t column, const char *name,
                              const char *along) {
    size_t known = 0;
    while (known < h->count && isnan(h->column[column][known])) known++;
    if (known == h->count) return SVMP_OK;
    return svmp_particles_set_series(particles, name, along, h->count, h->column[column]);
}

/* The last iteration is part of the way, whatever the stride. What a sampler's way was, its statistics tell. */
static svmp_status set_history(const svmp_run *run, svmp_particles *particles) {
    const method *m = run->method;
    const char *largest = m->kernel ? "largest_phi" : m->step ? "largest_score" : "largest_change";
    history way = run->way;
    if (m->largest == NULL) return SVMP_OK;
    if (run->iteration > 0)
        svmp_history_add(&way,
                         (const double[HISTORY_COLUMNS]){(double)run->iteration, run->backend->largest, run->rate});
    SVMP_TRY(set_column(particles, &way, 0, "iteration", "iteration"));
    SVMP_TRY(set_column(particles, &way, 1, largest, "iteration"));
    SVMP_TRY(set_column(particles, &way, 2, "step_size", "iteration"));
    SVMP_TRY(set_column(particles, &run->measured, 0, "measured", "measured"));
    SVMP_TRY(set_column(particles, &run->measured, 1, "ksd", "measured"));
    SVMP_TRY(set_column(particles, &run->measured, 2, "ksd_ratio", "measured"));
    return set_column(particles, &run->measured, 3, "bandwidth", "measured");
}

static svmp_status add_observed(const svmp_model *model, svmp_particles *particles) {
    svmp_array array;
    for (size_t k = 0; svmp_model_array(model, k, &array); k++)
        if (array.values) SVMP_TRY(svmp_particles_add_observed(particles, &array));
    return SVMP_OK;
}

svmp_status svmp_run_particles(const svmp_run *run, svmp_particles **particles) {
    if (run == NULL) return SVMP_BAD_CALL;
    if (particles == NULL) return svmp_fail(run->context, SVMP_BAD_CALL, "svmp_run_particles needs a place for them.");
    svmp_particles *made = NULL;
    SVMP_TRY(run->method->result ? run->method->result(run, &made) : backend_result(run, &made));
    svmp_status status = set_log_density(run->model, made);
    if (status == SVMP_OK && run->model->lowered) status = make_natural(run->model, &made);
    if (status == SVMP_OK) status = set_names(run->model, made);
    if (status == SVMP_OK) status = set_history(run, made);
    if (status == SVMP_OK) status = add_observed(run->model, made);
    if (status == SVMP_OK) {
        *particles = made;
        made = NULL;
    }
    svmp_particles_free(made);
    return status;
}

static svmp_status check_start(const svmp_run *run, const svmp_particles *particles) {
    const size_t n = run->backend->n;
    if (run->iteration > 0)
        return svmp_fail(run->context, SVMP_BAD_CALL, "The run is at iteration %zu; it can no longer start elsewhere.",
                         run->iteration);
    if (run->method->yield == SVMP_CHAINS && particles->count < n)
        return svmp_fail(run->context, SVMP_BAD_INPUT, "The start has %zu particles, too few for %zu chains.",
                         particles->count, n);
    if (run->method->yield != SVMP_CHAINS && particles->count != n)
        return svmp_fail(run->context, SVMP_BAD_INPUT, "The start has %zu particles, but the run has %zu.",
                         particles->count, n);
    for (size_t k = 0; k < particles->variables * particles->count; k++)
        if (!isfinite(particles->values[k]))
            return svmp_fail(run->context, SVMP_BAD_INPUT, "The start has the value %g for %.80s in particle %zu.",
                             particles->values[k], svmp_particles_name(particles, k / particles->count),
                             k % particles->count + 1);
    return SVMP_OK;
}

/* The variables of a start but those that are computed from others; `names` are the model's own. */
static svmp_status select_unknowns(const svmp_model *model, const svmp_particles *names,
                                   const svmp_particles *particles, svmp_particles **selected) {
    svmp_context *context = particles->context;
    name_table known = {0};
    size_t *kept = NULL, count = 0;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, kept, particles->variables));
    for (size_t i = 0; i < names->variables; i++) {
        const char *name = svmp_particles_name(names, i);
        SVMP_CHECK(svmp_names_add(context, &known, name, strlen(name), &(uint32_t){0}));
    }
    for (size_t i = 0; i < particles->variables; i++) {
        const char *name = svmp_particles_name(particles, i);
        if (svmp_names_find(&known, name, strlen(name)) != NAMES_NONE || !svmp_model_computes(model, name))
            kept[count++] = i;
    }
    SVMP_CHECK(svmp_particles_select(particles, count, kept, 1, selected));
done:
    svmp_names_free(context, &known);
    svmp_release(context, kept);
    return status;
}

svmp_status svmp_run_start_from(svmp_run *run, const svmp_particles *particles) {
    if (run == NULL) return SVMP_BAD_CALL;
    if (particles == NULL) return svmp_fail(run->context, SVMP_BAD_CALL, "svmp_run_start_from needs particles.");
    SVMP_TRY(check_start(run, particles));
    const size_t n = run->backend->n, count = particles->count;
    svmp_particles *model = NULL, *given = NULL; /* its names, and natural values to start from */
    size_t *to = NULL, *from = NULL;
    svmp_status status;
    SVMP_CHECK(svmp_particles_create(run->context, svmp_model_outputs(run->model), n, NULL, &model));
    SVMP_CHECK(set_names(run->model, model));
    SVMP_CHECK(select_unknowns(run->model, model, particles, &given));
    SVMP_CHECK(svmp_particles_match(model, "the model", given, "the start", &to, &from));
    for (size_t k = 0; k < given->variables; k++)
        for (size_t l = 0; l < n; l++) /* a sampler starts from the last of n equal parts: the last draws of n chains */
            model->values[to[k] * n + l] = given->values[from[k] * count + (l + 1) * count / n - 1];
    SVMP_CHECK(svmp_model_unconstrain(run->model, n, model->values, run->backend->x));
    svmp_init_project(run->backend);
    SVMP_CHECK(svmp_init_check(run->backend));
    run->started_from =
        svmp_hash_bytes(SVMP_HASH_START, run->model->graph->variables * n * sizeof(double), run->backend->x) |
        1; /* never 0 */
done:
    svmp_release(run->context, to);
    svmp_release(run->context, from);
    svmp_particles_free(given);
    svmp_particles_free(model);
    return status;
}
