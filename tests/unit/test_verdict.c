/* The verdict itself: what it says of chains, its record in files, its advice. test_verify.c has the examination. */
#include <locale.h>
#include <string.h>

#include "base/random.h"
#include "unit/support.h"
#include "verify/verdict_inside.h"

/* ---- chains ------------------------------------------------------------------------------------------------------ */

/* Chains that have not mixed, and those that have: the verdict, its name and its number. */
static void test_chains(void **state) {
    enum { CHAINS = 4, DRAWS = 200, N = CHAINS * DRAWS };
    (void)state;
    svmp_context *context = test_context(1);
    double x[2 * N];
    char text[512];
    for (int between_share = 0; between_share < 2; between_share++) {
        svmp_particles *p = NULL;
        svmp_verdict v = {0};
        svmp_random_normals((random_stream){.seed = 5, .purpose = RANDOM_TEST}, 2 * N, x);
        for (size_t l = 0; between_share && l < N; l++) x[N + l] += (double)(l / DRAWS);
        assert_ok(svmp_particles_create(context, 2, N, x, &p));
        assert_int_equal(svmp_chains_verdict(p, &v), SVMP_BAD_CALL); /* no chains yet */
        assert_ok(svmp_particles_set_chains(p, CHAINS));
        assert_ok(svmp_chains_verdict(p, &v));
        assert_int_equal(v.finding, between_share ? SVMP_FINDING_NOT_EXAMINED : SVMP_FINDING_PASSED);
        assert_int_equal(v.veto, between_share ? SVMP_NOTE_R_HAT : SVMP_NOTE_NONE);
        assert_int_equal(v.veto_count, between_share);
        assert_int_equal(v.chains, CHAINS);
        assert_true(v.every >= N / 200 && v.every <= DRAWS);
        v.variables = 2;
        if (between_share)
            assert_non_null(strstr(svmp_verdict_sentence(&v, text, sizeof text), "the chains have not mixed: x.2 "));
        svmp_particles_free(p);
    }
    svmp_context_free(context);
}

/* R-hat of a variable that is constant in all chains is unknown; if it is constant in one chain of many, R-hat is low.
 * */
static void test_unmoved_chains(void **state) {
    enum { CHAINS = 20, DRAWS = 50, COUNT = CHAINS * DRAWS };
    (void)state;
    svmp_context *context = test_context(1);
    double x[2 * COUNT];
    size_t chains, variables;
    char text[512];
    for (size_t still = 0; still <= CHAINS; still += still ? CHAINS - 1 : 1) { /* 0, 1 and all chains */
        svmp_particles *p = NULL;
        svmp_random_normals((random_stream){.seed = 5, .purpose = RANDOM_TEST}, 2 * COUNT, x);
        for (size_t l = 0; l < still * DRAWS; l++) x[COUNT + l] = 0.1;
        assert_ok(svmp_particles_create(context, 2, COUNT, x, &p));
        assert_ok(svmp_particles_set_chains(p, CHAINS));
        assert_true(svmp_chains_unmoved(p, &chains, &variables) == (still ? 1 : SIZE_MAX));
        assert_int_equal(chains, still);
        assert_int_equal(variables, still > 0);
        svmp_particles_free(p);
    }
    svmp_verdict v = {.chains = CHAINS, .variables = 2, .finding = SVMP_FINDING_NOT_EXAMINED}, again = v;
    svmp_verdict_veto(&v, SVMP_NOTE_CHAIN_UNMOVED, 3, "x.2");
    assert_false(svmp_verdict_is_clear(&v));
    assert_string_equal(svmp_verdict_sentence(&v, text, sizeof text),
                        "Not converged: x.2 never moved in 3 of 20 chains. Do not use these numbers.");
    svmp_verdict_recall(&again, svmp_verdict_record(&v, text, sizeof text)); /* a file preserves it */
    assert_int_equal(again.veto, SVMP_NOTE_CHAIN_UNMOVED);
    assert_string_equal(again.veto_name, "x.2");
    svmp_context_free(context);
}

/* ---- records and advice ------------------------------------------------------------------------------------------ */

