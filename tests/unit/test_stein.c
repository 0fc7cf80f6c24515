/* The velocity field phi: against the plain formula, against finite differences of the kernel, and every backend
 * against the plain loops. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"

static kernel parse(svmp_context *context, const char *text, const char *rule) {
    bandwidth standard;
    kernel k;
    assert_ok(svmp_bandwidth_parse(context, rule, &standard));
    assert_ok(svmp_kernel_parse(context, text, standard, &k));
    return k;
}

/* phi of the given particles (variables * n), in iteration 3 with seed 11. */
static void velocity_of(const svmp_model *model, const backend_kind *kind, kernel k, size_t n, const double *x,
                        double *phi) {
    backend *b = NULL;
    const size_t size = model->graph->variables * n * sizeof(double);
    assert_ok(svmp_backend_create(kind, model, n, 11, &k, NULL, &b));
    memcpy(b->x, x, size);
    assert_ok(kind->score(b));
    assert_ok(kind->stein(b, &k, 3));
    memcpy(phi, b->phi, size);
    svmp_backend_free(b);
}

static void velocity(const svmp_model *model, const backend_kind *kind, const char *text, const char *rule, size_t n,
                     const double *x, double *phi) {
    velocity_of(model, kind, parse(model->context, text, rule), n, x, phi);
}

enum { MOST_VARIABLES = 90, MOST_PARTICLES = 64, MOST = MOST_VARIABLES * MOST_PARTICLES };

typedef struct particles {
    double x[MOST], phi[MOST], other[MOST];
} particles;

static void scatter(size_t count, uint64_t stream, double *x) {
    for (size_t k = 0; k < count; k++) x[k] = 2 * test_random(stream, k) + (double)(k % 3);
}

static void assert_all_near(const double *a, const double *b, size_t count, double tolerance) {
    for (size_t k = 0; k < count; k++) assert_near(a[k], b[k], tolerance);
}

/* ---- the definition ---------------------------------------------------------------------------------------------- */

/* k of a shape between two points of the plane; `centre` and `v` matter to linear alone. */
static double shape_value(const char *shape, const double a[2], const double b[2], double h, const double centre[2],
                          double v) {
    double distance = pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2);
    if (strcmp(shape, "rbf") == 0) return exp(-distance / h);
    if (strcmp(shape, "imq") == 0) return pow(1 + distance / h, -0.5);
    return 1 + ((a[0] - centre[0]) * (b[0] - centre[0]) + (a[1] - centre[1]) * (b[1] - centre[1])) / v;
}

/* phi_i[m] = 1/n sum_l ( s_i[l] k(x_l, x_m) + d k(x_l, x_m) / d x_i[l] ), the derivative by finite differences. */
static void test_phi_is_its_definition(void **state) {
    (void)state;
    enum { N = 9 };
    const char *shapes[] = {"rbf", "imq", "linear"};
    const backend_kind *kinds[] = {&svmp_backend_ref, &svmp_backend_cpu};
    const double tiny = 1e-5;
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 2, 1, 1, 71);
    double x[2 * N], score[2 * N], phi[2 * N];
    scatter(2 * N, 1, x);
    assert_ok(svmp_model_evaluate(model, N, x, NULL, score));
    double centre[2] = {0}, v = 0, h = 1.7;
    for (size_t i = 0; i < 2; i++) {
        for (size_t l = 0; l < N; l++) centre[i] += x[i * N + l] / N;
        for (size_t l = 0; l < N; l++) v += pow(x[i * N + l] - centre[i], 2) / N;
    }
    for (size_t s = 0; s < 3; s++)
        for (size_t kind = 0; kind < 2; kind++) {
            char text[32];
            snprintf(text, sizeof text, "%s@blanket", shapes[s]);
            velocity(model, kinds[kind], text, "1.7", N, x, phi);
            for (size_t i = 0; i < 2; i++)
                for (size_t m = 0; m < N; m++) {
                    const double at[2] = {x[m], x[N + m]};
                    double sum = 0;
                    for (size_t l = 0; l < N; l++) {
                        double from[2] = {x[l], x[N + l]}, k, slope;
                        k = shape_value(shapes[s], from, at, h, centre, v);
                        from[i] += tiny;
                        slope = shape_value(shapes[s], from, at, h, centre, v);
                        from[i] -= 2 * tiny;
                        slope = (slope - shape_value(shapes[s], from, at, h, centre, v)) / (2 * tiny);
                        sum += score[i * N + l] * k + slope;
                    }
                    assert_near(phi[i * N + m], sum / N, 1e-9);
                }
        }
    svmp_model_free(model);
    svmp_context_free(context);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The bandwidth rules by definition: sort everything, take the middle. */
