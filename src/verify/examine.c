/* Cross-examination: the particles of a run are moved by exact moves of the posterior. If they were a sample of it,
 * they still are one afterwards, and nothing has changed but by chance.
 *
 *   - Every particle is a Markov chain: an iteration is a sweep of local moves (method/moves/sweep.h) and, if the whole
 * model is in this process, a trajectory in the metric of the Gaussian on the graph (method/moves/trajectory.h).
 *   - 10 iterations adapt. A window of 20 iterations follows, which is compared with the start (before_after.h) and
 * doubled, until every variable has mixed within it and nothing is close to its limit, or something is far beyond
 * chance, or moves or seconds run out.
 *   - What differs from the start by more than as many exact draws would, and by enough to matter, fails the particles.
 *     If nothing does but some variable has not mixed, there is no verdict. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/peers.h"
#include "maths/special.h"
#include "method/moves/move_constants.h"
#include "model/sorted_variables.h"
#include "sample/particles.h"
#include "verify/examination.h"
#include "verify/verdict_constants.h"
#include "verify/verdict_inside.h"

/* Effects that matter, and what they are called. */
static const svmp_aspect aspect_of[] = {
    [TEST_MEAN] = SVMP_ASPECT_MEAN,   [TEST_SPREAD] = SVMP_ASPECT_SPREAD, [TEST_MEDIAN] = SVMP_ASPECT_MEDIAN,
    [TEST_TAILS] = SVMP_ASPECT_TAILS, [TEST_SCORES] = SVMP_ASPECT_SCORES, [TEST_SHAPE] = SVMP_ASPECT_SHAPE};

/* ---- setting up -------------------------------------------------------------------------------------------------- */

static svmp_status agree(const examination *e, svmp_status status) { return svmp_model_agree_all(e->model, status); }

/* All particles, or 500 that are evenly spaced among them. */
static svmp_status copy_particles(examination *e) {
    const size_t all = e->all, n = e->b->n;
    const double *x = e->x;
    double *to;
    SVMP_TRY(svmp_backend_gather(e->run->own, e->run->backend));
    if (x == NULL) SVMP_TRY(svmp_backend_view(e->run->backend, ARRAY_PARTICLES, &x));
    SVMP_TRY(svmp_backend_edit(e->b, ARRAY_PARTICLES, &to));
    for (size_t i = 0; i < e->model->graph->moved_variables; i++)
        for (size_t l = 0; l < n; l++) to[i * n + l] = x[i * all + (2 * l + 1) * all / (2 * n)];
    SVMP_TRY(svmp_backend_commit(e->b, ARRAY_PARTICLES));
    return svmp_backend_refresh(e->b);
}

/* A posterior that is the same in every order of what is sorted has as many modes as there are orders, and they differ
 * by nothing that matters: all particles are put in one of them, which is an exact move. */
static svmp_status put_in_order(examination *e) {
    double *x;
    if (!e->sorts) return SVMP_OK;
    SVMP_TRY(svmp_backend_edit(e->b, ARRAY_PARTICLES, &x));
    svmp_model_sort(e->model, e->q ? svmp_gaussian_mean(e->q) : NULL, e->b->n, x); /* whose metric the moves have */
    return svmp_backend_commit(e->b, ARRAY_PARTICLES);
}

static svmp_status find_order(examination *e) {
    const double *x;
    SVMP_TRY(svmp_backend_view(e->b, ARRAY_PARTICLES, &x));
    SVMP_TRY(svmp_model_is_exchangeable(e->model, e->b->n, x, &e->sorts));
    return put_in_order(e);
}

/* The run's own: it does not depend on the particles. The same is fitted where the run has none. */
static gaussian *borrow_gaussian(const examination *e) {
    const method *m = e->run->method;
    return m->gaussian ? m->gaussian(e->run) : NULL;
}

/* Without a Gaussian on the graph there are no trajectories, which is no error. */
static svmp_status find_gaussian(examination *e) {
    e->q = borrow_gaussian(e);
    e->borrowed = e->q != NULL;
    if (e->borrowed) return SVMP_OK;
    const svmp_error_function tell = e->context->on_error;
    e->context->on_error = NULL;
    const svmp_status made = svmp_gaussian_create_from(e->model, e->run->backend->seed, e->run->start.point, &e->q);
    e->context->on_error = tell;
    if (made == SVMP_NO_MEMORY) return made;
    if (made != SVMP_OK) e->context->error[0] = '\0';
    return SVMP_OK;
}

