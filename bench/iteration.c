/* What an iteration costs: square Gaussian grids, methods and numbers of particles; bench_iteration [THREADS] */
#include <stdlib.h>
#include <svmp.h>
#include <time.h>

static svmp_context *context;

static void must(svmp_status status) {
    if (status == SVMP_OK) return;
    fprintf(stderr, "bench_iteration: %s\n", svmp_context_error(context));
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* side * side nodes N(0, 1), neighbours pulled together. */
static svmp_model *grid(size_t side) {
    const double one = 1, zero = 0, pull[] = {0.5, -0.5, -0.5, 0.5};
    svmp_model *model;
    must(svmp_model_create(context, &model));
    for (size_t i = 0; i < side * side; i++) {
        size_t node;
        must(svmp_model_add_node(model, NULL, 1, NULL, NULL, &node));
        must(svmp_model_add_gaussian(model, 1, &node, &one, &zero));
        if (i % side > 0) must(svmp_model_add_gaussian(model, 2, (size_t[]){node - 1, node}, pull, NULL));
        if (i >= side) must(svmp_model_add_gaussian(model, 2, (size_t[]){node - side, node}, pull, NULL));
    }
    must(svmp_model_finish(model));
    return model;
}

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
        double started = now();
        must(svmp_run_go(run, &outcome));
        double spent = now() - started;
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
    svmp_context_options options = svmp_context_options_default();
    if (count > 1) options.threads = (int)strtol(arguments[1], NULL, 10);
    must(svmp_context_create(&options, &context));
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
