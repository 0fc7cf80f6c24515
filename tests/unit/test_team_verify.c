/* Cross-examination by several processes, simulated by threads: all reach the same verdict. */
#include <stdlib.h>
#include <string.h>

#include "method/method.h"
#include "unit/simulated_processes.h"
#include "verify/verdict_inside.h"

typedef struct script {
    double sd;
    svmp_finding finding;
} script;

static void run_process(test_process *p) {
    const script *s = p->script;
    const char *paths[] = {SVMP_MODELS "/grid.mtx", SVMP_MODELS "/grid_b.mtx"};
    run_options options = svmp_run_options_default();
    svmp_model *model = NULL;
    svmp_run *run = NULL;
    svmp_verdict v = {0}, *all;
    options.method = "graphical";
    options.init = s->sd > 1 ? "normal:5" : "normal:0.01";
    options.particles = 20;
    p->status = svmp_model_read_split(p->context, 2, paths, NULL, &model, NULL);
    if (p->status == SVMP_OK) p->status = svmp_run_make(model, &options, &run);
    if (p->status == SVMP_OK) p->status = svmp_run_examine(run, 0, 40, &v);
    if (p->status == SVMP_OK && v.finding != s->finding) p->status = SVMP_BAD_INPUT;
    all = calloc(p->peers.count, sizeof v);
    v.seconds = 0;
    if (p->status == SVMP_OK) svmp_context_gather(p->context, sizeof v, &v, all);
    for (size_t k = 0; p->status == SVMP_OK && k < p->peers.count; k++)
        if (memcmp(&all[k], &v, sizeof v) != 0) p->status = SVMP_BAD_CALL; /* all have the same verdict */
    free(all);
    svmp_run_free(run);
    svmp_model_free(model);
}

static void test_processes(void **state) {
    (void)state;
    static const script scripts[] = {{5, SVMP_FINDING_FAILED}, {0.01, SVMP_FINDING_FAILED}};
    for (size_t k = 0; k < 2; k++) {
        test_process group[MOST_PROCESSES];
        run_processes(3, run_process, &scripts[k], group);
        for (size_t p = 0; p < 3; p++) assert_ok(group[p].status);
        end_processes(3, group);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_processes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