static double bandwidth_by_sorting(const char *rule, size_t n, const double *x, size_t variables) {
    double all[MOST_PARTICLES * MOST_PARTICLES];
    const int zeros = strcmp(rule, "median-zeros") == 0;
    size_t count = 0;
    for (size_t l = 0; l < n; l++)
        for (size_t m = 0; m < n; m++) {
            double distance = 0;
            for (size_t i = 0; i < variables; i++) distance += pow(x[i * n + l] - x[i * n + m], 2);
            if (zeros || l < m) all[count++] = zeros ? distance : sqrt(distance);
        }
    qsort(all, count, sizeof *all, ascending);
    double middle = (all[(count - 1) / 2] + all[count / 2]) / 2;
    if (zeros) return middle;
    return strcmp(rule, "median-log") == 0 ? middle * middle / log((double)n) : middle * middle;
}

/* A rule gives the same phi as the bandwidth it computes. Odd and even counts of pairs, and n = 2. */
static void test_bandwidth_rules(void **state) {
    (void)state;
    const char *rules[] = {"median", "median-log", "median-zeros"};
    const backend_kind *kinds[] = {&svmp_backend_ref, &svmp_backend_cpu};
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 5, 0.5, 0, 5);
    const size_t d = svmp_graph_variables(svmp_model_graph(model)), sizes[] = {2, 3, 4, 7, 8, 21};
    particles *p = malloc(sizeof *p);
    for (size_t r = 0; r < 3; r++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t k = 0; k < 2; k++) {
                const size_t n = sizes[s];
                char number[32];
                scatter(d * n, s, p->x);
                snprintf(number, sizeof number, "%.17g", bandwidth_by_sorting(rules[r], n, p->x, d));
                velocity(model, kinds[k], "rbf@all", rules[r], n, p->x, p->phi);
                velocity(model, kinds[k], "rbf@all", number, n, p->x, p->other);
                assert_all_near(p->phi, p->other, d * n, 1e-12);
            }
    free(p);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- identities -------------------------------------------------------------------------------------------------- */

static void test_one_particle_is_gradient_ascent(void **state) {
    (void)state;
    const char *kernels[] = {"rbf@blanket", "rbf@all", "imq@self", "linear@blanket", "rbf@random:2", "rbf(0.3)@all"};
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 8, 0.4, 0, 9);
    const size_t d = svmp_graph_variables(svmp_model_graph(model));
    double x[MOST_VARIABLES], phi[MOST_VARIABLES], score[MOST_VARIABLES];
    scatter(d, 2, x);
    assert_ok(svmp_model_evaluate(model, 1, x, NULL, score));
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        velocity(model, &svmp_backend_cpu, kernels[k], "median", 1, x, phi);
        assert_all_near(phi, score, d, 1e-15);
        velocity(model, &svmp_backend_ref, kernels[k], "median", 1, x, phi);
        assert_all_near(phi, score, d, 1e-15);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* All particles at one point: k = 1, without repulsion. Most of them at one point: h = 0 is the limit of narrow
 * kernels.
 */
