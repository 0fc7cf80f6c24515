// The search for medians among distances from tensor cores (tensor_term.cuh).

// What numbers of half precision may be off by, relative to the width of the bracket.
#define TENSOR_WIDTH 0.001953125f

// The numbers of a pair of tiles that a lane has, as bits: row 8 r + g, tile t and column 2 q + c are bit r + 8 (2 t +
// c). Those that are negative.
static __device__ __forceinline__ unsigned tensor_signs(const uint2 (&v)[4], const uint2 (&w)[4]) {
    unsigned signs = 0;
#pragma unroll
    for (int b = 0; b < 4; b++) {
        signs |= signs_of(v[b].x, w[b].x) & 0x01010101u << 2 * b;
        signs |= signs_of(v[b].y, w[b].y) & 0x02020202u << 2 * b;
    }
    return signs;
}

// Whether one of them is from 0 to `width`, which stands in the upper half.
static __device__ __forceinline__ bool tensor_any(const uint2 (&v)[4], const uint2 (&w)[4], unsigned width) {
    unsigned least = ~0u;
#pragma unroll
    for (int b = 0; b < 4; b++) {
        least = __vminu2(__vminu2(least, v[b].x), v[b].y);
        least = __vminu2(__vminu2(least, w[b].x), w[b].y);
    }
    return __vminu2(least, least << 16) < width;
}

// The pairs that a warp lists, in memory that is not used otherwise during a search.
struct tensor_listing {
    unsigned *pair; // bit | lane << 5 | group << 10 | tile << 16
    unsigned count, most;

    __device__ __forceinline__ tensor_listing(const tensor_shape &shape, float2 *sums)
        : pair((unsigned *)(sums + threadIdx.x / 32 * shape.places)), count(0), most(2 * shape.places) {}

    // Lists what each lane has, which is seldom more than one.
    __device__ __forceinline__ void add(unsigned some, unsigned where) {
        const unsigned before = (1u << threadIdx.x % 32) - 1;
#pragma unroll 1
        for (unsigned all; (all = __ballot_sync(0xffffffffu, some)) != 0; some &= some - 1) {
            const unsigned at = count + __popc(all & before);
            if (some && at < most) pair[at] = where | (__ffs(some) - 1);
            count += __popc(all);
        }
    }

    // Joins the list of the block.
    __device__ __forceinline__ void end(ring_room<float> &room) const {
        const unsigned lane = threadIdx.x % 32;
        unsigned first = 0;
        __syncwarp();
        if (lane == 0) first = atomicAdd(&room.listed, count);
        if (lane == 0 && count > most) room.counts[1] = 1; // some are not kept
        first = __shfl_sync(0xffffffffu, first, 0);
        for (unsigned k = lane; k < min(count, most); k += 32) {
            const unsigned id = pair[k], tile = id >> 16, group = id >> 10 & 63, its = id >> 5 & 31;
            const unsigned l = TENSOR_GROUP * group + 8 * (id & 7) + its / 4,
                           m = 16 * tile + 8 * (id >> 4 & 1) + 2 * (its % 4) + (id >> 3 & 1);
            if (first + k < RING_LIST) room.pair[first + k] = l | m << 16;
        }
    }
};

// Counts the pairs below the pivot of this thread, and lists those up to `width` below it.
template <int TH, class Room>
static __device__ __forceinline__ unsigned tensor_count(const tensor_shape &shape, const Room &at, float pivot,
                                                        float width, ring_room<float> &room) {
    const unsigned lane = kept_lane(), g = lane / 4, q = lane % 4;
    const unsigned half = (2 * q > g ? 1u : 0) | (2 * q + 1 > g ? 0x100u : 0);
    const __half2 least = __half2half2(__float2half_ru(width)), most = __hneg2(least);
    const unsigned upto = *(const unsigned *)&least << 16, less = *(const unsigned *)&most;
    tensor_listing list(shape, at.sums);
    unsigned count = 0;
    tensor_walk<TH>(shape, [&](unsigned group, unsigned tile, unsigned diagonal, unsigned end) {
        typename Room::halves rows;
        rows.load(at, group, tile, lane, pivot);
#pragma unroll 1
        for (; tile < end; tile++) {
            uint2 v[4], w[4];
            rows.multiply(at, tile, shape, v, w);
            unsigned valid = ~tensor_signs(v, w);
            if (tile < diagonal) { // rows above the diagonal, and half of those that it crosses
                const unsigned k = 2 * (tile - 4 * group), above = (0x101u << k) - 0x101u;
                valid &= (above | half << k) | (above << 1 | 0x101u | half << 1 << k) << 16;
            }
            count += __popc(valid);
            if (!__any_sync(0xffffffffu, tensor_any(v, w, upto))) continue;
#pragma unroll
            for (int b = 0; b < 4; b++) {
                v[b] = make_uint2(add_halves(v[b].x, less), add_halves(v[b].y, less));
                w[b] = make_uint2(add_halves(w[b].x, less), add_halves(w[b].y, less));
            }
            list.add(valid & tensor_signs(v, w), tile << 16 | group << 10 | lane << 5);
        }
    });
    list.end(room);
    return count;
}

