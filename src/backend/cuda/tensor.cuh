// A term of a kernel for more than 64 particles in single precision, a block of threads for each unit, with distances
// from tensor cores. A coordinate is the sum of two numbers of half precision, y = h + l, in units of a power of two,
// and
//
//     -|y - y'|^2 / 2 = h.h' + h.l' + l.h' - |y|^2/2 - |y'|^2/2
//
// is what a product of 16 x 16 by 16 x 8 and one of 16 x 8 by 8 x 8 give for 128 pairs; |y|^2 is two numbers of half
// precision as well, among the coordinates. Pairs are those of the upper triangle, 64 rows by 8 columns at a time; a
// warp has a run of them, with its rows in registers. As in ring.cuh they are computed twice, to count them and for the
// sums.
//
// The median is that of distances in single precision, exactly: those from tensor cores, which differ by rounding, only
// say which pairs are below the bracket, which above, and which few are in it, and a median that is too close to the
// bracket's ends for that is not believed. A search that takes many passes, since distances coincide or have gaps, is
// left to that of a ring, which finds the same numbers: the bits do not depend on where a search began. Units that this
// does not suit, where a particle is far from the others, are done by a ring; the particles alone decide that.

enum {
    TENSOR_ROWS = 6,    // of a domain
    TENSOR_GROUP = 64,  // rows of pairs at once
    TENSOR_RUN = 16,    // pairs of tiles whose rows are added up in one number
    TENSOR_PASSES = 8,  // after which a search is left to that of a ring
    TENSOR_MOST = 2048, // particles
    TENSOR_FEW = 64,    // threads of a unit of up to 256 particles
};

// -|y|^2/2 of particles that are not there, |y|^2 being below 64, so that k is 0.
#define TENSOR_FAR -60000.0f

#define TENSOR_ONES 0x3c003c00u // two of half precision

// What a distance may be off by, in units of the largest |y|^2: 16 roundings of single precision in each product.
#define TENSOR_ROUNDING 1.52587890625e-5f

struct tensor_shape {
    unsigned places, tiles, steps; // particles, in groups of 64; pairs of tiles of 8 columns; those of all groups
};

struct tensor_room {
    uint2 *words;    // 4 of a particle: h and l of two coordinates each; -|y|^2/2 and ones
    unsigned *level; // pivot - |y|^2/2
    float *place, *pull;
    float2 *sums; // of each warp

    __device__ __forceinline__ tensor_room(const tensor_shape &shape, void *memory)
        : words((uint2 *)memory), level((unsigned *)(words + 4 * shape.places)), place((float *)(level + shape.places)),
          pull(place + shape.places), sums((float2 *)(pull + shape.places)) {}
};

// ---- operands -------------------------------------------------------------------------------------------------------

static __device__ __forceinline__ unsigned to_halves(float a, float b) {
    const __half2 both = __floats2half2_rn(a, b);
    return *(const unsigned *)&both;
}
static __device__ __forceinline__ float2 from_halves(unsigned word) { return __half22float2(*(const __half2 *)&word); }

// Stores a particle.
static __device__ __forceinline__ void tensor_put(const tensor_room &room, unsigned m, bool there,
                                                  const float (&y)[TENSOR_ROWS]) {
    unsigned high[3], low[3];
    float norm = 0;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        high[k] = to_halves(y[2 * k], y[2 * k + 1]);
        const float2 h = from_halves(high[k]);
        low[k] = to_halves(y[2 * k] - h.x, y[2 * k + 1] - h.y);
        const float2 l = from_halves(low[k]);
        norm = fused_add(h.x + l.x, norm);
        norm = fused_add(h.y + l.y, norm);
    }
    norm = there ? -0.5f * norm : TENSOR_FAR;
    const float one = __half2float(__float2half_rn(norm));
    uint4 *to = (uint4 *)(room.words + 4 * m);
    to[0] = make_uint4(high[0], low[0], high[1], low[1]);
    to[1] = make_uint4(high[2], low[2], room.level[m] = to_halves(one, norm - one), TENSOR_ONES);
}

