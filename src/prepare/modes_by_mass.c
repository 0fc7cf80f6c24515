#include "prepare/modes_by_mass.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "model/sorted_variables.h"
#include "prepare/bound_ascent.h"
#include "prepare/modes_inside.h"

static const double log_two_pi = 1.83787706640934548356;

/* ---- evaluating -------------------------------------------------------------------------------------------------- */

double svmp_sparse_distance(const sparsity *pattern, const double *A, const double *mean, const double *x,
                            size_t stride, double *workspace) {
    double sum = 0;
    for (size_t i = 0; i < pattern->order; i++) workspace[i] = x[i * stride] - mean[i];
    for (size_t j = 0; j < pattern->order; j++) {
        double row = 0.5 * A[pattern->start[j]] * workspace[j];
        for (size_t e = pattern->start[j] + 1; e < pattern->start[j + 1]; e++) row += A[e] * workspace[pattern->row[e]];
        sum += 2 * row * workspace[j];
    }
    return sum;
}

svmp_status svmp_modes_evaluate(mode_search *s, size_t count, const double *points, double *log_density) {
    for (size_t from = 0; from < count; from += ASCENT_LANES) {
        const size_t together = count - from < ASCENT_LANES ? count - from : ASCENT_LANES;
        for (size_t l = 0; l < ASCENT_LANES; l++) {
            const double *point = points + (from + (l < together ? l : 0)) * s->d;
            for (size_t i = 0; i < s->d; i++) s->x[i * ASCENT_LANES + l] = point[i];
        }
        SVMP_TRY(svmp_evaluate(s->lanes, s->x, s->density, NULL));
        memcpy(log_density + from, s->density, together * sizeof *log_density);
    }
    s->found->evaluations += count / 2;
    return SVMP_OK;
}

static svmp_status evaluate_one(mode_search *s, const double *x, double *value, double *score) {
    s->found->evaluations++;
    return svmp_evaluate(s->one, x, value, score);
}

/* ---- ends -------------------------------------------------------------------------------------------------------- */

static double distance_to(mode_search *s, const found_mode *mode, const double *x) {
    return svmp_sparse_distance(s->pattern, mode->A, mode->mean, x, 1, s->step);
}

/* Whether the density between two points falls below both by more than rounding and a little more. */
static svmp_status find_dip(mode_search *s, const double *a, double at_a, const double *b, double at_b, bool *dip) {
    double points_density[DIP_POINTS], *points = NULL;
    SVMP_TRY(SVMP_NEW(s->context, points, DIP_POINTS * s->d));
    for (size_t k = 0; k < DIP_POINTS; k++) {
        const double t = (double)(k + 1) / (DIP_POINTS + 1);
        for (size_t i = 0; i < s->d; i++) points[k * s->d + i] = a[i] + t * (b[i] - a[i]);
    }
    const svmp_status status = svmp_modes_evaluate(s, DIP_POINTS, points, points_density);
    svmp_release(s->context, points);
    *dip = false;
    for (size_t k = 0; status == SVMP_OK && k < DIP_POINTS; k++)
        *dip = *dip || !(points_density[k] > fmin(at_a, at_b) - least_dip);
    return status;
}

/* The mode to which an end belongs: one in whose Gaussian it is, or one of the nearest without a dip on the way;
 * SIZE_MAX: none of those known. */
static svmp_status find_owner(mode_search *s, const double *x, double value, size_t *owner) {
    size_t nearest[DIP_MODES], count = 0;
    double square[DIP_MODES];
    for (size_t k = 0; k < s->found->count; k++) {
        const double here = distance_to(s, &s->found->mode[k], x);
        size_t at = count < DIP_MODES ? count++ : DIP_MODES;
        *owner = k;
        if (here < same_distance) return SVMP_OK;
        for (; at > 0 && here < square[at - 1]; at--) {
            if (at == DIP_MODES) continue;
            square[at] = square[at - 1];
            nearest[at] = nearest[at - 1];
        }
        if (at == DIP_MODES) continue;
        square[at] = here;
        nearest[at] = k;
    }
    for (size_t k = 0; k < count; k++) {
        const found_mode *mode = &s->found->mode[nearest[k]];
        bool dip;
        SVMP_TRY(find_dip(s, mode->top, mode->height, x, value, &dip));
        *owner = nearest[k];
        if (!dip) return SVMP_OK;
    }
    *owner = SIZE_MAX;
    return SVMP_OK;
}

