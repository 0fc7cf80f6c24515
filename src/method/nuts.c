/* The No-U-Turn sampler: --chains chains, each adapts for --warmup iterations and then keeps --draws draws. What a
 * chain does depends on its number and the seed alone: the chains run in parallel, one per thread, and some
 * milliseconds ahead of the run's iteration, so that threads do not synchronise after every iteration. Several
 * processes have some chains each: they tell each other the statistics of every iteration, and the draws for results
 * and checkpoints. */
#include <math.h>
#include <string.h>

#include "base/attempt.h"
#include "base/notes.h"
#include "base/packing.h"
#include "base/threads.h"
#include "method/moves/trajectory.h"
#include "method/nuts_chain.h"
#include "model/natural_values.h"

/* ---- setting up -------------------------------------------------------------------------------------------------- */

/* A start that was not asked for is replaced if there is no Gaussian on the graph. */
static svmp_status do_without(svmp_run *run) {
    svmp_log(run->context, SVMP_LOG_INFO, "The chains start at %s and adapt a diagonal metric: %s", METHOD_INIT,
             svmp_context_error(run->context));
    if (run->options.init) return SVMP_OK;
    SVMP_TRY(svmp_duplicate(run->context, METHOD_INIT, (char **)&run->options.init));
    return svmp_init_parse(run->context, METHOD_INIT, &run->start);
}

/* The Gaussian on the graph, and its coordinates: with its correlations if the triangular solves of a leapfrog step are
 * cheap. */
static svmp_status fit(svmp_run *run, nuts *state) {
    const int required = run->options.init && run->start.kind == INIT_GAUSSIAN;
    svmp_gaussian_log_functions(run->model);
    const svmp_error_function on_error = required ? NULL : svmp_attempt_begin(run->context);
    const svmp_status status = svmp_gaussian_create_from(run->model, run->backend->seed, run->start.point, &state->q);
    if (!required) svmp_attempt_end(run->context, on_error, status);
    if (status == SVMP_NO_MEMORY || (status != SVMP_OK && required)) return status;
    if (status != SVMP_OK) return do_without(run);
    const int expensive = svmp_trajectory_is_expensive(state->q, run->model->graph->variables);
    return svmp_gaussian_whitening(state->q, expensive, &state->whitening);
}

static svmp_status alloc(svmp_run *run) {
    const run_options *options = &run->options;
    const size_t d = run->model->graph->variables;
    nuts *state = NULL;
    SVMP_TRY(svmp_method_refuse_boxes(run));
    const double bytes = (double)options->chains * sizeof(double) *
                         ((double)options->draws * (double)(d + STATISTIC_COUNT) + (double)svmp_tree_workspace_size(d));
    SVMP_TRY(svmp_require_memory(run->context, bytes, "these draws need"));
    SVMP_TRY(SVMP_NEW(run->context, state, 1));
    run->state = state;
    SVMP_TRY(fit(run, state));
    SVMP_TRY(SVMP_NEW(run->context, state->chain, options->chains));
    state->chains = options->chains;
    SVMP_TRY(svmp_shared_open(run->context, svmp_model_peers(run->model), options->chains, &state->columns));
    for (size_t c = 0; c < state->chains; c++) SVMP_TRY(svmp_chain_create(run, c, &state->chain[c]));
    SVMP_TRY(SVMP_NEW(run->context, state->mine, (d + STATISTIC_COUNT) * state->chains));
    SVMP_TRY(SVMP_NEW(run->context, state->all, (d + STATISTIC_COUNT) * state->chains));
    const size_t count = options->chains * options->draws;
    SVMP_TRY(svmp_allocate(run->context, count, d * sizeof(double), (void **)&state->draws));
    SVMP_TRY(svmp_allocate(run->context, count, STATISTIC_COUNT * sizeof(double), (void **)&state->statistics));
    return SVMP_OK;
}

