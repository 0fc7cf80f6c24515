/* The verdict on chains, by their own measures: R-hat, effective draws, divergences and energy (docs/diagnostics.md).
 */
#include <math.h>
#include <string.h>

#include "sample/particles.h"
#include "verify/verdict_constants.h"
#include "verify/verdict_inside.h"

/* The worst of something, and how many are beyond its limit. */
typedef struct worst_of {
    double amount;
    size_t at, beyond;
} worst_of;

static void look(worst_of *w, size_t i, double amount, int beyond) {
    if (w->at == SIZE_MAX || amount > w->amount) w->amount = amount, w->at = i;
    w->beyond += (size_t)(beyond != 0);
}

static void veto(const svmp_particles *p, svmp_code what, const worst_of *w, double amount, svmp_verdict *verdict) {
    if (w->beyond == 0 || verdict->veto != SVMP_NOTE_NONE) return;
    svmp_verdict_veto(verdict, what, amount, svmp_particles_name(p, w->at));
    verdict->veto_count = w->beyond;
}

static int is_constant(size_t count, const double *values) {
    size_t same = 1;
    while (same < count && values[same] == values[0]) same++;
    return same == count;
}

size_t svmp_chains_unmoved(const svmp_particles *draws, size_t *chains, size_t *variables) {
    enum { FEWEST_DRAWS = 6 }; /* fewer have no R-hat, either */
    const size_t each = draws->count / draws->chains;
    size_t worst = SIZE_MAX;
    *chains = *variables = 0;
    for (size_t i = 0; each >= FEWEST_DRAWS && i < draws->variables; i++) {
        size_t still = 0;
        for (size_t c = 0; c < draws->chains; c++)
            still += (size_t)is_constant(each, draws->values + i * draws->count + c * each);
        *variables += still > 0;
        if (still > *chains) *chains = still, worst = i;
    }
    return worst;
}

/* A variable that does not vary has no R-hat, which is not an error; if no variable has one, the chains are too
 * short. */
static void judge_mixing(const svmp_particles *p, const svmp_moments *moments, const svmp_mixing *mixing,
                         svmp_verdict *verdict) {
    const size_t chains = svmp_particles_chains(p), variables = svmp_particles_variables(p);
    double needed, limit;
    svmp_chains_limits(chains, svmp_particles_count(p) / chains, &limit, &needed);
    worst_of infinite = {.at = SIZE_MAX}, r_hat = {.at = SIZE_MAX}, draws = {.at = SIZE_MAX};
    for (size_t i = 0; i < variables; i++) {
        const double fewest = fmin(mixing[i].bulk_draws, mixing[i].tail_draws);
        const int finite = isfinite(moments[i].mean) && isfinite(moments[i].sd);
        if (!finite) look(&infinite, i, 0, 1);
        if (!isnan(mixing[i].r_hat)) look(&r_hat, i, mixing[i].r_hat, mixing[i].r_hat > limit);
        if (!isnan(fewest)) look(&draws, i, -fewest, fewest < needed);
    }
    if (r_hat.at == SIZE_MAX && variables > 0) draws = (worst_of){.at = 0, .beyond = variables};
    verdict->r_hat = r_hat.at == SIZE_MAX ? NAN : r_hat.amount;
    verdict->draws = draws.at == SIZE_MAX ? NAN : -draws.amount;
    veto(p, SVMP_NOTE_NOT_FINITE, &infinite, 0, verdict);
    veto(p, SVMP_NOTE_R_HAT, &r_hat, r_hat.amount, verdict);
    veto(p, SVMP_NOTE_FEW_DRAWS, &draws, verdict->draws, verdict);
}

/* Many divergences are the cause of other problems; if there are few, the others are reported first. */
static svmp_status judge_sampling(const svmp_particles *p, svmp_verdict *verdict) {
    svmp_sampling s;
    SVMP_TRY(svmp_particles_sampling(p, &s));
    const int many = (double)s.divergent > many_divergent * (double)s.trajectories;
    if (many && verdict->veto != SVMP_NOTE_NOT_FINITE) verdict->veto = SVMP_NOTE_NONE;
    if (verdict->veto != SVMP_NOTE_NONE) return SVMP_OK;
    if (s.divergent > 0) {
        svmp_verdict_veto(verdict, SVMP_NOTE_DIVERGENT, (double)s.divergent / (double)s.trajectories, NULL);
        verdict->veto_count = s.divergent;
    } else if (s.ebfmi < least_energy) {
        svmp_verdict_veto(verdict, SVMP_NOTE_LOW_ENERGY, s.ebfmi, NULL);
        verdict->veto_count = s.ebfmi_chain + 1;
    }
    return SVMP_OK;
}

/* Draws that are examined are half as many as there are effective ones; of many chains, the last one of each. */
static size_t spacing(const svmp_particles *p, double draws) {
    const size_t count = svmp_particles_count(p), each = count / svmp_particles_chains(p);
    const size_t chains = svmp_particles_chains(p);
    const double half = fmax(EXAMINED_FEWEST, fmin(EXAMINED_MOST, draws / 2)),
                 wanted = chains < MANY_CHAINS ? half : (double)chains;
    const size_t every = (size_t)ceil((double)count / wanted);
    return every < each ? every : each;
}

svmp_status svmp_chains_verdict(const svmp_particles *particles, svmp_verdict *verdict) {
    if (particles == NULL || verdict == NULL) return SVMP_BAD_CALL;
    svmp_context *context = particles->context;
    const size_t variables = svmp_particles_variables(particles);
    svmp_moments *moments = NULL;
    svmp_mixing *mixing = NULL;
    svmp_status status = SVMP_OK;
    if (!svmp_particles_are_chains(particles))
        return svmp_fail(context, SVMP_BAD_CALL, "svmp_chains_verdict: the particles are not draws of chains.");
    verdict->chains = svmp_particles_chains(particles);
    verdict->each = svmp_particles_count(particles) / verdict->chains;
    SVMP_CHECK(SVMP_NEW(context, moments, variables));
    SVMP_CHECK(SVMP_NEW(context, mixing, variables));
    SVMP_CHECK(svmp_particles_summarise(particles, variables, NULL, moments, mixing));
    judge_mixing(particles, moments, mixing, verdict);
    SVMP_CHECK(judge_sampling(particles, verdict));
    verdict->every = spacing(particles, isnan(verdict->draws) ? 0 : verdict->draws);
    if (verdict->finding == SVMP_FINDING_NOT_EXAMINED && verdict->veto == SVMP_NOTE_NONE)
        verdict->finding = SVMP_FINDING_PASSED;
done:
    svmp_release(context, moments);
    svmp_release(context, mixing);
    return status;
}
