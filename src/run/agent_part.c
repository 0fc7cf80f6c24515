/* Part files: written by a planner that has the whole model, read by an agent. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/output_file.h"
#include "base/peers.h"
#include "graph/colouring.h"
#include "graph/graph_part.h"
#include "graph/partition.h"
#include "model/fingerprint.h"
#include "model/model_part.h"
#include "model/text_model.h"
#include "run/agent_part_inside.h"

/* ---- files ------------------------------------------------------------------------------------------------------- */

void svmp_packed_begin(svmp_context *context, const char *magic, packing *p) {
    char *version = (char *)(uintptr_t)svmp_version(); /* only read */
    *p = (packing){.context = context, .what = "The file"};
    svmp_pack_bytes(p, strlen(magic), (char *)(uintptr_t)magic);
    svmp_pack_text(p, &version);
}

svmp_status svmp_packed_write(packing *p, const char *path) {
    output_file file = {0};
    svmp_status status = p->status;
    uint64_t hash = svmp_hash_bytes(SVMP_HASH_START, p->at, p->bytes);
    if (status == SVMP_OK) svmp_pack_word(p, &hash), status = p->status;
    if (status == SVMP_OK) status = svmp_output_open_again(p->context, path, &file);
    if (status == SVMP_OK) status = svmp_output_put(&file, p->bytes, p->at);
    if (status == SVMP_OK) status = svmp_output_finish(&file);
    svmp_output_close(&file);
    return status;
}

static svmp_status read_bytes(svmp_context *context, const char *path, packing *p) {
    FILE *file = fopen(path, "rb");
    size_t capacity = 0, got = 1;
    svmp_status status = SVMP_OK;
    if (file == NULL) return svmp_fail(context, SVMP_BAD_INPUT, "Cannot open '%s'.", path);
    while (got > 0 && status == SVMP_OK) {
        status = SVMP_GROW(context, p->bytes, capacity, p->size + (1 << 16));
        got = status == SVMP_OK ? fread(p->bytes + p->size, 1, 1 << 16, file) : 0;
        p->size += got;
    }
    if (status == SVMP_OK && ferror(file)) status = svmp_fail(context, SVMP_BAD_INPUT, "Cannot read '%s'.", path);
    fclose(file);
    return status;
}

/* The checksum is at the end, and is none of the contents. */
static svmp_status check(packing *p, const char *magic, const char *kind, const char *path) {
    char *version = NULL;
    uint64_t hash = 0;
    const size_t length = strlen(magic);
    if (p->size < length + 8 || memcmp(p->bytes, magic, length) != 0)
        return svmp_fail(p->context, SVMP_BAD_INPUT, "'%s' is not a %s of this version of svmp.", path, kind);
    p->at = p->size - 8;
    svmp_pack_word(p, &hash);
    p->size -= 8;
    if (hash != svmp_hash_bytes(SVMP_HASH_START, p->size, p->bytes))
        return svmp_fail(p->context, SVMP_BAD_INPUT, "The %s '%s' is damaged: its checksum is wrong.", kind, path);
    p->at = length;
    svmp_pack_text(p, &version);
    if (p->status == SVMP_OK && (version == NULL || strcmp(version, svmp_version()) != 0))
        p->status = svmp_fail(p->context, SVMP_BAD_INPUT, "The %s '%s' was written by svmp %.40s; this is svmp %s.",
                              kind, path, version ? version : "", svmp_version());
    svmp_release(p->context, version);
    return p->status;
}

svmp_status svmp_packed_read(svmp_context *context, const char *magic, const char *kind, const char *path, packing *p) {
    *p = (packing){.context = context, .loading = true, .what = "The file"};
    const svmp_status status = read_bytes(context, path, p);
    return status == SVMP_OK ? check(p, magic, kind, path) : status;
}

/* ---- what is in a part ------------------------------------------------------------------------------------------- */

static void pack_options(packing *p, svmp_part *part) {
    svmp_pack_length(p, &part->option_count, 16);
    if (part->option_count > PART_OPTIONS) part->option_count = 0, svmp_pack_refuse(p, "is damaged");
    for (size_t k = 0; k < part->option_count && p->status == SVMP_OK; k++) {
        svmp_pack_text(p, &part->option_name[k]);
        svmp_pack_text(p, &part->option_text[k]);
    }
}