static void test_particles_that_coincide(void **state) {
    (void)state;
    enum { N = 6, D = 3 };
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, D, 1, 1, 9);
    const backend_kind *kinds[] = {&svmp_backend_ref, &svmp_backend_cpu};
    const char *kernels[] = {"rbf@all", "imq@all", "linear@all"};
    double x[D * N], phi[D * N], score[D * N];
    for (size_t k = 0; k < D * N; k++) x[k] = (double)(k / N);
    assert_ok(svmp_model_evaluate(model, N, x, NULL, score));
    for (size_t k = 0; k < 6; k++) {
        velocity(model, kinds[k % 2], kernels[k / 2], "median", N, x, phi);
        assert_all_near(phi, score, D * N, 1e-15);
    }
    x[N - 1] += 1; /* the last one elsewhere: the median distance is still 0 */
    assert_ok(svmp_model_evaluate(model, N, x, NULL, score));
    for (size_t k = 0; k < 4; k++) {
        velocity(model, kinds[k % 2], kernels[k / 2], "median", N, x, phi);
        for (size_t i = 0; i < D; i++) {
            assert_near(phi[i * N], score[i * N] * (N - 1) / N, 1e-14);
            assert_near(phi[i * N + N - 1], score[i * N + N - 1] / N, 1e-14);
        }
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

static void compare_kernels(double probability, const char *one, const char *another, double tolerance) {
    enum { N = 12 };
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 9, probability, 0, 17);
    const size_t d = svmp_graph_variables(svmp_model_graph(model));
    particles *p = malloc(sizeof *p);
    scatter(d * N, 4, p->x);
    velocity(model, &svmp_backend_cpu, one, "median", N, p->x, p->phi);
    velocity(model, &svmp_backend_cpu, another, "median", N, p->x, p->other);
    assert_all_near(p->phi, p->other, d * N, tolerance);
    free(p);
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_vanilla_is_graphical_on_a_complete_graph(void **state) {
    (void)state;
    compare_kernels(1, "rbf@blanket", "rbf@all", 1e-13);
    compare_kernels(1, "linear@blanket", "linear@all", 1e-13);
    compare_kernels(1, "imq@random:8", "imq@all", 1e-13); /* there are only 8 neighbours */
}

static void test_independent_is_graphical_on_an_empty_graph(void **state) {
    (void)state;
    compare_kernels(0, "rbf@blanket", "rbf@self", 0);
    compare_kernels(0, "linear@random:3", "linear@self", 0);
    compare_kernels(0.5, "rbf@random:0", "rbf@self", 0);
}

static void test_sums_of_terms_are_linear_in_their_weights(void **state) {
    (void)state;
    enum { N = 12 };
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 9, 0.4, 0, 17);
    const size_t d = svmp_graph_variables(svmp_model_graph(model));
    const char *parts[] = {"rbf@blanket", "imq@all", "linear@random:2", "rbf(2.5)@self"};
    const double weights[] = {0.25, 2, 0.1, 3};
    particles *p = malloc(sizeof *p);
    scatter(d * N, 4, p->x);
    for (size_t kind = 0; kind < 2; kind++) {
        const backend_kind *on = kind ? &svmp_backend_cpu : &svmp_backend_ref;
        double sum[MOST] = {0};
        for (size_t k = 0; k < 4; k++) {
            velocity(model, on, parts[k], "median", N, p->x, p->phi);
            for (size_t e = 0; e < d * N; e++) sum[e] += weights[k] * p->phi[e];
        }
        velocity(model, on, "0.25*rbf@blanket + 2*imq@all+1e-1*linear@random:2 + 3 * rbf(2.5)@self", "median", N, p->x,
                 p->phi);
        assert_all_near(p->phi, sum, d * N, 1e-13);
    }
    free(p);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- backends ---------------------------------------------------------------------------------------------------- */

static const char *const battery[] = {"rbf@blanket",
                                      "rbf@all",
                                      "rbf@self",
                                      "rbf@random:2",
                                      "imq@blanket",
                                      "imq@all",
                                      "linear@blanket",
                                      "linear@all",
                                      "linear@self",
                                      "imq(0.7)@random:3",
                                      "rbf@blanket + linear@blanket",
                                      "0.5*rbf(median-log)@random:4 + 0.5*rbf(median-zeros)@all"};
enum { BATTERY = sizeof battery / sizeof *battery };

/* The instruction sets of this machine. */
static size_t list_backends(svmp_context *context, const backend_kind *kinds[4]) {
    const backend_kind *all[] = {&svmp_backend_cpu, &svmp_backend_cpu_baseline, &svmp_backend_cpu_avx2,
                                 &svmp_backend_cpu_avx512};
    svmp_model *model = test_random_gaussian(context, 2, 1, 1, 3);
    size_t count = 0;
    for (size_t k = 0; k < 4; k++) {
        backend *b = NULL;
        svmp_status status = svmp_backend_create(all[k], model, 1, 1, NULL, NULL, &b);
        if (status == SVMP_OK) kinds[count++] = all[k];
        if (status != SVMP_OK) assert_int_equal(status, SVMP_UNSUPPORTED);
        svmp_backend_free(b);
    }
    svmp_model_free(model);
    return count;
}

static void test_cpu_agrees_with_ref(void **state) {
    (void)state;
    const double densities[] = {0, 0.3, 1};
    const size_t sizes[] = {1, 2, 3, 4, 5, 8, 9, 17, 40, 63};
    const backend_kind *kinds[4];
    particles *p = malloc(sizeof *p);
    for (size_t k = 0; k < 3; k++) {
        svmp_context *context = test_context(2);
        svmp_model *model = test_random_gaussian(context, 13, densities[k], 0, 23 + k);
        const size_t d = svmp_graph_variables(svmp_model_graph(model)), backends = list_backends(context, kinds);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t b = 0; b < BATTERY; b++) {
                const size_t n = sizes[s];
                scatter(d * n, s, p->x);
                velocity(model, &svmp_backend_ref, battery[b], "median", n, p->x, p->phi);
                for (size_t on = 0; on < backends; on++) {
                    velocity(model, kinds[on], battery[b], "median", n, p->x, p->other);
                    assert_all_near(p->other, p->phi, d * n, 1e-12);
                }
            }
        svmp_model_free(model);
        svmp_context_free(context);
    }
    free(p);
}

