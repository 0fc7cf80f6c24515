/* One transition of NUTS: it leaves posteriors invariant, stops at U-turns, and agrees with the definition of the
 * algorithm. */
#include "method/nuts_tree.h"

#include <math.h>
#include <stdlib.h>

#include "method/moves/adaptation.h"
#include "support.h"
#include "targets.h"

/* A tree on a model, which it owns; the metric is the unit matrix. */
typedef struct fixture {
    svmp_model *model;
    double *workspace;
    hamiltonian h;
    tree t;
    phase_point z;
} fixture;

static void set_up(fixture *f, svmp_model *model) {
    const size_t d = svmp_graph_variables(svmp_model_graph(model));
    *f = (fixture){.model = model};
    double *rest = f->workspace =
        calloc(svmp_tree_workspace_size(d) + (3 + HAMILTONIAN_VECTORS) * d, sizeof *f->workspace);
    assert_ok(svmp_evaluator_create(model, 1, 1, &f->h.evaluator));
    svmp_hamiltonian_take(&f->h, d, &rest);
    svmp_tree_take(&f->t, &f->h, &rest);
    svmp_phase_point_take(&f->z, &rest, d);
    svmp_hamiltonian_evaluate(&f->h, &f->z);
}

static void tear_down(fixture *f) {
    free(f->workspace);
    svmp_evaluator_free(f->h.evaluator);
    svmp_model_free(f->model);
}

static double acceptance(const tree *t) { return t->acceptance / (double)t->leapfrogs; }

static svmp_model *standard_normals(svmp_context *context, size_t variables) {
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < variables; v++) {
        assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
        assert_ok(svmp_model_add_gaussian(model, 1, &v, (double[]){1}, NULL));
    }
    assert_ok(svmp_model_finish(model));
    return model;
}

/* ---- invariance -------------------------------------------------------------------------------------------------- */

enum { CHAINS = 4000 };

/* With S = LL', L = (1 0; 0.8 sqrt(1.36)): four projections of x are normal, and |L^-1 x|^2 is a chi-square of 2, whose
 * exp(-r/2) is uniform. Kolmogorov's statistic exceeds 1.95 with probability 0.001. */
static void assert_gaussian(const double *x, double *u) {
    const double S[4] = {1, 0.8, 0.8, 2}, L[3] = {1, 0.8, sqrt(1.36)};
    const double directions[][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};
    for (size_t k = 0; k < 4; k++) {
        const double *a = directions[k];
        const double sd = sqrt(a[0] * a[0] * S[0] + 2 * a[0] * a[1] * S[1] + a[1] * a[1] * S[3]);
        for (size_t c = 0; c < CHAINS; c++) u[c] = target_normal_cdf((a[0] * x[c] + a[1] * x[CHAINS + c]) / sd);
        assert_true(target_kolmogorov(CHAINS, u) < 1.95);
    }
    for (size_t c = 0; c < CHAINS; c++) {
        const double first = x[c] / L[0], second = (x[CHAINS + c] - L[1] * first) / L[2];
        u[c] = exp(-(first * first + second * second) / 2);
    }
    assert_true(target_kolmogorov(CHAINS, u) < 1.95);
}

/* Chains of a correlated Gaussian, each started from an exact draw: after any number of transitions their states are
 * exact draws again. With a long step, so that trees are shallow, and a short one, so that they are deep. */
static void test_leaves_an_exact_gaussian_invariant(void **state) {
    (void)state;
    enum { STEPS = 3 };
    const double S[4] = {1, 0.8, 0.8, 2}, L[3] = {1, 0.8, sqrt(1.36)}, det = S[0] * S[3] - S[1] * S[2];
    const double A[4] = {S[3] / det, -S[1] / det, -S[2] / det, S[0] / det}, steps[] = {1.4, 0.9, 0.05};
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    assert_ok(svmp_model_add_node(model, NULL, 2, NULL, NULL, NULL));
    assert_ok(svmp_model_add_gaussian(model, 1, (size_t[]){0}, A, NULL));
    assert_ok(svmp_model_finish(model));
    double *x = malloc(2 * CHAINS * sizeof *x), *u = malloc(CHAINS * sizeof *u);
    fixture f;
    set_up(&f, model);
    f.h.inverse_metric[0] = 0.7;
    f.h.inverse_metric[1] = 1.9;
    for (size_t s = 0; s < 3; s++) {
        double depth = 0, accepted = 0;
        for (size_t c = 0; c < CHAINS; c++) {
            double normals[2];
            svmp_random_normals((random_stream){.seed = 5 + s, .purpose = RANDOM_TEST, .a = c}, 2, normals);
            f.z.q[0] = L[0] * normals[0];
            f.z.q[1] = L[1] * normals[0] + L[2] * normals[1];
            svmp_hamiltonian_evaluate(&f.h, &f.z);
            for (size_t k = 0; k < STEPS; k++) {
                svmp_tree_transition(&f.t, &f.z, steps[s], 99 + s, k, c);
                depth += (double)f.t.depth / (STEPS * CHAINS);
                accepted += acceptance(&f.t) / (STEPS * CHAINS);
            }
            x[c] = f.z.q[0];
            x[CHAINS + c] = f.z.q[1];
        }
        assert_true(s == 2 ? depth > 5 : depth < 3); /* both kinds of trees occurred */
        assert_true(s == 0 ? accepted < 0.8 : accepted > 0.8);
        assert_gaussian(x, u);
    }
    free(x);
    free(u);
    tear_down(&f);
    svmp_context_free(context);
}