static svmp_status make_trajectories(examination *e) {
    if (e->local) return SVMP_OK;
    SVMP_TRY(find_gaussian(e));
    if (e->q == NULL) return SVMP_OK;
    if (svmp_trajectory_is_expensive(e->q, e->model->graph->variables)) return SVMP_OK;
    return svmp_trajectory_create(e->own, e->q, &e->global);
}

/* Of all particles; each process evaluates its own. */
static svmp_status find_scores(examination *e, double *score) {
    const double *x;
    double *own;
    SVMP_TRY(svmp_backend_take(e->own, e->b));
    SVMP_TRY(svmp_backend_view(e->own, ARRAY_PARTICLES, &x));
    SVMP_TRY(svmp_backend_edit(e->own, ARRAY_SCORE, &own));
    SVMP_TRY(agree(e, svmp_evaluate(e->evaluator, x, NULL, own)));
    svmp_shared_gather(&e->own->columns, e->model->graph->moved_variables, own, score);
    return SVMP_OK;
}

svmp_status svmp_examination_log_density(examination *e, double *log_density) {
    const double *x;
    int known;
    SVMP_TRY(svmp_backend_take(e->own, e->b));
    SVMP_TRY(svmp_backend_view(e->own, ARRAY_PARTICLES, &x));
    SVMP_TRY(agree(e, svmp_evaluate_log_density(e->evaluator, x, e->own_density, &known)));
    svmp_shared_gather(&e->own->columns, 1, e->own_density, log_density);
    return SVMP_OK;
}

static svmp_status look(examination *e, const double **x, double *score, double *log_density) {
    SVMP_TRY(svmp_backend_refresh(e->b));
    SVMP_TRY(svmp_backend_view(e->b, ARRAY_PARTICLES, x));
    SVMP_TRY(find_scores(e, score));
    if (e->views) SVMP_TRY(agree(e, svmp_views_find(e->views, *x, e->seen)));
    return log_density ? svmp_examination_log_density(e, log_density) : SVMP_OK;
}

static svmp_status make_views(examination *e) {
    if (e->local) return SVMP_OK;
    SVMP_TRY(svmp_views_create(e->model, e->q, e->b->n, e->b->threads, &e->views));
    SVMP_TRY(svmp_pairs_create(e->model, e->b->n, e->b->threads, &e->pairs));
    return SVMP_NEW(e->context, e->seen, svmp_views_count(e->views) * e->b->n + 1);
}

static svmp_status make_arrays(examination *e) {
    const size_t own = e->model->graph->moved_variables;
    SVMP_TRY(SVMP_NEW(e->context, e->wrong, own + 1));
    SVMP_TRY(SVMP_NEW(e->context, e->before, e->b->n));
    SVMP_TRY(SVMP_NEW(e->context, e->density, e->b->n));
    SVMP_TRY(SVMP_NEW(e->context, e->own_density, e->own->n));
    SVMP_TRY(make_trajectories(e));
    SVMP_TRY(svmp_mode_jump_create(e->own, svmp_run_modes(e->run), &e->mode_jump));
    SVMP_TRY(make_views(e));
    SVMP_TRY(SVMP_NEW(e->context, e->rows, own + svmp_views_count(e->views)));
    return svmp_backend_evaluator(e->own, &e->evaluator);
}

/* Also again, after moves from elsewhere: nothing that these have learnt is left. */
static svmp_status begin_moves(examination *e) {
    svmp_sweeper_free(e->sweeper);
    e->sweeper = NULL;
    e->done = 0;
    SVMP_TRY(agree(e, svmp_sweeper_create(e->own, &e->sweeper)));
    if (e->global) svmp_sweeper_set_budget(e->sweeper, first_sweep_budget);
    if (e->q) SVMP_TRY(agree(e, svmp_sweeper_add_cauchy(e->sweeper, e->q)));
    e->began = svmp_clock_thread_seconds();
    return agree(e, svmp_sweeper_measure_curvature(e->sweeper, e->b, 0));
}

