/* The words of a verdict. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "verify/verdict_inside.h"

/* Text that is added to, and cut off where the room ends. */
typedef struct words {
    char *text;
    size_t size, used;
} words;

__attribute__((format(printf, 2, 3))) static void say(words *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(w->text + w->used, w->size - w->used, format, arguments);
    va_end(arguments);
    if (length > 0) w->used += (size_t)length < w->size - w->used ? (size_t)length : w->size - w->used - 1;
}

static const char *plural(size_t count) { return count == 1 ? "" : "s"; }

/* "tau (sd 40 % too small)" */
static void say_drift(words *w, const svmp_drift *d) {
    const double size = fabs(d->effect);
    const int up = d->effect > 0;
    switch (d->aspect) {
    case SVMP_ASPECT_MEAN: say(w, "%s (mean %.2g sd too %s)", d->name, size, up ? "high" : "low"); return;
    case SVMP_ASPECT_MEDIAN: say(w, "%s (median %.2g sd too %s)", d->name, size, up ? "high" : "low"); return;
    case SVMP_ASPECT_SPREAD:
        if (up && size > 1)
            say(w, "%s (sd %.2g times too large)", d->name, 1 + size);
        else
            say(w, "%s (sd %.0f %% too %s)", d->name, 100 * size, up ? "large" : "small");
        return;
    case SVMP_ASPECT_TAILS: say(w, "%s (tails too %s)", d->name, up ? "heavy" : "light"); return;
    case SVMP_ASPECT_SCORES:
        say(w, "%s (%s given its neighbours)", d->name, up ? "too far from its mode" : "too close to its mode");
        return;
    case SVMP_ASPECT_ELSEWHERE:
        say(w, "%s (the density is equally high %.2g sd away, where there are no particles)", d->name, size);
        return;
    case SVMP_ASPECT_SHAPE:
        say(w, "%s (%.0f %% quantile %.2g sd too %s)", d->name, 100 * d->level, size, up ? "high" : "low");
        return;
    case SVMP_ASPECT_CORRELATION:
        if (isnan(d->level))
            say(w, "correlations of %s (%.0f %% too %s)", d->name, 100 * size, up ? "large" : "small");
        else
            say(w, "%s (correlation %.2f, should be %.2f)", d->name, d->level + d->effect, d->level);
        return;
    case SVMP_ASPECT_LOG_DENSITY:
        say(w, "the log density (too %s)", up ? "high: too narrow" : "low: too wide or displaced");
        return;
    }
}

/* Whether another with its name comes before it: variables do, then larger ones. */
static int is_repeated(const svmp_verdict *v, size_t k) {
    const int all = v->drift[k].variable == SIZE_MAX;
    for (size_t j = 0; j < v->drifts; j++) {
        const int before = (v->drift[j].variable == SIZE_MAX) == all ? j < k : all;
        if (before && strcmp(v->drift[j].name, v->drift[k].name) == 0) return 1;
    }
    return 0;
}

/* The worst variables, each once; sums and the log density of all come last, where there is room. */
static void say_drifts(words *w, const svmp_verdict *v) {
    enum { NAMED = 3 };
    size_t named = 0, variables = 0;
    for (int all = 0; all < 2; all++)
        for (size_t k = 0; k < v->drifts && named < NAMED; k++) {
            if ((v->drift[k].variable == SIZE_MAX) != all || is_repeated(v, k)) continue;
            say(w, "%s", named++ ? ", " : "");
            say_drift(w, &v->drift[k]);
            variables += !all;
        }
    if (v->drifting > variables) say(w, " and %zu more of %zu variables", v->drifting - variables, v->variables);
}

