/* The verdict of a run: cheap vetoes first, then the examination. */
#include <math.h>
#include <string.h>

#include "base/peers.h"
#include "model/density_discontinuities.h"
#include "model/natural_values.h"
#include "model/text_model.h"
#include "run/run.h"
#include "sample/number_errors.h"
#include "sample/particles.h"
#include "verify/verdict_constants.h"
#include "verify/verdict_inside.h"

/* What the advice depends on: unknowns whose priors depend on others, and those that have no proper prior. */
static void check_priors(const svmp_model *model, svmp_verdict *verdict) {
    enum { NAMED = 3 };
    const lowered_model *lowered = model->lowered;
    char name[60];
    size_t named = 0, used = 0;
    verdict->proper = lowered && model->graph->halo == NULL;
    for (size_t k = 0; lowered && k < lowered->node_count && k < model->graph->moved; k++) {
        const lowered_node *node = &lowered->nodes[k];
        verdict->proper &= node->distribution->proper != 0;
        verdict->nested |= node->level > 0 && (!node->location_scale || node->coordinates.centring > 0.5);
        if (node->variables != 1 || node->distribution->proper || named > NAMED) continue;
        svmp_verdict_variable_name(model, node->variable, name, sizeof name);
        const int length = snprintf(verdict->flat + used, sizeof verdict->flat - used, "%s%s", named ? ", " : "",
                                    named < NAMED ? name : "...");
        used += length > 0 && used + (size_t)length < sizeof verdict->flat ? (size_t)length : 0;
        named++;
    }
}

int svmp_warmup_is_short(const method *of, size_t warmup) {
    enum { WHOLE_WINDOWS = 150 };
    return of && of->yield == SVMP_YIELD_CHAINS && !of->sweeps && warmup < WHOLE_WINDOWS;
}

void svmp_verdict_describe(const svmp_run *run, svmp_verdict *verdict) {
    *verdict = (svmp_verdict){.context = verdict->context,
                              .nodes = run->model->graph->whole_nodes,
                              .variables = run->model->graph->whole_variables,
                              .particles = run->backend->n,
                              .unexamined = SVMP_UNEXAMINED_UNASKED,
                              .limit = NAN,
                              .slowest = NAN,
                              .leaves = run->model->lowered ? run->model->lowered->leaf_variables : 0,
                              .iterations = run->iteration,
                              .accept = run->options.accept,
                              .brief = svmp_warmup_is_short(run->method, run->options.warmup)};
    check_priors(run->model, verdict);
    snprintf(verdict->method, sizeof verdict->method, "%.*s", VERDICT_METHOD - 1, run->method->name);
    snprintf(verdict->init, sizeof verdict->init, "%.31s", run->started_from ? "FILE" : svmp_run_init(run));
}

void svmp_verdict_veto(svmp_verdict *verdict, svmp_code veto, double amount, const char *name) {
    if (verdict == NULL || verdict->veto != SVMP_NOTE_NONE) return;
    verdict->veto = veto;
    verdict->veto_amount = amount;
    snprintf(verdict->veto_name, sizeof verdict->veto_name, "%.127s", name ? name : "");
}

/* ---- vetoes ------------------------------------------------------------------------------------------------------ */

/* A name and how bad it is, of one process. */
typedef struct suspect {
    double amount;
    size_t place, count; /* in the whole model; how many there are */
    char name[128];
} suspect;

/* The worst of all processes; counts add up. */
static svmp_status worst_of_all(const svmp_run *run, suspect *mine) {
    const svmp_peers *peers = run->model->graph->peers;
    suspect *all = NULL;
    if (peers->count == 1) return SVMP_OK;
    SVMP_TRY(svmp_agree(run->context, peers, SVMP_NEW(run->context, all, peers->count)));
    peers->gather(peers, sizeof *mine, mine, all);
    *mine = all[0];
    for (size_t k = 1; k < peers->count; k++) {
        const size_t count = mine->count + all[k].count;
        if (all[k].amount > mine->amount || (all[k].amount == mine->amount && all[k].place < mine->place))
            *mine = all[k];
        mine->count = count;
    }
    svmp_release(run->context, all);
    return SVMP_OK;
}

