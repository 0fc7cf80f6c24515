/* Stein variational gradient descent with a kernel for every node: Algorithm 1 of the paper. The whole family is this
 * one method; its members differ in the domains of their kernels. */
#include "method/method.h"

static svmp_status alloc(svmp_run *run) { return (void)run, SVMP_OK; }

static svmp_status iterate(svmp_run *run) {
    backend *b = run->backend;
    const backend_kind *on = b->kind;
    const size_t t = run->iteration;
    if (on->exchange) SVMP_TRY(on->exchange(b)); /* receive the neighbours' particles */
    SVMP_TRY(on->score(b));                      /* s = d log p / dx */
    SVMP_TRY(on->stein(b, &run->kernel, t));     /* phi_i = 1/n sum_l ( s_i k_i + dk_i/dx_i ) */
    run->rate = svmp_step_rate(&run->step, t, run->iterations);
    return on->step(b, &run->step, run->rate, t); /* x_i <- x_i + epsilon phi_i */
}

#define STEIN(member, kernel_)                                                                                         \
    const method svmp_method_##member = {.name = #member,                                                              \
                                         .kernel = kernel_,                                                            \
                                         .step = "adagrad:1",                                                          \
                                         .largest = "|phi|",                                                           \
                                         .on_device = 1,                                                               \
                                         .local = 1,                                                                   \
                                         .alloc = alloc,                                                               \
                                         .iterate = iterate}

STEIN(graphical, "rbf@blanket");
STEIN(vanilla, "rbf@all");
STEIN(independent, "rbf@self");
STEIN(random, "rbf@random:4");
STEIN(combined, "0.5*rbf@random:4 + 0.5*rbf@all");
