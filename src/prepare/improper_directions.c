#include "prepare/improper_directions.h"

#include <math.h>
#include <string.h>

#include "model/text_model.h"
#include "prepare/prepare_constants.h"

enum { AXES = 6, WAYS = AXES + 2, NAMED = 3 };

typedef struct ray {
    size_t axis;             /* a variable, or SIZE_MAX: `line` */
    double *line, scale;     /* the unit of the distances */
    double at[1 + RAY_ENDS]; /* distances */
} ray;

typedef struct search {
    ascent *a;
    double *widest;
    ray rays[WAYS];
    size_t count;
} search;

static double sd_given_others(const ascent *a, size_t i) { return 1 / sqrt(a->here.A[a->pattern->start[i]]); }

/* w'Aw */
static double quadratic_form(const ascent *a, const double *w) {
    const sparsity *pattern = a->pattern;
    double sum = 0;
    for (size_t j = 0; j < pattern->order; j++)
        for (size_t e = pattern->start[j]; e < pattern->start[j + 1]; e++)
            sum += (pattern->row[e] == j ? 1 : 2) * a->here.A[e] * w[j] * w[pattern->row[e]];
    return sum;
}

/* Largest |w_i| in units of sds given the others becomes 1. Returns it. */
static double normalise(const ascent *a, double *w) {
    double largest = 0;
    for (size_t i = 0; i < a->pattern->order; i++) largest = fmax(largest, fabs(w[i]) / sd_given_others(a, i));
    for (size_t i = 0; largest > 0 && i < a->pattern->order; i++) w[i] /= largest;
    return largest;
}

/* Two steps of inverse iteration with A in units of its diagonal, from a draw: a direction that is 1e5 times as wide as
 * all others grows 1e10 times as much in each. */
static svmp_status find_widest(search *s) {
    ascent *a = s->a;
    double sd = 0;
    for (size_t i = 0; i < a->pattern->order; i++) {
        double square = 0;
        for (size_t l = 0; l < a->draws; l++) square += pow(a->here.x[i * a->draws + l] - a->here.mean[i], 2);
        sd = fmax(sd, sqrt(square / (double)a->draws) / sd_given_others(a, i));
        s->widest[i] = a->here.x[i * a->draws] - a->here.mean[i];
    }
    if (!(sd > suspicious_width)) return SVMP_OK;
    for (int step = 0; step < 2; step++) {
        normalise(a, s->widest);
        for (size_t i = 0; i < a->pattern->order; i++) s->widest[i] *= a->here.A[a->pattern->start[i]];
        SVMP_TRY(svmp_factorisation_solve(a->factor, 1, 1, s->widest));
    }
    if (!(normalise(a, s->widest) > 0)) return SVMP_OK;
    const double width = 1 / sqrt(fmax(quadratic_form(a, s->widest), 1 / (sd * sd)));
    s->rays[s->count++] =
        (ray){SIZE_MAX,
              s->widest,
              1,
              {0, ray_ends[0] * width, ray_ends[1] * width, fmax(ray_ends[2] * width, resolved_width)}};
    return SVMP_OK;
}

static double how_far(const ascent *a, size_t i) { return fmax(fabs(a->here.mean[i]), sd_given_others(a, i)); }

/* Rays along the variables that are farthest out, and to the mean if that is many sds from 0. */
static void find_far(search *s) {
    const ascent *a = s->a;
    const size_t first = s->count;
    double line = 0;
    for (size_t i = 0; i < a->pattern->order; i++) line = fmax(line, fabs(a->here.mean[i]) / sd_given_others(a, i));
    for (size_t i = 0; i < a->pattern->order; i++) { /* insertion: the farthest first */
        const double out = how_far(a, i);
        size_t at = s->count;
        while (at > first && s->rays[at - 1].scale < out) at--;
        if (at >= first + AXES) continue;
        const size_t last = s->count < first + AXES ? s->count++ : s->count - 1;
        memmove(&s->rays[at + 1], &s->rays[at], (last - at) * sizeof *s->rays);
        s->rays[at] = (ray){i, NULL, out, {0, 30, 300, 3000}};
    }
    if (line > 100) s->rays[s->count++] = (ray){SIZE_MAX, a->here.mean, 1, {0, 30, 300, 3000}};
}

