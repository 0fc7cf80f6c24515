/* Every note is a sentence; lists of notes, the spelling of options, errors with advice, notes in files. */
#include <string.h>

#include "base/attempt.h"
#include "base/notes.h"
#include "support.h"

/* A note about tau: 3 of 22, an amount and a limit. */
static const struct {
    svmp_code code;
    double amount, limit;
    const char *text;
} expected[] = {
    {SVMP_NOTE_PASSED, 0.3, 0, "Passed."},
    {SVMP_NOTE_FAILED, 0.3, 0, "Failed: the particles change under exact moves."},
    {SVMP_NOTE_DRAWS_FAILED, 0.3, 0, "Failed: the draws change under exact moves."},
    {SVMP_NOTE_SLOW, 80, 0,
     "No verdict: exact moves found nothing wrong, but 3 of 22 variables (slowest: tau) mix too slowly to tell (80 "
     "moves)."},
    {SVMP_NOTE_SLOW_TIME, 80, 0,
     "No verdict: exact moves found nothing wrong, but 3 of 22 variables (slowest: tau) had not mixed after 80 moves, "
     "when the time limit was reached."},
    {SVMP_NOTE_SLOW_INTERRUPTED, 80, 0,
     "No verdict: exact moves found nothing wrong, but 3 of 22 variables (slowest: tau) had not mixed after 80 moves, "
     "when the examination was interrupted."},
    {SVMP_NOTE_NOT_EXAMINED, 0.3, 0, "Not examined: convergence is unknown."},
    {SVMP_NOTE_NOT_EXAMINED_TIME, 0.3, 0, "Not examined, because there was not enough time: convergence is unknown."},
    {SVMP_NOTE_NOT_EXAMINED_BOXES, 0.3, 0,
     "Not examined, because exact moves do not support boxes: convergence is unknown."},
    {SVMP_NOTE_NOT_EXAMINED_ERROR, 0.3, 0, "Not examined, because the exact moves failed: convergence is unknown."},
    {SVMP_NOTE_NOT_EXAMINED_INTERRUPTED, 0.3, 0,
     "Not examined, because the examination was interrupted: convergence is unknown."},
    {SVMP_NOTE_MODE_GUESSED, 0.3, 0,
     "No verdict: exact moves found nothing wrong, but 3 modes without particles may have any mass (tau)."},
    {SVMP_NOTE_DIVERGED, 0.3, 0, "Failed: the run diverged; these are its last finite particles."},
    {SVMP_NOTE_INTERRUPTED, 0.3, 0, "Not converged: the run was interrupted."},
    {SVMP_NOTE_UNMOVED, 0.3, 0, "Not converged: the particles have not moved from the start."},
    {SVMP_NOTE_CHAIN_UNMOVED, 0.3, 0, "Not converged: tau never moved in 3 of 22 chains."},
    {SVMP_NOTE_DISCREPANCY, 3, 1,
     "Not converged: 3 of 22 nodes are farther from the posterior than exact draws would be (worst: tau), and the "
     "other nodes depend on them."},
    {SVMP_NOTE_LARGE_STEP, 0.3, 0, "Not converged: the last step was still 0.3 sd (tau)."},
    {SVMP_NOTE_NOT_SETTLED, 0, 30, "Not converged: after 30 iterations the averages have not settled."},
    {SVMP_NOTE_AVERAGE_ERROR, 0.3, 30,
     "Not converged: after 30 iterations averages have standard errors above 0.05 sd: tau and 2 more of 22 variables "
     "(0.3 sd)."},
    {SVMP_NOTE_AVERAGE_DRIFT, 0.3, 30,
     "Not converged: after 30 iterations averages still drift: tau and 2 more of 22 variables (mean by 0.3 sd)."},
    {SVMP_NOTE_IDENTITY, 0.3, 30,
     "Not converged: after 30 iterations averages still violate Stein's identities: tau and 2 more of 22 variables "
     "(0.3 sd)."},
    {SVMP_NOTE_NOT_MIXED, 0.4, 30,
     "Not converged: after 30 iterations the particles have not mixed: tau and 2 more of 22 variables (40 % of the "
     "variance is between particles that do not mix)."},
    {SVMP_NOTE_FEW_PARTICLES, 10, 10, "Fewer than 10 particles: too few to judge convergence."},
    {SVMP_NOTE_R_HAT, 1.234, 1.01,
     "Not converged: the chains have not mixed: tau and 2 more of 22 variables (R-hat 1.234)."},
    {SVMP_NOTE_FEW_DRAWS, 61, 400,
     "Not converged: there are too few effective draws: tau and 2 more of 22 variables (61)."},
    {SVMP_NOTE_DIVERGENT, 0.3, 0,
     "Not converged: 3 trajectories diverged, so the draws may miss a narrow part of the posterior."},
    {SVMP_NOTE_LOW_ENERGY, 0.21, 0.3, "Not converged: E-BFMI is 0.21 in chain 3, which explores the tails slowly."},
    {SVMP_NOTE_NOT_FINITE, 0.3, 0,
     "Not converged: tau has values or scores that are not finite. The posterior may be improper."},
    {SVMP_NOTE_SUM_TRUNCATED, 40, 0,
     "Not the model's posterior: the sum over tau was truncated at 40, where its probability is not negligible."},
    {SVMP_NOTE_R_HAT_OF_ONE, 1.0112, 1.01,
     "Not converged: the chain has not settled: tau and 2 more of 22 variables (R-hat 1.0112)."},
    {SVMP_NOTE_UNCERTAIN_MEAN, 0.12, 0,
     "Uncertain: the mean of tau and 2 more of 22 variables has a standard error of 0.12 sd."},
    {SVMP_NOTE_UNCERTAIN_SD, 0.12, 0,
     "Uncertain: the sd of tau and 2 more of 22 variables has a standard error of 12 %."},
    {SVMP_NOTE_HEAVY_TAILS, 0.62, 0,
     "Uncertain: the tails of tau and 2 more of 22 variables are too heavy for a mean and an sd (Pareto shape 0.62)."},
    {SVMP_NOTE_MEAN_DIFFERS, -0.3, 0, "tau (mean 0.3 sd too low)."},
    {SVMP_NOTE_SD_DIFFERS, 0.3, 0, "tau (sd 30 % too large)."},
    {SVMP_NOTE_MEDIAN_DIFFERS, 0.3, 0, "tau (median 0.3 sd too high)."},
    {SVMP_NOTE_TAILS_DIFFER, 0.3, 0, "tau (tails too heavy)."},
    {SVMP_NOTE_SCORE_DIFFERS, -0.3, 0, "tau (too close to its mode given its neighbours)."},
    {SVMP_NOTE_DENSITY_DIFFERS, -0.3, 0, "the log density (too low: too wide or displaced)."},
    {SVMP_NOTE_DENSITY_ELSEWHERE, 0.3, 0.95,
     "tau (a mode with 95 % of the mass is 0.3 sd away, where there are too few particles)."},
    {SVMP_NOTE_QUANTILE_DIFFERS, -0.3, 0.95, "tau (95 % quantile 0.3 sd too low)."},
    {SVMP_NOTE_CORRELATION_DIFFERS, 0.3, 0.95, "tau (correlation 0.30, should be 0.95)."},
    {SVMP_NOTE_CORRELATIONS_DIFFER, 0.3, 0, "correlations of tau (30 % too large)."},
    {SVMP_NOTE_MORE_VARIABLES, 0.3, 0, "3 more of 22 variables."},
    {SVMP_NOTE_MIXED, 1.002, 400, "R-hat is at most 1.002 and there are at least 400 effective draws."},
    {SVMP_NOTE_UNCHANGED, 0, 0,
     "no mean, sd, quantile or score changed significantly after 3 exact moves of each particle (22 variables)."},
    {SVMP_NOTE_DRAWS_UNCHANGED, 2, 1,
     "no mean, sd, quantile or score changed substantially after 3 exact local moves of a sample of the draws (22 "
     "variables)."},
    {SVMP_NOTE_SD_MULTIPLE, 3, 0, "tau (sd 3 times too large)."},
    {SVMP_NOTE_DO_NOT_USE, 0.3, 0, "Do not use these numbers."},
    {SVMP_NOTE_DO_NOT_USE_YET, 0.3, 0, "Do not use these numbers yet."},
    {SVMP_NOTE_SMALL_CHANGES, 0.3, 0, "3 variables changed significantly, but by less than 0.2 sd and 20 %."},
    {SVMP_NOTE_DISCREPANCY_CONFIRMED, 0.3, 0,
     "The discrepancy of 3 of 22 nodes exceeds its limit, but the exact moves confirm no error."},
    {SVMP_NOTE_NOT_SEARCHED, 0.3, 0, "Other modes were not searched for."},
    {SVMP_NOTE_DRAWS_NOT_EXAMINED, 0.3, 0, "The draws were not examined, and other modes were not searched for."},
    {SVMP_NOTE_ONE_CHAIN, 0.3, 0, "Several chains would be a stronger test."},
    {SVMP_NOTE_LEAVES, 0.3, 0, "3 variables drawn after the run were not examined."},
    {SVMP_NOTE_IMPROPER, 0.3, 0, "The density does not decrease along tau: the posterior is improper, or nearly so."},
    {SVMP_NOTE_VERY_WIDE, 0.3, 0, "The density hardly changes along tau: the posterior is far away, or very wide."},
    {SVMP_NOTE_MODES_POSSIBLE, 0.3, 0, "The posterior may have several modes."},
    {SVMP_NOTE_SEVERAL_MODES, 0.3, 0, "The posterior has several modes."},
    {SVMP_NOTE_COLLINEAR, 0.3, 0, "tau are nearly collinear."},
    {SVMP_NOTE_DENSITY_JUMPS, 0.3, 0, "The density jumps in tau, which gradients do not see."},
    {SVMP_NOTE_MODES_IF_HIGH, 0.3, 0, "If R-hat stays high, the posterior may have several modes."},
    {SVMP_NOTE_MODE, 0.3, 0.95, "tau near 0.95 (30 % of the mass, +- 8000)."},
    {SVMP_NOTE_MORE_MODES, 0.3, 0, "3 more (30 %)."},
    {SVMP_NOTE_MODES_ENDED, 5, 0, "22 starts in 5 ways ended in 3 modes; narrow ones may be missed."},
    {SVMP_NOTE_REST_PASSED, 0, 0, "All other means and sds passed."},
    {SVMP_NOTE_IN_A_GAP, 0, 0,
     "A quantile of tau and 2 more of 22 variables lies between modes, where any value is as good."},
    {SVMP_NOTE_NEVER_VARIES, 5000, 0, "tau and 2 more of 22 variables never vary in 5000 draws."},
    {SVMP_NOTE_MANY_TERMS, 0.3, 0,
     "The sums over discrete unknowns have 3 terms: a run takes minutes, and less with a method that evaluates them "
     "less often."},
    {SVMP_NOTE_USE_QUANTILES, 0, 0, "Use the median and the interval."},
    {SVMP_NOTE_GIVE_PRIOR, 0.3, 0, "Give tau a proper prior."},
    {SVMP_NOTE_GIVE_PRIORS, 0.3, 0, "Give every unknown in this direction a proper prior."},
    {SVMP_NOTE_GIVE_PRIOR_OR_PARENTS, 0.3, 0, "Give tau, or the unknowns it depends on, a proper prior."},
    {SVMP_NOTE_CHECK_PRIORS, 0.3, 0, "Make sure that the posterior is proper: tau have no proper prior."},
    {SVMP_NOTE_ONE_MODE, 0.3, 0, "Constrain the model to one of them (order exchangeable parameters, or fix a sign)."},
    {SVMP_NOTE_SEPARATING_PRIOR, 0.3, 0, "Use a prior that separates them."},
    {SVMP_NOTE_SCALE_PREDICTORS, 0.3, 0, "Centre and scale the predictors."},
    {SVMP_NOTE_OTHER_UNKNOWNS, 0.3, 0, "Write the model in other unknowns."},
    {SVMP_NOTE_NON_CENTRED, 0.3, 0, "Use a non-centred parametrisation (iterations = 8000)."},
    {SVMP_NOTE_DISCRETE_CHANGE_POINT, 0.3, 0,
     "Make a change point discrete, so that it is summed out (docs/jags.md, \"Change points\")."},
    {SVMP_NOTE_OTHER_PRIORS, 0.3, 0, "Give the model other priors."},
    {SVMP_NOTE_LIGHTER_TAILS, 0.3, 0, "Give the model lighter tails."},
    {SVMP_NOTE_SHORTER_SUMS, 0.3, 0, "Make them shorter, with fewer sites or times, or with bounds T(,)."},
    {SVMP_NOTE_TRUNCATE_LATER, 120, 0, "Truncate it in the model at a larger value, such as T(, 120)."},
    {SVMP_NOTE_USE, 0.3, 0, "Use iterations = 8000."},
    {SVMP_NOTE_COMPARE, 0.3, 0, "Compare with iterations = 8000."},
    {SVMP_NOTE_RUN_LONGER, 0.3, 0, "Run longer (iterations = 8000)."},
    {SVMP_NOTE_WARM_UP, 0.3, 0, "Warm up longer (iterations = 8000)."},
    {SVMP_NOTE_MORE_DRAWS, 0.3, 0, "Run more draws (iterations = 8000)."},
    {SVMP_NOTE_MORE_PARTICLES, 0.3, 0, "Use more particles (iterations = 8000)."},
    {SVMP_NOTE_SMALLER_STEPS, 0.3, 0, "Take smaller steps (iterations = 8000)."},
    {SVMP_NOTE_FALLING_STEPS, 0.3, 0, "Let the steps shrink (iterations = 8000)."},
    {SVMP_NOTE_OTHER_STARTS, 0.3, 0, "Run from other starts (iterations = 8000) and compare."},
    {SVMP_NOTE_START_GAUSSIAN, 0.3, 0, "Start from a Gaussian fit (iterations = 8000)."},
    {SVMP_NOTE_ITERATE, 0.3, 0, "Use at least one iteration (iterations = 8000)."},
    {SVMP_NOTE_FINISH, 0.3, 0, "Let the run finish."},
    {SVMP_NOTE_TRY_ANOTHER, 0.3, 0, "Try another iterations = 8000."},
    {SVMP_NOTE_LOWER, 0.3, 0, "Use a smaller iterations = 8000."},
    {SVMP_NOTE_RAISE, 0.3, 0, "Use a larger iterations = 8000."},
    {SVMP_NOTE_START_FROM, 0.3, 0, "Start from its particles (iterations = 8000)."},
    {SVMP_NOTE_WRITE_PARTICLES, 0.3, 0, "Write its particles where it ran (iterations = 8000)."},
    {SVMP_NOTE_WRITE_START, 0.3, 0, "Write the start to a file in one process (iterations = 8000)."},
    {SVMP_NOTE_CONTINUE, 0.3, 0, "Continue from it (iterations = 8000)."},
    {SVMP_NOTE_OTHER_SEEDS, 0.3, 0, "Run each chain with a seed of its own (iterations = 8000)."},
    {SVMP_NOTE_PROVIDE_START, 0.3, 0, "Provide such a point (iterations = 8000)."},
    {SVMP_NOTE_START_NEW, 0.3, 0, "Start a new run from its particles (iterations = 8000)."},
    {SVMP_NOTE_CONTINUE_WITH, 0.3, 0, "Continue with iterations = 8000."},
    {SVMP_NOTE_WITH, 0.3, 0, "With iterations = 8000."},
    {SVMP_NOTE_FEWER_PARTICLES, 0.3, 0, "Use fewer particles (iterations = 8000)."},
    {SVMP_NOTE_CLOSER_START, 0.3, 0, "Start closer to the posterior (iterations = 8000)."},
};

