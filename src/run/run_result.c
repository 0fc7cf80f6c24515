/* The particles of a run as a result with names, on the natural scale. */
#include <math.h>
#include <string.h>

#include "base/peers.h"
#include "model/natural_values.h"
#include "model/sorted_variables.h"
#include "model/text_model.h"
#include "run/derived_values.h"
#include "run/result_log_density.h"
#include "run/run.h"
#include "sample/number_errors.h"
#include "sample/particles.h"

/* Names the outputs of the model or its part. */
static svmp_status set_names(const svmp_run *run, svmp_particles *particles) {
    for (size_t i = 0; i < particles->variables; i++) {
        char name[1024];
        svmp_model_output_name(run->model, i, name, sizeof name);
        if (strcmp(name, svmp_particles_name(particles, i)) != 0) SVMP_TRY(svmp_particles_set_name(particles, i, name));
    }
    return SVMP_OK;
}

/* Creates particles for the outputs of a part; in the first process these include leaves and monitored values. */
static svmp_status create_outputs(const svmp_run *run, size_t count, svmp_particles **made) {
    const lowered_model *lowered = run->model->lowered;
    svmp_context *context = run->context;
    const svmp_peers *peers = run->model->graph->peers;
    const size_t monitored = lowered->monitor_count, here = peers->rank == 0 ? monitored : 0;
    uint32_t *place = NULL;
    SVMP_TRY(SVMP_NEW(context, place, lowered->outputs + here));
    for (size_t k = 0; k < lowered->outputs; k++) place[k] = lowered->whole_output[k];
    for (size_t k = 0; k < here; k++) place[lowered->outputs + k] = (uint32_t)(lowered->whole_outputs + k);
    svmp_status status = svmp_particles_create_part(context, peers, lowered->whole_outputs + monitored,
                                                    lowered->outputs + here, place, count, NULL, made);
    svmp_release(context, place);
    return status;
}

static derivation derivation_of(const svmp_run *run) {
    return (derivation){run->model, run->options.seed, run->method->yield != SVMP_YIELD_CHAINS};
}

/* The natural values of one state x with its halo, on which bounds may depend. */
static svmp_status natural_of_state(const svmp_run *run, const double *x, size_t k, size_t states, double *workspace,
                                    double **probabilities, svmp_particles *made) {
    const size_t n = run->backend->n, outputs = svmp_model_outputs(run->model);
    svmp_status status = svmp_model_natural(run->model, n, x, states > 1 ? workspace : made->values);
    for (size_t e = 0; status == SVMP_OK && states > 1 && e < outputs * n; e++)
        made->values[e * states + k] = workspace[e];
    const derivation d = derivation_of(run);
    const svmp_status derived =
        svmp_derive_part(&d, x, k, states, probabilities, made); /* collective, even if this process failed */
    return svmp_model_agree_all(run->model, status == SVMP_OK ? derived : status);
}

/* Copies own rows into the backend and updates the halo. */
static svmp_status put_state(backend *b, const double *rows) {
    double *x;
    SVMP_TRY(svmp_backend_edit(b, ARRAY_PARTICLES, &x));
    memcpy(x, rows, b->model->graph->moved_variables * b->n * sizeof *x);
    SVMP_TRY(svmp_backend_commit(b, ARRAY_PARTICLES));
    return b->kind->refresh ? b->kind->refresh(b) : SVMP_OK;
}

/* For all states, one after the other in the backend, which updates their halo. */
static svmp_status natural_of_part(const svmp_run *run, const double *x, svmp_particles *made) {
    const size_t n = run->backend->n, numbers = run->model->graph->moved_variables * n;
    size_t states = 1;
    double *before = NULL, *workspace = NULL, *probabilities = NULL;
    svmp_status status;
    if (run->method->kept) run->method->kept(run, 0, &states);
    if (run->method->kept == NULL || (states == 1 && made->count == n)) {
        status = natural_of_state(run, x, 0, 1, NULL, &probabilities, made);
        goto done;
    }
    status = SVMP_NEW(run->context, before, numbers);
    if (status == SVMP_OK) status = SVMP_NEW(run->context, workspace, svmp_model_outputs(run->model) * n);
    SVMP_CHECK(svmp_model_agree_all(run->model, status));
    memcpy(before, x, numbers * sizeof *x);
    for (size_t k = 0; k < states && status == SVMP_OK; k++) {
        status = put_state(run->backend, run->method->kept(run, k, &states));
        if (status == SVMP_OK) status = svmp_backend_view(run->backend, ARRAY_PARTICLES, &x);
        if (status == SVMP_OK) status = natural_of_state(run, x, k, states, workspace, &probabilities, made);
    }
    const svmp_status back = put_state(run->backend, before);
    if (status == SVMP_OK) status = back;
done:
    svmp_release(run->context, before);
    svmp_release(run->context, workspace);
    svmp_release(run->context, probabilities);
    return status;
}

