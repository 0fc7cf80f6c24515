#include "start/init.h"

#include <math.h>
#include <string.h>

#include "base/listing.h"
#include "base/number.h"
#include "base/random.h"
#include "base/team.h"
#include "model/lowered.h"
#include "model/natural.h"
#include "start/mode.h"

const char *svmp_init_name(size_t k) {
    static const char *const names[] = {"normal:SD", "uniform:A,B", "prior", "map"};
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
    } else if (strcmp(text, "prior") == 0 || strcmp(text, "map") == 0) {
        made.kind = strcmp(text, "map") == 0 ? INIT_MAP : INIT_PRIOR;
        made.sd = 1; /* for particles that are drawn again */
        return *parsed = made, SVMP_OK;
    }
    char names[128];
    return svmp_fail(context, SVMP_BAD_CALL, "'%s' is no start: it is %s, with SD at least 0 and A below B.", text,
                     svmp_list_names(svmp_init_name, "or", names, sizeof names));
}

svmp_status svmp_init_check(const backend *b) {
    char name[128];
    const size_t n = b->n;
    for (size_t k = 0; k < b->model->graph->own_variables * n; k++)
        if (!isfinite(b->x[k]))
            return svmp_fail(b->context, SVMP_BAD_INPUT, "The start is not finite: %s would be %g in particle %zu.",
                             svmp_model_variable_name(b->model, k / n, name, sizeof name), b->x[k], k % n + 1);
    return SVMP_OK;
}

/* Parents may be others' nodes. */
static svmp_status draw_levels(backend *b) {
    const struct lowered_model *lowered = b->model->lowered;
    for (size_t level = 0; level < lowered->levels; level++) {
        SVMP_TRY(svmp_model_agree(b->model, svmp_lowered_draw_level(lowered, level, b->seed, b->n, b->x)));
        if (b->kind->refresh) SVMP_TRY(b->kind->refresh(b));
    }
    return svmp_init_check(b);
}

svmp_status svmp_init_draw(const init *start, backend *b) {
    const size_t n = b->n;
    if (b->model->graph->halo && start->kind == INIT_PRIOR && b->model->lowered) return draw_levels(b);
    if (b->model->graph->halo && start->kind == INIT_MAP)
        return svmp_fail(b->context, SVMP_UNSUPPORTED,
                         "The start 'map' looks at the whole model, which no process of several has. Let one process "
                         "write it: svmp run ... --init map -t 0 -o FILE, and start from that: --init FILE.");
    if (start->kind == INIT_PRIOR || start->kind == INIT_MAP) {
        SVMP_TRY((start->kind == INIT_MAP ? svmp_mode_draw : svmp_model_draw_priors)(b->model, b->seed, n, b->x));
        return svmp_init_check(b);
    }
#pragma omp parallel for num_threads(b->threads)
    for (size_t i = 0; i < b->model->graph->own_variables; i++) {
        double *x = b->x + i * n;
        const random_stream stream = {
            .seed = b->seed, .purpose = RANDOM_INIT, .b = svmp_graph_whole_variable(b->model->graph, i)};
        if (start->kind == INIT_NORMAL) {
            svmp_random_normals(stream, n, x);
            for (size_t l = 0; l < n; l++) x[l] *= start->sd;
        } else {
            svmp_random_uniforms(stream, n, x);
            for (size_t l = 0; l < n; l++) x[l] = start->from + (start->to - start->from) * x[l];
        }
    }
    svmp_init_project(b);
    return svmp_init_check(b);
}

void svmp_init_draw_again(const init *start, backend *b, size_t l, size_t attempt) {
    for (size_t i = 0; i < b->model->graph->own_variables; i++) {
        random_stream stream = {.seed = b->seed, .purpose = RANDOM_INIT, .a = attempt, .b = i};
        b->x[i * b->n + l] = start->kind == INIT_UNIFORM
                                 ? start->from + (start->to - start->from) * svmp_random_uniform(stream, l)
                                 : start->sd * svmp_random_normal(stream, l);
    }
}

void svmp_init_project(backend *b) {
    for (size_t i = 0; i < b->model->graph->own_variables; i++) {
        const double low = b->model->lower[i], high = b->model->upper[i];
        double *x = b->x + i * b->n;
        for (size_t l = 0; l < b->n; l++) x[l] = x[l] < low ? low : x[l] > high ? high : x[l];
    }
}