static void pack_part(packing *p, svmp_part *part) {
    svmp_part_about *a = &part->about;
    svmp_pack_word(p, &a->run);
    svmp_pack_count(p, &a->agent);
    svmp_pack_count(p, &a->agents);
    svmp_pack_text(p, &part->name);
    svmp_pack_text(p, &part->record);
    svmp_pack_length(p, &a->neighbours, 8);
    SVMP_PACK_NEW(p, part->neighbour_name, a->neighbours);
    if (p->loading && p->status != SVMP_OK) a->neighbours = 0;
    for (size_t k = 0; k < a->neighbours && p->status == SVMP_OK; k++) svmp_pack_text(p, &part->neighbour_name[k]);
    pack_options(p, part);
    svmp_pack_length(p, &part->start_count, 8);
    svmp_pack_reals(p, part->start_count, &part->start);
    svmp_pack_count(p, &a->hops);
    SVMP_PACK(p, a->until_settled);
    svmp_model_pack(p, &part->peers, part->model);
}

/* ---- planning ---------------------------------------------------------------------------------------------------- */

svmp_status svmp_agents_partition(const svmp_model *model, size_t count, uint32_t *owner) {
    if (model == NULL || owner == NULL || count == 0) return SVMP_BAD_CALL;
    SVMP_TRY(svmp_model_require_finished(model));
    if (count > model->graph->nodes)
        return svmp_fail(model->context, SVMP_BAD_CALL, "There are %zu agents for %zu nodes; each must have one.",
                         count, model->graph->nodes);
    return svmp_partition(model->graph, count, owner);
}

/* What only one process can do. */
static svmp_status refuse_run(const svmp_run *run) {
    const svmp_model *model = run->model;
    svmp_context *context = run->context;
    const char *name = run->method->name;
    if (!run->method->local)
        return svmp_fail(context, SVMP_UNSUPPORTED,
                         "The method '%s' needs the whole model; agents run 'local', 'graphical', 'independent', "
                         "'random' and 'langevin'.",
                         name);
    for (size_t k = 0; k < run->kernel.count; k++)
        if (run->kernel.terms[k].domain == DOMAIN_ALL)
            return svmp_fail(context, SVMP_UNSUPPORTED,
                             "The kernel reads all variables, and agents know only their neighbours.");
    if (svmp_backend_has_units(run->backend))
        return svmp_fail(context, SVMP_UNSUPPORTED,
                         "Agents take neither kernels nor steps in units of the standard deviations.");
    if (run->options.tolerance > 0)
        return svmp_fail(context, SVMP_UNSUPPORTED,
                         "Agents take no tolerance: none of them knows the largest |phi| of all.");
    if (model->boxed && run->method->sweeps == 0) return SVMP_OK;
    if (model->lowered && model->lowered->sorted_count > 0)
        return svmp_fail(context, SVMP_UNSUPPORTED, "Agents cannot sort unknowns that are exchangeable.");
    return SVMP_OK;
}

/* The log density and its derivatives are finite at the start of every particle. */
static svmp_status require_start(svmp_run *run) {
    const size_t n = run->backend->n, numbers = run->model->graph->variables * n;
    evaluator *e = NULL;
    const double *x;
    double *score = NULL, *log_density;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(run->context, score, numbers + n));
    SVMP_CHECK(svmp_evaluator_create(run->model, n, run->backend->threads, &e));
    SVMP_CHECK(svmp_backend_view(run->backend, ARRAY_PARTICLES, &x));
    log_density = score + numbers;
    SVMP_CHECK(svmp_evaluate(e, x, log_density, score));
    for (size_t k = 0; k < numbers + n; k++)
        if (!isfinite(score[k])) {
            status = svmp_fail(run->context, SVMP_NOT_FINITE,
                               "Particle %zu cannot start: its log density or a derivative is not finite. Choose "
                               "another start.",
                               k % n + 1);
            break;
        }
done:
    svmp_evaluator_free(e);
    svmp_release(run->context, score);
    return status;
}

/* In how many exchanges a message of agent 0 reaches all others; SIZE_MAX: it does not reach all. */
static svmp_status measure_reach(const svmp_graph *graph, const svmp_agents *agents, size_t *reach) {
    size_t *hops = NULL;
    int changes = 1;
    SVMP_TRY(SVMP_NEW(graph->context, hops, agents->count));
    for (size_t a = 1; a < agents->count; a++) hops[a] = SIZE_MAX;
    while (changes) {
        changes = 0;
        for (size_t v = 0; v < graph->nodes; v++) {
            const size_t of = graph->neighbourhood_of[v], here = hops[agents->owner[v]];
            for (size_t i = graph->neighbourhoods.start[of]; i < graph->neighbourhoods.start[of + 1]; i++) {
                size_t *there = &hops[agents->owner[graph->neighbourhoods.item[i]]];
                if (here == SIZE_MAX || *there <= here + 1) continue;
                *there = here + 1;
                changes = 1;
            }
        }
    }
    *reach = 0;
    for (size_t a = 0; a < agents->count; a++)
        if (hops[a] > *reach) *reach = hops[a];
    svmp_release(graph->context, hops);
    return SVMP_OK;
}

