#include "model/node_evaluator_plan.h"

#include <stdlib.h>
#include <string.h>

/* What a task takes at a time, what makes a node a hub, and at most how many parts a hub is cut into: in lanes, that is
 * touches times particles. None of it knows of threads. */
enum { TASK_LANES = 4096, HUB_LANES = 1 << 16, HUB_PARTS = NODE_HUB_PARTS };

/* An entry of the quadratic costs about so much less than a factor. */
enum { ENTRIES = 16 };

/* A group of more patterns than this is of factors that touch many nodes: to have the code of each would take more
 * memory than the model. */
enum { MOST_PARTIALS = 64 };

typedef struct incidence {
    uint32_t node, instance, pattern;
} incidence;

typedef struct planning {
    const svmp_model *model;
    size_t n, colours;
    const uint32_t *colour;
    node_plan *plan;

    /* Touches in the order of groups, instances, and the first slot of their node. */
    incidence *touches;
    size_t count, capacity, start_capacity, slot_capacity;
    index_lists lists; /* of each touch: the group, then its slots */
    size_t *by_pattern;

    uint32_t *node_of;    /* variable -> its node */
    size_t *stamp;        /* node -> 1 + the last instance, over all groups, that named it */
    size_t *touch_of;     /* node -> its touch there */
    size_t *touched;      /* node -> how many touch it */
    uint32_t *task_of;    /* node -> its task */
    uint32_t *place, *at; /* node -> its place in the task, and its first row there */
} planning;

/* ---- touches ----------------------------------------------------------------------------------------------------- */

static int is_planned(const planning *p, size_t v) {
    return v < p->model->graph->moved && p->colour[v] != NODE_UNCOLOURED;
}

/* Counts the slots of each touch of an instance in lists.start, one behind its own. */
static svmp_status count_slots(planning *p, const factor_group *group, size_t k, size_t stamp) {
    svmp_context *context = p->model->context;
    const uint32_t *variables = group->variables + k * group->slots;
    for (size_t j = 0; j < group->slots; j++) {
        const uint32_t v = p->node_of[variables[j]];
        if (!is_planned(p, v)) continue;
        if (p->stamp[v] != stamp) {
            SVMP_TRY(SVMP_GROW(context, p->touches, p->capacity, p->count + 1));
            SVMP_TRY(SVMP_GROW(context, p->lists.start, p->start_capacity, p->count + 2));
            p->stamp[v] = stamp;
            p->touch_of[v] = p->count;
            p->touches[p->count++] = (incidence){v, (uint32_t)k, 0};
            p->lists.start[p->count] = 1; /* the group */
            p->touched[v]++;
        }
        p->lists.start[p->touch_of[v] + 1]++;
    }
    return SVMP_OK;
}

/* The group and the slots of each touch, from touch `first` on. */
static svmp_status list_slots(planning *p, size_t g, const factor_group *group, size_t k, size_t first) {
    size_t *start = p->lists.start;
    const uint32_t *variables = group->variables + k * group->slots;
    for (size_t e = first; e < p->count; e++) start[e + 1] += start[e];
    SVMP_TRY(SVMP_GROW(p->model->context, p->lists.item, p->slot_capacity, start[p->count]));
    for (size_t e = first; e < p->count; e++) p->lists.item[start[e]++] = (uint32_t)g;
    for (size_t j = 0; j < group->slots; j++) {
        const uint32_t v = p->node_of[variables[j]];
        if (is_planned(p, v)) p->lists.item[start[p->touch_of[v]]++] = (uint32_t)j;
    }
    for (size_t e = p->count; e > first; e--) start[e] = start[e - 1]; /* each had moved to its end */
    return SVMP_OK;
}

static svmp_status list_incidences(planning *p) {
    const svmp_model *model = p->model;
    size_t stamp = 0, begin = 0;
    SVMP_TRY(SVMP_GROW(model->context, p->lists.start, p->start_capacity, 1));
    p->lists.start[0] = 0;
    for (size_t g = 0; g < model->group_count; g++)
        for (size_t k = 0; k < model->groups[g].instances; k++) {
            const size_t first = p->count;
            SVMP_TRY(count_slots(p, &model->groups[g], k, ++stamp));
            if (p->count == first) continue;
            begin = p->lists.start[first];
            SVMP_TRY(list_slots(p, g, &model->groups[g], k, first));
            p->lists.start[first] = begin;
        }
    return SVMP_OK;
}

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

typedef struct example {
    const uint32_t *item;
    size_t count, kind;
} example;

static int order_of_examples(const void *a, const void *b) {
    const example *one = a, *other = b;
    const size_t count = one->count < other->count ? one->count : other->count;
    for (size_t k = 0; k < count; k++)
        if (one->item[k] != other->item[k]) return one->item[k] < other->item[k] ? -1 : 1;
    return one->count < other->count ? -1 : one->count > other->count;
}

