// The search for medians among distances from tensor cores (tensor.cuh).

// The signs of the numbers of a tile, as bits, the first number first.
static __device__ __forceinline__ unsigned tensor_signs(const float (&v)[16]) {
    unsigned first = 0, second = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) push_sign(first, v[k]), push_sign(second, v[8 + k]);
    return first << 8 | second;
}

// The least of those that are not negative, as bits.
static __device__ __forceinline__ unsigned tensor_least(const float (&v)[16]) {
    unsigned least = ~0u;
#pragma unroll
    for (int k = 0; k < 16; k++) least = min(least, to_bits(v[k]));
    return least;
}

// The pairs that a warp lists, in memory that is not used otherwise during a search.
struct tensor_listing {
    enum { SLOTS = 4, SLOT = 36 };
    float *slots;   // of a lane: 32 numbers, which of them are valid, and where they are
    unsigned *pair; // l | m << 16
    unsigned count, most;

    __device__ __forceinline__ tensor_listing(const tensor_shape &shape, float2 *sums)
        : slots((float *)(sums + threadIdx.x / 32 * shape.places)), pair((unsigned *)slots + SLOTS * SLOT), count(0),
          most(2 * shape.places - SLOTS * SLOT) {}

    // Lists the numbers from 0 to `width` of a pair of tiles. Lanes that have some put all of theirs into slots, where
    // every lane looks at one of them: there are few, and the warp stays together.
    __device__ __forceinline__ void add(unsigned lanes, const float (&v)[16], const float (&w)[16], unsigned valid,
                                        float width, unsigned group, unsigned tile) {
        const unsigned lane = threadIdx.x % 32, before = (1u << lane) - 1;
        const unsigned apart = lane % 16 / 2 * 8 | (lane / 16 * 8 + lane % 2) << 16;
#pragma unroll 1
        while (lanes) {
            const unsigned slot = __popc(lanes & before);
            if (lanes >> lane & 1 && slot < SLOTS) {
                float *to = slots + SLOT * slot;
#pragma unroll
                for (int k = 0; k < 16; k += 4) {
                    *(float4 *)&to[k] = make_float4(v[k], v[k + 1], v[k + 2], v[k + 3]);
                    *(float4 *)&to[16 + k] = make_float4(w[k], w[k + 1], w[k + 2], w[k + 3]);
                }
                const unsigned l = TENSOR_GROUP * group + lane / 4, m = 16 * tile + 2 * (lane % 4);
                *(float2 *)&to[32] = make_float2(from_bits(valid), from_bits(l | m << 16));
            }
            __syncwarp();
            const float *from = slots;
#pragma unroll 1
            for (int k = 0; k < SLOTS && lanes; k++, lanes &= lanes - 1, from += SLOT) {
                const float2 its = *(const float2 *)&from[32];
                const bool listed = to_bits(from[lane]) < to_bits(width) && to_bits(its.x) << lane >> 31;
                const unsigned all = __ballot_sync(0xffffffffu, listed), at = count + __popc(all & before);
                if (listed && at < most) pair[at] = to_bits(its.y) + apart;
                count += __popc(all);
            }
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
        for (unsigned k = lane; k < min(count, most); k += 32)
            if (first + k < RING_LIST) room.pair[first + k] = pair[k];
    }
};

// Counts the pairs below the pivot of this thread, and lists those up to `width` below it.
template <int TH, class Room>
static __device__ __forceinline__ unsigned tensor_count(const tensor_shape &shape, const Room &at, float pivot,
                                                        float width, ring_room<float> &room) {
    const unsigned g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    const unsigned half = (2 * q > g ? 2u : 0) | (2 * q + 1 > g ? 1u : 0);
    tensor_listing list(shape, at.sums);
    unsigned count = 0;
    tensor_walk<TH>(shape, [&](unsigned group, unsigned tile, unsigned diagonal, unsigned end) {
        typename Room::rows rows;
        rows.load(at, group, tile, pivot);
#pragma unroll 1
        for (; tile < end; tile++) {
            float v[16], w[16];
            rows.multiply(at, tile, v, w);
            const unsigned above = tensor_signs(v) << 16 | tensor_signs(w);
            unsigned valid = ~0u;
            if (tile < diagonal) { // rows above the diagonal, and half of those that it crosses
                const unsigned k = 4 * (tile - 4 * group);
                valid = (0xffff0000u >> k & 0xffffu | half << (14 - k)) << 16;
                valid |= 0xffff0000u >> (k + 2) & 0xffffu | half << (12 - k);
            }
            count += __popc(~above & valid);
            const unsigned lanes = __ballot_sync(0xffffffffu, min(tensor_least(v), tensor_least(w)) < to_bits(width));
            if (lanes) list.add(lanes, v, w, valid, width, group, tile);
        }
    });
    list.end(room);
    return count;
}

// The squared distances of the pairs that are listed, and among them those of the two ranks.
template <int TH>
static __device__ __forceinline__ void tensor_rank(const pair_args &a, const uint32_t *domain, unsigned rows,
                                                   unsigned left, unsigned lower, unsigned upper,
                                                   ring_room<float> &room) {
#pragma unroll 1
    for (unsigned k = threadIdx.x; k < left; k += TH) {
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
    __syncthreads();
#pragma unroll 1
    for (unsigned k = threadIdx.x; k < left; k += TH) {
        const float value = room.list[k];
        unsigned less = 0;
#pragma unroll 1
        for (unsigned j = 0; j < left; j += 4) {
            const float4 four = *(const float4 *)&room.list[j];
            less += (four.x < value) + (four.y < value) + (four.z < value) + (four.w < value);
        }
        room.pair[k] = less + 1; // the largest that is not above a rank belongs to it, also where distances are equal
        if (less <= lower) atomicMax(&room.below, less + 1);
        if (less <= upper) atomicMax(&room.above, less + 1);
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned k = threadIdx.x; k < left; k += TH) {
        if (room.pair[k] == room.below) room.found[0] = room.list[k];
        if (room.pair[k] == room.above) room.found[1] = room.list[k];
    }
    __syncthreads();
}

// The two middle distances, in room.found. Returns whether they are certain. `scale`: what squares are multiplied by;
// `rounding`: what distances may be off by.
template <int TH, class Room>
static __device__ __forceinline__ bool tensor_middle(const pair_args &a, size_t u, const double *guess,
                                                     const uint32_t *domain, unsigned rows, float scale, float rounding,
                                                     const tensor_shape &shape, const Room &at,
                                                     ring_room<float> &room) {
    bracket<float> s;
    search_begin(s, a, u, guess, (unsigned)(a.n * (a.n - 1) / 2), tensor_width(a.n));
    for (int pass = 0; pass < TENSOR_PASSES; pass++) {
        const float first = fmaxf(s.first - rounding, 0), second = s.second + rounding, width = second - first;
        if (threadIdx.x == 0) room.counts[0] = room.counts[1] = room.listed = room.below = room.above = 0;
        __syncthreads();
        const unsigned mine = warp_sum(tensor_count<TH>(shape, at, 0.5f * scale * second, 0.5f * scale * width, room));
        if (threadIdx.x % 32 == 0) atomicAdd(&room.counts[0], mine);
        __syncthreads();
        const unsigned two = room.counts[0], left = room.listed, one = two - left;
        bool wider = true;
        if (one <= s.lower && two > s.upper && left <= RING_LIST && !room.counts[1]) {
            tensor_rank<TH>(a, domain, rows, left, s.lower - one, s.upper - one, room);
            if (room.found[0] >= first + rounding && room.found[1] <= second - rounding) return true;
        } else if (!(search_take(s, first, one) | search_take(s, second, two))) { // none is between the ranks
            search_on(s);
            wider = false;
        }
        if (wider) s.first = first - width, s.second = second + width;
        __syncthreads(); // all have read the counts
    }
    return false;
}
