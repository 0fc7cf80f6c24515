/* The gradient of a model's log density: microseconds for a particle, of one thread.
 *
 *     bench_gradient [--quick]        a small regression
 *     bench_gradient MODEL DATA       of files; bench/peers/gradients.py compares it with stanli's
 *
 * Prints the number of variables, the time of a gradient of one particle, as NUTS takes it, and of one of 64 particles
 * that are evaluated together; the best of several rounds. */
#include <math.h>

#include "base/random.h"
#include "model/evaluator.h"

#include "bench/bench.h"

enum { TOGETHER = 64 };

/* Microseconds for a particle of n, from points N(0, 0.1^2). */
static double measure(const svmp_model *model, size_t n, double least) {
    const size_t size = model->graph->variables * n;
    double *x = malloc(2 * size * sizeof *x), *log_density = malloc(n * sizeof *log_density), best = INFINITY;
    evaluator *e = NULL;
    must(svmp_evaluator_create(model, n, 1, &e));
    svmp_random_normals((random_stream){.seed = 1, .purpose = RANDOM_TEST}, size, x);
    for (size_t k = 0; k < size; k++) x[k] *= 0.1;
    for (double all = 0; all < least;) {
        const double start = thread_seconds();
        double passed = 0;
        size_t count = 0;
        for (; passed < 0.1 * least; count++, passed = thread_seconds() - start)
            must(svmp_evaluate(e, x, log_density, x + size));
        all += passed;
        best = fmin(best, passed / (double)(count * n));
    }
    svmp_evaluator_free(e);
    free(x);
    free(log_density);
    return 1e6 * best;
}

int main(int count, char **arguments) {
    static const char text[] = "model { for (i in 1:9) { y[i] <- i * i\n z[i] ~ dnorm(a + b * y[i], tau) }\n"
                               "a ~ dnorm(0, 1)\n b ~ dnorm(0, 1)\n tau ~ dgamma(1, 1) }";
    const int quick = count < 3;
    svmp_model *model = NULL;
    start_context(1);
    must(quick ? svmp_model_read_text(context, "text", text, NULL, NULL, &model)
               : svmp_model_read(context, (size_t)count - 1, (const char *const *)arguments + 1, NULL, &model));
    printf("%zu variables %.3f us alone %.3f us together\n", model->graph->variables,
           measure(model, 1, quick ? 0.01 : 1), measure(model, TOGETHER, quick ? 0.01 : 1));
    svmp_model_free(model);
    svmp_context_free(context);
    return 0;
}
