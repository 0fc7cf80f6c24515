/* The sentences of all notes: what verdicts say and advise, and the advice of errors and warnings. Which of them a
 * verdict gives is decided in verify/verdict_notes.c and verify/verdict_advice.c. */
#include "base/notes.h"

/* In braces: a field, {name}; a number with a format, {amount:g2} as by %.2g, {amount:f0} as by %.0f, and {amount:p0}
 * in percent; a choice, {count?one|several}, {limit?none|some}, {amount<negative|positive}; the option as the user
 * writes it, {option}; and what several sentences share: see `write_word`. */
static const char *const sentences[] = {
    [SVMP_NOTE_PASSED] = "Passed",
    [SVMP_NOTE_FAILED] = "Failed: the particles change under exact moves",
    [SVMP_NOTE_DRAWS_FAILED] = "Failed: the draws change under exact moves",
    [SVMP_NOTE_SLOW] = "No verdict: exact moves found nothing wrong, but {slow} mix{several?es|} too slowly to tell "
                       "({amount:f0} moves)",
    [SVMP_NOTE_SLOW_TIME] = "No verdict: exact moves found nothing wrong, but {slow} had not mixed after {amount:f0} "
                            "moves, when the time limit was reached",
    [SVMP_NOTE_SLOW_INTERRUPTED] = "No verdict: exact moves found nothing wrong, but {slow} had not mixed after "
                                   "{amount:f0} moves, when the examination was interrupted",
    [SVMP_NOTE_NOT_EXAMINED] = "Not examined: convergence is unknown",
    [SVMP_NOTE_NOT_EXAMINED_TIME] = "Not examined, because there was not enough time: convergence is unknown",
    [SVMP_NOTE_NOT_EXAMINED_BOXES] = "Not examined, because exact moves do not support boxes: convergence is unknown",
    [SVMP_NOTE_NOT_EXAMINED_ERROR] = "Not examined, because the exact moves failed: convergence is unknown",
    [SVMP_NOTE_NOT_EXAMINED_INTERRUPTED] = "Not examined, because the examination was interrupted: convergence is "
                                           "unknown",
    [SVMP_NOTE_MODE_GUESSED] = "No verdict: exact moves found nothing wrong, but {count?a mode|{count} modes} without "
                               "particles may have any mass ({name})",

    [SVMP_NOTE_DIVERGED] = "Failed: the run diverged; these are its last finite particles",
    [SVMP_NOTE_INTERRUPTED] = "Not converged: the run was interrupted",
    [SVMP_NOTE_UNMOVED] = "Not converged: the particles have not moved from the start",
    [SVMP_NOTE_CHAIN_UNMOVED] = "Not converged: {name} never moved in {count} of {total} chain{total?|s}",
    [SVMP_NOTE_DISCREPANCY] = "Not converged: {count} of {total} node{total?|s} {count?is|are} farther from the "
                              "posterior than exact draws would be (worst: {name}){limit?|, and the other nodes depend "
                              "on {count?it|them}}",
    [SVMP_NOTE_LARGE_STEP] = "Not converged: the last step was still {amount:g2} sd ({name})",
    [SVMP_NOTE_NOT_SETTLED] = "Not converged: after {iterations} the averages have not settled",
    [SVMP_NOTE_AVERAGE_ERROR] = "Not converged: after {iterations} averages have standard errors above 0.05 sd: "
                                "{worst} ({amount:g2} sd)",
    [SVMP_NOTE_AVERAGE_DRIFT] = "Not converged: after {iterations} averages still drift: {worst} (mean by {amount:g2} "
                                "sd)",
    [SVMP_NOTE_IDENTITY] = "Not converged: after {iterations} averages still violate Stein's identities: {worst} "
                           "({amount:g2} sd)",
    [SVMP_NOTE_NOT_MIXED] = "Not converged: after {iterations} the particles have not mixed: {worst} ({amount:p0} of "
                            "the variance is between particles that do not mix)",
    [SVMP_NOTE_FEW_PARTICLES] = "Fewer than {limit:f0} particles: too few to judge convergence",
    [SVMP_NOTE_R_HAT] = "Not converged: the chains have not mixed: {worst} (R-hat {r_hat})",
    [SVMP_NOTE_R_HAT_OF_ONE] = "Not converged: the chain has not settled: {worst} (R-hat {r_hat})",
    [SVMP_NOTE_FEW_DRAWS] = "Not converged: there are too few effective draws: {worst} ({amount:f0})",
    [SVMP_NOTE_DIVERGENT] = "Not converged: {count} trajector{count?y|ies} diverged, so the draws may miss a narrow "
                            "part of the posterior",
    [SVMP_NOTE_LOW_ENERGY] = "Not converged: E-BFMI is {amount:g2} in chain {count}, which explores the tails slowly",
    [SVMP_NOTE_NOT_FINITE] = "Not converged: {name} has values or scores that are not finite. The posterior may be "
                             "improper",
    [SVMP_NOTE_SUM_TRUNCATED] =
        "Not the model's posterior: the sum over {name} was truncated at {amount:f0}, where its "
        "probability is not negligible",
    [SVMP_NOTE_UNCERTAIN_MEAN] = "Uncertain: the mean of {worst} has a standard error of {amount:g2} sd",
    [SVMP_NOTE_UNCERTAIN_SD] = "Uncertain: the sd of {worst} has a standard error of {amount:p0}",
    [SVMP_NOTE_HEAVY_TAILS] =
        "Uncertain: the tails of {worst} are too heavy for a mean and an sd (Pareto shape {amount:f2})",

    [SVMP_NOTE_MEAN_DIFFERS] = "{name} (mean {size:g2} sd too {amount<low|high})",
    [SVMP_NOTE_SD_DIFFERS] = "{name} (sd {size:p0} too {amount<small|large})",
    [SVMP_NOTE_SD_MULTIPLE] = "{name} (sd {amount:g2} times too large)",
    [SVMP_NOTE_MEDIAN_DIFFERS] = "{name} (median {size:g2} sd too {amount<low|high})",
    [SVMP_NOTE_TAILS_DIFFER] = "{name} (tails too {amount<light|heavy})",
    [SVMP_NOTE_SCORE_DIFFERS] = "{name} (too {amount<close to|far from} its mode given its neighbours)",
    [SVMP_NOTE_DENSITY_DIFFERS] = "the log density (too {amount<low: too wide or displaced|high: too narrow})",
    [SVMP_NOTE_DENSITY_ELSEWHERE] = "{name} (a mode with {limit:p0} of the mass is {size:g2} sd away, where there are "
                                    "too few particles)",
    [SVMP_NOTE_QUANTILE_DIFFERS] = "{name} ({limit:p0} quantile {size:g2} sd too {amount<low|high})",
    [SVMP_NOTE_CORRELATION_DIFFERS] = "{name} (correlation {amount:f2}, should be {limit:f2})",
    [SVMP_NOTE_CORRELATIONS_DIFFER] = "correlations of {name} ({size:p0} too {amount<small|large})",
    [SVMP_NOTE_MORE_VARIABLES] = "{count} more of {total} variables",
    [SVMP_NOTE_MIXED] = "R-hat is at most {amount:f3} and there are at least {limit:f0} effective draws",
    [SVMP_NOTE_UNCHANGED] = "no mean, sd, quantile or score changed {amount?significantly|substantially} after {count} "
                            "exact {limit?|local }moves of each particle ({total} variable{total?|s})",
    [SVMP_NOTE_DRAWS_UNCHANGED] = "no mean, sd, quantile or score changed {amount?significantly|substantially} after "
                                  "{count} exact {limit?|local }moves of a sample of the draws ({total} "
                                  "variable{total?|s})",

    [SVMP_NOTE_DO_NOT_USE] = "Do not use these numbers",
    [SVMP_NOTE_DO_NOT_USE_YET] = "Do not use these numbers yet",
    [SVMP_NOTE_SMALL_CHANGES] = "{count} variable{count?|s} changed significantly, but by less than 0.2 sd and 20 %",
    [SVMP_NOTE_DISCREPANCY_CONFIRMED] = "The discrepancy of {count} of {total} node{total?|s} exceeds its limit, but "
                                        "the exact moves confirm no error",
    [SVMP_NOTE_NOT_SEARCHED] = "Other modes were not searched for",
    [SVMP_NOTE_DRAWS_NOT_EXAMINED] = "The draws were not examined, and other modes were not searched for",
    [SVMP_NOTE_ONE_CHAIN] = "Several chains would be a stronger test",
    [SVMP_NOTE_LEAVES] = "{count} variable{count?|s} drawn after the run {count?was|were} not examined",
    [SVMP_NOTE_IMPROPER] = "The density does not decrease along {name}: the posterior is improper, or nearly so",
    [SVMP_NOTE_VERY_WIDE] = "The density hardly changes along {name}: the posterior is far away, or very wide",
    [SVMP_NOTE_MODES_POSSIBLE] = "The posterior may have several modes",
    [SVMP_NOTE_MODES_IF_HIGH] = "If R-hat stays high, the posterior may have several modes",
    [SVMP_NOTE_SEVERAL_MODES] = "The posterior has several modes",
    [SVMP_NOTE_MODE] = "{name} near {limit:g3} ({amount:p0} of the mass, +- {error})",
    [SVMP_NOTE_MORE_MODES] = "{count} more ({amount:p0})",
    [SVMP_NOTE_MODES_ENDED] = "{total} starts in {amount:f0} ways ended in {count} modes; narrow ones may be missed",
    [SVMP_NOTE_REST_PASSED] = "All other means and sds passed",
    [SVMP_NOTE_IN_A_GAP] = "A quantile of {worst} lies between modes, where any value is as good",
    [SVMP_NOTE_NEVER_VARIES] = "{worst} never {count?varies|vary} in {amount:f0} draws",
    [SVMP_NOTE_COLLINEAR] = "{name} are nearly collinear",
    [SVMP_NOTE_DENSITY_JUMPS] = "The density jumps in {name}, which gradients do not see",
    [SVMP_NOTE_MANY_TERMS] =
        "The sums over discrete unknowns have {count} terms: a run takes minutes, and less with a method "
        "that evaluates them less often",

    [SVMP_NOTE_USE_QUANTILES] = "use the median and the interval",
    [SVMP_NOTE_GIVE_PRIOR] = "give {name} a proper prior",
    [SVMP_NOTE_GIVE_PRIORS] = "give every unknown in this direction a proper prior",
    [SVMP_NOTE_GIVE_PRIOR_OR_PARENTS] = "give {name}, or the unknowns it depends on, a proper prior",
    [SVMP_NOTE_CHECK_PRIORS] = "make sure that the posterior is proper: {name} {count?has|have} no proper prior",
    [SVMP_NOTE_ONE_MODE] = "constrain the model to one of them (order exchangeable parameters, or fix a sign)",
    [SVMP_NOTE_SEPARATING_PRIOR] = "use a prior that separates them",
    [SVMP_NOTE_SCALE_PREDICTORS] = "centre and scale the predictors",
    [SVMP_NOTE_OTHER_UNKNOWNS] = "write the model in other unknowns",
    [SVMP_NOTE_NON_CENTRED] = "use a non-centred parametrisation{brackets}",
    [SVMP_NOTE_DISCRETE_CHANGE_POINT] = "make a change point discrete, so that it is summed out (docs/jags.md, "
                                        "\"Change points\")",
    [SVMP_NOTE_OTHER_PRIORS] = "give the model other priors",
    [SVMP_NOTE_LIGHTER_TAILS] = "give the model lighter tails",
    [SVMP_NOTE_SHORTER_SUMS] = "make them shorter, with fewer sites or times, or with bounds T(,)",
    [SVMP_NOTE_TRUNCATE_LATER] = "truncate it in the model at a larger value, such as T(, {amount:f0})",

    [SVMP_NOTE_USE] = "use {option}",
    [SVMP_NOTE_COMPARE] = "compare with {option}",
    [SVMP_NOTE_RUN_LONGER] = "run longer{brackets}",
    [SVMP_NOTE_WARM_UP] = "warm up longer{brackets}",
    [SVMP_NOTE_MORE_DRAWS] = "run more draws{brackets}",
    [SVMP_NOTE_MORE_PARTICLES] = "use more particles{brackets}",
    [SVMP_NOTE_SMALLER_STEPS] = "take smaller steps{brackets}",
    [SVMP_NOTE_FALLING_STEPS] = "let the steps shrink{brackets}",
    [SVMP_NOTE_OTHER_STARTS] = "run from other starts{brackets} and compare",
    [SVMP_NOTE_START_GAUSSIAN] = "start from a Gaussian fit{brackets}",
    [SVMP_NOTE_ITERATE] = "use at least one iteration{brackets}",
    [SVMP_NOTE_FINISH] = "let the run finish",
    [SVMP_NOTE_TRY_ANOTHER] = "try another {option}",
    [SVMP_NOTE_LOWER] = "use a smaller {option}",
    [SVMP_NOTE_RAISE] = "use a larger {option}",
    [SVMP_NOTE_START_FROM] = "start from its particles{brackets}",
    [SVMP_NOTE_WRITE_PARTICLES] = "write its particles where it ran{brackets}",
    [SVMP_NOTE_WRITE_START] = "write the start to a file in one process{brackets}",
    [SVMP_NOTE_CONTINUE] = "continue from it{brackets}",
    [SVMP_NOTE_OTHER_SEEDS] = "run each chain with a seed of its own{brackets}",
    [SVMP_NOTE_PROVIDE_START] = "provide such a point{brackets}",
    [SVMP_NOTE_START_NEW] = "start a new run from its particles{brackets}",
    [SVMP_NOTE_CONTINUE_WITH] = "continue with {option}",
    [SVMP_NOTE_WITH] = "with {option}",
    [SVMP_NOTE_FEWER_PARTICLES] = "use fewer particles{brackets}",
    [SVMP_NOTE_CLOSER_START] = "start closer to the posterior{brackets}",
};

const char *svmp_note_sentence(svmp_code code) {
    return (size_t)code < sizeof sentences / sizeof *sentences ? sentences[code] : NULL;
}