static svmp_status set_up(examination *e) {
    const backend *from = e->run->backend;
    const size_t n = e->all < MOST_PARTICLES ? e->all : MOST_PARTICLES;
    const uint64_t seed = svmp_hash_bytes(SVMP_HASH_START, sizeof from->seed, &from->seed); /* others than the run's */
    const double *x;
    double *score;
    SVMP_TRY(agree(e, svmp_backend_create(from->local, e->model, n, seed, NULL, NULL, &e->b)));
    SVMP_TRY(svmp_backend_share(e->b, e->model->sharers ? e->model->sharers : &svmp_alone, &e->own));
    SVMP_TRY(agree(e, make_arrays(e)));
    SVMP_TRY(copy_particles(e));
    SVMP_TRY(find_order(e));
    SVMP_TRY(svmp_backend_edit(e->b, ARRAY_SCORE, &score));
    SVMP_TRY(look(e, &x, score, e->before));
    const before_after_size size = {e->model->graph->moved_variables, svmp_views_count(e->views), n, e->b->threads};
    SVMP_TRY(agree(e, svmp_before_after_create(e->context, &size, x, score, e->seen, &e->before_after)));
    return begin_moves(e);
}

static void tear_down(examination *e) {
    svmp_before_after_free(e->before_after);
    svmp_trajectory_free(e->global);
    svmp_mode_jump_free(e->mode_jump);
    svmp_modes_free(e->context, e->modes);
    svmp_found_modes_free(e->found);
    if (!e->borrowed) svmp_gaussian_free(e->q);
    svmp_sweeper_free(e->sweeper);
    svmp_evaluator_free(e->evaluator);
    svmp_views_free(e->views);
    svmp_pairs_free(e->pairs);
    svmp_release(e->context, e->seen);
    svmp_release(e->context, e->wrong);
    svmp_release(e->context, e->rows);
    svmp_release(e->context, e->before);
    svmp_release(e->context, e->density);
    svmp_release(e->context, e->own_density);
    svmp_backend_free_share(e->own, e->b);
    svmp_backend_free(e->b);
}

/* ---- moving ------------------------------------------------------------------------------------------------------ */

/* Step sizes adapt quickly at first, and hardly at all later. */
static svmp_status move(examination *e) {
    const size_t t = e->done++;
    const double gain = e->fixed ? 0 : t < ADAPTATION_MOVES ? 2 / sqrt(1 + (double)t) : 2 / (1 + (double)t), *score;
    if (t == ADAPTATION_MOVES && e->global) svmp_sweeper_match_trajectories(e->sweeper, e->global);
    if (t == ADAPTATION_MOVES / 2) SVMP_TRY(agree(e, svmp_sweeper_measure_curvature(e->sweeper, e->b, 1)));
    SVMP_TRY(svmp_backend_take(e->own, e->b));
    SVMP_TRY(svmp_mode_jump_move(e->mode_jump, e->own, t));
    SVMP_TRY(svmp_sweep(e->sweeper, e->own, t, gain));
    if (e->global) SVMP_TRY(svmp_trajectory_evaluate(e->global, e->own, &score));
    if (e->global) SVMP_TRY(svmp_trajectory_move(e->global, e->own, t, gain));
    SVMP_TRY(svmp_backend_gather(e->own, e->b));
    return put_in_order(e);
}

/* Whether there is time for `more` moves, at the pace of those so far. Seconds are those of this thread, so that what
 * others do on the machine counts little. */
static int has_time(const examination *e, size_t more) {
    const double now = svmp_clock_thread_seconds(), pace = e->done ? (now - e->began) / (double)e->done : 0;
    return now + pace * (double)more <= e->until;
}

/* Clocks and monitors differ between processes: when one stops, all do. The whole first window is promised at once: an
 * examination without one says nothing. */
static int is_late(examination *e) {
    const svmp_run *run = e->run;
    const svmp_progress progress = {.iteration = e->done, .iterations = e->most, .largest = NAN, .rate = NAN};
    const size_t promised = LEAST_MOVES, more = e->done < promised ? promised - e->done : 1;
    int late = e->done >= 2 && !has_time(e, more);
    if (run->monitor && run->monitor(&progress, run->monitor_data)) late = e->broken_off = 1;
    return svmp_peers_any(svmp_model_peers(e->model), (unsigned)late) != 0;
}