/* Copies the slots of the sorted patterns into the plan. */
static svmp_status copy_patterns(planning *p, size_t kinds, const example *examples) {
    svmp_context *context = p->model->context;
    node_plan *plan = p->plan;
    size_t slots = 0;
    for (size_t k = 0; k < kinds; k++) slots += examples[k].count - 1;
    SVMP_TRY(SVMP_NEW(context, plan->slots, slots));
    SVMP_TRY(SVMP_NEW(context, plan->patterns, kinds));
    slots = 0;
    for (size_t k = 0; k < kinds; k++) {
        const size_t count = examples[k].count - 1;
        memcpy(plan->slots + slots, examples[k].item + 1, count * sizeof *plan->slots);
        plan->patterns[k] = (node_pattern){.group = examples[k].item[0], .count = count, .slots = plan->slots + slots};
        slots += count;
    }
    plan->pattern_count = kinds;
    return SVMP_OK;
}

/* Numbers the patterns of the touches in their order. */
static svmp_status find_patterns(planning *p) {
    svmp_context *context = p->model->context;
    svmp_status status;
    uint32_t *kind = NULL, *rank = NULL;
    example *examples = NULL;
    size_t kinds = 0, found = 0;
    SVMP_CHECK(SVMP_NEW(context, kind, p->count));
    SVMP_CHECK(svmp_lists_classify(context, p->count, &p->lists, kind, &kinds));
    SVMP_CHECK(SVMP_NEW(context, examples, kinds));
    SVMP_CHECK(SVMP_NEW(context, rank, kinds));
    for (size_t e = 0; e < p->count; e++) {
        if (kind[e] != found) continue; /* kinds are numbered as they first appear */
        const size_t start = p->lists.start[e];
        examples[found++] = (example){p->lists.item + start, p->lists.start[e + 1] - start, kind[e]};
    }
    if (kinds > 0) qsort(examples, kinds, sizeof *examples, order_of_examples);
    for (size_t k = 0; k < kinds; k++) rank[examples[k].kind] = (uint32_t)k;
    for (size_t e = 0; e < p->count; e++) p->touches[e].pattern = rank[kind[e]];
    SVMP_CHECK(copy_patterns(p, kinds, examples));
done:
    svmp_release(context, kind);
    svmp_release(context, rank);
    svmp_release(context, examples);
    return status;
}

/* Whether a pattern has code of its own: `nth` of its group. */
static int has_partial(const svmp_model *model, const node_pattern *pattern, size_t nth) {
    return model->groups[pattern->group].kind->partial && nth < MOST_PARTIALS;
}

