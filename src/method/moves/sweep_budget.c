/* Which nodes move in a sweep, by what they cost. */
#include <math.h>

#include "method/moves/sweep_state.h"

static const double rarest = 32; /* a node that would move in fewer than every 32nd sweep moves no more */

static int is_discontinuous(const sweeper *s, const node_task *task) {
    for (size_t k = 0; s->discontinuous && k < task->count; k++)
        if (s->discontinuous[task->nodes[k]]) return 1;
    return 0;
}

/* Sets the period of a node to the root of its cost over `unit`: of all periods with the same total cost these have the
 * least sum. Returns what a sweep costs on average, without nodes that always move. Tasks that move no more stay so,
 * because their scales have not been estimated; *dropped is set if there is a new one. */
static double set_periods(const sweeper *s, double unit, bool *dropped) {
    size_t count, hubs;
    const node_task *tasks = svmp_node_evaluator_tasks(s->local, 0, &count, &hubs);
    double total = 0;
    for (size_t k = 0; k < svmp_node_evaluator_task_count(s->local); k++) {
        const double work = (double)svmp_node_evaluator_task_work(s->local, &tasks[k]);
        const double wanted = fmax(1, ceil(sqrt(work / (double)tasks[k].count / unit)));
        if (s->period[k] == 0 || is_discontinuous(s, &tasks[k])) continue;
        s->period[k] = wanted <= rarest ? (uint32_t)wanted : 0;
        if (s->period[k] > 0)
            total += work / wanted;
        else
            *dropped = true;
    }
    return total;
}

void svmp_sweeper_set_budget(sweeper *s, double scores) {
    const double allowed = scores * (double)svmp_node_evaluator_work(s->local).score, shrink = 0.8;
    if (!isfinite(scores)) return;
    for (bool dropped = true; dropped;) { /* what dropped nodes would have cost is left for the others */
        dropped = false;
        for (double unit = allowed; set_periods(s, unit, &dropped) > allowed && !dropped;) unit *= shrink;
    }
}

double svmp_sweeper_match_trajectories(sweeper *s, const trajectory *t) {
    const double score = (double)svmp_node_evaluator_work(s->local).score;
    const double scores = svmp_trajectory_operations(t, score) / score;
    svmp_sweeper_set_budget(s, scores);
    return scores;
}
