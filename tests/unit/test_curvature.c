/* Second derivatives of whole models: matrices, clipped matrices, Cholesky factors. (test_ops has those of single
 * operations, test_models those of models/.) */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef SVMP_HAVE_CHOLMOD
#include <cholmod.h>
#endif

#include "expr/program.h"
#include "maths/eigenvalues.h"
#include "maths/sparse_factor.h"
#include "model/curvature.h"
#include "model/program_factors.h"
#include "targets.h"

enum { MOST = 64 }; /* variables */

/* H as a dense matrix. */
static void spread_out(const sparsity *pattern, const double *H, double *dense) {
    const size_t d = pattern->order;
    memset(dense, 0, d * d * sizeof *dense);
    for (size_t j = 0; j < d; j++)
        for (size_t e = pattern->start[j]; e < pattern->start[j + 1]; e++)
            dense[pattern->row[e] * d + j] = dense[j * d + pattern->row[e]] = H[e];
}

static void evaluate(const svmp_model *model, int threads, size_t n, const double *x, const double *width,
                     double *dense) {
    curvature *c = NULL;
    assert_ok(svmp_curvature_create(model, threads, &c));
    const sparsity *pattern = svmp_curvature_pattern(c);
    double *H = malloc(pattern->entries * sizeof *H);
    assert_ok(svmp_curvature_evaluate(c, n, x, width, H));
    spread_out(pattern, H, dense);
    svmp_curvature_free(c);
    free(H);
}

/* ---- eigenvalues ------------------------------------------------------------------------------------------------- */

static void test_eigen(void **state) {
    (void)state;
    for (size_t n = 1; n <= 40; n = n < 6 ? n + 1 : 2 * n) {
        double a[40 * 40], v[40 * 40], value[40], workspace[40];
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++) a[i * n + j] = a[j * n + i] = test_random(n, i * n + j);
        memcpy(v, a, n * n * sizeof *v);
        assert_true(svmp_eigen_symmetric(n, v, value, workspace));
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                double entry = 0, product = 0;
                for (size_t k = 0; k < n; k++) {
                    entry += value[k] * v[k * n + i] * v[k * n + j];
                    product += v[i * n + k] * v[j * n + k];
                }
                assert_near(entry, a[i * n + j], 1e-13);
                assert_near(product, i == j, 1e-13);
            }
    }
    double none[4] = {1, NAN, NAN, 1}, zero[9] = {0}, value[3], workspace[3];
    assert_false(svmp_eigen_symmetric(2, none, value, workspace));
    assert_true(svmp_eigen_symmetric(3, zero, value, workspace));
    assert_true(value[0] == 0 && value[1] == 0 && value[2] == 0);
}

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

static void test_sparsity(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    const sparse_place places[] = {{3, 1}, {0, 2}, {1, 3}, {2, 2}, {3, 0}};
    uint32_t place[5];
    sparsity pattern;
    assert_ok(svmp_sparsity_create(context, 4, 5, places, place, &pattern));
    const size_t start[] = {0, 3, 5, 6, 7};
    const uint32_t row[] = {0, 2, 3, 1, 3, 2, 3}, entry[] = {4, 1, 4, 5, 2};
    assert_int_equal(pattern.entries, 7);
    assert_memory_equal(pattern.start, start, sizeof start);
    assert_memory_equal(pattern.row, row, sizeof row);
    assert_memory_equal(place, entry, sizeof entry);
    svmp_sparsity_free(context, &pattern);
    svmp_context_free(context);
}

/* ---- matrices, functions and programs ---------------------------------------------------------------------------- */

