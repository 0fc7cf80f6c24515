// A term of a kernel, a block of threads for each unit, for any number of particles whose rows fit in shared memory.
// The particles are blocks of T in a ring of R. A thread has the rows of one block, I, and walks the blocks I + k, k =
// 0 ... R/2, so that every pair of blocks is met once; with threads to spare the walk is cut into parts. Distances are
// computed twice, to count them and for the sums. All threads of a part are at the same k, hence at different columns,
// and a barrier ends each step: sums of columns go to the memory of the part, in an order that is always the same. A
// walk of one part has memory for each warp, where there is room, and needs no barriers.

template <class Real, int T> struct ring {
    static constexpr int WIDE = 16 / (int)sizeof(Real); // numbers that are loaded at once
    struct alignas(16) wide {
        Real v[WIDE];
    };
    unsigned blocks, parts, steps, stride; // R; parts of a walk; steps of a part; R T
    unsigned sums;                         // places where sums of columns are kept: parts, warps, or one

    // Where a particle is in a row: threads that read blocks side by side read 16 bytes side by side.
    __device__ __forceinline__ unsigned place(unsigned l) const {
        return (l % T / WIDE * blocks + l / T) * WIDE + l % WIDE;
    }
    __device__ __forceinline__ void load(const Real *row, unsigned block, Real (&to)[T]) const {
#pragma unroll
        for (int g = 0; g < T / WIDE; g++) {
            const wide v = ((const wide *)row)[g * blocks + block];
#pragma unroll
            for (int e = 0; e < WIDE; e++) to[g * WIDE + e] = v.v[e];
        }
    }
    __device__ __forceinline__ void store(Real *row, unsigned block, const Real (&from)[T]) const {
#pragma unroll
        for (int g = 0; g < T / WIDE; g++) {
            wide v;
#pragma unroll
            for (int e = 0; e < WIDE; e++) v.v[e] = from[g * WIDE + e];
            ((wide *)row)[g * blocks + block] = v;
        }
    }
};

// What a block of threads works on.
template <class Real> struct ring_unit {
    const Real *rows, *norm; // of the domain, and the squared norms of particles
    unsigned count;
    bool products; // distances are halved, |x|^2/2 + |y|^2/2 - x.y, see tile.cuh
};

template <class Real, int T>
static __device__ __forceinline__ void ring_distances(const ring<Real, T> &r, const ring_unit<Real> &of, unsigned block,
                                                      unsigned other, Real (&d)[T][T]) {
    Real x[T], y[T];
    if (of.products) {
        r.load(of.norm, block, x);
        r.load(of.norm, other, y);
#pragma unroll
        for (int p = 0; p < T; p++)
#pragma unroll
            for (int q = 0; q < T; q++) d[p][q] = x[p] + y[q];
        const Real *row = of.rows;
        for (unsigned e = 0; e < of.count; e++, row += r.stride) {
            r.load(row, block, x);
            r.load(row, other, y);
#pragma unroll
            for (int p = 0; p < T; p++)
#pragma unroll
                for (int q = 0; q < T; q++) d[p][q] = fused_product(-x[p], y[q], d[p][q]);
        }
        return;
    }
#pragma unroll
    for (int p = 0; p < T; p++)
#pragma unroll
        for (int q = 0; q < T; q++) d[p][q] = 0;
    const Real *row = of.rows;
    for (unsigned e = 0; e < of.count; e++, row += r.stride) {
        r.load(row, block, x);
        r.load(row, other, y);
#pragma unroll
        for (int p = 0; p < T; p++)
#pragma unroll
            for (int q = 0; q < T; q++) d[p][q] = fused_add(x[p] - y[q], d[p][q]);
    }
}

enum { RING_LIST = 512 };

template <class Real> struct ring_room {
    alignas(16) Real list[RING_LIST];
    unsigned pair[RING_LIST];         // l | m << 16
    unsigned counts[2], listed, next; // the unit that comes next
    typename bits_type<Real>::type below, above, furthest;
    double h;
    Real found[2], norm[32]; // of warps, added up
};