/* Stein discrepancies say nothing of a node in which the density jumps. */
static bool node_jumps(const svmp_graph *graph, size_t node, const bool *jumps) {
    for (size_t i = graph->first[node]; i < graph->first[node + 1]; i++)
        if (jumps[i]) return true;
    return false;
}

/* Gradients do not see a jump, whatever is done to the chains' steps. */
static svmp_status check_discontinuities(const svmp_run *run, svmp_verdict *verdict) {
    bool *jumps = NULL;
    SVMP_TRY(svmp_model_agree_all(run->model, svmp_model_discontinuities(run->model, &jumps)));
    for (size_t i = 0; jumps && i < run->model->graph->variables && !*verdict->jumping; i++)
        if (jumps[i]) svmp_verdict_variable_name(run->model, i, verdict->jumping, sizeof verdict->jumping);
    svmp_release(run->context, jumps);
    return SVMP_OK;
}

/* Whether exact moves of all kinds have found no error that matters. The discrepancy of a node that many others depend
 * on also finds errors that do not: the score of a scale sums over all that it scales. */
static int was_examined_well(const svmp_verdict *v) { return v->finding == SVMP_FINDING_PASSED && !v->local; }

static svmp_status check_nodes(const svmp_run *run, const svmp_discrepancy *nodes, svmp_verdict *verdict) {
    const svmp_graph *graph = run->model->graph;
    suspect worst = {.amount = -1}, infinite = {.amount = -1};
    bool *jumps = NULL;
    SVMP_TRY(svmp_model_agree_all(run->model, svmp_model_discontinuities(run->model, &jumps)));
    for (size_t v = 0; v < graph->moved; v++) {
        if (jumps && node_jumps(graph, v, jumps)) continue;
        const double excess = svmp_discrepancy_excess(&nodes[v]);
        if (!isfinite(nodes[v].v) && infinite.count++ == 0) {
            infinite.amount = 1;
            infinite.place = svmp_node_key(graph, v);
            svmp_verdict_node_name(run->model, v, infinite.name, sizeof infinite.name);
        }
        worst.count += excess > 1;
        if (!(excess > worst.amount)) continue;
        worst.amount = excess;
        worst.place = svmp_node_key(graph, v);
        svmp_verdict_node_name(run->model, v, worst.name, sizeof worst.name);
    }
    svmp_release(run->context, jumps);
    SVMP_TRY(worst_of_all(run, &worst));
    SVMP_TRY(worst_of_all(run, &infinite));
    if (infinite.count > 0) svmp_verdict_veto(verdict, SVMP_NOTE_NOT_FINITE, (double)infinite.count, infinite.name);
    verdict->beyond = worst.count;
    if (worst.count > 0 && !was_examined_well(verdict))
        svmp_verdict_veto(verdict, SVMP_NOTE_DISCREPANCY, (double)worst.count, worst.name);
    return SVMP_OK;
}

/* Moves that contain noise do not shrink, so only methods with a kernel are judged by their last step. */
static svmp_status check_step(const svmp_run *run, svmp_verdict *verdict) {
    svmp_movement moved;
    if (run->method->kernel == NULL) return SVMP_OK;
    SVMP_TRY(svmp_run_last_movement(run, &moved));
    suspect worst = {.amount = -1}; /* also of a part without variables */
    if (!isnan(moved.relative) && moved.variable < run->model->graph->moved_variables) {
        worst.amount = moved.relative;
        worst.place = svmp_variable_key(run->model->graph, moved.variable);
        svmp_verdict_variable_name(run->model, moved.variable, worst.name, sizeof worst.name);
    }
    SVMP_TRY(worst_of_all(run, &worst));
    if (worst.amount > large_step) svmp_verdict_veto(verdict, SVMP_NOTE_LARGE_STEP, worst.amount, worst.name);
    return SVMP_OK;
}

