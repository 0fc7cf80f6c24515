/* Linear predictors as products of matrices: a score of 100 particles, beside the same factors evaluated by their whole
 * programs, row by row.
 *
 *     bench_regressions FOLDER [--quick]      the models of bench/large/regressions.py
 *
 * Nanoseconds a row and particle, one thread, the least of several rounds: of the whole program with its gradient; of
 * the score; of the product alone, sums of coefficient times variable; of one pass over the function that is left, at
 * given predictors. The floor of a product is eight multiplications and additions a cycle. */
#include <string.h>

#include "base/random.h"
#include "expr/linear_predictor.h"
#include "maths/weighted_rows.h"
#include "model/evaluator.h"
#include "model/program_factors.h"

#include "bench/bench.h" /* after what has contexts of its own */

enum { PARTICLES = 100, BLOCK = 16 };

static int rounds = 7;

typedef struct bench_case {
    const factor_group *group;
    const linear_predictor *p;
    evaluator *e;
    double *x, *score, *value, *gradient, *eta;
    uint32_t *same; /* zeros: the first row */
    void *scratch;
} bench_case;

static void whole(const bench_case *c) {
    for (size_t k = 0; k < c->group->instances; k += BLOCK) {
        const size_t left = c->group->instances - k;
        svmp_bound_evaluate(svmp_program_group_bound(c->group), c->group->variables, k, left < BLOCK ? left : BLOCK,
                            PARTICLES, c->x, c->scratch, c->value, c->gradient);
    }
}

static void score(const bench_case *c) { must(svmp_evaluate(c->e, c->x, NULL, c->score)); }

static void product(const bench_case *c) {
    const double *row[64];
    for (size_t k = 0; k < c->group->instances; k++) {
        for (size_t j = 0; j < c->p->count; j++)
            row[j] = c->x + c->group->variables[k * c->p->slots + c->p->slot[j]] * PARTICLES;
        svmp_weighted_rows(PARTICLES, c->p->count, row, c->p->coefficient + k * c->p->count, c->p->offset[k], c->eta);
    }
}

static void rest(const bench_case *c) {
    for (size_t k = 0; c->p->others == 0 && k < c->group->instances; k += BLOCK) {
        const size_t left = c->group->instances - k;
        svmp_bound_evaluate(c->p->bound, c->same, k, left < BLOCK ? left : BLOCK, PARTICLES, c->eta, c->scratch,
                            c->value, c->gradient);
    }
}

static double least(void (*work)(const bench_case *), const bench_case *c) {
    double best = 1e300;
    for (int round = 0; round < rounds; round++) {
        const double started = thread_seconds();
        work(c);
        const double spent = thread_seconds() - started;
        best = spent < best ? spent : best;
    }
    return best;
}

static void measure(const char *folder, const char *name) {
    char text[1000], data[1000];
    snprintf(text, sizeof text, "%s/%s.bug", folder, name);
    snprintf(data, sizeof data, "%s/%s.json", folder, name);
    svmp_model *model = NULL;
    must(svmp_model_read(context, 2, (const char *const[]){text, data}, NULL, &model));
    bench_case c = {0};
    for (size_t g = 0; g < model->group_count; g++)
        if (c.group == NULL || model->groups[g].instances > c.group->instances) c.group = &model->groups[g];
    if (c.group == NULL) return;
    c.p = c.group->kind->predictor(c.group);
    const size_t variables = model->graph->variables, slots = c.group->slots, rows = c.group->instances;
    const size_t one = svmp_bound_scratch(svmp_program_group_bound(c.group), PARTICLES);
    const size_t other = c.p ? svmp_bound_scratch(c.p->bound, PARTICLES) : 0;
    c.x = malloc(variables * PARTICLES * sizeof *c.x);
    c.score = malloc(variables * PARTICLES * sizeof *c.score);
    c.value = malloc(BLOCK * PARTICLES * sizeof *c.value);
    c.gradient = malloc(BLOCK * slots * PARTICLES * sizeof *c.gradient);
    c.eta = calloc(PARTICLES, sizeof *c.eta);
    c.same = calloc(rows, sizeof *c.same);
    c.scratch = malloc(one > other ? one : other);
    must(svmp_evaluator_create(model, PARTICLES, 1, &c.e));
    svmp_random_normals((random_stream){.purpose = RANDOM_TEST}, variables * PARTICLES, c.x);
    const double each = 1e9 / (double)rows / PARTICLES, clock = core_clock();
    printf("%-10s %7zu %6zu %9.2f %9.2f", name, rows, slots, each * least(whole, &c), each * least(score, &c));
    if (c.p)
        printf(" %9.2f %9.2f %9.2f", each * least(product, &c), (double)c.p->count / 8 / clock * 1e9,
               each * least(rest, &c));
    printf("\n");
    svmp_evaluator_free(c.e);
    void *const arrays[] = {c.x, c.score, c.value, c.gradient, c.eta, c.same, c.scratch};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) free(arrays[k]);
    svmp_model_free(model);
}

int main(int count, char **arguments) {
    static const char *const names[] = {"logistic", "crossed", "items", "poisson"};
    if (count < 2) return fputs("bench_regressions FOLDER [--quick]\n", stderr), 2;
    if (count > 2 && strcmp(arguments[2], "--quick") == 0) rounds = 1;
    start_context(1);
    printf("%-10s %7s %6s %9s %9s %9s %9s %9s\n", "ns", "rows", "slots", "program", "score", "product", "floor",
           "rest");
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) measure(arguments[1], names[k]);
    svmp_context_free(context);
    return 0;
}
