/* Programs: sharing and folding, gradients of random graphs, the same bits for any split, failures. */
#include "programs.h"

#include <string.h>

#include "maths/special.h"
#include "model/program_factors.h"

typedef struct program_fixture {
    svmp_context *context;
    program_builder *b;
} program_fixture;

static int set_up(void **state) {
    program_fixture *made = calloc(1, sizeof *made);
    made->context = test_context(1);
    assert_ok(svmp_builder_create(made->context, &made->b));
    *state = made;
    return 0;
}

static int tear_down(void **state) {
    program_fixture *made = *state;
    svmp_builder_free(made->b);
    svmp_context_free(made->context);
    free(made);
    return 0;
}

#define IN(slot)   svmp_expr_input(b, slot)
#define PAR(index) svmp_expr_parameter(b, index)
#define NUM(value) svmp_expr_literal(b, value)
#define ADD(x, y)  svmp_expr_add(b, x, y)
#define SUB(x, y)  svmp_expr_subtract(b, x, y)
#define MUL(x, y)  svmp_expr_multiply(b, x, y)
#define DIV(x, y)  svmp_expr_divide(b, x, y)
#define NEG(x)     svmp_expr_negate(b, x)
#define EXP(x)     svmp_expr_exp(b, x)
#define LOG(x)     svmp_expr_log(b, x)
#define POW(x, y)  svmp_expr_power(b, x, y)

#define assert_same(x, y) assert_int_equal((x).index, (y).index)

static void test_sharing(void **state) {
    program_builder *b = ((program_fixture *)*state)->b;
    expr x = IN(0), y = IN(1), p = PAR(0);
    assert_same(IN(0), x);
    assert_same(NUM(2.5), NUM(2.5));
    assert_same(ADD(x, y), ADD(y, x));
    assert_same(MUL(EXP(x), y), MUL(y, EXP(x)));
    assert_true(SUB(x, y).index != SUB(y, x).index);
    size_t size = svmp_builder_size(b);
    for (int k = 0; k < 100; k++) (void)ADD(MUL(EXP(x), y), p);
    assert_true(svmp_builder_size(b) <= size + 1);
    assert_true(svmp_expr_level(b, ADD(p, NUM(1))) == LEVEL_PARAMETER);
    assert_true(svmp_expr_level(b, ADD(p, x)) == LEVEL_INPUT);
}

static void test_folding(void **state) {
    program_builder *b = ((program_fixture *)*state)->b;
    expr x = IN(0), p = PAR(0), q = PAR(1), zero = NUM(0), one = NUM(1), two = NUM(2);
    double value;
    assert_true(svmp_expr_is_literal(b, EXP(ADD(one, two)), &value) && value == exp(3));
    assert_same(MUL(x, one), x);
    assert_same(MUL(one, x), x);
    assert_same(ADD(x, zero), x);
    assert_same(SUB(x, zero), x);
    assert_same(DIV(x, one), x);
    assert_same(MUL(x, zero), zero);
    assert_same(NEG(NEG(x)), x);
    assert_same(POW(x, two), svmp_expr_square(b, x));
    assert_same(MUL(x, x), svmp_expr_square(b, x));
    assert_same(POW(x, one), x);
    assert_same(POW(x, zero), one);
    assert_same(POW(x, NUM(0.5)), svmp_expr_sqrt(b, x));
    assert_same(POW(x, NUM(-1)), svmp_expr_reciprocal(b, x));
    assert_same(LOG(EXP(x)), x);
    assert_same(LOG(svmp_expr_ilogit(b, x)), svmp_expr_log_ilogit(b, x));
    assert_same(LOG(SUB(one, svmp_expr_ilogit(b, x))), svmp_expr_log_ilogit(b, NEG(x)));
    assert_same(LOG(DIV(one, POW(EXP(x), two))), MUL(x, NUM(-2)));
    assert_same(ADD(ADD(x, p), q), ADD(x, ADD(p, q)));
    assert_same(MUL(MUL(x, p), NUM(3)), MUL(x, MUL(p, NUM(3))));
    assert_same(ADD(SUB(x, one), NUM(3)), ADD(x, two));
    assert_same(svmp_expr_ifelse(b, one, x, p), x);
    assert_same(svmp_expr_ifelse(b, x, p, p), p);
    /* rewriting signs and reciprocals of parameters must terminate */
    expr e = x;
    for (int k = 0; k < 50; k++) e = NEG(DIV(SUB(MUL(e, NEG(p)), NEG(q)), NEG(svmp_expr_reciprocal(b, p))));
    assert_ok(svmp_builder_status(b));
}

