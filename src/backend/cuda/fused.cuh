// A term of a kernel in one launch: distances, their exact median, the kernel and the velocities of a unit, without a
// matrix in memory. For units whose rows fit in the multiprocessor; others take the kernels of pairs.h.
//
//     fused_warp     up to 64 particles in single precision: a warp for each unit, the whole square in registers
//     fused_tile     33 to 56 of them: each pair once
//     fused_ring     a block for each unit, each pair once; distances are computed again whenever they are needed
#include "backend/cuda/search.cuh"

#include "backend/cuda/warp.cuh"

#include "backend/cuda/tile.cuh"

#include "backend/cuda/ring.cuh"

enum { FUSED_MEMBERS = 4 }; // of a unit: more share a matrix better

static int takes_warp(int bits, const pair_args *a) { return bits == 32 && a->n <= WARP_PARTICLES; }

// Single precision has tiles of 8 by 8, or of 4 by 4 for few particles, and double of 4 by 4.
static unsigned ring_tile(int bits, size_t n) { return bits == 32 && n >= 160 ? 8 : 4; }

// Many threads for a unit where units are few.
static unsigned ring_threads(const device *d, size_t units) { return units >= (size_t)d->processors * 3 ? 128 : 256; }

struct ring_shape {
    unsigned blocks, parts, steps, stride;
};

static ring_shape shape_ring(size_t n, unsigned tile, unsigned threads) {
    const unsigned blocks = (unsigned)((n + tile - 1) / tile), most = blocks / 2 + 1;
    unsigned parts = threads / blocks;
    parts = parts < 1 ? 1 : parts < most ? parts : most;
    const unsigned steps = (most + parts - 1) / parts;
    return {blocks, (most + steps - 1) / steps, steps, blocks * tile};
}

// Bytes of shared memory: scores and places of a member, sums of parts, norms, the rows of the domain.
static size_t ring_bytes(int bits, const ring_shape &shape, size_t rows) {
    return (3 + 2 * (size_t)shape.parts + rows) * shape.stride * (size_t)(bits / 8);
}

static int fuses(const device *d, int bits, const pair_args *a) {
    if (a->shape == SHAPE_LINEAR || a->n < 2 || a->n > 16384 || a->most_members > FUSED_MEMBERS) return 0;
    if (takes_warp(bits, a)) return a->longest <= WARP_ROWS;
    const size_t bytes = ring_bytes(bits, shape_ring(a->n, ring_tile(bits, a->n), 256), a->longest);
    return 2 * (bytes + sizeof(ring_room<double>) + 1024) <= (size_t)d->shared_most; // two shall fit
}

template <int ROWS, int COLUMNS, int SHAPE> static void run_warp(device *d, const pair_args *a) {
    constexpr int at_once = COLUMNS == 1 ? 5 : SHAPE == SHAPE_RBF ? 3 : 2; // blocks, by their registers
    const unsigned blocks = (unsigned)((a->units + WARP_UNITS - 1) / WARP_UNITS);
    auto *kernel = a->rule == RULE_FIXED ? fused_warp<ROWS, COLUMNS, SHAPE, false, at_once>
                                         : fused_warp<ROWS, COLUMNS, SHAPE, true, at_once>;
    kernel<<<blocks, 32 * WARP_UNITS, 0, d->stream>>>(*a, &d->report->halted);
}

template <int SHAPE, bool WHOLE> static void run_tile(device *d, const pair_args *a, const whole_args &w) {
    const size_t most = (size_t)d->processors * (SHAPE == SHAPE_RBF ? TILE_AT_ONCE : TILE_AT_ONCE - 1);
    const unsigned warps = a->units >= most * WARP_UNITS ? WARP_UNITS : 1; // few units are spread over processors
    const size_t blocks = (a->units + warps - 1) / warps;
    auto *kernel = a->rule == RULE_FIXED ? fused_tile<SHAPE, false, WHOLE> : fused_tile<SHAPE, true, WHOLE>;
    cudaLaunchAttribute early = {};
    cudaLaunchConfig_t how = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    how.gridDim = dim3((unsigned)(warps == 1 || blocks < most ? blocks : most));
    how.blockDim = dim3(32 * warps);
    how.stream = d->stream;
    how.attrs = &early;
    how.numAttrs = WHOLE && d->waits ? 1 : 0;
    cudaLaunchKernelEx(&how, kernel, *a, w);
}

template <int SHAPE> static void choose_warp(device *d, const pair_args *a) {
    if (a->n <= 16)
        run_warp<16, 1, SHAPE>(d, a);
    else if (a->n <= 32)
        run_warp<32, 1, SHAPE>(d, a);
    else if (a->n <= TILE_PARTICLES)
        run_tile<SHAPE, false>(d, a, {.report = d->report});
    else
        run_warp<64, 2, SHAPE>(d, a);
}

template <class Real, int T, int TH, int SHAPE> static int run_ring(device *d, const pair_args *a) {
    auto *kernel = a->rule == RULE_FIXED ? fused_ring<Real, T, TH, SHAPE, false> : fused_ring<Real, T, TH, SHAPE, true>;
    const int bits = 8 * (int)sizeof(Real);
    const ring_shape shape = shape_ring(a->n, T, TH);
    const ring<Real, T> r = {shape.blocks, shape.parts, shape.steps, shape.stride};
    const size_t bytes = ring_bytes(bits, shape, a->longest), most = (size_t)d->processors * 32;
    const unsigned blocks = (unsigned)(a->units < most ? a->units : most);
    if (check(d, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes))) return 1;
    kernel<<<blocks, TH, bytes, d->stream>>>(*a, r, &d->report->halted);
    return 0;
}

template <class Real, int T, int SHAPE> static int choose_ring(device *d, const pair_args *a) {
    return ring_threads(d, a->units) == 128 ? run_ring<Real, T, 128, SHAPE>(d, a) : run_ring<Real, T, 256, SHAPE>(d, a);
}

template <int SHAPE> static int choose(device *d, int bits, const pair_args *a) {
    if (takes_warp(bits, a)) return choose_warp<SHAPE>(d, a), 0;
    if (bits == 64) return choose_ring<double, 4, SHAPE>(d, a);
    return ring_tile(bits, a->n) == 8 ? choose_ring<float, 8, SHAPE>(d, a) : choose_ring<float, 4, SHAPE>(d, a);
}

static int fused(device *d, int bits, const pair_args *a) {
    const int failed = a->shape == SHAPE_RBF ? choose<SHAPE_RBF>(d, bits, a) : choose<SHAPE_IMQ>(d, bits, a);
    return failed ? 1 : check(d, cudaGetLastError());
}

static int takes_tile(int bits, const pair_args *a) {
    return takes_warp(bits, a) && a->n >= TILE_LEAST && a->n <= TILE_PARTICLES && a->shape != SHAPE_LINEAR;
}

static int iterates(const device *d, int bits, const pair_args *a) { return takes_tile(bits, a) && fuses(d, bits, a); }

static int iterate(device *d, int bits, const iteration_args *args) {
    const whole_args w = {args->score, args->step, args->z, args->scored, d->report, next_told(d)};
    (void)bits;
    if (args->pair.shape == SHAPE_RBF)
        run_tile<SHAPE_RBF, true>(d, &args->pair, w);
    else
        run_tile<SHAPE_IMQ, true>(d, &args->pair, w);
    return check(d, cudaGetLastError());
}
