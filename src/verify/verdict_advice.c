/* What to do about a verdict: advice as notes. */
#include <math.h>
#include <string.h>

#include "sample/number_errors.h"
#include "verify/verdict_inside.h"

const method *svmp_verdict_method(const svmp_verdict *v) {
    for (size_t k = 0; svmp_method_at(k); k++)
        if (strcmp(svmp_method_name(k), v->method) == 0) return svmp_method_at(k);
    return NULL;
}

/* Whole chains, with options for warm-up and draws; draws from elsewhere count as such. */
static int has_draws(const method *of) { return of == NULL || (of->yield == SVMP_YIELD_CHAINS && !of->sweeps); }

static int is_reference(const method *of) { return of && of->yield == SVMP_YIELD_CHAINS && !of->sweeps; }

/* How many iterations to advise: those that the method has by default, or four times as many as there were. */
static size_t longer(const svmp_verdict *v) {
    const method *of = svmp_verdict_method(v);
    const size_t usual = of && of->iterations ? of->iterations : METHOD_ITERATIONS;
    return of && v->iterations < usual / 4 ? usual : 4 * v->iterations;
}

/* Alternatives of one sentence: the same number. */
enum { FIRST = 1, SECOND };

static void run_longer(note_list *list, uint32_t either, size_t iterations) {
    char value[24];
    snprintf(value, sizeof value, "%zu", iterations);
    svmp_note_advise(list, either, SVMP_NOTE_RUN_LONGER, "iterations", value);
}

static void use_method(note_list *list, uint32_t either, svmp_code code, const method *of) {
    svmp_note_advise(list, either, code, "method", of->name);
}

static void name(svmp_note *note, const char *what) { snprintf(note->name, sizeof note->name, "%.127s", what); }

/* Another start than that of the run; of the same kind, another draw. */
static void other_starts(note_list *list, const svmp_verdict *v, uint32_t either) {
    if (strncmp(v->init, "prior", strlen("prior")) == 0)
        svmp_note_advise(list, either, SVMP_NOTE_OTHER_STARTS, "seed", NULL);
    else
        svmp_note_advise(list, either, SVMP_NOTE_OTHER_STARTS, "init", "prior");
}

static void advise_modes(note_list *list, const svmp_verdict *v) {
    svmp_note_add(list, SVMP_NOTE_SEVERAL_MODES);
    svmp_note_advise(list, FIRST, SVMP_NOTE_ONE_MODE, NULL, NULL);
    if (svmp_verdict_method(v) == &svmp_method_transport)
        other_starts(list, v, FIRST);
    else
        use_method(list, FIRST, SVMP_NOTE_USE, &svmp_method_transport); /* which jumps between modes */
}

/* Particles that do not mix: along a direction that no move follows, or in modes of their own. */
static void advise_mixing(note_list *list, const svmp_verdict *v) {
    const method *of = svmp_verdict_method(v);
    const int as_written = of && !of->nonconvergence && of->yield != SVMP_YIELD_CHAINS; /* by default */
    if (*v->ridge) {
        name(svmp_note_add(list, SVMP_NOTE_COLLINEAR), v->ridge);
        svmp_note_advise(list, FIRST, SVMP_NOTE_SCALE_PREDICTORS, NULL, NULL);
        svmp_note_advise(list, FIRST, SVMP_NOTE_OTHER_UNKNOWNS, NULL, NULL);
    } else {
        svmp_note_add(list, SVMP_NOTE_MODES_POSSIBLE);
        svmp_note_advise(list, FIRST, SVMP_NOTE_ONE_MODE, NULL, NULL);
        if (v->nested)
            svmp_note_advise(list, FIRST, SVMP_NOTE_NON_CENTRED, as_written ? "coordinates" : NULL, "auto");
        else
            svmp_note_advise(list, FIRST, SVMP_NOTE_SEPARATING_PRIOR, NULL, NULL);
    }
    if (!is_reference(of)) use_method(list, SECOND, SVMP_NOTE_COMPARE, &svmp_method_nuts);
}