static const svmp_code all[] = {
#define NOTE_ROW(name, number, kind) SVMP_##name,
    SVMP_NOTE_LIST(NOTE_ROW)
#undef NOTE_ROW
};
enum { CODES = sizeof all / sizeof *all };

static void test_every_note_is_a_sentence(void **state) {
    (void)state;
    char text[1024];
    assert_int_equal(CODES, sizeof expected / sizeof *expected);
    for (size_t k = 0; k < CODES; k++) {
        note_list list = {0};
        svmp_note *note = svmp_note_add(&list, expected[k].code);
        note->count = 3;
        note->total = 22;
        note->amount = expected[k].amount;
        note->limit = expected[k].limit;
        snprintf(note->name, sizeof note->name, "tau");
        snprintf(note->option, sizeof note->option, "iterations");
        snprintf(note->value, sizeof note->value, "8000");
        assert_int_equal(expected[k].code, all[k]);
        assert_string_equal(svmp_note_text(note, NULL, NULL, text, sizeof text), expected[k].text);
    }
}

/* Counts of one and of zero: nouns and verbs agree with the number. */
static void test_words_agree(void **state) {
    (void)state;
    static const struct {
        svmp_note note;
        const char *text;
    } cases[] = {
        {{.code = SVMP_NOTE_DIVERGENT, .count = 1},
         "Not converged: 1 trajectory diverged, so the draws may miss a narrow part of the posterior."},
        {{.code = SVMP_NOTE_LEAVES, .count = 1}, "1 variable drawn after the run was not examined."},
        {{.code = SVMP_NOTE_DISCREPANCY, .count = 1, .total = 1, .name = "x"},
         "Not converged: 1 of 1 node is farther from the posterior than exact draws would be (worst: x)."},
        {{.code = SVMP_NOTE_SLOW, .amount = 40, .name = "the log density"},
         "No verdict: exact moves found nothing wrong, but the log density mixes too slowly to tell (40 moves)."},
        {{.code = SVMP_NOTE_AVERAGE_DRIFT, .count = 1, .total = 5, .amount = 0.1, .limit = 30, .name = "x"},
         "Not converged: after 30 iterations averages still drift: x (mean by 0.1 sd)."},
        {{.code = SVMP_NOTE_R_HAT, .count = 2, .amount = 123.4, .name = "x"},
         "Not converged: the chains have not mixed: x and 1 more (R-hat 123)."},
        {{.code = SVMP_NOTE_RUN_LONGER, .kind = SVMP_ADVICE}, "Run longer."},
        {{.code = (svmp_code)9999}, "."},
    };
    char text[1024];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_string_equal(svmp_note_text(&cases[k].note, NULL, NULL, text, sizeof text), cases[k].text);
    assert_string_equal(svmp_note_text(NULL, NULL, NULL, text, sizeof text), "");
    assert_string_equal(svmp_note_text(&cases[0].note, NULL, NULL, text, 4), "Not");
    assert_string_equal(svmp_note_text(&cases[0].note, NULL, NULL, NULL, 4), "");
}

