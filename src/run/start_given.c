/* Starts a run from given particles. */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/name_table.h"
#include "base/peer_rows.h"
#include "base/peers.h"
#include "base/random.h"
#include "base/row_sums.h"
#include "method/method.h"
#include "model/natural_values.h"
#include "model/text_model.h"
#include "prepare/start_particles.h"
#include "run/start_given.h"
#include "sample/netcdf.h"
#include "sample/particles.h"
#include "svmp_tools.h"

static svmp_status check_start(const svmp_run *run, const svmp_particles *particles) {
    if (run->iteration > 0)
        return svmp_fail(run->context, SVMP_BAD_CALL,
                         "The run is at iteration %zu; its start can no longer be changed.", run->iteration);
    for (size_t k = 0; k < particles->variables * particles->count; k++)
        if (!isfinite(particles->values[k]) &&
            !svmp_model_computes(run->model, svmp_particles_name(particles, k / particles->count)))
            return svmp_fail(run->context, SVMP_BAD_INPUT, "The start is not finite: %g for %.80s in particle %zu.",
                             particles->values[k], svmp_particles_name(particles, k / particles->count),
                             k % particles->count + 1);
    return SVMP_OK;
}

/* The variables of a start except those computed from others; `names` are those of the model. */
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
    if (count == 0)
        SVMP_CHECK(svmp_fail(context, SVMP_BAD_INPUT, "The start contains none of the model's %zu variables.",
                             names->variables));
    SVMP_CHECK(svmp_particles_select(particles, count, kept, 1, selected));
done:
    svmp_names_free(context, &known);
    svmp_release(context, kept);
    return status;
}

/* Checks that the start has the model's variables, and no others except derived ones. */
static svmp_status match_all(const svmp_run *run, const svmp_particles *particles, svmp_particles *model) {
    const size_t n = model->count, count = particles->count;
    svmp_particles *given = NULL;
    size_t *to = NULL, *from = NULL;
    svmp_status status;
    SVMP_CHECK(select_unknowns(run->model, model, particles, &given));
    SVMP_CHECK(svmp_particles_match(model, "the model", given, "the particles", &to, &from));
    for (size_t k = 0; k < given->variables; k++)
        for (size_t l = 0; l < n; l++)
            model->values[to[k] * n + l] = given->values[from[k] * count + svmp_start_row(l, n, count)];
done:
    svmp_release(run->context, to);
    svmp_release(run->context, from);
    svmp_particles_free(given);
    return status;
}

/* Variables from natural values; since bounds may depend on the halo, level by level. */
static svmp_status unconstrain(svmp_run *run, const double *values, double *x) {
    backend *b = run->backend;
    const lowered_model *lowered = run->model->lowered;
    if (run->model->graph->halo == NULL) return svmp_model_unconstrain(run->model, b->n, values, x);
    if (lowered == NULL) {
        memcpy(x, values, run->model->graph->moved_variables * b->n * sizeof *values);
        return SVMP_OK;
    }
    for (size_t level = 0; level < lowered->levels; level++) {
        SVMP_TRY(svmp_model_agree_all(run->model, svmp_lowered_inverse_level(lowered, level, b->n, values, x)));
        SVMP_TRY(svmp_backend_commit(b, ARRAY_PARTICLES));
        if (b->kind->refresh) SVMP_TRY(b->kind->refresh(b));
    }
    return SVMP_OK;
}

/* Never 0; over all processes in the order of the whole. */
static svmp_status hash_start(svmp_run *run, const double *x) {
    const svmp_graph *graph = run->model->graph;
    const svmp_peers *peers = graph->peers;
    const size_t n = run->backend->n, together = svmp_spread_rows(n);
    uint64_t hash = SVMP_HASH_START;
    spread s = {0};
    svmp_status status;
    SVMP_CHECK(svmp_spread_open(run->context, peers, graph->whole_variables, graph->moved_variables,
                                graph->variable_key, svmp_spread_most(graph->whole_variables, n), SVMP_OK, &s));
    for (size_t from = 0; from < s.whole; from += together) {
        const size_t to = from + together < s.whole ? from + together : s.whole;
        const double *block = svmp_spread_collect(&s, (spread_block){from, to, 0, n}, n, x);
        if (block) hash = svmp_hash_bytes(hash, (to - from) * n * sizeof *block, block);
    }
    peers->broadcast(peers, 0, sizeof hash, &hash);
    run->started_from = hash | 1;
done:
    svmp_spread_close(&s);
    return status;
}

