/* Particles into a run, and out of it. */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/team.h"
#include "init.h"
#include "io/particles.h"
#include "io/spread.h"
#include "lang/lowered.h"
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

/* Particles of the model's natural values in place of those of its variables; chains and statistics go with them. */
static svmp_status make_natural(const svmp_run *run, svmp_particles **particles) {
    const svmp_particles *from = *particles;
    const svmp_model *model = run->model;
    const lowered_model *lowered = model->lowered;
    svmp_particles *made = NULL;
    if (from->team)
        SVMP_TRY(svmp_particles_create_part(from->context, from->team, lowered->whole_outputs, lowered->outputs,
                                            lowered->whole_output, from->count, NULL, &made));
    else
        SVMP_TRY(svmp_particles_create(from->context, lowered->outputs, from->count, NULL, &made));
    made->chains = from->chains;
    /* A bound may be a variable of the halo: those are in the backend's own. */
    svmp_status status =
        svmp_model_natural(model, from->count, from->team ? run->backend->x : from->values, made->values);
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
static svmp_status set_log_density(const svmp_run *run, svmp_particles *particles) {
    if (svmp_particles_statistic(particles, "lp__")) return SVMP_OK;
    svmp_context *context = particles->context;
    const svmp_model *model = run->model;
    const backend *b = run->backend;
    int known = 0;
    svmp_status status;
    double *log_density = NULL;
    evaluator *e = NULL;
    SVMP_CHECK(SVMP_NEW(context, log_density, particles->count));
    SVMP_CHECK(svmp_evaluator_create(model, particles->count, svmp_context_threads(context), &e));
    SVMP_CHECK(svmp_evaluate_log_density(e, particles->team ? b->x : particles->values, log_density, &known));
    if (known) SVMP_CHECK(svmp_particles_set_statistic(particles, "lp__", log_density));
done:
    svmp_evaluator_free(e);
    svmp_release(context, log_density);
    return status;
}

static svmp_status backend_result(const svmp_run *run, svmp_particles **particles) {
    const backend *b = run->backend;
    const svmp_graph *graph = run->model->graph;
    if (graph->halo == NULL) return svmp_particles_create(run->context, graph->variables, b->n, b->x, particles);
    return svmp_particles_create_part(run->context, run->context->team, graph->whole_variables, graph->own_variables,
                                      graph->whole_variable, b->n, b->x, particles);
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
    if (run->backend->kind->refresh) SVMP_TRY(run->backend->kind->refresh(run->backend));
    svmp_status status = run->method->result ? run->method->result(run, &made) : backend_result(run, &made);
    SVMP_TRY(svmp_team_agree(run->context, status));
    status = set_log_density(run, made);
    if (status == SVMP_OK && run->model->lowered) status = make_natural(run, &made);
    if (status == SVMP_OK) status = set_names(run->model, made);
    if (status == SVMP_OK) status = set_history(run, made);
    if (status == SVMP_OK) status = add_observed(run->model, made);
    status = svmp_team_agree(run->context, status);
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

/* The particles given, under the names of this process's variables: natural values to start from. They hold all
 * variables of the model, which other processes have taken from them too. */
static svmp_status take_named(const svmp_run *run, const svmp_particles *particles, svmp_particles *own) {
    const size_t n = own->count, count = particles->count;
    named_variable *here = NULL, *there = NULL;
    svmp_status status;
    SVMP_CHECK(svmp_particles_by_name(own, &here));
    SVMP_CHECK(svmp_particles_by_name(particles, &there));
    size_t at = 0;
    for (size_t k = 0; k < own->variables; k++) {
        while (at < particles->variables && strcmp(there[at].name, here[k].name) < 0) at++;
        if (at == particles->variables || strcmp(there[at].name, here[k].name) != 0)
            SVMP_CHECK(svmp_fail(run->context, SVMP_BAD_INPUT, "The start has no variable '%.80s'.", here[k].name));
        for (size_t l = 0; l < n; l++)
            own->values[here[k].variable * n + l] = particles->values[there[at].variable * count + l];
    }
done:
    svmp_release(run->context, here);
    svmp_release(run->context, there);
    return status;
}

static svmp_status match_all(const svmp_run *run, const svmp_particles *particles, svmp_particles *model) {
    const size_t n = model->count, count = particles->count;
    size_t *to = NULL, *from = NULL;
    SVMP_TRY(svmp_particles_match(model, "the model", particles, "the start", &to, &from));
    for (size_t k = 0; k < particles->variables; k++)
        for (size_t l = 0; l < n; l++) /* a sampler starts from the last of n equal parts: the last draws of n chains */
            model->values[to[k] * n + l] = particles->values[from[k] * count + (l + 1) * count / n - 1];
    svmp_release(run->context, to);
    svmp_release(run->context, from);
    return SVMP_OK;
}

/* Variables from natural values; a bound may be a variable of the halo, which comes level by level. */
static svmp_status unconstrain(svmp_run *run, const double *values) {
    backend *b = run->backend;
    const lowered_model *lowered = run->model->lowered;
    if (run->model->graph->halo == NULL || lowered == NULL)
        return run->model->graph->halo
                   ? (memcpy(b->x, values, run->model->graph->own_variables * b->n * sizeof *values), SVMP_OK)
                   : svmp_model_unconstrain(run->model, b->n, values, b->x);
    for (size_t level = 0; level < lowered->levels; level++) {
        SVMP_TRY(svmp_team_agree(run->context, svmp_lowered_inverse_level(lowered, level, b->n, values, b->x)));
        if (b->kind->refresh) SVMP_TRY(b->kind->refresh(b));
    }
    return SVMP_OK;
}

/* Never 0; over all processes in the order of the whole. */
static svmp_status hash_start(svmp_run *run) {
    const svmp_graph *graph = run->model->graph;
    const team *t = graph->halo ? run->context->team : NULL;
    const size_t n = run->backend->n, together = svmp_spread_rows(n);
    uint64_t hash = SVMP_HASH_START;
    spread s = {0};
    svmp_status status;
    SVMP_CHECK(
        svmp_spread_open(run->context, t, graph->whole_variables, graph->own_variables, graph->whole_variable, &s));
    for (size_t from = 0; from < s.whole; from += together) {
        const size_t to = from + together < s.whole ? from + together : s.whole;
        double *block = NULL;
        SVMP_CHECK(svmp_spread_collect(&s, (spread_block){from, to, 0, n}, n, run->backend->x, &block));
        if (block) hash = svmp_hash_bytes(hash, (to - from) * n * sizeof *block, block);
    }
    if (t) t->broadcast(t, 0, sizeof hash, &hash);
    run->started_from = hash | 1;
done:
    svmp_spread_close(&s);
    return status;
}

/* Room under the names of the model, or of this process's part of it. */
static svmp_status name_room(const svmp_run *run, svmp_particles **room) {
    const svmp_graph *graph = run->model->graph;
    const lowered_model *lowered = run->model->lowered;
    const size_t n = run->backend->n;
    if (graph->halo == NULL)
        SVMP_TRY(svmp_particles_create(run->context, svmp_model_outputs(run->model), n, NULL, room));
    else
        SVMP_TRY(svmp_particles_create_part(run->context, run->context->team,
                                            lowered ? lowered->whole_outputs : graph->whole_variables,
                                            lowered ? lowered->outputs : graph->own_variables,
                                            lowered ? lowered->whole_output : graph->whole_variable, n, NULL, room));
    return set_names(run->model, *room);
}

svmp_status svmp_run_start_from(svmp_run *run, const svmp_particles *particles) {
    if (run == NULL) return SVMP_BAD_CALL;
    if (particles == NULL) return svmp_fail(run->context, SVMP_BAD_CALL, "svmp_run_start_from needs particles.");
    SVMP_TRY(svmp_team_agree(run->context, check_start(run, particles)));
    svmp_particles *room = NULL;
    svmp_status status = name_room(run, &room);
    if (status == SVMP_OK)
        status = room->team ? take_named(run, particles, room) : match_all(run, particles, room);
    if (status == SVMP_OK && room->whole != particles->variables)
        status = svmp_fail(run->context, SVMP_BAD_INPUT, "The start has %zu variables, but the model has %zu.",
                           particles->variables, room->whole);
    SVMP_CHECK(svmp_team_agree(run->context, status));
    SVMP_CHECK(svmp_team_agree(run->context, unconstrain(run, room->values)));
    svmp_init_project(run->backend);
    SVMP_CHECK(svmp_team_agree(run->context, svmp_init_check(run->backend)));
    SVMP_CHECK(hash_start(run));
done:
    svmp_particles_free(room);
    return status;
}