static svmp_status make_partials(planning *p) {
    const svmp_model *model = p->model;
    node_plan *plan = p->plan;
    size_t flags = 0;
    for (size_t pass = 0; pass < 2; pass++) {
        if (pass == 1) SVMP_TRY(SVMP_NEW(model->context, plan->owns, flags));
        flags = 0;
        for (size_t k = 0, nth = 0; k < plan->pattern_count; k++, nth++) {
            node_pattern *pattern = &plan->patterns[k];
            const factor_group *group = &model->groups[pattern->group];
            if (k > 0 && plan->patterns[k - 1].group != pattern->group) nth = 0;
            size_t *most = &plan->most_derivatives;
            if (has_partial(model, pattern, nth)) {
                if (pattern->count > *most) *most = pattern->count;
                flags += group->slots;
                if (pass == 0) continue;
                pattern->own = plan->owns + flags - group->slots;
                for (size_t j = 0; j < pattern->count; j++) pattern->own[pattern->slots[j]] = 1;
                SVMP_TRY(group->kind->partial(group, pattern->count, pattern->slots, &pattern->partial));
            } else if (group->slots > plan->most_slots) {
                plan->most_slots = group->slots;
            }
        }
    }
    return SVMP_OK;
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

/* What a node costs, in factors. */
static size_t cost_of(const planning *p, size_t v) {
    const size_t *first = p->model->graph->first, *start = p->model->quadratic.start;
    return 1 + p->touched[v] + (start[first[v + 1]] - start[first[v]]) / ENTRIES;
}

static int is_hub(const planning *p, size_t v) { return cost_of(p, v) > 1 && cost_of(p, v) * p->n > HUB_LANES; }

/* Own nodes of the plan, colour by colour, ascending, the hubs of a colour behind the others; start[c] is the first of
 * colour c, hubs[c] its first hub. */
static svmp_status order_nodes(planning *p, size_t *start, size_t *hubs) {
    svmp_context *context = p->model->context;
    const size_t own = p->model->graph->moved;
    size_t *next = NULL;
    SVMP_TRY(SVMP_NEW(context, next, 2 * p->colours + 1)); /* a colour's nodes, its hubs */
    for (size_t v = 0; v < own; v++)
        if (is_planned(p, v)) next[2 * p->colour[v] + (size_t)is_hub(p, v) + 1]++;
    for (size_t k = 0; k < 2 * p->colours; k++) next[k + 1] += next[k];
    for (size_t c = 0; c < p->colours; c++) {
        start[c] = next[2 * c];
        hubs[c] = next[2 * c + 1];
    }
    start[p->colours] = next[2 * p->colours];
    const svmp_status status = SVMP_NEW(context, p->plan->nodes, start[p->colours]);
    for (size_t v = 0; status == SVMP_OK && v < own; v++)
        if (is_planned(p, v)) p->plan->nodes[next[2 * p->colour[v] + (size_t)is_hub(p, v)]++] = (uint32_t)v;
    svmp_release(context, next);
    return status;
}

/* Appends nodes[from] ... nodes[to - 1] as tasks. */
static void cut_tasks(planning *p, size_t from, size_t to, int hub, size_t *tasks) {
    const size_t *first = p->model->graph->first;
    node_plan *plan = p->plan;
    size_t cost = 0;
    for (size_t k = from; k < to; k++) {
        const size_t v = plan->nodes[k], more = cost_of(p, v);
        if (k == from || hub || (cost + more) * p->n > TASK_LANES) {
            plan->tasks[(*tasks)++] = (node_task){.nodes = plan->nodes + k, .hub = hub};
            cost = 0;
        }
        node_task *task = &plan->tasks[*tasks - 1];
        p->task_of[v] = (uint32_t)(*tasks - 1);
        p->place[v] = (uint32_t)task->count++;
        p->at[v] = (uint32_t)task->rows;
        task->rows += first[v + 1] - first[v];
        task->to += p->touched[v]; /* how many, for now */
        cost += more;
        task->lanes = cost * p->n;
    }
}

static svmp_status make_tasks(planning *p) {
    svmp_context *context = p->model->context;
    node_plan *plan = p->plan;
    svmp_status status;
    size_t *start = NULL, *hubs = NULL, tasks = 0, touched = 0;
    SVMP_CHECK(SVMP_NEW(context, start, p->colours + 1));
    SVMP_CHECK(SVMP_NEW(context, hubs, p->colours));
    SVMP_CHECK(order_nodes(p, start, hubs));
    SVMP_CHECK(SVMP_NEW(context, plan->tasks, start[p->colours]));
    SVMP_CHECK(SVMP_NEW(context, plan->task_start, p->colours + 1));
    SVMP_CHECK(SVMP_NEW(context, plan->hub_start, p->colours));
    for (size_t c = 0; c < p->colours; c++) {
        plan->task_start[c] = tasks;
        cut_tasks(p, start[c], hubs[c], 0, &tasks);
        plan->hub_start[c] = tasks;
        cut_tasks(p, hubs[c], start[c + 1], 1, &tasks);
    }
    plan->task_start[p->colours] = tasks;
    for (size_t k = 0; k < tasks; k++) {
        node_task *task = &plan->tasks[k];
        const size_t count = task->to, even = (count + HUB_PARTS - 1) / HUB_PARTS, few = TASK_LANES / p->n;
        task->from = touched;
        task->to = touched += count;
        task->together = even > few ? even : few > 0 ? few : 1;
    }
done:
    svmp_release(context, start);
    svmp_release(context, hubs);
    return status;
}

/* ---- touches of tasks -------------------------------------------------------------------------------------------- */

/* Touches in the order of their patterns. */
static svmp_status sort_incidences(planning *p) {
    svmp_context *context = p->model->context;
    size_t *next = NULL;
    SVMP_TRY(SVMP_NEW(context, p->by_pattern, p->count));
    SVMP_TRY(SVMP_NEW(context, next, p->plan->pattern_count + 1));
    for (size_t e = 0; e < p->count; e++) next[p->touches[e].pattern + 1]++;
    for (size_t k = 0; k < p->plan->pattern_count; k++) next[k + 1] += next[k];
    for (size_t e = 0; e < p->count; e++) p->by_pattern[next[p->touches[e].pattern]++] = e;
    svmp_release(context, next);
    return SVMP_OK;
}

/* Deals the touches to their tasks, counts the runs of each, and lists them. */
static svmp_status share_incidences(planning *p) {
    const svmp_model *model = p->model;
    svmp_context *context = model->context;
    node_plan *plan = p->plan;
    const size_t tasks = plan->task_start[p->colours];
    size_t runs = 0;
    SVMP_TRY(SVMP_NEW(context, plan->instance, p->count));
    SVMP_TRY(SVMP_NEW(context, plan->shift, p->count));
    SVMP_TRY(SVMP_NEW(context, plan->place, p->count));
    size_t *next = NULL, *last = NULL; /* task -> where its next touch goes; 1 + the pattern of its last */
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(context, next, tasks));
    SVMP_CHECK(SVMP_NEW(context, last, tasks));
    for (size_t e = 0; e < p->count; e++) {
        const incidence *here = &p->touches[p->by_pattern[e]];
        node_task *task = &plan->tasks[p->task_of[here->node]];
        size_t *seen = &last[task - plan->tasks];
        if (*seen != here->pattern + (size_t)1) task->runs++, runs++;
        *seen = here->pattern + (size_t)1;
    }
    SVMP_CHECK(SVMP_NEW(context, plan->runs, runs));
    runs = 0;
    for (size_t k = 0; k < tasks; k++) {
        next[k] = plan->tasks[k].from;
        last[k] = 0;
        plan->tasks[k].run = runs;
        runs += plan->tasks[k].runs;
        plan->tasks[k].runs = 0;
    }
    for (size_t e = 0; e < p->count; e++) {
        const incidence *here = &p->touches[p->by_pattern[e]];
        const uint32_t v = here->node, k = p->task_of[v];
        node_task *task = &plan->tasks[k];
        const size_t at = next[k]++;
        plan->instance[at] = here->instance;
        plan->shift[at] = p->at[v] - (uint32_t)model->graph->first[v];
        plan->place[at] = p->place[v];
        if (last[k] != here->pattern + (size_t)1)
            plan->runs[task->run + task->runs++] = (node_run){here->pattern, at, at};
        last[k] = here->pattern + (size_t)1;
        plan->runs[task->run + task->runs - 1].to = at + 1;
    }
done:
    svmp_release(context, next);
    svmp_release(context, last);
    return status;
}

