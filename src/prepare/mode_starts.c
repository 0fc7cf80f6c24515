/* Where the search for modes begins. */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "model/natural_values.h"
#include "model/text_model.h"
#include "prepare/modes_inside.h"

svmp_status svmp_starts_add(mode_search *s, double **point) {
    if (s->count == s->capacity) {
        const size_t needed = 2 * s->capacity + 64;
        double *more = NULL;
        SVMP_TRY(SVMP_NEW(s->context, more, needed * s->d));
        if (s->count) memcpy(more, s->points, s->count * s->d * sizeof *more);
        svmp_release(s->context, s->points);
        s->points = more;
        s->capacity = needed;
    }
    *point = s->points + s->count++ * s->d;
    return SVMP_OK;
}

static svmp_status add(mode_search *s, const double *x, size_t stride) {
    double *point;
    SVMP_TRY(svmp_starts_add(s, &point));
    for (size_t i = 0; i < s->d; i++) point[i] = x[i * stride];
    return SVMP_OK;
}

static random_stream stream_of(const mode_search *s, uint64_t a, uint64_t b) {
    return (random_stream){.seed = s->seed, .purpose = RANDOM_MODE_SEARCH, .a = a, .b = b};
}

/* ---- draws ------------------------------------------------------------------------------------------------------- */

/* Models without priors of their own have none. */
static svmp_status add_priors(mode_search *s, size_t count) {
    double *x = NULL;
    if (s->model->lowered == NULL) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(s->context, x, s->d * count));
    svmp_status status = svmp_model_draw_priors(s->model, svmp_hash_word(s->seed, s->drawn++), count, x);
    for (size_t l = 0; status == SVMP_OK && l < count; l++) status = add(s, x + l, count);
    svmp_release(s->context, x);
    if (status == SVMP_OK || status == SVMP_NO_MEMORY) return status;
    s->context->error[0] = '\0';
    return SVMP_OK;
}

/* points[k*d + i] = mean + scale z, z from N(0, A^-1) and from the product of its marginals in turn. The factorisation
 * is of A. */
static svmp_status draw_wide(mode_search *s, const double *mean, size_t count, double *points) {
    const size_t d = s->d;
    const uint64_t draw = s->drawn++;
    double *z = NULL;
    SVMP_TRY(SVMP_NEW(s->context, z, d * count));
    for (size_t i = 0; i < d; i++) svmp_random_normals(stream_of(s, draw, i), count, z + i * count);
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < d; i++) points[k * d + i] = s->sd[i] * z[i * count + k];
    const svmp_status status = svmp_factorisation_correlate(s->factor, 1, count, z);
    for (size_t k = 0; status == SVMP_OK && k < count; k++) {
        const double spread = wide_scatter * svmp_random_normal(stream_of(s, draw, d), k);
        const double scale = wide_scales[k % 4] * exp(spread);
        for (size_t i = 0; i < d; i++)
            points[k * d + i] = mean[i] + scale * (k / 4 % 2 ? points[k * d + i] : z[i * count + k]);
    }
    svmp_release(s->context, z);
    return status;
}

static svmp_status add_wide(mode_search *s, const double *mean, size_t count) {
    double *points = NULL;
    SVMP_TRY(SVMP_NEW(s->context, points, s->d * count));
    svmp_status status = draw_wide(s, mean, count, points);
    for (size_t k = 0; status == SVMP_OK && k < count; k++) status = add(s, points + k * s->d, 1);
    svmp_release(s->context, points);
    return status;
}

/* Those of many wide draws at which the log density is the highest above that of the Gaussian, for their distance. */
static svmp_status add_residuals(mode_search *s, const found_mode *mode) {
    double *points = NULL, *density = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(s->context, points, s->d * MODE_RESIDUAL_DRAWS));
    SVMP_CHECK(SVMP_NEW(s->context, density, MODE_RESIDUAL_DRAWS));
    SVMP_CHECK(draw_wide(s, mode->mean, MODE_RESIDUAL_DRAWS, points));
    SVMP_CHECK(svmp_modes_evaluate(s, MODE_RESIDUAL_DRAWS, points, density));
    for (size_t k = 0; k < MODE_RESIDUAL_DRAWS; k++) {
        const double square = svmp_sparse_distance(s->pattern, mode->A, mode->mean, points + k * s->d, 1, s->step);
        const double excess = (density[k] - mode->height + square / 2) / (square + (double)s->d);
        density[k] = isfinite(excess) ? excess : -INFINITY;
    }
    for (size_t best = 0; best < MODE_RESIDUALS; best++) {
        size_t at = 0;
        for (size_t k = 1; k < MODE_RESIDUAL_DRAWS; k++)
            if (density[k] > density[at]) at = k;
        if (!(density[at] > -INFINITY)) break;
        density[at] = -INFINITY;
        SVMP_CHECK(add(s, points + at * s->d, 1));
    }