/* Expressions of parameters alone are not computed per lane; unused expressions are not computed at all. */
static void test_hoisting(void **state) {
    program_builder *b = ((program_fixture *)*state)->b;
    expr x = IN(0), p = PAR(0);
    expr heavy = LOG(ADD(EXP(p), svmp_expr_loggam(b, POW(p, NUM(1.7)))));
    (void)EXP(MUL(x, heavy)); /* unused */
    program *compiled;
    assert_ok(svmp_program_finish(b, MUL(x, heavy), 2, 1, &compiled));
    assert_int_equal(svmp_program_lane_operations(compiled, false), 1);
    assert_int_equal(svmp_program_lane_operations(compiled, true), 3); /* the product, a copy of `heavy`, a zero */
    assert_true(compiled->instance.count >= 4);
    double at[2] = {3, 0}, parameter = 1.3, value, gradient[2];
    test_run(compiled, 1, at, &parameter, &value, gradient);
    double expected = log(exp(1.3) + lgamma(pow(1.3, 1.7)));
    assert_near(value, 3 * expected, 1e-15);
    assert_near(gradient[0], expected, 1e-15);
    assert_true(gradient[1] == 0);
    svmp_program_free(compiled);
}

/* A sum of many terms needs few registers. */
static void test_registers(void **state) {
    program_builder *b = ((program_fixture *)*state)->b;
    expr sum = NUM(0);
    for (uint32_t k = 0; k < 200; k++) sum = ADD(sum, EXP(MUL(IN(k % 7), PAR(k))));
    program *compiled;
    assert_ok(svmp_program_finish(b, sum, 7, 200, &compiled));
    assert_true(compiled->values.registers <= 4);
    svmp_program_free(compiled);
}

/* The branch not taken may be infinite or NaN, with any derivative: it has no effect. */
static void test_masking(void **state) {
    program_builder *b = ((program_fixture *)*state)->b;
    expr x = IN(0), zero = NUM(0);
    expr root = svmp_expr_sqrt(b, x), both = ADD(LOG(x), DIV(root, svmp_expr_square(b, x)));
    program *compiled;
    assert_ok(svmp_program_finish(b, svmp_expr_ifelse(b, svmp_expr_greater(b, x, zero), both, MUL(x, NUM(3))), 1, 0,
                                  &compiled));
    double at[3] = {-1, 0, 4}, value[3], gradient[3];
    test_run(compiled, 3, at, NULL, value, gradient);
    assert_true(value[0] == -3 && gradient[0] == 3);
    assert_true(value[1] == 0 && gradient[1] == 3);
    assert_near(gradient[2], 1.0 / 4 - 1.5 * pow(4, -2.5), 1e-15);
    svmp_program_free(compiled);
}

