#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "model/model.h"

void test_assert_near(double a, double b, double tolerance, const char *file, int line) {
    double scale = fabs(b) > 1 ? fabs(b) : 1;
    if (fabs(a - b) <= tolerance * scale) return;
    print_error("%.17g is not within %g of %.17g\n", a, tolerance, b);
    _fail(file, line);
}

svmp_context *test_context(int threads) {
    svmp_context *context = NULL;
    assert_ok(svmp_context_create(NULL, &context));
    assert_ok(svmp_context_set_threads(context, threads));
    return context;
}

run_options graphical_options(void) {
    run_options options = svmp_run_options_default();
    options.method = "graphical";
    return options;
}

static void *scarce_allocate(size_t size, void *user_data) {
    scarce_memory *memory = user_data;
    return memory->left-- > 0 ? calloc(1, size) : NULL;
}

static void *scarce_resize(void *pointer, size_t size, void *user_data) {
    scarce_memory *memory = user_data;
    return memory->left-- > 0 ? realloc(pointer, size) : NULL;
}

static void scarce_release(void *pointer, void *user_data) {
    (void)user_data;
    free(pointer);
}

svmp_context *scarce_context(scarce_memory *memory) {
    const svmp_allocator allocator = {scarce_allocate, scarce_resize, scarce_release, memory};
    svmp_context *context = NULL;
    assert_ok(svmp_context_create(&allocator, &context));
    assert_ok(svmp_context_set_threads(context, 2));
    return context;
}

double test_random(uint64_t stream, uint64_t k) {
    double value;
    svmp_random_uniforms((random_stream){.seed = stream, .purpose = RANDOM_TEST, .a = k}, 1, &value);
    return 2 * value - 1;
}

/* Adds a coupling between two nodes: `weight` between all their variables, and |weight| times their number to each
 * diagonal, which keeps the matrix diagonally dominant. */
static void couple(svmp_model *model, size_t v, size_t w, double weight) {
    const size_t a = svmp_graph_node_dimension(model->graph, v), k = a + svmp_graph_node_dimension(model->graph, w);
    const size_t nodes[2] = {v, w};
    double block[16] = {0};
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            if ((i < a) != (j < a)) block[i * k + j] = weight;
            if (i == j) block[i * k + j] = fabs(weight) * (double)(i < a ? k - a : a);
        }
    assert_ok(svmp_model_add_gaussian(model, 2, nodes, block, NULL));
}

static void add_node(svmp_model *model, size_t dimension, double diagonal, uint64_t stream) {
    size_t v;
    assert_ok(svmp_model_add_node(model, NULL, dimension, NULL, NULL, &v));
    double block[4] = {diagonal, 0, 0, diagonal},
           linear[2] = {test_random(stream, 2 * v), test_random(stream, 2 * v + 1)};
    assert_ok(svmp_model_add_gaussian(model, 1, &v, block, linear));
}

svmp_model *test_random_gaussian(svmp_context *context, size_t nodes, double probability, int scalar, uint64_t stream) {
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < nodes; v++) add_node(model, scalar ? 1 : 1 + v % 2, 0.5, stream);
    for (size_t v = 0; v < nodes; v++)
        for (size_t w = 0; w < v; w++)
            if ((test_random(stream + 1, v * nodes + w) + 1) / 2 < probability)
                couple(model, v, w, test_random(stream + 2, v * nodes + w));
    assert_ok(svmp_model_finish(model));
    return model;
}

svmp_model *test_grid(svmp_context *context, size_t side, uint64_t stream) {
    svmp_model *model = NULL;
    assert_ok(svmp_model_create(context, &model));
    for (size_t v = 0; v < side * side; v++) add_node(model, 1, 0.1, stream);
    for (size_t v = 0; v < side * side; v++) {
        if (v % side + 1 < side) couple(model, v, v + 1, 0.1 * test_random(stream + 1, 2 * v));
        if (v / side + 1 < side) couple(model, v, v + side, 0.1 * test_random(stream + 1, 2 * v + 1));
    }
    assert_ok(svmp_model_finish(model));
    return model;
}

void test_dense(const svmp_model *model, double *precision, double *linear) {
    const size_t d = model->graph->variables;
    memset(precision, 0, d * d * sizeof *precision);
    for (size_t i = 0; i < d; i++) {
        linear[i] = model->quadratic.linear[i];
        for (size_t e = model->quadratic.start[i]; e < model->quadratic.start[i + 1]; e++)
            precision[i * d + model->quadratic.column[e]] = model->quadratic.value[e];
    }
}

/* Gauss-Jordan elimination in place; a positive definite matrix needs no pivoting. */
void test_invert(size_t d, double *a) {
    for (size_t k = 0; k < d; k++) {
        const double pivot = 1 / a[k * d + k];
        a[k * d + k] = 1;
        for (size_t j = 0; j < d; j++) a[k * d + j] *= pivot;
        for (size_t i = 0; i < d; i++) {
            if (i == k) continue;
            const double factor = a[i * d + k];
            a[i * d + k] = 0;
            for (size_t j = 0; j < d; j++) a[i * d + j] -= factor * a[k * d + j];
        }
    }
}
