/* The answer of the default method: states of its exact moves, matched to the averages. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "method/transport/kept_states.h"
#include "method/transport/transport_constants.h"
#include "run/run.h"
#include "support.h"
#include "targets.h"

static run_options transport(size_t particles) {
    run_options options = svmp_run_options_default();
    options.method = "transport";
    options.particles = particles;
    return options;
}

static svmp_particles *draws_of(const svmp_model *model, const run_options *options) {
    svmp_run *run = NULL;
    svmp_outcome outcome;
    svmp_particles *draws = NULL;
    assert_ok(svmp_run_make(model, options, &run));
    assert_ok(svmp_run_go(run, &outcome));
    assert_ok(svmp_run_draws(run, &draws));
    svmp_run_free(run);
    return draws;
}

static void assert_same(svmp_particles *a, svmp_particles *b) {
    assert_int_equal(svmp_particles_count(a), svmp_particles_count(b));
    assert_memory_equal(svmp_particles_values(a), svmp_particles_values(b),
                        svmp_particles_variables(a) * svmp_particles_count(a) * sizeof(double));
}

/* 4,000 draws, 40 of each chain. Their means and sds are those of the particles, since both are matched to the same
 * averages: to rounding and to the 0.5 % at which matching ends. */
static void test_matched(void **state) {
    (void)state;
    svmp_context *context = test_context(1), *other = test_context(2);
    svmp_model *model = target_logistic(context), *again = target_logistic(other);
    const run_options options = transport(100);
    svmp_particles *draws = draws_of(model, &options), *same = draws_of(again, &options);
    assert_int_equal(svmp_particles_count(draws), 4000);
    assert_int_equal(svmp_particles_chains(draws), 100);
    assert_non_null(svmp_particles_statistic(draws, "lp__"));
    assert_same(draws, same); /* whatever the number of threads */
    const svmp_particles *few = svmp_particles_compressed(draws);
    assert_int_equal(svmp_particles_count(few), 100);
    assert_null(svmp_particles_compressed(few));
    for (size_t i = 0; i < svmp_particles_variables(draws); i++) {
        svmp_moments of_draws, of_few;
        svmp_mixing mixing;
        assert_ok(svmp_particles_moments(draws, i, &of_draws));
        assert_ok(svmp_particles_moments(few, i, &of_few));
        assert_near(of_draws.mean, of_few.mean, 1e-9 * of_few.sd);
        assert_near(of_draws.sd, of_few.sd, 0.011 * of_few.sd);
        assert_ok(svmp_particles_summarise(draws, 1, &i, NULL, &mixing));
        assert_true(mixing.bulk_draws > 2500 && mixing.r_hat < 1.1); /* nearly independent */
    }
    svmp_particles_free(draws);
    svmp_particles_free(same);
    svmp_model_free(model);
    svmp_model_free(again);
    svmp_context_free(context);
    svmp_context_free(other);
}

static int stop_at_110(const svmp_progress *progress, void *run) {
    if (progress->iteration != 110) return 0;
    assert_ok(svmp_run_save(run, "draws.checkpoint"));
    return 1;
}

/* The draws of a resumed run have the same bits; a checkpoint with other places for states is refused. */
static void test_resumed(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = target_logistic(context);
    run_options options = transport(30);
    options.draws = 300;
    svmp_run *run = NULL;
    svmp_outcome outcome;
    svmp_particles *whole = draws_of(model, &options), *resumed = NULL;
    assert_int_equal(svmp_particles_count(whole), 300);
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_set_monitor(run, stop_at_110, run));
    assert_ok(svmp_run_go(run, &outcome));
    assert_int_equal(outcome, SVMP_STOPPED);
    assert_ok(svmp_run_draws(run, &resumed));
    assert_int_equal(svmp_particles_count(resumed), 30 * 7); /* so far, after 80, 85, ..., 110 iterations */
    svmp_particles_free(resumed);
    svmp_run_free(run);
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_load(run, "draws.checkpoint"));
    assert_ok(svmp_run_go(run, &outcome));
    assert_ok(svmp_run_draws(run, &resumed));
    assert_same(whole, resumed);
    svmp_run_free(run);
    options.draws = 330;
    assert_ok(svmp_run_make(model, &options, &run));
    assert_int_equal(svmp_run_load(run, "draws.checkpoint"), SVMP_BAD_INPUT);
    assert_non_null(strstr(svmp_context_error(context), "has draws = 300, but this run has draws = 330."));
    svmp_run_free(run);
    remove("draws.checkpoint");
    svmp_particles_free(whole);
    svmp_particles_free(resumed);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* How many draws there are: a whole number of each chain; none before the first state, or of one particle. */