static const char *why_not(const svmp_verdict *v) {
    switch (v->unexamined) {
    case SVMP_UNEXAMINED_TIME: return ", because there was not enough time";
    case SVMP_UNEXAMINED_BOXES: return ", because exact moves do not support boxes";
    case SVMP_UNEXAMINED_FAILED: return ", because the exact moves failed";
    case SVMP_UNEXAMINED_INTERRUPTED: return ", because the examination was interrupted";
    case SVMP_UNEXAMINED_NONE:
    case SVMP_UNEXAMINED_UNASKED: return "";
    }
    return "";
}

/* "(4 variables)", "(4 variables; 6 variables drawn after the run were not examined)" */
static void say_count(words *w, const svmp_verdict *v) {
    say(w, "(%zu variable%s", v->variables, plural(v->variables));
    if (v->leaves)
        say(w, "; %zu variable%s drawn after the run %s not examined", v->leaves, plural(v->leaves),
            v->leaves == 1 ? "was" : "were");
    say(w, ")");
}

static void say_passed(words *w, const svmp_verdict *v) {
    say(w, "Passed: ");
    if (v->chains)
        say(w, "R-hat is at most %.3f and there are at least %.0f effective draws%s", v->r_hat, v->draws,
            v->moves ? "; " : " ");
    if (v->moves)
        say(w, "no mean, sd, quantile or score changed %s after %zu exact %smoves of %s ",
            v->small ? "substantially" : "significantly", v->moves, v->local ? "local " : "",
            v->chains ? "a sample of the draws" : "each particle");
    say_count(w, v);
    say(w, ".");
    if (v->small)
        say(w, " %zu variable%s changed significantly, but by less than 0.2 sd and 20 %%.", v->small, plural(v->small));
    if (v->beyond)
        say(w, " The discrepancy of %zu of %zu node%s exceeds its limit, but the exact moves confirm no error.",
            v->beyond, v->nodes, plural(v->nodes));
    if (v->chains && v->moves == 0)
        say(w, " The draws were not examined, and other modes were not searched for.");
    else if (!v->searched)
        say(w, " Other modes were not searched for.");
    if (v->chains == 1) say(w, " Several chains would be a stronger test.");
}

static void say_undecided(words *w, const svmp_verdict *v) {
    say(w, "No verdict: exact moves found nothing wrong, but ");
    if (v->unmixed)
        say(w, "%zu of %zu variable%s (slowest: %s)", v->unmixed, v->variables, plural(v->variables), v->slowest_name);
    else
        say(w, "%s", v->slowest_name);
    if (v->unexamined == SVMP_UNEXAMINED_NONE)
        say(w, " mix%s too slowly to tell (%zu moves).", v->unmixed > 1 ? "" : "es", v->moves);
    else
        say(w, " had not mixed after %zu moves, when %s.", v->moves,
            v->unexamined == SVMP_UNEXAMINED_INTERRUPTED ? "the examination was interrupted"
                                                         : "the time limit was reached");
}

static void say_examined(words *w, const svmp_verdict *v) {
    switch (v->finding) {
    case SVMP_FINDING_FAILED:
        say(w, "Failed: the %s change under exact moves: ", v->chains ? "draws" : "particles");
        say_drifts(w, v);
        say(w, ". Do not use these numbers yet.");
        return;
    case SVMP_FINDING_UNDECIDED: say_undecided(w, v); return;
    case SVMP_FINDING_PASSED: say_passed(w, v); return;
    case SVMP_FINDING_NOT_EXAMINED: say(w, "Not examined%s: convergence is unknown.", why_not(v)); return;
    }
}

/* "tau and 3 more of 22 variables"; columns of chains may be more than there are variables */
static void say_worst(words *w, const svmp_verdict *v) {
    say(w, "%s", v->veto_name);
    if (v->veto_count > 1) say(w, " and %zu more", v->veto_count - 1);
    if (v->veto_count > 1 && !v->chains) say(w, " of %zu variables", v->variables + v->leaves);
}

