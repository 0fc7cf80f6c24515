/* What an iteration costs: square Gaussian grids, methods and numbers of particles; bench_iteration [THREADS] */
#include "bench/bench.h"

/* Seconds an iteration: the least of five batches, each long enough to be seen by the clock. */
static double cost(const svmp_model *model, const char *method, size_t particles) {
    svmp_run_options options = svmp_run_options_default();
    options.method = method;
    options.particles = particles;
    options.iterations = 1;
    double best = 1e300;
    for (int batch = 0; batch < 5;) {
        svmp_run *run;
        svmp_outcome outcome;
        must(svmp_run_create(model, &options, &run));
        double started = seconds();
        must(svmp_run_go(run, &outcome));
        double spent = seconds() - started;
        svmp_run_free(run);
        if (spent < 0.05) {
            options.iterations *= 2;
            continue;
        }
        if (spent / (double)options.iterations < best) best = spent / (double)options.iterations;
        batch++;
    }
    return best;
}

int main(int count, char **arguments) {
    static const char *const methods[] = {"graphical", "vanilla", "independent", "combined", "langevin"};
    start_context(count > 1 ? (int)strtol(arguments[1], NULL, 10) : 0);
    printf("milliseconds an iteration\n%-12s %9s", "method", "variables");
    for (size_t n = 50; n <= 200; n *= 2) printf("     n = %3zu", n);
    printf("\n");
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (size_t side = 10; side <= 40; side *= 2) {
            svmp_model *model = grid(side);
            printf("%-12s %9zu", methods[m], side * side);
            for (size_t n = 50; n <= 200; n *= 2) printf(" %11.3f", 1e3 * cost(model, methods[m], n)), fflush(stdout);
            printf("\n");
            svmp_model_free(model);
        }
    svmp_context_free(context);
}