done:
    svmp_release(s->context, points);
    svmp_release(s->context, density);
    return status;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

enum { STEPS = sizeof line_steps / sizeof *line_steps, LINE = 2 * STEPS + 1 };

typedef struct line_maxima {
    size_t count, most;
    double *points, *density; /* the highest first */
} line_maxima;

static void insert(const mode_search *s, line_maxima *m, const double *point, double density) {
    size_t at = m->count < m->most ? m->count++ : m->most;
    while (at > 0 && density > m->density[at - 1]) {
        if (at < m->most) {
            m->density[at] = m->density[at - 1];
            memcpy(m->points + at * s->d, m->points + (at - 1) * s->d, s->d * sizeof *point);
        }
        at--;
    }
    if (at == m->most) return;
    m->density[at] = density;
    memcpy(m->points + at * s->d, point, s->d * sizeof *point);
}

/* The maxima along mean + t * direction, but not that at the mean. */
static svmp_status scan(mode_search *s, const double *mean, const double *direction, double *points, line_maxima *m) {
    double density[LINE];
    for (size_t k = 0; k < LINE; k++) {
        const double t = k == STEPS ? 0 : k < STEPS ? -line_steps[STEPS - 1 - k] : line_steps[k - STEPS - 1];
        for (size_t i = 0; i < s->d; i++) points[k * s->d + i] = mean[i] + t * direction[i];
    }
    SVMP_TRY(svmp_modes_evaluate(s, LINE, points, density));
    for (size_t k = 0; k < LINE; k++) {
        const double below = k > 0 && density[k - 1] > -INFINITY ? density[k - 1] : -INFINITY;
        const double above = k + 1 < LINE && density[k + 1] > -INFINITY ? density[k + 1] : -INFINITY;
        if (k != STEPS && isfinite(density[k]) && density[k] > below && density[k] > above)
            insert(s, m, points + k * s->d, density[k]);
    }
    return SVMP_OK;
}

/* The direction of ones along an array, of length 1 in the metric of A. */
static void point_along(const mode_search *s, const double *A, size_t first, size_t last, double *direction) {
    memset(direction, 0, s->d * sizeof *direction);
    for (size_t i = first; i < last; i++) direction[i] = 1;
    for (size_t i = 0; i < s->d; i++) s->trial[i] = 0;
    const double length = sqrt(svmp_sparse_distance(s->pattern, A, s->trial, direction, 1, s->step));
    for (size_t i = first; i < last; i++) direction[i] = 1 / length;
}

/* Variables first ... *last - 1 belong to the array of the first one. */
static size_t end_of_array(const mode_search *s, size_t first) {
    char name[128], other[128];
    svmp_model_variable_name(s->model, first, name, sizeof name);
    const size_t length = strcspn(name, ".[");
    size_t last = first + 1;
    while (last < s->d) {
        svmp_model_variable_name(s->model, last, other, sizeof other);
        if (strcspn(other, ".[") != length || strncmp(name, other, length) != 0) break;
        last++;
    }
    return last;
}

/* Those along arrays are apart: maxima along nodes are more, and most of them are of the mode itself. */
static svmp_status scan_lines(mode_search *s, const found_mode *mode, double *direction, double *points, line_maxima *m,
                              line_maxima *arrays) {
    const uint64_t draw = s->drawn++;
    const size_t lines = s->d < MODE_LINES ? s->d : MODE_LINES;
    for (size_t k = 0; k < lines; k++) {
        const size_t i = lines == s->d ? k : (size_t)svmp_random_place(stream_of(s, draw, 0), k, s->d);
        memset(direction, 0, s->d * sizeof *direction);
        direction[i] = s->sd[i];
        SVMP_TRY(scan(s, mode->mean, direction, points, m));
    }
    for (size_t first = 0, last; first < s->d; first = last) {
        last = end_of_array(s, first);
        if (last - first < 2) continue;
        point_along(s, mode->A, first, last, direction);
        SVMP_TRY(scan(s, mode->mean, direction, points, arrays));
        for (size_t i = first; i < last; i++) direction[i] *= sqrt((double)(last - first)); /* far out in each */
        SVMP_TRY(scan(s, mode->mean, direction, points, arrays));
    }
    for (size_t k = 0; k < MODE_LINE_DRAWS; k++) {
        svmp_random_normals(stream_of(s, draw, 1 + k), s->d, direction);
        SVMP_TRY(svmp_factorisation_correlate(s->factor, 1, 1, direction));
        for (size_t i = 0; i < s->d; i++) direction[i] /= sqrt((double)s->d);
        SVMP_TRY(scan(s, mode->mean, direction, points, m));
    }
    return SVMP_OK;
}

