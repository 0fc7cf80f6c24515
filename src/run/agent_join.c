/* Joins the outputs of all agents to the particles of one process. */
#include <stdlib.h>
#include <string.h>

#include "base/comment_lines.h"
#include "base/exact_sum.h"
#include "run/agent_part_inside.h"

/* One output: the head of its file, then where its numbers begin. */
typedef struct output {
    packing p;
    uint64_t run;
    size_t agent, agents, iteration, n, states, nodes, count, sweeps;
    int chains;
    double constant;
    char *name, *record, **names;
    uint32_t *place; /* of each of its `count` variables */
} output;

typedef struct joining {
    svmp_context *context;
    size_t count;
    const char *const *paths;
    output *outputs;   /* in the order of the agents, */
    const char **path; /* and their files */
    size_t variables;
    struct placed {
        uint32_t place, agent, variable;
    } * placed; /* the variables of all, in the order of the whole */
} joining;

static void free_output(svmp_context *context, output *o) {
    for (size_t k = 0; o->names && k < o->count; k++) svmp_release(context, o->names[k]);
    void *owned[] = {o->p.bytes, o->name, o->record, o->names, o->place};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) svmp_release(context, owned[k]);
}

static void read_head(output *o) {
    packing *p = &o->p;
    svmp_pack_word(p, &o->run);
    svmp_pack_count(p, &o->agent);
    svmp_pack_count(p, &o->agents);
    svmp_pack_text(p, &o->name);
    svmp_pack_text(p, &o->record);
    svmp_pack_count(p, &o->iteration);
    svmp_pack_length(p, &o->n, 1);
    svmp_pack_length(p, &o->states, 1);
    SVMP_PACK(p, o->chains);
    svmp_pack_count(p, &o->nodes);
    svmp_pack_real(p, &o->constant);
    svmp_pack_length(p, &o->count, 16);
    SVMP_PACK_NEW(p, o->names, o->count);
    SVMP_PACK_NEW(p, o->place, o->count);
    for (size_t k = 0; k < o->count && p->status == SVMP_OK; k++) {
        SVMP_PACK(p, o->place[k]);
        svmp_pack_text(p, &o->names[k]);
        if (o->names[k] == NULL) svmp_pack_refuse(p, "is damaged");
    }
    svmp_pack_count(p, &o->sweeps);
    if (o->name == NULL || o->record == NULL || o->n == 0 || o->states == 0 || o->agent >= o->agents)
        svmp_pack_refuse(p, "is damaged");
}

/* Each file goes to the place of its agent. */
static svmp_status take(joining *j, const char *path) {
    output o = {0};
    svmp_status status = svmp_packed_read(j->context, OUTPUT_MAGIC, "output of an agent", path, &o.p);
    o.p.what = path;
    if (status == SVMP_OK) read_head(&o), status = o.p.status;
    const output *first = j->outputs;
    while (first < j->outputs + j->count && first->name == NULL) first++;
    if (first == j->outputs + j->count) first = &o;
    if (status == SVMP_OK && (o.run != first->run || o.agents != first->agents))
        status =
            svmp_fail(j->context, SVMP_BAD_INPUT, "The output '%s' of agent '%s' is of another run than that of '%s'.",
                      path, o.name, first->name);
    if (status == SVMP_OK && (o.iteration != first->iteration || o.n != first->n || o.states != first->states))
        status = svmp_fail(j->context, SVMP_BAD_INPUT,
                           "The output of agent '%s' ends after %zu iterations, that of '%s' after %zu.", o.name,
                           o.iteration, first->name, first->iteration);
    if (status == SVMP_OK && o.agents != j->count)
        status = svmp_fail(j->context, SVMP_BAD_INPUT, "The run has %zu agents, but %zu output%s given.", o.agents,
                           j->count, j->count == 1 ? " was" : "s were");
    if (status == SVMP_OK && j->outputs[o.agent].name)
        status = svmp_fail(j->context, SVMP_BAD_INPUT, "The outputs '%s' and '%s' are both of agent '%s'.",
                           j->path[o.agent], path, o.name);
    if (status != SVMP_OK) return free_output(j->context, &o), status;
    j->outputs[o.agent] = o;
    j->path[o.agent] = path;
    j->variables += o.count;
    return SVMP_OK;
}