/* The values of a start: the outputs without leaves, which are always drawn. */
typedef struct started {
    size_t count, all;
    uint32_t *output, *place; /* the output's index, here and in the whole */
} started;

static svmp_status list_started(const svmp_run *run, started *list) {
    const svmp_model *model = run->model;
    const svmp_graph *graph = model->graph;
    list->all = model->lowered || graph->halo == NULL ? svmp_model_outputs(model) : graph->moved_variables;
    SVMP_TRY(SVMP_NEW(run->context, list->output, list->all));
    SVMP_TRY(SVMP_NEW(run->context, list->place, list->all));
    for (size_t k = 0; k < list->all; k++) {
        if (svmp_model_is_drawn(model, k)) continue;
        list->output[list->count] = (uint32_t)k;
        list->place[list->count++] = !graph->halo     ? (uint32_t)k
                                     : model->lowered ? model->lowered->whole_output[k]
                                                      : graph->variable_key[k];
    }
    return SVMP_OK;
}

/* Creates particles with the names of the model, or of this process's part. */
static svmp_status create_named(const svmp_run *run, const started *list, svmp_particles **named) {
    const svmp_graph *graph = run->model->graph;
    const lowered_model *lowered = run->model->lowered;
    const size_t n = run->backend->n;
    if (graph->halo == NULL)
        SVMP_TRY(svmp_particles_create(run->context, list->count, n, NULL, named));
    else
        SVMP_TRY(svmp_particles_create_part(run->context, graph->peers,
                                            lowered ? lowered->whole_outputs : graph->whole_variables, list->count,
                                            list->place, n, NULL, named));
    for (size_t k = 0; k < list->count; k++) {
        char name[1024];
        svmp_model_output_name(run->model, list->output[k], name, sizeof name);
        SVMP_TRY(svmp_particles_set_name(*named, k, name));
    }
    return SVMP_OK;
}

/* The values of `named` as outputs; *placed stays NULL if there are no leaves between them. */
static svmp_status place_outputs(const started *list, svmp_particles *named, double **placed) {
    const size_t n = named->count;
    if (list->count == list->all) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(named->context, *placed, list->all * n));
    for (size_t k = 0; k < list->count; k++)
        memcpy(*placed + list->output[k] * n, named->values + k * n, n * sizeof **placed);
    return SVMP_OK;
}

/* The first `count` particles are at the points of the start; the others are spread around these. */
static void spread_around(const svmp_run *run, size_t count, double *x) {
    const svmp_graph *graph = run->model->graph;
    const size_t n = run->backend->n, variables = graph->moved_variables;
    for (size_t i = 0; i < variables; i++) {
        const random_stream stream = {
            .seed = run->options.seed, .purpose = RANDOM_INIT, .a = UINT64_MAX, .b = svmp_variable_key(graph, i)};
        for (size_t l = count; l < n; l++) x[i * n + l] += START_SPREAD * svmp_random_normal(stream, l);
    }
}

/* Starts from particles that have all variables of this process, and perhaps others. */
static svmp_status start_from(svmp_run *run, const svmp_particles *particles) {
    SVMP_TRY(svmp_model_agree_all(run->model, check_start(run, particles)));
    svmp_particles *named = NULL;
    started list = {0};
    double *placed = NULL, *x = NULL;
    svmp_status status = list_started(run, &list);
    if (status == SVMP_OK) status = create_named(run, &list, &named);
    if (status == SVMP_OK)
        status = named->peers->count > 1 ? svmp_start_take(particles, named) : match_all(run, particles, named);
    if (status == SVMP_OK) status = place_outputs(&list, named, &placed);
    SVMP_CHECK(svmp_model_agree_all(run->model, status));
    SVMP_CHECK(svmp_backend_edit(run->backend, ARRAY_PARTICLES, &x));
    SVMP_CHECK(svmp_model_agree_all(run->model, unconstrain(run, placed ? placed : named->values, x)));
    spread_around(run, particles->count, x);
    SVMP_CHECK(svmp_model_agree_all(run->model, svmp_init_finish(run->model, run->backend->n, x)));
    SVMP_CHECK(svmp_backend_commit(run->backend, ARRAY_PARTICLES));
    SVMP_CHECK(hash_start(run, x));
done:
    svmp_release(run->context, list.output);
    svmp_release(run->context, list.place);
    svmp_release(run->context, placed);
    svmp_particles_free(named);
    return status;
}