// The walk of a thread: `what` gets the block, the other and k. Threads of a warp stay side by side.
template <int TH, class Real, int T, class What>
static __device__ __forceinline__ void ring_walk(const ring<Real, T> &r, What what) {
    const unsigned part = threadIdx.x / r.blocks, half = r.blocks / 2,
                   turns = r.parts > 1 ? 1 : (r.blocks + TH - 1) / TH;
    unsigned block = threadIdx.x - part * r.blocks;
    if (r.parts == 1) block = threadIdx.x;
    for (unsigned turn = 0; turn < turns; turn++, block += TH) {
        const bool mine = block < r.blocks && (r.parts == 1 || part < r.parts);
        unsigned k = r.parts == 1 ? 0 : part * r.steps, other = block + k < r.blocks ? block + k : block + k - r.blocks;
        for (unsigned step = 0; step < r.steps; step++, k++) {
            if (mine && k <= half && !(r.blocks % 2 == 0 && k == half && block >= half)) what(block, other, k);
            if (++other == r.blocks) other = 0;
            __syncwarp();
        }
    }
}

// A distance again, from the same numbers in the same order: the same bits.
template <class Real, int T>
static __device__ __forceinline__ Real ring_again(const ring<Real, T> &r, const ring_unit<Real> &of, unsigned l,
                                                  unsigned m) {
    const unsigned at = r.place(l), there = r.place(m);
    const Real *row = of.rows;
    Real sum = of.products ? of.norm[at] + of.norm[there] : 0;
    for (unsigned e = 0; e < of.count; e++, row += r.stride)
        sum = of.products ? fused_product(-row[at], row[there], sum) : fused_add(row[at] - row[there], sum);
    return sum;
}

// Counts below a pivot, one, and below another, two, in a pass that lists the pairs between them. The signs of
// differences are the bits of a mask; the smallest of the differences that are not negative, as bits, says whether a
// tile has something to list.
template <class Real, int T, int TH>
static __device__ __forceinline__ void ring_count(const ring<Real, T> &r, const ring_unit<Real> &of, Real first,
                                                  Real second, ring_room<Real> &room, unsigned &one, unsigned &two) {
    typedef typename bits_type<Real>::type bits;
    enum { WORDS = T * T > 32 ? T * T / 32 : 1, EACH_WORD = T * T / WORDS };
    const bits width = to_bits((Real)(second - first));
    one = two = 0;
    ring_walk<TH>(r, [&](unsigned block, unsigned other, unsigned k) {
        Real d[T][T];
        bits least = ~(bits)0;
        unsigned mask[WORDS] = {}, valid[WORDS];
        ring_distances(r, of, block, other, d);
#pragma unroll
        for (int e = 0; e < T * T; e++) {
            const Real apart = d[e / T][e % T] - first;
            push_sign(mask[e / EACH_WORD], apart);
            least = min(least, to_bits(apart));
        }
        valid[0] = T == 8 ? 0x7f3f1f0fu : 0x7310u; // within a block every pair stands twice
        if (WORDS > 1) valid[WORDS - 1] = 0x07030100u;
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
            valid[w] = k == 0 ? valid[w] : ~0u;
            one += __popc(mask[w] & valid[w]);
        }
        if (least > width) return; // none from the first to the second
        unsigned upto[WORDS] = {};
#pragma unroll
        for (int e = 0; e < T * T; e++) push_sign(upto[e / EACH_WORD], d[e / T][e % T] - second);
#pragma unroll
        for (int w = 0; w < WORDS; w++)
            for (unsigned left = upto[w] & ~mask[w] & valid[w]; left; left &= left - 1) {
                const unsigned e = EACH_WORD - __ffs(left) + w * EACH_WORD, at = atomicAdd(&room.listed, 1u);
                if (at < RING_LIST) room.pair[at] = (T * block + e / T) | (T * other + e % T) << 16;
                two++;
            }
    });
    two += one;
}