static int by_place(const void *a, const void *b) {
    const uint32_t left = ((const struct placed *)a)->place, right = ((const struct placed *)b)->place;
    return (left > right) - (left < right);
}

static svmp_status order(joining *j) {
    size_t k = 0;
    SVMP_TRY(SVMP_NEW(j->context, j->placed, j->variables));
    for (uint32_t a = 0; a < j->count; a++)
        for (uint32_t i = 0; i < j->outputs[a].count; i++)
            j->placed[k++] = (struct placed){j->outputs[a].place[i], a, i};
    qsort(j->placed, j->variables, sizeof *j->placed, by_place);
    for (k = 1; k < j->variables; k++)
        if (j->placed[k].place == j->placed[k - 1].place)
            return svmp_fail(j->context, SVMP_BAD_INPUT, "The agents '%s' and '%s' both have %s.",
                             j->outputs[j->placed[k - 1].agent].name, j->outputs[j->placed[k].agent].name,
                             j->outputs[j->placed[k].agent].names[j->placed[k].variable]);
    return SVMP_OK;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* The accepted moves of all agents, as a share of all moves. */
static svmp_status join_moves(joining *j, double *column, svmp_particles *to) {
    const output *o = j->outputs;
    const size_t count = o->n * o->states;
    if (o->sweeps == 0) return SVMP_OK;
    for (size_t k = 0; k < count; k++) column[k] = 0;
    for (size_t a = 0; a < j->count; a++)
        for (size_t k = 0; k < count; k++) {
            uint64_t moves = 0;
            svmp_pack_word(&j->outputs[a].p, &moves);
            column[k] += (double)moves;
        }
    for (size_t k = 0; k < count; k++) column[k] /= (double)o->nodes * (double)o->sweeps;
    SVMP_TRY(svmp_particles_set_statistic(to, "accept_stat__", column));
    for (size_t k = 0; k < count; k++) column[k] = (double)o->sweeps;
    return svmp_particles_set_statistic(to, "n_sweeps__", column);
}

static void join_values(joining *j, svmp_particles *to, const size_t *column_of) {
    double *values = svmp_particles_values(to);
    for (size_t a = 0, from = 0; a < j->count; from += j->outputs[a++].count) {
        output *o = &j->outputs[a];
        for (size_t k = 0; k < o->states; k++)
            for (size_t i = 0; i < o->count; i++)
                for (size_t l = 0; l < o->n; l++)
                    svmp_pack_real(&o->p, &values[(column_of[from + i] * o->n + l) * o->states + k]);
    }
}

/* The exact sums of all agents, rounded once: the bits of one process. */
static svmp_status join_sums(joining *j, double *column, svmp_particles *to) {
    const output *first = j->outputs;
    int64_t *words = NULL, *one = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(j->context, words, first->n * EXACT_WORDS));
    SVMP_CHECK(SVMP_NEW(j->context, one, (size_t)EXACT_WORDS));
    for (size_t k = 0; k < first->states; k++) {
        memset(words, 0, first->n * EXACT_WORDS * sizeof *words);
        for (size_t a = 0; a < j->count; a++)
            for (size_t l = 0; l < first->n; l++) {
                memset(one, 0, EXACT_WORDS * sizeof *one);
                svmp_pack_sum(&j->outputs[a].p, one);
                for (size_t w = 0; w < EXACT_WORDS; w++) words[l * EXACT_WORDS + w] += one[w];
            }
        for (size_t l = 0; l < first->n; l++) {
            exact_sum sum;
            memcpy(&sum, words + l * EXACT_WORDS, sizeof sum);
            svmp_exact_from_words(1, &sum);
            svmp_exact_add(&sum, first->constant);
            column[l * first->states + k] = svmp_exact_value(&sum);
        }
    }
    status = svmp_particles_set_statistic(to, "lp__", column);
done:
    svmp_release(j->context, words);
    svmp_release(j->context, one);
    return status;
}

