/* The run of a part: its state between iterations, and what it reports at the end. */
#include <math.h>
#include <string.h>

#include "base/exact_sum.h"
#include "base/libm_rounding.h"
#include "base/peers.h"
#include "model/natural_values.h"
#include "model/text_model.h"
#include "run/agent_part_inside.h"
#include "sample/particles.h"
#include "svmp_tools.h"

size_t svmp_part_outputs(const svmp_part *part) {
    return part->model->lowered ? part->model->lowered->outputs : part->model->graph->moved_variables;
}

uint64_t svmp_agents_rounding(void) { return svmp_rounding_checksum(); }

/* ---- starting ---------------------------------------------------------------------------------------------------- */

static svmp_status read_options(svmp_part *part, run_options *options) {
    *options = svmp_run_options_default();
    for (size_t k = 0; k < part->option_count; k++) {
        const char *text = part->option_text[k];
        SVMP_TRY(svmp_run_options_set(part->context, options, part->option_name[k], text && *text ? text : NULL));
    }
    options->init = "normal:1"; /* until the start of the part takes its place */
    options->backend = "cpu";
    return SVMP_OK;
}

svmp_status svmp_part_start(svmp_part *part, const svmp_peers *lines) {
    if (part == NULL || lines == NULL) return SVMP_BAD_CALL;
    run_options options;
    double *x;
    svmp_context *context = part->context;
    part->peers = svmp_alone;
    part->peers.own = lines->own;
    part->peers.plan = lines->plan;
    part->peers.connect = lines->connect;
    part->peers.close = lines->close;
    part->peers.send = lines->send;
    part->peers.receive = lines->receive;
    SVMP_TRY(read_options(part, &options));
    SVMP_TRY(svmp_run_make(part->model, &options, &part->run));
    const size_t n = part->run->backend->n;
    if (part->start_count != n * part->model->graph->moved_variables)
        return svmp_fail(context, SVMP_BAD_INPUT, "The start in the part of agent '%s' has a wrong length.",
                         part->name);
    SVMP_TRY(svmp_backend_edit(part->run->backend, ARRAY_PARTICLES, &x));
    memcpy(x, part->start, part->start_count * sizeof *x);
    SVMP_TRY(svmp_backend_commit(part->run->backend, ARRAY_PARTICLES));
    part->run->started_from = part->about.run | 1;
    part->values.context = part->sums.context = context;
    SVMP_TRY(svmp_allocate(context, svmp_model_outputs(part->model), n * sizeof(double), (void **)&part->natural));
    SVMP_TRY(SVMP_NEW(context, part->words, n * EXACT_WORDS));
    return svmp_evaluator_create(part->model, n, part->run->backend->threads, &part->evaluator);
}

/* ---- collecting -------------------------------------------------------------------------------------------------- */

/* Most digits of a sum are 0. */
void svmp_pack_sum(packing *p, int64_t *words) {
    size_t first = 0, last = EXACT_WORDS;
    if (!p->loading) {
        while (first < EXACT_WORDS && words[first] == 0) first++;
        while (last > first && words[last - 1] == 0) last--;
    }
    SVMP_PACK(p, first);
    SVMP_PACK(p, last);
    if (first > last || last > EXACT_WORDS) svmp_pack_refuse(p, "is damaged");
    for (size_t k = first; k < last && p->status == SVMP_OK; k++) svmp_pack_word(p, (uint64_t *)words + k);
}

/* The current state, whose halo is as old as it: natural values, and sums of the log density. */
static svmp_status collect(svmp_part *part) {
    const size_t n = part->run->backend->n, count = svmp_part_outputs(part) * n;
    const double *x;
    int known;
    SVMP_TRY(svmp_backend_view(part->run->backend, ARRAY_PARTICLES, &x));
    SVMP_TRY(svmp_model_natural(part->model, n, x, part->natural));
    SVMP_TRY(svmp_evaluate_own_sums(part->evaluator, x, part->words, &known));
    svmp_pack_reals(&part->values, count, &part->natural);
    for (size_t l = 0; l < n; l++) svmp_pack_sum(&part->sums, part->words + l * EXACT_WORDS);
    part->collected++;
    return part->values.status != SVMP_OK ? part->values.status : part->sums.status;
}

/* The number of states that the method has kept so far. */
static size_t count_kept(const svmp_run *run) {
    size_t count = 0;
    const double *x = NULL;
    if (run->method->kept == NULL || svmp_backend_view(run->backend, ARRAY_PARTICLES, &x) != SVMP_OK) return 0;
    return run->method->kept(run, 0, &count) == x ? 0 : count; /* before the first one, the current state */
}

