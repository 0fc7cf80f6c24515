/* The backends on a GPU against those on the CPU, on a machine that has one:
 *
 *     gpu_tests FOLDER                FOLDER has the models (models/)
 *     gpu_tests FOLDER --quick        fewer sizes and iterations
 *     gpu_tests FOLDER --wide         wide blankets alone
 *     gpu_tests FOLDER --programs     operations and models alone
 *
 * Prints a line for each check, and ends with 1 if one failed. Called by tests/gpu/run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "backend/device_backend.h"
#include "base/shared_library.h"
#include "compare.h"
#include "cuda/cuda_backend.h"
#include "cuda/nvrtc.h"
#include "models.h"
#include "operations.h"
#include "runs.h"

#include "bench/bench.h" /* last: it has a context of its own */
#include "cases.h"
#include "wide.h"

typedef struct bounds {
    const backend_kind *kind;
    double tolerance; /* of phi */
} bounds;

static size_t sets_compiled;

const device_ops *find_device(void) {
    const char *path = getenv("SVMP_CUDA");
    const device_ops *(*entry)(void) = NULL;
    char why[300];
    int absent;
    void *library = svmp_library_open(path ? path : "svmp_cuda.so", 0, &absent, why, sizeof why);
    return library && svmp_library_bind(library, "svmp_cuda_device", &entry) ? entry() : NULL;
}

/* The backends as they are, but for what they compile: all programs, or none. */
static int open_other(const svmp_device_request *request, svmp_device_particles *made, int bits, int compiles) {
    static device_ops other[2]; /* they outlive their backends */
    const device_ops *ops = find_device();
    if (ops == NULL) return puts("SVMP_CUDA is not the path of svmp_cuda.so"), SVMP_UNSUPPORTED;
    other[compiles] = *ops;
    other[compiles].worth = 0;
    if (!compiles) other[compiles].capability = NULL;
    const int status = svmp_cuda_open(request, &other[compiles], bits, made);
    if (status == SVMP_OK) sets_compiled += ((const cuda_run *)made->state)->state->generated_count;
    return status;
}
static int open_compiled_32(const svmp_device_request *r, svmp_device_particles *made) {
    return open_other(r, made, 32, 1);
}
static int open_compiled_64(const svmp_device_request *r, svmp_device_particles *made) {
    return open_other(r, made, 64, 1);
}
static int open_interpreted(const svmp_device_request *r, svmp_device_particles *made) {
    return open_other(r, made, 64, 0);
}
static const svmp_device device_32 = CUDA_DEVICE("cuda", "cuda-f64", open_compiled_32),
                         device_64 = CUDA_DEVICE("cuda-f64", NULL, open_compiled_64),
                         device_plain = CUDA_DEVICE("cuda-f64", NULL, open_interpreted);
static const backend_kind compiled_32 = DEVICE_KIND("cuda", NULL, &device_32),
                          compiled_64 = DEVICE_KIND("cuda-f64", NULL, &device_64),
                          interpreted = DEVICE_KIND("cuda-f64", NULL, &device_plain);

static const bounds both[] = {{&compiled_64, 1e-12}, {&compiled_32, 1e-6}};
static const backend_kind *const kinds[] = {&compiled_64, &compiled_32};
static int failures, quick, programs;

static void check(comparison c, const char *name) {
    for (size_t k = 0; k < 2; k++) {
        differences found;
        c.other = both[k].kind;
        const svmp_status status = compare_backends(&c, &found);
        const int good = status == SVMP_OK && found.iterations > 0 && found.score <= 1e-12 &&
                         found.phi <= both[k].tolerance && found.x <= 1e-12;
        printf("%-4s %-8s %-20s %-34s n = %-5zu %3zu iterations: score %.1e, phi %.1e, x %.1e%s\n", good ? "ok" : "BAD",
               c.other->name, name, c.kernel ? c.kernel : "langevin", c.n, found.iterations, found.score, found.phi,
               found.x, status == SVMP_OK ? "" : svmp_context_error(context));
        failures += !good;
    }
    fflush(stdout);
}