static void say_unsettled(words *w, const svmp_verdict *v) {
    const double size = v->veto_amount;
    say(w, "Not converged: after %zu iterations ", v->iterations);
    switch (v->unrest) {
    case SVMP_UNREST_NONE: say(w, "the averages have not settled."); return;
    case SVMP_UNREST_ERROR:
        say(w, "averages have standard errors above 0.05 sd: ");
        say_worst(w, v);
        say(w, " (%.2g sd).", size);
        return;
    case SVMP_UNREST_DRIFT:
        say(w, "averages still drift: ");
        say_worst(w, v);
        say(w, " (mean by %.2g sd).", size);
        return;
    case SVMP_UNREST_IDENTITY:
        say(w, "averages still violate Stein's identities: ");
        say_worst(w, v);
        say(w, " (%.2g sd).", size);
        return;
    case SVMP_UNREST_APART:
        say(w, "the particles have not mixed: ");
        say_worst(w, v);
        say(w, " (%.0f %% of the variance is between particles that do not mix).", 100 * size);
        return;
    }
}

static void say_chains(words *w, const svmp_verdict *v) {
    const double size = v->veto_amount;
    say(w, "Not converged: ");
    switch (v->veto) {
    case SVMP_VETO_R_HAT:
        say(w, "the chain%s not %s: ", v->chains == 1 ? " has" : "s have", v->chains == 1 ? "settled" : "mixed");
        say_worst(w, v);
        say(w, size < 1.02 ? " (R-hat %.4f)." : size < 100 ? " (R-hat %.3f)." : " (R-hat %.3g).", size);
        return;
    case SVMP_VETO_DRAWS:
        say(w, "there are too few effective draws: ");
        say_worst(w, v);
        say(w, " (%.0f).", size > 0 ? size : 0); /* not -0 */
        return;
    case SVMP_VETO_DIVERGENT:
        say(w, "%zu trajector%s diverged, so the draws may miss a narrow part of the posterior.", v->veto_count,
            v->veto_count == 1 ? "y" : "ies");
        return;
    default: say(w, "E-BFMI is %.2g in chain %zu, which explores the tails slowly.", size, v->veto_count); return;
    }
}

static void say_veto(words *w, const svmp_verdict *v) {
    const size_t count = v->veto_amount >= 0 && v->veto_amount < 1e15 ? (size_t)v->veto_amount : 0;
    switch (v->veto) {
    case SVMP_VETO_NONE: return;
    case SVMP_VETO_DIVERGED: say(w, "Failed: the run diverged; these are its last finite particles."); return;
    case SVMP_VETO_INTERRUPTED: say(w, "Not converged: the run was interrupted."); return;
    case SVMP_VETO_UNMOVED:
        if (v->chains)
            say(w, "Not converged: %s never moved in %zu of %zu chain%s. Do not use these numbers.", v->veto_name,
                count, v->chains, plural(v->chains));
        else
            say(w, "Not converged: the particles have not moved from the start.");
        return;
    case SVMP_VETO_DISCREPANCY:
        say(w, "Not converged: %zu of %zu node%s %s farther from the posterior than exact draws would be (worst: %s)",
            count, v->nodes, plural(v->nodes), count == 1 ? "is" : "are", v->veto_name);
        if (v->nodes > count) say(w, ", and the other nodes depend on %s", count == 1 ? "it" : "them");
        say(w, ". Do not use these numbers yet.");
        return;
    case SVMP_VETO_STEP:
        say(w, "Not converged: the last step was still %.2g sd (%s).", v->veto_amount, v->veto_name);
        return;
    case SVMP_VETO_UNSETTLED: say_unsettled(w, v); return;
    case SVMP_VETO_FEW: say(w, "Fewer than %zu particles: too few to judge convergence.", count); return;
    case SVMP_VETO_INFINITE:
        say(w,
            "Not converged: %s has values or scores that are not finite. The posterior may be improper. Do not use "
            "these numbers.",
            v->veto_name);
        return;
    case SVMP_VETO_CUT_OFF:
        say(w,
            "Not the model's posterior: the sum over %s was truncated at %.0f, where its probability is not "
            "negligible. Do not use these numbers.",
            v->veto_name, v->veto_amount);
        return;
    case SVMP_VETO_R_HAT:
    case SVMP_VETO_DRAWS:
    case SVMP_VETO_DIVERGENT:
    case SVMP_VETO_ENERGY: say_chains(w, v); return;
    }
}