svmp_status svmp_examination_move(examination *e, size_t count, int counted, size_t *moved) {
    double *score;
    const double *x;
    for (*moved = 0; *moved < count && !is_late(e); ++*moved) {
        SVMP_TRY(move(e));
        if (!counted) continue;
        SVMP_TRY(svmp_backend_edit(e->b, ARRAY_SCORE, &score));
        SVMP_TRY(look(e, &x, score, NULL));
        if (!svmp_before_after_add(e->before_after, x, score, e->seen)) continue;
        SVMP_TRY(svmp_examination_log_density(e, e->density));
        svmp_before_after_add_density(e->before_after, e->density);
    }
    return SVMP_OK;
}

/* ---- judging ----------------------------------------------------------------------------------------------------- */

/* A ratio matters alike upwards and downwards. */
static int is_matter(svmp_aspect aspect, double effect) {
    const int ratio = aspect == SVMP_ASPECT_SPREAD || aspect == SVMP_ASPECT_SCORES;
    return ratio ? fabs(log1p(effect)) > log1p(matters[aspect]) : fabs(effect) > matters[aspect];
}

/* How far beyond chance a test is; 0 where it does not matter or is unknown. */
static double excess(svmp_aspect aspect, double effect, double z, double limit) {
    if (isnan(effect) || isnan(z)) return 0;
    return is_matter(aspect, effect) ? fabs(z) / limit : 0;
}

static int comes_before(const svmp_drift *one, const svmp_drift *other) {
    return fabs(one->z) > fabs(other->z) || (fabs(one->z) == fabs(other->z) && one->variable < other->variable);
}

void svmp_verdict_list(svmp_verdict *v, const svmp_drift *d) {
    size_t at = v->drifts;
    while (at > 0 && comes_before(d, &v->drift[at - 1])) at--;
    if (at == VERDICT_DRIFTS) return;
    if (v->drifts < VERDICT_DRIFTS) v->drifts++;
    memmove(&v->drift[at + 1], &v->drift[at], (v->drifts - at - 1) * sizeof *v->drift);
    v->drift[at] = *d;
}

/* Row i is an own variable, or what is seen of one, or of all. */
static svmp_drift describe_row(const examination *e, size_t i) {
    const svmp_graph *graph = e->model->graph;
    svmp_drift d = {.variable = SIZE_MAX};
    const size_t own = graph->moved_variables, of = i < own ? i : svmp_views_variable(e->views, i - own);
    if (of != SIZE_MAX) d.variable = svmp_variable_key(graph, of);
    if (i < own)
        svmp_verdict_variable_name(e->model, i, d.name, sizeof d.name);
    else
        svmp_views_name(e->views, i - own, d.name, sizeof d.name);
    return d;
}

/* A variable is wrong once, however many of its rows say so. */
static int is_news(const examination *e, size_t i) {
    const size_t own = e->model->graph->moved_variables, of = i < own ? i : svmp_views_variable(e->views, i - own);
    if (of == SIZE_MAX || e->wrong[of]) return 0;
    return e->wrong[of] = 1;
}

static void judge_row(const examination *e, size_t i, svmp_verdict *v, double *largest) {
    const before_after_row *row = &e->rows[i];
    const int variable = i < e->model->graph->moved_variables;
    const double between_share = isnan(row->between_share) ? INFINITY : row->between_share;
    const double limit =
        between_share <= examined_mixed ? v->limit : far_beyond * v->limit; /* what it moves to is not known well */
    double worst = 0;
    int seen = 0;
    size_t test = 0;
    for (size_t k = 0; k < BEFORE_AFTER_TESTS; k++) {
        const double by = excess(aspect_of[k], row->effect[k], row->z[k], limit);
        seen |= fabs(row->z[k]) > v->limit;
        if (by > worst) worst = by, test = k;
    }
    *largest = fmax(*largest, worst);
    if (worst > 1) {
        svmp_drift d = describe_row(e, i);
        d.aspect = aspect_of[test];
        d.effect = row->effect[test];
        d.z = row->z[test];
        d.level = test == TEST_SHAPE ? row->level : 0;
        svmp_verdict_list(v, &d);
        v->drifting += (size_t)is_news(e, i);
    }
    v->small += variable && worst <= 1 && seen;
    v->unmixed += variable && !(between_share <= examined_mixed);
    if (!(between_share > v->slowest)) return;
    v->slowest = between_share;
    memcpy(v->slowest_name, describe_row(e, i).name, sizeof v->slowest_name);
}

static int has_mixed(const examination *e, size_t i) {
    return e->rows[i].between_share <= examined_mixed;
} /* NaN: no */