static svmp_status add_maxima(mode_search *s, const found_mode *mode, size_t most) {
    line_maxima m = {.most = most}, arrays = {.most = most};
    double *direction = NULL, *points = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(s->context, m.points, s->d * most));
    SVMP_CHECK(SVMP_NEW(s->context, m.density, most));
    SVMP_CHECK(SVMP_NEW(s->context, arrays.points, s->d * most));
    SVMP_CHECK(SVMP_NEW(s->context, arrays.density, most));
    SVMP_CHECK(SVMP_NEW(s->context, direction, s->d));
    SVMP_CHECK(SVMP_NEW(s->context, points, s->d * LINE));
    SVMP_CHECK(scan_lines(s, mode, direction, points, &m, &arrays));
    for (size_t k = 0; k < m.count; k++) SVMP_CHECK(add(s, m.points + k * s->d, 1));
    for (size_t k = 0; k < arrays.count; k++) SVMP_CHECK(add(s, arrays.points + k * s->d, 1));
done:
    svmp_release(s->context, m.points);
    svmp_release(s->context, m.density);
    svmp_release(s->context, arrays.points);
    svmp_release(s->context, arrays.density);
    svmp_release(s->context, direction);
    svmp_release(s->context, points);
    return status;
}

/* ---- symmetries -------------------------------------------------------------------------------------------------- */

static bool is_short(const mode_search *s, size_t first) {
    const size_t length = end_of_array(s, first) - first;
    return length >= 2 && length <= MODE_SHORT_ARRAY;
}

/* The mirror image, and arrays in another order, each in turn. */
static svmp_status add_symmetries(mode_search *s, const double *mean, size_t permutations) {
    double *point;
    SVMP_TRY(svmp_starts_add(s, &point));
    for (size_t i = 0; i < s->d; i++) point[i] = -mean[i];
    size_t arrays = 0, done = 0;
    for (size_t first = 0; first < s->d; first = end_of_array(s, first)) arrays += is_short(s, first);
    while (arrays > 0 && done < permutations) {
        for (size_t first = 0, last; first < s->d && done < permutations; first = last) {
            last = end_of_array(s, first);
            if (!is_short(s, first)) continue;
            const random_stream stream = stream_of(s, s->drawn++, 0);
            const size_t length = last - first;
            SVMP_TRY(svmp_starts_add(s, &point));
            memcpy(point, mean, s->d * sizeof *point);
            for (size_t i = 0; i < length; i++) point[first + svmp_random_place(stream, i, length)] = mean[first + i];
            done++;
        }
    }
    return SVMP_OK;
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

/* Makes the factorisation that of the mode's A, which draws need. */
static svmp_status factorise(mode_search *s, const found_mode *mode, bool *regular) {
    size_t bad;
    SVMP_TRY(svmp_factorise(s->factor, mode->A, &bad));
    *regular = bad == SIZE_MAX;
    return SVMP_OK;
}

svmp_status svmp_starts_first(mode_search *s) {
    const found_mode *q = &s->found->mode[0];
    const bool proper = s->model->lowered && svmp_lowered_is_proper(s->model->lowered);
    const double *optimum;
    bool regular;
    SVMP_TRY(factorise(s, q, &regular));
    for (size_t k = 0; (optimum = svmp_gaussian_local_optimum(s->q, k)) != NULL; k++) SVMP_TRY(add(s, optimum, 1));
    SVMP_TRY(add_priors(s, MODE_PRIOR_DRAWS));
    if (regular) SVMP_TRY(add_wide(s, q->mean, proper ? MODE_WIDE_DRAWS : MODE_WIDE_DRAWS * 3 / 2));
    if (regular) SVMP_TRY(add_maxima(s, q, MODE_LINE_MAXIMA));
    SVMP_TRY(add_symmetries(s, q->mean, MODE_PERMUTATIONS));
    return regular ? add_residuals(s, q) : SVMP_OK;
}

svmp_status svmp_starts_again(mode_search *s) {
    bool regular;
    SVMP_TRY(add_priors(s, MODE_AGAIN_PRIORS));
    SVMP_TRY(factorise(s, &s->found->mode[0], &regular));
    return regular ? add_wide(s, s->found->mode[0].mean, MODE_AGAIN_WIDE) : SVMP_OK;
}

svmp_status svmp_starts_from(mode_search *s, size_t k) {
    const found_mode *mode = &s->found->mode[k];
    bool regular;
    SVMP_TRY(factorise(s, mode, &regular));
    if (regular) SVMP_TRY(add_wide(s, mode->mean, MODE_AGAIN_WIDE));
    if (regular) SVMP_TRY(add_maxima(s, mode, MODE_AGAIN_MAXIMA));
    return add_symmetries(s, mode->mean, MODE_AGAIN_PERMUTATIONS);
}
