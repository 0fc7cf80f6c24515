// A term of a kernel in one launch: distances, their exact median, the kernel and the velocities of a unit, without a
// matrix in memory. For units whose rows fit in the multiprocessor; others take the kernels of pairs.h.
//
//     fused_tile     up to 64 particles in single precision: a warp for each unit, all distances in registers
//     quick_tile     whole iterations of usual units, the same with tensor cores
//     fused_many     the same where units have many rows or several members
//     fused_wide     a block for each of these where they are few
//     fused_ring     a block for each unit; distances are computed again whenever they are needed
//     fused_tensor   the same with tensor cores; also whole iterations. Domains of few rows and of many have their own
#include "cuda/median_search.cuh"

#include "cuda/tile_term.cuh"

#include "cuda/tile_search.cuh"

#include "cuda/tile_unit.cuh"

#include "cuda/launch_queue.cuh"

#include "cuda/ring_term.cuh"

#include "cuda/tensor_term.cuh"

#include "cuda/tensor_wide.cuh"

#include "cuda/tensor_search.cuh"

#include "cuda/tensor_velocity.cuh"

#include "cuda/quick_pairs.cuh"

#include "cuda/quick_term.cuh"

#include "cuda/wide_term.cuh"

#include "cuda/wide_search.cuh"

#include "cuda/wide_unit.cuh"

#include "cuda/many_pairs.cuh"

#include "cuda/many_search.cuh"

#include "cuda/many_units.cuh"

enum { FUSED_MEMBERS = TILE_MEMBERS };

enum { WIDE_UNITS = 10, WIDE_FEW_UNITS = 6 }; // for a multiprocessor; of few rows

static int takes_tile(int bits, const pair_args *a) { return bits == 32 && a->n <= TILE_MOST; }

// Single precision has tiles of 8 by 8, or of 4 by 4 for few particles, and double of 4 by 4.
static unsigned ring_tile(int bits, size_t n) { return bits == 32 && n >= 160 ? 8 : 4; }

// Many threads for a unit where units are few.
static unsigned ring_threads(const device *d, size_t units) { return units >= (size_t)d->processors * 3 ? 128 : 256; }

struct ring_shape {
    unsigned blocks, parts, steps, stride, sums;
};

enum { RING_OWN_SUMS = 1024 }; // particles up to which warps have sums of their own

static ring_shape shape_ring(int bits, size_t n, unsigned tile, unsigned threads) {
    const unsigned blocks = (unsigned)((n + tile - 1) / tile), most = blocks / 2 + 1;
    unsigned parts = threads / blocks;
    parts = parts < 1 ? 1 : parts < most ? parts : most;
    const unsigned steps = (most + parts - 1) / parts;
    parts = (most + steps - 1) / steps;
    const unsigned warps = bits == 32 && n <= RING_OWN_SUMS ? threads / 32 : 1;
    return {blocks, parts, steps, blocks * tile, parts > 1 ? parts : warps};
}

// Bytes of shared memory: scores and places of a member, sums of parts, norms, the rows of the domain.
static size_t ring_bytes(int bits, const ring_shape &shape, size_t rows) {
    return (3 + 2 * (size_t)shape.sums + rows) * shape.stride * (size_t)(bits / 8);
}

static tensor_shape shape_tensor(const device *d, size_t n, size_t rows) {
    const unsigned groups = (unsigned)((n + TENSOR_GROUP - 1) / TENSOR_GROUP), tiles = (unsigned)((n + 15) / 16);
    return {groups * TENSOR_GROUP,
            tiles,
            groups * tiles - 2 * groups * (groups - 1),
            (unsigned)((n + 7) / 16),
            rows <= TENSOR_ROWS ? 0 : tensor_wide_chunks(rows),
            d->once};
}

