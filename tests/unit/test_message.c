/* Messages to nodes and the domains of hubs: against finite differences of the density, closed forms and the plain
 * loops; exact particles stay fixed; the bits do not depend on threads. */
#include "files.h"

#include <math.h>

#include "backend/node_messages.h"
#include "method/method.h"
#include "stein/discrepancy.h"

enum { MOST_FILES = 3 };

static const char *const models[][MOST_FILES] = {
    {"car.bug", "car.json"},                                       /* one text: a field with hubs */
    {"growth.bug", "growth.json"},                                 /* nodes of two variables, a matrix */
    {"hierarchical.bug", "hierarchical.csv", "hierarchical.json"}, /* random effects */
    {"schools.bug", "schools.R"},                                  /* not centred */
    {"sensors.bug", "sensors.json"},                               /* nodes of two variables */
    {"grid.mtx", "grid_b.mtx"},                                    /* a matrix */
};
enum { MODELS = sizeof models / sizeof *models };

/* NULL if this build cannot read the files. */
static svmp_model *read_files(svmp_context *context, const char *const *files) {
    char paths[MOST_FILES][1000];
    const char *list[MOST_FILES];
    size_t count = 0;
    for (; count < MOST_FILES && files[count]; count++) {
#ifndef SVMP_HAVE_JANSSON
        if (strstr(files[count], ".json")) return NULL;
#endif
        snprintf(paths[count], sizeof paths[count], "%s/%s", SVMP_MODELS, files[count]);
        list[count] = paths[count];
    }
    svmp_model *model = NULL;
    if (svmp_model_read(context, count, list, NULL, &model) != SVMP_OK) fail_msg("%s", svmp_context_error(context));
    return model;
}

static kernel parse(svmp_context *context, const char *text) {
    kernel k;
    assert_ok(svmp_kernel_parse(context, text, (bandwidth){.rule = BANDWIDTH_MEDIAN}, &k));
    return k;
}

static void scatter(size_t count, uint64_t stream, double *x) {
    for (size_t e = 0; e < count; e++) x[e] = 0.7 * test_random(stream, e);
}

/* A backend that has computed phi of the given particles. */
static backend *move(const svmp_model *model, const backend_kind *kind, const char *text, size_t n, const double *x) {
    kernel k = parse(model->context, text);
    backend *b = NULL;
    if (svmp_backend_create(kind, model, n, 11, &k, NULL, &b) != SVMP_OK)
        fail_msg("%s", svmp_context_error(model->context));
    memcpy(b->x, x, model->graph->variables * n * sizeof *x);
    assert_ok(kind->score(b));
    assert_ok(kind->stein(b, &k, 3));
    return b;
}

static double mean_of(size_t n, const double *x) {
    double sum = 0;
    for (size_t l = 0; l < n; l++) sum += x[l];
    return sum / (double)n;
}

static double product_of(size_t n, const double *a, const double *b) {
    double sum = 0;
    for (size_t l = 0; l < n; l++) sum += a[l] * b[l];
    return sum / (double)n;
}

/* (x - mean)/sd */
static void standardise(size_t n, double *x) {
    const double mean = mean_of(n, x);
    for (size_t l = 0; l < n; l++) x[l] -= mean;
    const double sd = sqrt(product_of(n, x, x));
    for (size_t l = 0; l < n; l++) x[l] = sd > 1e-12 * fabs(mean) ? x[l] / sd : 0;
}

static void assert_rows_near(size_t d, size_t n, const double *a, const double *b, double tolerance) {
    for (size_t i = 0; i < d; i++) {
        double largest = 0;
        for (size_t l = 0; l < n; l++) largest = fmax(largest, fabs(b[i * n + l]));
        for (size_t l = 0; l < n; l++)
            if (!(fabs(a[i * n + l] - b[i * n + l]) <= tolerance * largest))
                fail_msg("variable %zu, particle %zu: %.17g is not %.17g", i, l, a[i * n + l], b[i * n + l]);
    }
}

/* ---- the message ------------------------------------------------------------------------------------------------- */

