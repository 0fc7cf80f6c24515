/* Local moves of several processes, simulated by threads: colours, draws, statistics and checkpoints have the bits of
 * one process. */
#include <stdlib.h>
#include <string.h>

#include "graph/colouring.h"
#include "method/method.h"
#include "sample/particles.h"
#include "unit/files.h"
#include "unit/simulated_processes.h"

typedef struct script {
    size_t count;
    const char *paths[3], *monitor;
    run_options options;
    svmp_particles *alone;
    const uint32_t *colour;
    size_t colours, break_at; /* 0: never */
} script;

static svmp_status go(const run_options *options, const svmp_model *model, svmp_run **made) {
    svmp_outcome outcome;
    SVMP_TRY(svmp_run_make(model, options, made));
    return svmp_run_go(*made, &outcome);
}

static int stop(const svmp_progress *progress, void *at) { return progress->iteration == *(const size_t *)at; }

/* Runs to a checkpoint and continues from it in another run. */
static svmp_status go_in_two(const script *s, const svmp_model *model, svmp_run **made) {
    svmp_outcome outcome;
    size_t at = s->break_at;
    SVMP_TRY(svmp_run_make(model, &s->options, made));
    SVMP_TRY(svmp_run_set_monitor(*made, stop, &at));
    SVMP_TRY(svmp_run_go(*made, &outcome));
    SVMP_TRY(svmp_run_save(*made, "parts.svmp"));
    svmp_run_free(*made);
    *made = NULL;
    SVMP_TRY(svmp_run_make(model, &s->options, made));
    SVMP_TRY(svmp_run_load(*made, "parts.svmp"));
    return svmp_run_go(*made, &outcome);
}

static svmp_status compare(const script *s, const svmp_particles *here) {
    const svmp_particles *alone = s->alone;
    const size_t row = alone->count * sizeof(double);
    if (here->count != alone->count || here->chains != alone->chains) return SVMP_BAD_CALL;
    for (size_t i = 0; i < here->variables; i++)
        if (memcmp(here->values + i * here->count, alone->values + here->place[i] * alone->count, row) != 0)
            return SVMP_BAD_CALL;
    for (size_t k = 0; k < alone->statistic_count; k++)
        if (memcmp(here->statistics[k].values, alone->statistics[k].values, row) != 0) return SVMP_BAD_CALL;
    return here->statistic_count == alone->statistic_count ? SVMP_OK : SVMP_BAD_CALL;
}

static svmp_status compare_colours(const script *s, const svmp_graph *graph) {
    uint32_t *colour = calloc(graph->nodes, sizeof *colour);
    size_t colours = 0;
    svmp_status status = svmp_graph_colour(graph, colour, &colours);
    for (size_t v = 0; v < graph->nodes && status == SVMP_OK; v++)
        if (colour[v] != s->colour[svmp_node_key(graph, v)]) status = SVMP_BAD_INPUT;
    free(colour);
    return status == SVMP_OK && colours != s->colours ? SVMP_BAD_INPUT : status;
}

static void run_process(test_process *p) {
    const script *s = p->script;
    svmp_model *model = NULL;
    svmp_run *run = NULL;
    svmp_particles *particles = NULL;
    p->status =
        svmp_model_read_split(p->context, s->count, s->paths, &(svmp_reading){.monitors = s->monitor}, &model, NULL);
    if (p->status == SVMP_OK) p->status = compare_colours(s, model->graph);
    if (p->status == SVMP_OK) p->status = s->break_at ? go_in_two(s, model, &run) : go(&s->options, model, &run);
    if (p->status == SVMP_OK) p->status = svmp_run_particles(run, &particles);
    if (p->status == SVMP_OK) p->status = compare(s, particles);
    svmp_particles_free(particles);
    svmp_run_free(run);
    svmp_model_free(model);
}

static void check(size_t count, const char *const *paths, const char *monitor) {
    static const size_t processes[] = {2, 3, 7};
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    svmp_run *run = NULL;
    script s = {.count = count, .monitor = monitor, .options = graphical_options()};
    memcpy(s.paths, paths, count * sizeof *paths);
    s.options.method = "local";
    s.options.particles = 6;
    s.options.iterations = 40;
    s.options.draws = 7;
    s.options.init = "normal:0.5";
    if (svmp_model_read(context, count, paths, &(svmp_reading){.monitors = monitor}, &model) != SVMP_OK)
        fail_msg("%s", svmp_context_error(context));
    uint32_t *colour = calloc(model->graph->nodes, sizeof *colour);
    assert_ok(svmp_graph_colour(model->graph, colour, &s.colours));
    s.colour = colour;
    if (go(&s.options, model, &run) != SVMP_OK) fail_msg("%s", svmp_context_error(context));
    assert_ok(svmp_run_save(run, "alone.svmp"));
    assert_ok(svmp_run_particles(run, &s.alone));
    for (size_t c = 0; c < sizeof processes / sizeof *processes; c++)
        for (s.break_at = 0; s.break_at < 40; s.break_at += 27) {
            test_process group[MOST_PROCESSES];
            (s.break_at ? run_processes_lossy : run_processes)(processes[c], run_process, &s, group);
            for (size_t p = 0; p < processes[c]; p++)
                if (group[p].status != SVMP_OK)
                    fail_msg("%s: process %zu of %zu: %s: %s", paths[0], p, processes[c],
                             svmp_status_text(group[p].status), svmp_context_error(group[p].context));
            end_processes(processes[c], group);
        }
    svmp_particles_free(s.alone);
    svmp_run_free(run);
    free(colour);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void a_grid(void **unused) {
    (void)unused;
    check(2, (const char *[]){SVMP_MODELS "/grid.mtx", SVMP_MODELS "/grid_b.mtx"}, NULL);
}

static void sensors_and_a_crowd(void **unused) {
    (void)unused;
#ifndef SVMP_HAVE_JANSSON
    skip();
#endif
    check(2, (const char *[]){SVMP_MODELS "/sensors.bug", SVMP_MODELS "/sensors.json"}, NULL);
    check(3, (const char *[]){SVMP_MODELS "/crowd.bug", SVMP_MODELS "/crowd.csv", SVMP_MODELS "/crowd.json"}, NULL);
}

/* A bound that is another node, monitored quantities, and vector nodes. */
static void a_text(void **unused) {
    (void)unused;
    write_text("text.bug", "model {\n"
                           "  m ~ dnorm(0, 1)\n"
                           "  for (i in 1:9) { top[i] ~ dnorm(m, 1) T(m,)\n"
                           "    place[i,1:2] ~ dmnorm(zero, P)\n"
                           "    factor(-0.1 * pow(place[i,1] - top[i], 4) - pow(place[i,2] * m, 2)) }\n"
                           "  all <- sum(top[1:9]) + m }\n");
    write_text("text.R", "zero <- c(0, 0)\nP <- structure(c(2, 1, 1, 2), .Dim = c(2, 2))\n");
    check(2, (const char *[]){"text.bug", "text.R"}, "all");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid),
        cmocka_unit_test(sensors_and_a_crowd),
        cmocka_unit_test(a_text),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
