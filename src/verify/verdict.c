/* The verdict of a run: cheap vetoes first, then the examination. */
#include <math.h>
#include <string.h>

#include "base/team.h"
#include "model/lowered.h"
#include "verify/verify.h"

static const double large_step = 0.25; /* sd: four such steps are one */

void svmp_verdict_describe(const svmp_run *run, svmp_verdict *verdict) {
    *verdict = (svmp_verdict){.nodes = run->model->graph->whole_nodes,
                              .variables = run->model->graph->whole_variables,
                              .particles = run->backend->n,
                              .unexamined = SVMP_UNASKED,
                              .limit = NAN,
                              .slowest = NAN,
                              .leaves = run->model->lowered ? run->model->lowered->leaf_variables : 0,
                              .iterations = run->iteration};
    snprintf(verdict->method, sizeof verdict->method, "%.15s", run->method->name);
    snprintf(verdict->init, sizeof verdict->init, "%.31s", run->started_from ? "FILE" : svmp_run_init(run));
}

void svmp_verdict_veto(svmp_verdict *verdict, svmp_veto veto, double amount, const char *name) {
    if (verdict->veto != SVMP_VETO_NONE) return;
    verdict->veto = veto;
    verdict->veto_amount = amount;
    snprintf(verdict->veto_name, sizeof verdict->veto_name, "%.127s", name ? name : "");
}

int svmp_verdict_is_clear(const svmp_verdict *verdict) {
    return verdict->finding == SVMP_PASSED && verdict->veto == SVMP_VETO_NONE;
}

const char *svmp_finding_text(svmp_finding finding) {
    switch (finding) {
    case SVMP_NOT_EXAMINED: return "not examined";
    case SVMP_PASSED: return "passed";
    case SVMP_FAILED: return "failed";
    case SVMP_UNDECIDED: return "undecided";
    }
    return "unknown";
}

/* ---- vetoes ------------------------------------------------------------------------------------------------------ */

/* A name and how bad it is, of one process. */
typedef struct suspect {
    double amount;
    size_t place, count; /* in the whole model; how many there are */
    char name[128];
} suspect;

/* The worst of all processes; counts add up. */
static svmp_status worst_of_all(const svmp_run *run, suspect *mine) {
    const team *others = run->model->graph->halo ? run->context->team : NULL;
    suspect *all = NULL;
    if (others == NULL) return SVMP_OK;
    SVMP_TRY(svmp_team_agree(run->context, SVMP_NEW(run->context, all, others->count)));
    others->gather(others, sizeof *mine, mine, all);
    *mine = all[0];
    for (size_t k = 1; k < others->count; k++) {
        const size_t count = mine->count + all[k].count;
        if (all[k].amount > mine->amount || (all[k].amount == mine->amount && all[k].place < mine->place))
            *mine = all[k];
        mine->count = count;
    }
    svmp_release(run->context, all);
    return SVMP_OK;
}

static svmp_status look_at_nodes(const svmp_run *run, const svmp_discrepancy *nodes, svmp_verdict *verdict) {
    const svmp_graph *graph = run->model->graph;
    suspect worst = {.amount = -1};
    for (size_t v = 0; v < graph->own; v++) {
        const double excess = svmp_discrepancy_excess(&nodes[v]);
        worst.count += excess > 1;
        if (!(excess > worst.amount)) continue;
        worst.amount = excess;
        worst.place = svmp_graph_whole_node(graph, v);
        svmp_model_node_name(run->model, v, worst.name, sizeof worst.name);
    }
    SVMP_TRY(worst_of_all(run, &worst));
    if (worst.count > 0) svmp_verdict_veto(verdict, SVMP_VETO_DISCREPANCY, (double)worst.count, worst.name);
    return SVMP_OK;
}

/* Moves that contain noise do not shrink, so only methods with a kernel are judged by their last step. */
static svmp_status look_at_step(const svmp_run *run, svmp_verdict *verdict) {
    svmp_movement moved;
    if (run->method->kernel == NULL) return SVMP_OK;
    SVMP_TRY(svmp_run_last_movement(run, &moved));
    suspect worst = {.amount = -1}; /* also of a part without variables */
    if (!isnan(moved.relative) && moved.variable < run->model->graph->own_variables) {
        worst.amount = moved.relative;
        worst.place = svmp_graph_whole_variable(run->model->graph, moved.variable);
        svmp_model_variable_name(run->model, moved.variable, worst.name, sizeof worst.name);
    }
    SVMP_TRY(worst_of_all(run, &worst));
    if (worst.amount > large_step) svmp_verdict_veto(verdict, SVMP_VETO_STEP, worst.amount, worst.name);
    return SVMP_OK;
}

static int was_interrupted(const svmp_run *run) {
    const int converged = run->options.tolerance > 0 && run->backend->largest <= run->options.tolerance;
    return run->iteration < run->iterations && !run->ended && !converged;
}

svmp_status svmp_run_verdict(const svmp_run *run, const svmp_discrepancy *nodes, double seconds,
                             svmp_verdict *verdict) {
    if (run == NULL) return SVMP_BAD_CALL;
    if (verdict == NULL) return svmp_fail(run->context, SVMP_BAD_CALL, "svmp_run_verdict: the verdict is NULL.");
    if (run->method->yield != SVMP_PARTICLES)
        return svmp_fail(run->context, SVMP_UNSUPPORTED, "The method '%s' does not move particles to be judged.",
                         run->method->name);
    svmp_verdict_describe(run, verdict);
    const svmp_status status = seconds > 0 ? svmp_run_examine(run, seconds, 0, verdict) : SVMP_OK;
    if (status == SVMP_NO_MEMORY) return status; /* moves that failed are no evidence: verdict->unexamined */
    if (run->backend->n < VERDICT_FEWEST) svmp_verdict_veto(verdict, SVMP_VETO_FEW, VERDICT_FEWEST, NULL);
    if (run->iteration == 0) svmp_verdict_veto(verdict, SVMP_VETO_UNMOVED, 0, NULL);
    if (nodes) SVMP_TRY(look_at_nodes(run, nodes, verdict));
    SVMP_TRY(look_at_step(run, verdict));
    if (run->ended == RUN_DONE) svmp_verdict_veto(verdict, SVMP_VETO_UNSETTLED, 0, NULL);
    if (was_interrupted(run)) svmp_verdict_veto(verdict, SVMP_VETO_INTERRUPTED, 0, NULL);
    return SVMP_OK;
}
