/* Whole runs of several processes, simulated by threads: particles and discrepancy have the bits of one process, for
 * every kind of kernel, including sums, on grids, sensors, crowds and cliques. */
#include <stdlib.h>
#include <string.h>

#include "method/method.h"
#include "unit/files.h"
#include "unit/simulated_processes.h"

typedef struct script {
    size_t count;
    const char *paths[3];
    run_options options;
    const svmp_run *alone;
    svmp_discrepancy discrepancy;
} script;

static svmp_status run(const script *s, const svmp_model *model, svmp_run **made, svmp_discrepancy *discrepancy) {
    svmp_outcome outcome;
    SVMP_TRY(svmp_run_make(model, &s->options, made));
    SVMP_TRY(svmp_run_go(*made, &outcome));
    return svmp_run_measure(*made, discrepancy, NULL);
}

static void run_part(test_process *p) {
    const script *s = p->script;
    svmp_model *model = NULL;
    svmp_run *here = NULL;
    svmp_discrepancy discrepancy;
    p->status = svmp_model_read_split(p->context, s->count, s->paths, NULL, &model, NULL);
    if (p->status == SVMP_OK) p->status = run(s, model, &here, &discrepancy);
    if (p->status == SVMP_OK) {
        const svmp_graph *graph = model->graph;
        const size_t n = s->options.particles;
        for (size_t i = 0; i < graph->moved_variables; i++)
            if (memcmp(here->backend->x + i * n, s->alone->backend->x + svmp_variable_key(graph, i) * n,
                       n * sizeof(double)) != 0)
                p->status = SVMP_BAD_CALL;
        if (memcmp(&discrepancy, &s->discrepancy, sizeof discrepancy) != 0) p->status = SVMP_BAD_CALL;
    }
    svmp_run_free(here);
    svmp_model_free(model);
}

typedef struct setting {
    const char *method, *kernel, *backend;
    size_t particles;
    const char *step;
} setting;

static const setting settings[] = {
    {"graphical", NULL, "cpu", 7, "fixed:0.001"},
    {"vanilla", NULL, "cpu", 7, "fixed:0.001"},
    {"combined", NULL, "cpu", 6, "fixed:0.001"},
    {"random", NULL, "cpu", 1, "fixed:0.001"},
    {"langevin", NULL, "cpu", 2, "fixed:0.001"},
    {"graphical", "linear@all + imq@all", "cpu", 5, "fixed:0.001"},
    {"graphical", "linear@all", "cpu", 250, "fixed:0.001"}, /* more than variables */
    {"graphical", "rbf@all + rbf@blanket + imq@self", "cpu", 7, "fixed:0.001"},
    {"graphical", "imq@self + linear@all + rbf@self + rbf@random:2 + 0.3*rbf@blanket", "cpu", 7, "fixed:0.001"},
    {"graphical", "linear@all + rbf@all + rbf@blanket", "ref", 4, "fixed:0.001"},
    {"graphical", "rbf/sd@self + linear/sd@blanket", "cpu", 7, "adam-sd:0.1"},
    {"graphical", "linear/sd@all + imq/sd@all + 2*rbf@blanket", "cpu", 6, "adam-sd:0.1..0.01"},
    {"graphical", "linear/sd@all", "cpu", 250, "adam-sd:0.1"},
    {"graphical", "rbf/sd@random:3 + linear/sd@blanket", "ref", 5, "adam-sd:0.1"},
    {"graphical", "rbf/sd@self + linear/sd@near", "cpu", 12, "adam-sd:0.1"}, /* a hub has more than 4 variables */
    {"graphical", "rbf/sd@near:6 + linear/sd@message + 0.1*rbf/sd@all", "cpu", 7, "adam-sd:0.1"},
    {"graphical", "linear/sd@near:8 + rbf/sd@message", "ref", 4, "adam-sd:0.1"},
};

typedef void process_runner(size_t count, void (*body)(test_process *), const void *script, test_process *group);