/* The Stein discrepancy, in double precision on either backend. */
static void check_discrepancy(comparison c, const char *name) {
    for (size_t k = 0; k < 2; k++) {
        double largest = 0;
        c.other = both[k].kind;
        const svmp_status status = compare_discrepancies(&c, &largest);
        const int good = status == SVMP_OK && largest <= 1e-11;
        printf("%-4s %-8s %-20s %-34s n = %-5zu the discrepancy: %.1e%s\n", good ? "ok" : "BAD", c.other->name, name,
               c.kernel, c.n, largest, status == SVMP_OK ? "" : svmp_context_error(context));
        failures += !good;
    }
    fflush(stdout);
}

/* The plain loops are slow: above 65 particles the vectorised ones serve as reference; other tests compare the two. */
static const backend_kind *reference(size_t n) { return n <= 65 ? &svmp_backend_ref : &svmp_backend_cpu; }

/* Compiled and interpreted programs give the same bits. Skipped without NVRTC. */
static void check_compiled(const svmp_model *model, const char *name, size_t n) {
    nvrtc compiler;
    char why[512];
    if (!svmp_nvrtc_find(&compiler, why, sizeof why)) {
        printf("skip cuda-f64 %-20s n = %-5zu compiled programs: %s\n", name, n, why);
        return;
    }
    const comparison c = {.model = model,
                          .reference = &interpreted,
                          .other = &compiled_64,
                          .kernel = "rbf@self",
                          .step = "adagrad:0.1",
                          .n = n,
                          .iterations = 3};
    differences found;
    sets_compiled = 0;
    const svmp_status status = compare_backends(&c, &found);
    const int compiled = sets_compiled > 0 || model->group_count == 0;
    const int good = status == SVMP_OK && found.iterations > 0 && found.score == 0 && compiled;
    printf("%-4s %-8s %-20s n = %-5zu compiled programs have the bits of interpreted ones: score %.1e%s%s\n",
           good ? "ok" : "BAD", "cuda-f64", name, n, found.score, compiled ? "" : ", nothing was compiled ",
           status == SVMP_OK ? "" : svmp_context_error(context));
    failures += !good;
}

/* A text of many special functions, and enough instances for threads of several particles. */
static void check_compiled_text(void) {
    const char *text =
        "model { a ~ dgamma(2, 2)\n b ~ dbeta(2, 3)\n m ~ dnorm(0, 1)\n"
        "for (i in 1:60) { x[i] ~ dgamma(a, exp(m))\n z[i] ~ dt(m, a, 3 + a)\n u[i] ~ dnorm(phi(z[i]) + log(x[i]), a)\n"
        "w[i] ~ dbeta(1 + a, 1 + x[i])\n v[i] ~ dweib(1 + b, x[i])\n s[i] ~ dnorm(sin(z[i])*pow(x[i], b), 1) T(0,)"
        " } }";
    const size_t sizes[] = {2, 3, 50, 300, 1001};
    svmp_model *model = NULL;
    must(svmp_model_read_text(context, NULL, text, NULL, NULL, &model));
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) check_compiled(model, "special functions", sizes[s]);
    svmp_model_free(model);
}

static void check_models(const char *folder) {
    const size_t sizes[] = {2, 3, 50, 64, 65, 200, 1000};
    for (size_t k = 0; k < ALL_MODELS; k++) {
        char paths[MODEL_FILES][1000];
        const char *list[MODEL_FILES];
        size_t count = 0;
        svmp_model *model = NULL;
        if (!can_read_model(all_models[k])) continue;
        for (; count < MODEL_FILES && all_models[k][count]; count++) {
            snprintf(paths[count], sizeof paths[count], "%s/%s", folder, all_models[k][count]);
            list[count] = paths[count];
        }
        must(svmp_model_read(context, count, list, NULL, &model));
        for (size_t s = 0; s < (quick ? 3 : sizeof sizes / sizeof *sizes); s++)
            check((comparison){.model = model,
                               .reference = reference(sizes[s]),
                               .kernel = "rbf@blanket",
                               .step = "adagrad:0.1",
                               .n = sizes[s],
                               .iterations = 3},
                  all_models[k][0]);
        for (size_t s = 1; s < 6; s += 4) check_compiled(model, all_models[k][0], sizes[s]);
        for (size_t s = 2; s < 6 && !programs; s += 3)
            check_discrepancy(
                (comparison){
                    .model = model, .kernel = "rbf@blanket", .step = "adagrad:0.1", .n = sizes[s], .iterations = 1},
                all_models[k][0]);
        svmp_model_free(model);
    }
}