/* Every shape of the table; also as a shape without specialised loops, computed by its functions. */
static void test_shapes_by_their_functions(void **state) {
    (void)state;
    enum { NODES = 9, N = 21 };
    particles *p = malloc(sizeof *p);
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, NODES, 0.4, 0, 5);
    const size_t size = svmp_graph_variables(svmp_model_graph(model)) * N;
    for (size_t s = 0; svmp_kernel_shape_name(s); s++)
        for (size_t d = 0; d < 2; d++) {
            char text[64];
            snprintf(text, sizeof text, "%s@%s", svmp_kernel_shape_name(s), d ? "all" : "blanket");
            kernel k = parse(context, text, "median");
            kernel_shape shape = *k.terms[0].shape;
            scatter(size, s, p->x);
            velocity_of(model, &svmp_backend_ref, k, N, p->x, p->phi);
            velocity_of(model, &svmp_backend_cpu, k, N, p->x, p->other);
            assert_all_near(p->other, p->phi, size, 1e-12);
            if (shape.value == NULL) continue;
            shape.kind = SVMP_SHAPE_OTHER;
            k.terms[0].shape = &shape;
            velocity_of(model, &svmp_backend_cpu, k, N, p->x, p->other);
            assert_all_near(p->other, p->phi, size, 1e-12);
        }
    svmp_model_free(model);
    svmp_context_free(context);
    free(p);
}

/* A node of `variables` variables and two nodes of one joined to it: the domains of all three have more rows. */
static svmp_model *wide(svmp_context *context, size_t variables) {
    svmp_model *model = NULL;
    double *pull = calloc((variables + 1) * (variables + 1), sizeof *pull);
    assert_ok(svmp_model_create(context, &model));
    for (size_t i = 0; i <= variables; i++) pull[i * (variables + 2)] = 1 + 0.1 * (double)(i % 7);
    for (size_t i = 0; i < variables; i++)
        pull[variables * (variables + 1) + i] = pull[i * (variables + 1) + variables] = -0.1;
    assert_ok(svmp_model_add_node(model, NULL, variables, NULL, NULL, NULL));
    for (size_t v = 1; v < 3; v++) {
        assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
        assert_ok(svmp_model_add_gaussian(model, 2, (size_t[]){0, v}, pull, NULL));
    }
    assert_ok(svmp_model_finish(model));
    free(pull);
    return model;
}

/* Enough particles that tiles are computed twice instead of stored; domains of more variables than are packed at once;
 * and more members than are weighted at once. */