/* No two agents are farther apart than both are from agent 0. */
static svmp_status set_stop(const svmp_run *run, const svmp_agents *agents, svmp_part_about *about) {
    size_t reach;
    SVMP_TRY(measure_reach(run->model->graph, agents, &reach));
    about->hops = reach == SIZE_MAX ? 0 : reach == 0 ? 1 : 2 * reach;
    about->until_settled = agents->until_settled != 0;
    if (!about->until_settled) return SVMP_OK;
    if (run->method->yield != SVMP_YIELD_CHAINS)
        return svmp_fail(
            run->context, SVMP_BAD_CALL,
            "Only the method 'local' can stop when averages have settled; particles of '%s' are no chains.",
            run->method->name);
    if (about->hops > 0) return SVMP_OK;
    return svmp_fail(run->context, SVMP_BAD_CALL,
                     "Some agents are not connected, by neighbours of neighbours, with the others: they cannot stop "
                     "together. Plan a run for each model of its own.");
}

static svmp_status list_options(svmp_run *run, svmp_part *part) {
    size_t count;
    const option_row *rows = svmp_option_rows(&count);
    char buffer[NUMBER_TEXT];
    if (count > PART_OPTIONS)
        return svmp_fail(run->context, SVMP_BAD_CALL, "There are more options than a part holds.");
    for (size_t k = 0; k < count; k++) {
        const char *text = svmp_run_options_text(&run->options, &rows[k], buffer);
        if (strcmp(rows[k].option.name, "iterations") == 0)
            snprintf(buffer, sizeof buffer, "%zu", run->iterations), text = buffer;
        SVMP_TRY(svmp_duplicate(run->context, rows[k].option.name, &part->option_name[k]));
        part->option_count++;
        SVMP_TRY(svmp_duplicate(run->context, text, &part->option_text[k]));
    }
    return SVMP_OK;
}

/* The lines of the caller, and the effective value of every option. */
static svmp_status write_record(const svmp_run *run, const svmp_agents *agents, char **record) {
    svmp_option option;
    packing lines = {.context = run->context};
    char line[4200], value[4096];
    const char *first = agents->record ? agents->record : "";
    svmp_pack_bytes(&lines, strlen(first), (char *)(uintptr_t)first);
    for (size_t k = 0; svmp_option_at(k, &option); k++)
        if (svmp_run_setting(run, option.name, value, sizeof value)) {
            snprintf(line, sizeof line, "%s = %s\n", option.name, value);
            svmp_pack_bytes(&lines, strlen(line), line);
        }
    snprintf(line, sizeof line, "agents = %zu\n", agents->count);
    svmp_pack_bytes(&lines, strlen(line) + 1, line);
    *record = (char *)lines.bytes;
    return lines.status;
}

static svmp_status fill_start(svmp_run *run, svmp_part *part) {
    const svmp_graph *graph = part->model->graph;
    const size_t n = run->backend->n;
    const double *x;
    part->start_count = graph->moved_variables * n;
    SVMP_TRY(SVMP_NEW(run->context, part->start, part->start_count));
    SVMP_TRY(svmp_backend_view(run->backend, ARRAY_PARTICLES, &x));
    for (size_t i = 0; i < graph->moved_variables; i++)
        memcpy(part->start + i * n, x + graph->variable_key[i] * n, n * sizeof *x);
    return SVMP_OK;
}

static svmp_status fill_colours(const svmp_graph *whole, svmp_graph *graph) {
    uint32_t *colour = NULL;
    SVMP_TRY(SVMP_NEW(whole->context, colour, whole->nodes));
    svmp_status status = svmp_graph_colour(whole, colour, &graph->colours);
    if (status == SVMP_OK) status = SVMP_NEW(whole->context, graph->colour, graph->nodes);
    for (size_t v = 0; status == SVMP_OK && v < graph->nodes; v++) graph->colour[v] = colour[graph->node_key[v]];
    svmp_release(whole->context, colour);
    return status;
}

static svmp_status fill(svmp_run *run, const svmp_agents *agents, svmp_part *part) {
    const svmp_model *whole = run->model;
    svmp_context *context = run->context;
    SVMP_TRY(svmp_model_agent_part(whole, agents->owner, (uint32_t)part->about.agent, &part->model));
    if (part->model->graph->moved == 0)
        return svmp_fail(context, SVMP_BAD_CALL, "The agent '%s' has no nodes.", agents->names[part->about.agent]);
    const graph_halo *halo = part->model->graph->halo;
    if (part->model->identity == NULL) {
        SVMP_TRY(SVMP_NEW(context, part->model->identity, 1));
        SVMP_TRY(svmp_fingerprint_take(whole, part->model->identity));
    }
    SVMP_TRY(svmp_duplicate(context, agents->names[part->about.agent], &part->name));
    SVMP_TRY(SVMP_NEW(context, part->neighbour_name, halo->neighbours));
    for (; part->about.neighbours < halo->neighbours; part->about.neighbours++)
        SVMP_TRY(svmp_duplicate(context, agents->names[halo->rank[part->about.neighbours]],
                                &part->neighbour_name[part->about.neighbours]));
    SVMP_TRY(set_stop(run, agents, &part->about));
    SVMP_TRY(write_record(run, agents, &part->record));
    SVMP_TRY(list_options(run, part));
    SVMP_TRY(fill_colours(whole->graph, part->model->graph));
    return fill_start(run, part);
}

