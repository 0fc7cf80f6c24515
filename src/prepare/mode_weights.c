/* The masses of modes, by importance sampling: with the mixture g of a Student t at each mode k, the draws x_l of all,
 * and r_k(x) the share of mode k's Gaussian among all of them,
 *
 *     mass_k = mean over l of  p(x_l) / g(x_l)  r_k(x_l),
 *
 * where these weights are not too unequal. Modes where they are get Gaussians by their bounds, and are weighed again;
 * where that fails, too, the bound stays. */
#include <math.h>
#include <string.h>

#include "prepare/modes_inside.h"

static const double freedoms = 5;

/* log of the density of the t of d variables, less its norm; with the square in the metric of A. */
static double log_t(size_t d, const found_mode *mode, double square) {
    return 0.5 * mode->log_determinant - 0.5 * (freedoms + (double)d) * log1p(square / freedoms);
}

double svmp_found_mode_log_t(const found_modes *modes, const sparsity *pattern, size_t k, const double *x,
                             size_t stride, double *workspace) {
    const found_mode *mode = &modes->mode[k];
    return log_t(modes->variables, mode, svmp_sparse_distance(pattern, mode->A, mode->mean, x, stride, workspace));
}

/* points[l*d + i]: draws of mode k's t. */
static svmp_status draw(mode_search *s, const found_mode *mode, double *z, double *points) {
    const uint64_t draw = s->drawn++;
    size_t bad;
    SVMP_TRY(svmp_factorise(s->factor, mode->A, &bad));
    random_stream stream = {.seed = s->seed, .purpose = RANDOM_MODE_SEARCH, .a = draw};
    for (stream.b = 0; stream.b < s->d; stream.b++)
        svmp_random_normals(stream, MODE_WEIGHT_DRAWS, z + stream.b * MODE_WEIGHT_DRAWS);
    SVMP_TRY(svmp_factorisation_correlate(s->factor, 1, MODE_WEIGHT_DRAWS, z));
    for (size_t l = 0; l < MODE_WEIGHT_DRAWS; l++) {
        double chi = 0, normal;
        for (size_t k = 0; k < (size_t)freedoms; k++) {
            stream.b = s->d + k;
            normal = svmp_random_normal(stream, l);
            chi += normal * normal / freedoms;
        }
        for (size_t i = 0; i < s->d; i++)
            points[l * s->d + i] = mode->mean[i] + z[i * MODE_WEIGHT_DRAWS + l] / sqrt(chi);
    }
    return SVMP_OK;
}

static double log_sum(size_t count, const double *terms) {
    double most = -INFINITY, sum = 0;
    for (size_t k = 0; k < count; k++) most = fmax(most, terms[k]);
    if (!isfinite(most)) return most;
    for (size_t k = 0; k < count; k++) sum += exp(terms[k] - most);
    return most + log(sum);
}

/* The norm of the t of d variables, which svmp_found_mode_log_t leaves out. */
static double log_norm(double d) {
    return lgamma(0.5 * (freedoms + d)) - lgamma(0.5 * freedoms) - 0.5 * d * log(freedoms * 3.14159265358979323846);
}

typedef struct weighing {
    double *log_weight, *points, *z; /* count * draws; of one mode; of one mode */
    double *share;                   /* count * draws * count: log r_k(x_l) */
    double *terms;                   /* 2 * count */
} weighing;

static svmp_status weigh_draws(mode_search *s, weighing *w) {
    found_modes *found = s->found;
    const size_t count = found->count;
    const double norm = log_norm((double)s->d);
    double density[MODE_WEIGHT_DRAWS];
    for (size_t k = 0; k < count; k++) {
        SVMP_TRY(draw(s, &found->mode[k], w->z, w->points));
        SVMP_TRY(svmp_modes_evaluate(s, MODE_WEIGHT_DRAWS, w->points, density));
        for (size_t l = 0; l < MODE_WEIGHT_DRAWS; l++) {
            double *of_t = w->terms, *of_normal = w->terms + count;
            const size_t row = k * MODE_WEIGHT_DRAWS + l;
            for (size_t j = 0; j < count; j++) {
                const found_mode *mode = &found->mode[j];
                const double square =
                    svmp_sparse_distance(s->pattern, mode->A, mode->mean, w->points + l * s->d, 1, s->step);
                of_t[j] = log_t(s->d, mode, square);
                of_normal[j] = mode->log_mass + 0.5 * mode->log_determinant - 0.5 * square;
            }
            const double g = log_sum(count, of_t) - log((double)count) + norm, all = log_sum(count, of_normal);
            w->log_weight[row] = isfinite(density[l]) ? density[l] - g : -INFINITY;
            for (size_t j = 0; j < count; j++)
                w->share[row * count + j] = isfinite(all) ? of_normal[j] - all : -log((double)count);
        }
    }
    return SVMP_OK;
}