static int after_iteration(const svmp_progress *progress, void *user_data) {
    svmp_part *part = user_data;
    if (count_kept(part->run) > part->collected) part->status = collect(part);
    return part->status != SVMP_OK || (part->after && part->after(progress->iteration, part->user_data));
}

svmp_status svmp_part_go(svmp_part *part, svmp_part_monitor after, void *user_data, svmp_outcome *outcome) {
    if (part == NULL || part->run == NULL || outcome == NULL) return SVMP_BAD_CALL;
    part->after = after;
    part->user_data = user_data;
    SVMP_TRY(svmp_run_set_monitor(part->run, after_iteration, part));
    SVMP_TRY(svmp_run_go(part->run, outcome));
    return part->status;
}

/* ---- saved and loaded -------------------------------------------------------------------------------------------- */

static void pack_collected(packing *p, packing *collected) {
    size_t size = collected->at;
    svmp_pack_length(p, &size, 1);
    if (p->loading && p->status == SVMP_OK) {
        p->status = SVMP_GROW(p->context, collected->bytes, collected->capacity, size + 1);
        if (p->status == SVMP_OK) collected->at = size;
    }
    svmp_pack_bytes(p, size, collected->bytes);
}

static svmp_status archive_part(svmp_part *part, packing *p) {
    uint64_t run = part->about.run;
    size_t agent = part->about.agent;
    svmp_pack_word(p, &run);
    svmp_pack_count(p, &agent);
    if (p->status == SVMP_OK && (run != part->about.run || agent != part->about.agent))
        svmp_pack_refuse(p, "is of another part");
    SVMP_TRY(p->status);
    packed_archive to = svmp_pack_archive(p, part->model->graph->moved_variables);
    SVMP_TRY(svmp_run_archive(part->run, &to.archive));
    svmp_pack_count(p, &part->collected);
    pack_collected(p, &part->values);
    pack_collected(p, &part->sums);
    return p->status;
}

svmp_status svmp_part_save(svmp_part *part, const void **bytes, size_t *size) {
    if (part == NULL || part->run == NULL || bytes == NULL || size == NULL) return SVMP_BAD_CALL;
    packing *p = &part->saved;
    *p = (packing){.context = part->context, .what = "The state", .bytes = p->bytes, .capacity = p->capacity};
    SVMP_TRY(archive_part(part, p));
    *bytes = p->bytes;
    *size = p->at;
    return SVMP_OK;
}

svmp_status svmp_part_load(svmp_part *part, const void *bytes, size_t size) {
    if (part == NULL || part->run == NULL || bytes == NULL) return SVMP_BAD_CALL;
    packing p = {.context = part->context,
                 .loading = true,
                 .what = "The saved state",
                 .bytes = (unsigned char *)(uintptr_t)bytes, /* only read */
                 .size = size};
    if (part->run->iteration > 0)
        return svmp_fail(part->context, SVMP_BAD_CALL, "A part is loaded before its first iteration.");
    return archive_part(part, &p);
}

/* ---- settled ----------------------------------------------------------------------------------------------------- */

size_t svmp_part_kept(const svmp_part *part) { return part ? part->collected : 0; }

/* The states so far as chains: draw l * states + k is state k of chain l. */
static svmp_status collected_chains(const svmp_part *part, svmp_particles **made) {
    const size_t n = part->run->backend->n, states = part->collected, outputs = svmp_part_outputs(part);
    packing p = part->values;
    SVMP_TRY(svmp_particles_create(part->context, outputs, n * states, NULL, made));
    p.loading = true;
    p.size = p.at;
    p.at = 0;
    double *values = svmp_particles_values(*made);
    for (size_t k = 0; k < states; k++)
        for (size_t i = 0; i < outputs; i++)
            for (size_t l = 0; l < n; l++) svmp_pack_real(&p, &values[(i * n + l) * states + k]);
    SVMP_TRY(p.status);
    return svmp_particles_set_chains(*made, n);
}