/* A new mode at the end of the list, with room for its arrays. */
static svmp_status open_mode(mode_search *s, found_mode **made) {
    found_mode *mode = &s->found->mode[s->found->count];
    *made = mode;
    if (mode->mean == NULL) SVMP_TRY(SVMP_NEW(s->context, mode->mean, s->d));
    if (mode->top == NULL) SVMP_TRY(SVMP_NEW(s->context, mode->top, s->d));
    if (mode->A == NULL) SVMP_TRY(SVMP_NEW(s->context, mode->A, s->pattern->entries));
    return SVMP_OK;
}

/* ---- Newton's method --------------------------------------------------------------------------------------------- */

/* H at x, factorised: of the factors without negative eigenvalues if it is not positive definite. */
static svmp_status bend(mode_search *s, const double *x, bool *definite, bool *usable) {
    size_t bad;
    double finite = 0;
    SVMP_TRY(svmp_curvature_evaluate(s->curve, 1, x, s->sd, s->H));
    s->found->evaluations += 3;
    for (size_t e = 0; e < s->pattern->entries; e++) finite += s->H[e] * 0;
    *definite = *usable = false;
    if (finite != 0) return SVMP_OK;
    SVMP_TRY(svmp_factorise(s->factor, s->H, &bad));
    *definite = *usable = bad == SIZE_MAX;
    if (*usable) return SVMP_OK;
    for (size_t i = 0; i < s->d; i++) s->trial[i] = s->sd[i];
    SVMP_TRY(svmp_curvature_clip(s->curve, s->trial, s->H));
    for (size_t i = 0; i < s->d; i++) s->H[s->pattern->start[i]] += ridge / (s->sd[i] * s->sd[i]);
    SVMP_TRY(svmp_factorise(s->factor, s->H, &bad));
    *usable = bad == SIZE_MAX;
    return SVMP_OK;
}

/* Climbs from mode->top, whose log density is mode->height; *maximum: whether it ends at one, where H is positive
 * definite and is the mode's A. */
static svmp_status polish(mode_search *s, found_mode *mode, bool *maximum) {
    bool definite, usable;
    double decrement = INFINITY, value;
    *maximum = false;
    SVMP_TRY(evaluate_one(s, mode->top, &mode->height, s->score));
    for (size_t k = 0; k < MODE_NEWTON_STEPS; k++) {
        SVMP_TRY(bend(s, mode->top, &definite, &usable));
        if (!usable) return SVMP_OK;
        memcpy(s->step, s->score, s->d * sizeof *s->step);
        SVMP_TRY(svmp_factorisation_solve(s->factor, 1, 1, s->step));
        decrement = 0;
        for (size_t i = 0; i < s->d; i++) decrement += s->step[i] * s->score[i];
        if (decrement < newton_end) break;
        bool taken = false;
        for (double t = 1; !taken && t > 1e-4; t *= 0.3) {
            for (size_t i = 0; i < s->d; i++) s->trial[i] = mode->top[i] + t * s->step[i];
            SVMP_TRY(evaluate_one(s, s->trial, &value, s->score));
            taken = value > mode->height && isfinite(value);
        }
        if (!taken) break;
        memcpy(mode->top, s->trial, s->d * sizeof *s->trial);
        mode->height = value;
    }
    *maximum = definite && decrement >= 0 && decrement < no_maximum_decrement;
    if (!*maximum) return SVMP_OK;
    memcpy(mode->mean, mode->top, s->d * sizeof *mode->mean);
    memcpy(mode->A, s->H, s->pattern->entries * sizeof *mode->A);
    mode->log_determinant = svmp_factorisation_log_determinant(s->factor);
    mode->log_mass = mode->height + 0.5 * (double)s->d * log_two_pi - 0.5 * mode->log_determinant;
    return SVMP_OK;
}