// The squared distances of the pairs that are listed, and among them those of the two ranks, as bits in room.below and
// room.above. A team of threads does it: one warp, or all.
static __device__ __forceinline__ void tensor_rank(const pair_args &a, const uint32_t *domain, unsigned rows,
                                                   unsigned left, unsigned lower, unsigned upper, unsigned team,
                                                   ring_room<float> &room) {
#pragma unroll 1
    for (unsigned k = threadIdx.x; k < left; k += team) {
        const unsigned l = room.pair[k] & 0xffffu, m = room.pair[k] >> 16;
        float sum = 0;
#pragma unroll 1
        for (unsigned first = 0; first < rows; first += TENSOR_ROWS) {
            float one[TENSOR_ROWS], two[TENSOR_ROWS];
#pragma unroll
            for (unsigned e = 0; e < TENSOR_ROWS; e++) {
                one[e] = two[e] = 0;
                if (first + e >= rows) continue;
                const float *row = (const float *)a.z + times(domain[first + e], (unsigned)a.n);
                one[e] = row[l], two[e] = row[m];
            }
#pragma unroll
            for (unsigned e = 0; e < TENSOR_ROWS; e++) sum = fused_add(one[e] - two[e], sum);
        }
        room.list[k] = sum;
    }
    if (threadIdx.x < 4 && left + threadIdx.x < RING_LIST)
        room.list[left + threadIdx.x] = from_bits(bits_type<float>::infinity);
    if (team == 32)
        __syncwarp();
    else
        __syncthreads();
    unsigned below = 0, above = 0; // the largest that has no more than so many below it, also where distances are equal
#pragma unroll 1
    for (unsigned k = threadIdx.x; k < left; k += team) {
        const float value = room.list[k];
        unsigned less = 0;
#pragma unroll 1
        for (unsigned j = 0; j < left; j += 4) {
            const float4 four = *(const float4 *)&room.list[j];
            less += (four.x < value) + (four.y < value) + (four.z < value) + (four.w < value);
        }
        if (less <= lower) below = max(below, to_bits(value));
        if (less <= upper) above = max(above, to_bits(value));
    }
    __syncwarp();
    below = warp_max(below), above = warp_max(above);
    if (threadIdx.x % 32 == 0) atomicMax(&room.below, below), atomicMax(&room.above, above);
}

// Makes room for rounding at both ends of the bracket.
static __device__ __forceinline__ void tensor_widen(bracket<float> &s, float rounding) {
    s.first = fmaxf(s.first - rounding, 0);
    s.second += rounding;
}

// The bandwidth that the two middle distances lead to, and what the next iteration shall expect. One thread.
static __device__ __forceinline__ void tensor_note(const pair_args &a, size_t u, ring_room<float> &room) {
    search_note(a.guess + 3 * (a.first + u), room.found[1]);
    room.h = found_scale(a, u, room.found[0], room.found[1]);
}

// The two middle distances, in room.found, and what comes of them. Returns whether they are certain. `scale`: what
// squares are multiplied by; `rounding`: what distances may be off by; the bracket begins with a pivot that is in the
// room.
template <int TH, class Room>
static __device__ __forceinline__ bool tensor_middle(const pair_args &a, size_t u, bracket<float> &s,
                                                     const uint32_t *domain, unsigned rows, float scale, float rounding,
                                                     const tensor_shape &shape, const Room &at,
                                                     ring_room<float> &room) {
    float last = s.second;
    for (int pass = 0; pass < TENSOR_PASSES; pass++) {
        const float first = s.first, second = s.second, width = second - first,
                    slack = __fmaf_rn(TENSOR_WIDTH, width, rounding);
        if (pass > 0) at.template aim<TH>(shape, 0.5f * scale * (second - last));
        last = second;
        if (threadIdx.x == 0) room.counts[0] = room.counts[1] = room.listed = room.below = room.above = 0;
        __syncthreads();
        const unsigned mine = warp_sum(tensor_count<TH>(shape, at, 0.5f * scale * second, 0.5f * scale * width, room));
        if (threadIdx.x % 32 == 0) atomicAdd(&room.counts[0], mine);
        __syncthreads();
        const unsigned two = room.counts[0], left = room.listed, one = two - left;
        bool wider = true;
        if (one <= s.lower && two > s.upper && left <= RING_LIST && !room.counts[1]) {
            const unsigned team = left <= TENSOR_LEFT ? 32 : TH;
            if (threadIdx.x < team) {
                tensor_rank(a, domain, rows, left, s.lower - one, s.upper - one, team, room);
                if (team > 32) __syncthreads();
                if (threadIdx.x == 0) {
                    const float lower = room.found[0] = from_bits(room.below),
                                upper = room.found[1] = from_bits(room.above);
                    if (lower >= first + slack && upper <= second - slack) tensor_note(a, u, room);
                }
            }
            __syncthreads();
            if (room.found[0] >= first + slack && room.found[1] <= second - slack) return true;
        } else if (!(search_take(s, first, one) | search_take(s, second, two))) { // none is between the ranks
            search_on(s);
            wider = false;
        }
        if (wider) s.first = first - width, s.second = second + width;
        tensor_widen(s, rounding);
        __syncthreads(); // all have read the counts
    }
    return false;
}
