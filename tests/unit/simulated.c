#include "simulated.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "maths/order_statistics.h"
#include "maths/special.h"

#include "cuda/stein_kappa.h"
#include "cuda/thread_bodies.h"

#define REAL       float
#define REAL_EXP   expf
#define REAL_SQRT  sqrtf
#define REAL_FMA   fmaf
#define PAIR(name) name##_32
#include "cuda/pair_bodies.h"
#undef REAL
#undef REAL_EXP
#undef REAL_SQRT
#undef REAL_FMA
#undef PAIR
#define REAL       double
#define REAL_EXP   exp
#define REAL_SQRT  sqrt
#define REAL_FMA   fma
#define PAIR(name) name##_64
#include "cuda/pair_bodies.h"

struct device {
    step_result results[DEVICE_STEPS];
    size_t steps, results_read;
    int halted;
    void *library; /* of generated code */
};

size_t test_simulated_which;
size_t test_simulated_room = (size_t)1 << 30;

static int open_device(device **made, size_t which, char *text, size_t size) {
    (void)text, (void)size;
    test_simulated_which = which;
    *made = calloc(1, sizeof **made);
    return *made == NULL;
}

static void close_device(device *d) {
    if (d->library) dlclose(d->library);
    free(d);
}
static const char *describe(const device *d) { return (void)d, "a simulated device"; }
static const char *error(const device *d) { return (void)d, "it was unplugged"; }
static size_t room(device *d) { return (void)d, test_simulated_room; }

static int allocate(device *d, size_t bytes, void **pointer) {
    (void)d;
    *pointer = malloc(bytes);
    return *pointer == NULL ? DEVICE_FULL : 0;
}

static void release(device *d, void *pointer) { (void)d, free(pointer); }
static int copy(device *d, void *to, const void *from, size_t bytes) { return (void)d, memcpy(to, from, bytes), 0; }
static int clear(device *d, void *pointer, size_t bytes) { return (void)d, memset(pointer, 0, bytes), 0; }

enum { NEAR = 8 }; /* registers that this device has */

static size_t far(const device *d, const program_args *a, size_t count) {
    return (void)d, (void)count, a->registers > NEAR ? a->registers : 0;
}

static int run_programs(const program_args *a, size_t count) {
    double near[NEAR], *registers = a->registers > NEAR ? a->far : near;
    if (registers == NULL) return 1;
    for (size_t t = 0; t < count; t++) run_program(a, t, registers, 1, a->special);
    return 0;
}

/* The squared distances of given ranks, by selection. */
static void find_middle(const pair_args *a, int bits, size_t u) {
    const size_t n = a->n;
    size_t count = 0;
    double *pairs = malloc(n * n * sizeof *pairs), lower = 0, upper;
    for (size_t l = 0; l < n; l++)
        for (size_t m = l + 1; m < n; m++) {
            const size_t at = (u * n + l) * n + m;
            pairs[count++] = bits == 32 ? (double)((const float *)a->matrix)[at] : ((const double *)a->matrix)[at];
        }
    svmp_select_two(pairs, count, a->lower == SIZE_MAX ? a->upper : a->lower, a->upper, &lower, &upper);
    a->middle[2 * u] = a->lower == SIZE_MAX ? 0 : lower;
    a->middle[2 * u + 1] = upper;
    free(pairs);
}

#define BOTH(name) (bits == 32 ? name##_32(args, t) : name##_64(args, t))

static int run_all_programs(const programs_args *all) {
    for (size_t g = 0; g < all->count; g++) {
        program_args a = all->list[g];
        a.x = all->x;
        double *registers = malloc((a.registers + 1) * ABREAST * sizeof *registers);
        if (registers == NULL) return 1;
        const size_t lanes = a.instances * (a.n < ABREAST ? a.n : abreast_share(a.n)); /* several at a time if it can */
        for (size_t t = 0; t < lanes; t++) (a.n < ABREAST ? run_program : run_abreast)(&a, t, registers, 1, a.special);
        free(registers);
    }
    return 0;
}

size_t test_simulated_generated;

static int run_generated(const generated_args *a, size_t blocks) {
    void (*run)(const generated_args *, uint32_t, uint32_t);
    memcpy(&run, &a->kernel, sizeof run);
    for (uint32_t block = 0; block < blocks; block++)
        for (uint32_t thread = 0; thread < GENERATED_BLOCK; thread++) run(a, block, thread);
    test_simulated_generated++;
    return 0;
}

static int launch(device *d, device_kernel which, int bits, const void *args, size_t count);

size_t test_simulated_failure;