static char prefix[] = "R";

static void spell(const char *option, const char *value, void *user_data, char *buffer, size_t size) {
    snprintf(buffer, size, "%s<%s|%s>", (const char *)user_data, option, value);
}

/* Details follow their note, alternatives form one sentence, other notes are sentences of their own. */
static void test_lists(void **state) {
    (void)state;
    note_list list = {0};
    char text[1024];
    svmp_note_add(&list, SVMP_NOTE_FAILED);
    for (int k = 0; k < 2; k++) {
        svmp_note *drift = svmp_note_add(&list, SVMP_NOTE_SD_DIFFERS);
        drift->amount = k ? 0.5 : -0.25;
        snprintf(drift->name, sizeof drift->name, k ? "b" : "a");
    }
    svmp_note_add(&list, SVMP_NOTE_MORE_VARIABLES)->count = 4;
    svmp_note_add(&list, SVMP_NOTE_DO_NOT_USE_YET);
    svmp_note_advise(&list, 1, SVMP_NOTE_USE, "method", "nuts");
    svmp_note_advise(&list, 1, SVMP_NOTE_RUN_LONGER, "iterations", NULL);
    svmp_note_advise(&list, 1, SVMP_NOTE_OTHER_PRIORS, NULL, NULL);
    svmp_note_advise(&list, 2, SVMP_NOTE_COMPARE, "method", "nuts");
    svmp_note_advise(&list, 2, SVMP_NOTE_FINISH, NULL, NULL);
    svmp_note_advise(&list, 0, SVMP_NOTE_WITH, "seed", "2");
    svmp_note_advise(&list, 0, SVMP_NOTE_FINISH, NULL, NULL);
    svmp_note_advise(&list, 0, SVMP_NOTE_FINISH, NULL, NULL);
    assert_string_equal(svmp_notes_write(list.count, list.note, spell, prefix, text, sizeof text),
                        "Failed: the particles change under exact moves: a (sd 25 % too small), b (sd 50 % too large) "
                        "and 4 more of 0 variables. Do not use these numbers yet. Use R<method|nuts>, run longer "
                        "(R<iterations|>), or give the model other priors. Compare with R<method|nuts>, or let the run "
                        "finish with R<seed|2>. Let the run finish. Let the run finish.");
    for (size_t k = 0; k < 2 * NOTES_MOST; k++) svmp_note_add(&list, SVMP_NOTE_FAILED);
    assert_int_equal(list.count, NOTES_MOST);
}