/* ---- where there is no maximum ----------------------------------------------------------------------------------- */

/* The bound of a mode's Gaussian on draws that it was not fitted to; the same draws for all modes, so that those of one
 * shape have one bound. */
static svmp_status find_bound(mode_search *s, const found_mode *mode, double *bound) {
    enum { DRAWS = 64 };
    double density[DRAWS], *z = NULL, *points = NULL;
    size_t bad;
    svmp_status status;
    *bound = -INFINITY;
    SVMP_CHECK(SVMP_NEW(s->context, z, DRAWS * s->d));
    SVMP_CHECK(SVMP_NEW(s->context, points, DRAWS * s->d));
    SVMP_CHECK(svmp_factorise(s->factor, mode->A, &bad));
    if (bad != SIZE_MAX) goto done;
    for (size_t i = 0; i < s->d; i++) {
        svmp_random_normals((random_stream){.seed = s->seed, .purpose = RANDOM_MODE_BOUND, .b = i}, DRAWS / 2,
                            z + i * DRAWS);
        for (size_t l = 0; l < DRAWS / 2; l++) z[i * DRAWS + DRAWS / 2 + l] = -z[i * DRAWS + l];
    }
    SVMP_CHECK(svmp_factorisation_correlate(s->factor, 1, DRAWS, z));
    for (size_t l = 0; l < DRAWS; l++)
        for (size_t i = 0; i < s->d; i++) points[l * s->d + i] = mode->mean[i] + z[i * DRAWS + l];
    SVMP_CHECK(svmp_modes_evaluate(s, DRAWS, points, density));
    double mean = 0;
    for (size_t l = 0; l < DRAWS; l++) mean += density[l] / DRAWS;
    if (isfinite(mean))
        *bound = mean + 0.5 * (double)s->d * (1 + log_two_pi) - 0.5 * svmp_factorisation_log_determinant(s->factor);
done:
    svmp_release(s->context, z);
    svmp_release(s->context, points);
    return status;
}

svmp_status svmp_mode_fit(mode_search *s, found_mode *mode, bool *fitted) {
    const ascent_goal goal = {.gain = 0.02, .loss = 0.02, .steps = 1};
    ascent *a = NULL;
    ascent_outcome end;
    svmp_status status;
    int begun;
    *fitted = false;
    SVMP_TRY(svmp_ascent_create(s->model, FEW_DRAWS, &a));
    SVMP_CHECK(svmp_ascent_set_draws(a, s->seed, FEW_DRAWS));
    memcpy(a->here.mean, mode->top, s->d * sizeof *mode->top);
    SVMP_CHECK(svmp_ascent_begin(a, &begun));
    if (!begun) goto done;
    SVMP_CHECK(svmp_ascent_climb(a, goal, NULL, &end));
    s->found->evaluations += a->iterations * 4 * FEW_DRAWS;
    memcpy(mode->mean, a->here.mean, s->d * sizeof *mode->mean);
    memcpy(mode->A, a->here.A, s->pattern->entries * sizeof *mode->A);
    SVMP_CHECK(find_bound(s, mode, &mode->log_mass));
    mode->log_determinant = svmp_factorisation_log_determinant(s->factor);
    mode->fitted = true;
    *fitted = isfinite(mode->log_mass);
done:
    svmp_ascent_free(a);
    return status;
}

/* ---- modes ------------------------------------------------------------------------------------------------------- */

/* Whether the mode is one of those before it. */
static bool is_known(mode_search *s, const found_mode *mode, size_t *which) {
    for (*which = 0; *which < s->found->count; ++*which) {
        const found_mode *other = &s->found->mode[*which];
        if (distance_to(s, other, mode->mean) < merge_distance && distance_to(s, mode, other->mean) < merge_distance)
            return true;
    }
    return false;
}

/* An end that belongs to no mode: makes one of it, if it is. *mode: its number, or that of a known one; SIZE_MAX: it
 * is none. */
