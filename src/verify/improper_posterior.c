/* A direction along which the density does not fall. From the particle of the highest density, rays go out along every
 * variable, to both sides, through other particles, and in the directions in which these lie from their mean. In units
 * of the particles' sds, what is proper falls from a distance r to a distance R by more than log(R/r), or its integral
 * along the ray has no limit. */
#include <math.h>
#include <string.h>

#include "base/row_sums.h"
#include "model/evaluator.h"
#include "prepare/prepare_constants.h"
#include "verify/verdict_constants.h"
#include "verify/verdict_inside.h"
#include "verify/viewed_values.h"

typedef struct rays {
    const svmp_run *run;
    const double *particles; /* variables * count */
    size_t variables, count, base;
    double *centre, *mean, *sd;    /* variables */
    double *way;                   /* variables * RAYS, in sd */
    double *x;                     /* variables * RAYS */
    double *density[RAY_ENDS + 1]; /* RAYS */
    evaluator *evaluator;
} rays;

static svmp_status make(rays *r) {
    svmp_context *context = r->run->context;
    SVMP_TRY(SVMP_NEW(context, r->centre, r->variables));
    SVMP_TRY(SVMP_NEW(context, r->mean, r->variables));
    SVMP_TRY(SVMP_NEW(context, r->sd, r->variables));
    SVMP_TRY(svmp_allocate(context, r->variables, RAYS * sizeof *r->way, (void **)&r->way));
    SVMP_TRY(svmp_allocate(context, r->variables, RAYS * sizeof *r->x, (void **)&r->x));
    for (size_t k = 0; k <= RAY_ENDS; k++) SVMP_TRY(SVMP_NEW(context, r->density[k], RAYS));
    return svmp_evaluator_create(r->run->model, RAYS, 1, &r->evaluator);
}

static void end(rays *r) {
    svmp_context *context = r->run->context;
    svmp_evaluator_free(r->evaluator);
    for (size_t k = 0; k <= RAY_ENDS; k++) svmp_release(context, r->density[k]);
    svmp_release(context, r->x);
    svmp_release(context, r->way);
    svmp_release(context, r->sd);
    svmp_release(context, r->mean);
    svmp_release(context, r->centre);
}

static size_t particle(const rays *r, size_t k) { return (2 * k + 1) * r->count / (size_t)(2 * RAYS); }

/* The particle of the highest density, of RAYS, and the sds of all. 0: none is finite. */
static svmp_status find_centre(rays *r, int *found) {
    double highest = -INFINITY;
    int known;
    for (size_t i = 0; i < r->variables; i++) {
        const double *x = r->particles + i * r->count;
        double mean = 0, square = 0;
        for (size_t l = 0; l < r->count; l++) mean += x[l] / (double)r->count;
        for (size_t l = 0; l < r->count; l++) square += (x[l] - mean) * (x[l] - mean) / (double)r->count;
        r->mean[i] = mean;
        r->sd[i] = square > 0 && isfinite(square) ? sqrt(square) : 1;
        for (size_t k = 0; k < RAYS; k++) r->x[i * RAYS + k] = x[particle(r, k)];
    }
    SVMP_TRY(svmp_evaluate_log_density(r->evaluator, r->x, r->density[0], &known));
    *found = 0;
    for (size_t k = 0; k < RAYS; k++)
        if (isfinite(r->density[0][k]) && r->density[0][k] > highest)
            highest = r->density[0][k], r->base = k, *found = 1;
    for (size_t i = 0; i < r->variables; i++) r->centre[i] = r->x[i * RAYS + r->base];
    for (size_t k = 0; k < RAYS; k++) r->density[0][k] = highest;
    return SVMP_OK;
}

/* Rays first, first + 1, ...: two for each variable, then two for each particle, of length 1. Returns how many. */
static size_t aim(rays *r, size_t first) {
    const size_t axes = 2 * r->variables;
    size_t used = 0;
    memset(r->way, 0, r->variables * RAYS * sizeof *r->way);
    for (; used < RAYS && first + used < axes + 2 * RAYS; used++) {
        const size_t ray = first + used;
        double square = 0;
        if (ray < axes) {
            r->way[ray / 2 * RAYS + used] = ray % 2 ? -1 : 1;
            continue;
        }
        const size_t l = particle(r, (ray - axes) / 2);
        const double *from = (ray - axes) % 2 ? r->mean : r->centre;
        for (size_t i = 0; i < r->variables; i++) {
            const double away = (r->particles[i * r->count + l] - from[i]) / r->sd[i];
            r->way[i * RAYS + used] = away;
            square += away * away;
        }
        for (size_t i = 0; i < r->variables; i++) r->way[i * RAYS + used] /= square > 0 ? sqrt(square) : 1;
    }
    return used;
}

static int is_improper(const rays *r, size_t k) {
    for (size_t e = 1; e <= RAY_ENDS; e++) {
        const double here = r->density[e][k], fall = e > 1 ? r->density[e - 1][k] - here : 0;
        if (!isfinite(here) || here < r->density[0][k] - negligible_fall) return 0;
        if (e > 1 && fall > log(ray_ends[e - 1] / ray_ends[e - 2])) return 0;
    }
    return 1;
}

static svmp_status look(rays *r, char *name, size_t size) {
    int found, known;
    SVMP_TRY(make(r));
    SVMP_TRY(find_centre(r, &found));
    if (!found) return SVMP_OK;
    for (size_t first = 0, used; (used = aim(r, first)) > 0; first += used) {
        for (size_t e = 1; e <= RAY_ENDS; e++) {
            for (size_t i = 0; i < r->variables; i++)
                for (size_t k = 0; k < RAYS; k++)
                    r->x[i * RAYS + k] = r->centre[i] + ray_ends[e - 1] * r->sd[i] * r->way[i * RAYS + k];
            SVMP_TRY(svmp_evaluate_log_density(r->evaluator, r->x, r->density[e], &known));
        }
        for (size_t k = 0; k < used; k++) {
            double square = 0;
            for (size_t i = 0; i < r->variables; i++) square += r->way[i * RAYS + k] * r->way[i * RAYS + k];
            if (!(square > 0.5) || !is_improper(r, k)) continue; /* the ray through the centre itself has no length */
            for (size_t i = 0; i < r->variables; i++) r->centre[i] = r->way[i * RAYS + k];
            svmp_sum_name(r->run->model, r->centre, name, size);
            return SVMP_OK;
        }
    }
    return SVMP_OK;
}

/* Far out a factor may have no value at all: then nothing was found. */
svmp_status svmp_run_improper_direction(const svmp_run *run, size_t count, const double *x, char *name, size_t size) {
    svmp_context *context = run->context;
    const svmp_error_function tell = context->on_error;
    rays r = {.run = run, .particles = x, .variables = run->model->graph->variables, .count = count};
    *name = '\0';
    if (run->model->graph->halo || run->model->boxed || r.variables > RAY_VARIABLES || count == 0) return SVMP_OK;
    if (x == NULL) SVMP_TRY(svmp_backend_view(run->backend, ARRAY_PARTICLES, &r.particles));
    context->on_error = NULL;
    const svmp_status status = look(&r, name, size);
    context->on_error = tell;
    end(&r);
    if (status == SVMP_NO_MEMORY) return status;
    if (status != SVMP_OK) context->error[0] = '\0';
    return SVMP_OK;
}
