// A term of a kernel for up to 64 particles in single precision: a warp for each unit, every pair of particles once,
// its distance in a register. The particles are 8 blocks of T. A lane has the T by T distances between two blocks, of
// which there are 28; the other 4 lanes have two blocks each of which the pairs are inside: those of the one above the
// diagonal, those of the other below it.
//
// Squared distances are |x|^2 + |y|^2 - 2 x.y where no particle is far from the mean, for the mean distance and for the
// bandwidth, which costs one instruction a row instead of two and rounds by a few ulp of the bandwidth; else they are
// sums of squared differences. Which of them is decided by the particles alone, so that a run that is resumed has the
// same bits. Products are kept as half of the squared distance, |x|^2/2 + |y|^2/2 - x.y: no factor, the same digits.

enum {
    TILE_BLOCKS = 8,
    TILE_MOST = 64,  // particles
    TILE_ROWS = 128, // of a domain
    TILE_STAGED = 8, // rows of a domain at once
    TILE_SLOTS = 9,  // partial sums of a particle: it stands in 7 tiles between blocks, and twice in one inside its own
    TILE_MEMBERS = 8, // of a unit: more share a matrix better
    TILE_WARPS = 4,   // of a block of threads
    TILE_AT_ONCE = 4  // blocks of threads on a multiprocessor, by their registers; imq needs more of them
};

// Squared distance of particles that are not there, or of one to itself.
#define TILE_FAR 1e30f

// Products are used while no particle is further from the mean than this, squared, in units of the mean of that, and of
// the bandwidth.
enum { PRODUCT_REACH = 8 };

template <class Real> static __device__ __forceinline__ bool uses_products(Real furthest, Real mean) {
    return furthest <= PRODUCT_REACH * mean && mean > (Real)1e-20 && mean < (Real)1e20;
}

// In tiles the bandwidth alone decides, once it is known.
static __device__ __forceinline__ bool tries_products(float furthest) { return furthest > 1e-20f && furthest < 1e20f; }

static __device__ __forceinline__ unsigned long long times(unsigned a, unsigned b) {
    unsigned long long product;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    return product;
}

template <int T> struct alignas(16) tile_room {
    enum {
        GROUPS = (T + 3) / 4,
        STRIDE = GROUPS * TILE_BLOCKS * 4,
        PARTICLES = TILE_BLOCKS * T,
        HALVES = PARTICLES > 32 ? 2 : 1 // particles of a lane: lane, and lane + 32
    };
    float rows[TILE_STAGED][STRIDE];
    union { // of distances, and then of velocities
        float norm[STRIDE], pull[STRIDE];
    };
    union {
        struct {
            float value[32];
            unsigned short list[32];
        };
        float push[STRIDE];
    };
    float2 slot[TILE_SLOTS][STRIDE]; // two sums of a particle, in places of their own

    // Where a particle is in a row: lanes that read blocks side by side read 16 bytes side by side.
    static __device__ __forceinline__ unsigned place(unsigned l) { return place_of(l / T, l % T); }
    static __device__ __forceinline__ unsigned place_of(unsigned block, unsigned r) {
        return (r / 4 * TILE_BLOCKS + block) * 4 + r % 4;
    }
    static __device__ __forceinline__ unsigned slot_place(unsigned l) {
        return (l % T / 2 * TILE_BLOCKS + l / T) * 2 + l % T % 2;
    }
    static __device__ __forceinline__ unsigned slot_of_lane(unsigned lane) { // of its two places, in float4
        const unsigned group = lane / 2;
        return (group / 8 * 2 + lane % 2) * TILE_BLOCKS + group % 8;
    }
};

// The blocks of a lane: rows and columns of its tile, on and above the diagonal (a) and below it (b); and where its
// sums go.
struct tile_lane {
    unsigned row_a, row_b, column_a, column_b, row_slot, column_slot;
    bool inside;

    __device__ __forceinline__ tile_lane() : tile_lane(threadIdx.x % 32) {}
    __device__ __forceinline__ explicit tile_lane(unsigned lane) {
        const unsigned k = lane < 24 ? 1 + lane / 8 : 4;
        inside = lane >= 28;
        row_a = lane < 24 ? lane % 8 : lane % 4;
        row_b = inside ? row_a + 4 : row_a;
        column_a = inside ? row_a : (row_a + k) % TILE_BLOCKS;
        column_b = inside ? row_b : column_a;
        row_slot = inside ? 7 : lane < 24 ? k - 1 : 6;
        column_slot = inside ? 8 : lane < 24 ? k + 2 : 6;
    }
};

template <int T> static __device__ __forceinline__ void load_block(const float *row, unsigned block, float (&to)[T]) {
#pragma unroll
    for (int g = 0; g < (T + 3) / 4; g++) {
        const float4 v = ((const float4 *)row)[g * TILE_BLOCKS + block];
        const float four[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int r = 0; r < 4; r++)
            if (4 * g + r < T) to[4 * g + r] = four[r];
    }
}

template <int T>
static __device__ __forceinline__ void store_block(float *row, unsigned block, const float (&from)[T]) {
#pragma unroll
    for (int g = 0; g < (T + 3) / 4; g++) {
        float four[4] = {};
#pragma unroll
        for (int r = 0; r < 4; r++)
            if (4 * g + r < T) four[r] = from[4 * g + r];
        ((float4 *)row)[g * TILE_BLOCKS + block] = make_float4(four[0], four[1], four[2], four[3]);
    }
}

// ---- rows of the domain ---------------------------------------------------------------------------------------------

