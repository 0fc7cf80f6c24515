#include "model/evaluator_plan.h"

/* The row and the weight of slot `at` of all slots of the model, which is slot j of instance k of group g. */
static void place_slot(evaluator *e, size_t at, size_t g, size_t k, uint32_t j) {
    const factor_group *group = &e->model->groups[g];
    const linear_predictor *p = svmp_group_predictor(group);
    bool predicted = false;
    size_t place = 0;
    const size_t row = p ? svmp_linear_predictor_row(p, j, &predicted, &place) : j;
    e->own_row[at] = e->own_group_row[g] + k * svmp_group_rows(group) + row;
    e->own_weight[at] = predicted ? p->coefficient[k * p->count + place] : 1;
}

static svmp_status plan_rows(evaluator *e) {
    const svmp_model *model = e->model;
    svmp_context *context = model->context;
    const size_t variables = model->graph->variables;
    bool any = false;
    for (size_t g = 0; g < model->group_count; g++) any = any || svmp_group_predictor(&model->groups[g]) != NULL;
    e->group_row = model->group_row;
    e->row = model->gather_row;
    if (!any) return SVMP_OK;
    SVMP_TRY(SVMP_NEW(context, e->own_group_row, model->group_count + 1));
    SVMP_TRY(SVMP_NEW(context, e->own_row, model->gather_start[variables]));
    SVMP_TRY(SVMP_NEW(context, e->own_weight, model->gather_start[variables]));
    for (size_t g = 0; g < model->group_count; g++)
        e->own_group_row[g + 1] = e->own_group_row[g] + model->groups[g].instances * svmp_group_rows(&model->groups[g]);
    for (size_t i = 0; i < variables; i++)
        for (size_t at = model->gather_start[i], g = 0; at < model->gather_start[i + 1]; at++) {
            while (model->group_row[g + 1] <= model->gather_row[at]) g++;
            const size_t from = model->gather_row[at] - model->group_row[g], slots = model->groups[g].slots;
            place_slot(e, at, g, from / slots, (uint32_t)(from % slots));
        }
    e->group_row = e->own_group_row;
    e->row = e->own_row;
    e->weight = e->own_weight;
    return SVMP_OK;
}

static int regions_of(const svmp_graph *graph, const factor_group *group, size_t k) {
    int regions = 0;
    if (graph->halo == NULL || group->slots == 0) return INTERIOR;
    for (size_t j = 0; j < group->slots; j++) {
        const size_t i = group->variables[k * group->slots + j];
        regions |= i < graph->inner_variables ? INTERIOR : i < graph->moved_variables ? BOUNDARY : 0;
    }
    return regions;
}

static svmp_status plan_parts(evaluator *e) {
    const svmp_model *model = e->model;
    const size_t most = svmp_instances_per_part(e->whole);
    size_t capacity = 0;
    for (size_t g = 0; g < model->group_count; g++)
        for (size_t k = 0; k < model->groups[g].instances; k++) {
            const int regions = regions_of(model->graph, &model->groups[g], k);
            const part *last = e->group_parts ? &e->parts[e->group_parts - 1] : NULL;
            if (last == NULL || last->count == most || last->regions != regions) {
                SVMP_TRY(SVMP_GROW(model->context, e->parts, capacity, e->group_parts + 1));
                e->parts[e->group_parts++] =
                    (part){g, k, 0, e->group_row[g] + k * svmp_group_rows(&model->groups[g]), regions};
            }
            e->parts[e->group_parts - 1].count++;
        }
    e->variable_parts = (model->graph->moved_variables + PART_VARIABLES - 1) / PART_VARIABLES;
    return SVMP_OK;
}

/* A wave takes parts until their rows are enough to share out, and few enough to stay near. */
static svmp_status plan_waves(evaluator *e, size_t *most_rows, size_t *most_parts) {
    const size_t rows = e->group_row[e->model->group_count], numbers = EVALUATOR_WAVE * (size_t)e->threads;
    SVMP_TRY(SVMP_NEW(e->model->context, e->waves, e->group_parts + 1));
    *most_rows = *most_parts = 0;
    for (size_t p = 0; p < e->group_parts; p++) {
        const size_t end = p + 1 < e->group_parts ? e->parts[p + 1].row : rows;
        if (e->wave_count == 0 || (end - e->waves[e->wave_count - 1].row) * e->n > numbers)
            e->waves[e->wave_count++] = (wave){.part = p, .row = e->parts[p].row};
        const wave *here = &e->waves[e->wave_count - 1];
        if (end - here->row > *most_rows) *most_rows = end - here->row;
        if (p + 1 - here->part > *most_parts) *most_parts = p + 1 - here->part;
    }
    e->waves[e->wave_count] = (wave){.part = e->group_parts, .row = rows};
    return SVMP_OK;
}

static size_t wave_of(const evaluator *e, size_t row) {
    size_t low = 0, high = e->wave_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (e->waves[middle].row <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The shares of a variable, wave by wave: counted in waves[].share, or put where that says. */
static void share_variable(evaluator *e, size_t i, int put) {
    const svmp_model *model = e->model;
    for (size_t r = model->gather_start[i], from = r; r < model->gather_start[i + 1]; from = r) {
        const size_t w = wave_of(e, e->row[r]);
        while (r < model->gather_start[i + 1] && e->row[r] < e->waves[w + 1].row) r++;
        if (put)
            e->shares[e->waves[w].share++] = (share){i, from, r};
        else
            e->waves[w + 1].share++;
    }
}

static svmp_status plan_shares(evaluator *e) {
    const size_t variables = e->model->graph->moved_variables;
    for (size_t i = 0; i < variables; i++) share_variable(e, i, 0);
    for (size_t w = 0; w < e->wave_count; w++) e->waves[w + 1].share += e->waves[w].share;
    SVMP_TRY(SVMP_NEW(e->model->context, e->shares, e->waves[e->wave_count].share));
    for (size_t i = 0; i < variables; i++) share_variable(e, i, 1);
    for (size_t w = e->wave_count; w > 0; w--)
        e->waves[w].share = e->waves[w - 1].share; /* each had moved to its end */
    e->waves[0].share = 0;
    return SVMP_OK;
}

svmp_status svmp_evaluator_plan(evaluator *e, size_t *most_rows, size_t *most_parts) {
    SVMP_TRY(plan_rows(e));
    SVMP_TRY(plan_parts(e));
    SVMP_TRY(plan_waves(e, most_rows, most_parts));
    return plan_shares(e);
}