/* The curvature of a quadratic is its matrix, everywhere. */
static void test_matrix(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    svmp_model *model = test_random_gaussian(context, 30, 0.1, 0, 5);
    const size_t d = svmp_graph_variables(svmp_model_graph(model));
    double precision[MOST * MOST], linear[MOST], found[MOST * MOST], x[MOST * 3];
    for (size_t k = 0; k < 3 * d; k++) x[k] = test_random(1, k);
    test_dense(model, precision, linear);
    evaluate(model, 1, 3, x, NULL, found);
    assert_memory_equal(found, precision, d * d * sizeof *found);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Functions: N(v | 0, 9) and log N(x | 0, exp(v)), whose curvature by (v, x) is e^-v (x^2/2, -x; -x, 1). */
static void test_functions(void **state) {
    (void)state;
    enum { N = 5 };
    svmp_context *context = test_context(2);
    svmp_model *model = target_funnel(context, 1);
    double x[10 * N], width[10], found[100], wanted[100] = {1.0 / 9};
    for (size_t k = 0; k < 10 * N; k++) x[k] = 1.5 * test_random(2, k);
    for (size_t i = 0; i < 10; i++) width[i] = 0.5;
    for (size_t l = 0; l < N; l++)
        for (size_t i = 1; i < 10; i++) {
            const double at = x[i * N + l], scale = exp(-x[l]) / N;
            wanted[0] += scale * at * at / 2;
            wanted[i] = wanted[10 * i] -= scale * at;
            wanted[11 * i] += scale;
        }
    for (int known = 0; known < 2; known++) {
        evaluate(model, 2, N, x, known ? width : NULL, found);
        for (size_t k = 0; k < 100; k++) assert_near(found[k], wanted[k], 1e-6);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A group of programs: instances with parameters, variables in two slots, and 200 consecutive instances with the same
 * variables. f = p sin(x y) + x^2 z, by slots x, y, z. */
static svmp_model *model_of_programs(svmp_context *context, size_t variables, size_t instances, uint32_t *scopes,
                                     double *parameter) {
    svmp_model *model = NULL;
    program_builder *b;
    program *compiled;
    factor_group group;
    const double *column = parameter;
    for (size_t k = 0; k < instances; k++) {
        const int same = k >= 100 && k < 300;
        parameter[k] = test_random(3, k);
        for (size_t j = 0; j < 3; j++)
            scopes[3 * k + j] = (uint32_t)((test_random(4, 3 * (same ? 100 : k) + j) + 1) / 2 * (double)variables);
        if (k % 7 == 0 && !same) scopes[3 * k + 2] = scopes[3 * k];
    }
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < variables; v++) assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
    assert_ok(svmp_builder_create(context, &b));
    expr x = svmp_expr_input(b, 0), y = svmp_expr_input(b, 1), z = svmp_expr_input(b, 2);
    expr sine = svmp_expr_multiply(b, svmp_expr_parameter(b, 0), svmp_expr_sin(b, svmp_expr_multiply(b, x, y)));
    expr value = svmp_expr_add(b, sine, svmp_expr_multiply(b, svmp_expr_square(b, x), z));
    assert_ok(svmp_program_finish(b, value, 3, 1, &compiled));
    svmp_builder_free(b);
    assert_ok(svmp_program_group_create(context, compiled, instances, scopes, &column, &group));
    assert_ok(svmp_model_add_groups(model, 1, &group));
    assert_ok(svmp_model_finish(model));
    return model;
}

static void test_programs(void **state) {
    (void)state;
    enum { VARIABLES = 12, INSTANCES = 400, N = 20 };
    uint32_t scopes[3 * INSTANCES];
    double parameter[INSTANCES], x[VARIABLES * N], found[VARIABLES * VARIABLES], again[VARIABLES * VARIABLES];
    svmp_context *context = test_context(2);
    svmp_model *model = model_of_programs(context, VARIABLES, INSTANCES, scopes, parameter);
    for (size_t k = 0; k < VARIABLES * N; k++) x[k] = 2 * test_random(5, k);
    for (size_t n = 1; n <= N; n += 19) { /* particle-fast in both cases: n rows of the first numbers */
        double wanted[VARIABLES * VARIABLES] = {0};
        for (size_t k = 0; k < INSTANCES; k++)
            for (size_t l = 0; l < n; l++) {
                const uint32_t *s = scopes + 3 * k;
                const double a = x[s[0] * n + l], c = x[s[1] * n + l], z = x[s[2] * n + l], p = parameter[k];
                const double xx = -p * c * c * sin(a * c) + 2 * z, yy = -p * a * a * sin(a * c);
                const double by[3][3] = {{xx, p * (cos(a * c) - a * c * sin(a * c)), 2 * a},
                                         {p * (cos(a * c) - a * c * sin(a * c)), yy, 0},
                                         {2 * a, 0, 0}};
                for (size_t i = 0; i < 3; i++)
                    for (size_t j = 0; j < 3; j++) wanted[s[i] * VARIABLES + s[j]] -= by[i][j] / (double)n;
            }
        evaluate(model, 1, n, x, NULL, found);
        for (size_t k = 0; k < VARIABLES * VARIABLES; k++) assert_near(found[k], wanted[k], 1e-11);
        evaluate(model, 2, n, x, NULL, again);
        assert_memory_equal(found, again, sizeof found); /* the same bits for any number of threads */
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- clipped ----------------------------------------------------------------------------------------------------- */

static double least_eigenvalue(size_t d, double *matrix) {
    double value[MOST], workspace[MOST], least = INFINITY;
    assert_true(svmp_eigen_symmetric(d, matrix, value, workspace));
    for (size_t k = 0; k < d; k++) least = fmin(least, value[k]);
    return least;
}

/* Clipping negative eigenvalues makes a factor's matrix positive semidefinite by adding a positive semidefinite one;
 * with units, the same in coordinates x_i*unit_i. A matrix without negative eigenvalues is unchanged. */
static void test_clipped(void **state) {
    (void)state;
    enum { VARIABLES = 12, INSTANCES = 30 };
    uint32_t scopes[3 * INSTANCES];
    double parameter[INSTANCES], x[VARIABLES], unit[VARIABLES], before[VARIABLES * VARIABLES],
        after[VARIABLES * VARIABLES], difference[VARIABLES * VARIABLES];
    svmp_context *context = test_context(2);
    svmp_model *model = model_of_programs(context, VARIABLES, INSTANCES, scopes, parameter);
    curvature *c = NULL;
    assert_ok(svmp_curvature_create(model, 2, &c));
    const sparsity *pattern = svmp_curvature_pattern(c);
    double *H = malloc(pattern->entries * sizeof *H), *kept = malloc(pattern->entries * sizeof *kept);
    for (size_t i = 0; i < VARIABLES; i++) {
        x[i] = test_random(6, i);
        unit[i] = exp(3 * test_random(7, i));
    }
    for (int scaled = 0; scaled < 2; scaled++) {
        for (size_t i = 0; i < VARIABLES; i++) unit[i] = scaled ? unit[i] : 1;
        assert_ok(svmp_curvature_evaluate(c, 1, x, NULL, H));
        spread_out(pattern, H, before);
        memcpy(kept, H, pattern->entries * sizeof *H);
        assert_true(least_eigenvalue(VARIABLES, before) < -0.1);
        spread_out(pattern, kept, before);
        assert_ok(svmp_curvature_clip(c, unit, H));
        spread_out(pattern, H, after);
        for (size_t k = 0; k < VARIABLES * VARIABLES; k++) difference[k] = after[k] - before[k];
        assert_true(least_eigenvalue(VARIABLES, difference) > -1e-12);
        assert_true(least_eigenvalue(VARIABLES, after) > -1e-12);
    }
    free(H), free(kept);
    svmp_curvature_free(c);
    svmp_model_free(model);

    model = target_logistic(context); /* concave: nothing to clip */
    assert_ok(svmp_curvature_create(model, 1, &c));
    double sharp[3], clipped[3];
    assert_ok(svmp_curvature_evaluate(c, 1, (double[]){0.3, -0.4}, NULL, sharp));
    assert_ok(svmp_curvature_clip(c, (double[]){1, 1}, clipped));
    for (size_t k = 0; k < 3; k++) assert_near(clipped[k], sharp[k], 1e-14);
    svmp_curvature_free(c);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- factors ----------------------------------------------------------------------------------------------------- */

/* For a random sparse matrix, after one that is not positive definite: A^-1, its entries on the pattern, log det A, and
 * P'L'^-1, whose product with its transpose is A^-1. */
static void test_factorisation(void **state) {
    (void)state;
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 30, 0.1, 0, 5);
    const size_t d = svmp_graph_variables(svmp_model_graph(model));
    static double dense[MOST * MOST], linear[MOST], unit[MOST * MOST], spread[MOST * MOST], value[MOST],
        workspace[MOST];
    curvature *c = NULL;
    factorisation *f = NULL;
    size_t bad;
    test_dense(model, dense, linear);
    assert_ok(svmp_curvature_create(model, 2, &c));
    const sparsity *pattern = svmp_curvature_pattern(c);
    double *H = malloc(pattern->entries * sizeof *H), *inverse = malloc(pattern->entries * sizeof *inverse);
    assert_ok(svmp_curvature_evaluate(c, 1, linear, NULL, H));
    assert_ok(svmp_factorisation_create(context, pattern, &f));
    H[pattern->start[3]] = -1;
    assert_ok(svmp_factorise(f, H, &bad));
    assert_true(bad < d);
    H[pattern->start[3]] = dense[3 * d + 3];
    assert_ok(svmp_factorise(f, H, &bad));
    assert_true(bad == SIZE_MAX && svmp_factorisation_entries(f) >= pattern->entries);
    memset(unit, 0, sizeof unit);
    memset(spread, 0, sizeof spread);
    for (size_t i = 0; i < d; i++) unit[i * d + i] = spread[i * d + i] = 1;
    assert_ok(svmp_factorisation_solve(f, 2, d, unit));
    assert_ok(svmp_factorisation_correlate(f, 2, d, spread));
    assert_ok(svmp_factorisation_inverse(f, inverse));

    double log_determinant = 0, copy[MOST * MOST];
    memcpy(copy, dense, d * d * sizeof *copy);
    assert_true(svmp_eigen_symmetric(d, copy, value, workspace));
    for (size_t k = 0; k < d; k++) log_determinant += log(value[k]);
    assert_near(svmp_factorisation_log_determinant(f), log_determinant, 1e-12);
    test_invert(d, dense);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double sum = 0;
            for (size_t k = 0; k < d; k++) sum += spread[i * d + k] * spread[j * d + k];
            assert_near(unit[i * d + j], dense[i * d + j], 1e-12);
            assert_near(sum, dense[i * d + j], 1e-12);
        }
    for (size_t j = 0; j < d; j++)
        for (size_t e = pattern->start[j]; e < pattern->start[j + 1]; e++)
            assert_near(inverse[e], dense[pattern->row[e] * d + j], 1e-12);

    double one[MOST], two[2 * MOST]; /* a column has the same bits alone and with another */
    for (size_t i = 0; i < d; i++) one[i] = two[2 * i] = test_random(8, i), two[2 * i + 1] = -1;
    assert_ok(svmp_factorisation_correlate(f, 1, 1, one));
    assert_ok(svmp_factorisation_correlate(f, 2, 2, two));
    for (size_t i = 0; i < d; i++) assert_true(one[i] == two[2 * i]);
    svmp_factorisation_free(f);
    svmp_curvature_free(c);
    svmp_model_free(model);
    svmp_context_free(context);
    free(H), free(inverse);
}

/* log det A by CHOLMOD's own factor, column by column. */
static double log_determinant_by_columns(const sparsity *pattern, const double *A) {
#ifdef SVMP_HAVE_CHOLMOD
    cholmod_common common;
    cholmod_l_start(&common);
    common.supernodal = CHOLMOD_SIMPLICIAL;
    common.final_ll = 1;
    const size_t order = pattern->order;
    cholmod_sparse *a = cholmod_l_allocate_sparse(order, order, pattern->entries, 1, 1, -1, CHOLMOD_REAL, &common);
    SuiteSparse_long *start = a->p, *row = a->i;
    for (size_t j = 0; j <= order; j++) start[j] = (SuiteSparse_long)pattern->start[j];
    for (size_t e = 0; e < pattern->entries; e++) row[e] = pattern->row[e];
    memcpy(a->x, A, pattern->entries * sizeof *A);
    cholmod_factor *L = cholmod_l_analyze(a, &common);
    assert_true(cholmod_l_factorize(a, L, &common) && L->is_ll && !L->is_super);
    double sum = 0;
    for (size_t j = 0; j < order; j++) sum += 2 * log(((double *)L->x)[((SuiteSparse_long *)L->p)[j]]);
    cholmod_l_free_factor(&L, &common);
    cholmod_l_free_sparse(&a, &common);
    cholmod_l_finish(&common);
    return sum;
#else
    (void)pattern, (void)A;
    return NAN;
#endif
}

/* The lower triangle of a grid of `side` x `side` with a clique of `clique` variables, each a neighbour of every tenth
 * one: small panels, and some that are split. Diagonally dominant. */
static double *make_grid(svmp_context *context, size_t side, size_t clique, sparsity *pattern) {
    const size_t cells = side * side, order = cells + clique, most = 2 * cells + clique * (cells / 10 + 1 + clique);
    sparse_place *places = calloc(most, sizeof *places);
    size_t count = 0;
    for (size_t i = 0; i < cells; i++) {
        if (i % side + 1 < side) places[count++] = (sparse_place){(uint32_t)i + 1, (uint32_t)i};
        if (i + side < cells) places[count++] = (sparse_place){(uint32_t)(i + side), (uint32_t)i};
    }
    for (size_t h = 0; h < clique; h++) {
        for (size_t i = h % 10; i < cells; i += 10)
            places[count++] = (sparse_place){(uint32_t)(cells + h), (uint32_t)i};
        for (size_t k = 0; k < h; k++) places[count++] = (sparse_place){(uint32_t)(cells + h), (uint32_t)(cells + k)};
    }
    assert_ok(svmp_sparsity_create(context, order, count, places, NULL, pattern));
    double *A = calloc(pattern->entries, sizeof *A);
    for (size_t j = 0; j < order; j++) A[pattern->start[j]] = 0.1;
    for (size_t j = 0; j < order; j++)
        for (size_t e = pattern->start[j] + 1; e < pattern->start[j + 1]; e++) {
            A[e] = test_random(4, e);
            A[pattern->start[j]] += fabs(A[e]) + 0.01;
            A[pattern->start[pattern->row[e]]] += fabs(A[e]) + 0.01;
        }
    free(places);
    return A;
}

/* Supernodal factorisation: A^-1 A x is x, log det is CHOLMOD's, the entries of the inverse agree with solutions, and
 * the bits do not depend on the number of threads. A pivot that is not positive is found in any supernode. */
static void check_supernodes(size_t side, size_t clique) {
    double *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        svmp_context *context = test_context(threads);
        sparsity pattern = {0};
        factorisation *f = NULL;
        size_t bad;
        double *A = make_grid(context, side, clique, &pattern);
        const size_t order = pattern.order;
        double *x = calloc(order, sizeof *x), *y = calloc(order, sizeof *y), *z = calloc(order, sizeof *z);
        double *inverse = calloc(pattern.entries, sizeof *A);
        assert_ok(svmp_factorisation_create(context, &pattern, &f));
        for (size_t row = 0; row < order; row += order / 7 + 1) {
            const double kept = A[pattern.start[row]];
            A[pattern.start[row]] = -1;
            assert_ok(svmp_factorise(f, A, &bad));
            assert_true(bad < order);
            A[pattern.start[row]] = kept;
        }
        assert_ok(svmp_factorise(f, A, &bad));
        assert_true(bad == SIZE_MAX);
        for (size_t i = 0; i < order; i++) x[i] = test_random(5, i), z[i] = test_random(6, i);
        for (size_t j = 0; j < order; j++)
            for (size_t e = pattern.start[j]; e < pattern.start[j + 1]; e++) {
                y[pattern.row[e]] += A[e] * x[j];
                if (pattern.row[e] != j) y[j] += A[e] * x[pattern.row[e]];
            }
        assert_ok(svmp_factorisation_solve(f, threads, 1, y));
        for (size_t i = 0; i < order; i++) assert_near(y[i], x[i], 1e-9);
        assert_ok(svmp_factorisation_correlate(f, threads, 1, z));
        if (threads == 1) first = memcpy(malloc(order * sizeof *z), z, order * sizeof *z);
        assert_memory_equal(z, first, order * sizeof *z);

        const double log_determinant = log_determinant_by_columns(&pattern, A);
        if (!isnan(log_determinant))
            assert_near(svmp_factorisation_log_determinant(f), log_determinant, 1e-11 * fabs(log_determinant));
        assert_ok(svmp_factorisation_inverse(f, inverse));
        for (size_t j = 0; j < order; j += order / 5 + 1) {
            for (size_t i = 0; i < order; i++) y[i] = i == j;
            assert_ok(svmp_factorisation_solve(f, threads, 1, y));
            for (size_t e = pattern.start[j]; e < pattern.start[j + 1]; e++)
                assert_near(inverse[e], y[pattern.row[e]], 1e-9 * (1 + fabs(inverse[e])));
        }
        svmp_factorisation_free(f);
        svmp_sparsity_free(context, &pattern);
        svmp_context_free(context);
        free(A), free(x), free(y), free(z), free(inverse);
    }
    free(first);
}

static void test_supernodes(void **state) {
    (void)state;
    check_supernodes(80, 0);
    check_supernodes(70, 2);
    check_supernodes(20, 200); /* panels of more than 48 columns, and small subtrees */
    check_supernodes(1, 300);  /* sequential */
    check_supernodes(1, 1);    /* too small for threads */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eigen),         cmocka_unit_test(test_sparsity),   cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_functions),     cmocka_unit_test(test_programs),   cmocka_unit_test(test_clipped),
        cmocka_unit_test(test_factorisation), cmocka_unit_test(test_supernodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