/* A graph of random operations that are smooth and bounded on the line. */
static expr random_graph(program_builder *b, uint64_t seed, size_t operations, uint32_t slots, uint32_t parameters) {
    expr made[300];
    size_t count = 0;
    for (uint32_t k = 0; k < slots; k++) made[count++] = IN(k);
    for (uint32_t k = 0; k < parameters; k++) made[count++] = PAR(k);
    made[count++] = NUM(0.7);
    random_stream stream = {.seed = seed, .purpose = RANDOM_TEST};
    for (uint64_t k = 0; k < operations; k++) {
        expr x = made[svmp_random_below(stream, 3 * k, count)], y = made[svmp_random_below(stream, 3 * k + 1, count)];
        expr bounded = svmp_expr_tanh(b, x), made_now;
        switch (svmp_random_below(stream, 3 * k + 2, 14)) {
        case 0: made_now = ADD(x, y); break;
        case 1: made_now = SUB(x, y); break;
        case 2: made_now = MUL(bounded, svmp_expr_sin(b, y)); break;
        case 3: made_now = DIV(bounded, ADD(NUM(2), svmp_expr_cos(b, y))); break;
        case 4: made_now = EXP(bounded); break;
        case 5: made_now = LOG(ADD(NUM(1.5), svmp_expr_square(b, bounded))); break;
        case 6: made_now = svmp_expr_sqrt(b, ADD(NUM(1), svmp_expr_square(b, x))); break;
        case 7: made_now = svmp_expr_ilogit(b, SUB(y, x)); break;
        case 8: made_now = svmp_expr_arctan(b, MUL(bounded, NUM(3))); break;
        case 9: made_now = NEG(MUL(bounded, bounded)); break;
        case 10: made_now = svmp_expr_phi(b, bounded); break;
        case 11: made_now = POW(ADD(NUM(2), bounded), svmp_expr_sin(b, y)); break;
        case 12: made_now = svmp_expr_loggam(b, ADD(NUM(2), bounded)); break;
        default: made_now = MUL(SUB(bounded, NUM(1)), NUM(0.3)); break;
        }
        made[count++] = made_now;
    }
    expr sum = NUM(0);
    for (size_t k = count - 10; k < count; k++) sum = ADD(sum, svmp_expr_tanh(b, made[k]));
    return sum;
}

static void test_random_gradients(void **state) {
    program_builder *b = ((program_fixture *)*state)->b;
    for (uint64_t seed = 0; seed < 60; seed++) {
        svmp_builder_reset(b);
        program *compiled;
        assert_ok(svmp_program_finish(b, random_graph(b, seed, 10 + seed, 5, 0), 5, 0, &compiled));
        double x[5];
        svmp_random_normals((random_stream){.seed = seed, .a = 1, .purpose = RANDOM_TEST}, 5, x);
        test_gradient(compiled, x, 1e-4, 1e-7, 0);
        svmp_program_free(compiled);
    }
}

static void test_random_hessians(void **state) {
    program_builder *b = ((program_fixture *)*state)->b;
    for (uint64_t seed = 0; seed < 60; seed++) {
        svmp_builder_reset(b);
        program *compiled;
        assert_ok(svmp_program_finish(b, random_graph(b, seed, 10 + seed, 5, 0), 5, 0, &compiled));
        double x[5];
        svmp_random_normals((random_stream){.seed = seed, .a = 1, .purpose = RANDOM_TEST}, 5, x);
        test_second_differences(compiled, x, 1e-4, 1e-7, 0);
        svmp_program_free(compiled);
    }
}

/* log sum exp(w_j x_j) of few and of many variables, the latter by products: H = diag(w p w) - (w p)(w p)'. */
static void test_many_slots(void **state) {
    program_builder *b = ((program_fixture *)*state)->b;
    for (size_t slots = 3; slots <= 300; slots *= 10) {
        double x[300], w[300], p[300], total = 0, *second = malloc(slots * slots * sizeof *second);
        program *compiled;
        svmp_builder_reset(b);
        expr sum = NUM(0);
        for (uint32_t j = 0; j < slots; j++) sum = ADD(sum, EXP(MUL(IN(j), LOG(PAR(j)))));
        assert_ok(svmp_program_finish(b, LOG(sum), slots, slots, &compiled));
        for (size_t j = 0; j < slots; j++) {
            x[j] = test_random(7, j);
            w[j] = exp(test_random(8, j));
            total += p[j] = exp(x[j] * test_random(8, j));
        }
        test_second(compiled, x, w, second);
        for (size_t i = 0; i < slots; i++)
            for (size_t j = 0; j < slots; j++) {
                const double a = log(w[i]) * p[i] / total, c = log(w[j]) * p[j] / total;
                assert_near(second[i * slots + j], (i == j ? log(w[i]) * a : 0) - a * c, 1e-14);
            }
        svmp_program_free(compiled);
        free(second);
    }
}