static void check_kernels(void) {
    const char *kernels[] = {"imq@blanket",
                             "linear@blanket",
                             "rbf@self",
                             "rbf(median-log)@random:2",
                             "imq(median-zeros)@all",
                             "linear@all",
                             "rbf(1.7)@blanket",
                             "rbf/sd@blanket + 0.3*linear/sd@blanket",
                             "0.5*imq/sd@random:4 + 0.5*linear@random:1 + rbf@all",
                             "rbf@message",
                             "rbf/sd@near:2 + linear@near:3"};
    const size_t sizes[] = {1, 2, 16, 17, 33, 50, 64, 65, 130, 300};
    svmp_model *model = grid(7);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            check((comparison){.model = model,
                               .reference = reference(sizes[s]),
                               .kernel = kernels[k],
                               .step = "adam-sd:0.1",
                               .n = sizes[s],
                               .iterations = 5},
                  "a grid of 7 x 7");
    check((comparison){.model = model, .reference = &svmp_backend_ref, .n = 50, .iterations = 20}, "a grid of 7 x 7");
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (size_t s = 1; s < sizeof sizes / sizeof *sizes; s += 4)
            check_discrepancy(
                (comparison){
                    .model = model, .kernel = kernels[k], .step = "adam-sd:0.1", .n = sizes[s], .iterations = 5},
                "a grid of 7 x 7");
    check_discrepancy((comparison){.model = model, .kernel = "rbf@blanket", .n = 1500, .measured = 1000},
                      "a grid of 7 x 7");
    svmp_model_free(model);
}

/* Domains of many rows, with more particles than a warp holds. */
static void check_wide_domains(void) {
    const char *kernels[] = {"rbf@blanket", "imq@blanket", "rbf(30)@blanket"};
    const size_t reaches[] = {3, 5, 6, 13, 28, 48, 60}, sizes[] = {65, 100, 200, 300, 600, 1000};
    for (size_t r = 0; r < sizeof reaches / sizeof *reaches; r++) {
        svmp_model *model = band(2 * reaches[r] + 30, reaches[r]);
        char name[64];
        snprintf(name, sizeof name, "blankets of %zu", 2 * reaches[r] + 1);
        for (size_t k = 0; k < (quick ? 1 : 3); k++)
            for (size_t s = 0; s < (quick ? 3 : 6); s++)
                check((comparison){.model = model,
                                   .reference = &svmp_backend_cpu,
                                   .kernel = kernels[k],
                                   .step = "adagrad:0.1",
                                   .n = sizes[s],
                                   .iterations = 4},
                      name);
        svmp_model_free(model);
    }
    for (size_t reach = 5; reach <= 8; reach += 3) { // many units, so that each has few threads
        svmp_model *model = band(1000, reach);
        check((comparison){.model = model,
                           .reference = &svmp_backend_cpu,
                           .kernel = "rbf@blanket",
                           .step = "adagrad:0.1",
                           .n = 100,
                           .iterations = 3},
              reach == 5 ? "1,000 blankets of 11" : "1,000 blankets of 17");
        svmp_model_free(model);
    }
}

/* A hub, and leaves of `each` variables that are N(hub, 1/2). */
static svmp_model *star(size_t leaves, size_t each) {
    enum { MOST = 64 };
    const double one = 1;
    const size_t k = each + 1;
    double precision[MOST * MOST] = {0};
    size_t hub, leaf;
    svmp_model *model = NULL;
    for (size_t i = 0; i < each; i++) {
        precision[0] += 2;
        precision[i + 1] = precision[(i + 1) * k] = -2;
        precision[(i + 1) * k + i + 1] = 2;
    }
    must(svmp_model_create(context, &model));
    must(svmp_model_add_node(model, NULL, 1, NULL, NULL, &hub));
    must(svmp_model_add_gaussian(model, 1, &hub, &one, NULL));
    for (size_t l = 0; l < leaves; l++) {
        must(svmp_model_add_node(model, NULL, each, NULL, NULL, &leaf));
        must(svmp_model_add_gaussian(model, 2, (size_t[]){hub, leaf}, precision, NULL));
    }
    must(svmp_model_finish(model));
    return model;
}

/* A hub of 10^5 rows, whose distances are long sums, with few particles and with enough that its domain is one piece;
 * and more particles than any multiprocessor holds. */
