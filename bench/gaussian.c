/* The Gaussian on the graph on square fields: counts, whose log rates are a Gaussian Markov random field of unknown
 * precision around an unknown level. The time of the whole start with one thread and with two, and of its parts: second
 * derivatives, a Cholesky factor, draws, an evaluation, each for 64 draws.
 *
 * With one thread the times are CPU times, little affected by other programs on the machine.
 *
 *     bench_gaussian [LARGEST SIDE]
 */
#define _DEFAULT_SOURCE /* mkstemps */
#include <math.h>
#include <unistd.h>

#include "maths/sparse_factor.h"
#include "model/curvature.h"
#include "model/evaluator.h"
#include "prepare/fitted_gaussian.h"

#include "bench/bench.h" /* last: it has a variable `context` */

static const char field[] = "model {\n"
                            "  for (i in 1:N) {\n"
                            "    u[i] ~ dflat()\n"
                            "    factor(-0.5 * 0.01 * tau * u[i]^2)\n"
                            "    y[i] ~ dpois(exp(alpha + u[i]))\n"
                            "  }\n"
                            "  for (e in 1:length(from)) {\n"
                            "    factor(-0.5 * tau * (u[from[e]] - u[to[e]])^2)\n"
                            "  }\n"
                            "  factor(0.5 * N * log(tau))\n"
                            "  alpha ~ dnorm(0, 0.1)\n"
                            "  tau ~ dgamma(1, 0.1)\n"
                            "}\n";

/* The next number of an R vector, after a comma. */
static void put(FILE *file, const char *name, size_t count, double (*number)(size_t k, size_t side), size_t side) {
    fprintf(file, "%s <- c(", name);
    for (size_t k = 0; k < count; k++) fprintf(file, k ? ", %.0f" : "%.0f", number(k, side));
    fprintf(file, ")\n");
}

/* A count around exp(1 + two waves). */
static double count_of(size_t k, size_t side) {
    const double row = (double)(k / side) / (double)side, column = (double)(k % side) / (double)side;
    const double rate = exp(1 + 0.6 * sin(9 * row + 4 * column) + 0.5 * cos(13 * column));
    return fmax(0, floor(rate + 1.7 * sqrt(rate) * (2 * rand() / (double)RAND_MAX - 1) + 0.5));
}

/* Edges along the rows, then along the columns. */
static double from_of(size_t k, size_t side) {
    const size_t rows = side * (side - 1);
    return (double)(k < rows ? k / (side - 1) * side + k % (side - 1) + 1 : k - rows + 1);
}

static double to_of(size_t k, size_t side) { return from_of(k, side) + (k < side * (side - 1) ? 1 : (double)side); }

static svmp_model *make_field(size_t side) {
    char text[] = "/tmp/svmp-field-XXXXXX.bug", data[] = "/tmp/svmp-field-XXXXXX.R";
    const int text_file = mkstemps(text, 4), data_file = mkstemps(data, 2);
    FILE *model_text = fdopen(text_file, "w"), *numbers = fdopen(data_file, "w");
    svmp_model *model = NULL;
    if (model_text == NULL || numbers == NULL) exit(1);
    fputs(field, model_text);
    fprintf(numbers, "N <- %zu\n", side * side);
    put(numbers, "y", side * side, count_of, side);
    put(numbers, "from", 2 * side * (side - 1), from_of, side);
    put(numbers, "to", 2 * side * (side - 1), to_of, side);
    fclose(model_text);
    fclose(numbers);
    const svmp_status status = svmp_model_read(context, 2, (const char *const[]){text, data}, NULL, &model);
    unlink(text);
    unlink(data);
    must(status);
    return model;
}

typedef struct parts {
    double curvature, factor, draws, evaluation, whole; /* seconds */
    size_t entries;
} parts;

static double time_of(int threads) { return threads == 1 ? thread_seconds() : seconds(); }

/* The minimum of three rounds; the whole start once. */
static parts measure(size_t side, int threads) {
    enum { DRAWS = 64, ROUNDS = 3 };
    start_context(threads);
    svmp_model *model = make_field(side);
    const size_t variables = svmp_graph_variables(svmp_model_graph(model));
    parts p = {1e300, 1e300, 1e300, 1e300, 0, 0};
    curvature *c = NULL;
    factorisation *f = NULL;
    evaluator *e = NULL;
    gaussian *q = NULL;
    size_t bad;
    double log_density[DRAWS], *x = calloc(variables * DRAWS, sizeof *x), *score = calloc(variables * DRAWS, sizeof *x);
    must(svmp_curvature_create(model, threads, &c));
    const sparsity *pattern = svmp_curvature_pattern(c);
    double *H = calloc(pattern->entries, sizeof *H);
    must(svmp_factorisation_create(context, pattern, &f));
    must(svmp_evaluator_create(model, DRAWS, threads, &e));
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t k = 0; k < variables * DRAWS; k++) x[k] = 0.2 * (rand() / (double)RAND_MAX - 0.5);
        const double begun = time_of(threads);
        must(svmp_curvature_evaluate(c, DRAWS, x, NULL, H));
        const double derived = time_of(threads);
        must(svmp_factorise(f, H, &bad));
        const double factored = time_of(threads);
        if (bad != SIZE_MAX) exit(1);
        must(svmp_factorisation_correlate(f, threads, DRAWS, x));
        const double drawn = time_of(threads);
        must(svmp_evaluate(e, x, log_density, score));
        const double evaluated = time_of(threads);
        p.curvature = fmin(p.curvature, derived - begun);
        p.factor = fmin(p.factor, factored - derived);
        p.draws = fmin(p.draws, drawn - factored);
        p.evaluation = fmin(p.evaluation, evaluated - drawn);
    }
    p.entries = svmp_factorisation_entries(f);
    svmp_evaluator_free(e);
    svmp_factorisation_free(f);
    svmp_curvature_free(c);
    const double begun = time_of(threads);
    must(svmp_gaussian_create(model, 1, &q));
    p.whole = time_of(threads) - begun;
    svmp_gaussian_free(q);
    svmp_model_free(model);
    svmp_context_free(context);
    free(x), free(score), free(H);
    return p;
}

int main(int count, char **arguments) {
    const size_t sides[] = {10, 30, 100, 300}, largest = count > 1 ? strtoul(arguments[1], NULL, 10) : 100;
    printf("The Gaussian on the graph on square fields; seconds\n\n");
    printf("%9s %8s %12s %12s %12s %12s %12s %12s\n", "variables", "threads", "entries of L", "derivatives", "factor",
           "64 draws", "evaluation", "whole start");
    for (size_t k = 0; k < sizeof sides / sizeof *sides && sides[k] <= largest; k++)
        for (int threads = 1; threads <= 2; threads++) {
            const parts p = measure(sides[k], threads);
            printf("%9zu %8d %12zu %12.4f %12.4f %12.4f %12.4f %12.2f\n", sides[k] * sides[k] + 2, threads, p.entries,
                   p.curvature, p.factor, p.draws, p.evaluation, p.whole);
            fflush(stdout);
        }
    return 0;
}
