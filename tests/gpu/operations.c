#include "operations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plugin.h"
#include "base/random.h"
#include "cuda/cuda_backend.h"
#include "cuda/generate_code.h"
#include "cuda/nvrtc.h"
#include "maths/special.h"

#include "cuda/interpret_code.h"

enum { N = 512, SLOTS = 3, LINES = 4, FIRST = OP_parameter + 1, COUNT = CODE_COPY - FIRST, EACH_SET = 8 };
enum { SETS = (COUNT + EACH_SET - 1) / EACH_SET };

#define IN(slot)  ((uint32_t)(slot) | (uint32_t)PLACE_INPUT << PLACE_SHIFT)
#define OUT(slot) ((uint32_t)(slot) | (uint32_t)PLACE_OUTPUT << PLACE_SHIFT)

/* The value of an operation, the value plus an input, and a product of it plus an input, which a compiler might fuse.
 * */
static void make_program(uint32_t code, program_code *p) {
    static const device_instruction rest[] = {
        {.code = OP_add, .out = OUT(1), .operand = {OUT(0), IN(1)}, .operands = 2},
        {.code = OP_multiply, .out = 0, .operand = {OUT(0), IN(2)}, .operands = 2},
        {.code = OP_add, .out = OUT(2), .operand = {0, IN(0)}, .operands = 2}};
    p->code = calloc(LINES, sizeof *p->code);
    p->literals = calloc(1, sizeof *p->literals);
    p->code[0] = (device_instruction){.code = code, .out = OUT(0), .operand = {IN(0), IN(1), IN(2)}, .operands = 3};
    memcpy(p->code + 1, rest, sizeof rest);
    p->count = LINES;
    p->slots = SLOTS;
    p->registers = 1;
    p->special = is_special(code);
}

/* Memory of a device, with a copy. */
static void *on_device(const device_ops *ops, device *d, const void *from, size_t bytes) {
    void *made = NULL;
    if (ops->allocate(d, bytes, &made) != 0 || ops->to_device(d, made, from, bytes) != 0) exit(1);
    return made;
}

static const char *names[] = {
#define OP1(name, value, da)         #name,
#define OP2(name, value, da, db)     #name,
#define OP3(name, value, da, db, dc) #name,
#include "expr/operations.def"
#undef OP1
#undef OP2
#undef OP3
#define ROW(first, second, value) #first " " #second,
    PAIR_LIST(ROW)
#undef ROW
};

static double apart(double a, double b) {
    if (memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b))) return 0;
    return isfinite(a) && isfinite(b) ? fabs(a - b) / fmax(1e-300, fabs(a)) : INFINITY;
}

int check_operations(svmp_context *context) {
    const svmp_host host = svmp_plugin_host(context);
    const device_ops *ops = NULL;
    device *d = NULL;
    char why[512], *text = NULL, *image = NULL;
    static program_code programs[COUNT];
    const program_code *list[COUNT];
    size_t first[SETS + 1], bytes, differ = 0;
    void *kernels[SETS];
    nvrtc compiler;
    static double x[SLOTS * N], one[SLOTS * N], two[SLOTS * N];
    const uint32_t variables[] = {0, 1, 2};
    int bad = 0;
    ops = find_device();
    if (ops == NULL) return puts("SVMP_CUDA is not the path of svmp_cuda.so"), 1;
    if (!svmp_nvrtc_find(&compiler, why, sizeof why)) return printf("skip operations: %s\n", why), 0;
    if (ops->open(&d, 0, why, sizeof why) != 0) return puts(why), 1;
    for (size_t g = 0; g < COUNT; g++) make_program((uint32_t)(FIRST + g), &programs[g]), list[g] = &programs[g];
    for (size_t s = 0; s <= SETS; s++) first[s] = s * EACH_SET < COUNT ? s * EACH_SET : COUNT;
    if (svmp_generate(&host, SETS, first, list, 1, &text) != SVMP_OK) return 1;
    if (svmp_nvrtc_compile(&host, &compiler, text, ops->capability(d), &image, &bytes, why, sizeof why) != SVMP_OK)
        return 1;
    if (image == NULL || ops->load(d, image, bytes, SETS, kernels) != 0) return printf("BAD  operations: %s\n", why), 1;

    svmp_random_normals((random_stream){.seed = 5, .purpose = RANDOM_TEST}, SLOTS * N, x);
    for (size_t e = 0; e < SLOTS * N; e++) x[e] = e % N < N / 2 ? 1 / (1 + exp(-x[e])) : 3 * fabs(x[e]);
    double *there = on_device(ops, d, x, sizeof x), *gradient = on_device(ops, d, one, sizeof one);
    uint32_t *rows = on_device(ops, d, variables, sizeof variables);
    for (size_t g = 0; g < COUNT; g++) {
        const size_t s = g / EACH_SET;
        double worst = 0;
        const program_args a = {.code = on_device(ops, d, programs[g].code, LINES * sizeof *programs[g].code),
                                .variables = rows,
                                .x = there,
                                .gradient = gradient,
                                .instances = 1,
                                .n = N,
                                .count = LINES,
                                .slots = SLOTS,
                                .outputs = SLOTS,
                                .registers = 1,
                                .special = programs[g].special};
        generated_args b = {.kernel = kernels[s], .x = there, .n = N};
        svmp_cuda_share(N, 1, &b);
        for (b.count = 0; b.count < first[s + 1] - first[s]; b.count++) { /* the others have no blocks */
            b.list[b.count] = (generated_program){NULL, rows, gradient, 1};
            b.first[b.count + 1] = b.first[b.count] + (b.count == g - first[s] ? N / GENERATED_BLOCK : 0);
        }
        int failed = ops->launch(d, KERNEL_PROGRAM, 64, &a, N) || ops->to_host(d, one, gradient, sizeof one) ||
                     ops->clear(d, gradient, sizeof one) ||
                     ops->launch(d, KERNEL_GENERATED, 64, &b, N / GENERATED_BLOCK) ||
                     ops->to_host(d, two, gradient, sizeof two);
        for (size_t e = 0; e < SLOTS * N; e++) worst = fmax(worst, apart(one[e], two[e]));
        if (failed) worst = INFINITY;
        if (worst > 0)
            printf("%-4s the operation %s: compiled and interpreted are %.1e apart\n", worst <= 1e-14 ? "ok" : "BAD",
                   names[g], worst);
        differ += worst > 0;
        bad += worst > 1e-14;
        ops->release(d, (void *)a.code);
        free(programs[g].code);
        free(programs[g].literals);
    }
    printf("%-4s %d operations, %zu of which have other bits compiled than interpreted\n", bad ? "BAD" : "ok", COUNT,
           differ);
    ops->release(d, there);
    ops->release(d, gradient);
    ops->release(d, rows);
    ops->close(d);
    svmp_release(context, text);
    svmp_release(context, image);
    return bad;
}