static svmp_status add_mode(mode_search *s, const double *x, double value, size_t *number) {
    found_mode *mode;
    bool is;
    *number = SIZE_MAX;
    if (s->found->count == MOST_MODES) {
        s->found->exhausted = true;
        return SVMP_OK;
    }
    SVMP_TRY(open_mode(s, &mode));
    memcpy(mode->top, x, s->d * sizeof *x);
    mode->height = value;
    mode->fitted = mode->weighed = false;
    SVMP_TRY(polish(s, mode, &is));
    if (!is) {
        if (s->spikes++ >= MODE_SPIKES) return SVMP_OK;
        SVMP_TRY(svmp_mode_fit(s, mode, &is));
        if (!is || !(mode->log_mass > s->bound - spike_bound)) return SVMP_OK;
    }
    if (is_known(s, mode, number)) return SVMP_OK;
    *number = s->found->count++;
    mode->ends = 0;
    return SVMP_OK;
}

static double largest_mass(const found_modes *found) {
    double most = -INFINITY;
    for (size_t k = 0; k < found->count; k++) most = fmax(most, found->mode[k].log_mass);
    return most;
}

/* Variables that the text sorts are put in one order: which it is makes no difference. */
static void put_in_order(const mode_search *s, size_t count, double *points) {
    for (size_t k = 0; k < count; k++) svmp_model_sort(s->model, s->found->mode[0].mean, 1, points + k * s->d);
}

/* Climbs from all starts that wait, and finds the modes of their ends, the highest first. */
static svmp_status climb(mode_search *s, bool sorts) {
    svmp_context *context = s->context;
    ascent_end *ends = NULL;
    bool *done = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, ends, s->count));
    SVMP_CHECK(SVMP_NEW(context, done, s->count));
    s->found->starts += s->count;
    SVMP_CHECK(svmp_many_ascents(s->model, s->lanes, s->sd, s->count, s->points, ends, &s->found->evaluations));
    if (sorts) put_in_order(s, s->count, s->points);
    for (size_t turn = 0; turn < s->count && !s->found->exhausted; turn++) {
        size_t at = SIZE_MAX, owner;
        for (size_t k = 0; k < s->count; k++)
            if (!done[k] && isfinite(ends[k].value) && (at == SIZE_MAX || ends[k].value > ends[at].value)) at = k;
        if (at == SIZE_MAX) break;
        done[at] = true;
        SVMP_CHECK(find_owner(s, s->points + at * s->d, ends[at].value, &owner));
        if (owner == SIZE_MAX && (ends[at].arrived || s->spikes < MODE_SPIKES))
            SVMP_CHECK(add_mode(s, s->points + at * s->d, ends[at].value, &owner));
        if (owner != SIZE_MAX) s->found->mode[owner].ends++;
    }
    s->count = 0;
done:
    svmp_release(context, ends);
    svmp_release(context, done);
    return status;
}

/* Mode 0 is q, and its top the end of a climb from its mean. Its mass is that of its curvature there, as of the others:
 * for a skewed shape that may be far from its bound. */
static svmp_status begin(mode_search *s) {
    found_mode *mode, *curved;
    bool maximum;
    ascent_end end = {0};
    SVMP_TRY(open_mode(s, &mode));
    memcpy(mode->mean, svmp_gaussian_mean(s->q), s->d * sizeof *mode->mean);
    memcpy(mode->A, svmp_gaussian_precision(s->q), s->pattern->entries * sizeof *mode->A);
    memcpy(mode->top, mode->mean, s->d * sizeof *mode->top);
    mode->fitted = true;
    SVMP_TRY(svmp_many_ascents(s->model, s->lanes, s->sd, 1, mode->top, &end, &s->found->evaluations));
    mode->height = end.value;
    SVMP_TRY(find_bound(s, mode, &s->bound));
    mode->log_determinant = svmp_factorisation_log_determinant(s->factor);
    mode->log_mass = s->bound;
    s->found->count = 1;
    SVMP_TRY(open_mode(s, &curved));
    memcpy(curved->top, mode->top, s->d * sizeof *mode->top);
    SVMP_TRY(polish(s, curved, &maximum));
    if (maximum) mode->log_mass = curved->log_mass;
    return SVMP_OK;
}