/* ---- instances ------------------------------------------------------------------------------------ */

enum { INSTANCES = 37, SLOTS = 4, PARAMETERS = 2, VARIABLES = 11 };

/* All instances have the same variable in the slots of the mask `same`. If the mask is not 0, they also have the same
 * second parameter, and with the second slot one of three first parameters. */
static void make_group(program_fixture *fixture, expr value, unsigned same, factor_group *group) {
    uint32_t variables[INSTANCES * SLOTS];
    double first[INSTANCES], second[INSTANCES];
    const double *columns[PARAMETERS] = {first, second};
    for (uint64_t k = 0; k < INSTANCES * SLOTS; k++)
        variables[k] = same >> k % SLOTS & 1
                           ? (uint32_t)(k % SLOTS)
                           : (uint32_t)svmp_random_below((random_stream){.purpose = RANDOM_TEST}, k, VARIABLES);
    svmp_random_normals((random_stream){.a = 1, .purpose = RANDOM_TEST}, INSTANCES, first);
    svmp_random_normals((random_stream){.a = 2, .purpose = RANDOM_TEST}, INSTANCES, second);
    for (size_t k = 1; same && k < INSTANCES; k++) second[k] = second[0];
    for (size_t k = 3; same & 2 && k < INSTANCES; k++) first[k] = first[k * k % 3];
    program *compiled;
    assert_ok(svmp_program_finish(fixture->b, value, SLOTS, PARAMETERS, &compiled));
    assert_ok(svmp_program_group_create(fixture->context, compiled, INSTANCES, variables, columns, group));
}

static void free_group(program_fixture *fixture, factor_group *group) {
    group->kind->free(fixture->context, group->self);
    svmp_release(fixture->context, group->variables);
}

/* Any split of the instances over calls gives the same bits, and so does a single particle. */
static void check_splits(program_fixture *fixture, unsigned same) {
    factor_group group;
    svmp_builder_reset(fixture->b);
    make_group(fixture, random_graph(fixture->b, 5, 120, SLOTS, PARAMETERS), same, &group);
    static const size_t sizes[] = {1, 2, 3, 7, 23, 24, 50, 131, 700};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s], rows = INSTANCES * n;
        double *x = malloc(VARIABLES * n * sizeof *x), *scratch = malloc(group.kind->scratch(&group, n));
        double *whole = malloc(rows * (1 + SLOTS) * sizeof *whole), *parts = malloc(rows * (1 + SLOTS) * sizeof *parts);
        double *alone = malloc(group.kind->scratch(&group, 1)), *values = malloc(rows * sizeof *values);
        svmp_random_normals((random_stream){.a = n, .purpose = RANDOM_TEST}, VARIABLES * n, x);
        assert_int_equal(group.kind->evaluate(&group, 0, INSTANCES, n, x, scratch, whole, whole + rows), 0);
        for (size_t size = 1; size <= INSTANCES; size += 5) {
            for (size_t first = 0; first < INSTANCES; first += size) {
                size_t count = INSTANCES - first < size ? INSTANCES - first : size;
                group.kind->evaluate(&group, first, count, n, x, scratch, parts + first * n,
                                     parts + rows + first * SLOTS * n);
            }
            assert_memory_equal(whole, parts, rows * (1 + SLOTS) * sizeof *whole);
        }
        group.kind->evaluate(&group, 0, INSTANCES, n, x, scratch, values, NULL); /* without the gradient */
        assert_memory_equal(whole, values, rows * sizeof *values);
        for (size_t l = 0; l < n; l += 1 + n / 3) { /* particle l alone */
            double one[VARIABLES], value[INSTANCES], gradient[INSTANCES * SLOTS];
            for (size_t i = 0; i < VARIABLES; i++) one[i] = x[i * n + l];
            group.kind->evaluate(&group, 0, INSTANCES, 1, one, alone, value, gradient);
            for (size_t k = 0; k < INSTANCES; k++) {
                assert_memory_equal(&value[k], &whole[k * n + l], sizeof *value);
                for (size_t j = 0; j < SLOTS; j++)
                    assert_memory_equal(&gradient[k * SLOTS + j], &whole[rows + (k * SLOTS + j) * n + l],
                                        sizeof *gradient);
            }
        }
        free(x), free(scratch), free(whole), free(parts), free(alone), free(values);
    }
    free_group(fixture, &group);
}