static void free_nuts(svmp_run *run) {
    nuts *state = run->state;
    for (size_t c = 0; c < state->chains; c++) svmp_chain_free(run->context, &state->chain[c]);
    svmp_whitening_free(run->context, state->whitening);
    svmp_gaussian_free(state->q);
    svmp_shared_close(&state->columns);
    svmp_release(run->context, state->chain);
    svmp_release(run->context, state->draws);
    svmp_release(run->context, state->statistics);
    svmp_release(run->context, state->mine);
    svmp_release(run->context, state->all);
    svmp_release(run->context, state);
}

static gaussian *fitted(const svmp_run *run) { return ((const nuts *)run->state)->q; }

static svmp_status draw_start(svmp_run *run, double *x) {
    return svmp_gaussian_draw(((const nuts *)run->state)->q, run->backend->seed, run->backend->n, x);
}

/* ---- the method -------------------------------------------------------------------------------------------------- */

static svmp_status explain_start(const svmp_run *run, const chain *c) {
    char name[128] = "";
    size_t i = 0;
    const double *score = c->h.score;
    while (i < c->h.all && isfinite(score[i])) i++;
    if (i < c->h.all)
        snprintf(name, sizeof name, ", and the score of %.80s is %g there",
                 svmp_model_variable_name(run->model, i, (char[96]){0}, 96), score[i]);
    const char *where = run->started_from     ? "its start"
                        : run->model->lowered ? "the last of 100 random starts and of 100 draws of the priors"
                                              : "the last of 100 random starts";
    return svmp_fail_notes(run->context, SVMP_NOT_FINITE, NOTES(svmp_advice(SVMP_NOTE_TRY_ANOTHER, "init", NULL)),
                           "Chain %zu cannot start: the log density is %g at %s%s.", c->number + 1, c->z.log_density,
                           where, name);
}

static svmp_status explain(const svmp_run *run, const chain *c) {
    if (c->h.failed) return svmp_evaluator_fail(c->h.evaluator);
    switch (c->fault) {
    case CHAIN_NO_START: return explain_start(run, c);
    case CHAIN_NO_STEP:
        return svmp_fail(
            run->context, SVMP_NOT_FINITE,
            "Chain %zu finds no step size small enough at iteration %zu: the log density may be discontinuous.",
            c->number + 1, c->iteration + 1);
    case CHAIN_IMPROPER:
        return svmp_fail(run->context, SVMP_NOT_FINITE,
                         "Chain %zu accepts steps of any size at iteration %zu: the posterior may be improper.",
                         c->number + 1, c->iteration + 1);
    default: return SVMP_OK;
    }
}

/* Whether the chain's density is finite at particle l of x, which then becomes its start. */
static int starts_at(const svmp_run *run, chain *c, size_t n, const double *x, size_t l) {
    const nuts *state = run->state;
    svmp_hamiltonian_enter(&c->h, n, l, x, c->z.q);
    svmp_hamiltonian_evaluate(&c->h, &c->z);
    if (c->h.failed || !svmp_hamiltonian_is_finite(&c->h, &c->z)) return 0;
    for (size_t i = 0; i < c->h.all; i++) state->start[i * run->backend->n + c->number] = x[i * n + l];
    c->fault = CHAIN_FINE;
    return 1;
}

/* Chains without a possible start begin at draws from the priors where these have a finite density, for example with
 * ascending thresholds. *found: whether any start was found. */