/* Column 0 is the mean, followed by the points ray by ray, side by side. */
static size_t column_of(size_t k, int side, size_t end) { return 1 + (2 * k + (size_t)side) * RAY_ENDS + end - 1; }

static void place(const search *s) {
    const ascent *a = s->a;
    const size_t n = a->draws;
    for (size_t i = 0; i < a->pattern->order; i++)
        for (size_t l = 0; l < n; l++) a->next.x[i * n + l] = a->here.mean[i];
    for (size_t k = 0; k < s->count; k++)
        for (int side = 0; side < 2; side++)
            for (size_t e = 1; e <= RAY_ENDS; e++) {
                const ray *r = &s->rays[k];
                const double by = (side ? -1 : 1) * r->scale * r->at[e];
                double *x = a->next.x + column_of(k, side, e);
                for (size_t i = 0; r->line && i < a->pattern->order; i++) x[i * n] += by * r->line[i];
                if (r->line == NULL) x[r->axis * n] += by;
            }
}

static int is_improper(const search *s, size_t k, int side) {
    const double *density = s->a->log_density;
    double before = density[0];
    for (size_t e = 1; e <= RAY_ENDS; e++) {
        const double here = density[column_of(k, side, e)];
        if (!isfinite(here) || here < density[0] - negligible_fall) return 0;
        if (e > 1 && before - here > log(s->rays[k].at[e] / s->rays[k].at[e - 1])) return 0;
        before = here;
    }
    return 1;
}

static int takes_part(const search *s, const ray *r, size_t i, double largest) {
    return r->line ? fabs(r->line[i]) / sd_given_others(s->a, i) > 0.1 * largest : i == r->axis;
}

static void describe(const search *s, const ray *r, improper_direction *result) {
    const size_t order = s->a->pattern->order;
    double largest = 0;
    size_t used = 0, named = 0;
    result->variable = r->axis;
    for (size_t i = 0; r->line && i < order; i++) {
        const double moved = fabs(r->line[i]) / sd_given_others(s->a, i);
        if (moved > largest) largest = moved, result->variable = i;
    }
    for (size_t i = 0; i < order; i++) result->variables += takes_part(s, r, i, largest) != 0;
    const size_t names = result->variables <= NAMED ? result->variables : NAMED - 1;
    for (size_t i = 0; i < order && named < names; i++) {
        char name[40];
        if (!takes_part(s, r, i, largest)) continue;
        const char *between = named == 0 ? "" : named + 1 == result->variables ? " and " : ", ";
        svmp_model_variable_name(s->a->model, i, name, sizeof name);
        used += (size_t)snprintf(result->names + used, sizeof result->names - used, "%s%s", between, name);
        named++;
    }
    if (names < result->variables)
        snprintf(result->names + used, sizeof result->names - used, " and %zu others", result->variables - names);
}

static svmp_status search_rays(search *s, improper_direction *result) {
    ascent *a = s->a;
    SVMP_TRY(SVMP_NEW(a->model->context, s->widest, a->pattern->order));
    SVMP_TRY(find_widest(s));
    find_far(s);
    place(s);
    if (svmp_evaluate_silently(a->evaluate, a->next.x, a->log_density, NULL)) return SVMP_OK;
    for (size_t k = 0; k < s->count && !result->found; k++)
        for (int side = 0; side < 2 && !result->found; side++)
            if (is_improper(s, k, side)) {
                result->found = 1;
                describe(s, &s->rays[k], result);
            }
    return SVMP_OK;
}

svmp_status svmp_find_improper_direction(ascent *a, improper_direction *result) {
    search s = {.a = a};
    *result = (improper_direction){.variable = SIZE_MAX};
    if (a->draws < 1 + 2 * WAYS * RAY_ENDS) return SVMP_OK; /* no memory for the points */
    if (a->model->lowered && svmp_lowered_is_proper(a->model->lowered)) return SVMP_OK;
    const svmp_status status = search_rays(&s, result);
    svmp_release(a->model->context, s.widest);
    return status;
}