static void advise_warmup(note_list *list) {
    char value[24];
    snprintf(value, sizeof value, "%d", METHOD_WARMUP);
    svmp_note_advise(list, 0, SVMP_NOTE_WARM_UP, "warmup", value);
}

static void advise_r_hat(note_list *list, const svmp_verdict *v) {
    if (svmp_verdict_method(v) == &svmp_method_transport) {
        char value[24];
        snprintf(value, sizeof value, "%zu", 4 * v->answered);
        use_method(list, FIRST, SVMP_NOTE_USE, &svmp_method_nuts);
        if (v->answered) svmp_note_advise(list, FIRST, SVMP_NOTE_MORE_DRAWS, "draws", value);
        return;
    }
    if (!has_draws(svmp_verdict_method(v))) {
        use_method(list, FIRST, SVMP_NOTE_USE, &svmp_method_transport);
        run_longer(list, FIRST, longer(v));
        return;
    }
    svmp_note_advise(list, FIRST, SVMP_NOTE_WARM_UP, "warmup", NULL);
    svmp_note_advise(list, FIRST, SVMP_NOTE_MORE_DRAWS, "draws", NULL);
    use_method(list, FIRST, SVMP_NOTE_COMPARE, &svmp_method_transport);
    svmp_note_add(list, SVMP_NOTE_MODES_IF_HIGH);
    if (v->nested) svmp_note_advise(list, SECOND, SVMP_NOTE_NON_CENTRED, "coordinates", "auto");
}

/* Gradients are the last thing to advise. */
static void advise_jumps(note_list *list, const svmp_verdict *v) {
    name(svmp_note_add(list, SVMP_NOTE_DENSITY_JUMPS), v->jumping);
    if (is_reference(svmp_verdict_method(v)))
        use_method(list, FIRST, SVMP_NOTE_USE, &svmp_method_transport);
    else
        run_longer(list, FIRST, longer(v));
    svmp_note_advise(list, FIRST, SVMP_NOTE_DISCRETE_CHANGE_POINT, NULL, NULL);
}

/* Steps that are not yet small can be smaller. */
static void advise_divergent(note_list *list, const svmp_verdict *v) {
    const int small = v->accept >= 0.985;
    if (!small) svmp_note_advise(list, FIRST, SVMP_NOTE_SMALLER_STEPS, "accept", v->accept < 0.945 ? "0.95" : "0.99");
    if (small || !v->nested) use_method(list, FIRST, small ? SVMP_NOTE_USE : SVMP_NOTE_COMPARE, &svmp_method_transport);
    if (small) svmp_note_advise(list, FIRST, SVMP_NOTE_OTHER_PRIORS, NULL, NULL);
    if (v->nested) svmp_note_advise(list, FIRST, SVMP_NOTE_NON_CENTRED, NULL, NULL);
}

static void advise_chains(note_list *list, const svmp_verdict *v) {
    if (*v->jumping && v->veto != SVMP_NOTE_LOW_ENERGY && is_reference(svmp_verdict_method(v))) {
        advise_jumps(list, v);
        return;
    }
    if (v->brief && v->veto != SVMP_NOTE_FEW_DRAWS) {
        advise_warmup(list);
        return;
    }
    switch (v->veto) {
    case SVMP_NOTE_R_HAT: advise_r_hat(list, v); return;
    case SVMP_NOTE_FEW_DRAWS:
        if (has_draws(svmp_verdict_method(v)))
            svmp_note_advise(list, 0, SVMP_NOTE_MORE_DRAWS, "draws", NULL);
        else
            run_longer(list, 0, longer(v));
        return;
    case SVMP_NOTE_DIVERGENT: advise_divergent(list, v); return;
    default:
        svmp_note_advise(list, FIRST, SVMP_NOTE_MORE_DRAWS, "draws", NULL);
        svmp_note_advise(list, FIRST, SVMP_NOTE_LIGHTER_TAILS, NULL, NULL);
    }
}