template <class Real, int T, int TH>
static __device__ void ring_middle(const ring<Real, T> &r, const ring_unit<Real> &of, bracket<Real> &s,
                                   ring_room<Real> &room) {
    typedef typename bits_type<Real>::type bits;
    for (;;) {
        unsigned one, two;
        if (threadIdx.x == 0)
            room.counts[0] = room.counts[1] = room.listed = 0, room.below = 0, room.above = bits_type<Real>::infinity;
        __syncthreads();
        const Real first = s.first, second = s.second;
        ring_count<Real, T, TH>(r, of, first, second, room, one, two);
        one = warp_sum(one);
        two = warp_sum(two);
        if (threadIdx.x % 32 == 0) atomicAdd(&room.counts[0], one), atomicAdd(&room.counts[1], two);
        __syncthreads();
        one = room.counts[0], two = room.counts[1];
        const unsigned left = room.listed;
        const bool first_between = search_take(s, first, one), second_between = search_take(s, second, two);
        if (first_between || second_between) { // the largest below, and the smallest above
            const Real pivot = first_between ? first : second;
            bits below = 0, above = bits_type<Real>::infinity;
            ring_walk<TH>(r, [&](unsigned block, unsigned other, unsigned k) {
                Real d[T][T];
                ring_distances(r, of, block, other, d);
#pragma unroll
                for (int p = 0; p < T; p++)
#pragma unroll
                    for (int q = 0; q < T; q++) {
                        if ((k > 0 || q > p) && d[p][q] < pivot && d[p][q] > 0) below = max(below, to_bits(d[p][q]));
                        if ((k > 0 || q > p) && d[p][q] >= pivot) above = min(above, to_bits(d[p][q]));
                    }
            });
            atomicMax(&room.below, below);
            atomicMin(&room.above, above);
            __syncthreads();
            if (threadIdx.x == 0) room.found[0] = from_bits(room.below), room.found[1] = from_bits(room.above);
            break;
        }
        if (search_ended(s)) {
            if (threadIdx.x == 0) room.found[0] = room.found[1] = s.low;
            break;
        }
        if (s.low == first && s.high == second && left <= RING_LIST) { // all that are left are listed, in any order
            for (unsigned k = threadIdx.x; k < left; k += TH)
                room.list[k] = ring_again(r, of, room.pair[k] & 0xffffu, room.pair[k] >> 16);
            __syncthreads();
            for (unsigned k = threadIdx.x; k < left; k += TH) {
                const Real value = room.list[k];
                unsigned rank = 0;
                for (unsigned j = 0; j < left; j++) rank += room.list[j] < value || (room.list[j] == value && j < k);
                if (rank == s.lower - s.below) room.found[0] = value;
                if (rank == s.upper - s.below) room.found[1] = value;
            }
            break;
        }
        search_on(s);
        __syncthreads(); // all have read the counts
    }
    __syncthreads();
}

#include "cuda/ring_velocity.cuh"

// ---- units ----------------------------------------------------------------------------------------------------------

// Where the scores of a member come from and where its velocities go: those of a term are added up in phi. All threads
// of the block finish a member.
struct term_member {
    const whole_args *w; // as whole_member: not used
    double largest;
    int wrong;

    struct scores {
        const double *row;
        __device__ __forceinline__ double at(unsigned l) const { return row[l]; }
    };
    __device__ __forceinline__ scores scores_of(const pair_args &a, size_t i) const { return {a.score + i * a.n}; }
    __device__ __forceinline__ scores scores_of(const pair_args &a, const unit_header &h) const {
        return scores_of(a, h.variable);
    }
    struct state {};
    __device__ __forceinline__ state ahead(const pair_args &, size_t, unsigned) const { return {}; }
    __device__ __forceinline__ double put(const pair_args &a, size_t i, unsigned l, double velocity, state = {}) {
        put_velocity(a, i * a.n + l, velocity);
        return 0;
    }
    __device__ __forceinline__ void finish(const pair_args &, size_t, const double * = nullptr) {}
};