static int was_interrupted(const svmp_run *run) {
    const int converged = run->options.tolerance > 0 && run->backend->largest <= run->options.tolerance;
    return run->iteration < run->iterations && !run->ended && !converged;
}

/* What the method itself says: of a variable, by name. */
static void check_convergence(const svmp_run *run, svmp_verdict *verdict) {
    char name[128] = "";
    if (run->ended != RUN_DONE || verdict->veto != SVMP_NOTE_NONE) return;
    const nonconvergence found =
        run->method->nonconvergence ? run->method->nonconvergence(run) : (nonconvergence){.why = SVMP_NOTE_NONE};
    if (found.count) svmp_verdict_variable_name(run->model, found.variable, name, sizeof name);
    svmp_verdict_veto(verdict, found.why == SVMP_NOTE_NONE ? SVMP_NOTE_NOT_SETTLED : found.why, found.amount, name);
    verdict->veto_count = found.count;
}

static svmp_status judge_particles(const svmp_run *run, const svmp_discrepancy *nodes, double seconds,
                                   svmp_verdict *verdict) {
    const svmp_status status = seconds > 0 ? svmp_run_examine(run, seconds, 0, verdict) : SVMP_OK;
    if (status == SVMP_NO_MEMORY) return status; /* moves that failed are no evidence: verdict->unexamined */
    if (run->backend->n < VERDICT_FEWEST) svmp_verdict_veto(verdict, SVMP_NOTE_FEW_PARTICLES, VERDICT_FEWEST, NULL);
    if (run->iteration == 0) svmp_verdict_veto(verdict, SVMP_NOTE_UNMOVED, 0, NULL);
    if (nodes) SVMP_TRY(check_nodes(run, nodes, verdict));
    SVMP_TRY(check_step(run, verdict));
    check_convergence(run, verdict);
    return SVMP_OK;
}

/* ---- chains ------------------------------------------------------------------------------------------------------ */

/* Adds what the chains of another process's variables say. A veto with the smaller number of those of chains comes
 * first; variables of the same one add up. */
static void merge_chains(svmp_verdict *v, const svmp_verdict *other) {
    const double sign = v->veto == SVMP_NOTE_FEW_DRAWS ? -1 : 1;
    const int same = v->veto == other->veto && v->veto != SVMP_NOTE_NONE;
    const int of_draws =
        v->veto == SVMP_NOTE_DIVERGENT || v->veto == SVMP_NOTE_LOW_ENERGY; /* which all processes know */
    const int first = other->veto != SVMP_NOTE_NONE &&
                      (v->veto == SVMP_NOTE_NONE || other->veto == SVMP_NOTE_NOT_FINITE || other->veto < v->veto);
    const size_t count = v->veto_count + other->veto_count;
    v->r_hat = fmax(v->r_hat, other->r_hat); /* NaN: unknown to one of them */
    v->draws = fmin(v->draws, other->draws);
    if ((first && v->veto != SVMP_NOTE_NOT_FINITE) || (same && sign * other->veto_amount > sign * v->veto_amount)) {
        v->veto = other->veto;
        v->veto_amount = other->veto_amount;
        v->veto_count = other->veto_count;
        memcpy(v->veto_name, other->veto_name, sizeof v->veto_name);
    }
    if (same && !of_draws) v->veto_count = count;
    if (v->veto != SVMP_NOTE_NONE) v->finding = SVMP_FINDING_NOT_EXAMINED;
}

static svmp_status merge_all_chains(const svmp_run *run, svmp_verdict *verdict) {
    const svmp_peers *peers = run->model->graph->peers;
    svmp_verdict *all = NULL;
    if (peers->count == 1) return SVMP_OK;
    SVMP_TRY(svmp_agree(run->context, peers, SVMP_NEW(run->context, all, peers->count)));
    peers->gather(peers, sizeof *verdict, verdict, all);
    all[0].context = verdict->context;
    *verdict = all[0];
    for (size_t k = 1; k < peers->count; k++) merge_chains(verdict, &all[k]);
    svmp_release(run->context, all);
    return SVMP_OK;
}