// Bytes of shared memory: what tensor_room or tensor_wide_room has, or the ring of units that do not suit.
static size_t tensor_bytes(const tensor_shape &shape, const ring_shape &other, size_t rows, unsigned threads) {
    const size_t words = shape.chunks ? tensor_wide_room::EACH * (size_t)shape.chunks : (size_t)tensor_room::EACH;
    const size_t own = shape.places * (words + 2 * sizeof(float) + threads / 32 * sizeof(float2));
    const size_t its = ring_bytes(32, other, rows);
    return own > its ? own : its;
}

// Few threads for a unit where units are many, unless its rows take much of the shared memory.
static unsigned tensor_threads(const device *d, const pair_args *a) {
    if (a->n > 256 || a->units < (size_t)d->processors * 6 || a->longest > TENSOR_SOME_ROWS) return 256;
    return a->longest <= TENSOR_FEW_ROWS ? TENSOR_FEW : TENSOR_SOME;
}

static int takes_tensor(const device *d, int bits, const pair_args *a) {
    if (!d->tensors || bits != 32 || a->n <= TILE_MOST || a->n > TENSOR_MOST || a->longest > TENSOR_MOST_ROWS) return 0;
    return tensor_bytes(shape_tensor(d, a->n, a->longest), shape_ring(32, a->n, 8, 256), a->longest, 256) +
               sizeof(ring_room<float>) + 1024 <=
           (size_t)d->shared_most;
}

// Units that have no record: several members, or many rows. Where there are many of them, a warp each is faster.
static int takes_many(const device *d, int bits, const pair_args *a) {
    return d->tensors && takes_tile(bits, a) && (a->most_members > 1 || a->longest > UNIT_ENTRIES);
}
static int takes_wide(const device *d, int bits, const pair_args *a) {
    return takes_many(d, bits, a) &&
           a->units < (size_t)d->processors * (a->longest > MANY_DEPTH ? WIDE_UNITS : WIDE_FEW_UNITS);
}

static int fuses(const device *d, int bits, const pair_args *a) {
    if (a->shape == SVMP_SHAPE_LINEAR || a->n < 2 || a->n > 16384 || a->most_members > FUSED_MEMBERS) return 0;
    if (takes_tile(bits, a)) return a->longest <= TILE_ROWS;
    if (takes_tensor(d, bits, a)) return 1;
    const size_t bytes = ring_bytes(bits, shape_ring(bits, a->n, ring_tile(bits, a->n), 256), a->longest);
    return 2 * (bytes + sizeof(ring_room<double>) + 1024) <= (size_t)d->shared_most; // two shall fit
}

// Warps of tiles: WHOLE iterations, which report to the host, or terms alone.
template <bool WHOLE>
static int run_tile(device *d, tile_kernel_function kernel, int at_once, unsigned of_block, size_t each_warp,
                    const pair_args *a, const whole_args &w) {
    const size_t fit = ((size_t)d->shared_most + 1024) / (each_warp * of_block + 1024 + 16); // by shared memory
    const size_t most = (size_t)d->processors * (each_warp && fit < (size_t)at_once ? fit : (size_t)at_once);
    const unsigned warps = a->units >= most * of_block ? of_block : 1; // few units are spread over processors
    const size_t needed = (a->units + warps - 1) / warps;
    const dim3 grid((unsigned)(warps == 1 || needed < most ? needed : most) + (WHOLE ? 1 : 0)), block(32 * warps);
    const bool small = a->units <= (size_t)d->processors * 4;
    if (each_warp && allow_shared(d, kernel)) return 1;
    if (WHOLE && small && d->waits && !w.step.awaited) return put_off(d, kernel, grid, block, each_warp * warps, *a, w);
    if (flush(d)) return 1;
    return launch_next(d, kernel, grid, block, each_warp * warps, *a, w,
                       WHOLE ? next_step(d, w.step.awaited) : gate_of(d));
}