static void check(size_t count, const char *const *paths, process_runner *run_group) {
    static const size_t processes[] = {2, 3, 4, 7};
    long late = 0;
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    if (svmp_model_read(context, count, paths, NULL, &model) != SVMP_OK) fail_msg("%s", svmp_context_error(context));
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const setting *now = &settings[k];
        script s = {.count = count, .options = graphical_options()};
        svmp_run *alone = NULL;
        memcpy(s.paths, paths, count * sizeof *paths);
        s.options.method = now->method;
        s.options.kernel = now->kernel;
        s.options.backend = now->backend;
        s.options.particles = now->particles;
        s.options.iterations = 4;
        s.options.step = now->step;
        if (run(&s, model, &alone, &s.discrepancy) != SVMP_OK) fail_msg("%s", svmp_context_error(context));
        s.alone = alone;
        for (size_t c = 0; c < sizeof processes / sizeof *processes; c++) {
            test_process group[MOST_PROCESSES];
            run_group(processes[c], run_part, &s, group);
            for (size_t p = 0; p < processes[c]; p++)
                if (group[p].status != SVMP_OK)
                    fail_msg("%s, %s %s of %zu: process %zu of %zu differs: %s", paths[0], now->method,
                             now->kernel ? now->kernel : "", now->particles, p, processes[c],
                             svmp_context_error(group[p].context));
            for (size_t p = 0; p < processes[c]; p++) late += group[p].late;
            end_processes(processes[c], group);
        }
        svmp_run_free(alone);
    }
    assert_true((late > 0) == (run_group == run_processes_lossy));
    svmp_model_free(model);
    svmp_context_free(context);
}

static void a_grid(void **unused) {
    (void)unused;
    check(2, (const char *[]){SVMP_MODELS "/grid.mtx", SVMP_MODELS "/grid_b.mtx"}, run_processes);
}

/* Lost or late rows change the time, but no bit. */
static void lossy_links(void **unused) {
    (void)unused;
    check(2, (const char *[]){SVMP_MODELS "/grid.mtx", SVMP_MODELS "/grid_b.mtx"}, run_processes_lossy);
}

static void sensors_and_a_crowd(void **unused) {
    (void)unused;
#ifndef SVMP_HAVE_JANSSON
    skip();
#endif
    check(2, (const char *[]){SVMP_MODELS "/sensors.bug", SVMP_MODELS "/sensors.json"}, run_processes);
    check(3, (const char *[]){SVMP_MODELS "/crowd.bug", SVMP_MODELS "/crowd.csv", SVMP_MODELS "/crowd.json"},
          run_processes);
}

/* Two cliques with alternating nodes: each shares a kernel matrix, which belongs to its first node. The next model has
 * isolated nodes, fewer than processes. */
static void cliques_and_few_nodes(void **unused) {
    (void)unused;
    enum { NODES = 60 };
    char text[40 * NODES * NODES];
    size_t at = (size_t)snprintf(text, sizeof text, "%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n",
                                 NODES, NODES, NODES + 2 * (NODES / 2) * (NODES / 2 - 1) / 2);
    for (int j = 1; j <= NODES; j++)
        for (int i = j; i <= NODES; i += 2)
            at += (size_t)snprintf(text + at, sizeof text - at, "%d %d %g\n", i, j, i == j ? 40. : -1.);
    write_text("cliques.mtx", text);
    check(1, (const char *[]){"cliques.mtx"}, run_processes);
    write_text("few.mtx", "%%MatrixMarket matrix coordinate real symmetric\n5 5 6\n"
                          "1 1 2\n2 2 1e-9\n3 3 3\n4 4 1e9\n5 5 1\n2 1 1e-6\n");
    check(1, (const char *[]){"few.mtx"}, run_processes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid),
        cmocka_unit_test(lossy_links),
        cmocka_unit_test(sensors_and_a_crowd),
        cmocka_unit_test(cliques_and_few_nodes),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