/* Columns stand in the order of the whole model: those of a node together, but anywhere. */
static svmp_status find_blocks(planning *p) {
    const svmp_model *model = p->model;
    const quadratic *q = &model->quadratic;
    const size_t *first = model->graph->first;
    SVMP_TRY(SVMP_NEW(model->context, p->plan->block, model->graph->moved_variables));
    for (size_t v = 0; v < model->graph->moved; v++)
        for (size_t i = first[v]; is_planned(p, v) && i < first[v + 1]; i++) {
            size_t e = q->start[i];
            while (e < q->start[i + 1] && (q->column[e] < first[v] || q->column[e] >= first[v + 1])) e++;
            p->plan->block[i] = e;
        }
    return SVMP_OK;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static svmp_status make(planning *p) {
    const svmp_graph *graph = p->model->graph;
    svmp_context *context = p->model->context;
    SVMP_TRY(SVMP_NEW(context, p->node_of, graph->variables));
    SVMP_TRY(SVMP_NEW(context, p->stamp, graph->nodes));
    SVMP_TRY(SVMP_NEW(context, p->touch_of, graph->nodes));
    SVMP_TRY(SVMP_NEW(context, p->touched, graph->nodes));
    SVMP_TRY(SVMP_NEW(context, p->task_of, graph->nodes));
    SVMP_TRY(SVMP_NEW(context, p->place, graph->nodes));
    SVMP_TRY(SVMP_NEW(context, p->at, graph->nodes));
    for (size_t v = 0; v < graph->nodes; v++)
        for (size_t i = graph->first[v]; i < graph->first[v + 1]; i++) p->node_of[i] = (uint32_t)v;
    SVMP_TRY(list_incidences(p));
    SVMP_TRY(find_patterns(p));
    SVMP_TRY(make_partials(p));
    SVMP_TRY(make_tasks(p));
    SVMP_TRY(sort_incidences(p));
    SVMP_TRY(share_incidences(p));
    return find_blocks(p);
}

svmp_status svmp_node_plan_create(const svmp_model *model, size_t n, size_t colours, const uint32_t *colour,
                                  node_plan *plan) {
    svmp_context *context = model->context;
    planning p = {.model = model, .n = n, .colours = colours, .colour = colour, .plan = plan};
    plan->colours = colours;
    const svmp_status status = make(&p);
    void *const arrays[] = {p.touches, p.by_pattern, p.node_of, p.stamp, p.touch_of,
                            p.touched, p.task_of,    p.place,   p.at};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(context, arrays[k]);
    svmp_lists_free(context, &p.lists);
    return status;
}

void svmp_node_plan_free(const svmp_model *model, node_plan *plan) {
    svmp_context *context = model->context;
    for (size_t k = 0; k < plan->pattern_count; k++) {
        node_pattern *pattern = &plan->patterns[k];
        if (pattern->partial) model->groups[pattern->group].kind->free_partial(pattern->partial);
    }
    void *const arrays[] = {plan->patterns, plan->slots, plan->owns,  plan->instance,   plan->shift,     plan->place,
                            plan->nodes,    plan->runs,  plan->tasks, plan->task_start, plan->hub_start, plan->block};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) svmp_release(context, arrays[k]);
}