static int finish(device *d, int bits, const pair_args *a) {
    const size_t n = a->n, members = a->members * n;
    if (a->rule != RULE_FIXED && n > 1 && launch(d, KERNEL_MIDDLE, bits, a, a->units) != 0) return 1;
    return launch(d, KERNEL_SCALE, bits, a, a->units) != 0 || launch(d, KERNEL_VALUE, bits, a, a->units * n * n) != 0 ||
           launch(d, KERNEL_VELOCITY, bits, a, members) != 0;
}

static int launch(device *d, device_kernel which, int bits, const void *args, size_t count) {
    if (test_simulated_failure > 0 && --test_simulated_failure == 0) return 1;
    if (d->halted) return 0;
    if (which == KERNEL_PROGRAM) return run_programs(args, count);
    if (which == KERNEL_PROGRAMS) return run_all_programs(args);
    if (which == KERNEL_GENERATED) return run_generated(args, count);
    if (which == KERNEL_FINISH) return finish(d, bits, args);
    const score_args *score = which == KERNEL_SCORE ? args : NULL;
    for (size_t t = 0; score && t < score->piece_count * score->pieces.n; t++) body_sum(&score->pieces, t);
    for (size_t t = 0; t < count; t++) switch (which) {
        case KERNEL_SUM:
        case KERNEL_LONG_SUM: body_sum(args, t); break;
        case KERNEL_SCORE: body_score(args, t); break;
        case KERNEL_CENTRE: body_centre(args, t); break;
        case KERNEL_MESSAGE: body_message(args, t); break;
        case KERNEL_DRAW: body_draw(args, t); break;
        case KERNEL_MATRIX: BOTH(matrix); break;
        case KERNEL_ADD_PIECES: BOTH(add_pieces); break;
        case KERNEL_MIDDLE: find_middle(args, bits, t); break;
        case KERNEL_SCALE: body_scale(args, t); break;
        case KERNEL_VALUE: BOTH(value); break;
        case KERNEL_VELOCITY: BOTH(velocity); break;
        case KERNEL_MOMENTS: BOTH(moments); break;
        case KERNEL_FIRST: body_first(args, t); break;
        case KERNEL_SURVEY: body_survey(args, t); break;
        case KERNEL_KAPPA: body_kappa(args, t); break;
        case KERNEL_PROGRAM:
        case KERNEL_PROGRAMS:
        case KERNEL_GENERATED:
        case KERNEL_FINISH:
        case KERNEL_STEP:
        case KERNEL_DIFFUSE: return 1;
        }
    return 0;
}

static int step_all(device *d, device_kernel which, const step_args *args, size_t count) {
    step_result *result = &d->results[d->steps++ % DEVICE_STEPS];
    double largest = 0;
    int wrong = 0;
    if (d->halted) return 0;
    if (d->steps - d->results_read > DEVICE_STEPS) return 1;
    for (size_t t = 0; t < count; t++) (which == KERNEL_STEP ? body_step : body_diffuse)(args, t, &largest, &wrong);
    memcpy(&result->largest, &largest, sizeof largest);
    result->wrong = (uint64_t)wrong;
    d->halted = wrong;
    return 0;
}

static int outcome(device *d, step_result *result) {
    *result = d->results[d->results_read++ % DEVICE_STEPS];
    if (!result->wrong) return 0;
    d->results_read = d->steps;
    d->halted = 0;
    return 0;
}

#define SIMULATED                                                                                                      \
    .open = open_device, .close = close_device, .describe = describe, .error = error, .room = room,                    \
    .allocate = allocate, .release = release, .to_device = copy, .to_host = copy, .clear = clear, .launch = launch,    \
    .step = step_all, .outcome = outcome, .far = far

static const device_ops simulated = {SIMULATED};

/* ---- terms and iterations in one call ---------------------------------------------------------------------------- */

static int fuses(const device *d, int bits, const pair_args *a) {
    return (void)d, bits == 32 && a->shape != SVMP_SHAPE_LINEAR && a->n <= 64;
}

/* The same bits as with stored matrices. */
static int fused(device *d, int bits, const pair_args *args) {
    if (d->halted) return 0;
    pair_args a = *args;
    const size_t numbers = a.units * a.n * a.n;
    a.pieces = 1;
    a.matrix = malloc(numbers * sizeof(double));
    a.scale = malloc(a.units * sizeof *a.scale);
    int failure = a.matrix == NULL || a.scale == NULL || launch(d, KERNEL_MATRIX, bits, &a, numbers);
    if (!failure && a.rule != RULE_FIXED) failure = launch(d, KERNEL_MIDDLE, bits, &a, a.units);
    failure = failure || launch(d, KERNEL_SCALE, bits, &a, a.units) || launch(d, KERNEL_VALUE, bits, &a, numbers) ||
              launch(d, KERNEL_VELOCITY, bits, &a, a.members * a.n);
    free(a.matrix);
    free(a.scale);
    return failure;
}

