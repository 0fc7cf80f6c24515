/* Several processes, simulated by threads, one of which runs out of memory: whichever allocation of any process fails,
 * all return that failure, none waits for another, nothing leaks and no partial file is left. */
#include <string.h>

#include "method/method.h"
#include "unit/files.h"
#include "unit/simulated_processes.h"

enum { PROCESSES = 3 };

/* All objects of a process, which are freed in one place. */
typedef struct life {
    svmp_model *model;
    svmp_run *run, *resumed;
    svmp_particles *particles, *some, *first;
} life;

typedef struct script {
    size_t count; /* number of files; 0: each process builds the model, then they split it */
    const char *paths[2], *monitors;
    const char *method, *backend, *init, *start; /* start: a file, or NULL */
    const char *kernel, *step;                   /* NULL: the method's own */
    size_t iterations;                           /* 0: 3 */
    int shared;                                  /* each process has the whole model */
} script;

static run_options options_of(const script *s) {
    run_options options = graphical_options();
    options.method = s->method;
    options.backend = s->backend;
    options.init = s->init;
    options.kernel = s->kernel;
    options.step = s->step;
    options.particles = 4;
    options.iterations = s->iterations ? s->iterations : 3;
    return options;
}

static svmp_status go(const script *s, life *l) {
    const run_options options = options_of(s);
    svmp_outcome outcome;
    SVMP_TRY(svmp_run_make(l->model, &options, &l->run));
    if (s->start) SVMP_TRY(svmp_run_start_from_file(l->run, s->start));
    SVMP_TRY(svmp_run_go(l->run, &outcome));
    return strcmp(s->method, "local") == 0 ? SVMP_OK : svmp_run_measure(l->run, NULL, NULL);
}

static svmp_status write_all(const svmp_run *run, life *l) {
    SVMP_TRY(svmp_run_particles(run, &l->particles));
    if (svmp_particles_statistic(l->particles, "lp__") == NULL)
        return SVMP_NO_MEMORY; /* if it fails, all continue without it */
    SVMP_TRY(
        svmp_particles_select(l->particles, svmp_particles_variables(l->particles) > 0, (size_t[]){0}, 1, &l->some));
    SVMP_TRY(svmp_particles_first(l->particles, 3, &l->first));
    if (run->model->sharers && svmp_context_process(run->context) > 0) return SVMP_OK; /* which has the same */
    return svmp_particles_write(l->particles, "particles.csv", "a comment", 1);
}

static svmp_status resume(const script *s, life *l) {
    const run_options options = options_of(s);
    SVMP_TRY(svmp_run_save(l->run, "run.svmp"));
    SVMP_TRY(svmp_run_make(l->model, &options, &l->resumed));
    if (s->start) SVMP_TRY(svmp_run_start_from_file(l->resumed, s->start));
    return svmp_run_load(l->resumed, "run.svmp");
}

static int quartic(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)user_data;
    for (size_t l = 0; l < n; l++) {
        const double between = x[0][l] - x[1][l], cube = between * between * between;
        value[l] = -cube * between;
        gradient[0][l] = -4 * cube;
        gradient[1][l] = 4 * cube;
    }
    return 0;
}

/* Building the model involves no other process, so allocations fail only from the split on. */
static svmp_status build(test_process *p, svmp_model **model) {
    const long scarce = p->scarce;
    p->scarce = 0;
    SVMP_TRY(svmp_model_create(p->context, model));
    for (size_t v = 0; v < 7; v++) {
        SVMP_TRY(svmp_model_add_node(*model, v ? NULL : "first", 1, NULL, NULL, NULL));
        SVMP_TRY(svmp_model_add_gaussian(*model, 1, &v, (double[]){2}, NULL));
        if (v > 0) SVMP_TRY(svmp_model_add_callback(*model, 2, (size_t[]){v - 1, v}, quartic, NULL));
    }
    SVMP_TRY(svmp_model_finish(*model));
    if (scarce) p->scarce = p->made + scarce;
    return svmp_model_split(model, NULL);
}

static void live(test_process *p) {
    const script *s = p->script;
    life l = {0};
    const svmp_reading how = {.monitors = s->monitors};
    p->status = s->shared  ? svmp_model_read_shared(p->context, s->count, s->paths, &how, &l.model)
                : s->count ? svmp_model_read_split(p->context, s->count, s->paths, &how, &l.model, NULL)
                           : build(p, &l.model);
    if (p->status == SVMP_OK) p->status = go(s, &l);
    if (p->status == SVMP_OK) p->status = svmp_agree(p->context, &p->peers, write_all(l.run, &l));
    if (p->status == SVMP_OK) p->status = resume(s, &l);
    svmp_particles_free(l.first);
    svmp_particles_free(l.some);
    svmp_particles_free(l.particles);
    svmp_run_free(l.resumed);
    svmp_run_free(l.run);
    svmp_model_free(l.model);
}

/* Returns whether the allocation was reached. */
static int fail_one(const script *s, size_t failing, long scarce) {
    test_process group[MOST_PROCESSES];
    run_processes_scarce(PROCESSES, live, s, failing, scarce, group);
    const int failed = group[failing].made >= group[failing].scarce;
    for (size_t p = 0; p < PROCESSES; p++) {
        const char *error = svmp_context_error(group[p].context);
        if (group[p].status != (failed ? SVMP_NO_MEMORY : SVMP_OK) ||
            (failed && strstr(error, "Out of memory") == NULL))
            fail_msg("allocation %ld of process %zu: process %zu returns %d, '%s'", scarce, failing, p, group[p].status,
                     error);
    }
    end_processes(PROCESSES, group);
    return failed;
}