static void name_pair(const svmp_model *model, const pair_row *row, char name[VERDICT_NAME]) {
    char first[60], second[60];
    svmp_verdict_variable_name(model, row->first, first, sizeof first);
    svmp_verdict_variable_name(model, row->second, second, sizeof second);
    snprintf(name, VERDICT_NAME, "%s and %s", first, second);
}

/* A correlation is of two variables, and wrong for both: neither is counted. */
static void judge_pair(const examination *e, const pair_row *row, double limit, svmp_verdict *v, double *largest) {
    const int mixed = has_mixed(e, row->first) && has_mixed(e, row->second);
    const double by = excess(SVMP_ASPECT_CORRELATION, row->effect, row->z, mixed ? limit : far_beyond * limit);
    *largest = fmax(*largest, by);
    if (!(by > 1)) return;
    svmp_drift d = {.variable = SIZE_MAX,
                    .aspect = SVMP_ASPECT_CORRELATION,
                    .effect = row->before - row->after,
                    .z = row->z,
                    .level = row->after};
    name_pair(e->model, row, d.name);
    svmp_verdict_list(v, &d);
}

/* The pair with the strongest correlation, for the advice: along it steps are short. */
static void find_ridge(const examination *e, size_t count, const pair_row *rows, svmp_verdict *v) {
    const double nearly_one = 0.98;
    const pair_row *worst = &rows[0];
    *v->ridge = '\0';
    for (size_t k = 1; k < count; k++)
        if (fabs(rows[k].after) > fabs(worst->after)) worst = &rows[k];
    if (fabs(worst->after) > nearly_one) name_pair(e->model, worst, v->ridge);
}

/* Neighbours are few, and what a method loses first; so they share a part of false_alarm of their own, and all of them
 * together have another. */
static void judge_pairs(const examination *e, svmp_verdict *v, double *largest) {
    const size_t near = svmp_pairs_near(e->pairs), count = svmp_pairs_count(e->pairs);
    if (count == 0) return;
    pair_sum all;
    const pair_row *rows = svmp_pairs_close(e->pairs, e->before_after, &all);
    const double of_near = -svmp_normal_quantile(near_share * false_alarm / fmax(1, (double)near) / 2);
    const double of_others = -svmp_normal_quantile(others_share * false_alarm / fmax(1, (double)(count - near)) / 2);
    const double of_all = -svmp_normal_quantile(together_share * false_alarm / 2);
    const double by = excess(SVMP_ASPECT_CORRELATION, all.effect, all.z, of_all);
    find_ridge(e, count, rows, v);
    for (size_t k = 0; k < count; k++) judge_pair(e, &rows[k], rows[k].near ? of_near : of_others, v, largest);
    *largest = fmax(*largest, by);
    if (by > 1)
        svmp_verdict_list(v, &(svmp_drift){.variable = SIZE_MAX,
                                           .name = "neighbours",
                                           .aspect = SVMP_ASPECT_CORRELATION,
                                           .effect = all.effect,
                                           .z = all.z,
                                           .level = NAN});
}

/* Adds what another process has found. */
static void merge(svmp_verdict *v, const svmp_verdict *other) {
    v->drifting += other->drifting;
    v->small += other->small;
    v->unmixed += other->unmixed;
    for (size_t k = 0; k < other->drifts; k++) svmp_verdict_list(v, &other->drift[k]);
    if (!(other->slowest > v->slowest)) return;
    v->slowest = other->slowest;
    memcpy(v->slowest_name, other->slowest_name, sizeof v->slowest_name);
}

static svmp_status merge_all(const examination *e, svmp_verdict *v, double *largest) {
    const svmp_peers *peers = e->model->graph->peers;
    if (peers->count == 1) return SVMP_OK;
    svmp_verdict *all = NULL;
    SVMP_TRY(agree(e, SVMP_NEW(e->context, all, peers->count)));
    peers->max(peers, 1, largest);
    peers->gather(peers, sizeof *v, v, all);
    all[0].context = v->context;
    *v = all[0];
    for (size_t k = 1; k < peers->count; k++) merge(v, &all[k]);
    svmp_release(e->context, all);
    return SVMP_OK;
}