static void test_splits(void **state) {
    check_splits(*state, 0);
    check_splits(*state, 5);
}

/* Sharing among instances changes no bit, compared with a program that does not know their variables, with the same and
 * with other variables; and it leaves less work per lane. */
static void check_shared(program_fixture *fixture, expr value, unsigned same, size_t n) {
    enum { ROWS = INSTANCES * (1 + SLOTS) };
    factor_group group;
    make_group(fixture, value, same, &group);
    const bound_program *bound = svmp_program_group_bound(&group);
    bound_program plain = *bound;
    plain.values = plain.gradient = (code_block){0};
    if (same & 2) assert_true(bound->gradient.choice_count > 0);
    assert_true(bound->gradient.shared > 0);
    assert_true(svmp_bound_lane_operations(bound) < svmp_bound_lane_operations(&plain));
    double *x = malloc(2 * VARIABLES * n * sizeof *x), *ours = malloc(ROWS * n * sizeof *ours);
    double *theirs = malloc(ROWS * n * sizeof *theirs);
    void *workspace = malloc(svmp_bound_scratch(bound, n)), *rest = malloc(svmp_bound_scratch(&plain, n));
    svmp_random_normals((random_stream){.a = n, .purpose = RANDOM_TEST}, 2 * VARIABLES * n, x);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t k = 0; pass && k < INSTANCES * SLOTS; k++) group.variables[k] += k / SLOTS / 9 % 2 * VARIABLES;
        for (int slopes = 0; slopes < 2; slopes++) {
            svmp_bound_evaluate(bound, group.variables, 0, INSTANCES, n, x, workspace, ours,
                                slopes ? ours + INSTANCES * n : NULL);
            svmp_bound_evaluate(&plain, group.variables, 0, INSTANCES, n, x, rest, theirs,
                                slopes ? theirs + INSTANCES * n : NULL);
            assert_memory_equal(ours, theirs, (slopes ? ROWS : INSTANCES) * n * sizeof *ours);
        }
    }
    free(x), free(ours), free(theirs), free(workspace), free(rest);
    free_group(fixture, &group);
}

static void test_shared(void **state) {
    program_fixture *fixture = *state;
    program_builder *b = fixture->b;
    static const size_t sizes[] = {1, 3, 20, 600};
    for (uint64_t seed = 0; seed < 3; seed++)
        for (unsigned same = 1; same < 1u << SLOTS; same += 6) {
            svmp_builder_reset(fixture->b);
            const expr value = random_graph(fixture->b, 40 + seed, 30 + 60 * seed, SLOTS, PARAMETERS);
            const expr x = IN(0), one = MUL(value, EXP(x)), sum = ADD(one, svmp_expr_log_ilogit(b, MUL(x, PAR(0))));
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) check_shared(fixture, sum, same, sizes[s]);
        }
}

/* Instances in any order, some slots read from other rows, derivatives by those slots only: the bits of the whole
 * program with those variables, and no more operations. */