/* Every kth draw of each chain, as svmp_particles_select has them; of a part of a model, where the chains are. */
static svmp_status examine_draws(const svmp_run *run, double seconds, svmp_verdict *verdict) {
    svmp_particles *draws = NULL, *some = NULL;
    svmp_status status;
    if (run->model->graph->halo || run->method->result == NULL)
        return svmp_examine_values(run, run->backend->n, NULL, seconds, 0, verdict);
    SVMP_CHECK(run->method->result(run, &draws));
    SVMP_CHECK(svmp_particles_select(draws, draws->variables, NULL, verdict->every, &some));
    SVMP_CHECK(svmp_examine_values(run, some->count, some->values, seconds, 0, verdict));
done:
    svmp_particles_free(draws);
    svmp_particles_free(some);
    return status;
}

/* Of a part of a model, where the chains are, none is looked at one by one. */
static svmp_status find_unmoved(const svmp_run *run, svmp_verdict *verdict) {
    svmp_particles *draws = NULL;
    size_t chains, variables;
    char name[VERDICT_NAME];
    if (run->model->graph->halo || run->method->result == NULL) return SVMP_OK;
    SVMP_TRY(run->method->result(run, &draws));
    const size_t i = svmp_chains_unmoved(draws, &chains, &variables);
    if (i != SIZE_MAX) {
        svmp_verdict_variable_name(run->model, i, name, sizeof name);
        svmp_verdict_veto(verdict, SVMP_NOTE_CHAIN_UNMOVED, (double)chains, name);
        verdict->veto_count = variables;
    }
    svmp_particles_free(draws);
    return SVMP_OK;
}

/* Chains that have mixed pass if there was no time to examine their draws. If there was, and exact moves from these
 * draws have not mixed, there may be modes that no chain has left: no verdict. */
static svmp_status judge_chains(const svmp_run *run, double seconds, svmp_verdict *verdict) {
    svmp_particles *natural = NULL;
    SVMP_TRY(find_unmoved(run, verdict));
    SVMP_TRY(svmp_run_particles(run, &natural));
    const svmp_status judged = svmp_chains_verdict(natural, verdict);
    verdict->particles = svmp_particles_count(natural);
    svmp_particles_free(natural);
    SVMP_TRY(svmp_model_agree_all(run->model, judged));
    SVMP_TRY(merge_all_chains(run, verdict));
    if (verdict->veto != SVMP_NOTE_NONE || !(seconds > 0)) return SVMP_OK;
    const svmp_status status = examine_draws(run, seconds, verdict);
    if (status == SVMP_NO_MEMORY) return status;
    const int examined = verdict->finding != SVMP_FINDING_NOT_EXAMINED && verdict->unexamined == SVMP_UNEXAMINED_NONE;
    if (examined || verdict->finding == SVMP_FINDING_FAILED) return SVMP_OK;
    verdict->finding = SVMP_FINDING_PASSED;
    verdict->moves = 0;
    return SVMP_OK;
}

/* ---- sums that end ----------------------------------------------------------------------------------------------- */

/* The probability of the last value, times the number of values: what a slowly falling tail beyond it may hold. */
static double beyond_end(const svmp_particles *natural, const lowered_discrete *unknown) {
    svmp_series series;
    char name[160];
    snprintf(name, sizeof name, "probability.%.140s", unknown->name);
    for (size_t k = 0; svmp_particles_series(natural, k, &series); k++)
        if (series.count == unknown->states && strcmp(series.name, name) == 0)
            return series.values[series.count - 1] * (double)series.count;
    return 0;
}