// Rows of the domain, of the particles of a lane. `mine`: a row of each lane.
template <int T, unsigned ROWS> struct tile_rows {
    float at[ROWS][2];

    __device__ __forceinline__ void load(const pair_args &a, unsigned mine, unsigned count) {
        const unsigned lane = threadIdx.x % 32, n = (unsigned)a.n, last = n - 1;
        const float *one = (const float *)a.z + min(lane, last), *two = (const float *)a.z + min(lane + 32, last);
#pragma unroll
        for (unsigned e = 0; e < ROWS; e++) {
            const unsigned long long row = times(__shfl_sync(0xffffffffu, mine, e), n);
            at[e][0] = at[e][1] = 0;
            if (e < count) {
                at[e][0] = one[row];
                if (tile_room<T>::HALVES == 2) at[e][1] = two[row];
            }
            if (lane >= n) at[e][0] = 0;
            if (lane + 32 >= n) at[e][1] = 0;
        }
    }

    // Into shared memory. Returns whether products are used, if they are wanted: all rows are here then, and
    // `furthest` is the largest |x|^2.
    __device__ __forceinline__ bool stage(unsigned n, unsigned count, bool ask, tile_room<T> &room,
                                          float &furthest) const {
        const unsigned lane = threadIdx.x % 32;
        float norm[2] = {0, 0};
        bool products = false;
        if (ask) {
#pragma unroll
            for (unsigned e = 0; e < ROWS; e++)
                norm[0] = fused_add(at[e][0], norm[0]), norm[1] = fused_add(at[e][1], norm[1]);
            furthest = from_bits(warp_max(max(to_bits(norm[0]), to_bits(norm[1])))); // NaN is the largest
            products = tries_products(furthest);
        }
        __syncwarp();
#pragma unroll
        for (unsigned half = 0; half < tile_room<T>::HALVES; half++) {
            const unsigned l = lane + 32 * half, place = room.place(l);
            if (l >= tile_room<T>::PARTICLES) continue;
#pragma unroll
            for (unsigned e = 0; e < ROWS; e++)
                if (e < count) room.rows[e][place] = l < n || products ? at[e][half] : nowhere<float>(l);
            if (products) room.norm[place] = l < n ? 0.5f * norm[half] : TILE_FAR;
        }
        __syncwarp();
        return products;
    }
};

// ---- distances ------------------------------------------------------------------------------------------------------

template <int T>
static __device__ __forceinline__ void tile_products(const float (&row)[TILE_STAGED][tile_room<T>::STRIDE],
                                                     const float *norm, unsigned rows, const tile_lane &has,
                                                     float (&d)[T][T]) {
    float xa[T], xb[T], ya[T], yb[T];
    load_block(norm, has.row_a, xa);
    load_block(norm, has.row_b, xb);
    load_block(norm, has.column_a, ya);
    load_block(norm, has.column_b, yb);
#pragma unroll
    for (int r = 0; r < T; r++)
#pragma unroll
        for (int q = 0; q < T; q++) d[r][q] = r <= q ? xa[r] + ya[q] : xb[r] + yb[q];
    for (unsigned e = 0; e < rows; e++) {
        load_block(row[e], has.row_a, xa);
        load_block(row[e], has.row_b, xb);
        load_block(row[e], has.column_a, ya);
        load_block(row[e], has.column_b, yb);
#pragma unroll
        for (int r = 0; r < T; r++)
#pragma unroll
            for (int q = 0; q < T; q++)
                d[r][q] = r <= q ? __fmaf_rn(-xa[r], ya[q], d[r][q]) : __fmaf_rn(-xb[r], yb[q], d[r][q]);
    }
}

template <int T, bool BEGINS>
static __device__ __forceinline__ void tile_differences(const float (&row)[TILE_STAGED][tile_room<T>::STRIDE],
                                                        unsigned rows, const tile_lane &has, float (&d)[T][T]) {
    float xa[T], xb[T], ya[T], yb[T];
    if (BEGINS) {
#pragma unroll
        for (int r = 0; r < T; r++)
#pragma unroll
            for (int q = 0; q < T; q++) d[r][q] = 0;
    }
    for (unsigned e = 0; e < rows; e++) {
        load_block(row[e], has.row_a, xa);
        load_block(row[e], has.row_b, xb);
        load_block(row[e], has.column_a, ya);
        load_block(row[e], has.column_b, yb);
#pragma unroll
        for (int r = 0; r < T; r++)
#pragma unroll
            for (int q = 0; q < T; q++)
                d[r][q] = r <= q ? fused_add(xa[r] - ya[q], d[r][q]) : fused_add(xb[r] - yb[q], d[r][q]);
    }
}

// Two particles: blocks, and places in them.
struct tile_pair {
    unsigned row, r, column, q;
};

// A distance again, from the same numbers in the same order: the same bits.
template <int T>
static __device__ __forceinline__ float tile_again(const pair_args &a, const uint32_t *domain, unsigned count,
                                                   const float (&near)[TILE_STAGED][tile_room<T>::STRIDE],
                                                   const tile_room<T> &room, bool products, const tile_pair &p) {
    float sum = 0;
    if (count > TILE_STAGED) {
        const unsigned l = T * p.row + p.r, m = T * p.column + p.q;
        for (unsigned e = 0; e < count; e++) {
            const float *row = (const float *)a.z + (size_t)domain[e] * a.n;
            sum = fused_add(row[l] - row[m], sum);
        }
        return sum;
    }
    const unsigned x = room.place_of(p.row, p.r), y = room.place_of(p.column, p.q);
    if (products) {
        sum = room.norm[x] + room.norm[y];
#pragma unroll
        for (unsigned e = 0; e < TILE_STAGED; e++)
            if (e < count) sum = __fmaf_rn(-near[e][x], near[e][y], sum);
        return sum;
    }
    for (unsigned e = 0; e < count; e++) sum = fused_add(near[e][x] - near[e][y], sum);
    return sum;
}
