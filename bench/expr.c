/* The expression engine compared with hand-written C for the same factors: value and gradient.
 *
 *     bench_expr [--quick]        prints, for each model and n, nanoseconds per (factor x particle) and their ratio
 *
 * Hand-written code has the same interface (model/factor_group.h): the same input and output arrays. The two take
 * turns, and the best of several rounds counts. The results are also compared: the benchmark ends if they differ. */
#include <math.h>

#include "bench/bench.h"
#include "model/program_factors.h"

typedef void (*by_hand)(size_t instances, size_t n, const uint32_t *variables, const double *const *columns,
                        const double *x, double *value, double *gradient);

typedef struct bench_model {
    const char *name;
    size_t slots, parameters;
    unsigned common; /* bit mask of the slots in which all instances have the same variable */
    expr (*build)(program_builder *builder);
    by_hand evaluate;
} bench_model;

static const double log_sqrt_two_pi = 0.91893853320467274178;

/* log density of the normal with precision tau. */
static expr normal(program_builder *b, expr x, expr mu, expr tau) {
    expr scale = svmp_expr_multiply(b, svmp_expr_log(b, tau), svmp_expr_literal(b, 0.5));
    expr constant = svmp_expr_subtract(b, scale, svmp_expr_literal(b, log_sqrt_two_pi));
    expr square = svmp_expr_square(b, svmp_expr_subtract(b, x, mu));
    return svmp_expr_add(b, svmp_expr_multiply(b, square, svmp_expr_multiply(b, tau, svmp_expr_literal(b, -0.5))),
                         constant);
}

/* ---- sensors: r ~ dnorm(sqrt(pow(x1 - x2, 2) + pow(y1 - y2, 2)), 1/pow(sigma, 2)) --------------- */

static expr sensors_build(program_builder *b) {
    expr two = svmp_expr_literal(b, 2);
    expr dx = svmp_expr_subtract(b, svmp_expr_input(b, 0), svmp_expr_input(b, 2));
    expr dy = svmp_expr_subtract(b, svmp_expr_input(b, 1), svmp_expr_input(b, 3));
    expr distance = svmp_expr_sqrt(b, svmp_expr_add(b, svmp_expr_power(b, dx, two), svmp_expr_power(b, dy, two)));
    expr tau = svmp_expr_divide(b, svmp_expr_literal(b, 1), svmp_expr_power(b, svmp_expr_parameter(b, 1), two));
    return normal(b, svmp_expr_parameter(b, 0), distance, tau);
}

static void sensors_by_hand(size_t instances, size_t n, const uint32_t *variables, const double *const *columns,
                            const double *x, double *value, double *gradient) {
    for (size_t k = 0; k < instances; k++) {
        const uint32_t *v = variables + 4 * k;
        const double *x1 = x + v[0] * n, *y1 = x + v[1] * n, *x2 = x + v[2] * n, *y2 = x + v[3] * n;
        double *g1 = gradient + 4 * k * n, *g2 = g1 + n, *g3 = g2 + n, *g4 = g3 + n;
        double r = columns[0][k], tau = 1 / (columns[1][k] * columns[1][k]);
        double constant = 0.5 * log(tau) - log_sqrt_two_pi;
#pragma omp simd
        for (size_t l = 0; l < n; l++) {
            double dx = x1[l] - x2[l], dy = y1[l] - y2[l], d = sqrt(dx * dx + dy * dy), e = r - d;
            double slope = tau * e / d;
            value[k * n + l] = constant - 0.5 * tau * e * e;
            g1[l] = slope * dx;
            g2[l] = slope * dy;
            g3[l] = -slope * dx;
            g4[l] = -slope * dy;
        }
    }
}

/* ---- hierarchical regression: y ~ dnorm(alpha[g] + beta[g]*(t - mean(t)), tau), tau = exp(u) ----- */

static expr regression_build(program_builder *b) {
    expr slope = svmp_expr_multiply(b, svmp_expr_input(b, 1), svmp_expr_parameter(b, 1));
    expr mu = svmp_expr_add(b, svmp_expr_input(b, 0), slope);
    return normal(b, svmp_expr_parameter(b, 0), mu, svmp_expr_exp(b, svmp_expr_input(b, 2)));
}

