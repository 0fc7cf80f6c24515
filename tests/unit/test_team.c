/* Several processes simulated by threads, each with its own context and collective calls in shared memory: agreement,
 * refusals, and reading of parts of a model. */
#include <stdlib.h>
#include <string.h>

#include "graph/graph_part.h"
#include "model/evaluator.h"
#include "model/fingerprint.h"
#include "unit/files.h"
#include "unit/simulated_processes.h"

/* ---- agreement --------------------------------------------------------------------------------------------------- */

/* Each process contributes its own line of the script. */
static void compare_text(test_process *p) {
    const char *const *words = p->script;
    p->status = svmp_context_compare(p->context, "the version of svmp", words[p->peers.rank]);
}

static void versions_that_differ_are_refused_by_all(void **unused) {
    (void)unused;
    static const char *const words[] = {"0.1.0", "0.1.0", "0.2.0"};
    test_process group[MOST_PROCESSES];
    run_processes(2, compare_text, words, group);
    for (size_t p = 0; p < 2; p++) assert_int_equal(group[p].status, SVMP_OK);
    end_processes(2, group);
    run_processes(3, compare_text, words, group);
    for (size_t p = 0; p < 3; p++) {
        assert_int_equal(group[p].status, SVMP_BAD_INPUT);
        const char *error = svmp_context_error(group[p].context);
        assert_non_null(strstr(error, "The processes disagree on the version of svmp: 0.1.0 in process 0 on "));
        assert_non_null(strstr(error, ", but 0.2.0 in process 2 on "));
    }
    end_processes(3, group);
}

/* Texts longer than an error shows, which differ at their end. */
static void long_texts_are_compared_in_full(void **unused) {
    (void)unused;
    enum { LENGTH = 2000 };
    static char one[LENGTH + 1], other[LENGTH + 1];
    memset(one, 'x', LENGTH);
    memset(other, 'x', LENGTH);
    other[LENGTH - 1] = 'y';
    const char *const alike[] = {one, one}, *const unlike[] = {one, other};
    test_process group[MOST_PROCESSES];
    run_processes(2, compare_text, alike, group);
    for (size_t p = 0; p < 2; p++) assert_int_equal(group[p].status, SVMP_OK);
    end_processes(2, group);
    run_processes(2, compare_text, unlike, group);
    for (size_t p = 0; p < 2; p++) {
        assert_int_equal(group[p].status, SVMP_BAD_INPUT);
        assert_non_null(strstr(svmp_context_error(group[p].context), " differ after the first 300 characters."));
    }
    end_processes(2, group);
}

/* Process 2 has another number of particles. */
static void run_with_other_options(test_process *p) {
    const char *const paths[] = {SVMP_MODELS "/grid.mtx"};
    run_options options = graphical_options();
    svmp_model *model = NULL;
    svmp_run *run = NULL;
    options.particles = p->peers.rank == 2 ? 8 : 7;
    p->status = svmp_model_read_split(p->context, 1, paths, NULL, &model, NULL);
    if (p->status == SVMP_OK) p->status = svmp_run_make(model, &options, &run);
    svmp_run_free(run);
    svmp_model_free(model);
}

static void options_that_differ_are_refused_by_all(void **unused) {
    (void)unused;
    test_process group[MOST_PROCESSES];
    run_processes(2, run_with_other_options, NULL, group);
    for (size_t p = 0; p < 2; p++) assert_int_equal(group[p].status, SVMP_OK);
    end_processes(2, group);
    run_processes(4, run_with_other_options, NULL, group);
    for (size_t p = 0; p < 4; p++) {
        assert_int_equal(group[p].status, SVMP_BAD_INPUT);
        const char *error = svmp_context_error(group[p].context);
        assert_non_null(strstr(error, "The processes disagree on particles: 7 in process 0 on "));
        assert_non_null(strstr(error, ", but 8 in process 2 on "));
    }
    end_processes(4, group);
}

/* Processes 1 and 2 fail, each in its own way. */
static void fail_alone(test_process *p) {
    svmp_status mine = SVMP_OK;
    if (p->peers.rank == 1) mine = svmp_fail(p->context, SVMP_NOT_FINITE, "One ran away.");
    if (p->peers.rank == 2) mine = svmp_fail(p->context, SVMP_NO_MEMORY, "Two has no memory.");
    p->status = svmp_agree(p->context, p->context->peers, mine);
}