/* Nothing was found wrong with what is clear. */
static int is_improper(const svmp_verdict *v) { return *v->improper_direction && !svmp_verdict_is_clear(v); }

/* What was seen to be wrong comes first, with names and directions; then what withholds the all-clear. */
const char *svmp_verdict_sentence(const svmp_verdict *verdict, char *buffer, size_t size) {
    words w = {.text = buffer, .size = size};
    if (buffer == NULL || size == 0) return "";
    *buffer = '\0';
    if (verdict == NULL) return buffer;
    if (verdict->finding == SVMP_FINDING_FAILED || verdict->veto == SVMP_VETO_NONE)
        say_examined(&w, verdict);
    else
        say_veto(&w, verdict);
    if (is_improper(verdict) && verdict->proper)
        say(&w, " The density hardly changes along %s: the posterior is far away, or very wide.",
            verdict->improper_direction);
    else if (is_improper(verdict))
        say(&w, " The density does not decrease along %s: the posterior is improper, or nearly so.",
            verdict->improper_direction);
    return buffer;
}

/* ---- advice ------------------------------------------------------------------------------------------------------ */

const method *svmp_verdict_method(const svmp_verdict *v) {
    for (size_t k = 0; svmp_method_at(k); k++)
        if (strcmp(svmp_method_name(k), v->method) == 0) return svmp_method_at(k);
    return NULL;
}

/* Whole chains, with --warmup and --draws; draws from elsewhere are taken for such. */
static int has_draws(const method *of) { return of == NULL || (of->yield == SVMP_YIELD_CHAINS && !of->sweeps); }

static int is_reference(const method *of) { return of && of->yield == SVMP_YIELD_CHAINS && !of->sweeps; }

/* How many iterations to advise: those that the method has by default, or four times as many as there were. */
static size_t longer(const svmp_verdict *v) {
    const method *of = svmp_verdict_method(v);
    const size_t usual = of && of->iterations ? of->iterations : METHOD_ITERATIONS;
    return of && v->iterations < usual / 4 ? usual : 4 * v->iterations;
}

static void advise_modes(words *w) {
    say(w, "The posterior has several modes: constrain the model to one of them (order exchangeable parameters, or fix "
           "a sign), or run from other starts (--init prior, --seed) and compare.");
}

/* Particles that do not mix: along a direction that no move follows, or in modes of their own. */
static void advise_mixing(words *w, const svmp_verdict *v) {
    const method *of = svmp_verdict_method(v);
    const int as_written = of && !of->nonconvergence && of->yield != SVMP_YIELD_CHAINS; /* by default */
    if (*v->ridge)
        say(w, "%s are nearly collinear: centre and scale the predictors, or write the model in other unknowns.",
            v->ridge);
    else if (v->nested)
        say(w, "The posterior may have several modes, or the model may need a non-centred parametrisation%s.",
            as_written ? " (--coordinates auto)" : "");
    else
        say(w, "The posterior may have several modes: constrain the model to one of them (order exchangeable "
               "parameters, or fix a sign), or use a prior that separates them.");
    if (!is_reference(of)) say(w, " Compare with -m %s.", svmp_method_nuts.name);
}

static void advise_warmup(words *w) {
    say(w, "Warm up longer (--warmup %d): the steps had no time to adapt.", METHOD_WARMUP);
}