svmp_status svmp_part_has_settled(const svmp_part *part, int *has) {
    enum { STATES = 8 };
    const double most_error = 0.05;
    double most_r_hat, least_draws;
    svmp_particles *chains = NULL;
    svmp_moments *moments = NULL;
    svmp_mixing *mixing = NULL;
    svmp_status status;
    if (part == NULL || part->run == NULL || has == NULL) return SVMP_BAD_CALL;
    const size_t outputs = svmp_part_outputs(part);
    *has = 0;
    if (part->collected < STATES) return SVMP_OK;
    if (outputs == 0) return *has = 1, SVMP_OK;
    SVMP_CHECK(collected_chains(part, &chains));
    svmp_chains_limits(part->run->backend->n, part->collected, &most_r_hat, &least_draws);
    SVMP_CHECK(SVMP_NEW(part->context, moments, outputs));
    SVMP_CHECK(SVMP_NEW(part->context, mixing, outputs));
    SVMP_CHECK(svmp_particles_summarise(chains, outputs, NULL, moments, mixing));
    *has = 1;
    for (size_t k = 0; k < outputs; k++)
        if (moments[k].sd > 0 &&
            !(mixing[k].r_hat <= most_r_hat && fmin(mixing[k].bulk_draws, mixing[k].tail_draws) >= least_draws &&
              mixing[k].error.mean <= most_error * moments[k].sd))
            *has = 0;
done:
    svmp_particles_free(chains);
    svmp_release(part->context, moments);
    svmp_release(part->context, mixing);
    return status;
}

/* ---- the output -------------------------------------------------------------------------------------------------- */

/* Of a method with moves that are accepted or not: how many were, of the part's nodes, and between how many sweeps. */
static svmp_status pack_moves(packing *p, const svmp_part *part) {
    const svmp_run *run = part->run;
    const double nodes = (double)run->model->graph->whole_nodes;
    svmp_particles *result = NULL;
    size_t sweeps = 0;
    if (run->method->result) SVMP_TRY(run->method->result(run, &result));
    const double *accepted = result ? svmp_particles_statistic(result, "accept_stat__") : NULL;
    const double *stride = result ? svmp_particles_statistic(result, "n_sweeps__") : NULL;
    if (accepted && stride) sweeps = (size_t)stride[0];
    svmp_pack_count(p, &sweeps);
    for (size_t k = 0; accepted && stride && sweeps > 0 && k < result->count; k++) {
        uint64_t moves = (uint64_t)llround(accepted[k] * nodes * stride[0]);
        svmp_pack_word(p, &moves);
    }
    svmp_particles_free(result);
    return p->status;
}

static void pack_names(packing *p, const svmp_part *part) {
    char buffer[1024];
    const lowered_model *lowered = part->model->lowered;
    for (size_t k = 0; k < svmp_part_outputs(part) && p->status == SVMP_OK; k++) {
        uint32_t place = lowered ? lowered->whole_output[k] : part->model->graph->variable_key[k];
        char *name = (char *)(uintptr_t)svmp_model_output_name(part->model, k, buffer, sizeof buffer); /* only read */
        SVMP_PACK(p, place);
        svmp_pack_text(p, &name);
    }
}

svmp_status svmp_part_write_output(svmp_part *part, const char *path) {
    if (part == NULL || part->run == NULL || path == NULL) return SVMP_BAD_CALL;
    packing p = {0};
    svmp_status status = SVMP_OK;
    svmp_run *run = part->run;
    svmp_packing_free(&part->saved); /* what is written takes as much memory */
    if (part->collected == 0) {
        SVMP_TRY(svmp_backend_refresh(run->backend));
        SVMP_TRY(collect(part));
    }
    size_t n = run->backend->n, outputs = svmp_part_outputs(part), nodes = run->model->graph->whole_nodes;
    int chains = run->method->yield == SVMP_YIELD_CHAINS;
    svmp_packed_begin(part->context, OUTPUT_MAGIC, &p);
    svmp_pack_word(&p, &part->about.run);
    svmp_pack_count(&p, &part->about.agent);
    svmp_pack_count(&p, &part->about.agents);
    svmp_pack_text(&p, &part->name);
    svmp_pack_text(&p, &part->record);
    svmp_pack_count(&p, &run->iteration);
    svmp_pack_count(&p, &n);
    svmp_pack_count(&p, &part->collected);
    SVMP_PACK(&p, chains);
    svmp_pack_count(&p, &nodes);
    svmp_pack_real(&p, &part->model->quadratic.constant);
    svmp_pack_count(&p, &outputs);
    pack_names(&p, part);
    SVMP_CHECK(pack_moves(&p, part));
    svmp_pack_bytes(&p, part->values.at, part->values.bytes);
    svmp_pack_bytes(&p, part->sums.at, part->sums.bytes);
    SVMP_CHECK(svmp_packed_write(&p, path));
done:
    svmp_packing_free(&p);
    return status;
}