/* The distribution function of Student's t with 5 degrees of freedom. */
static double student_cdf(double x) {
    const double a = x / sqrt(5), c = 1 + x * x / 5;
    return 0.5 + (atan(a) + a / c * (1 + 2 / (3 * c))) / acos(-1);
}

/* The same for a density that is not Gaussian. Exact draws: a normal divided by the root of a chi-square over 5. */
static void test_leaves_a_student_invariant(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    double *u = malloc(2 * CHAINS * sizeof *u);
    fixture f;
    set_up(&f, target_student(context, 1));
    f.h.inverse_metric[0] = 1.5;
    for (size_t c = 0; c < 2 * CHAINS; c++) {
        double normals[6], square = 0;
        svmp_random_normals((random_stream){.seed = 15, .purpose = RANDOM_TEST, .a = c}, 6, normals);
        for (size_t k = 1; k < 6; k++) square += normals[k] * normals[k];
        f.z.q[0] = normals[0] / sqrt(square / 5);
        svmp_hamiltonian_evaluate(&f.h, &f.z);
        for (size_t k = 0; k < 2; k++) svmp_tree_transition(&f.t, &f.z, 1.5, 7, k, c);
        u[c] = student_cdf(f.z.q[0]);
    }
    assert_true(target_kolmogorov(2 * CHAINS, u) < 1.95);
    free(u);
    tear_down(&f);
    svmp_context_free(context);
}

/* ---- the algorithm, by its definition ---------------------------------------------------------------------------- */

/* The whole trajectory as a list, from which all weights and sums of momenta are recomputed. */
enum { SMALL = 3, LONGEST = 1 << NUTS_DEEPEST };

typedef struct plain_point {
    double q[SMALL], p[SMALL], weight;
} plain_point;

typedef struct plain_tree {
    fixture *f;
    phase_point z;
    plain_point points[2 * LONGEST]; /* at times -LONGEST ... LONGEST - 1 */
    random_stream stream;
    uint64_t drawn;
    double energy, step;
    size_t leapfrogs;
    int divergent;
} plain_tree;

static plain_point *at_time(plain_tree *t, long time) { return &t->points[time + LONGEST]; }

/* p at `end` still points along the sum of the momenta of first ... last. */
static int along(plain_tree *t, long end, long first, long last) {
    double dot = 0;
    for (size_t i = 0; i < SMALL; i++) {
        double rho = 0;
        for (long k = first; k <= last; k++) rho += at_time(t, k)->p[i];
        dot += t->f->h.inverse_metric[i] * at_time(t, end)->p[i] * rho;
    }
    return dot > 0;
}

static int both_along(plain_tree *t, long first, long last) {
    return along(t, first, first, last) && along(t, last, first, last);
}

/* No turn in first ... last, which consists of two halves; the second begins at `middle`. */
static int persists(plain_tree *t, long first, long middle, long last) {
    return both_along(t, first, last) && both_along(t, first, middle) && both_along(t, middle - 1, last);
}

static double weight_of(plain_tree *t, long first, long last) {
    double sum = 0;
    for (long k = first; k <= last; k++) sum += at_time(t, k)->weight;
    return sum;
}

