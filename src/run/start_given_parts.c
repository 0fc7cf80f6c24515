#include <string.h>

#include "base/hash.h"
#include "base/name_table.h"
#include "base/peers.h"
#include "model/natural_values.h"
#include "run/start_given.h"

enum { BITS = 62, SHOWN = 3 }; /* bits of a word, so that sums of words do not overflow; names in an error */

/* Which variables of the model the processes find in a start. */
typedef struct claims {
    const svmp_run *run;
    name_table own;   /* the names of this process, */
    char *seen;       /* and whether they are in the start */
    int64_t *claimed; /* a bit for every variable of the whole start: whether a process has it */
    size_t words, capacity;
    uint64_t columns; /* a checksum of these variables, the same in all processes */
    svmp_status status;
    struct unmatched {
        size_t count;
        char names[300]; /* of the first of them */
    } missing, strange; /* own variables that the start lacks; variables of the start that no process has or computes */
} claims;

static void note(struct unmatched *list, const char *name) {
    const size_t length = strlen(list->names);
    if (list->count < SHOWN)
        snprintf(list->names + length, sizeof list->names - length, "%s%.80s", list->count ? ", " : "", name);
    if (list->count == SHOWN) snprintf(list->names + length, sizeof list->names - length, ", ...");
    list->count++;
}

static svmp_status name_own(const svmp_run *run, name_table *own) {
    char name[1024];
    const size_t own_count = run->model->lowered ? svmp_model_outputs(run->model) : run->model->graph->moved_variables;
    for (size_t k = 0; k < own_count; k++) {
        if (svmp_model_is_drawn(run->model, k)) continue;
        svmp_model_output_name(run->model, k, name, sizeof name);
        SVMP_TRY(svmp_names_add(run->context, own, name, strlen(name), &(uint32_t){0}));
    }
    return SVMP_OK;
}

static svmp_status grow_table(claims *c, size_t words) {
    SVMP_TRY(SVMP_GROW(c->run->context, c->claimed, c->capacity, words));
    for (; c->words < words; c->words++) c->claimed[c->words] = 0;
    return SVMP_OK;
}

static int claim(void *user_data, size_t column, const char *name) {
    claims *c = user_data;
    const size_t word = column / BITS, length = strlen(name);
    if (c->status == SVMP_OK) c->status = grow_table(c, word + 1);
    if (c->status != SVMP_OK) return 0;
    c->columns = svmp_hash_bytes(svmp_hash_word(c->columns, length), length, name);
    const uint32_t which = svmp_names_find(&c->own, name, length);
    if (which == NAMES_NONE) return 0;
    c->claimed[word] |= INT64_C(1) << column % BITS;
    c->seen[which] = 1;
    return 1;
}

static int note_strange(void *user_data, size_t column, const char *name) {
    claims *c = user_data;
    const int claimed = c->claimed[column / BITS] >> column % BITS & 1;
    if (!claimed && !svmp_model_computes(c->run->model, name)) note(&c->strange, name);
    return 0;
}

static svmp_status visit_names(claims *c, const svmp_particles *particles, const char *path, particles_filter about) {
    if (path) SVMP_TRY(svmp_particles_read_names(c->run->context, path, about, c));
    for (size_t i = 0; particles && i < particles->variables; i++)
        about(c, particles->place ? particles->place[i] : i, svmp_particles_name(particles, i));
    return c->status;
}

/* What this process has of the start: all of it, or its part if the particles are parts themselves. */
static svmp_status make_claims(claims *c, const svmp_particles *particles, const char *path) {
    SVMP_TRY(name_own(c->run, &c->own));
    SVMP_TRY(SVMP_NEW(c->run->context, c->seen, c->own.count));
    SVMP_TRY(visit_names(c, particles, path, claim));
    if (particles == NULL || particles->place == NULL) return SVMP_OK;
    c->columns = particles->whole;
    return grow_table(c, particles->whole / BITS + 1);
}

static svmp_status refuse(const claims *c, size_t missing, size_t strangers) {
    const struct unmatched *own = &c->missing, *strange = &c->strange;
    return svmp_fail(
        c->run->context, SVMP_BAD_INPUT,
        "The variables differ: %zu of the model %s not in the particles%s%s%s, and %zu of the particles %s not in "
        "the model%s%s%s.",
        missing, missing == 1 ? "is" : "are", own->count ? " (" : "", own->names, own->count ? ")" : "", strangers,
        strangers == 1 ? "is" : "are", strange->count ? " (" : "", strange->names, strange->count ? ")" : "");
}

svmp_status svmp_start_compare(const svmp_run *run, const svmp_particles *particles, const char *path) {
    svmp_context *context = run->context;
    const svmp_peers *peers = run->model->graph->peers;
    claims c = {.run = run, .columns = SVMP_HASH_START};
    svmp_status status;
    SVMP_CHECK(svmp_agree(context, peers, make_claims(&c, particles, path)));
    if (!svmp_peers_have_one(peers, c.columns))
        SVMP_CHECK(svmp_fail(context, SVMP_BAD_INPUT, "The processes were given starts of different variables."));
    peers->sum(peers, c.words, c.claimed); /* no variable belongs to two processes */
    SVMP_CHECK(svmp_agree(context, peers, visit_names(&c, particles, path, note_strange)));
    for (size_t k = 0; k < c.own.count; k++)
        if (!c.seen[k]) note(&c.missing, c.own.text[k]);
    int64_t counts[] = {(int64_t)c.missing.count, (int64_t)c.strange.count};
    peers->sum(peers, 2, counts);
    if (particles == NULL || particles->place == NULL)
        counts[1] = (int64_t)c.strange.count; /* all processes see the same */
    const size_t missing = (size_t)counts[0], strangers = (size_t)counts[1];
    SVMP_CHECK(
        svmp_agree(context, peers, c.missing.count + c.strange.count > 0 ? refuse(&c, missing, strangers) : SVMP_OK));
done:
    svmp_names_free(context, &c.own);
    svmp_release(context, c.seen);
    svmp_release(context, c.claimed);
    return status;
}

/* Keeps own variables; if there are none, the first of all. */
static int keep_own(void *user_data, size_t column, const char *name) {
    const name_table *own = user_data;
    return own->count == 0 ? column == 0 : svmp_names_find(own, name, strlen(name)) != NAMES_NONE;
}

svmp_status svmp_start_read(const svmp_run *run, const char *path, svmp_particles **particles) {
    name_table own = {0};
    svmp_status status = name_own(run, &own);
    if (status == SVMP_OK) status = svmp_particles_read_some(run->context, path, keep_own, &own, particles);
    svmp_names_free(run->context, &own);
    return status;
}

svmp_status svmp_start_take(const svmp_particles *particles, svmp_particles *own) {
    const size_t n = own->count, count = particles->count;
    named_variable *here = NULL, *there = NULL;
    svmp_status status;
    SVMP_CHECK(svmp_particles_by_name(own, &here));
    SVMP_CHECK(svmp_particles_by_name(particles, &there));
    for (size_t k = 0, at = 0; k < own->variables; k++) {
        while (strcmp(there[at].name, here[k].name) != 0) at++; /* it exists: see svmp_start_compare */
        for (size_t l = 0; l < n; l++)
            own->values[here[k].variable * n + l] =
                particles->values[there[at].variable * count + svmp_start_row(l, n, count)];
    }
done:
    svmp_release(own->context, here);
    svmp_release(own->context, there);
    return status;
}