/* Of the window so far. */
static svmp_status judge(const examination *e, svmp_verdict *v, double *largest) {
    const size_t rows = e->model->graph->moved_variables + svmp_views_count(e->views);
    const double tests = BEFORE_AFTER_TESTS * ((double)v->variables + (double)svmp_views_count(e->views));
    svmp_before_after_close(e->before_after, e->rows);
    memset(e->wrong, 0, e->model->graph->moved_variables);
    v->limit = -svmp_normal_quantile(rows_share * false_alarm / tests / 2);
    v->drifting = v->small = v->drifts = v->unmixed = 0;
    v->slowest = *largest = 0;
    for (size_t i = 0; i < rows; i++) judge_row(e, i, v, largest);
    judge_pairs(e, v, largest);
    SVMP_TRY(merge_all(e, v, largest));
    const before_after_row row = svmp_before_after_density(e->before_after, e->before, 0.5 * (double)v->variables);
    const double by = excess(SVMP_ASPECT_LOG_DENSITY, row.effect[0], row.z[0],
                             -svmp_normal_quantile(density_share * false_alarm / 2));
    *largest = fmax(*largest, by);
    if (by > 1)
        svmp_verdict_list(v, &(svmp_drift){.variable = SIZE_MAX,
                                           .name = "log density",
                                           .aspect = SVMP_ASPECT_LOG_DENSITY,
                                           .effect = row.effect[0],
                                           .z = row.z[0]});
    v->excess = *largest;
    v->finding = *largest > 1                  ? SVMP_FINDING_FAILED
                 : v->slowest > examined_mixed ? SVMP_FINDING_UNDECIDED
                                               : SVMP_FINDING_PASSED;
    return SVMP_OK;
}

/* Why the moves ended before a window did; all processes agree. A window before it may have found something wrong,
 * which is a verdict. */
static void end_early(const examination *e, svmp_verdict *v) {
    const unsigned broken = svmp_peers_any(svmp_model_peers(e->model), (unsigned)e->broken_off);
    if (v->finding != SVMP_FINDING_FAILED) v->unexamined = broken ? SVMP_UNEXAMINED_INTERRUPTED : SVMP_UNEXAMINED_TIME;
}

static svmp_status examine(examination *e, svmp_verdict *v) {
    size_t moved;
    SVMP_TRY(set_up(e));
    v->particles = e->b->n;
    v->unexamined = SVMP_UNEXAMINED_NONE;
    if (!e->local && !svmp_examination_knows_modes(e)) SVMP_TRY(svmp_examination_find_other_modes(e, v));
    if (v->finding == SVMP_FINDING_FAILED) return SVMP_OK;
    if (e->done > 0) SVMP_TRY(begin_moves(e));
    SVMP_TRY(svmp_examination_move(e, ADAPTATION_MOVES, 0, &moved));
    svmp_before_after_open(e->before_after, FIRST_WINDOW);
    for (size_t length = FIRST_WINDOW, more = length;; more = length, length *= 2) {
        double largest;
        if (length > FIRST_WINDOW) svmp_before_after_extend(e->before_after);
        SVMP_TRY(svmp_examination_move(e, more, 1, &moved));
        if (moved < more) return end_early(e, v), SVMP_OK;
        SVMP_TRY(judge(e, v, &largest));
        v->moves = e->done;
        if (largest > far_beyond || v->slowest <= (largest > near_limit ? precise : examined_mixed)) break;
        if (e->done + length > e->most) break;
    }
    if (v->finding == SVMP_FINDING_PASSED && !e->local && !e->found) SVMP_TRY(svmp_examination_find_other_modes(e, v));
    if (v->finding == SVMP_FINDING_PASSED && v->guessed > 0) v->finding = SVMP_FINDING_UNDECIDED;
    return SVMP_OK;
}