static int iterate(device *d, int bits, const iteration_args *args) {
    if (d->halted) return step_all(d, KERNEL_STEP, &args->step, 0);
    pair_args pair = args->pair;
    const size_t n = pair.n, members = pair.member_start[pair.units], places = tile_places(n);
    size_t rows = members;
    float *z = NULL;
    pair.members = members;
    pair.phi = args->step.phi;
    for (size_t e = 0; e < pair.end[pair.units - 1]; e++) rows = pair.domain[e] >= rows ? pair.domain[e] + 1 : rows;
    if (args->record) pair.z = z = malloc(rows * n * sizeof *z);
    if (args->record && z == NULL) return 1;
    for (size_t i = 0; z && i < rows; i++) memcpy(z + i * n, args->placed + i * places, n * sizeof *z);
    const score_args score = {.first = args->score, .second = args->gather};
    int failure = !args->scored && launch(d, KERNEL_SCORE, 64, &score, members * n) != 0;
    failure = failure || fused(d, bits, &pair) != 0 || step_all(d, KERNEL_STEP, &args->step, members * n) != 0;
    free(z);
    for (size_t i = 0; !failure && i < members; i++) {
        const double *x = args->step.phi + i * n, offset = row_single(n, x);
        if (args->record) place_row(n, x, offset, args->placed_next + i * places);
        for (size_t l = 0; !args->record && l < n; l++) args->z[i * n + l] = (float)((x[l] - x[0]) - offset);
    }
    return failure;
}

/* If units have no records, scores are gathered, too. */
static int iterates(const device *d, int bits, const pair_args *a) {
    return !fuses(d, bits, a)                                 ? 0
           : a->most_members > 1 || a->longest > UNIT_ENTRIES ? ITERATES_GATHERS
                                                              : ITERATES_RECORDS;
}

static int finishes(const device *d, int bits, const pair_args *a) {
    return (void)d, (void)bits, a->shape != SVMP_SHAPE_LINEAR && a->most_members <= 8;
}

static const device_ops simulated_whole = {SIMULATED,      .finishes = finishes, .fuses = fuses,
                                           .fused = fused, .iterates = iterates, .iterate = iterate};
const device_ops *const test_simulated_launches = &simulated_whole;

/* ---- generated code, as a shared object of the host -------------------------------------------------------------- */

static int capability(const device *d) { return (void)d, 90; }

static int load_generated(device *d, const void *image, size_t bytes, size_t count, void **kernels) {
    char path[] = "/tmp/svmp-generated-XXXXXX";
    const int descriptor = mkstemp(path);
    if (d->library) dlclose(d->library);
    const int written = descriptor >= 0 && write(descriptor, image, bytes) == (ssize_t)bytes;
    if (descriptor >= 0) close(descriptor);
    d->library = written ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (descriptor >= 0) unlink(path);
    for (size_t s = 0; d->library && s < count; s++) {
        char name[32];
        snprintf(name, sizeof name, "generated_%zu", s);
        kernels[s] = dlsym(d->library, name);
        if (kernels[s] == NULL) return 1;
    }
    return d->library == NULL;
}

static const device_ops simulated_generated = {SIMULATED, .capability = capability, .load = load_generated};
const device_ops *const test_simulated_compiles = &simulated_generated;

/* ---- devices ----------------------------------------------------------------------------------------------------- */

static int open_32(const svmp_device_request *request, svmp_device_particles *made) {
    return svmp_cuda_open(request, &simulated, 32, made);
}

static int open_64(const svmp_device_request *request, svmp_device_particles *made) {
    return svmp_cuda_open(request, &simulated, 64, made);
}

static int open_whole(const svmp_device_request *request, svmp_device_particles *made) {
    return svmp_cuda_open(request, &simulated_whole, 32, made);
}

static int open_generated(const svmp_device_request *request, svmp_device_particles *made) {
    return svmp_cuda_open(request, &simulated_generated, 64, made);
}

const svmp_device test_device_simulated = CUDA_DEVICE("cuda", "cuda-f64", open_32),
                  test_device_simulated_f64 = CUDA_DEVICE("cuda-f64", NULL, open_64),
                  test_device_simulated_whole = CUDA_DEVICE("cuda", "cuda-f64", open_whole),
                  test_device_simulated_generated = CUDA_DEVICE("cuda-f64", NULL, open_generated);