template <bool WHOLE, int NT, int ROWS, int SHAPE>
static int run_quick(device *d, const pair_args *a, const whole_args &w) {
    return run_tile<WHOLE>(d, quick_tile<NT, ROWS, SHAPE>, quick_blocks<NT, ROWS>(), QUICK_WARPS,
                           sizeof(quick_room<NT, ROWS>), a, w);
}

template <bool WHOLE, int SHAPE> static int choose_quick(device *d, const pair_args *a, const whole_args &w) {
    enum { FEW = QUICK_TWICE, MANY = UNIT_ENTRIES };
    if (a->longest > FEW)
        return a->n <= 32   ? run_quick<WHOLE, 4, MANY, SHAPE>(d, a, w)
               : a->n <= 56 ? run_quick<WHOLE, 7, MANY, SHAPE>(d, a, w)
                            : run_quick<WHOLE, 8, MANY, SHAPE>(d, a, w);
    return a->n <= 16   ? run_quick<WHOLE, 2, FEW, SHAPE>(d, a, w)
           : a->n <= 32 ? run_quick<WHOLE, 4, FEW, SHAPE>(d, a, w)
           : a->n <= 56 ? run_quick<WHOLE, 7, FEW, SHAPE>(d, a, w)
                        : run_quick<WHOLE, 8, FEW, SHAPE>(d, a, w);
}

template <int T, int SHAPE> static int run_term(device *d, const pair_args *a) {
    auto *kernel = a->most_members > 1 ? fused_tile<T, SHAPE, false, true> : fused_tile<T, SHAPE, false, false>;
    return run_tile<false>(d, kernel, tile_blocks<T, SHAPE>(), TILE_WARPS, 0, a, whole_args());
}

template <int T, int SHAPE> static int run_whole(device *d, const pair_args *a, const whole_args &w) {
    return run_tile<true>(d, fused_tile<T, SHAPE, true, true>, tile_blocks<T, SHAPE>(), TILE_WARPS, 0, a, w);
}

template <int NT, int SHAPE, bool WHOLE> static int run_many(device *d, const pair_args *a, const whole_args &w) {
    return run_tile<WHOLE>(d, fused_many<NT, SHAPE, WHOLE>, many_blocks<NT, SHAPE>(), TILE_WARPS, 0, a, w);
}

template <int SHAPE, bool WHOLE> static int choose_many(device *d, const pair_args *a, const whole_args &w) {
    return a->n <= 16   ? run_many<2, SHAPE, WHOLE>(d, a, w)
           : a->n <= 32 ? run_many<4, SHAPE, WHOLE>(d, a, w)
           : a->n <= 56 ? run_many<7, SHAPE, WHOLE>(d, a, w)
                        : run_many<8, SHAPE, WHOLE>(d, a, w);
}

template <int SHAPE> static int choose_term(device *d, const pair_args *a) {
    if (a->recorded && d->tensors) return choose_quick<false, SHAPE>(d, a, whole_args());
    if (takes_many(d, 32, a)) return choose_many<SHAPE, false>(d, a, whole_args());
    return a->n <= 16   ? run_term<2, SHAPE>(d, a)
           : a->n <= 32 ? run_term<4, SHAPE>(d, a)
           : a->n <= 56 ? run_term<7, SHAPE>(d, a)
                        : run_term<8, SHAPE>(d, a);
}

template <int SHAPE> static int choose_whole(device *d, const pair_args *a, const whole_args &w) {
    if (w.record) return choose_quick<true, SHAPE>(d, a, w);
    if (takes_many(d, 32, a)) return choose_many<SHAPE, true>(d, a, w);
    return a->n <= 16   ? run_whole<2, SHAPE>(d, a, w)
           : a->n <= 32 ? run_whole<4, SHAPE>(d, a, w)
           : a->n <= 56 ? run_whole<7, SHAPE>(d, a, w)
                        : run_whole<8, SHAPE>(d, a, w);
}