/* Replaces the masses of modes whose weights are even enough. */
static void average_draws(found_modes *found, const weighing *w) {
    const size_t count = found->count, rows = count * MODE_WEIGHT_DRAWS;
    for (size_t k = 0; k < count; k++) {
        double most = -INFINITY, sum = 0, squares = 0;
        for (size_t row = 0; row < rows; row++) most = fmax(most, w->log_weight[row] + w->share[row * count + k]);
        for (size_t row = 0; row < rows; row++) {
            const double weight = exp(w->log_weight[row] + w->share[row * count + k] - most);
            sum += weight;
            squares += weight * weight;
        }
        if (!isfinite(most) || !(sum * sum / squares > fair_efficiency * MODE_WEIGHT_DRAWS)) continue;
        found->mode[k].log_mass = most + log(sum / (double)rows);
        found->mode[k].weighed = true;
    }
}

/* ---- the modes that are kept --------------------------------------------------------------------------------------
 */

static double largest(const found_modes *found) {
    double most = -INFINITY;
    for (size_t k = 0; k < found->count; k++) most = fmax(most, found->mode[k].log_mass);
    return most;
}

/* Moves modes whose mass is large enough to the front, the heaviest first. One that is only guessed may be larger. */
static void keep(found_modes *found, double least, double least_guessed) {
    size_t kept = 0;
    for (size_t k = 0; k < found->count; k++) {
        size_t at = kept;
        const found_mode mode = found->mode[k];
        if (!(mode.log_mass > (mode.weighed ? least : least_guessed))) continue;
        for (size_t j = k; j > kept; j--) found->mode[j] = found->mode[j - 1];
        for (; at > 0 && found->mode[at - 1].log_mass < mode.log_mass; at--) found->mode[at] = found->mode[at - 1];
        found->mode[at] = mode;
        kept++;
    }
    found->count = kept;
}

static double weighed_part(const found_modes *found, const weighing *w, size_t row) {
    double sum = 0;
    for (size_t k = 0; k < found->count; k++)
        if (found->mode[k].weighed) sum += exp(w->share[row * found->count + k]);
    return sum;
}

/* Of the shares of the modes that were weighed, among these, by the delta method. */
static void find_errors(found_modes *found, const weighing *w) {
    const size_t count = found->count, rows = count * MODE_WEIGHT_DRAWS;
    double most = -INFINITY;
    for (size_t row = 0; row < rows; row++) most = fmax(most, w->log_weight[row]);
    for (size_t k = 0; k < count; k++) {
        double sum = 0, part = 0, squares = 0;
        for (size_t row = 0; row < rows; row++) {
            const double weight = exp(w->log_weight[row] - most);
            sum += weight * weighed_part(found, w, row);
            part += weight * exp(w->share[row * count + k]);
        }
        for (size_t row = 0; row < rows; row++) {
            const double weight = exp(w->log_weight[row] - most);
            const double off = weight * (exp(w->share[row * count + k]) - part / sum * weighed_part(found, w, row));
            squares += off * off;
        }
        found->mode[k].share_error = found->mode[k].weighed ? sqrt(squares) / sum : 0;
    }
}

static void find_shares(found_modes *found) {
    const double most = largest(found);
    double sum = 0;
    for (size_t k = 0; k < found->count; k++) sum += exp(found->mode[k].log_mass - most);
    for (size_t k = 0; k < found->count; k++) found->mode[k].share = exp(found->mode[k].log_mass - most) / sum;
}

/* ---- modes whose weights are too unequal --------------------------------------------------------------------------
 */

/* Whether its own top is the nearest: a Gaussian may have left its mode. */
static bool is_its_own(mode_search *s, const found_mode *mode, size_t k) {
    const double own = svmp_sparse_distance(s->pattern, mode->A, mode->mean, mode->top, 1, s->step);
    for (size_t j = 0; j < s->found->count; j++)
        if (j != k && !(svmp_sparse_distance(s->pattern, mode->A, mode->mean, s->found->mode[j].top, 1, s->step) > own))
            return false;
    return true;
}