/* An error ends with its advice, which is also available as notes until the next error. */
static void test_errors_with_advice(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_note note;
    assert_int_equal(svmp_context_note(context, 0, &note), 0);
    assert_int_equal(svmp_fail_notes(context, SVMP_BAD_CALL, NOTES(svmp_advice(SVMP_NOTE_TRY_ANOTHER, "init", NULL)),
                                     "Chain %d cannot start.", 3),
                     SVMP_BAD_CALL);
    assert_string_equal(svmp_context_error(context), "Chain 3 cannot start. Try another init.");
    assert_ok(svmp_context_set_speller(context, spell, prefix));
    svmp_record_notes(context, SVMP_BAD_CALL,
                      NOTES(svmp_advice(SVMP_NOTE_USE, "backend", "cpu"), svmp_advice(SVMP_NOTE_FINISH, NULL, NULL)),
                      "Wrong.");
    assert_string_equal(svmp_context_error(context), "Wrong. Use R<backend|cpu>. Let the run finish.");
    assert_int_equal(svmp_context_note(context, 0, &note), 1);
    assert_int_equal(note.code, SVMP_NOTE_USE);
    assert_string_equal(note.option, "backend");
    assert_string_equal(note.value, "cpu");
    assert_int_equal(svmp_context_note(context, 2, &note), 0);
    assert_int_equal(svmp_context_note(context, 0, NULL), 0);
    assert_int_equal(svmp_context_note(NULL, 0, &note), 0);
    const svmp_error_function on_error = svmp_attempt_begin(context);
    (void)svmp_fail_notes(context, SVMP_BAD_CALL, NOTES(svmp_advice(SVMP_NOTE_USE, "backend", "cpu")), "Tried.");
    svmp_attempt_end(context, on_error, SVMP_BAD_CALL);
    assert_int_equal(svmp_context_note(context, 0, &note), 0);
    (void)svmp_fail(context, SVMP_BAD_CALL, "Another.");
    assert_int_equal(svmp_context_note(context, 0, &note), 0);
    assert_int_equal(svmp_context_set_speller(NULL, spell, NULL), SVMP_BAD_CALL);
    svmp_context_free(context);
}