template <int TILES, int SHAPE, bool WHOLE> static int run_wide(device *d, const pair_args *a, const whole_args &w) {
    auto *kernel = fused_wide<TILES, SHAPE, WHOLE>;
    const unsigned n = (unsigned)a->n, places = (n + 15) / 16 * 16, splits = (places / 8 + TILES - 1) / TILES;
    const dim3 block(32 * wide_lane<TILES>::warps_for(n));
    const size_t bytes = wide_room::bytes(*a, places, splits), most = (size_t)d->processors * 32;
    const dim3 grid((unsigned)(a->units < most ? a->units : most) + (WHOLE ? 1 : 0));
    if (allow_shared(d, kernel)) return 1;
    const bool small = a->units <= (size_t)d->processors * 4;
    if (WHOLE && small && d->waits && !w.step.awaited) return put_off(d, kernel, grid, block, bytes, *a, w);
    if (flush(d)) return 1;
    return launch_next(d, kernel, grid, block, bytes, *a, w, WHOLE ? next_step(d, w.step.awaited) : gate_of(d));
}

// Twice as many warps for a unit where units are few.
template <int SHAPE, bool WHOLE> static int choose_wide(device *d, const pair_args *a, const whole_args &w) {
    return a->units < (size_t)d->processors * WIDE_UNITS / 2 ? run_wide<4, SHAPE, WHOLE>(d, a, w)
                                                             : run_wide<8, SHAPE, WHOLE>(d, a, w);
}

template <class Real, int T, int TH, int SHAPE> static int run_ring(device *d, const pair_args *a) {
    auto *kernel = fused_ring<Real, T, TH, SHAPE>;
    const int bits = 8 * (int)sizeof(Real);
    const ring_shape shape = shape_ring(bits, a->n, T, TH);
    const ring<Real, T> r = {shape.blocks, shape.parts, shape.steps, shape.stride, shape.sums};
    const size_t bytes = ring_bytes(bits, shape, a->longest), most = (size_t)d->processors * 32;
    const unsigned blocks = (unsigned)(a->units < most ? a->units : most);
    if (allow_shared(d, kernel)) return 1;
    kernel<<<blocks, TH, bytes, d->stream>>>(*a, r, gate_of(d));
    return 0;
}

template <class Real, int T, int SHAPE> static int choose_ring(device *d, const pair_args *a) {
    return ring_threads(d, a->units) == 128 ? run_ring<Real, T, 128, SHAPE>(d, a) : run_ring<Real, T, 256, SHAPE>(d, a);
}

template <int SHAPE> static int choose(device *d, int bits, const pair_args *a) {
    if (takes_tile(bits, a)) return choose_term<SHAPE>(d, a);
    if (bits == 64) return choose_ring<double, 4, SHAPE>(d, a);
    return ring_tile(bits, a->n) == 8 ? choose_ring<float, 8, SHAPE>(d, a) : choose_ring<float, 4, SHAPE>(d, a);
}

template <int TH, int SHAPE, bool WHOLE, class Room>
static int run_tensor(device *d, const pair_args *a, const whole_args &w) {
    auto *kernel = fused_tensor<TH, SHAPE, WHOLE, Room>;
    const ring_shape other = shape_ring(32, a->n, 8, TH);
    const ring<float, 8> r = {other.blocks, other.parts, other.steps, other.stride, other.sums};
    const tensor_shape shape = shape_tensor(d, a->n, a->longest);
    const size_t bytes = tensor_bytes(shape, other, a->longest, TH);
    if (allow_shared(d, kernel)) return 1;
    if (WHOLE && (d->counted != (const void *)kernel || d->counted_bytes != bytes)) {
        if (check(d, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&d->fit, kernel, TH, bytes))) return 1;
        if (d->fit < 1) return check(d, cudaErrorInvalidConfiguration);
        d->counted = (const void *)kernel;
        d->counted_bytes = bytes;
    }
    const size_t most = (size_t)d->processors * (WHOLE ? (size_t)d->fit : 64);
    const unsigned blocks = (unsigned)(a->units < most ? a->units : most) + (WHOLE ? 1 : 0);
    return launch_early(d, kernel, blocks, TH, bytes, WHOLE && d->waits, *a, w, shape, r,
                        WHOLE ? next_step(d, w.step.awaited) : gate_of(d));
}