static svmp_status start_from_priors(const svmp_run *run, int *found) {
    enum { ATTEMPTS = 100 };
    const nuts *state = run->state;
    double *x = NULL;
    size_t without = 0;
    *found = 0;
    for (size_t c = 0; c < state->chains; c++) without += state->chain[c].fault == CHAIN_NO_START;
    if (without == 0 || run->started_from || run->model->lowered == NULL) return SVMP_OK;
    SVMP_TRY(svmp_allocate(run->context, state->chains, run->model->graph->variables * sizeof *x, (void **)&x));
    svmp_status status = SVMP_OK;
    for (size_t k = 1; k <= ATTEMPTS && without > 0 && status == SVMP_OK; k++) {
        status = svmp_model_draw_priors(run->model, run->options.seed + k, state->chains, x);
        for (size_t c = 0; c < state->chains && status == SVMP_OK; c++)
            if (state->chain[c].fault == CHAIN_NO_START && starts_at(run, &state->chain[c], state->chains, x, c)) {
                without--;
                *found = 1;
            }
    }
    svmp_release(run->context, x);
    return status;
}

/* ---- sharing ----------------------------------------------------------------------------------------------------- */

/* The chains that this process moves: those of `own` columns, of which idle processes have none. */
static size_t count_own(const nuts *state) { return state->columns.idle ? 0 : state->columns.count; }

static double *statistics_of(const svmp_run *run, size_t c, size_t t) {
    const nuts *state = run->state;
    return state->statistics + svmp_chain_slot(run, &state->chain[c], t) * STATISTIC_COUNT;
}

static double *draw_of(const svmp_run *run, size_t c, size_t t) {
    const nuts *state = run->state;
    return state->draws + svmp_chain_slot(run, &state->chain[c], t) * run->model->graph->variables;
}

/* `size` numbers of every chain, from where they are in iteration t. */
static void gather(const svmp_run *run, double *(*place)(const svmp_run *run, size_t c, size_t t), size_t size,
                   size_t t) {
    const nuts *state = run->state;
    const peer_columns *own = &state->columns;
    for (size_t l = 0; l < own->count; l++)
        for (size_t i = 0; i < size; i++) state->mine[i * own->count + l] = place(run, own->first + l, t)[i];
    svmp_shared_gather(own, size, state->mine, state->all);
    for (size_t c = 0; c < state->chains; c++)
        for (size_t i = 0; i < size; i++) place(run, c, t)[i] = state->all[i * state->chains + c];
}

/* The draws of iterations first ... last - 1 of all chains. */
static void gather_draws(const svmp_run *run, size_t first, size_t last) {
    nuts *state = run->state;
    for (size_t t = first > state->gathered ? first : state->gathered; state->columns.context && t < last; t++)
        gather(run, draw_of, run->model->graph->variables, t);
    if (state->gathered < last) state->gathered = last;
}

static size_t find_reached(const nuts *state, size_t first, size_t count) {
    size_t least = SIZE_MAX;
    for (size_t c = first; c < first + count; c++)
        least = state->chain[c].iteration < least ? state->chain[c].iteration : least;
    return least;
}

/* A chain that another process moves becomes what it is there, with the states that may still be needed. */
static svmp_status take_chain(svmp_run *run, chain *c, svmp_status (*exchange)(svmp_run *, chain *, archive *)) {
    const svmp_peers *peers = ((const nuts *)run->state)->columns.peers;
    const size_t owner = svmp_shared_owner(run->options.chains, peers->count, c->number);
    const bool own = peers->rank == owner;
    packing p = {.context = run->context, .loading = !own, .what = "A chain of another process"};
    packed_archive packed = svmp_pack_archive(&p, c->h.all);
    uint64_t size = 0;
    svmp_status status = own ? exchange(run, c, &packed.archive) : SVMP_OK;
    SVMP_CHECK(svmp_agree(run->context, peers, status == SVMP_OK ? p.status : status));
    size = p.at;
    peers->broadcast(peers, owner, sizeof size, &size);
    if (!own) status = SVMP_NEW(run->context, p.bytes, size);
    SVMP_CHECK(svmp_agree(run->context, peers, status));
    peers->broadcast(peers, owner, size, p.bytes);
    p.size = size;
    if (!own) status = exchange(run, c, &packed.archive);
    SVMP_CHECK(svmp_agree(run->context, peers, status == SVMP_OK ? p.status : status));
done:
    svmp_release(run->context, p.bytes);
    return status;
}