static void check_view(const factor_group *group, const program *compiled, unsigned subset, size_t n) {
    uint32_t slots[SLOTS], instance[INSTANCES], shift[INSTANCES], variables[INSTANCES * SLOTS];
    unsigned char own[SLOTS] = {0};
    size_t count = 0;
    void *partial;
    for (uint32_t j = 0; j < SLOTS; j++)
        if (subset >> j & 1) own[j] = 1, slots[count++] = j;
    for (uint32_t k = 0; k < INSTANCES; k++) instance[k] = k * 5 % INSTANCES, shift[k] = VARIABLES;
    for (size_t k = 0; k < INSTANCES * SLOTS; k++) variables[k] = group->variables[k] + own[k % SLOTS] * VARIABLES;
    factor_group moved = *group;
    moved.variables = variables;
    double *x = malloc(2 * VARIABLES * n * sizeof *x), *whole = malloc(INSTANCES * (1 + SLOTS) * n * sizeof *whole);
    double *value = malloc(INSTANCES * n * sizeof *value), *gradient = malloc(INSTANCES * SLOTS * n * sizeof *gradient);
    svmp_random_normals((random_stream){.a = n, .purpose = RANDOM_TEST}, 2 * VARIABLES * n, x);
    assert_ok(group->kind->partial(group, count, slots, &partial));
    assert_true(group->kind->operations(group, partial) <= svmp_program_lane_operations(compiled, true));
    void *scratch = malloc(group->kind->scratch(group, n)),
         *workspace = malloc(group->kind->view_scratch(group, NULL, n));
    void *less = malloc(group->kind->view_scratch(group, partial, n));
    assert_int_equal(moved.kind->evaluate(&moved, 0, INSTANCES, n, x, scratch, whole, whole + INSTANCES * n), 0);
    const instance_view view = {.count = INSTANCES, .instance = instance, .shift = shift, .own = own, .x = x, .y = x};
    for (int pass = 0; pass < 3; pass++) { /* all derivatives; those of the subset; without the value */
        const size_t rows = pass == 0 ? SLOTS : count;
        memset(value, 0, INSTANCES * n * sizeof *value);
        group->kind->evaluate_view(group, pass ? partial : NULL, &view, n, pass ? less : workspace,
                                   pass == 2 ? NULL : value, gradient);
        for (size_t k = 0; k < INSTANCES; k++) {
            if (pass < 2) assert_memory_equal(value + k * n, whole + instance[k] * n, n * sizeof *value);
            for (size_t j = 0; j < rows; j++) {
                const size_t slot = pass == 0 ? j : slots[j], row = INSTANCES + instance[k] * SLOTS + slot;
                assert_memory_equal(gradient + (k * rows + j) * n, whole + row * n, n * sizeof *gradient);
            }
        }
    }
    group->kind->free_partial(partial);
    free(x), free(whole), free(value), free(gradient), free(scratch), free(workspace), free(less);
}

static void test_views(void **state) {
    program_fixture *fixture = *state;
    static const size_t sizes[] = {1, 3, 16, 131};
    for (uint64_t seed = 0; seed < 5; seed++) {
        svmp_builder_reset(fixture->b);
        factor_group group;
        program *compiled;
        const expr value = random_graph(fixture->b, 20 + seed, 20 + 40 * seed, SLOTS, PARAMETERS);
        assert_ok(svmp_program_finish(fixture->b, value, SLOTS, PARAMETERS, &compiled));
        make_group(fixture, value, seed % 2 ? 6 : 0, &group);
        for (unsigned subset = 1; subset < 1u << SLOTS; subset++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) check_view(&group, compiled, subset, sizes[s]);
        free_group(fixture, &group);
        svmp_program_free(compiled);
    }
}

/* Several values, among them leaves and the same twice. */
static void test_many_values(void **state) {
    program_fixture *fixture = *state;
    program_builder *b = fixture->b;
    expr x = IN(0), y = IN(1), sum = ADD(x, y);
    expr values[] = {sum, x, PAR(0), NUM(4), sum, EXP(sum), MUL(PAR(0), NUM(2))};
    enum { COUNT = sizeof values / sizeof *values };
    program *compiled;
    assert_ok(svmp_program_finish_values(b, COUNT, values, 2, 1, &compiled));
    for (size_t n = 1; n < 100; n += 33) {
        double at[200], result[COUNT * 100], parameter = 5;
        for (size_t l = 0; l < n; l++) at[l] = 0.5 + 0.01 * (double)l, at[n + l] = 0.25;
        test_run(compiled, n, at, &parameter, result, NULL);
        for (size_t l = 0; l < n; l++) {
            double expected[] = {at[l] + 0.25, at[l], 5, 4, at[l] + 0.25, svmp_exp(at[l] + 0.25), 10};
            for (size_t o = 0; o < COUNT; o++) assert_true(result[o * n + l] == expected[o]);
        }
    }
    svmp_program_free(compiled);
}