template <int SHAPE, bool WHOLE> static int choose_tensor(device *d, const pair_args *a, const whole_args &w) {
    const unsigned threads = tensor_threads(d, a);
    if (a->longest <= TENSOR_ROWS)
        return threads == TENSOR_FEW ? run_tensor<TENSOR_FEW, SHAPE, WHOLE, tensor_room>(d, a, w)
                                     : run_tensor<256, SHAPE, WHOLE, tensor_room>(d, a, w);
    return threads == TENSOR_FEW    ? run_tensor<TENSOR_FEW, SHAPE, WHOLE, tensor_wide_room>(d, a, w)
           : threads == TENSOR_SOME ? run_tensor<TENSOR_SOME, SHAPE, WHOLE, tensor_wide_room>(d, a, w)
                                    : run_tensor<256, SHAPE, WHOLE, tensor_wide_room>(d, a, w);
}

static int fused(device *d, int bits, const pair_args *a) {
    if (enter(d) || flush(d)) return 1;
    if (takes_tensor(d, bits, a))
        return a->shape == SVMP_SHAPE_RBF ? choose_tensor<SVMP_SHAPE_RBF, false>(d, a, whole_args())
                                     : choose_tensor<SVMP_SHAPE_IMQ, false>(d, a, whole_args());
    if (takes_wide(d, bits, a))
        return a->shape == SVMP_SHAPE_RBF ? choose_wide<SVMP_SHAPE_RBF, false>(d, a, whole_args())
                                     : choose_wide<SVMP_SHAPE_IMQ, false>(d, a, whole_args());
    const int failed = a->shape == SVMP_SHAPE_RBF ? choose<SVMP_SHAPE_RBF>(d, bits, a) : choose<SVMP_SHAPE_IMQ>(d, bits, a);
    return failed ? 1 : check(d, cudaGetLastError());
}

static int iterates(const device *d, int bits, const pair_args *a) {
    if (!(takes_tile(bits, a) || takes_tensor(d, bits, a)) || !fuses(d, bits, a)) return 0;
    if (takes_wide(d, bits, a)) return ITERATES_GATHERS;
    if (takes_many(d, bits, a)) return ITERATES_PLACES;
    return takes_tile(bits, a) && d->tensors ? ITERATES_RECORDS : ITERATES;
}

static int iterate(device *d, int bits, const iteration_args *args) {
    const whole_args w = {args->score, args->step,   args->z,           args->scored, args->record,
                          args->drawn, args->placed, args->placed_next, args->gather, 1.0f / (float)args->pair.n};
    if (enter(d)) return 1;
    if (takes_tensor(d, bits, &args->pair)) {
        if (flush(d)) return 1;
        return args->pair.shape == SVMP_SHAPE_RBF ? choose_tensor<SVMP_SHAPE_RBF, true>(d, &args->pair, w)
                                             : choose_tensor<SVMP_SHAPE_IMQ, true>(d, &args->pair, w);
    }
    if (takes_wide(d, bits, &args->pair))
        return args->pair.shape == SVMP_SHAPE_RBF ? choose_wide<SVMP_SHAPE_RBF, true>(d, &args->pair, w)
                                             : choose_wide<SVMP_SHAPE_IMQ, true>(d, &args->pair, w);
    return args->pair.shape == SVMP_SHAPE_RBF ? choose_whole<SVMP_SHAPE_RBF>(d, &args->pair, w)
                                         : choose_whole<SVMP_SHAPE_IMQ>(d, &args->pair, w);
}