static svmp_status look_around(mode_search *s, bool sorts) {
    size_t known = 1, round = 0;
    SVMP_TRY(svmp_starts_first(s));
    SVMP_TRY(climb(s, sorts));
    while (s->found->count > known && round++ < MODE_ROUNDS && !s->found->exhausted) {
        const double least = largest_mass(s->found) - counted_log_mass;
        size_t from = 0, counted = 0;
        for (size_t k = known; k < s->found->count; k++) counted += s->found->mode[k].log_mass > least;
        if (counted == 0) break;
        const size_t first = known;
        known = s->found->count;
        SVMP_TRY(svmp_starts_again(s));
        for (size_t k = first; k < known && from < MODE_FROM; k++) {
            if (!(s->found->mode[k].log_mass > least)) continue;
            from++;
            SVMP_TRY(svmp_starts_from(s, k));
        }
        SVMP_TRY(climb(s, sorts));
        if (round == MODE_ROUNDS && s->found->count > known) s->found->unfinished = true;
    }
    return SVMP_OK;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static svmp_status set_up(mode_search *s) {
    svmp_context *context = s->context;
    const int threads = svmp_context_threads(context);
    s->pattern = svmp_gaussian_pattern(s->q);
    SVMP_TRY(SVMP_NEW(context, s->found, 1));
    s->found->context = context;
    s->found->variables = s->d;
    s->found->ways = 5;
    SVMP_TRY(SVMP_NEW(context, s->found->mode, MOST_MODES));
    SVMP_TRY(SVMP_NEW(context, s->sd, s->d));
    SVMP_TRY(svmp_gaussian_variance(s->q, s->sd));
    for (size_t i = 0; i < s->d; i++) s->sd[i] = sqrt(s->sd[i]);
    SVMP_TRY(svmp_curvature_create(s->model, threads, &s->curve));
    SVMP_TRY(svmp_factorisation_create(context, s->pattern, &s->factor));
    SVMP_TRY(svmp_evaluator_create(s->model, ASCENT_LANES, threads, &s->lanes));
    SVMP_TRY(svmp_evaluator_create(s->model, 1, threads, &s->one));
    SVMP_TRY(SVMP_NEW(context, s->x, ASCENT_LANES * s->d));
    SVMP_TRY(SVMP_NEW(context, s->density, ASCENT_LANES));
    SVMP_TRY(SVMP_NEW(context, s->step, s->d));
    SVMP_TRY(SVMP_NEW(context, s->score, s->d));
    SVMP_TRY(SVMP_NEW(context, s->trial, s->d));
    return SVMP_NEW(context, s->H, s->pattern->entries);
}

static void tear_down(mode_search *s) {
    void *const arrays[] = {s->sd, s->points, s->x, s->density, s->step, s->score, s->trial, s->H};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(s->context, arrays[k]);
    svmp_curvature_free(s->curve);
    svmp_factorisation_free(s->factor);
    svmp_evaluator_free(s->lanes);
    svmp_evaluator_free(s->one);
}

svmp_status svmp_modes_by_mass(const svmp_model *model, gaussian *q, uint64_t seed, found_modes **made) {
    mode_search s = {.model = model, .context = model->context, .q = q, .seed = seed, .d = model->graph->variables};
    svmp_status status;
    int sorts = 0;
    SVMP_CHECK(set_up(&s));
    SVMP_CHECK(begin(&s));
    SVMP_CHECK(svmp_model_is_exchangeable(model, 1, s.found->mode[0].mean, &sorts));
    SVMP_CHECK(look_around(&s, sorts != 0));
    if (!s.found->exhausted) SVMP_CHECK(svmp_modes_weigh(&s));
    *made = s.found;
    s.found = NULL;
done:
    svmp_found_modes_free(s.found);
    tear_down(&s);
    return status;
}

void svmp_found_modes_free(found_modes *modes) {
    if (modes == NULL) return;
    for (size_t k = 0; modes->mode && k < MOST_MODES; k++) {
        svmp_release(modes->context, modes->mode[k].mean);
        svmp_release(modes->context, modes->mode[k].top);
        svmp_release(modes->context, modes->mode[k].A);
    }
    svmp_release(modes->context, modes->mode);
    svmp_release(modes->context, modes);
}