static void advise_unsettled(note_list *list, const svmp_verdict *v) {
    const method *of = svmp_verdict_method(v);
    if (v->veto == SVMP_NOTE_NOT_MIXED && *v->flat) return; /* the priors come first */
    if (v->veto == SVMP_NOTE_NOT_MIXED) {
        advise_mixing(list, v);
    } else if (*v->jumping) {
        advise_jumps(list, v);
    } else {
        if (of && v->iterations > of->iterations / 2) use_method(list, FIRST, SVMP_NOTE_USE, &svmp_method_nuts);
        run_longer(list, FIRST, longer(v));
    }
}

/* A method that is neither the default nor the reference. */
static void advise_others(note_list *list, const svmp_verdict *v, const method *of) {
    const int fitted = strncmp(v->init, "gaussian", strlen("gaussian")) == 0;
    if (!of->kernel) run_longer(list, FIRST, longer(v));
    use_method(list, FIRST, SVMP_NOTE_USE, &svmp_method_transport);
    if (!fitted) svmp_note_advise(list, FIRST, SVMP_NOTE_START_GAUSSIAN, "init", "gaussian");
    if (!fitted && of->kernel) svmp_note_advise(list, FIRST, SVMP_NOTE_FALLING_STEPS, "step", "adam:0.1..0.004");
    use_method(list, SECOND, SVMP_NOTE_COMPARE, &svmp_method_nuts);
}

/* What the method at hand has not tried. */
static void advise_method(note_list *list, const svmp_verdict *v) {
    const method *of = svmp_verdict_method(v);
    if (of == NULL) {
        use_method(list, 0, SVMP_NOTE_COMPARE, &svmp_method_nuts);
    } else if (is_reference(of)) {
        other_starts(list, v, 0);
    } else if (of->nonconvergence && v->iterations > 0 && v->iterations < of->iterations / 10) { /* too few to settle */
        run_longer(list, 0, of->iterations);
    } else if (of->nonconvergence && *v->jumping) {
        advise_jumps(list, v);
    } else if (of->nonconvergence) {
        use_method(list, FIRST, SVMP_NOTE_USE, &svmp_method_nuts);
        if (v->nested) svmp_note_advise(list, FIRST, SVMP_NOTE_NON_CENTRED, NULL, NULL);
    } else {
        advise_others(list, v, of);
    }
}

static void advise_diverged(note_list *list, const svmp_verdict *v) {
    const method *of = svmp_verdict_method(v);
    if (of == NULL || of->step == NULL) {
        advise_method(list, v);
        return;
    }
    svmp_note_advise(list, FIRST, SVMP_NOTE_SMALLER_STEPS, "step", NULL);
    use_method(list, FIRST, SVMP_NOTE_USE, &svmp_method_transport);
}

/* As many draws as bring the error of the worst number down to what is known well enough. */
static void advise_more_draws(note_list *list, const svmp_verdict *v) {
    enum { MOST = 100000 }; /* as many as the limit on iterations allows */
    const double times = v->veto_amount / svmp_uncertain_error;
    const double wanted = 1.2 * times * times * (double)(v->answered ? v->answered : 1000),
                 unit = pow(10, floor(log10(wanted)));
    char value[24];
    snprintf(value, sizeof value, "%.0f", unit * ceil(wanted / unit));
    if (svmp_verdict_method(v) == &svmp_method_transport && wanted <= MOST)
        svmp_note_advise(list, FIRST, SVMP_NOTE_MORE_DRAWS, "draws", value);
    else if (has_draws(svmp_verdict_method(v)))
        svmp_note_advise(list, FIRST, SVMP_NOTE_MORE_DRAWS, "draws", NULL);
    svmp_note_advise(list, FIRST, SVMP_NOTE_USE_QUANTILES, NULL, NULL);
}

