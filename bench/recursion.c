/* A recursion of the model language compared with hand-written C: GARCH(1,1), log density and score.
 *
 *     bench_recursion [--quick]       prints nanoseconds per step and particle, for numbers of steps and particles
 *
 * Both compute the same numbers, which are compared, and take turns; the best of several rounds counts. The
 * hand-written loops run over time, and within each step over the particles. */
#include <math.h>

#include "model/evaluator.h"

#include "bench/bench.h"

static const char text[] = "model {\n"
                           "  h[1] <- omega / (1 - alpha - beta)\n"
                           "  y[1] ~ dnorm(0, 1 / h[1])\n"
                           "  for (t in 2:T) {\n"
                           "    h[t] <- omega + alpha * y[t-1]^2 + beta * h[t-1]\n"
                           "    y[t] ~ dnorm(0, 1 / h[t])\n"
                           "  }\n"
                           "  omega ~ dunif(0, 1)\n"
                           "  alpha ~ dunif(0, 0.4)\n"
                           "  beta ~ dunif(0, 0.6)\n"
                           "}\n";

static const double width[] = {1, 0.4, 0.6}; /* of the priors */

/* Workspace of the hand-written loops: h and its weights, steps * n each. */
typedef struct by_hand {
    size_t steps, n;
    const double *y;
    double *h, *weight;
} by_hand;

/* h and sum over t of -log(2 pi h) / 2 - y^2 / 2h, for parameters p[j*n + l]; weight[t] is the partial derivative by
 * h[t]. */
static void forwards(const by_hand *b, const double *p, double *density) {
    const double half_log_two_pi = 0.91893853320467274178;
    const size_t n = b->n;
    for (size_t t = 0; t < b->steps; t++) {
        const double *before = b->h + (t - 1) * n;
        double *h = b->h + t * n, *weight = b->weight + t * n, square = t ? b->y[t - 1] * b->y[t - 1] : 0;
        for (size_t l = 0; l < n; l++)
            h[l] = t ? p[l] + p[n + l] * square + p[2 * n + l] * before[l] : p[l] / (1 - p[n + l] - p[2 * n + l]);
        for (size_t l = 0; l < n; l++) {
            const double inverse = 1 / h[l], scaled = b->y[t] * b->y[t] * inverse;
            density[l] -= 0.5 * (log(h[l]) + scaled) + half_log_two_pi;
            weight[l] = 0.5 * inverse * (scaled - 1);
        }
    }
}

/* The weights of all h, and the score by the parameters, from the last step to the first. */
static void backwards(const by_hand *b, const double *p, double *score) {
    const size_t n = b->n;
    for (size_t t = b->steps; t-- > 1;) {
        const double *weight = b->weight + t * n, square = b->y[t - 1] * b->y[t - 1], *before = b->h + (t - 1) * n;
        double *next = b->weight + (t - 1) * n;
        for (size_t l = 0; l < n; l++) {
            score[l] += weight[l];
            score[n + l] += weight[l] * square;
            score[2 * n + l] += weight[l] * before[l];
            next[l] += weight[l] * p[2 * n + l];
        }
    }
    for (size_t l = 0; l < n; l++) {
        const double rest = 1 - p[n + l] - p[2 * n + l], slope = b->weight[l] * p[l] / (rest * rest);
        score[l] += b->weight[l] / rest;
        score[n + l] += slope;
        score[2 * n + l] += slope;
    }
}

/* At u, p = width * ilogit(u), with the log Jacobian log s + log(1 - s) of each. */
static void evaluate(const by_hand *b, const double *u, double *p, double *density, double *score) {
    const size_t n = b->n;
    if (n == 0) return;
    memset(density, 0, n * sizeof *density);
    memset(score, 0, 3 * n * sizeof *score);
    for (size_t k = 0; k < 3 * n; k++) p[k] = width[k / n] / (1 + exp(-u[k]));
    forwards(b, p, density);
    backwards(b, p, score);
    for (size_t k = 0; k < 3 * n; k++) {
        const double s = p[k] / width[k / n];
        density[k % n] += log(s) + log1p(-s);
        score[k] = score[k] * p[k] * (1 - s) + 1 - 2 * s;
    }
}

static svmp_model *read_model(size_t steps, const double *y) {
    svmp_data *data = NULL;
    svmp_model *model = NULL;
    const double count = (double)steps;
    must(svmp_data_create(context, &data));
    must(svmp_data_add(data, "y", 1, &steps, y));
    must(svmp_data_add(data, "T", 0, NULL, &count));
    must(svmp_model_read_text(context, "garch.bug", text, data, NULL, &model));
    svmp_data_free(data);
    return model;
}

static double noise(size_t k) { /* pseudo-random numbers on (-1, 1) */
    const double x = sin(12.9898 * (double)(k + 1)) * 43758.5453;
    return 2 * (x - floor(x)) - 1;
}

static void compare(size_t count, const double *one, const double *other) {
    for (size_t k = 0; k < count; k++)
        if (!(fabs(one[k] - other[k]) <= 1e-9 * (1 + fabs(one[k])))) {
            fprintf(stderr, "number %zu differs: %.17g and %.17g\n", k, one[k], other[k]);
            exit(1);
        }
}

static void measure(size_t steps, size_t n, int rounds) {
    double *y = calloc(steps, sizeof *y), *u = calloc(3 * n, sizeof *u), *p = calloc(3 * n, sizeof *p);
    double *one = calloc(4 * n, sizeof *one), *other = calloc(4 * n, sizeof *other), best[2] = {1e300, 1e300};
    by_hand b = {steps, n, y, calloc(steps * n, sizeof *y), calloc(steps * n, sizeof *y)};
    evaluator *e = NULL;
    for (size_t t = 0; t < steps; t++) y[t] = noise(t);
    for (size_t k = 0; k < 3 * n; k++) u[k] = 0.5 * noise(steps + k);
    svmp_model *model = read_model(steps, y);
    must(svmp_evaluator_create(model, n, 1, &e));
    const int repeats = (int)(1 + 2000000 / (steps * n) / 20);
    for (int round = 0; round < rounds; round++)
        for (int which = 0; which < 2; which++) {
            const double started = thread_seconds();
            for (int k = 0; k < repeats; k++)
                if (which == 0)
                    evaluate(&b, u, p, one, one + n);
                else
                    must(svmp_evaluate(e, u, other, other + n));
            const double spent = (thread_seconds() - started) / repeats;
            if (spent < best[which]) best[which] = spent;
        }
    compare(4 * n, one, other);
    const double unit = 1e9 / (double)(steps * n);
    printf("%8zu %10zu %10.1f %10.1f %10.2f\n", steps, n, best[0] * unit, best[1] * unit, best[1] / best[0]);
    svmp_evaluator_free(e);
    svmp_model_free(model);
    double *const arrays[] = {y, u, p, one, other, b.h, b.weight};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) free(arrays[k]);
}

int main(int count, char **arguments) {
    const int quick = is_quick(count, arguments);
    start_context(1);
    printf("   steps  particles    by hand       svmp      ratio   ns per step and particle\n");
    for (size_t steps = 2000; steps <= (quick ? 2000 : 50000); steps *= 5)
        for (size_t n = 1; n <= (quick ? 1 : 100); n *= n == 1 ? 8 : 12) measure(steps, n, quick ? 2 : 40);
    svmp_context_free(context);
    return 0;
}