static void advise_r_hat(words *w, const svmp_verdict *v) {
    if (!has_draws(svmp_verdict_method(v))) {
        say(w, "Use -m %s, or run longer (-t %zu).", svmp_method_transport.name, longer(v));
        return;
    }
    say(w,
        "Run more warm-up and draws (--warmup, --draws), or compare with -m %s; if R-hat stays high, the posterior may "
        "have several modes",
        svmp_method_transport.name);
    if (v->nested)
        say(w,
            ", or the model may need a non-centred parametrisation (--coordinates auto, or written out in the model)");
    say(w, ".");
}

/* Gradients are the last thing to advise. */
static void advise_jumps(words *w, const svmp_verdict *v) {
    say(w, "The density jumps in %s, which gradients do not see: ", v->jumping);
    if (is_reference(svmp_verdict_method(v)))
        say(w, "use -m %s", svmp_method_transport.name);
    else
        say(w, "run longer (-t %zu)", longer(v));
    say(w, ", or make a change point discrete, so that it is summed out (docs/jags.md, \"Change points\").");
}

/* Steps that are not yet small can be smaller. */
static void advise_divergent(words *w, const svmp_verdict *v) {
    const char *other = v->nested ? "use a non-centred parametrisation" : NULL;
    if (v->accept < 0.985)
        say(w, "Take smaller steps (--accept %s0.99), or %s%s.", v->accept < 0.945 ? "0.95 or " : "",
            other ? other : "compare with -m ", other ? "" : svmp_method_transport.name);
    else
        say(w, "Use -m %s, or give the model other priors%s.", svmp_method_transport.name,
            other ? " or a non-centred parametrisation" : "");
}

static void advise_chains(words *w, const svmp_verdict *v) {
    if (*v->jumping && v->veto != SVMP_VETO_ENERGY && is_reference(svmp_verdict_method(v))) {
        advise_jumps(w, v);
        return;
    }
    if (v->brief && v->veto != SVMP_VETO_DRAWS) {
        advise_warmup(w);
        return;
    }
    switch (v->veto) {
    case SVMP_VETO_R_HAT: advise_r_hat(w, v); return;
    case SVMP_VETO_DRAWS:
        if (has_draws(svmp_verdict_method(v)))
            say(w, "Run more draws (--draws).");
        else
            say(w, "Run longer (-t %zu).", longer(v));
        return;
    case SVMP_VETO_DIVERGENT: advise_divergent(w, v); return;
    default: say(w, "Run more draws (--draws), or give the model lighter tails."); return;
    }
}

static void advise_unsettled(words *w, const svmp_verdict *v) {
    const method *of = svmp_verdict_method(v);
    if (v->unrest == SVMP_UNREST_APART && *v->flat) return; /* the priors come first */
    if (v->unrest == SVMP_UNREST_APART)
        advise_mixing(w, v);
    else if (*v->jumping)
        advise_jumps(w, v);
    else if (of && v->iterations > of->iterations / 2)
        say(w, "Use -m %s, or run longer (-t %zu).", svmp_method_nuts.name, longer(v));
    else
        say(w, "Run longer (-t %zu).", longer(v));
}

/* What the method at hand has not tried. */
static void advise_method(words *w, const svmp_verdict *v) {
    const method *of = svmp_verdict_method(v);
    const int fitted = strncmp(v->init, "gaussian", strlen("gaussian")) == 0;
    const char *reference = svmp_method_nuts.name, *standard = svmp_method_transport.name;
    if (of == NULL)
        say(w, "Compare with -m %s.", reference);
    else if (is_reference(of))
        say(w, "Run from other starts (--init prior, --seed) and compare.");
    else if (of->nonconvergence && v->iterations > 0 && v->iterations < of->iterations / 10) /* too few to settle */
        say(w, "Run longer (-t %zu).", of->iterations);
    else if (of->nonconvergence && *v->jumping)
        advise_jumps(w, v);
    else if (of->nonconvergence)
        say(w, "Use -m %s%s.", reference, v->nested ? "; or rewrite random effects in non-centred form" : "");
    else if (of->kernel)
        say(w, "Use -m %s%s; -m %s gives a reference.", standard,
            fitted ? "" : ", or start from a Gaussian fit with a falling rate (--init gaussian --step adam:0.1..0.004)",
            reference);
    else
        say(w, "Run longer (-t), or use -m %s%s; -m %s gives a reference.", standard,
            fitted ? "" : " or --init gaussian", reference);
}