/* The order of what is in the files: moves, values, sums. */
static svmp_status join_numbers(joining *j, svmp_particles *to) {
    const output *o = j->outputs;
    double *column = NULL;
    size_t *column_of = NULL, *first = NULL;
    svmp_status status;
    SVMP_CHECK(SVMP_NEW(j->context, column, o->n * o->states));
    SVMP_CHECK(SVMP_NEW(j->context, column_of, j->variables));
    SVMP_CHECK(SVMP_NEW(j->context, first, j->count + 1));
    for (size_t a = 0; a < j->count; a++) first[a + 1] = first[a] + j->outputs[a].count;
    for (size_t k = 0; k < j->variables; k++) {
        const struct placed *here = &j->placed[k];
        column_of[first[here->agent] + here->variable] = k;
        SVMP_CHECK(svmp_particles_set_name(to, k, j->outputs[here->agent].names[here->variable]));
    }
    if (o->chains) SVMP_CHECK(svmp_particles_set_chains(to, o->n));
    SVMP_CHECK(svmp_particles_set_statistic(to, "lp__", column)); /* the first one, as in the files of other runs */
    status = join_moves(j, column, to);
    join_values(j, to, column_of);
    if (status == SVMP_OK) status = join_sums(j, column, to);
    for (size_t a = 0; a < j->count && status == SVMP_OK; a++)
        if (j->outputs[a].p.status != SVMP_OK || j->outputs[a].p.at != j->outputs[a].p.size)
            status = svmp_fail(j->context, SVMP_BAD_INPUT, "The output '%s' of agent '%s' is damaged.", j->path[a],
                               j->outputs[a].name);
done:
    svmp_release(j->context, column);
    svmp_release(j->context, column_of);
    svmp_release(j->context, first);
    return status;
}

static svmp_status write_comments(const joining *j, char **comments) {
    const output *o = j->outputs;
    const size_t size = strlen(o->record) + 400, rows = o->n * o->states;
    char planned[32] = "";
    const int stopped = svmp_comment_find(o->record, "iterations", planned, sizeof planned) &&
                        strtoull(planned, NULL, 10) > o->iteration;
    SVMP_TRY(SVMP_NEW(j->context, *comments, size));
    snprintf(*comments, size,
             "svmp %s\n%soutcome = %s\niterations done = %zu\nnum_samples = %zu\nsave_warmup = 0\nthin = 1\n",
             svmp_version(), o->record, stopped ? "stopped" : "completed", o->iteration, rows);
    return SVMP_OK;
}

svmp_status svmp_outputs_join(svmp_context *context, size_t count, const char *const *paths, svmp_particles **particles,
                              char **comments) {
    if (context == NULL || paths == NULL || particles == NULL || comments == NULL || count == 0) return SVMP_BAD_CALL;
    joining j = {.context = context, .count = count, .paths = paths};
    svmp_particles *made = NULL;
    svmp_status status;
    *comments = NULL;
    SVMP_CHECK(SVMP_NEW(context, j.outputs, count));
    SVMP_CHECK(SVMP_NEW(context, j.path, count));
    for (size_t k = 0; k < count; k++) SVMP_CHECK(take(&j, paths[k]));
    SVMP_CHECK(order(&j));
    SVMP_CHECK(svmp_particles_create(context, j.variables, j.outputs->n * j.outputs->states, NULL, &made));
    SVMP_CHECK(join_numbers(&j, made));
    SVMP_CHECK(write_comments(&j, comments));
    *particles = made;
    made = NULL;
done:
    svmp_particles_free(made);
    for (size_t k = 0; j.outputs && k < count; k++) free_output(context, &j.outputs[k]);
    svmp_release(context, j.outputs);
    svmp_release(context, j.path);
    svmp_release(context, j.placed);
    return status;
}

void svmp_outputs_free_comments(svmp_context *context, char *comments) {
    if (context) svmp_release(context, comments);
}