/* Counts without a largest value were summed to one that should have no weight. The worst that has. */
static svmp_status check_ends(const svmp_run *run, svmp_verdict *verdict) {
    const lowered_summed *summed = run->model->lowered ? &run->model->lowered->summed : NULL;
    suspect worst = {.amount = -1};
    svmp_particles *natural = NULL;
    bool any = false;
    for (size_t k = 0; summed && k < summed->count; k++) any = any || summed->unknowns[k].open;
    any = svmp_peers_any(run->model->graph->peers, any) != 0; /* the first process has them */
    if (!any) return SVMP_OK;
    SVMP_TRY(svmp_run_particles(run, &natural));
    for (size_t k = 0; summed && k < summed->count; k++) {
        const lowered_discrete *unknown = &summed->unknowns[k];
        const double beyond = unknown->open ? beyond_end(natural, unknown) : 0;
        if (!(beyond > truncated_weight)) continue;
        worst.count++;
        if (beyond <= worst.amount) continue;
        worst.amount = beyond;
        worst.place = (size_t)unknown->least + unknown->states - 1; /* the end */
        snprintf(worst.name, sizeof worst.name, "%.127s", unknown->name);
    }
    svmp_particles_free(natural);
    SVMP_TRY(worst_of_all(run, &worst));
    if (worst.count == 0) return SVMP_OK;
    verdict->veto = SVMP_NOTE_NONE; /* whatever else: it is another posterior */
    svmp_verdict_veto(verdict, SVMP_NOTE_SUM_TRUNCATED, (double)worst.place, worst.name);
    return SVMP_OK;
}

/* Whether the density falls from where the particles or the chains are. */
static svmp_status find_end(const svmp_run *run, svmp_verdict *verdict) {
    svmp_particles *draws = NULL;
    svmp_status status = SVMP_OK;
    if (run->model->graph->halo || run->method->result == NULL)
        return svmp_run_improper_direction(run, run->backend->n, NULL, verdict->improper_direction,
                                           sizeof verdict->improper_direction);
    if (run->method->result(run, &draws) != SVMP_OK) return SVMP_OK; /* a sampler that has no draws yet */
    status = svmp_run_improper_direction(run, draws->count, draws->values, verdict->improper_direction,
                                         sizeof verdict->improper_direction);
    svmp_particles_free(draws);
    return status;
}

/* Derived values that never vary, such as indicators of what is rare: their sd is not known. */
static void find_constants(const svmp_model *model, const svmp_particles *draws, svmp_verdict *verdict) {
    for (size_t i = svmp_model_outputs(model); i < draws->variables; i++) {
        const double *row = draws->values + i * draws->count;
        size_t l = 1;
        while (l < draws->count && row[l] == row[0]) l++;
        if (l == draws->count && verdict->constant++ == 0)
            svmp_model_output_name(model, i, verdict->constant_name, sizeof verdict->constant_name);
    }
}

/* Between modes a quantile is uncertain, however many draws there are. */
static svmp_status find_gaps(const svmp_model *model, const svmp_particles *draws, svmp_verdict *verdict) {
    double *workspace = NULL;
    if (verdict->modes < 2) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(model->context, workspace, 3 * draws->count));
    for (size_t i = 0; i < svmp_model_outputs(model) && i < draws->variables; i++)
        if (svmp_gap_at_quantiles(draws, i, workspace) > in_a_gap && verdict->gapped++ == 0)
            svmp_model_output_name(model, i, verdict->gapped_name, sizeof verdict->gapped_name);
    svmp_release(model->context, workspace);
    return SVMP_OK;
}

/* Averages can converge, and exact moves change nothing, before every chain has been everywhere, as near a standard
 * deviation of 0: then the chains differ. */