static void check_extremes(void) {
    const char *text = "model { mu ~ dnorm(0, 1)\n for (i in 1:100000) { x[i] ~ dnorm(mu, 2) } }";
    const char *kernels[] = {"rbf@blanket", "linear@blanket"};
    const size_t few[] = {2, 50}, many[] = {1500, 2047, 2048, 2049, 5000, 10000};
    svmp_model *model = NULL, *leaves = star(2000, 50), *small = grid(3);
    must(svmp_model_read_text(context, NULL, text, NULL, NULL, &model));
    for (size_t each = 0; each < 2 * 3; each++) {
        const int large = each / 2 == 2;
        check((comparison){.model = large ? leaves : model,
                           .reference = &svmp_backend_cpu,
                           .kernel = kernels[each % 2],
                           .step = "adagrad:0.1",
                           .n = large ? 800 : few[each / 2],
                           .iterations = large ? 1 : 2},
              "a hub of 100,000");
    }
    for (size_t s = 0; s < (quick ? 3 : sizeof many / sizeof *many); s++)
        check((comparison){.model = small,
                           .reference = &svmp_backend_cpu,
                           .kernel = "rbf@blanket",
                           .step = "adagrad:0.1",
                           .n = many[s],
                           .iterations = 2},
              "a grid of 3 x 3");
    svmp_model_free(model);
    svmp_model_free(leaves);
    svmp_model_free(small);
}

/* Particles whose median distance is hard to find, at sizes of every kernel. */
static void check_places(void) {
    const size_t sizes[] = {16, 36, 64, 100, 196, 900};
    svmp_model *model = grid(5), *wide = band(25, 8);
    for (size_t k = 0; k < 5; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t shape = 0; shape < 3; shape++)
                check((comparison){.model = shape == 2 ? wide : model,
                                   .reference = reference(sizes[s]),
                                   .kernel = shape == 1 ? "imq@blanket" : "rbf@blanket",
                                   .step = "adagrad:0.1",
                                   .n = sizes[s],
                                   .iterations = 6,
                                   .place = places[k]},
                      place_names[k]);
    svmp_model_free(model);
    svmp_model_free(wide);
}

/* All particles far from 0 and close together. */
static void far_away(size_t t, size_t i, size_t n, double *row) {
    normals(t, i, n, row);
    for (size_t l = 0; l < n; l++) row[l] = 1e4 * (double)(i + 1) + 1e-2 * row[l];
}

/* The spreads of variables differ by a factor of a thousand. */
static void with_spreads(size_t t, size_t i, size_t n, double *row) {
    normals(t, i, n, row);
    for (size_t l = 0; l < n; l++) row[l] *= pow(10, (double)(i % 4) - 2);
}

/* Units of many rows and several members, with different kernels: few units and many. */
static void check_wide_units(void) {
    const wide_model models[] = {{1400, 2, 7, 1}, {1400, 3, 12, 0}, {1350, 1, 50, 0}, {1400, 8, 3, 1}, {1700, 1, 5, 1},
                                 {900, 3, 2, 0},  {31, 2, 12, 1},   {500, 2, 3, 1},   {9, 1, 4, 1},    {12, 1, 5, 0},
                                 {25, 2, 3, 1},   {20, 3, 8, 0},    {20, 5, 6, 1},    {20, 8, 3, 0},   {20, 8, 7, 1},
                                 {150, 1, 63, 0}, {1000, 2, 7, 1}};
    const char *kernels[] = {
        "rbf@blanket",      "imq@blanket",  "rbf(median-log)@blanket",         "imq(median-zeros)@blanket",
        "rbf(3.1)@blanket", "imq@random:5", "rbf/sd@blanket + 0.3*imq@blanket"};
    const size_t sizes[] = {2, 3, 8, 9, 16, 17, 24, 31, 32, 33, 41, 48, 49, 50, 56, 57, 63, 64};
    const placement others[] = {on_lattice, with_gap, with_jumps, together, with_outlier, with_spreads, far_away};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        svmp_model *model = read_wide(&models[m]);
        const int large = models[m].nodes >= 500;
        char name[64];
        snprintf(name, sizeof name, "%zu x %zu, reach %zu%s", models[m].nodes, models[m].variables, models[m].reach,
                 models[m].curved ? ", curved" : "");
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
                if ((s + m + k) % (large ? 12 : 6) != 0) continue;
                check((comparison){.model = model,
                                   .reference = large ? &svmp_backend_cpu : &svmp_backend_ref,
                                   .kernel = kernels[k],
                                   .step = "adagrad:0.1",
                                   .n = sizes[s],
                                   .iterations = 4},
                      name);
            }
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            for (size_t s = 0; s < (large ? 1 : 3); s++)
                check((comparison){.model = model,
                                   .reference = large ? &svmp_backend_cpu : &svmp_backend_ref,
                                   .kernel = (m + k + s) % 2 ? "imq@blanket" : "rbf@blanket",
                                   .step = "adagrad:0.1",
                                   .n = (size_t[]){36, 16, 64}[s],
                                   .iterations = 6,
                                   .place = others[k]},
                      name);
        svmp_model_free(model);
    }
}