/* A line of a file restores the saved note, whichever fields it lacks. */
static void test_notes_in_files(void **state) {
    (void)state;
    char line[512], name[40];
    svmp_note all_of = svmp_advice(SVMP_NOTE_USE, "step", "adam:0.1..0.004"), again;
    all_of.either = 2;
    all_of.count = 3;
    all_of.total = 22;
    all_of.amount = 0.25;
    all_of.limit = -1;
    snprintf(all_of.name, sizeof all_of.name, "beta.1 and beta.2");
    svmp_note kernel = svmp_advice(SVMP_NOTE_USE, "kernel", "rbf/sd@self + linear/sd@near");
    snprintf(kernel.name, sizeof kernel.name, "a b");
    const svmp_note none = {.code = SVMP_NOTE_R_HAT, .kind = SVMP_REFUSAL};
    svmp_note_save(&all_of, line, sizeof line);
    assert_string_equal(line, "use 2 3 22 0.25 -1 step adam:0.1..0.004 beta.1 and beta.2");
    assert_int_equal(svmp_note_load(line, &again), 1);
    assert_memory_equal(&again, &all_of, sizeof again);
    svmp_note_save(&kernel, line, sizeof line);
    assert_string_equal(line, "use 0 0 0 0 0 kernel \"rbf/sd@self + linear/sd@near\" a b");
    assert_int_equal(svmp_note_load(line, &again), 1);
    assert_memory_equal(&again, &kernel, sizeof again);
    svmp_note_save(&none, line, sizeof line);
    assert_int_equal(svmp_note_load(line, &again), 1);
    assert_memory_equal(&again, &none, sizeof again);
    assert_int_equal(svmp_note_load("of a later version", &again), 0);
    for (size_t k = 0; k < CODES; k++)
        assert_int_equal(svmp_code_find(svmp_code_name(all[k], name, sizeof name)), all[k]);
    assert_string_equal(svmp_code_name(SVMP_NOTE_NONE, name, sizeof name), "none");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_note_is_a_sentence),
        cmocka_unit_test(test_words_agree),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_errors_with_advice),
        cmocka_unit_test(test_notes_in_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