/* A million operations are built, differentiated and run in time linear in their number. */
static void test_large(void **state) {
    program_builder *b = ((program_fixture *)*state)->b;
    enum { STEPS = 125000 };
    expr x = IN(0), y = IN(1), sum = NUM(0);
    for (int k = 0; k < STEPS; k++) { /* a chain with a new input at each link */
        expr turn = svmp_expr_sin(b, ADD(x, MUL(y, NUM(1.0 + k * 1e-6))));
        x = ADD(MUL(x, NUM(0.5)), MUL(turn, y));
        sum = ADD(sum, x);
    }
    program *compiled;
    assert_ok(svmp_program_finish(b, MUL(sum, NUM(1.0 / STEPS)), 2, 0, &compiled));
    assert_true(svmp_builder_size(b) > 1000000);
    double at[2] = {0.3, 0.4};
    test_gradient(compiled, at, 1e-4, 1e-6, 0);
    svmp_program_free(compiled);
}

/* ---- failures -------------------------------------------------------------------------------------- */

static void test_failures(void **state) {
    program_fixture *fixture = *state;
    program_builder *b = fixture->b;
    program *compiled = NULL;
    expr stranger = {12345};
    expr sum = ADD(IN(0), stranger);                               /* fails ... */
    expr more = EXP(MUL(sum, ADD(svmp_expr_abs(b, sum), PAR(3)))); /* ... and all later calls are harmless */
    assert_int_equal(svmp_program_finish(b, more, 1, 4, &compiled), SVMP_BAD_CALL);
    assert_int_equal(svmp_builder_status(b), SVMP_BAD_CALL);
    svmp_builder_reset(b);
    assert_int_equal(svmp_program_finish(b, IN(3), 3, 0, &compiled), SVMP_BAD_CALL);
    assert_non_null(strstr(svmp_context_error(fixture->context), "Input 3"));
    svmp_builder_reset(b);
    assert_int_equal(svmp_program_finish(b, PAR(2), 0, 2, &compiled), SVMP_BAD_CALL);
    svmp_builder_reset(b);
    assert_int_equal(svmp_program_finish(b, stranger, 0, 2, &compiled), SVMP_BAD_CALL);
    assert_null(compiled);
    svmp_builder_free(NULL);
    svmp_program_free(NULL);
    svmp_bound_free(NULL);
}

/* All functions once, with the k-th allocation failing, for every k: an error, no leak, no crash. */
static void test_allocations(void **state) {
    (void)state;
    for (long k = 1;; k++) {
        failing_memory memory = {.left = k};
        program_fixture fixture = {.context = test_failing_context(&memory)};
        svmp_status status = svmp_builder_create(fixture.context, &fixture.b);
        program *compiled = NULL;
        if (status == SVMP_OK)
            status = svmp_program_finish(fixture.b, random_graph(fixture.b, 3, 200, SLOTS, PARAMETERS), SLOTS,
                                         PARAMETERS, &compiled);
        if (status == SVMP_OK) {
            uint32_t variables[2 * SLOTS] = {0, 1, 2, 3, 0, 4, 5, 6};
            double numbers[4] = {1, 2, 1, 2};
            const double *columns[PARAMETERS] = {&numbers[0], &numbers[2]};
            factor_group group;
            status = svmp_program_group_create(fixture.context, compiled, 2, variables, columns, &group);
            void *partial = NULL;
            const int made = status == SVMP_OK;
            if (made) status = group.kind->partial(&group, 2, (uint32_t[]){1, 3}, &partial);
            if (partial) group.kind->free_partial(partial);
            if (made) free_group(&fixture, &group);
        }
        svmp_builder_free(fixture.b);
        svmp_context_free(fixture.context);
        assert_int_equal(memory.live, 0);
        if (memory.left >= 0) { /* all allocations succeeded */
            assert_ok(status);
            assert_true(k > 20);
            return;
        }
        assert_int_equal(status, SVMP_NO_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sharing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_folding, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hoisting, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_registers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_masking, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_random_hessians, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_slots, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_random_gradients, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_splits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_shared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_views, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_large, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failures, set_up, tear_down),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
