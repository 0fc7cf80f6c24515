/* Programs as machine code, compiled when a run starts. Which programs are compiled depends on the model, the number of
 * particles and the machine alone; the others are interpreted, and all of them where there is no compiler. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda_backend.h"
#include "cuda/generate_code.h"
#include "cuda/kept_binaries.h"
#include "cuda/nvrtc.h"

enum { MOST_INSTRUCTIONS = 1000, MOST_DIFFERENT = 16 }; /* of all programs that differ: compilers take seconds */
enum { KINDS = 3, MOST_PROGRAMS = 1024 };

/* The choice: programs in the order of their sets, each of which is one kernel. */
typedef struct compiled_plan {
    const program_code *codes; /* of all programs */
    size_t *order;             /* by work, the most first; then those that are chosen, by kind */
    const program_code **list;
    size_t *first; /* set -> its first program */
    size_t count, sets;
    unsigned width;
} compiled_plan;

static size_t kind_of(const program_code *p) { return p->registers > SMALL_REGISTERS ? 2 : p->special != 0; }

/* ---- the choice -------------------------------------------------------------------------------------------------- */

typedef struct program_work {
    double work;
    size_t number;
} program_work;

static int most_first(const void *a, const void *b) {
    const program_work *p = a, *q = b;
    return p->work != q->work ? (p->work < q->work) - (p->work > q->work)
                              : (p->number > q->number) - (p->number < q->number);
}

/* Whether an earlier one of the chosen programs is the same. */
static int is_known(const compiled_plan *plan, size_t g) {
    for (size_t k = 0; k < plan->count; k++)
        if (svmp_generate_same(&plan->codes[plan->order[k]], &plan->codes[g])) return 1;
    return 0;
}

/* The programs with most work, as long as the text is not too long. */
static svmp_status choose(const cuda_run *run, compiled_plan *plan) {
    const cuda *state = run->state;
    program_work *works = NULL;
    double all = 0;
    size_t instructions = 0, different = 0;
    svmp_status status;
    CUDA_CHECK(CUDA_NEW(&run->host, works, state->program_count));
    for (size_t g = 0; g < state->program_count; g++) {
        works[g] = (program_work){(double)state->programs[g].instances * (double)run->n * state->programs[g].count, g};
        all += works[g].work;
    }
    if (all < state->ops->worth) goto done;
    qsort(works, state->program_count, sizeof *works, most_first);
    for (size_t k = 0; k < state->program_count && plan->count < MOST_PROGRAMS; k++) {
        const size_t g = works[k].number, count = state->programs[g].count;
        if ((double)state->programs[g].instances * (double)run->n >= INT32_MAX) continue;
        const int known = is_known(plan, g);
        if (!known && (instructions + count > MOST_INSTRUCTIONS || different == MOST_DIFFERENT)) continue;
        if (!known) instructions += count, different++;
        plan->order[plan->count++] = g;
    }
done:
    svmp_host_release(&run->host, works);
    return status;
}

/* Sets of programs of a kind. */
static svmp_status divide(const cuda_run *run, compiled_plan *plan) {
    const cuda *state = run->state;
    size_t *by_kind = NULL, at = 0;
    double lanes = 0;
    svmp_status status;
    CUDA_CHECK(CUDA_NEW(&run->host, by_kind, plan->count));
    CUDA_CHECK(CUDA_NEW(&run->host, plan->list, plan->count));
    CUDA_CHECK(CUDA_NEW(&run->host, plan->first, plan->count + 1));
    for (size_t kind = 0; kind < KINDS; kind++) {
        const size_t from = at;
        for (size_t k = 0; k < plan->count; k++) {
            const program_code *p = &plan->codes[plan->order[k]];
            if (kind_of(p) != kind) continue;
            if ((at - from) % GENERATED_MOST == 0) plan->first[plan->sets++] = at;
            plan->list[at] = p;
            by_kind[at++] = plan->order[k];
            lanes += (double)state->programs[plan->order[k]].instances * (double)run->n;
        }
    }
    plan->first[plan->sets] = at;
    memcpy(plan->order, by_kind, plan->count * sizeof *by_kind);
    plan->width = lanes >= MANY_LANES && run->n >= 2 ? 2 : 1;
done:
    svmp_host_release(&run->host, by_kind);
    return status;
}

/* ---- code -------------------------------------------------------------------------------------------------------- */

/* thread / share = thread*multiplier >> shift, of threads below 2^31: with 2^(s - 1) < share <= 2^s, the multiplier
 * 2^(31 + s) / share, rounded up, has 32 bits, and what rounding adds to the quotient is less than 1 / share. */
