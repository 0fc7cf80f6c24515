/* Draws and probabilities of discrete unknowns, particle by particle: backwards through the order of summation, each
 * given those that were summed out later. */
#include "model/summed_unknowns.h"

#include <math.h>

#include "base/random.h"

void svmp_summed_free(svmp_context *context, lowered_summed *summed) {
    for (size_t k = 0; summed->unknowns && k < summed->count; k++) svmp_release(context, summed->unknowns[k].name);
    for (size_t k = 0; k < summed->value_count; k++) {
        svmp_bound_free(summed->values[k].bound);
        svmp_program_free(summed->values[k].program);
        svmp_release(context, summed->values[k].variables);
    }
    svmp_release(context, summed->unknowns);
    svmp_release(context, summed->components);
    svmp_release(context, summed->steps);
    svmp_release(context, summed->given);
    svmp_release(context, summed->values);
    *summed = (lowered_summed){0};
}

size_t svmp_summed_states(const lowered_summed *summed) {
    size_t states = 0;
    for (size_t k = 0; k < summed->count; k++) states += summed->unknowns[k].states;
    return states;
}

/* What one component needs at a time. */
typedef struct component_work {
    const lowered_summed *summed;
    const lowered_component *component;
    size_t n;
    double *table;        /* log conditionals: entry * n + particle */
    double *belief;       /* of one particle: the joint probabilities of each step's table */
    uint32_t *state;      /* by unknown */
    const size_t *places; /* of the unknowns' probabilities */
} component_work;

static const lowered_step *step_at(const component_work *work, size_t k) {
    return &work->summed->steps[work->component->first + k];
}

/* exp of the conditional; 0 where what it is given cannot be. */
static double conditional(const component_work *work, const lowered_step *step, size_t entry, size_t particle) {
    const double p = exp(work->table[(step->first + entry) * work->n + particle]);
    return isnan(p) ? 0 : p;
}

/* The place of the present states of what a step is given. */
static size_t place_given(const component_work *work, const lowered_step *step) {
    size_t place = 0, stride = work->summed->unknowns[step->unknown].states;
    for (size_t k = 0; k < step->given_count; k++) {
        const uint32_t other = work->summed->given[step->given + k];
        place += stride * work->state[other];
        stride *= work->summed->unknowns[other].states;
    }
    return place;
}

/* NaN for all of the component where no state is possible: the particle has no density there. */
static void draw_states(const component_work *work, uint64_t seed, uint64_t draw, size_t particle, double *draws) {
    bool possible = true;
    for (size_t k = work->component->steps; k-- > 0;) {
        const lowered_step *step = step_at(work, k);
        const lowered_discrete *unknown = &work->summed->unknowns[step->unknown];
        const size_t place = place_given(work, step);
        double total = 0, sum = 0, u;
        uint32_t state = 0;
        svmp_random_uniforms((random_stream){.seed = seed, .a = step->unknown, .b = draw, .purpose = RANDOM_DISCRETE},
                             1, &u);
        for (uint32_t s = 0; s < unknown->states; s++) total += conditional(work, step, place + s, particle);
        for (; state + 1 < unknown->states; state++) {
            sum += conditional(work, step, place + state, particle);
            if (u * total < sum) break;
        }
        possible = possible && total > 0;
        work->state[step->unknown] = state;
        draws[step->unknown * work->n + particle] = unknown->least + state;
    }
    for (size_t k = 0; !possible && k < work->component->steps; k++)
        draws[step_at(work, k)->unknown * work->n + particle] = NAN;
}

/* The states of a step's unknowns at an entry of its table. */
static void set_states(const component_work *work, const lowered_step *step, size_t entry) {
    const uint32_t own = work->summed->unknowns[step->unknown].states;
    work->state[step->unknown] = (uint32_t)(entry % own);
    entry /= own;
    for (size_t k = 0; k < step->given_count; k++) {
        const uint32_t other = work->summed->given[step->given + k], states = work->summed->unknowns[other].states;
        work->state[other] = (uint32_t)(entry % states);
        entry /= states;
    }
}