/* One yardstick for all of them: Gaussians by their bounds. */
static svmp_status fit_guessed(mode_search *s, size_t *fitted) {
    svmp_context *context = s->context;
    found_mode made = {0};
    svmp_status status;
    *fitted = 0;
    SVMP_CHECK(SVMP_NEW(context, made.mean, s->d));
    SVMP_CHECK(SVMP_NEW(context, made.A, s->pattern->entries));
    for (size_t k = 0; k < s->found->count && *fitted < MODE_FITS; k++) {
        found_mode *mode = &s->found->mode[k];
        bool is;
        if (mode->weighed) continue;
        made.top = mode->top;
        SVMP_CHECK(svmp_mode_fit(s, &made, &is));
        if (!is || !is_its_own(s, &made, k)) continue;
        const found_mode old = *mode;
        mode->mean = made.mean;
        mode->A = made.A;
        mode->log_determinant = made.log_determinant;
        mode->log_mass = made.log_mass;
        mode->fitted = true;
        made.mean = old.mean;
        made.A = old.A;
        ++*fitted;
    }
    status = SVMP_OK;
done:
    svmp_release(context, made.mean);
    svmp_release(context, made.A);
    return status;
}

svmp_status svmp_modes_weigh(mode_search *s) {
    svmp_context *context = s->context;
    weighing w = {0};
    svmp_status status;
    size_t fitted;
    keep(s->found, -INFINITY, largest(s->found) - kept_log_mass);
    if (s->found->count == 0) return SVMP_OK;
    const size_t count = s->found->count, rows = count * MODE_WEIGHT_DRAWS;
    if (count > 1) {
        SVMP_CHECK(SVMP_NEW(context, w.log_weight, rows));
        SVMP_CHECK(SVMP_NEW(context, w.points, MODE_WEIGHT_DRAWS * s->d));
        SVMP_CHECK(SVMP_NEW(context, w.z, MODE_WEIGHT_DRAWS * s->d));
        SVMP_CHECK(SVMP_NEW(context, w.share, rows * count));
        SVMP_CHECK(SVMP_NEW(context, w.terms, 2 * count));
        SVMP_CHECK(weigh_draws(s, &w));
        average_draws(s->found, &w);
        SVMP_CHECK(fit_guessed(s, &fitted));
        if (fitted > 0) SVMP_CHECK(weigh_draws(s, &w));
        if (fitted > 0) average_draws(s->found, &w);
        find_errors(s->found, &w);
    }
    keep(s->found, largest(s->found) + log(least_share), largest(s->found) - kept_log_mass);
    find_shares(s->found);
    status = SVMP_OK;
done:
    svmp_release(context, w.log_weight);
    svmp_release(context, w.points);
    svmp_release(context, w.z);
    svmp_release(context, w.share);
    svmp_release(context, w.terms);
    return status;
}

/* ---- the modes as Gaussians -------------------------------------------------------------------------------------- */

svmp_status svmp_found_mode_draw(const found_modes *modes, const sparsity *pattern, size_t k, uint64_t seed, size_t n,
                                 double *x) {
    factorisation *factor = NULL;
    svmp_status status;
    size_t bad;
    SVMP_CHECK(svmp_factorisation_create(modes->context, pattern, &factor));
    SVMP_CHECK(svmp_factorise(factor, modes->mode[k].A, &bad));
    for (size_t i = 0; i < modes->variables; i++)
        svmp_random_normals((random_stream){.seed = seed, .purpose = RANDOM_OTHER_MODES, .a = k, .b = i}, n, x + i * n);
    SVMP_CHECK(svmp_factorisation_correlate(factor, 1, n, x));
    for (size_t i = 0; i < modes->variables; i++)
        for (size_t l = 0; l < n; l++) x[i * n + l] += modes->mode[k].mean[i];
done:
    svmp_factorisation_free(factor);
    return status;
}

svmp_status svmp_found_modes_mixture(const found_modes *found, const sparsity *pattern, model_modes **made) {
    svmp_context *context = found->context;
    const size_t d = found->variables;
    factorisation *factor = NULL;
    svmp_status status;
    bool apart = false;
    size_t bad;
    *made = NULL;
    if (found->count < 2 || found->exhausted || d > MIXTURE_VARIABLES) return SVMP_OK;
    SVMP_CHECK(svmp_factorisation_create(context, pattern, &factor));
    SVMP_CHECK(svmp_modes_create(context, found->count, d, made));
    for (size_t k = 0; k < found->count; k++) {
        posterior_mode *mode = &(*made)->mode[k];
        mode->share = found->mode[k].share;
        memcpy(mode->mean, found->mode[k].mean, d * sizeof *mode->mean);
        for (size_t i = 0; i < d * d; i++) mode->root[i] = i % (d + 1) == 0;
        SVMP_CHECK(svmp_factorise(factor, found->mode[k].A, &bad));
        SVMP_CHECK(svmp_factorisation_correlate(factor, 1, d, mode->root));
    }
    SVMP_CHECK(svmp_modes_finish(context, *made));
    SVMP_CHECK(svmp_modes_are_apart(context, *made, main_mode, apart_modes, &apart));
done:
    svmp_factorisation_free(factor);
    if (!apart) svmp_modes_free(context, *made);
    if (!apart) *made = NULL;
    return status;
}