/* ---- iterations -------------------------------------------------------------------------------------------------- */

static void advance_chain(void *work, size_t k) {
    const svmp_run *run = work;
    const nuts *state = run->state;
    svmp_chain_advance(run, &state->chain[state->columns.first + k]);
}

static void advance_own(svmp_run *run) {
    svmp_parallel_for(run->backend->threads, count_own(run->state), 1, advance_chain, run);
}

/* The error of a chain that cannot go on from here. */
static svmp_status find_fault(const svmp_run *run) {
    const nuts *state = run->state;
    svmp_status status = SVMP_OK;
    for (size_t k = 0; k < count_own(state) && status == SVMP_OK; k++) {
        const chain *c = &state->chain[state->columns.first + k];
        if (c->iteration == run->iteration) status = explain(run, c);
    }
    return svmp_agree(run->context, state->columns.peers, status);
}

/* At least one iteration of all chains. */
static svmp_status advance(svmp_run *run) {
    nuts *state = run->state;
    const svmp_peers *peers = state->columns.peers;
    const size_t t = run->iteration;
    int found = 0;
    advance_own(run);
    if (t == 0) SVMP_TRY(svmp_agree(run->context, peers, start_from_priors(run, &found)));
    if (found) advance_own(run);
    SVMP_TRY(find_fault(run));
    double least = -(double)find_reached(state, state->columns.first, count_own(state));
    peers->max(peers, 1, &least);
    state->reached = (size_t)-least;
    for (size_t k = t; state->columns.context && k < state->reached; k++)
        gather(run, statistics_of, STATISTIC_COUNT, k);
    return SVMP_OK;
}

/* The error of a chain counts when the run reaches its iteration. */
static svmp_status iterate(svmp_run *run) {
    nuts *state = run->state;
    const size_t t = run->iteration;
    if (t == 0) SVMP_TRY(svmp_backend_edit(run->backend, ARRAY_PARTICLES, &state->start));
    if (t >= state->reached) SVMP_TRY(advance(run));
    run->rate = 0;
    for (size_t c = 0; c < state->chains; c++) {
        const double *row = statistics_of(run, c, t);
        run->rate += row[STATISTIC_stepsize] / (double)state->chains;
        if (t >= run->options.warmup) run->divergences += row[STATISTIC_divergent] != 0;
    }
    return SVMP_OK;
}

static const char *const statistic_names[] = {
#define STATISTIC_NAME(name) #name "__",
    STATISTICS(STATISTIC_NAME)
#undef STATISTIC_NAME
};

/* Copies the states of every chain from iteration `first` on, as many as p has particles; `column` likewise. */
static svmp_status fill(const svmp_run *run, size_t first, double *column, svmp_particles *p) {
    const nuts *state = run->state;
    const size_t d = run->model->graph->variables, count = svmp_particles_count(p), each = count / state->chains;
    double *values = svmp_particles_values(p);
    for (size_t l = 0; l < count; l++) {
        const double *draw = draw_of(run, l / each, first + l % each);
        for (size_t i = 0; i < d; i++) values[i * count + l] = draw[i];
    }
    for (size_t s = 0; s < STATISTIC_COUNT; s++) {
        for (size_t l = 0; l < count; l++) column[l] = statistics_of(run, l / each, first + l % each)[s];
        SVMP_TRY(svmp_particles_set_statistic(p, statistic_names[s], column));
    }
    return SVMP_OK;
}

/* A factor that is evaluated outside its domain looks like a divergent trajectory: reports where, once per run. */
static void report_divergence(const svmp_run *run) {
    nuts *state = run->state;
    char name[128];
    for (size_t k = 0; k < state->chains && !state->divergence_reported; k++) {
        const divergence *b = &state->chain[k].divergence;
        if (!b->known || b->factor == SIZE_MAX) continue;
        const size_t line = svmp_model_factor_line(run->model, b->factor);
        state->divergence_reported = 1;
        svmp_log(run->context, SVMP_LOG_WARNING,
                 "Trajectories diverged where the density is undefined: first at %s = %g, in %s %zu.",
                 svmp_model_variable_name(run->model, b->variable, name, sizeof name), b->value,
                 line ? "the statement on line" : "factor", line ? line : b->factor);
    }
}