/* Domains of seven variables: with up to 64 particles, tensor cores use three products instead of two. */
static void check_seven(void) {
    const char *text = "model { for (i in 1:3) { x[i] ~ dnorm(0, 1) }\n"
                       "for (i in 4:60) { x[i] ~ dnorm(0.3*x[i-1] - 0.2*x[i-2] + 0.1*x[i-3], 2) } }";
    const size_t sizes[] = {16, 33, 50, 64, 100};
    svmp_model *model = NULL;
    must(svmp_model_read_text(context, NULL, text, NULL, NULL, &model));
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t shape = 0; shape < 2; shape++)
            check((comparison){.model = model,
                               .reference = reference(sizes[s]),
                               .kernel = shape ? "imq@blanket" : "rbf@blanket",
                               .step = shape ? "rmsprop:0.1" : "adam:0.1",
                               .n = sizes[s],
                               .iterations = 6},
                  "a chain of order 3");
    svmp_model_free(model);
}

/* Many nodes and iterations, to find rare failures of the median search. */
static void check_long(size_t side, size_t n, size_t iterations) {
    svmp_model *model = grid(side);
    char name[64];
    snprintf(name, sizeof name, "a grid of %zu x %zu", side, side);
    check((comparison){.model = model,
                       .reference = &svmp_backend_cpu,
                       .kernel = "rbf@blanket",
                       .step = "adagrad:0.1",
                       .n = n,
                       .iterations = iterations},
          name);
    if (n < 1000)
        check_discrepancy(
            (comparison){.model = model, .kernel = "rbf@blanket", .step = "adagrad:0.1", .n = n, .iterations = 5},
            name);
    svmp_model_free(model);
}

/* Boxes against the CPU, each iteration. */
static void check_boxes(void) {
    const size_t sizes[] = {3, 50, 100};
    svmp_model *model = boxed_grid(10);
    for (size_t each = 0; each < 4 * 3; each++)
        check((comparison){.model = model,
                           .reference = reference(sizes[each / 4]),
                           .kernel = "rbf@blanket",
                           .step = rules[each % 4],
                           .n = sizes[each / 4],
                           .iterations = 20},
              "a grid in boxes");
    svmp_model_free(model);
}

static void check_all(const char *folder) {
    failures += check_operations(context);
    check_compiled_text();
    failures += check_runs(context, kinds, 0);
    check_boxes();
    check_places();
    check_wide_domains();
    check_kernels();
    check_seven();
    check_models(folder);
    check_long(100, 50, quick ? 5 : 200);
    check_long(100, 100, quick ? 2 : 20);
    check_long(30, 1000, 2);
    check_extremes();
    check_wide_units();
}

int main(int count, char **arguments) {
    const char *mode = count == 3 ? arguments[2] : "";
    const int wide = strcmp(mode, "--wide") == 0;
    programs = strcmp(mode, "--programs") == 0;
    quick = programs || strcmp(mode, "--quick") == 0;
    if (count < 2 || count > 3 || (count == 3 && !wide && !quick)) {
        fprintf(stderr, "usage: gpu_tests FOLDER [--quick | --wide | --programs]\n");
        return 2;
    }
    start_context(0);
    if (wide) {
        failures += check_runs(context, kinds, 1);
        check_wide_units();
        check_wide_domains();
    } else if (programs) {
        failures += check_operations(context);
        check_compiled_text();
        check_models(arguments[1]);
    } else {
        check_all(arguments[1]);
    }
    printf("%d of the checks failed\n", failures);
    svmp_context_free(context);
    return failures > 0;
}