void svmp_cuda_share(size_t n, unsigned width, generated_args *made) {
    const uint32_t share = (uint32_t)((n + width - 1) / width);
    uint32_t s = 0;
    made->share = share;
    while ((UINT64_C(1) << s) < share) s++;
    made->shift = 31 + s;
    made->multiplier = (uint32_t)(((UINT64_C(1) << made->shift) + share - 1) / share);
}

static svmp_status fill_sets(cuda_run *run, const compiled_plan *plan, void *const *kernels) {
    cuda *state = run->state;
    CUDA_TRY(CUDA_NEW(&run->host, state->generated, plan->sets));
    for (size_t s = 0; s < plan->sets; s++) {
        generated_args *made = &state->generated[s];
        made->kernel = kernels[s];
        made->n = (uint32_t)run->n;
        svmp_cuda_share(run->n, plan->width, made);
        for (size_t k = plan->first[s]; k < plan->first[s + 1]; k++) {
            const program_args *p = &state->programs[plan->order[k]];
            const size_t blocks = (p->instances * made->share + GENERATED_BLOCK - 1) / GENERATED_BLOCK;
            made->list[made->count++] = (generated_program){p->columns, p->variables, p->gradient, p->instances};
            made->first[made->count] = made->first[made->count - 1] + (uint32_t)blocks;
        }
    }
    state->generated_count = plan->sets;
    return SVMP_OK;
}

/* What is compiled is no longer interpreted. */
static void keep_others(cuda *state, const compiled_plan *plan) {
    size_t left = 0;
    for (size_t k = 0; k < plan->count; k++) state->programs[plan->order[k]].count = 0;
    for (size_t g = 0; g < state->program_count; g++)
        if (state->programs[g].count > 0) state->programs[left++] = state->programs[g];
    state->program_count = left;
}

static svmp_status load_image(cuda_run *run, const compiled_plan *plan, const char *image, size_t bytes, int *loaded) {
    const cuda *state = run->state;
    void **kernels = NULL;
    svmp_status status;
    CUDA_CHECK(CUDA_NEW(&run->host, kernels, plan->sets));
    *loaded = state->ops->load(state->device, image, bytes, plan->sets, kernels) == 0;
    if (*loaded) CUDA_CHECK(fill_sets(run, plan, kernels));
done:
    svmp_host_release(&run->host, kernels);
    return status;
}

static svmp_status compile(cuda_run *run, const compiled_plan *plan, int capability) {
    const svmp_host *host = &run->host;
    nvrtc compiler;
    char *text = NULL, *image = NULL, why[512] = "";
    size_t bytes = 0;
    int loaded = 0;
    svmp_status status = SVMP_OK;
    const int found = svmp_nvrtc_find(&compiler, why, sizeof why);
    if (!found) goto done;
    CUDA_CHECK(svmp_generate(host, plan->sets, plan->first, plan->list, plan->width, &text));
    const kept_key key = {svmp_nvrtc_key(&compiler, text, capability, 1),
                          svmp_nvrtc_key(&compiler, text, capability, 2)};
    CUDA_CHECK(svmp_kept_read(host, key, &image, &bytes));
    if (image) CUDA_CHECK(load_image(run, plan, image, bytes, &loaded));
    if (!loaded) { /* nothing is kept, or nothing that the driver takes */
        svmp_host_release(host, image);
        image = NULL;
        CUDA_CHECK(svmp_nvrtc_compile(host, &compiler, text, capability, &image, &bytes, why, sizeof why));
        if (image == NULL) goto done;
        CUDA_CHECK(load_image(run, plan, image, bytes, &loaded));
        snprintf(why, sizeof why, "the driver does not take what NVRTC %d.%d compiles", compiler.major, compiler.minor);
        if (loaded) svmp_kept_write(host, key, image, bytes);
    }
    if (loaded) keep_others(run->state, plan);
done:
    if (status == SVMP_OK && !loaded)
        svmp_host_log(host, found || compiler.wrong ? SVMP_LOG_WARNING : SVMP_LOG_INFO,
                      "The GPU interprets the model's programs, which takes longer: %s.", why);
    svmp_host_release_all(host, text, image);
    return status;
}

svmp_status svmp_cuda_compile(cuda_run *run, const program_code *codes) {
    const cuda *state = run->state;
    const int capability = state->ops->capability ? state->ops->capability(state->device) : 0;
    compiled_plan plan = {.codes = codes};
    svmp_status status = SVMP_OK;
    if (capability == 0 || state->program_count == 0) return SVMP_OK;
    CUDA_CHECK(CUDA_NEW(&run->host, plan.order, state->program_count));
    CUDA_CHECK(choose(run, &plan));
    if (plan.count == 0) goto done;
    CUDA_CHECK(divide(run, &plan));
    CUDA_CHECK(compile(run, &plan, capability));
done:
    svmp_host_release_all(&run->host, plan.order, plan.list, plan.first);
    return status;
}