svmp_status svmp_run_start_from(svmp_run *run, const svmp_particles *particles) {
    if (run == NULL) return SVMP_BAD_CALL;
    if (particles == NULL)
        return svmp_fail(run->context, SVMP_BAD_CALL, "svmp_run_start_from: the particles are NULL.");
    if (run->model->graph->halo) SVMP_TRY(svmp_start_compare(run, particles, NULL));
    return start_from(run, particles);
}

static svmp_status start_from_values(svmp_run *run, const char *paths) {
    double *x = NULL;
    if (run->iteration > 0)
        return svmp_fail(run->context, SVMP_BAD_CALL,
                         "The run is at iteration %zu; its start can no longer be changed.", run->iteration);
    SVMP_TRY(svmp_backend_edit(run->backend, ARRAY_PARTICLES, &x));
    SVMP_TRY(svmp_start_values(run, paths, x));
    SVMP_TRY(svmp_init_finish(run->model, run->backend->n, x));
    SVMP_TRY(svmp_backend_commit(run->backend, ARRAY_PARTICLES));
    return hash_start(run, x);
}

/* One particle: the mean of all. It is in the support because supports are convex. */
static svmp_status average(const svmp_particles *particles, svmp_particles **made) {
    const size_t n = particles->count;
    SVMP_TRY(svmp_particles_create(particles->context, particles->variables, 1, NULL, made));
    for (size_t i = 0; i < particles->variables; i++) {
        SVMP_TRY(svmp_particles_set_name(*made, i, svmp_particles_name(particles, i)));
        (*made)->values[i] = svmp_sum(n, particles->values + i * n) / (double)n;
    }
    return SVMP_OK;
}

static svmp_status start_from_average(svmp_run *run, const char *path) {
    svmp_particles *particles = NULL, *one = NULL;
    svmp_status status;
    SVMP_CHECK(svmp_particles_read(run->context, path, &particles));
    SVMP_CHECK(average(particles, &one));
    SVMP_CHECK(start_from(run, one));
done:
    svmp_particles_free(particles);
    svmp_particles_free(one);
    return status;
}

svmp_status svmp_start_point(svmp_run *run, const char *path, double **point) {
    const size_t variables = run->model->graph->variables, n = run->backend->n;
    double *x;
    if (run->model->graph->halo)
        return svmp_fail(run->context, SVMP_UNSUPPORTED,
                         "The start 'gaussian:FILE' needs the whole model in one process.");
    SVMP_TRY(svmp_backend_edit(run->backend, ARRAY_PARTICLES, &x));
    memset(x, 0, variables * n * sizeof *x);
    SVMP_TRY(svmp_backend_commit(run->backend, ARRAY_PARTICLES));
    SVMP_TRY(svmp_start_is_values(path) ? start_from_values(run, path) : start_from_average(run, path));
    SVMP_TRY(svmp_backend_edit(run->backend, ARRAY_PARTICLES, &x));
    SVMP_TRY(SVMP_NEW(run->context, *point, variables));
    for (size_t i = 0; i < variables; i++) (*point)[i] = x[i * n]; /* the first particle is not spread */
    return SVMP_OK;
}

svmp_status svmp_run_start_from_file(svmp_run *run, const char *path) {
    if (run == NULL) return SVMP_BAD_CALL;
    if (path == NULL) return svmp_fail(run->context, SVMP_BAD_CALL, "svmp_run_start_from_file: the path is NULL.");
    if (svmp_start_is_values(path)) return start_from_values(run, path);
    svmp_particles *particles = NULL;
    svmp_status status;
    if (svmp_model_peers(run->model)->count > 1) SVMP_CHECK(svmp_peers_compare_file(run->context, "start", path));
    if (run->model->graph->halo && !svmp_path_is_netcdf(path)) {
        SVMP_CHECK(svmp_start_compare(run, NULL, path));
        SVMP_CHECK(svmp_model_agree_all(run->model, svmp_start_read(run, path, &particles)));
        SVMP_CHECK(start_from(run, particles));
    } else {
        SVMP_CHECK(svmp_model_agree_all(run->model, svmp_particles_read(run->context, path, &particles)));
        SVMP_CHECK(svmp_run_start_from(run, particles));
    }
done:
    svmp_particles_free(particles);
    return status;
}