svmp_status svmp_part_write(svmp_run *run, const svmp_agents *agents, size_t which, const char *path) {
    if (run == NULL || agents == NULL || path == NULL || which >= agents->count) return SVMP_BAD_CALL;
    svmp_part *part = NULL;
    packing p = {0};
    svmp_status status;
    if (run->model->graph->halo || run->iteration > 0)
        return svmp_fail(run->context, SVMP_BAD_CALL, "Parts are made of a run of a whole model that has not begun.");
    SVMP_CHECK(refuse_run(run));
    if (which == 0) SVMP_CHECK(require_start(run));
    SVMP_CHECK(SVMP_NEW(run->context, part, 1));
    *part =
        (svmp_part){.context = run->context, .about = {.run = agents->run, .agent = which, .agents = agents->count}};
    SVMP_CHECK(fill(run, agents, part));
    svmp_packed_begin(run->context, PART_MAGIC, &p);
    pack_part(&p, part);
    SVMP_CHECK(svmp_packed_write(&p, path));
done:
    svmp_packing_free(&p);
    svmp_part_free(part);
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

svmp_status svmp_part_read(svmp_context *context, const char *path, svmp_part **part) {
    if (context == NULL || path == NULL || part == NULL) return SVMP_BAD_CALL;
    svmp_part *made = NULL;
    packing p = {0};
    svmp_status status;
    char what[300];
    SVMP_CHECK(SVMP_NEW(context, made, 1));
    *made = (svmp_part){.context = context, .peers = svmp_alone};
    SVMP_CHECK(svmp_model_create(context, &made->model));
    SVMP_CHECK(svmp_packed_read(context, PART_MAGIC, "part file", path, &p));
    snprintf(what, sizeof what, "The part file '%.250s'", path);
    p.what = what;
    pack_part(&p, made);
    if (p.status == SVMP_OK &&
        (p.at != p.size || made->name == NULL || made->record == NULL ||
         made->about.neighbours != made->model->graph->halo->neighbours || made->about.agent >= made->about.agents))
        svmp_pack_refuse(&p, "is damaged");
    SVMP_CHECK(p.status);
    *part = made;
    made = NULL;
done:
    svmp_release(context, p.bytes);
    svmp_part_free(made);
    return status;
}

void svmp_part_free(svmp_part *part) {
    if (part == NULL) return;
    svmp_context *context = part->context;
    svmp_run_free(part->run);
    svmp_evaluator_free(part->evaluator);
    svmp_model_free(part->model);
    for (size_t k = 0; part->neighbour_name && k < part->about.neighbours; k++)
        svmp_release(context, part->neighbour_name[k]);
    for (size_t k = 0; k < part->option_count; k++) {
        svmp_release(context, part->option_name[k]);
        svmp_release(context, part->option_text[k]);
    }
    void *owned[] = {part->name, part->neighbour_name, part->record, part->start, part->natural, part->words};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) svmp_release(context, owned[k]);
    packing *packed[] = {&part->values, &part->sums, &part->saved};
    for (size_t k = 0; k < sizeof packed / sizeof *packed; k++) svmp_packing_free(packed[k]);
    svmp_release(context, part);
}

static const char *option_of(const svmp_part *part, const char *name) {
    for (size_t k = 0; k < part->option_count; k++)
        if (part->option_name[k] && part->option_text[k] && strcmp(part->option_name[k], name) == 0)
            return part->option_text[k];
    return "";
}

svmp_part_about svmp_part_describe(const svmp_part *part) {
    if (part == NULL) return (svmp_part_about){0};
    svmp_part_about about = part->about;
    about.name = part->name;
    about.neighbour = part->model->graph->halo->rank;
    about.neighbour_name = (const char *const *)part->neighbour_name;
    about.nodes = part->model->graph->moved;
    about.method = option_of(part, "method");
    about.rounds = strtoul(option_of(part, "iterations"), NULL, 10);
    if (strcmp(about.method, "local") == 0) about.rounds *= part->model->graph->colours;
    return about;
}