static void advise_veto(note_list *list, const svmp_verdict *v) {
    switch (v->veto) {
    case SVMP_NOTE_FEW_PARTICLES: svmp_note_advise(list, 0, SVMP_NOTE_MORE_PARTICLES, "particles", "100"); return;
    case SVMP_NOTE_INTERRUPTED: svmp_note_advise(list, 0, SVMP_NOTE_FINISH, NULL, NULL); return;
    case SVMP_NOTE_NOT_FINITE: name(svmp_note_add(list, SVMP_NOTE_GIVE_PRIOR_OR_PARENTS), v->veto_name); return;
    case SVMP_NOTE_SUM_TRUNCATED: svmp_note_add(list, SVMP_NOTE_TRUNCATE_LATER)->amount = 3 * v->veto_amount; return;
    case SVMP_NOTE_R_HAT:
    case SVMP_NOTE_FEW_DRAWS:
    case SVMP_NOTE_DIVERGENT:
    case SVMP_NOTE_LOW_ENERGY: advise_chains(list, v); return;
    case SVMP_NOTE_DIVERGED: advise_diverged(list, v); return;
    case SVMP_NOTE_UNMOVED: svmp_note_advise(list, 0, SVMP_NOTE_ITERATE, "iterations", NULL); return;
    case SVMP_NOTE_CHAIN_UNMOVED:
        use_method(list, FIRST, SVMP_NOTE_USE, &svmp_method_transport);
        svmp_note_advise(list, FIRST, SVMP_NOTE_START_GAUSSIAN, "init", "gaussian");
        return;
    case SVMP_NOTE_DISCREPANCY:
    case SVMP_NOTE_LARGE_STEP: advise_method(list, v); return;
    case SVMP_NOTE_HEAVY_TAILS: svmp_note_advise(list, 0, SVMP_NOTE_USE_QUANTILES, NULL, NULL); return;
    case SVMP_NOTE_UNCERTAIN_MEAN:
    case SVMP_NOTE_UNCERTAIN_SD: advise_more_draws(list, v); return;
    default:
        if (svmp_veto_is_unsettled(v->veto)) advise_unsettled(list, v);
    }
}

/* Whether it may be the model that has to be mended, before any method can be right. */
static void advise_priors(note_list *list, const svmp_verdict *v) {
    const int wrong = v->finding == SVMP_FINDING_FAILED || v->veto == SVMP_NOTE_DIVERGED ||
                      (v->veto >= SVMP_NOTE_DISCREPANCY && v->veto != SVMP_NOTE_FEW_PARTICLES);
    if (!wrong || !*v->flat) return;
    svmp_note *note = svmp_note_add(list, SVMP_NOTE_CHECK_PRIORS);
    name(note, v->flat);
    note->count = strchr(v->flat, ',') ? 2 : 1;
}

/* One piece of advice for what the result says. Whatever else is wrong, an improper posterior has to be mended first.
 */
void svmp_verdict_advise(const svmp_verdict *v, note_list *list) {
    const int failed = v->finding == SVMP_FINDING_FAILED;
    if (svmp_verdict_is_endless(v) && !v->proper) {
        name(svmp_note_add(list, strchr(v->improper_direction, ' ') ? SVMP_NOTE_GIVE_PRIORS : SVMP_NOTE_GIVE_PRIOR),
             v->improper_direction);
        return;
    }
    advise_priors(list, v);
    const int undecided = v->finding == SVMP_FINDING_UNDECIDED && v->unexamined == SVMP_UNEXAMINED_NONE;
    if ((failed && v->drifts && v->drift[0].aspect == SVMP_ASPECT_ELSEWHERE) || (undecided && v->guessed > 0))
        advise_modes(list, v);
    else if (failed && (svmp_veto_is_unsettled(v->veto) || v->veto == SVMP_NOTE_FEW_PARTICLES))
        advise_veto(list, v); /* there is something to do before all else */
    else if (failed)
        advise_method(list, v);
    else if (v->veto != SVMP_NOTE_NONE)
        advise_veto(list, v);
    else if (undecided)
        advise_mixing(list, v);
}