/* Adds a probability to a sum of two parts, p = a + b with a a multiple of 2^-29 and b one of 2^-58: both sums are
 * exact for 2^24 particles, so that they may be added in any order. */
static void add_exactly(double p, double *sum) {
    const double coarse = nearbyint(p * 0x1p29) * 0x1p-29;
    sum[0] += coarse;
    sum[1] += nearbyint((p - coarse) * 0x1p58) * 0x1p-58;
}

/* belief of a step = P(given) p(unknown | given), P(given) from the step that has all of these. */
static void believe(const component_work *work, size_t particle, double *probabilities) {
    for (size_t k = work->component->steps; k-- > 0;) {
        const lowered_step *step = step_at(work, k);
        const uint32_t own = work->summed->unknowns[step->unknown].states;
        double *belief = work->belief + step->first, total = 0;
        for (size_t e = 0; e < step->size; e++) belief[e] = step->parent == UINT32_MAX ? 1 : 0;
        if (step->parent != UINT32_MAX) {
            const lowered_step *parent = step_at(work, step->parent);
            for (size_t e = 0; e < parent->size; e++) {
                set_states(work, parent, e);
                belief[place_given(work, step)] += work->belief[parent->first + e];
            }
            for (size_t e = 0; e < step->size; e++) belief[e] = belief[e - e % own];
        }
        for (size_t e = 0; e < step->size; e++) total += belief[e] *= conditional(work, step, e, particle);
        for (size_t e = 0; e < step->size; e++)
            add_exactly(total > 0 ? belief[e] : NAN, probabilities + 2 * (work->places[step->unknown] + e % own));
    }
}

static svmp_status follow_component(svmp_context *context, component_work *work, uint64_t seed, const uint64_t *draw,
                                    const double *x, double *draws, double *probabilities) {
    const lowered_component *component = work->component;
    const discrete_values *values = &work->summed->values[component->values];
    void *scratch = NULL;
    svmp_status status = SVMP_OK;
    work->table = work->belief = NULL;
    SVMP_CHECK(svmp_allocate(context, svmp_bound_scratch(values->bound, work->n), 1, &scratch));
    SVMP_CHECK(SVMP_NEW(context, work->table, component->size * work->n));
    SVMP_CHECK(SVMP_NEW(context, work->belief, component->size));
    svmp_bound_evaluate(values->bound, values->variables, component->instance, 1, work->n, x, scratch, work->table,
                        NULL);
    for (size_t l = 0; l < work->n; l++) {
        if (draws) draw_states(work, seed, draw[l], l, draws);
        if (probabilities) believe(work, l, probabilities);
    }
done:
    svmp_release(context, scratch);
    svmp_release(context, work->table);
    svmp_release(context, work->belief);
    return status;
}

svmp_status svmp_summed_draw(svmp_context *context, const lowered_summed *summed, uint64_t seed, size_t n,
                             const uint64_t *draw, const double *x, double *draws, double *probabilities) {
    component_work work = {.summed = summed, .n = n};
    size_t *places = NULL, place = 0;
    svmp_status status = SVMP_OK;
    SVMP_CHECK(SVMP_NEW(context, places, summed->count));
    SVMP_CHECK(SVMP_NEW(context, work.state, summed->count));
    for (size_t k = 0; k < summed->count; k++) {
        places[k] = place;
        place += summed->unknowns[k].states;
    }
    work.places = places;
    for (size_t c = 0; c < summed->component_count; c++) {
        work.component = &summed->components[c];
        SVMP_CHECK(follow_component(context, &work, seed, draw, x, draws, probabilities));
    }
done:
    svmp_release(context, places);
    svmp_release(context, work.state);
    return status;
}