// Particles in other units.
template <int TH>
static __device__ __forceinline__ void tensor_scale(const tensor_shape &shape, const tensor_room &at, unsigned n,
                                                    float by) {
#pragma unroll 1
    for (unsigned m = threadIdx.x; m < shape.places; m += TH) {
        float y[TENSOR_ROWS];
#pragma unroll
        for (int k = 0; k < 3; k++) {
            const uint2 word = at.words[4 * m + k];
            const float2 h = from_halves(word.x), l = from_halves(word.y);
            y[2 * k] = by * (h.x + l.x);
            y[2 * k + 1] = by * (h.y + l.y);
        }
        tensor_put(at, m, m < n, y);
    }
}

#if __CUDA_ARCH__ >= 800
static __device__ __forceinline__ void multiply_16(float *v, const unsigned (&a)[4], uint2 b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
        : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y), "f"(0.0f));
}
static __device__ __forceinline__ void multiply_8(float *v, const unsigned (&a)[2], unsigned b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+f"(v[0]), "+f"(v[1]), "+f"(v[2]), "+f"(v[3])
        : "r"(a[0]), "r"(a[1]), "r"(b));
}
#else // never launched
static __device__ __forceinline__ void multiply_16(float *, const unsigned (&)[4], uint2) {}
static __device__ __forceinline__ void multiply_8(float *, const unsigned (&)[2], unsigned) {}
#endif

// The rows of a group in the registers of a warp. Lane 4 g + q has rows g, g + 8, ... and of a tile the columns 2 q and
// 2 q + 1; number 2 r + c of a tile is row 8 r + g and column 2 q + c.
struct tensor_rows {
    unsigned high[4][4], low[4][2];

    __device__ __forceinline__ void load(const tensor_room &room, unsigned group) {
        const unsigned g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
#pragma unroll
        for (int r = 0; r < 8; r++) {
            const unsigned m = TENSOR_GROUP * group + 8 * r + g;
            const uint2 word = room.words[4 * m + q];
            high[r / 2][r % 2] = q == 3 ? TENSOR_ONES : word.x;
            high[r / 2][2 + r % 2] = q == 3 ? room.level[m] : word.x;
            low[r / 2][r % 2] = q == 3 ? 0 : word.y;
        }
    }
    __device__ __forceinline__ uint2 columns(const tensor_room &room, unsigned tile) const {
        return room.words[32 * tile + threadIdx.x % 32];
    }
    // pivot - |y - y'|^2 / 2 of 16 rows, or of all
    __device__ __forceinline__ void multiply(int k, uint2 columns, float *v) const {
        multiply_16(v, high[k], columns);
        multiply_8(v, low[k], columns.x);
    }
    __device__ __forceinline__ void multiply(const tensor_room &at, unsigned tile, float (&v)[16]) const {
        const uint2 of = columns(at, tile);
#pragma unroll
        for (int k = 0; k < 4; k++) multiply(k, of, &v[4 * k]);
    }
};

// Sets the pivot.
template <int TH>
static __device__ __forceinline__ void tensor_level(const tensor_shape &shape, const tensor_room &at, float pivot) {
#pragma unroll 1
    for (unsigned m = threadIdx.x; m < shape.places; m += TH) {
        const float2 norm = from_halves(at.words[4 * m + 3].x);
        const float level = pivot + norm.x + norm.y, most = __half2float(__float2half_rn(level));
        at.level[m] = to_halves(most, level - most);
    }
}

// The run of a warp, in pieces: `what` gets the group, its first pair of tiles, where the diagonal ends, and the end.
template <int TH, class What> static __device__ __forceinline__ void tensor_walk(const tensor_shape &shape, What what) {
    const unsigned warp = threadIdx.x / 32, last = (warp + 1) * shape.steps / (TH / 32);
    unsigned step = warp * shape.steps / (TH / 32), group = 0, tile = step;
    while (tile >= shape.tiles) tile -= shape.tiles - 4 * (group + 1), group++; // a group begins at its diagonal
#pragma unroll 1
    while (step < last) {
        const unsigned end = min(min(shape.tiles, tile + TENSOR_RUN), tile + last - step);
        what(group, tile, min(end, 4 * group + 4), end);
        step += end - tile;
        tile = end;
        if (tile == shape.tiles) tile = 4 * ++group;
    }
}

// ---- the search -----------------------------------------------------------------------------------------------------

// The signs of the numbers of a tile less `level`, as bits, the first number first.
static __device__ __forceinline__ unsigned tensor_signs(const float (&v)[16], float level) {
    unsigned first = 0, second = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) push_sign(first, v[k] - level), push_sign(second, v[8 + k] - level);
    return first << 8 | second;
}