/* Puts exchangeable unknowns that the text sorts into a random order, because particles and chains that keep one order
 * would be in one of several equal modes. */
static svmp_status shuffle(const svmp_run *run, svmp_particles *particles) {
    int is;
    SVMP_TRY(svmp_model_is_exchangeable(run->model, particles->count, particles->values, &is));
    if (is) svmp_model_shuffle(run->model, run->options.seed, particles->count, particles->values);
    return SVMP_OK;
}

/* Replaces particles of variables by particles of natural and monitored values, with their chains and statistics. */
static svmp_status make_natural(const svmp_run *run, const double *x, svmp_particles **particles) {
    const svmp_particles *from = *particles;
    const svmp_model *model = run->model;
    const derivation derived = derivation_of(run);
    svmp_particles *made = NULL;
    const size_t outputs = svmp_model_outputs(model);
    svmp_status status =
        from->peers->count > 1
            ? create_outputs(run, from->count, &made)
            : svmp_particles_create(from->context, outputs + svmp_model_monitored(model), from->count, NULL, &made);
    SVMP_CHECK(svmp_model_agree_all(model, status));
    made->chains = from->chains;
    if (from->peers->count > 1) {
        status = natural_of_part(run, x, made);
    } else {
        status = model->lowered ? shuffle(run, *particles) : SVMP_OK;
        if (status == SVMP_OK) status = svmp_model_natural(model, from->count, from->values, made->values);
        if (status == SVMP_OK && model->lowered) status = svmp_derive(&derived, from->values, made);
    }
    for (size_t k = 0; status == SVMP_OK && k < from->statistic_count; k++)
        status = svmp_particles_set_statistic(made, from->statistics[k].name, from->statistics[k].values);
    SVMP_CHECK(status);
    svmp_particles_free(*particles);
    *particles = made;
    made = NULL;
done:
    svmp_particles_free(made);
    return status;
}

static svmp_status backend_result(const svmp_run *run, const double *x, svmp_particles **particles) {
    const size_t n = run->backend->n;
    const svmp_graph *graph = run->model->graph;
    return svmp_particles_create_part(run->context, graph->peers, graph->whole_variables, graph->moved_variables,
                                      graph->variable_key, n, x, particles);
}

/* Adds a column of a history as a series, unless all its values are NaN. */
static svmp_status set_column(svmp_particles *particles, const history *h, size_t column, const char *name,
                              const char *along) {
    size_t known = 0;
    while (known < h->count && isnan(h->column[column][known])) known++;
    if (known == h->count) return SVMP_OK;
    return svmp_particles_set_series(particles, name, along, h->count, h->column[column]);
}