svmp_status svmp_examine_values(const svmp_run *run, size_t count, const double *x, double seconds, size_t moves,
                                svmp_verdict *verdict) {
    const double began = svmp_clock_seconds();
    const svmp_graph *graph = run->model->graph;
    examination e = {.run = run,
                     .x = x,
                     .all = count,
                     .context = run->context,
                     .model = run->model,
                     .local = graph->halo || verdict->local || graph->variables > LOCAL_VARIABLES,
                     .until = seconds > 0 ? svmp_clock_thread_seconds() + seconds : INFINITY,
                     .most = moves == 0            ? MOST_MOVES
                             : moves < LEAST_MOVES ? LEAST_MOVES
                                                   : moves};
    verdict->local = e.local;
    verdict->unexamined = run->model->boxed ? SVMP_UNEXAMINED_BOXES : SVMP_UNEXAMINED_UNASKED;
    if (run->model->boxed || count < VERDICT_FEWEST || seconds < 0) return SVMP_OK;
    const int threads = run->context->threads;
    if (graph->variables * count < ONE_THREAD) run->context->threads = 1;
    const svmp_status status = examine(&e, verdict);
    tear_down(&e);
    run->context->threads = threads;
    if (status != SVMP_OK) verdict->unexamined = SVMP_UNEXAMINED_FAILED, verdict->finding = SVMP_FINDING_NOT_EXAMINED;
    if (status != SVMP_NO_MEMORY && verdict->finding != SVMP_FINDING_PASSED)
        SVMP_TRY(svmp_run_improper_direction(run, count, x, verdict->improper_direction,
                                             sizeof verdict->improper_direction));
    verdict->seconds = svmp_clock_seconds() - began;
    return status;
}

/* Draw `which` of each chain: x[i*chains + c]. */
static void take_draws(const svmp_particles *draws, size_t which, double *x) {
    const size_t chains = draws->chains, each = draws->count / chains;
    for (size_t i = 0; i < draws->variables; i++)
        for (size_t c = 0; c < chains; c++) x[i * chains + c] = draws->values[i * draws->count + c * each + which];
}

/* Whether chance may explain a failure, as it does 2 % of those of exact draws. */
static int is_doubtful(const svmp_verdict *v) {
    if (v->finding != SVMP_FINDING_FAILED) return 0;
    for (size_t k = 0; k < v->drifts; k++)
        if (v->drift[k].aspect == SVMP_ASPECT_ELSEWHERE) return 0;
    return v->excess < far_beyond;
}

/* The last draw of each chain; if these fail, but not by much, those from half way, too: what is wrong with the answer
 * is wrong with both. */
static svmp_status examine_draws(const svmp_run *run, const svmp_particles *draws, double seconds, size_t moves,
                                 svmp_verdict *verdict) {
    const size_t each = draws->count / draws->chains;
    double *x = NULL;
    const svmp_status allocated = SVMP_NEW(run->context, x, draws->variables * draws->chains);
    SVMP_TRY(svmp_model_agree_all(run->model, allocated));
    take_draws(draws, each - 1, x);
    const svmp_verdict first = *verdict;
    svmp_status status = svmp_examine_values(run, draws->chains, x, seconds, moves, verdict);
    if (status == SVMP_OK && each > 1 && is_doubtful(verdict)) {
        const svmp_verdict failed = *verdict;
        *verdict = first;
        take_draws(draws, each / 2 - (each == 2), x);
        status = svmp_examine_values(run, draws->chains, x, seconds, moves, verdict);
        const double both = verdict->seconds + failed.seconds;
        if (verdict->finding == SVMP_FINDING_NOT_EXAMINED || verdict->finding == SVMP_FINDING_UNDECIDED)
            *verdict = failed;
        verdict->seconds = both;
    }
    svmp_release(run->context, x);
    return status;
}

svmp_status svmp_run_examine(const svmp_run *run, double seconds, size_t moves, svmp_verdict *verdict) {
    if (run == NULL) return SVMP_BAD_CALL;
    if (verdict == NULL) return svmp_fail(run->context, SVMP_BAD_CALL, "svmp_run_examine: the verdict is NULL.");
    svmp_particles *draws = NULL;
    svmp_verdict_describe(run, verdict);
    if (run->method->make_draws && seconds >= 0) SVMP_TRY(run->method->make_draws(run, &draws));
    verdict->of_draws = draws != NULL;
    const svmp_status status = draws ? examine_draws(run, draws, seconds, moves, verdict)
                                     : svmp_examine_values(run, run->backend->n, NULL, seconds, moves, verdict);
    svmp_particles_free(draws);
    return status;
}

svmp_status svmp_run_examine_locally(const svmp_run *run, double seconds, size_t moves, svmp_verdict *verdict) {
    if (run == NULL) return SVMP_BAD_CALL;
    if (verdict == NULL)
        return svmp_fail(run->context, SVMP_BAD_CALL, "svmp_run_examine_locally: the verdict is NULL.");
    svmp_verdict_describe(run, verdict);
    verdict->local = 1;
    return svmp_examine_values(run, run->backend->n, NULL, seconds, moves, verdict);
}