// The least of those that are not negative, as bits.
static __device__ __forceinline__ unsigned tensor_least(const float (&v)[16]) {
    unsigned least = ~0u;
#pragma unroll
    for (int k = 0; k < 16; k++) least = min(least, to_bits(v[k]));
    return least;
}

// Lists the pairs of two tiles.
static __device__ __forceinline__ void tensor_list(unsigned pairs, unsigned group, unsigned tile,
                                                   ring_room<float> &room) {
    const unsigned l = TENSOR_GROUP * group + threadIdx.x % 32 / 4, m = 16 * tile + 2 * (threadIdx.x % 4);
#pragma unroll 1
    for (unsigned left = pairs; left;) {
        const unsigned k = __clz(left), at = atomicAdd(&room.listed, 1u);
        if (at < RING_LIST) room.pair[at] = (l + 8 * (k % 16 / 2)) | (m + k / 16 * 8 + k % 2) << 16;
        left ^= 0x80000000u >> k;
    }
}

// Counts the pairs below the pivot of this thread, and lists those up to `width` below it.
template <int TH>
static __device__ __forceinline__ unsigned tensor_count(const tensor_shape &shape, const tensor_room &at, float width,
                                                        ring_room<float> &room) {
    const unsigned g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    const unsigned half = (2 * q > g ? 2u : 0) | (2 * q + 1 > g ? 1u : 0);
    unsigned count = 0;
    tensor_walk<TH>(shape, [&](unsigned group, unsigned tile, unsigned diagonal, unsigned end) {
        tensor_rows rows;
        rows.load(at, group);
#pragma unroll 1
        for (; tile < end; tile++) {
            float v[16], w[16];
            rows.multiply(at, 2 * tile, v);
            rows.multiply(at, 2 * tile + 1, w);
            const unsigned above = tensor_signs(v, 0) << 16 | tensor_signs(w, 0);
            unsigned valid = ~0u;
            if (tile < diagonal) { // rows above the diagonal, and half of those that it crosses
                const unsigned k = 4 * (tile - 4 * group);
                valid = (0xffff0000u >> k & 0xffffu | half << (14 - k)) << 16;
                valid |= 0xffff0000u >> (k + 2) & 0xffffu | half << (12 - k);
            }
            const unsigned below = ~above & valid;
            count += __popc(below);
            if (min(tensor_least(v), tensor_least(w)) < to_bits(width))
                tensor_list(below & (tensor_signs(v, width) << 16 | tensor_signs(w, width)), group, tile, room);
            __syncwarp();
        }
    });
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
        float one[TENSOR_ROWS], two[TENSOR_ROWS], sum = 0;
#pragma unroll
        for (unsigned e = 0; e < TENSOR_ROWS; e++) {
            one[e] = two[e] = 0;
            if (e >= rows) continue;
            const float *row = (const float *)a.z + times(domain[e], (unsigned)a.n);
            one[e] = row[l], two[e] = row[m];
        }
#pragma unroll
        for (unsigned e = 0; e < TENSOR_ROWS; e++) sum = fused_add(one[e] - two[e], sum);
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
template <int TH>
static __device__ __forceinline__ bool tensor_middle(const pair_args &a, size_t u, const double *guess,
                                                     const uint32_t *domain, unsigned rows, float scale, float rounding,
                                                     const tensor_shape &shape, const tensor_room &at,
                                                     ring_room<float> &room) {
    bracket<float> s;
    search_begin(s, a, u, guess, (unsigned)(a.n * (a.n - 1) / 2));
    for (int pass = 0; pass < TENSOR_PASSES; pass++) {
        const float first = fmaxf(s.first - rounding, 0), second = s.second + rounding, width = second - first;
        if (threadIdx.x == 0) room.counts[0] = room.listed = room.below = room.above = 0;
        tensor_level<TH>(shape, at, 0.5f * scale * second);
        __syncthreads();
        const unsigned mine = warp_sum(tensor_count<TH>(shape, at, 0.5f * scale * width, room));
        if (threadIdx.x % 32 == 0) atomicAdd(&room.counts[0], mine);
        __syncthreads();
        const unsigned two = room.counts[0], left = room.listed, one = two - left;
        bool wider = true;
        if (one <= s.lower && two > s.upper && left <= RING_LIST) {
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