static void advise_diverged(words *w, const svmp_verdict *v) {
    const method *of = svmp_verdict_method(v);
    if (of && of->step)
        say(w, "Take smaller steps (--step), or use -m %s.", svmp_method_transport.name);
    else
        advise_method(w, v);
}

static void advise_veto(words *w, const svmp_verdict *v) {
    switch (v->veto) {
    case SVMP_VETO_NONE: return;
    case SVMP_VETO_FEW: say(w, "Use more particles (-n 100)."); return;
    case SVMP_VETO_INTERRUPTED: say(w, "Let the run finish."); return;
    case SVMP_VETO_UNSETTLED: advise_unsettled(w, v); return;
    case SVMP_VETO_INFINITE: say(w, "Give %s, or the unknowns it depends on, a proper prior.", v->veto_name); return;
    case SVMP_VETO_CUT_OFF:
        say(w, "Truncate it in the model at a larger value, such as T(, %.0f).", 3 * v->veto_amount);
        return;
    case SVMP_VETO_R_HAT:
    case SVMP_VETO_DRAWS:
    case SVMP_VETO_DIVERGENT:
    case SVMP_VETO_ENERGY: advise_chains(w, v); return;
    case SVMP_VETO_DIVERGED: advise_diverged(w, v); return;
    case SVMP_VETO_UNMOVED:
        if (v->chains)
            say(w, "Use -m %s, or start from a Gaussian fit (--init gaussian).", svmp_method_transport.name);
        else
            say(w, "Use at least one iteration (-t).");
        return;
    case SVMP_VETO_DISCREPANCY:
    case SVMP_VETO_STEP: advise_method(w, v); return;
    }
}

/* Whether it may be the model that has to be mended, before any method can be right. */
static void advise_priors(words *w, const svmp_verdict *v) {
    const int wrong = v->finding == SVMP_FINDING_FAILED ||
                      (v->veto >= SVMP_VETO_DISCREPANCY && v->veto != SVMP_VETO_FEW) || v->veto == SVMP_VETO_DIVERGED;
    if (wrong && *v->flat)
        say(w, "Make sure that the posterior is proper: %s ha%s no proper prior. ", v->flat,
            strchr(v->flat, ',') ? "ve" : "s");
}

/* One piece of advice for what the sentence says. Whatever else is wrong, an improper posterior has to be mended first.
 */
const char *svmp_verdict_advice(const svmp_verdict *verdict, char *buffer, size_t size) {
    words w = {.text = buffer, .size = size};
    const svmp_verdict *v = verdict;
    if (buffer == NULL || size == 0) return "";
    *buffer = '\0';
    if (v == NULL) return buffer;
    const int failed = v->finding == SVMP_FINDING_FAILED;
    if (is_improper(v) && !v->proper) {
        say(&w, "Give %s a proper prior.",
            strchr(v->improper_direction, ' ') ? "every unknown in this direction" : v->improper_direction);
        return buffer;
    }
    advise_priors(&w, v);
    if (failed && v->drifts && v->drift[0].aspect == SVMP_ASPECT_ELSEWHERE)
        advise_modes(&w);
    else if (failed && (v->veto == SVMP_VETO_UNSETTLED || v->veto == SVMP_VETO_FEW))
        advise_veto(&w, v); /* there is something to do before all else */
    else if (failed)
        advise_method(&w, v);
    else if (v->veto != SVMP_VETO_NONE)
        advise_veto(&w, v);
    else if (v->finding == SVMP_FINDING_UNDECIDED && v->unexamined == SVMP_UNEXAMINED_NONE)
        advise_mixing(&w, v);
    return buffer;
}