static void plain_leapfrog(plain_tree *t, const plain_point *from, int sign, plain_point *to) {
    const double step = sign * t->step;
    phase_point *z = &t->z;
    for (size_t i = 0; i < SMALL; i++) z->q[i] = from->q[i];
    svmp_hamiltonian_evaluate(&t->f->h, z);
    for (size_t i = 0; i < SMALL; i++) {
        z->p[i] = from->p[i] + step / 2 * z->score[i];
        z->q[i] = to->q[i] = from->q[i] + step * t->f->h.inverse_metric[i] * z->p[i];
    }
    svmp_hamiltonian_evaluate(&t->f->h, z);
    for (size_t i = 0; i < SMALL; i++) z->p[i] = to->p[i] = z->p[i] + step / 2 * z->score[i];
    to->weight = exp(t->energy - svmp_hamiltonian_energy(&t->f->h, z));
    t->leapfrogs++;
}

static double plain_uniform(plain_tree *t) { return svmp_random_uniform(t->stream, t->drawn++); }

/* Adds 2^depth points beyond `edge`; returns the time of the draw, or LONGEST if the sub-tree is invalid. */
static long plain_build(plain_tree *t, long edge, int sign, size_t depth) {
    if (depth == 0) {
        plain_leapfrog(t, at_time(t, edge), sign, at_time(t, edge + sign));
        if (at_time(t, edge + sign)->weight < exp(-700)) t->divergent = 1;
        return t->divergent ? LONGEST : edge + sign;
    }
    const long half = 1L << (depth - 1), seam = edge + sign * half, end = seam + sign * half;
    const long near = plain_build(t, edge, sign, depth - 1);
    if (near == LONGEST) return LONGEST;
    const long far = plain_build(t, seam, sign, depth - 1);
    if (far == LONGEST) return LONGEST;
    const double both = sign > 0 ? weight_of(t, edge + 1, end) : weight_of(t, end, edge - 1);
    const double rest = sign > 0 ? weight_of(t, seam + 1, end) : weight_of(t, end, seam - 1);
    const long draw = plain_uniform(t) < rest / both ? far : near;
    return (sign > 0 ? persists(t, edge + 1, seam + 1, end) : persists(t, end, seam, edge - 1)) ? draw : LONGEST;
}

static size_t plain_transition(plain_tree *t, double *q, uint64_t seed, size_t iteration) {
    plain_point *origin = at_time(t, 0);
    long first = 0, last = 0, draw = 0;
    size_t depth = 0;
    t->stream = (random_stream){.seed = seed, .purpose = RANDOM_TREE, .a = iteration};
    t->drawn = t->leapfrogs = 0;
    t->divergent = 0;
    for (size_t i = 0; i < SMALL; i++) t->z.q[i] = origin->q[i] = q[i];
    svmp_hamiltonian_draw_momentum(&t->f->h, (random_stream){.seed = seed, .purpose = RANDOM_MOMENTUM, .a = iteration},
                                   t->z.p);
    for (size_t i = 0; i < SMALL; i++) origin->p[i] = t->z.p[i];
    svmp_hamiltonian_evaluate(&t->f->h, &t->z);
    t->energy = svmp_hamiltonian_energy(&t->f->h, &t->z);
    origin->weight = 1;
    for (int goes_on = 1; goes_on && depth < NUTS_DEEPEST; depth++) {
        const int sign = plain_uniform(t) < 0.5 ? 1 : -1;
        const long length = 1L << depth, proposed = plain_build(t, sign > 0 ? last : first, sign, depth);
        if (proposed == LONGEST) break;
        const double old = weight_of(t, first, last);
        const long from = sign > 0 ? last + 1 : first - length, to = sign > 0 ? last + length : first - 1;
        if (plain_uniform(t) < weight_of(t, from, to) / old) draw = proposed;
        const long seam = sign > 0 ? from : first;
        first = sign > 0 ? first : from;
        last = sign > 0 ? to : last;
        goes_on = persists(t, first, seam, last);
    }
    for (size_t i = 0; i < SMALL; i++) q[i] = at_time(t, draw)->q[i];
    return depth;
}

/* The tree and its definition make the same transitions: the same leapfrog steps, depth and draw. For a Gaussian and a
 * Student-t, with steps from far too long to short. */