/* Every third allocation of the first process, every seventh of the others. */
static void fail_each(const script *s, size_t processes) {
    const size_t files = files_in_folder(0);
    for (size_t failing = 0; failing < processes; failing++) {
        long scarce = failing == 0 ? 1 : (long)failing;
        int failed;
        do {
            failed = fail_one(s, failing, scarce);
            unlink("particles.csv");
            unlink("run.svmp");
            if (files_in_folder(0) != files) fail_msg("allocation %ld of process %zu leaves a file", scarce, failing);
            scarce += failing == 0 ? 3 : 7;
        } while (failed);
        print_message("about %ld allocations of process %zu\n", scarce, failing);
        assert_true(scarce > 100);
    }
}

static void write_start(const script *s) {
    const script alone = {.count = s->count,
                          .paths = {s->paths[0], s->paths[1]},
                          .method = s->method,
                          .backend = s->backend,
                          .init = "normal:1"};
    const run_options options = options_of(&alone);
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    svmp_run *run = NULL;
    svmp_particles *particles = NULL;
    assert_ok(svmp_model_read(context, s->count, s->paths, NULL, &model));
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_particles(run, &particles));
    assert_ok(svmp_particles_write(particles, s->start, NULL, 1));
    svmp_particles_free(particles);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void of_a_matrix(void **unused) {
    (void)unused;
    const script s = {.count = 2,
                      .paths = {"chain.mtx", "b.mtx"},
                      .method = "graphical",
                      .backend = "cpu",
                      .init = "normal:1",
                      .start = "start.csv"};
    write_text("chain.mtx", "%%MatrixMarket matrix coordinate real symmetric\n6 6 11\n1 1 2\n2 1 -1\n2 2 2\n3 2 -1\n"
                            "3 3 2\n4 3 -1\n4 4 2\n5 4 -1\n5 5 2\n6 5 -1\n6 6 2\n");
    write_text("b.mtx", "%%MatrixMarket matrix array real general\n6 1\n1\n0\n0\n2\n0\n1\n");
    write_start(&s);
    fail_each(&s, PROCESSES);
}

static void of_messages(void **unused) {
    (void)unused;
    const script s = {.count = 1,
                      .paths = {"star.mtx"},
                      .method = "graphical",
                      .backend = "cpu",
                      .init = "normal:1",
                      .kernel = "rbf/sd@self + linear/sd@near:2",
                      .step = "adam-sd:0.1"};
    write_text("star.mtx", "%%MatrixMarket matrix coordinate real symmetric\n5 5 9\n1 1 5\n2 1 -1\n3 1 -1\n4 1 -1\n"
                           "5 1 -1\n2 2 2\n3 3 2\n4 4 2\n5 5 2\n");
    fail_each(&s, 2);
}

static void of_a_text(void **unused) {
    (void)unused;
    const script s = {.count = 2,
                      .paths = {"text.bug", "text.R"},
                      .monitors = "top",
                      .method = "combined",
                      .backend = "cpu",
                      .init = "prior"};
    write_text("text.bug", "model { mu ~ dnorm(0, 1)\n for (i in 1:4) { theta[i] ~ dgamma(2, 1)\n"
                           "  y[i] ~ dnorm(mu + log(theta[i]), 1) }\n"
                           "  for (i in 1:3) { z[i] ~ dnorm(mu, 2) }\n top <- mean(theta[]) + mu }\n");
    write_text("text.R", "y <- c(1, 2, 3, 4)\nz <- c(NA, 0.5, NA)\n");
    fail_each(&s, 2); /* the third is like the second */
}

static void of_a_model_that_is_built(void **unused) {
    (void)unused;
    const script s = {.method = "langevin", .backend = "ref", .init = "uniform:-1,1"};
    fail_each(&s, 2);
}

/* A sampler, whose draws read their halo from the backend one after another. */
static void of_local_moves(void **unused) {
    (void)unused;
    const script s = {
        .count = 1, .paths = {"moves.bug"}, .monitors = "all", .method = "local", .backend = "cpu", .init = "normal:1"};
    write_text("moves.bug", "model { m ~ dnorm(0, 1)\n for (i in 1:3) { x[i] ~ dnorm(m, 1) T(m,) }\n"
                            " all <- sum(x[]) }\n");
    fail_each(&s, 2);
}

/* Every process has the whole model, and moves a share of the chains. */
static void of_shared_chains(void **unused) {
    (void)unused;
    script s = {
        .count = 1, .paths = {"shared.bug"}, .backend = "cpu", .init = "gaussian", .iterations = 27, .shared = 1};
    write_text("shared.bug", "model { m ~ dnorm(0, 1)\n for (i in 1:2) { x[i] ~ dnorm(m, 1) } }\n");
    static const char *const methods[] = {"transport", "mala"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        s.method = methods[k];
        s.init = k == 0 ? "gaussian" : "normal:1";
        fail_each(&s, 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_a_matrix),    cmocka_unit_test(of_messages),
                                       cmocka_unit_test(of_a_text),      cmocka_unit_test(of_a_model_that_is_built),
                                       cmocka_unit_test(of_local_moves), cmocka_unit_test(of_shared_chains)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