static void test_counts(void **state) {
    (void)state;
    static const struct {
        size_t particles, draws, iterations, chains, count;
    } rows[] = {
        {100, 250, SVMP_METHODS_OWN, 100, 300},      /* a whole number of each */
        {40, 1000, SVMP_METHODS_OWN, 40, 1000},      /* 25 of each */
        {100, 12000, SVMP_METHODS_OWN, 100, 12000},  /* the moves go on until there are as many */
        {100, SVMP_METHODS_OWN, ADAPTATION, 1, 100}, /* the particles: there is no state yet */
        {1, SVMP_METHODS_OWN, 200, 1, 1},
    };
    svmp_context *context = test_context(1);
    svmp_model *model = test_grid(context, 2, 2);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        run_options options = transport(rows[r].particles);
        options.draws = rows[r].draws;
        options.iterations = rows[r].iterations;
        svmp_particles *draws = draws_of(model, &options);
        assert_int_equal(svmp_particles_chains(draws), rows[r].chains);
        assert_int_equal(svmp_particles_count(draws), rows[r].count);
        assert_int_equal(svmp_particles_compressed(draws) != NULL, rows[r].chains > 1);
        svmp_particles_free(draws);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Whenever the iterations end, the states are as many as wanted or as there are, evenly spaced, and of the last two
 * thirds. A state has the number of its iteration. */
static void test_ring(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    for (size_t wanted = 1; wanted <= 60; wanted += wanted < 12 ? 1 : 16) {
        kept_states *kept = NULL;
        const peer_columns one = svmp_shared_alone(1);
        double x[60];
        assert_ok(svmp_kept_states_create(context, 1, &one, wanted, wanted, ADAPTATION, &kept));
        for (size_t t = 1; t <= 3000; t++) {
            const double now = (double)t;
            svmp_kept_states_offer(kept, t, &now);
            const size_t count = svmp_kept_states_count(kept, t);
            assert_ok(svmp_kept_states_take(kept, t, x));
            assert_true(count <= wanted && (t < FIRST_INSPECTION || count == (wanted < KEPT_EARLY ? wanted : count)));
            if (count == 0) continue;
            assert_true(x[0] > ADAPTATION && 3 * x[0] > now && x[count - 1] <= now);
            for (size_t k = 2; k < count; k++) assert_near(x[k] - x[k - 1], x[1] - x[0], 0);
        }
        svmp_kept_states_free(kept);
    }
    svmp_context_free(context);
}

/* Draws of a model with many variables are fewer, and none if they take too much memory, unless they are asked for. */
static void test_large(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    static const struct {
        size_t side, asked, draws;
    } rows[] = {{10, SVMP_METHODS_OWN, 4000}, {20, SVMP_METHODS_OWN, 2600}, {100, SVMP_METHODS_OWN, 1000},
                {200, SVMP_METHODS_OWN, 800}, {500, SVMP_METHODS_OWN, 0},   {200, 1000, 1000}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        svmp_model *model = test_grid(context, rows[r].side, rows[r].side);
        svmp_run run = {
            .context = context, .model = model, .method = &svmp_method_transport, .options = transport(100)};
        run.options.draws = rows[r].asked;
        svmp_run_choose_draws(&run);
        assert_int_equal(run.options.draws, rows[r].draws);
        svmp_model_free(model);
    }
    svmp_context_free(context);
}

/* Each allocation fails in turn. */
static void test_scarce_memory(void **state) {
    (void)state;
    scarce_memory memory = {1};
    memory.left = 1L << 40;
    svmp_context *context = scarce_context(&memory);
    svmp_model *model = target_logistic(context);
    const run_options options = transport(20);
    svmp_run *run = NULL;
    svmp_outcome outcome;
    svmp_status status = SVMP_NO_MEMORY;
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_go(run, &outcome));
    for (long allowed = 0; status == SVMP_NO_MEMORY; allowed++) {
        svmp_particles *draws = NULL;
        memory.left = allowed;
        status = svmp_run_draws(run, &draws);
        assert_int_equal(draws != NULL, status == SVMP_OK);
        memory.left = 1L << 40;
        svmp_particles_free(draws);
        assert_true(allowed < 1000);
    }
    assert_ok(status);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_matched), cmocka_unit_test(test_resumed),
                                       cmocka_unit_test(test_counts),  cmocka_unit_test(test_ring),
                                       cmocka_unit_test(test_large),   cmocka_unit_test(test_scarce_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