static void test_is_the_algorithm_as_written(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    plain_tree *plain = calloc(1, sizeof *plain);
    size_t forms[2][12] = {{0}};
    double workspace[3 * SMALL], *rest = workspace;
    svmp_phase_point_take(&plain->z, &rest, SMALL);
    for (size_t which = 0; which < 2; which++) {
        fixture f;
        set_up(&f, which == 0 ? test_random_gaussian(context, SMALL, 1, 1, 5) : target_student(context, SMALL));
        for (size_t i = 0; i < SMALL; i++) f.h.inverse_metric[i] = 0.5 + 0.5 * (double)i;
        plain->f = &f;
        for (size_t k = 0; k < 600; k++) {
            double q[SMALL];
            for (size_t i = 0; i < SMALL; i++) q[i] = f.z.q[i];
            const double step = 3 * pow(0.99, (double)k);
            plain->step = step;
            svmp_tree_transition(&f.t, &f.z, step, 11, k, 0);
            const size_t depth = plain_transition(plain, q, 11, k);
            assert_int_equal(f.t.depth, depth);
            assert_int_equal(f.t.leapfrogs, plain->leapfrogs);
            for (size_t i = 0; i < SMALL; i++) assert_near(f.z.q[i], q[i], 1e-9);
            forms[which][depth]++;
        }
        tear_down(&f);
        assert_true(forms[which][1] > 20 && forms[which][2] > 20 && forms[which][5] > 20); /* all kinds occurred */
    }
    free(plain);
    svmp_context_free(context);
}

/* Independent standard normals are oscillators of period 2 pi: a trajectory turns back after half a period. The checks
 * across sub-trees detect this for every step size; the ends alone miss it if 2^k steps take about a whole period, and
 * the trajectory repeats. */
static void test_trajectories_stop_within_a_period(void **state) {
    (void)state;
    enum { TRIALS = 100, D = 50 };
    svmp_context *context = test_context(1);
    fixture f;
    set_up(&f, standard_normals(context, D));
    for (size_t s = 0; s < 50; s++) {
        const double step = 0.2 + 0.02 * (double)s;
        double length = 0;
        svmp_random_normals((random_stream){.seed = 21, .purpose = RANDOM_TEST}, D, f.z.q);
        svmp_hamiltonian_evaluate(&f.h, &f.z);
        for (size_t k = 0; k < TRIALS; k++) {
            svmp_tree_transition(&f.t, &f.z, step, 2, k, 0);
            length += (double)f.t.leapfrogs * step / TRIALS;
        }
        assert_true(length < 2 * acos(-1));
    }
    tear_down(&f);
    svmp_context_free(context);
}

/* ---- step size --------------------------------------------------------------------------------------------------- */

/* Dual averaging on a Gaussian of 20 variables: the acceptance of the second half of 2,000 transitions is the target,
 * and so is that of the final step. */
static void check_target(fixture *f, double target) {
    enum { HALF = 1000, T = 2 * HALF };
    dual_averaging averaging;
    double step = 0.1, late = 0, kept = 0;
    svmp_dual_averaging_start(&averaging, step, target);
    for (size_t k = 0; k < T; k++) {
        svmp_tree_transition(&f->t, &f->z, step, 3, k, 0);
        if (k >= HALF) late += acceptance(&f->t) / HALF;
        step = svmp_dual_averaging_learn(&averaging, acceptance(&f->t));
    }
    for (size_t k = 0; k < T; k++) {
        svmp_tree_transition(&f->t, &f->z, svmp_dual_averaging_end(&averaging), 4, k, 0);
        kept += acceptance(&f->t) / T;
    }
    assert_true(fabs(late - target) < 0.02);
    assert_true(fabs(kept - target) < 0.05);
}

static void test_the_step_reaches_its_target(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    fixture f;
    set_up(&f, test_random_gaussian(context, 20, 0.3, 1, 47));
    check_target(&f, 0.8);
    check_target(&f, 0.95);
    tear_down(&f);
    svmp_context_free(context);
}

/* On a standard normal the found step is where the energy error of one step crosses log 0.8, from either side. */
static void test_the_first_step_is_of_the_right_order(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    fixture f;
    double workspace[3], *rest = workspace;
    phase_point trial;
    set_up(&f, standard_normals(context, 1));
    svmp_phase_point_take(&trial, &rest, 1);
    const double from[] = {1e-12, 1, 1e6};
    for (size_t k = 0; k < 3; k++) {
        const random_stream stream = {.seed = 1, .purpose = RANDOM_STEP_SIZE};
        const double step = svmp_hamiltonian_find_step(&f.h, &f.z, from[k], stream, &trial);
        assert_true(step > 0.3 && step < 5);
    }
    tear_down(&f);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaves_an_exact_gaussian_invariant),
        cmocka_unit_test(test_leaves_a_student_invariant),
        cmocka_unit_test(test_is_the_algorithm_as_written),
        cmocka_unit_test(test_trajectories_stop_within_a_period),
        cmocka_unit_test(test_the_step_reaches_its_target),
        cmocka_unit_test(test_the_first_step_is_of_the_right_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
