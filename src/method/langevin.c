/* Unadjusted Langevin dynamics: every particle is an independent chain, and the last states are the result. */
#include "method/method.h"

svmp_status svmp_langevin_check_step(svmp_run *run) {
    const step_rule *rule = run->step.rule;
    if (rule == &svmp_step_fixed || rule == &svmp_step_decay) return SVMP_OK;
    return svmp_fail(run->context, SVMP_BAD_CALL,
                     "The method '%s' cannot use the step rule '%s': it takes fixed:RATE, fixed:FROM..TO or "
                     "decay:A,B,GAMMA.",
                     run->method->name, rule->name);
}

static svmp_status iterate(svmp_run *run) {
    backend *b = run->backend;
    if (b->kind->exchange) SVMP_TRY(b->kind->exchange(b));
    SVMP_TRY(b->kind->score(b));
    run->rate = svmp_step_rate(&run->step, run->iteration, run->iterations);
    return b->kind->diffuse(b, run->rate, run->iteration); /* x <- x + epsilon s + sqrt(2 epsilon) noise */
}

const method svmp_method_langevin = {.name = "langevin",
                                     .step = "fixed:0.01",
                                     .largest = "|score|",
                                     .on_device = 1,
                                     .local = 1,
                                     .alloc = svmp_langevin_check_step,
                                     .iterate = iterate};