static void test_cpu_agrees_with_ref_where_it_is_large(void **state) {
    (void)state;
    const struct {
        size_t nodes, n;
        double density; /* -1: the model wide(), since the plain loops are slow if many nodes have large domains */
        const char *kernel;
    } cases[] = {{3, 1451, 1, "rbf@blanket"},     {3, 1451, 0, "imq@blanket"}, {90, 9, 1, "rbf@blanket"},
                 {90, 9, 0.7, "imq@blanket"},     {7, 401, 1, "imq@all"},      {2, 1451, 0.5, "rbf(median-zeros)@self"},
                 {66, 1451, -1, "rbf(9)@blanket"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double *x = NULL, *phi = NULL;
        for (int threads = 1; threads <= 2; threads++) {
            svmp_context *context = test_context(threads);
            svmp_model *model = cases[c].density < 0
                                    ? wide(context, cases[c].nodes)
                                    : test_random_gaussian(context, cases[c].nodes, cases[c].density, 0, 3);
            const size_t size = svmp_graph_variables(svmp_model_graph(model)) * cases[c].n;
            if (x == NULL) {
                x = malloc(3 * size * sizeof *x), phi = x + size;
                scatter(size, c, x);
                velocity(model, &svmp_backend_ref, cases[c].kernel, "median", cases[c].n, x, phi);
            }
            velocity(model, &svmp_backend_cpu, cases[c].kernel, "median", cases[c].n, x, phi + size);
            assert_all_near(phi + size, phi, size, 1e-11);
            svmp_model_free(model);
            svmp_context_free(context);
        }
        free(x);
    }
}

/* Particles far from the origin and close together, bandwidths of any size, particles near the limits of double
 * precision: no digits are lost, and overflow is not mistaken for a value. */
static void test_cpu_agrees_with_ref_at_the_edges(void **state) {
    (void)state;
    enum { N = 50 };
    const char *kernels[] = {"rbf@blanket",         "imq@blanket",         "rbf(3e305)@blanket", "imq(3e305)@blanket",
                             "rbf(1e-308)@blanket", "imq(1e-310)@blanket", "rbf(1e-100)@all"};
    const struct {
        double mean, spread, far;
    } clouds[] = {{1e5, 0.01, 0}, {-1e7, 1, 0}, {0, 1, 0}, {0, 1, 1e200}, {0, 1e-160, 0}};
    const backend_kind *kinds[4];
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 6, 0.5, 1, 41);
    const size_t size = svmp_graph_variables(svmp_model_graph(model)) * N, backends = list_backends(context, kinds);
    particles *p = malloc(sizeof *p);
    for (size_t c = 0; c < sizeof clouds / sizeof *clouds; c++)
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
            for (size_t e = 0; e < size; e++) p->x[e] = clouds[c].mean + clouds[c].spread * test_random(c, e);
            if (clouds[c].far > 0)
                for (size_t i = 0; i < size / N; i++) p->x[i * N + 7 * i % N] = clouds[c].far * (double)(i + 1);
            velocity(model, &svmp_backend_ref, kernels[k], "median", N, p->x, p->phi);
            double largest = 0;
            for (size_t e = 0; e < size; e++) largest = fmax(largest, fabs(p->phi[e]));
            for (size_t on = 0; on < backends; on++) {
                velocity(model, kinds[on], kernels[k], "median", N, p->x, p->other);
                for (size_t e = 0; e < size; e++)
                    assert_true(fabs(p->other[e] - p->phi[e]) <= 1e-11 * largest ||
                                (!isfinite(p->phi[e]) && !isfinite(p->other[e])));
            }
        }
    free(p);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Two distant clusters in one variable: particles of a cluster still interact through the other variables. */
static void test_cpu_agrees_with_ref_on_two_crowds(void **state) {
    (void)state;
    enum { N = 21 };
    const char *kernels[] = {"rbf@all", "imq@all", "rbf(5)@all", "rbf@all + rbf@blanket"};
    const double apart[] = {1e5, 1e8, 1e12};
    const backend_kind *kinds[4];
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 12, 0.3, 1, 43);
    const size_t d = svmp_graph_variables(svmp_model_graph(model)), backends = list_backends(context, kinds);
    particles *p = malloc(sizeof *p);
    for (size_t a = 0; a < 3; a++)
        for (size_t k = 0; k < 4; k++) {
            for (size_t e = 0; e < d * N; e++) p->x[e] = test_random(9, e);
            for (size_t l = 0; l < N; l += 5) p->x[l] += apart[a];
            p->x[N / 2] += apart[a]; /* the first, the middle and the last form the smaller cluster */
            velocity(model, &svmp_backend_ref, kernels[k], "median", N, p->x, p->phi);
            for (size_t on = 0; on < backends; on++) {
                velocity(model, kinds[on], kernels[k], "median", N, p->x, p->other);
                for (size_t i = 1; i < d; i++) {
                    double largest = 0;
                    for (size_t l = 0; l < N; l++) largest = fmax(largest, fabs(p->phi[i * N + l]));
                    for (size_t l = 0; l < N; l++)
                        assert_true(fabs(p->other[i * N + l] - p->phi[i * N + l]) <= 1e-9 * largest);
                }
            }
        }
    free(p);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* The threads of a team list more candidates than fit and start from the previous median; tiles are stored or
 * recomputed. */
