#include "run/derived_values.h"

#include <string.h>

#include "base/peer_rows.h"
#include "model/text_model.h"

/* A block of particles: rows of all variables followed by the leaves, and of monitored values. */
typedef struct follower {
    derivation d;
    const lowered_model *lowered;
    svmp_particles *made;
    size_t whole, together; /* variables of the whole model, and the most particles of a block */
    size_t n, k, states;    /* particle l of n is draw l*states + k of `made` */
    double *variables, *monitored;
    double *probabilities; /* of the discrete unknowns' states, summed over the particles: two numbers each, whose sum
                              it is */
    uint64_t *draw;
} follower;

static svmp_status reserve(follower *f) {
    svmp_context *context = f->made->context;
    const size_t n = f->together < f->n ? f->together : f->n;
    const size_t rows = f->whole + f->lowered->leaf_variables + f->lowered->discrete_count;
    SVMP_TRY(SVMP_NEW(context, f->variables, rows * n));
    if (f->probabilities == NULL)
        SVMP_TRY(SVMP_NEW(context, f->probabilities, 2 * svmp_summed_states(&f->lowered->summed)));
    SVMP_TRY(SVMP_NEW(context, f->monitored, f->lowered->monitor_count * n));
    return SVMP_NEW(context, f->draw, n);
}

static void release(follower *f) {
    svmp_release(f->made->context, f->variables);
    svmp_release(f->made->context, f->monitored);
    svmp_release(f->made->context, f->draw);
}

/* The l-th draw of a chain has the same leaves however many draws there are, unless they are stratified. */
static uint64_t key_of(const follower *f, size_t l) {
    const svmp_particles *made = f->made;
    if (f->d.one_sample) return l;
    const size_t each = made->count / made->chains;
    return (uint64_t)(l / each) << 40 | l % each;
}

/* Stores `some` numbers of a variable, for particles from `from` on. */
static void place(const follower *f, size_t output, size_t from, size_t some, const double *values) {
    double *row = f->made->values + output * f->made->count;
    for (size_t l = 0; l < some; l++) row[(from + l) * f->states + f->k] = values[l];
}

/* Derives the values of particles from ... to - 1, whose variables are in f->variables. */
static svmp_status follow_block(const follower *f, size_t from, size_t to) {
    const lowered_model *lowered = f->lowered;
    const size_t some = to - from;
    for (size_t l = 0; l < some; l++) f->draw[l] = key_of(f, (from + l) * f->states + f->k);
    const leaf_draws draws = {f->d.seed, f->draw, f->d.one_sample ? f->made->count : 0};
    SVMP_TRY(svmp_summed_draw(f->made->context, &lowered->summed, f->d.seed, some, f->draw, f->variables,
                              f->variables + (f->whole + lowered->leaf_variables) * some, f->probabilities));
    SVMP_TRY(svmp_lowered_draw_leaves(lowered, &draws, some, f->variables));
    SVMP_TRY(svmp_lowered_monitor(lowered, some, f->variables, f->monitored));
    for (size_t k = 0; k < lowered->leaf_count; k++)
        for (size_t j = 0; j < lowered->leaves[k].outputs; j++)
            place(f, lowered->leaves[k].output + j, from, some,
                  f->variables + (lowered->leaves[k].variable + j) * some);
    for (size_t k = 0; k < lowered->monitor_count; k++)
        place(f, lowered->outputs + k, from, some, f->monitored + k * some);
    return SVMP_OK;
}

static svmp_status follow_alone(follower *f, const double *variables) {
    const size_t n = f->n;
    SVMP_TRY(reserve(f));
    for (size_t from = 0; from < n; from += f->together) {
        const size_t to = from + f->together < n ? from + f->together : n;
        for (size_t i = 0; i < f->whole; i++)
            memcpy(f->variables + i * (to - from), variables + i * n + from, (to - from) * sizeof *variables);
        SVMP_TRY(follow_block(f, from, to));
    }
    return SVMP_OK;
}