/* The draws so far; before the first one, the current states. */
static svmp_status result(const svmp_run *run, svmp_particles **particles) {
    const nuts *state = run->state;
    const size_t d = run->model->graph->variables, t = run->iteration, warmup = run->options.warmup;
    const size_t each = t > warmup ? t - warmup : 1, count = state->chains * each;
    svmp_status status = SVMP_OK;
    svmp_particles *p = NULL;
    double *column = NULL;
    const double *start = NULL;
    if (t == 0) SVMP_CHECK(svmp_backend_view(run->backend, ARRAY_PARTICLES, &start));
    SVMP_CHECK(svmp_particles_create(run->context, d, count, start, &p));
    SVMP_CHECK(svmp_particles_set_chains(p, state->chains));
    SVMP_CHECK(SVMP_NEW(run->context, column, count));
    if (t > 0) gather_draws(run, t - each, t);
    if (t > 0) SVMP_CHECK(fill(run, t - each, column, p));
    report_divergence(run);
    *particles = p;
    p = NULL;
done:
    svmp_release(run->context, column);
    svmp_particles_free(p);
    return status;
}

/* The states that may still be needed: the draws, the last state, and the lead of a chain. They are identified by
 * iteration, because a run with more draws has other slots. */
static svmp_status kept_states(const svmp_run *run, const chain *c, archive *a) {
    const size_t d = c->h.all, t = run->iteration, warmup = run->options.warmup;
    const size_t first = t > warmup ? warmup : t > 0 ? t - 1 : 0;
    if (c->iteration < t || c->iteration > run->iterations || c->iteration - first > run->options.draws)
        return svmp_fail(run->context, SVMP_BAD_INPUT,
                         "In the checkpoint, chain %zu is at iteration %zu, but the run is at %zu.", c->number + 1,
                         c->iteration, t);
    for (size_t k = first; k < c->iteration; k++) {
        SVMP_TRY(svmp_archive_reals(a, "draw", d, draw_of(run, c->number, k)));
        SVMP_TRY(svmp_archive_reals(a, "told", STATISTIC_COUNT, statistics_of(run, c->number, k)));
    }
    return SVMP_OK;
}

/* A chain whose error will end the run has no state to continue from. */
static svmp_status chain_state(svmp_run *run, chain *c, archive *a) {
    if (!a->loading && svmp_chain_has_fault(c)) return explain(run, c);
    SVMP_TRY(svmp_chain_state(run, c, a));
    return kept_states(run, c, a);
}

static svmp_status archive_state(svmp_run *run, archive *a) {
    nuts *state = run->state;
    SVMP_TRY(svmp_archive_count(a, "divergences", &run->divergences));
    for (size_t k = 0; k < state->chains; k++) {
        chain *c = &state->chain[k];
        if (!a->loading && state->columns.context) SVMP_TRY(take_chain(run, c, chain_state));
        SVMP_TRY(chain_state(run, c, a));
    }
    if (a->loading) state->gathered = state->reached = find_reached(state, 0, state->chains);
    return SVMP_OK;
}

const method svmp_method_nuts = {.name = "nuts",
                                 .init = "gaussian",
                                 .coordinates = "auto",
                                 .on_host = 1,
                                 .fits = 1,
                                 .shared = 1,
                                 .yield = SVMP_YIELD_CHAINS,
                                 .draws = 1000,
                                 .alloc = alloc,
                                 .start = draw_start,
                                 .gaussian = fitted,
                                 .iterate = iterate,
                                 .free = free_nuts,
                                 .result = result,
                                 .state = archive_state};