// All of unit u, in `dynamic` shared memory.
template <class Real, int T, int TH, int SHAPE, class Member>
static __device__ void ring_do(const pair_args &a, const ring<Real, T> &r, size_t u, double *dynamic,
                               ring_room<Real> &room, Member &member) {
    const unsigned n = (unsigned)a.n;
    const bool ranked = a.rule != RULE_FIXED;
    const Real *z = (const Real *)a.z;
    Real *score = (Real *)dynamic, *place = score + r.stride, *sums = place + r.stride,
         *norm = sums + 2 * (size_t)r.sums * r.stride, *rows = norm + r.stride;
    const size_t begin = a.begin[u], first = a.member_start[a.first + u], members = a.member_start[a.first + u + 1];
    ring_unit<Real> of = {rows, norm, (unsigned)(a.end[u] - begin), false};
    double *guess = a.guess + 3 * (a.first + u), h = a.fixed;
    const size_t leader = first < members ? a.term_variable[first] : 0;
    const typename Member::scores scores = member.scores_of(a, leader);
    __syncthreads();
    if (threadIdx.x == 0) room.furthest = 0;
    for (unsigned m = threadIdx.x; m < r.stride; m += TH) { // all that is read is under way together
        const unsigned at = r.place(m);
        score[at] = m < n ? (Real)scores.at(m) : 0;
        place[at] = m < n ? z[leader * n + m] : 0;
#pragma unroll 8
        for (unsigned e = 0; e < of.count; e++)
            rows[e * r.stride + at] = m < n ? z[(size_t)a.domain[begin + e] * n + m] : 0;
    }
    __syncthreads();
    Real largest = 0, mean = 0;
    for (unsigned m = threadIdx.x; m < r.stride; m += TH) {
        Real square = 0;
        for (unsigned e = 0; e < of.count; e++) square = fused_add(rows[e * r.stride + r.place(m)], square);
        norm[r.place(m)] = m < n ? (Real)0.5 * square : (Real)1e30;
        largest = square <= largest ? largest : square; // NaN stays
        mean += square;
    }
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) mean += __shfl_xor_sync(0xffffffffu, mean, apart);
    if (threadIdx.x % 32 == 0) room.norm[threadIdx.x / 32] = mean;
    atomicMax(&room.furthest, to_bits(largest)); // NaN is the largest
    __syncthreads();
    mean = 0;
    for (int w = 0; w < TH / 32; w++) mean += room.norm[w];
    const Real furthest = from_bits(room.furthest);
    of.products = uses_products(furthest, mean / (Real)n);
    if (!ranked && !(furthest <= PRODUCT_REACH * (Real)a.fixed)) of.products = false;
    for (bool again = false;; again = true) {
        bracket<Real> s;
        if (again || !of.products) { // particles that are not there stand far from all others
            of.products = false;
            for (unsigned m = n + threadIdx.x; m < r.stride; m += TH)
                for (unsigned e = 0; e < of.count; e++) rows[e * r.stride + r.place(m)] = nowhere<Real>(m);
            __syncthreads();
        }
        if (!ranked) break;
        search_begin(s, a, u, guess, (unsigned)(a.n * (a.n - 1) / 2));
        if (of.products) s.first *= (Real)0.5, s.second *= (Real)0.5;
        ring_middle<Real, T, TH>(r, of, s, room);
        if (!of.products || furthest <= PRODUCT_REACH * 2 * room.found[1]) break;
        __syncthreads(); // the bandwidth is small for some particles: once more, exactly
    }
    if (ranked) {
        if (threadIdx.x == 0) {
            const double unit = of.products ? 2 : 1;
            search_note(guess, unit * room.found[1]);
            room.h = found_scale(a, u, unit * room.found[0], unit * room.found[1]);
        }
        __syncthreads();
        h = room.h;
    }
    const double scale = isfinite(h) ? h : NAN;
    const bool normal = scale > 0 && scale < (sizeof(Real) == 4 ? 1e30 : 1e290);
    if (normal && of.products) ring_scale<Real, T, TH, SHAPE>(scale, r, of, rows, norm);
    for (size_t e = first; e < members; e++) {
        const size_t i = a.term_variable[e];
        if (e > first) {
            const typename Member::scores others = member.scores_of(a, i);
            __syncthreads();
            for (unsigned m = threadIdx.x; m < r.stride; m += TH) {
                score[r.place(m)] = m < n ? (Real)others.at(m) : 0;
                place[r.place(m)] = m < n ? z[i * n + m] : 0;
            }
        }
        __syncthreads();
        if (normal && of.products)
            ring_velocity<Real, T, TH, SHAPE, true, true>(a, scale, r, of, score, place, sums, i, member);
        else if (normal)
            ring_velocity<Real, T, TH, SHAPE, true, false>(a, scale, r, of, score, place, sums, i, member);
        else
            ring_velocity<Real, T, TH, SHAPE, false, false>(a, scale, r, of, score, place, sums, i, member);
        member.finish(a, i);
    }
}

template <class Real, int T, int TH, int SHAPE>
static __global__ void __launch_bounds__(TH, TH == 128 ? (sizeof(Real) == 4 ? 4 : 3) : 1)
    fused_ring(const pair_args a, const ring<Real, T> r, const step_gate gate) {
    extern __shared__ double dynamic[];
    __shared__ ring_room<Real> room;
    term_member member;
    if (gate.closed()) return;
    for (size_t u = blockIdx.x; u < a.units; u += gridDim.x)
        ring_do<Real, T, TH, SHAPE>(a, r, u, dynamic, room, member);
}