/* Leaves and monitored values may depend on variables of any process, so the first process computes them, from blocks
 * of particles with all variables. */
static svmp_status follow_together(follower *f, const double *x) {
    svmp_context *context = f->made->context;
    const svmp_graph *graph = f->d.model->graph;
    const size_t n = f->n;
    const size_t most = f->whole * (f->together < n ? f->together : n);
    spread s = {0};
    svmp_status status = graph->peers->rank == 0 ? reserve(f) : SVMP_OK, followed = SVMP_OK;
    SVMP_CHECK(svmp_spread_open(context, graph->peers, graph->whole_variables, graph->moved_variables,
                                graph->variable_key, most, status, &s));
    for (size_t from = 0; from < n; from += f->together) {
        const size_t to = from + f->together < n ? from + f->together : n;
        const double *block = svmp_spread_collect(&s, (spread_block){0, s.whole, from, to}, n, x);
        if (block == NULL || f->variables == NULL || followed != SVMP_OK) continue;
        memcpy(f->variables, block, f->whole * (to - from) * sizeof *block);
        followed = follow_block(f, from, to);
    }
    status = followed;
done:
    svmp_spread_close(&s);
    return status;
}

/* Whether there is anything to derive; the same in all processes. */
static bool begin(const derivation *d, svmp_particles *made, size_t states, follower *f) {
    const lowered_model *lowered = d->model->lowered;
    const svmp_graph *graph = d->model->graph;
    *f = (follower){.d = *d, .lowered = lowered, .made = made, .n = made->count / states, .states = states};
    f->whole = graph->whole_variables;
    f->together = svmp_spread_rows(f->whole + lowered->leaf_variables + lowered->discrete_count);
    return lowered->monitor_count > 0 || lowered->drawn_names.count > 0 || lowered->discrete_count > 0;
}

/* The probabilities of the discrete unknowns' values, one series each: "probability.z.3" along "value.1.2", from 1 to
 * 2. */
static svmp_status set_probabilities(const follower *f) {
    const lowered_summed *summed = &f->lowered->summed;
    double *row = f->probabilities;
    const size_t states = svmp_summed_states(summed);
    for (size_t s = 0; s < states; s++) row[s] = (row[2 * s] + row[2 * s + 1]) / (double)f->made->count;
    for (size_t k = 0; k < summed->count; k++) {
        const lowered_discrete *unknown = &summed->unknowns[k];
        char name[SERIES_NAME + 1], along[SERIES_NAME + 1];
        const double last = unknown->least + unknown->states - 1;
        const int length = snprintf(name, sizeof name, "probability.%s", unknown->name);
        snprintf(along, sizeof along, "value.%.0f.%.0f", unknown->least, last);
        if (length >= 0 && (size_t)length < sizeof name)
            SVMP_TRY(svmp_particles_set_series(f->made, name, along, unknown->states, row));
        row += unknown->states;
    }
    return SVMP_OK;
}

svmp_status svmp_derive(const derivation *d, const double *variables, svmp_particles *made) {
    follower f;
    if (!begin(d, made, 1, &f)) return SVMP_OK;
    svmp_status status = follow_alone(&f, variables);
    if (status == SVMP_OK) status = set_probabilities(&f);
    svmp_release(made->context, f.probabilities);
    release(&f);
    return status;
}

svmp_status svmp_derive_part(const derivation *d, const double *x, size_t k, size_t states, double **probabilities,
                             svmp_particles *made) {
    follower f;
    if (!begin(d, made, states, &f)) return SVMP_OK;
    f.k = k;
    f.probabilities = *probabilities;
    svmp_status status = follow_together(&f, x);
    if (status == SVMP_OK && k + 1 == states && f.probabilities) status = set_probabilities(&f);
    *probabilities = f.probabilities;
    release(&f);
    return status;
}