static void regression_by_hand(size_t instances, size_t n, const uint32_t *variables, const double *const *columns,
                               const double *x, double *value, double *gradient) {
    for (size_t k = 0; k < instances; k++) {
        const uint32_t *v = variables + 3 * k;
        const double *alpha = x + v[0] * n, *beta = x + v[1] * n, *u = x + v[2] * n;
        double *g1 = gradient + 3 * k * n, *g2 = g1 + n, *g3 = g2 + n;
        double y = columns[0][k], t = columns[1][k];
#pragma omp simd
        for (size_t l = 0; l < n; l++) {
            double tau = exp(u[l]), e = y - (alpha[l] + beta[l] * t), w = tau * e;
            value[k * n + l] = 0.5 * u[l] - log_sqrt_two_pi - 0.5 * w * e;
            g1[l] = w;
            g2[l] = w * t;
            g3[l] = 0.5 - 0.5 * w * e;
        }
    }
}

/* `one scale`: one tau for all instances, which by_hand recomputes for each.
 *
 * And with a known tau, so that no exp() hides the engine's overhead. */
static expr line_build(program_builder *b) {
    expr slope = svmp_expr_multiply(b, svmp_expr_input(b, 1), svmp_expr_parameter(b, 1));
    expr mu = svmp_expr_add(b, svmp_expr_input(b, 0), slope);
    return normal(b, svmp_expr_parameter(b, 0), mu, svmp_expr_input(b, 2));
}

static void line_by_hand(size_t instances, size_t n, const uint32_t *variables, const double *const *columns,
                         const double *x, double *value, double *gradient) {
    for (size_t k = 0; k < instances; k++) {
        const uint32_t *v = variables + 3 * k;
        const double *alpha = x + v[0] * n, *beta = x + v[1] * n, *tau = x + v[2] * n;
        double *g1 = gradient + 3 * k * n, *g2 = g1 + n, *g3 = g2 + n;
        double y = columns[0][k], t = columns[1][k];
#pragma omp simd
        for (size_t l = 0; l < n; l++) {
            double e = y - (alpha[l] + beta[l] * t), w = tau[l] * e;
            value[k * n + l] = 0.5 * log(tau[l]) - log_sqrt_two_pi - 0.5 * w * e;
            g1[l] = w;
            g2[l] = w * t;
            g3[l] = 0.5 / tau[l] - 0.5 * e * e;
        }
    }
}

/* ---- Gaussian grid: factor(-w*x*y), an edge ------------------------------------------------------ */

static expr edge_build(program_builder *b) {
    expr w = svmp_expr_negate(b, svmp_expr_parameter(b, 0));
    return svmp_expr_multiply(b, svmp_expr_multiply(b, w, svmp_expr_input(b, 0)), svmp_expr_input(b, 1));
}

static void edge_by_hand(size_t instances, size_t n, const uint32_t *variables, const double *const *columns,
                         const double *x, double *value, double *gradient) {
    for (size_t k = 0; k < instances; k++) {
        const double *a = x + variables[2 * k] * n, *b = x + variables[2 * k + 1] * n;
        double *ga = gradient + 2 * k * n, *gb = ga + n, w = -columns[0][k];
#pragma omp simd
        for (size_t l = 0; l < n; l++) {
            ga[l] = w * b[l];
            gb[l] = w * a[l];
            value[k * n + l] = w * a[l] * b[l];
        }
    }
}

/* ---- Gaussian grid: factor(b*x - 0.5*a*x^2), a node ---------------------------------------------- */

static expr node_build(program_builder *b) {
    expr x = svmp_expr_input(b, 0), half = svmp_expr_literal(b, 0.5);
    expr square = svmp_expr_power(b, x, svmp_expr_literal(b, 2));
    return svmp_expr_subtract(b, svmp_expr_multiply(b, svmp_expr_parameter(b, 0), x),
                              svmp_expr_multiply(b, svmp_expr_multiply(b, half, svmp_expr_parameter(b, 1)), square));
}

static void node_by_hand(size_t instances, size_t n, const uint32_t *variables, const double *const *columns,
                         const double *x, double *value, double *gradient) {
    for (size_t k = 0; k < instances; k++) {
        const double *z = x + variables[k] * n;
        double b = columns[0][k], a = columns[1][k];
#pragma omp simd
        for (size_t l = 0; l < n; l++) {
            value[k * n + l] = b * z[l] - 0.5 * a * z[l] * z[l];
            gradient[k * n + l] = b - a * z[l];
        }
    }
}

/* ---- measuring ------------------------------------------------------------------------------------ */