static void test_the_same_bits_where_it_is_large(void **state) {
    (void)state;
    enum { NODES = 2, MOST_ITERATIONS = 3 };
    const size_t sizes[] = {300, 1601};
    const char *kernels[] = {"rbf@all", "imq@all", "rbf@blanket"};
    for (size_t s = 0; s < 2; s++)
        for (size_t k = 0; k < 3; k++) {
            double *kept = NULL;
            for (int threads = 1; threads <= 3; threads += 2) {
                svmp_context *context = test_context(threads);
                svmp_model *model = test_random_gaussian(context, NODES, 1, 1, 2);
                kernel shape = parse(context, kernels[k], "median");
                step rule;
                backend *b = NULL;
                const size_t n = sizes[s], bytes = NODES * n * sizeof(double);
                assert_ok(svmp_step_parse(context, "fixed:0.1", &rule));
                assert_ok(svmp_backend_create(&svmp_backend_cpu, model, n, 1, &shape, &rule, &b));
                scatter(NODES * n, 5, b->x);
                for (size_t t = 0; t < MOST_ITERATIONS; t++) {
                    assert_ok(b->kind->score(b));
                    assert_ok(b->kind->stein(b, &shape, t));
                    assert_ok(b->kind->step(b, &rule, 0.1, t));
                }
                if (kept == NULL) {
                    kept = malloc(bytes);
                    memcpy(kept, b->x, bytes);
                }
                assert_memory_equal(kept, b->x, bytes);
                svmp_backend_free(b);
                svmp_model_free(model);
                svmp_context_free(context);
            }
            free(kept);
        }
}

/* Also on graphs with fewer neighbourhoods than threads, which then share a matrix. Large enough that every term uses
 * eight threads (svmp_threads_for). */
static void test_the_same_bits_for_any_threads(void **state) {
    (void)state;
    enum { N = 64, NODES = 60 };
    const int threads[] = {1, 2, 3, 8};
    const double densities[] = {0.1, 1};
    particles *p = malloc(sizeof *p);
    for (size_t k = 0; k < 2; k++)
        for (size_t b = 0; b < BATTERY; b++)
            for (size_t t = 0; t < 4; t++) {
                svmp_context *context = test_context(threads[t]);
                svmp_model *model = test_random_gaussian(context, NODES, densities[k], 0, 29);
                const size_t d = svmp_graph_variables(svmp_model_graph(model));
                scatter(d * N, 1, p->x);
                velocity(model, &svmp_backend_cpu, battery[b], "median", N, p->x, t == 0 ? p->phi : p->other);
                if (t > 0) assert_memory_equal(p->phi, p->other, d * N * sizeof(double));
                svmp_model_free(model);
                svmp_context_free(context);
            }
    free(p);
}

/* Neighbours are drawn from the blanket without replacement, each equally often, anew in each iteration. */
static void test_random_domains(void **state) {
    (void)state;
    enum { NODES = 9, DRAWS = 4000, K = 3 };
    svmp_context *context = test_context(1);
    svmp_model *model = test_random_gaussian(context, NODES, 1, 1, 3);
    int seen[NODES] = {0};
    for (size_t t = 0; t < DRAWS; t++) {
        uint32_t drawn[K + 1];
        assert_int_equal(svmp_domain_draw(model->graph, 4, K, 1, t, drawn), K + 1);
        for (size_t k = 0; k <= K; k++) {
            assert_true(k == 0 || drawn[k - 1] < drawn[k]);
            seen[drawn[k]]++;
        }
    }
    double chi_square = 0, expected = DRAWS * (double)K / (NODES - 1);
    for (int v = 0; v < NODES; v++)
        if (v != 4) chi_square += pow(seen[v] - expected, 2) / expected;
    assert_int_equal(seen[4], DRAWS);
    assert_true(chi_square <
                24.3); /* 0.999 quantile for 7 degrees of freedom; conservative, since draws exclude each other */
    svmp_model_free(model);
    svmp_context_free(context);
}