static void the_first_failure_is_reported_by_all(void **unused) {
    (void)unused;
    test_process group[MOST_PROCESSES];
    run_processes(4, fail_alone, NULL, group);
    for (size_t p = 0; p < 4; p++) {
        assert_int_equal(group[p].status, SVMP_NOT_FINITE);
        assert_string_equal(svmp_context_error(group[p].context), "One ran away.");
    }
    end_processes(4, group);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct model_script {
    size_t count;
    const char *paths[3];
    const svmp_model *whole; /* the same model, read by one process */
    fingerprint identity;    /* of the whole model */
    const double *x, *score; /* particles, and their score in the whole model */
    const double *log_density;
    size_t n;
    double rounding; /* of natural values of a start and back */
} model_script;

/* A part read directly, without the whole model, evaluates to the same bits and has the whole model's fingerprint. */
static void read_part(test_process *p) {
    const model_script *script = p->script;
    const size_t n = script->n;
    svmp_model *model = NULL;
    svmp_split split;
    evaluator *e = NULL;
    int known;
    p->status = svmp_model_read_split(p->context, script->count, script->paths, NULL, &model, &split);
    if (p->status != SVMP_OK) return;
    const svmp_graph *graph = model->graph;
    double *x = calloc(graph->variables * n + 1, sizeof *x), *score = calloc(graph->variables * n + 1, sizeof *score);
    double *log_density = calloc(n, sizeof *log_density);
    for (size_t i = 0; i < graph->variables; i++)
        memcpy(x + i * n, script->x + graph->variable_key[i] * n, n * sizeof *x);
    assert_int_equal(svmp_evaluator_create(model, n, 1, &e), SVMP_OK);
    assert_int_equal(svmp_evaluate(e, x, NULL, score), SVMP_OK);
    assert_int_equal(svmp_evaluate_log_density(e, x, log_density, &known), SVMP_OK);
    assert_true(known);
    assert_int_equal(split.own, graph->moved);
    assert_int_equal(graph->whole_nodes, script->whole->graph->nodes);
    for (size_t i = 0; i < graph->moved_variables; i++)
        assert_memory_equal(score + i * n, script->score + graph->variable_key[i] * n, n * sizeof *score);
    assert_memory_equal(log_density, script->log_density, n * sizeof *log_density);
    for (size_t v = 0; v < graph->moved; v++) {
        char here[200], there[200];
        assert_string_equal(svmp_model_node_name(model, v, here, sizeof here),
                            svmp_model_node_name(script->whole, graph->node_key[v], there, sizeof there));
    }
    assert_memory_equal(model->identity, &script->identity, sizeof script->identity);
    free(x);
    free(score);
    free(log_density);
    svmp_evaluator_free(e);
    svmp_model_free(model);
}

static void check_model(size_t count, const char *const *paths) {
    enum { N = 5 };
    static const size_t counts[] = {2, 3, 7};
    model_script script = {.count = count, .n = N};
    svmp_context *context = NULL;
    svmp_model *model = NULL;
    evaluator *e = NULL;
    int known;
    memcpy(script.paths, paths, count * sizeof *paths);
    assert_int_equal(svmp_context_create(NULL, &context), SVMP_OK);
    if (svmp_model_read(context, count, paths, NULL, &model) != SVMP_OK) fail_msg("%s", svmp_context_error(context));
    const size_t total = model->graph->variables * N;
    double *x = calloc(total, sizeof *x), *score = calloc(total, sizeof *score), log_density[N];
    for (size_t k = 0; k < total; k++) x[k] = (double)((k * 7919) % 1009) / 1009 - 0.4;
    assert_int_equal(svmp_evaluator_create(model, N, 1, &e), SVMP_OK);
    assert_int_equal(svmp_evaluate(e, x, NULL, score), SVMP_OK);
    assert_int_equal(svmp_evaluate_log_density(e, x, log_density, &known), SVMP_OK);
    assert_int_equal(svmp_fingerprint_take(model, &script.identity), SVMP_OK);
    script.whole = model;
    script.x = x;
    script.score = score;
    script.log_density = log_density;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        test_process group[MOST_PROCESSES];
        run_processes(counts[c], read_part, &script, group);
        for (size_t p = 0; p < counts[c]; p++)
            if (group[p].status != SVMP_OK) fail_msg("%s", svmp_context_error(group[p].context));
        end_processes(counts[c], group);
    }
    free(x);
    free(score);
    svmp_evaluator_free(e);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Measurements of one variable with those of others between them, and a purely Gaussian model. */
static const char runs[] = "model { for (i in 1:9) { theta[i] ~ dnorm(0, 0.3) }\n"
                           "  for (k in 1:length(y)) { y[k] ~ dnorm(theta[g[k]], 0.7) }\n",
                  runs_data[] = "y <- c(.1,.7,.3,1.1,.6,.9,1.3,.2,.4,.8,.1,.7)\ng <- c(1,1,5,1,9,1,5,5,2,5,9,9)\n";

static void parts_are_read_directly(void **unused) {
    (void)unused;
    char text[1000];
    check_model(2, (const char *[]){SVMP_MODELS "/grid.mtx", SVMP_MODELS "/grid_b.mtx"});
    write_text("runs.R", runs_data);
    snprintf(text, sizeof text, "%s}\n", runs);
    write_text("runs.bug", text);
    check_model(2, (const char *[]){"runs.bug", "runs.R"});
    snprintf(text, sizeof text, "%s for (k in 1:8) { factor(-pow(theta[k] - theta[k + 1], 4)) } }\n", runs);
    write_text("runs.bug", text);
    check_model(2, (const char *[]){"runs.bug", "runs.R"});
#ifdef SVMP_HAVE_JANSSON
    check_model(2, (const char *[]){SVMP_MODELS "/sensors.bug", SVMP_MODELS "/sensors.json"});
    check_model(3, (const char *[]){SVMP_MODELS "/crowd.bug", SVMP_MODELS "/crowd.csv", SVMP_MODELS "/crowd.json"});
#endif
}

/* An error in a file is reported by all processes, whichever finds it. */
static void bad_files_are_refused_by_all(void **unused) {
    (void)unused;
    test_process group[MOST_PROCESSES];
    static const struct {
        const char *text, *sentence;
    } bad[] = {{"%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 -1\n2 2 0\n", "row 2 is 0"},
               {"%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 -1\n1 2 -1\n", "is given twice"},
               {"%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 2\n1 2 1\n2 1 2\n2 2 3\n", "not symmetric"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const model_script script = {.count = 1, .paths = {"bad.mtx"}};
        write_text("bad.mtx", bad[k].text);
        run_processes(3, read_part, &script, group);
        for (size_t p = 0; p < 3; p++) {
            assert_true(group[p].status != SVMP_OK);
            if (strstr(svmp_context_error(group[p].context), bad[k].sentence) == NULL)
                fail_msg("'%s' instead of '%s'", svmp_context_error(group[p].context), bad[k].sentence);
        }
        end_processes(3, group);
    }
}

/* Functions that need the whole model, or would change only a part of it, refuse a part, in each process by itself. */
static void call_functions_of_the_whole(test_process *p) {
    const char *const paths[] = {SVMP_MODELS "/grid.mtx"};
    static const char sentence[] =
        " needs the whole model, but this process has only a part of it: call it before the model is split.";
    svmp_model *model = NULL;
    const svmp_network network = {1e-6, 1e9};
    svmp_plan plan;
    double moments[100];
    p->status = svmp_model_read_split(p->context, 1, paths, NULL, &model, NULL);
    if (p->status != SVMP_OK) return;
    assert_int_equal(svmp_model_plan(model, NULL, 4, &network, &plan), SVMP_BAD_CALL);
    assert_non_null(strstr(svmp_context_error(p->context), sentence));
    assert_int_equal(svmp_model_exact_moments(model, moments, NULL), SVMP_BAD_CALL);
    assert_non_null(strstr(svmp_context_error(p->context), sentence));
    assert_int_equal(svmp_model_set_box(model, 0, -1, 1), SVMP_BAD_CALL);
    assert_non_null(strstr(svmp_context_error(p->context), sentence));
    svmp_model_free(model);
}

static void functions_of_whole_models_refuse_parts(void **unused) {
    (void)unused;
    test_process group[MOST_PROCESSES];
    run_processes(2, call_functions_of_the_whole, NULL, group);
    for (size_t p = 0; p < 2; p++) assert_ok(group[p].status);
    end_processes(2, group);
}

/* ---- starts ------------------------------------------------------------------------------------------------------ */

/* Particles of another run with some iterations: each process has those of its own nodes. */
static void go_on_from_a_run(test_process *p) {
    const model_script *script = p->script;
    run_options options = graphical_options();
    svmp_model *model = NULL;
    svmp_run *first = NULL, *second = NULL;
    svmp_particles *end = NULL, *start = NULL;
    svmp_outcome outcome;
    svmp_status status;
    options.particles = 5;
    options.iterations = 3;
    SVMP_CHECK(svmp_model_read_split(p->context, script->count, script->paths, NULL, &model, NULL));
    SVMP_CHECK(svmp_run_make(model, &options, &first));
    SVMP_CHECK(svmp_run_go(first, &outcome));
    SVMP_CHECK(svmp_run_particles(first, &end));
    SVMP_CHECK(svmp_run_make(model, &options, &second));
    SVMP_CHECK(svmp_run_start_from(second, end));
    SVMP_CHECK(svmp_run_particles(second, &start));
    for (size_t k = 0; k < svmp_particles_variables(end) * options.particles; k++)
        assert_near(svmp_particles_values(start)[k], svmp_particles_values(end)[k], script->rounding);
done:
    p->status = status;
    svmp_particles_free(start);
    svmp_particles_free(end);
    svmp_run_free(second);
    svmp_run_free(first);
    svmp_model_free(model);
}

static void a_run_starts_from_the_particles_of_another(void **unused) {
    (void)unused;
    static const size_t counts[] = {2, 3, 7};
    const model_script scripts[] = {
        {.count = 1, .paths = {SVMP_MODELS "/grid.mtx"}}, /* more variables in total than a word has bits */
        {.count = 2, .paths = {"positive.bug", "positive.R"}, .rounding = 1e-14}};
    write_text("positive.bug", "model { for (i in 1:9) { s[i] ~ dgamma(2, 1)\n y[i] ~ dnorm(0, s[i]) }\n"
                               "  for (i in 1:8) { factor(-pow(s[i] - s[i + 1], 2)) } }\n");
    write_text("positive.R", "y <- c(1, .2, .3, .7, 2, .1, .6, 1.1, .9)\n");
    for (size_t s = 0; s < sizeof scripts / sizeof *scripts; s++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            test_process group[MOST_PROCESSES];
            run_processes(counts[c], go_on_from_a_run, &scripts[s], group);
            for (size_t p = 0; p < counts[c]; p++)
                if (group[p].status != SVMP_OK) fail_msg("%s", svmp_context_error(group[p].context));
            end_processes(counts[c], group);
        }
}

/* Particles of 100 variables; those of process 1 have another name, or there are many more of them. */
static void start_otherwise(test_process *p) {
    enum { N = 5 };
    const int *more = p->script, odd = p->peers.rank == 1;
    const char *const paths[] = {SVMP_MODELS "/grid.mtx"};
    run_options options = graphical_options();
    svmp_model *model = NULL;
    svmp_run *run = NULL;
    svmp_particles *given = NULL;
    svmp_status status;
    options.particles = N;
    SVMP_CHECK(svmp_model_read_split(p->context, 1, paths, NULL, &model, NULL));
    SVMP_CHECK(svmp_run_make(model, &options, &run));
    SVMP_CHECK(svmp_particles_create(p->context, odd && *more ? 200 : 100, N, NULL, &given));
    for (size_t i = 0; i < svmp_particles_variables(given); i++) {
        char name[32];
        snprintf(name, sizeof name, odd && !*more && i == 7 ? "z%zu" : "x%zu", i);
        SVMP_CHECK(svmp_particles_set_name(given, i, name));
    }
    status = svmp_run_start_from(run, given);
done:
    p->status = status;
    svmp_particles_free(given);
    svmp_run_free(run);
    svmp_model_free(model);
}

static void starts_that_differ_are_refused_by_all(void **unused) {
    (void)unused;
    for (int more = 0; more < 2; more++) {
        test_process group[MOST_PROCESSES];
        run_processes(3, start_otherwise, &more, group);
        for (size_t p = 0; p < 3; p++) {
            assert_int_equal(group[p].status, SVMP_BAD_INPUT);
            assert_string_equal(svmp_context_error(group[p].context),
                                "The processes were given starts of different variables.");
        }
        end_processes(3, group);
    }
}

/* ---- stopping ---------------------------------------------------------------------------------------------------- */

enum { UNWATCHED = 0, NEVER = 100, LAST = 6 };

typedef struct stop_script {
    size_t stop[3]; /* the iteration after which the monitor of each process stops; UNWATCHED: no monitor */
    size_t end;     /* the iteration at which all stop */
    svmp_outcome outcome;
} stop_script;

typedef struct own_monitor {
    size_t stop, calls;
} own_monitor;

static int stop_after(const svmp_progress *progress, void *user_data) {
    own_monitor *own = user_data;
    own->calls++;
    assert_int_equal(progress->iteration, own->calls);
    return progress->iteration == own->stop ? -1 : 0;
}

/* A run with a monitor and one without end with the same particles; the former makes one more collective call per
 * iteration. */
static void stop_by_oneself(test_process *p) {
    const stop_script *script = p->script;
    const char *const paths[] = {SVMP_MODELS "/grid.mtx"};
    own_monitor own = {.stop = script->stop[p->peers.rank]};
    run_options options = graphical_options();
    svmp_model *model = NULL;
    svmp_run *plain = NULL, *run = NULL;
    svmp_particles *end = NULL, *same = NULL;
    svmp_outcome outcome;
    svmp_status status;
    options.particles = 5;
    options.iterations = LAST;
    SVMP_CHECK(svmp_model_read_split(p->context, 1, paths, NULL, &model, NULL));
    SVMP_CHECK(svmp_run_make(model, &options, &plain));
    SVMP_CHECK(svmp_run_make(model, &options, &run));
    if (own.stop != UNWATCHED) SVMP_CHECK(svmp_run_set_monitor(run, stop_after, &own));

    size_t calls = p->calls;
    SVMP_CHECK(svmp_run_go(plain, &outcome));
    const size_t unwatched = p->calls - calls;
    calls = p->calls;
    SVMP_CHECK(svmp_run_go(run, &outcome));
    assert_int_equal(outcome, script->outcome);
    assert_int_equal(svmp_run_iteration(run), script->end);
    if (own.stop != UNWATCHED) assert_int_equal(own.calls, script->end);
    if (script->end == LAST) assert_int_equal(p->calls - calls, unwatched + LAST);

    own.stop = NEVER;
    SVMP_CHECK(svmp_run_go(run, &outcome));
    assert_int_equal(outcome, SVMP_COMPLETED);
    assert_int_equal(svmp_run_iteration(run), LAST);
    SVMP_CHECK(svmp_run_particles(plain, &same));
    SVMP_CHECK(svmp_run_particles(run, &end));
    assert_memory_equal(svmp_particles_values(end), svmp_particles_values(same),
                        svmp_particles_variables(end) * options.particles * sizeof(double));
done:
    p->status = status;
    svmp_particles_free(end);
    svmp_particles_free(same);
    svmp_run_free(run);
    svmp_run_free(plain);
    svmp_model_free(model);
}

static void all_stop_at_the_same_iteration(void **unused) {
    (void)unused;
    static const stop_script scripts[] = {
        {{4, NEVER, NEVER}, 4, SVMP_STOPPED},
        {{NEVER, 5, 2}, 2, SVMP_STOPPED},
        {{3, UNWATCHED, UNWATCHED}, 3, SVMP_STOPPED},
        {{UNWATCHED, NEVER, 1}, 1, SVMP_STOPPED},
        {{NEVER, UNWATCHED, NEVER}, LAST, SVMP_COMPLETED},
        {{NEVER, LAST, NEVER}, LAST, SVMP_COMPLETED},
    };
    for (size_t s = 0; s < sizeof scripts / sizeof *scripts; s++) {
        test_process group[MOST_PROCESSES];
        run_processes(3, stop_by_oneself, &scripts[s], group);
        for (size_t p = 0; p < 3; p++)
            if (group[p].status != SVMP_OK) fail_msg("%s", svmp_context_error(group[p].context));
        end_processes(3, group);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_that_differ_are_refused_by_all),
        cmocka_unit_test(long_texts_are_compared_in_full),
        cmocka_unit_test(options_that_differ_are_refused_by_all),
        cmocka_unit_test(the_first_failure_is_reported_by_all),
        cmocka_unit_test(parts_are_read_directly),
        cmocka_unit_test(bad_files_are_refused_by_all),
        cmocka_unit_test(functions_of_whole_models_refuse_parts),
        cmocka_unit_test(a_run_starts_from_the_particles_of_another),
        cmocka_unit_test(starts_that_differ_are_refused_by_all),
        cmocka_unit_test(all_stop_at_the_same_iteration),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