/* A record is read as it was written: the veto, its name and its number, regardless of the chains' diagnostics. */
static void test_record(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_verdict *v = NULL, *again = NULL;
    svmp_drift drift;
    char lines[8192], sentence[512], other[512];
    assert_ok(svmp_verdict_create(context, &v));
    assert_ok(svmp_verdict_create(context, &again));
    assert_string_equal(svmp_verdict_word(v), "not examined");
    svmp_verdict_veto(v, SVMP_NOTE_R_HAT, 1.25, "tau.3");
    v->chains = 4;
    v->veto_count = 2;
    v->drift[v->drifts++] = (svmp_drift){.name = "tau.3", .aspect = SVMP_ASPECT_MEAN, .effect = 0.5, .z = 6};
    svmp_verdict_record(v, lines, sizeof lines);
    assert_non_null(strstr(lines, "verdict = not converged\n"));
    assert_non_null(strstr(lines, "verdict_drift tau.3 = mean 0.5 6\n"));
    again->chains = 4;
    svmp_verdict_veto(again, SVMP_NOTE_FEW_DRAWS, 10, "mu");
    svmp_verdict_recall(again, lines);
    assert_string_equal(svmp_verdict_sentence(again, sentence, sizeof sentence),
                        svmp_verdict_sentence(v, other, sizeof other));
    assert_near(again->veto_amount, 1.25, 0);
    assert_int_equal(again->veto_count, 2);
    assert_string_equal(svmp_recorded_advice(context, lines, sentence, sizeof sentence),
                        svmp_verdict_advice(v, other, sizeof other));
    assert_true(*sentence);
    assert_int_equal(svmp_verdict_drift(v, 0, &drift), 1);
    assert_near(drift.effect, 0.5, 0);
    assert_int_equal(svmp_verdict_drift(v, 1, &drift), 0);
    svmp_verdict_record(v, lines, 30); /* whole lines only */
    assert_string_equal(lines, "verdict = not converged\n");
    svmp_verdict_free(again);
    svmp_verdict_free(v);
    svmp_verdict_free(NULL);
    svmp_context_free(context);
}

/* A record has decimal points under every locale; prints a message if the machine has none with commas. */
static void test_records_have_decimal_points(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8"};
    svmp_verdict v = {.chains = 4, .variables = 2, .finding = SVMP_FINDING_NOT_EXAMINED}, again = v;
    char points[2048], commas[2048];
    const char *found = NULL;
    svmp_verdict_veto(&v, SVMP_NOTE_R_HAT, 1.25, "x.2");
    svmp_verdict_record(&v, points, sizeof points);
    assert_non_null(strstr(points, "verdict_veto = r_hat 1.25 "));
    for (size_t k = 0; k < sizeof names / sizeof *names && !found; k++) found = setlocale(LC_ALL, names[k]);
    if (!found) print_message("no locale with decimal commas here: only the \"C\" locale was tried\n");
    svmp_verdict_record(&v, commas, sizeof commas);
    svmp_verdict_recall(&again, points);
    setlocale(LC_ALL, "C");
    assert_string_equal(points, commas);
    assert_true(again.veto_amount == 1.25);
}

/* Smaller steps are not advised if they are already small. */
static void test_advice_is_new(void **state) {
    (void)state;
    char text[512];
    svmp_verdict v = {.chains = 4, .variables = 2, .method = "nuts", .accept = 0.8};
    svmp_verdict_veto(&v, SVMP_NOTE_DIVERGENT, 0.1, NULL);
    assert_non_null(
        strstr(svmp_verdict_advice(&v, text, sizeof text), "(accept = 0.95), or compare with method = transport."));
    v.accept = 0.95;
    assert_non_null(strstr(svmp_verdict_advice(&v, text, sizeof text), "(accept = 0.99)"));
    v.accept = 0.99;
    assert_null(strstr(svmp_verdict_advice(&v, text, sizeof text), "accept"));
    assert_true(strlen(text) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains),        cmocka_unit_test(test_unmoved_chains),
        cmocka_unit_test(test_record),        cmocka_unit_test(test_records_have_decimal_points),
        cmocka_unit_test(test_advice_is_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