static void test_kernel_texts(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    kernel k = parse(context, " 2e+1*rbf @ random:12 + imq( median-zeros )@self ", "median-log");
    assert_int_equal(k.count, 2);
    assert_true(k.terms[0].weight == 1 && k.terms[0].shape == &svmp_shape_imq && k.terms[0].domain == DOMAIN_SELF);
    assert_int_equal(k.terms[0].bandwidth.rule, BANDWIDTH_MEDIAN_ZEROS);
    assert_true(k.terms[1].weight == 20 && k.terms[1].neighbours == 12 && k.terms[1].domain == DOMAIN_RANDOM);
    assert_int_equal(k.terms[1].bandwidth.rule, BANDWIDTH_MEDIAN_LOG);
    k = parse(context, "1*rbf@all + 2*rbf@blanket + 3*rbf@self + 4*imq@all + 5*rbf@random:1 + 6*rbf@blanket", "median");
    const double order[] = {2, 6, 3, 5, 1, 4}; /* blanket, self, random, all */
    for (size_t a = 0; a < 6; a++) assert_true(k.terms[a].weight == order[a]);

    const char *bad[][2] = {{"", "has no domain"},
                            {"rbf", "has no domain"},
                            {"rbf@", "Unknown kernel domain ''"},
                            {"rbf@moon", "Unknown kernel domain 'moon'"},
                            {"rbf@random:", "Unknown kernel domain 'random:'"},
                            {"rbf@random:-1", "Unknown kernel domain 'random:-1'"},
                            {"gauss@all", "Unknown kernel shape 'gauss'"},
                            {"0*rbf@all", "Invalid weight '0'"},
                            {"-1*rbf@all", "Invalid weight '-1'"},
                            {"x*rbf@all", "Invalid weight 'x'"},
                            {"rbf(0)@all", "Invalid bandwidth '0'"},
                            {"rbf(mean)@all", "Invalid bandwidth 'mean'"},
                            {"rbf@all +", "has no domain"},
                            {"rbf@all + + rbf@all", "has no domain"}};
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
        assert_int_equal(svmp_kernel_parse(context, bad[b][0], k.terms[0].bandwidth, &k), SVMP_BAD_CALL);
        assert_non_null(strstr(svmp_context_error(context), bad[b][1]));
    }
    char many[400] = "rbf@all";
    for (int t = 0; t < KERNEL_TERMS_MAX; t++) strcat(many, "+rbf@all");
    assert_int_equal(svmp_kernel_parse(context, many, k.terms[0].bandwidth, &k), SVMP_BAD_CALL);
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_phi_is_its_definition),
        cmocka_unit_test(test_bandwidth_rules),
        cmocka_unit_test(test_one_particle_is_gradient_ascent),
        cmocka_unit_test(test_particles_that_coincide),
        cmocka_unit_test(test_vanilla_is_graphical_on_a_complete_graph),
        cmocka_unit_test(test_independent_is_graphical_on_an_empty_graph),
        cmocka_unit_test(test_sums_of_terms_are_linear_in_their_weights),
        cmocka_unit_test(test_cpu_agrees_with_ref),
        cmocka_unit_test(test_shapes_by_their_functions),
        cmocka_unit_test(test_cpu_agrees_with_ref_where_it_is_large),
        cmocka_unit_test(test_cpu_agrees_with_ref_at_the_edges),
        cmocka_unit_test(test_cpu_agrees_with_ref_on_two_crowds),
        cmocka_unit_test(test_the_same_bits_where_it_is_large),
        cmocka_unit_test(test_the_same_bits_for_any_threads),
        cmocka_unit_test(test_random_domains),
        cmocka_unit_test(test_kernel_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
