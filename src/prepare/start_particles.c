#include "prepare/start_particles.h"

#include <math.h>
#include <string.h>

#include "base/name_list.h"
#include "base/notes.h"
#include "base/number.h"
#include "base/peers.h"
#include "base/random.h"
#include "base/threads.h"
#include "model/natural_values.h"
#include "model/sorted_variables.h"
#include "model/text_model.h"
#include "prepare/fitted_gaussian.h"
#include "prepare/mode_start.h"

const char *svmp_init_name(size_t k) {
    static const char *const names[] = {"normal:SD", "uniform:A,B", "prior", "gaussian", "gaussian:FILE", "map"};
    return k < sizeof names / sizeof *names ? names[k] : NULL;
}

svmp_status svmp_init_parse(svmp_context *context, const char *text, init *parsed) {
    init made = {0};
    const char *end = text + strlen(text), *colon = strchr(text, ':'), *comma = colon ? strchr(colon, ',') : NULL;
    if (strncmp(text, "normal:", 7) == 0) {
        made.kind = INIT_NORMAL;
        if (svmp_number_parse(colon + 1, end, &made.sd) == NUMBER_FINITE && made.sd >= 0)
            return *parsed = made, SVMP_OK;
    } else if (strncmp(text, "uniform:", 8) == 0 && comma) {
        made.kind = INIT_UNIFORM;
        if (svmp_number_parse(colon + 1, comma, &made.from) == NUMBER_FINITE &&
            svmp_number_parse(comma + 1, end, &made.to) == NUMBER_FINITE && made.from < made.to &&
            isfinite(made.to - made.from))
            return *parsed = made, SVMP_OK;
    } else if (strcmp(text, "prior") == 0 || strcmp(text, "map") == 0 || strcmp(text, "gaussian") == 0) {
        made.kind = text[0] == 'p' ? INIT_PRIOR : text[0] == 'm' ? INIT_MAP : INIT_GAUSSIAN;
        made.sd = 1; /* for particles that are drawn again */
        return *parsed = made, SVMP_OK;
    }
    if (strncmp(text, "gaussian:", 9) == 0 && text[9] != '\0') {
        *parsed = (init){.kind = INIT_GAUSSIAN, .sd = 1, .path = text + 9};
        return SVMP_OK;
    }
    char names[128];
    return svmp_fail(context, SVMP_BAD_CALL, "Invalid start '%s': expected %s, with SD at least 0 and A below B.", text,
                     svmp_list_names(svmp_init_name, "or", names, sizeof names));
}

svmp_status svmp_init_finish(const svmp_model *model, size_t n, double *x) {
    char name[128];
    for (size_t i = 0; i < model->graph->moved_variables; i++) {
        const double low = model->lower[i], high = model->upper[i];
        for (size_t l = 0; l < n; l++) {
            double *at = x + i * n + l;
            *at = *at < low ? low : *at > high ? high : *at;
            if (!isfinite(*at))
                return svmp_fail(model->context, SVMP_BAD_INPUT, "The start is not finite: %s is %g in particle %zu.",
                                 svmp_model_variable_name(model, i, name, sizeof name), *at, l + 1);
        }
    }
    return SVMP_OK;
}

/* Parents may be others' nodes. */
static svmp_status draw_levels(const init_target *to, double *x) {
    const struct lowered_model *lowered = to->model->lowered;
    for (size_t level = 0; level < lowered->levels; level++) {
        SVMP_TRY(svmp_model_agree(to->model, svmp_lowered_draw_level(lowered, level, to->seed, to->n, x)));
        SVMP_TRY(to->share(to->user));
    }
    return SVMP_OK;
}

/* Variable i of all particles, in the model's units. */
static void draw_variable(const init *start, const init_target *to, size_t i, double *x) {
    const random_stream stream = {
        .seed = to->seed, .purpose = RANDOM_INIT, .b = svmp_variable_key(to->model->graph, i)};
    if (start->kind == INIT_NORMAL) {
        svmp_random_normals(stream, to->n, x);
        for (size_t l = 0; l < to->n; l++) x[l] *= start->sd;
    } else {
        svmp_random_uniforms(stream, to->n, x);
        for (size_t l = 0; l < to->n; l++) x[l] = start->from + (start->to - start->from) * x[l];
    }
}

typedef struct draw_work {
    const init *start;
    const init_target *to;
    double *x;
} draw_work;

static void draw_row(void *work, size_t i) {
    const draw_work *w = work;
    draw_variable(w->start, w->to, i, w->x + i * w->to->n);
}

svmp_status svmp_start_needs_whole(svmp_context *context, const char *name) {
    return svmp_fail_notes(
        context, SVMP_UNSUPPORTED,
        NOTES(svmp_advice(SVMP_NOTE_WRITE_START, "iterations", "0"), svmp_advice(SVMP_NOTE_START_FROM, "init", "FILE")),
        "The start '%s' needs the whole model in one process.", name);
}

static svmp_status draw_gaussian(const init *start, const init_target *to, double *x) {
    gaussian *q = NULL;
    svmp_gaussian_log_functions(to->model);
    SVMP_TRY(svmp_gaussian_create_from(to->model, to->seed, start->point, &q));
    svmp_status status = svmp_gaussian_draw(q, to->seed, to->n, x);
    svmp_gaussian_free(q);
    return status;
}

static svmp_status fill(const init *start, const init_target *to, double *x) {
    const svmp_model *model = to->model;
    switch (start->kind) {
    case INIT_PRIOR:
        if (model->graph->halo && model->lowered) return draw_levels(to, x);
        return svmp_model_draw_priors(model, to->seed, to->n, x);
    case INIT_MAP:
        if (model->graph->halo) return svmp_start_needs_whole(model->context, "map");
        return svmp_mode_draw(model, to->seed, to->n, x);
    case INIT_GAUSSIAN: return draw_gaussian(start, to, x);
    default: break;
    }
    svmp_parallel_for(to->threads, model->graph->moved_variables, 0, draw_row, &(draw_work){start, to, x});
    svmp_model_sort(model, NULL, to->n, x); /* or chains begin in modes that differ by nothing but the order */
    return SVMP_OK;
}

svmp_status svmp_init_draw(const init *start, const init_target *target, double *x) {
    SVMP_TRY(fill(start, target, x));
    return svmp_init_finish(target->model, target->n, x);
}

void svmp_init_draw_again(const init *start, const init_target *to, double *x, size_t l, size_t attempt) {
    for (size_t i = 0; i < to->model->graph->moved_variables; i++) {
        random_stream stream = {
            .seed = to->seed, .purpose = RANDOM_INIT, .a = attempt, .b = svmp_variable_key(to->model->graph, i)};
        x[i * to->n + l] = start->kind == INIT_UNIFORM
                               ? start->from + (start->to - start->from) * svmp_random_uniform(stream, l)
                               : start->sd * svmp_random_normal(stream, l);
    }
}