static uint64_t state = 88172645463325252u;
static double uniform(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

static void *need(void *pointer) {
    if (pointer == NULL) exit(1);
    return pointer;
}

static void measure(const bench_model *model, size_t n, size_t rounds) {
    size_t instances = n == 1 ? 20000 : 200000 / n + 1, variables = 2000, lanes = instances * n;
    uint32_t *scope = need(calloc(instances * model->slots, sizeof *scope));
    double *x = need(calloc(variables * n, sizeof *x)), *columns[4];
    double *value[2], *gradient[2];
    for (size_t k = 0; k < instances * model->slots; k++) {
        const size_t slot = k % model->slots;
        scope[k] = model->common >> slot & 1 ? (uint32_t)slot : (uint32_t)(uniform() * (double)variables);
    }
    for (size_t k = 0; k < variables * n; k++) x[k] = 0.5 + uniform();
    for (size_t p = 0; p < model->parameters; p++) {
        columns[p] = need(calloc(instances, sizeof *columns[p]));
        for (size_t k = 0; k < instances; k++) columns[p][k] = 0.5 + uniform();
    }
    for (int side = 0; side < 2; side++) {
        value[side] = need(calloc(lanes, sizeof(double)));
        gradient[side] = need(calloc(lanes * model->slots, sizeof(double)));
    }
    program_builder *builder;
    program *compiled = NULL;
    factor_group group;
    const double *const *given = (const double *const *)columns;
    must(svmp_builder_create(context, &builder));
    must(svmp_program_finish(builder, model->build(builder), model->slots, model->parameters, &compiled));
    must(svmp_program_group_create(context, compiled, instances, scope, given, &group));
    void *scratch = need(malloc(group.kind->scratch(&group, n)));

    double best[2] = {INFINITY, INFINITY};
    for (size_t round = 0; round < rounds; round++) {
        double start = seconds();
        model->evaluate(instances, n, scope, given, x, value[0], gradient[0]);
        double middle = seconds();
        group.kind->evaluate(&group, 0, instances, n, x, scratch, value[1], gradient[1]);
        double end = seconds();
        if (middle - start < best[0]) best[0] = middle - start;
        if (end - middle < best[1]) best[1] = end - middle;
    }
    double difference = 0;
    for (size_t k = 0; k < lanes; k++)
        difference = fmax(difference, fabs(value[0][k] - value[1][k]) / (1 + fabs(value[0][k])));
    for (size_t k = 0; k < lanes * model->slots; k++)
        difference = fmax(difference, fabs(gradient[0][k] - gradient[1][k]) / (1 + fabs(gradient[0][k])));
    printf("%-12s %6zu %10.2f %10.2f %8.2f %10.1e %6zu\n", model->name, n, best[0] * 1e9 / (double)lanes,
           best[1] * 1e9 / (double)lanes, best[1] / best[0], difference, svmp_program_lane_operations(compiled, true));
    if (!(difference < 1e-9)) exit(1);

    group.kind->free(context, group.self);
    svmp_release(context, group.variables);
    svmp_builder_free(builder);
    for (size_t p = 0; p < model->parameters; p++) free(columns[p]);
    for (int side = 0; side < 2; side++) free(value[side]), free(gradient[side]);
    free(scope), free(x), free(scratch);
}

int main(int count, char **arguments) {
    static const bench_model models[] = {{"sensors", 4, 2, 0, sensors_build, sensors_by_hand},
                                         {"regression", 3, 2, 0, regression_build, regression_by_hand},
                                         {"one scale", 3, 2, 4, regression_build, regression_by_hand},
                                         {"line", 3, 2, 0, line_build, line_by_hand},
                                         {"grid edge", 2, 1, 0, edge_build, edge_by_hand},
                                         {"grid node", 1, 2, 0, node_build, node_by_hand}};
    static const size_t particles[] = {1, 4, 16, 24, 50, 100, 1000};
    const size_t rounds = is_quick(count, arguments) ? 1 : 40;
    start_context(0);
    printf("%-12s %6s %10s %10s %8s %10s %6s\n", "model", "n", "hand, ns", "svmp, ns", "ratio", "differ", "loops");
    for (size_t m = 0; m < sizeof models / sizeof *models; m++)
        for (size_t k = 0; k < sizeof particles / sizeof *particles; k++) measure(&models[m], particles[k], rounds);
    svmp_context_free(context);
    return 0;
}