/* The series include the last iteration, whatever the stride. Samplers have statistics instead. */
static svmp_status set_history(const svmp_run *run, svmp_particles *particles) {
    const method *m = run->method;
    char largest[SERIES_NAME];
    history way = run->trace;
    if (m->largest == NULL) return SVMP_OK;
    svmp_run_complete_trace(run, &way);                   /* none is unknown, because the particles were read */
    const char *word = m->largest + (*m->largest == '|'); /* "|phi|", "change of a message" */
    snprintf(largest, sizeof largest, "largest_%.*s", (int)strcspn(word, "| "), word);
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

svmp_status svmp_particles_add_data(svmp_particles *particles, const svmp_model *model) {
    svmp_array array;
    if (particles == NULL || model == NULL) return SVMP_BAD_CALL;
    if (particles->observed.count + particles->known.count > 0)
        return svmp_fail(particles->context, SVMP_BAD_CALL, "The particles already have the data of a model.");
    for (size_t k = 0; svmp_model_array(model, k, &array); k++) {
        if (array.values) SVMP_TRY(svmp_extra_add(particles->context, &particles->observed, &array, array.values));
        if (array.known) SVMP_TRY(svmp_extra_add(particles->context, &particles->known, &array, array.known));
    }
    return SVMP_OK;
}

svmp_status svmp_run_answer(const svmp_run *run, svmp_particles **draws) {
    svmp_particles *made = NULL;
    svmp_status status;
    const double *x;
    svmp_status (*const make)(const svmp_run *, svmp_particles **) =
        run->method->make_draws ? run->method->make_draws : run->method->result;
    *draws = NULL;
    if (make == NULL) return SVMP_OK;
    SVMP_CHECK(svmp_backend_gather(run->own, run->backend));
    SVMP_CHECK(svmp_backend_view(run->backend, ARRAY_PARTICLES, &x));
    SVMP_CHECK(make(run, &made));
    if (made && (run->model->lowered || run->model->supports)) SVMP_CHECK(make_natural(run, x, &made));
    *draws = made;
    made = NULL;
done:
    svmp_particles_free(made);
    return status;
}

svmp_status svmp_run_more_draws(const svmp_run *run, double *more) {
    svmp_particles *draws = NULL;
    *more = 1;
    SVMP_TRY(svmp_run_answer(run, &draws));
    if (draws == NULL) return SVMP_OK;
    const double most = (double)run->draws_most * (double)draws->chains / (double)draws->count;
    const double usual = 0.015, known = svmp_known_error * run->options.precision / usual; /* of the option precision */
    const svmp_status status = svmp_find_more_draws(draws, known, most, more);
    svmp_particles_free(draws);
    return status;
}

typedef svmp_status maker(const svmp_run *run, svmp_particles **particles);

/* The particles that `make` gives or, if it gives none, those of the backend. */
static svmp_status make_result(const svmp_run *run, maker *make, svmp_particles **particles) {
    svmp_particles *made = NULL;
    const double *x;
    if (run->backend->kind->refresh) SVMP_TRY(run->backend->kind->refresh(run->backend));
    SVMP_TRY(svmp_backend_gather(run->own, run->backend));
    SVMP_TRY(svmp_model_agree_all(run->model, svmp_backend_view(run->backend, ARRAY_PARTICLES, &x)));
    svmp_status status = make ? make(run, &made) : SVMP_OK;
    if (status == SVMP_OK && made == NULL) status = backend_result(run, x, &made);
    SVMP_CHECK(svmp_model_agree_all(run->model, status));
    SVMP_CHECK(svmp_run_set_log_density(run, x, made));
    if (run->model->lowered || run->model->supports) status = make_natural(run, x, &made);
    if (status == SVMP_OK) status = set_names(run, made);
    if (status == SVMP_OK) status = set_history(run, made);
    if (status == SVMP_OK) status = svmp_particles_add_data(made, run->model);
    SVMP_CHECK(svmp_model_agree_all(run->model, status));
    *particles = made;
    made = NULL;
done:
    svmp_particles_free(made);
    return status;
}

svmp_status svmp_run_particles(const svmp_run *run, svmp_particles **particles) {
    if (run == NULL) return SVMP_BAD_CALL;
    if (particles == NULL) return svmp_fail(run->context, SVMP_BAD_CALL, "svmp_run_particles: the result is NULL.");
    return make_result(run, run->method->result, particles);
}

svmp_status svmp_run_draws(const svmp_run *run, svmp_particles **draws) {
    if (run == NULL) return SVMP_BAD_CALL;
    if (draws == NULL) return svmp_fail(run->context, SVMP_BAD_CALL, "svmp_run_draws: the result is NULL.");
    const method *of = run->method;
    svmp_particles *made = NULL;
    svmp_status status;
    SVMP_CHECK(make_result(run, of->make_draws ? of->make_draws : of->result, &made));
    if (of->make_draws && svmp_particles_are_chains(made)) SVMP_CHECK(svmp_run_particles(run, &made->compressed));
    *draws = made;
    made = NULL;
done:
    svmp_particles_free(made);
    return status;
}