static svmp_status check_mixing(const svmp_run *run, const svmp_particles *draws, svmp_verdict *verdict) {
    size_t count = 0;
    svmp_mixing *mixing = NULL;
    svmp_moments *moments = NULL;
    svmp_status status;
    double limit, worst;
    char name[VERDICT_NAME];
    if (!svmp_particles_are_chains(draws)) return SVMP_OK;
    svmp_chains_limits(draws->chains, draws->count / draws->chains, &limit, NULL);
    SVMP_CHECK(SVMP_NEW(run->context, mixing, draws->variables));
    SVMP_CHECK(SVMP_NEW(run->context, moments, draws->variables));
    SVMP_CHECK(svmp_particles_summarise(draws, draws->variables, NULL, moments, mixing));
    worst = limit;
    for (size_t i = 0; i < draws->variables; i++) {
        count += mixing[i].r_hat > limit;
        if (!(mixing[i].r_hat > worst)) continue;
        worst = mixing[i].r_hat;
        svmp_model_output_name(run->model, i, name, sizeof name);
    }
    if (count == 0) goto done;
    svmp_verdict_veto(verdict, SVMP_NOTE_R_HAT, worst, name);
    verdict->r_hat = worst;
    verdict->veto_count = count;
done:
    svmp_release(run->context, moments);
    svmp_release(run->context, mixing);
    return status;
}

/* Exact moves keep draws of an infinite variance as they are, and say nothing about how well the draws know the moments
 * of what has heavy tails or hardly varies. */
static svmp_status check_numbers(const svmp_run *run, svmp_verdict *verdict) {
    static const svmp_code codes[] = {[UNCERTAIN_NONE] = SVMP_NOTE_NONE,
                                      [UNCERTAIN_MEAN] = SVMP_NOTE_UNCERTAIN_MEAN,
                                      [UNCERTAIN_SD] = SVMP_NOTE_UNCERTAIN_SD,
                                      [UNCERTAIN_TAILS] = SVMP_NOTE_HEAVY_TAILS};
    svmp_particles *draws = NULL;
    uncertain_numbers found;
    svmp_status status;
    char name[VERDICT_NAME];
    if (run->model->graph->peers->count > 1 || !svmp_verdict_is_clear(verdict)) return SVMP_OK;
    SVMP_CHECK(svmp_run_answer(run, &draws));
    if (draws == NULL) goto done;
    verdict->answered = draws->count;
    SVMP_CHECK(check_mixing(run, draws, verdict));
    if (verdict->veto != SVMP_NOTE_NONE) goto done;
    SVMP_CHECK(svmp_find_uncertain(draws, verdict->modes < 2, &found));
    find_constants(run->model, draws, verdict);
    SVMP_CHECK(find_gaps(run->model, draws, verdict));
    if (found.count == 0) goto done;
    svmp_verdict_veto(verdict, codes[found.what], found.amount,
                      svmp_model_output_name(run->model, found.worst, name, sizeof name));
    verdict->veto_count = found.count;
done:
    svmp_particles_free(draws);
    return status;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

svmp_status svmp_run_verdict(const svmp_run *run, const svmp_discrepancy *nodes, double seconds,
                             svmp_verdict *verdict) {
    if (run == NULL) return SVMP_BAD_CALL;
    if (verdict == NULL) return svmp_fail(run->context, SVMP_BAD_CALL, "svmp_run_verdict: the verdict is NULL.");
    const svmp_yield yield = run->method->yield;
    if (yield != SVMP_YIELD_PARTICLES && yield != SVMP_YIELD_CHAINS)
        return svmp_fail(run->context, SVMP_UNSUPPORTED,
                         "There is no verdict for the method '%s', which yields neither particles nor chains.",
                         run->method->name);
    SVMP_TRY(svmp_backend_gather(run->own, run->backend));
    svmp_verdict_describe(run, verdict);
    if (yield == SVMP_YIELD_CHAINS) SVMP_TRY(check_discontinuities(run, verdict));
    SVMP_TRY(yield == SVMP_YIELD_CHAINS ? judge_chains(run, seconds, verdict)
                                        : judge_particles(run, nodes, seconds, verdict));
    SVMP_TRY(check_ends(run, verdict));
    SVMP_TRY(svmp_verdict_describe_modes(run, verdict));
    SVMP_TRY(check_numbers(run, verdict));
    if (was_interrupted(run)) svmp_verdict_veto(verdict, SVMP_NOTE_INTERRUPTED, 0, NULL);
    return svmp_verdict_is_clear(verdict) || *verdict->improper_direction ? SVMP_OK : find_end(run, verdict);
}