/* T_i by differences of the log density of the whole model, the node at its mean. */
static void by_differences(const svmp_model *model, size_t n, const double *x, size_t v, size_t i, double *T) {
    const svmp_graph *graph = model->graph;
    const size_t size = graph->variables * n;
    static const int offset[4] = {-2, -1, 1, 2};
    const double tiny = 1e-3, weight[4] = {1, -8, 8, -1};
    double *at = malloc((size + n) * sizeof *at), *value = at + size;
    memset(T, 0, n * sizeof *T);
    for (int k = 0; k < 4; k++) {
        memcpy(at, x, size * sizeof *at);
        for (size_t j = graph->first[v]; j < graph->first[v + 1]; j++)
            for (size_t l = 0; l < n; l++) at[j * n + l] = mean_of(n, x + j * n) + (j == i ? offset[k] * tiny : 0);
        assert_ok(svmp_model_evaluate(model, n, at, value, NULL));
        for (size_t l = 0; l < n; l++) T[l] += weight[k] * value[l] / (12 * tiny);
    }
    free(at);
}

static void test_a_message_is_a_score_at_the_mean(void **state) {
    (void)state;
    enum { N = 8 };
    for (size_t m = 0; m < MODELS; m++) {
        svmp_context *context = test_context(2);
        svmp_model *model = read_files(context, models[m]);
        if (model) {
            const svmp_graph *graph = model->graph;
            double *x = malloc(graph->variables * N * sizeof *x), T[N];
            scatter(graph->variables * N, 3, x);
            backend *b = move(model, &svmp_backend_cpu, "linear/sd@message", N, x);
            for (size_t v = 0; v < graph->nodes; v++)
                for (size_t i = graph->first[v]; i < graph->first[v + 1]; i++) {
                    by_differences(model, N, x, v, i, T);
                    const double largest = fmax(fabs(T[0]), 1);
                    const double *t = b->messages->rows + i * N,
                                 spread = sqrt(fabs(product_of(N, T, T) - pow(mean_of(N, T), 2)));
                    standardise(N, T);
                    for (size_t l = 0; spread > 1e-4 * largest && l < N; l++) assert_near(t[l], T[l], 1e-5);
                }
            svmp_backend_free(b);
            free(x);
        }
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

/* log f = -(x_0 - sin x_1)^2/2, of two nodes: a function. */
static int sine(size_t n, const double *const *x, double *value, double *const *gradient, void *user_data) {
    (void)user_data;
    for (size_t l = 0; l < n; l++) {
        const double u = x[0][l] - sin(x[1][l]);
        value[l] = -u * u / 2;
        gradient[0][l] = -u;
        gradient[1][l] = u * cos(x[1][l]);
    }
    return 0;
}

/* The message of a Gaussian is linear in its neighbours; that of the function above is T_0 = sin x_1 - m_0, T_1 = (x_0
 * - sin m_1) cos m_1. */
static void test_messages_of_functions(void **state) {
    (void)state;
    enum { N = 7 };
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (int v = 0; v < 2; v++) assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
    assert_ok(svmp_model_add_callback(model, 2, (size_t[]){0, 1}, sine, NULL));
    assert_ok(svmp_model_finish(model));
    double x[2 * N], T[2 * N];
    scatter(2 * N, 5, x);
    for (size_t l = 0; l < N; l++) T[l] = sin(x[N + l]), T[N + l] = x[l] * cos(mean_of(N, x + N));
    for (size_t i = 0; i < 2; i++) standardise(N, T + i * N);
    const backend_kind *kinds[] = {&svmp_backend_cpu, &svmp_backend_ref};
    for (size_t k = 0; k < 2; k++) {
        backend *b = move(model, kinds[k], "rbf/sd@message", N, x);
        assert_rows_near(2, N, b->messages->rows, T, 1e-12);
        svmp_backend_free(b);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A node without neighbours has the same message in all particles, which has no effect. */
static void test_nodes_without_neighbours(void **state) {
    (void)state;
    enum { N = 9 };
    svmp_context *context = test_context(1);
    svmp_model *model = test_random_gaussian(context, 4, 0, 0, 3);
    const size_t d = model->graph->variables;
    double x[16 * N];
    scatter(d * N, 5, x);
    const char *pairs[][2] = {{"rbf/sd@message", "rbf/sd@self"}, {"linear/sd@message", "linear/sd@self"}};
    for (size_t k = 0; k < 2; k++) {
        backend *with = move(model, &svmp_backend_cpu, pairs[k][0], N, x),
                *without = move(model, &svmp_backend_cpu, pairs[k][1], N, x);
        for (size_t e = 0; e < d * N; e++) assert_true(with->messages->rows[e] == 0);
        assert_memory_equal(with->phi, without->phi, d * N * sizeof(double));
        svmp_backend_free(with);
        svmp_backend_free(without);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* A message that is not finite is replaced by the mean of the others; if all are equal or none is finite: 0. */
static void test_standardising(void **state) {
    (void)state;
    double some[] = {1, NAN, 3, INFINITY, 2, -INFINITY}, none[] = {NAN, NAN}, equal[] = {0.1, 0.1, 0.1},
           large[] = {1e308, -1e308, 1e308, -1e308};
    svmp_message_standardise(6, some);
    const double z = sqrt(3);
    const double expected[] = {-z, 0, z, 0, 0, 0};
    for (size_t l = 0; l < 6; l++) assert_near(some[l], expected[l], 1e-15);
    svmp_message_standardise(2, none);
    svmp_message_standardise(3, equal);
    for (size_t l = 0; l < 5; l++) assert_true((l < 2 ? none[l] : equal[l - 2]) == 0);
    svmp_message_standardise(1, some);
    assert_true(some[0] == 0);
    svmp_message_standardise(4, large);
    for (size_t l = 0; l < 4; l++) assert_near(large[l], l % 2 ? -1 : 1, 1e-15);
}

/* ---- phi --------------------------------------------------------------------------------------------------------- */

/* phi_i[m] = mean(s_i) + sum over the node's j of ( z_j[m] mean(z_j s_i) + t_j[m] mean(t_j s_i) ) + z_i[m]/sd_i */
static void test_linear_terms_in_closed_form(void **state) {
    (void)state;
    enum { N = 12 };
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, 7, 0.5, 0, 19);
    const svmp_graph *graph = model->graph;
    double x[16 * N], z[16 * N], expected[16 * N];
    scatter(graph->variables * N, 5, x);
    memcpy(z, x, sizeof z);
    for (size_t i = 0; i < graph->variables; i++) standardise(N, z + i * N);
    backend *b = move(model, &svmp_backend_cpu, "linear/sd@message", N, x);
    for (size_t v = 0; v < graph->nodes; v++)
        for (size_t i = graph->first[v]; i < graph->first[v + 1]; i++)
            for (size_t m = 0; m < N; m++) {
                const double *s = b->score + i * N;
                double phi = mean_of(N, s) + z[i * N + m] / b->sd[i];
                for (size_t j = graph->first[v]; j < graph->first[v + 1]; j++) {
                    const double *t = b->messages->rows + j * N;
                    phi += z[j * N + m] * product_of(N, z + j * N, s) + t[m] * product_of(N, t, s);
                }
                expected[i * N + m] = phi;
            }
    assert_rows_near(graph->variables, N, b->phi, expected, 1e-12);
    svmp_backend_free(b);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* Particles with exactly the mean and the covariance of a Gaussian satisfy E[s_i] = 0, E[s_i z_c] = -[c = i]/sd_i for
 * all variables c, hence E[s_i t_i] = 0 for the message, a linear combination of these: linear terms with any domain do
 * not move them. */
static void test_exact_particles_stay(void **state) {
    (void)state;
    enum { D = 9, N = 2 * D };
    const char *kernels[] = {"linear/sd@message", "linear/sd@near", "linear/sd@near:2", "linear/sd@near:4",
                             "linear@message"};
    const double densities[] = {0.3, 1};
    for (size_t p = 0; p < 2; p++) {
        svmp_context *context = test_context(1);
        svmp_model *model = test_random_gaussian(context, D, densities[p], 1, 31);
        double S[D * D], b[D], L[D * D] = {0}, mean[D] = {0}, x[D * N];
        test_dense(model, S, b);
        test_invert(D, S);
        for (size_t i = 0; i < D; i++)
            for (size_t j = 0; j < D; j++) { /* S = L L' */
                mean[i] += S[i * D + j] * b[j];
                if (j > i) continue;
                double rest = S[i * D + j];
                for (size_t k = 0; k < j; k++) rest -= L[i * D + k] * L[j * D + k];
                L[i * D + j] = i == j ? sqrt(rest) : rest / L[j * D + j];
            }
        for (size_t e = 0; e < D * N; e++) {
            const size_t i = e / N, l = e % N;
            x[e] = mean[i] + (l < D ? 1 : -1) * sqrt((double)D) * L[i * D + l % D];
        }
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
            backend *moved = move(model, &svmp_backend_cpu, kernels[k], N, x);
            for (size_t e = 0; e < D * N; e++) assert_near(moved->phi[e], 0, 1e-11);
            svmp_backend_free(moved);
        }
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

/* At the fixed point of linear/sd@message the mean of a Gaussian is exact, and every variable has the moments of its
 * conditional p(x_i | neighbours): E[s_i z_i] = -1/sd_i and E[s_i t_i] = 0. On a star, whose leaves are independent
 * given the hub, the linear kernel on `near` gets all variances and all covariances of neighbours right. */
static void test_identities_of_the_fixed_point(void **state) {
    (void)state;
    enum { LEAVES = 15, D = LEAVES + 1, N = 30 };
    const char *kernels[] = {"linear/sd@message", "linear/sd@near"};
    svmp_context *context = test_context(2);
    svmp_model *model = NULL;
    const double one = 1, shift = 0.3;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < D; v++) assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
    for (size_t v = 0; v < D; v++) {
        const double a = 0.3 * test_random(4, v), pull[] = {a * a, a, a, 1};
        assert_ok(svmp_model_add_gaussian(model, 1, &v, &one, &shift));
        if (v > 0) assert_ok(svmp_model_add_gaussian(model, 2, (size_t[]){0, v}, pull, NULL));
    }
    assert_ok(svmp_model_finish(model));
    double S[D * D], b[D];
    test_dense(model, S, b);
    test_invert(D, S);
    for (size_t k = 0; k < 2; k++) {
        kernel linear = parse(context, kernels[k]);
        backend *descent = NULL;
        assert_ok(svmp_backend_create(&svmp_backend_cpu, model, N, 1, &linear, NULL, &descent));
        double *x = descent->x, *s = descent->score;
        scatter(D * N, 8, x);
        for (size_t t = 0; t < 4000; t++) {
            assert_ok(descent->kind->score(descent));
            assert_ok(descent->kind->stein(descent, &linear, t));
            for (size_t e = 0; e < D * N; e++) x[e] += 0.1 * pow(descent->sd[e / N], 2) * descent->phi[e];
        }
        assert_ok(descent->kind->score(descent));
        assert_true(descent->messages->has_message[0] && descent->messages->has_message[1] == (k == 0));
        for (size_t i = 0; i < D; i++) {
            double expected = 0, z[N];
            for (size_t j = 0; j < D; j++) expected += S[i * D + j] * b[j];
            memcpy(z, x + i * N, sizeof z);
            for (size_t l = 0; l < N; l++) z[l] -= mean_of(N, x + i * N);
            assert_near(mean_of(N, x + i * N), expected, 1e-9);
            assert_near(mean_of(N, s + i * N), 0, 1e-10);
            assert_near(product_of(N, s + i * N, z), -1, 1e-10);
            if (descent->messages->has_message[i])
                assert_near(product_of(N, s + i * N, descent->messages->rows + i * N), 0, 1e-10);
            if (k == 1) assert_near(product_of(N, z, z), S[i * D + i], 1e-9);
        }
        svmp_backend_free(descent);
    }
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- near -------------------------------------------------------------------------------------------------------- */

/* Hubs and their domains: node 0 is joined to all other nodes, node 1 to half of them. */
static void test_domains_of_hubs(void **state) {
    (void)state;
    enum { NODES = 21 };
    svmp_context *context = test_context(1);
    svmp_model *model = NULL;
    const double one = 1, pull[] = {0.1, 0.02, 0.02, 0.1};
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < NODES; v++) {
        assert_ok(svmp_model_add_node(model, NULL, 1, NULL, NULL, NULL));
        assert_ok(svmp_model_add_gaussian(model, 1, &v, &one, NULL));
    }
    for (size_t v = 1; v < NODES; v++) assert_ok(svmp_model_add_gaussian(model, 2, (size_t[]){0, v}, pull, NULL));
    for (size_t v = 2; v < NODES; v += 2) assert_ok(svmp_model_add_gaussian(model, 2, (size_t[]){1, v}, pull, NULL));
    assert_ok(svmp_model_finish(model));
    const svmp_graph *graph = model->graph;
    const struct {
        size_t most, hubs, seen[2];
    } cases[] = {{30, 0, {0, 0}}, {21, 0, {0, 0}}, {20, 1, {1, 0}}, {12, 1, {1, 0}},
                 {11, 2, {2, 2}}, {3, 2, {2, 2}},  {2, 12, {1, 1}}, {1, 21, {1, 1}}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double hub[NODES] = {0}, hubs = 0;
        index_lists lists = {0};
        svmp_near_mark(graph, cases[c].most, hub);
        assert_ok(svmp_near_lists(graph, cases[c].most, hub, &lists));
        for (size_t v = 0; v < NODES; v++) hubs += hub[v];
        assert_true(hubs == (double)cases[c].hubs);
        for (size_t v = 0; v < 2; v++) assert_int_equal(lists.start[v + 1] - lists.start[v], cases[c].seen[v]);
        if (cases[c].seen[0] == 2) assert_true(lists.item[0] == 0 && lists.item[1] == 1);
        svmp_lists_free(context, &lists);
    }
    assert_int_equal(svmp_near_most(&(kernel_term){.most = 0}, 100), 33);
    assert_int_equal(svmp_near_most(&(kernel_term){.most = 12}, 100), 12);

    /* Without hubs `near` is the blanket. */
    enum { N = 63 };
    double *x = malloc(NODES * N * sizeof *x);
    scatter(NODES * N, 5, x);
    const char *pairs[][2] = {{"linear/sd@near", "linear/sd@blanket"}, {"rbf@near:21", "rbf@blanket"}};
    for (size_t k = 0; k < 2; k++) {
        backend *a = move(model, &svmp_backend_cpu, pairs[k][0], N, x),
                *b = move(model, &svmp_backend_cpu, pairs[k][1], N, x);
        assert_memory_equal(a->phi, b->phi, NODES * N * sizeof(double));
        svmp_backend_free(a);
        svmp_backend_free(b);
    }
    free(x);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- backends ---------------------------------------------------------------------------------------------------- */

static const char *const battery[] = {"rbf/sd@message",
                                      "linear/sd@message",
                                      "imq@message + linear@message",
                                      "linear/sd@near",
                                      "rbf/sd@near:4 + linear@near:6",
                                      "rbf/sd@self + linear/sd@near",
                                      "linear/sd@near:1 + 0.5*rbf/sd@all + 2*imq/sd@blanket + rbf/sd@random:2"};
enum { BATTERY = sizeof battery / sizeof *battery };

static void test_cpu_agrees_with_ref(void **state) {
    (void)state;
    const size_t sizes[] = {1, 2, 3, 50, 64, 65, 200};
    for (size_t m = 0; m < MODELS - 1; m++) {
        svmp_context *context = test_context(2);
        svmp_model *model = read_files(context, models[m]);
        const size_t d = model ? model->graph->variables : 0;
        double *x = malloc(d * 200 * sizeof *x + 1);
        for (size_t s = 0; model && s < sizeof sizes / sizeof *sizes; s++) {
            const size_t n = sizes[s], from = n > 50 ? BATTERY - 3 : 0;
            scatter(d * n, s, x);
            for (size_t b = from; b < BATTERY; b++) {
                backend *plain = move(model, &svmp_backend_ref, battery[b], n, x),
                        *fast = move(model, &svmp_backend_cpu, battery[b], n, x);
                assert_rows_near(d, n, fast->phi, plain->phi, 1e-9);
                svmp_backend_free(plain);
                svmp_backend_free(fast);
            }
        }
        free(x);
        svmp_model_free(model);
        svmp_context_free(context);
    }
}

static void test_the_same_bits_for_any_threads(void **state) {
    (void)state;
    enum { N = 64 };
    const int threads[] = {1, 2, 3, 8};
    for (size_t m = 0; m < MODELS; m++)
        for (size_t b = 0; b < BATTERY; b++) {
            double *kept = NULL;
            for (size_t t = 0; t < 4; t++) {
                svmp_context *context = test_context(threads[t]);
                svmp_model *model = read_files(context, models[m]);
                if (model) {
                    const size_t size = model->graph->variables * N * sizeof(double);
                    double *x = malloc(size);
                    scatter(size / sizeof *x, 1, x);
                    backend *moved = move(model, &svmp_backend_cpu, battery[b], N, x);
                    if (kept == NULL) kept = memcpy(malloc(size), moved->phi, size);
                    assert_memory_equal(kept, moved->phi, size);
                    svmp_backend_free(moved);
                    free(x);
                }
                svmp_model_free(model);
                svmp_context_free(context);
            }
            free(kept);
        }
}

/* ---- the discrepancy --------------------------------------------------------------------------------------------- */

/* V of linear/sd@message, from its definition: with S = s sd, the mean over pairs of
 * S S' (1 + z z' + t t') + S z + S' z' + 1. */
static void test_the_discrepancy_is_its_definition(void **state) {
    (void)state;
    enum { N = 10, D = 5 };
    svmp_context *context = test_context(2);
    svmp_model *model = test_random_gaussian(context, D, 0.6, 1, 19);
    const kernel k = parse(context, "linear/sd@message");
    double x[D * N], expected = 0;
    scatter(D * N, 5, x);
    backend *b = move(model, &svmp_backend_cpu, "linear/sd@message", N, x);
    for (size_t i = 0; i < D; i++)
        for (size_t l = 0; l < N; l++)
            for (size_t m = 0; m < N; m++) {
                const double *z = b->z + i * N, *t = b->messages->rows + i * N, *s = b->score + i * N;
                const double S = s[l] * b->sd[i], other = s[m] * b->sd[i];
                expected += (S * other * (1 + z[l] * z[m] + t[l] * t[m]) + S * z[l] + other * z[m] + 1) / (N * N);
            }
    svmp_discrepancy total;
    const stein_sample sample = {.graph = model->graph,
                                 .kernel = &k,
                                 .n = N,
                                 .x = x,
                                 .score = b->score,
                                 .hubs = b->messages->hubs,
                                 .messages = b->messages->rows};
    assert_ok(svmp_stein_discrepancy(context, &sample, &total, NULL));
    assert_near(total.v, expected, 1e-12);
    svmp_backend_free(b);

    /* A run measures with messages at the particles as they are. */
    run_options options = graphical_options();
    svmp_run *run = NULL;
    svmp_outcome outcome;
    options.kernel = "rbf/sd@self + linear/sd@near:2";
    options.step = "adam-sd:0.1..0.01";
    options.particles = 20;
    options.iterations = 400;
    assert_ok(svmp_run_make(model, &options, &run));
    assert_ok(svmp_run_discrepancy(run, &total, NULL));
    const double before = total.v;
    assert_ok(svmp_run_go(run, &outcome));
    assert_ok(svmp_run_discrepancy(run, &total, NULL));
    assert_true(before > 0 && total.v >= 0 && total.v < 0.1 * before);
    svmp_run_free(run);
    svmp_model_free(model);
    svmp_context_free(context);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static void test_texts(void **state) {
    (void)state;
    svmp_context *context = test_context(1);
    kernel k = parse(context, "linear/sd@near + rbf/sd@near:12 + 2*imq@message + rbf@all + rbf@self");
    assert_true(k.terms[0].domain == DOMAIN_SELF && k.terms[1].domain == DOMAIN_MESSAGE);
    assert_true(k.terms[2].domain == DOMAIN_NEAR && k.terms[2].most == 0);
    assert_true(k.terms[3].domain == DOMAIN_NEAR && k.terms[3].most == 12 && k.terms[4].domain == DOMAIN_ALL);
    const char *bad[] = {"rbf@near:", "rbf@near:0", "rbf@near:x", "rbf@near:1e9", "rbf@nearer", "rbf@message:2"};
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
        assert_int_equal(svmp_kernel_parse(context, bad[b], k.terms[0].bandwidth, &k), SVMP_BAD_CALL);
        assert_non_null(strstr(svmp_context_error(context), "Unknown kernel domain"));
    }
    svmp_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_message_is_a_score_at_the_mean),
        cmocka_unit_test(test_messages_of_functions),
        cmocka_unit_test(test_nodes_without_neighbours),
        cmocka_unit_test(test_standardising),
        cmocka_unit_test(test_linear_terms_in_closed_form),
        cmocka_unit_test(test_exact_particles_stay),
        cmocka_unit_test(test_identities_of_the_fixed_point),
        cmocka_unit_test(test_domains_of_hubs),
        cmocka_unit_test(test_cpu_agrees_with_ref),
        cmocka_unit_test(test_the_same_bits_for_any_threads),
        cmocka_unit_test(test_the_discrepancy_is_its_definition),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
