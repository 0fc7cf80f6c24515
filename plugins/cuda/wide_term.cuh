// A term of a kernel for up to 64 particles in single precision, whose units have many rows or several members: a block
// of threads for each unit, with distances from tensor cores. As in tensor_term.cuh a coordinate is the sum of two numbers
// of half precision, y = h + l, in units of a power of two, and
//
//     |y - y'|^2 / 2 = |y|^2/2 + |y'|^2/2 - (h.h' + h.l' + l.h')
//
// takes three products for 16 rows of the domain; |y|^2 is y.y from the same products, so that distances of particles
// that coincide, and of a particle to itself, are 0. The matrix is cut in tiles of 16 by 8; a warp has 16 rows and
// TILES tiles of them, in its registers, above the diagonal and below it: pairs are counted once, above it, and sums
// need nothing from other rows. Where particles are far from the mean or rows are few, distances are sums of squared
// differences, as in tile_term.cuh.
//
// A sum has the same order whatever TILES is: that of columns within two tiles, then ((0 + 1) + (2 + 3)) of the pairs
// of tiles, then the same of the four lanes of a row.

enum {
    WIDE_DEPTH = 16, // rows of a domain that a product has
    WIDE_UNIT = 8,   // the exponent of the largest number of a domain
    WIDE_LEAST = 5,  // rows of a domain from which on products are tried
    WIDE_WARPS = 8
};

// Who does what in a block for n particles. Lane 4 g + q has rows g and g + 8 of its 16, and of a tile the columns 2 q
// and 2 q + 1; number 4 t + 2 r + c is that of tile t, row g + 8 r and column 2 q + c.
template <int TILES> struct wide_lane {
    unsigned n, blocks, places, splits, parts; // parts: threads that read a particle's rows
    unsigned row, tile, column;                // the first ones
    unsigned valid;                            // pairs above the diagonal: a bit each, the first one first
    unsigned crossed;                          // the first of the two tiles that the diagonal crosses
    unsigned self; // the column of the first, and of the second, that is the row itself; or 2

    static __host__ __device__ __forceinline__ unsigned warps_for(unsigned n) {
        const unsigned blocks = (n + 15) / 16;
        return blocks * ((2 * blocks + TILES - 1) / TILES);
    }
    __device__ __forceinline__ explicit wide_lane(unsigned particles) : n(particles) {
        const unsigned warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
        blocks = (n + 15) / 16;
        places = 16 * blocks;
        splits = (2 * blocks + TILES - 1) / TILES;
        parts = 2 * splits;
        const unsigned block = warp / splits;
        row = 16 * block + g;
        tile = warp % splits * TILES;
        column = 8 * tile + 2 * q;
        valid = 0;
        crossed = 2 * block - tile;
        self = q == g / 2 ? g % 2 : 2;
#pragma unroll
        for (unsigned t = 0; t < TILES; t++) {
            const unsigned m = column + 8 * t, there = (m < n ? 10u : 0) | (m + 1 < n ? 5u : 0); // columns, of two rows
            const unsigned one = (row < m ? 8u : 0) | (row <= m ? 4u : 0),
                           two = (row + 8 < m ? 2u : 0) | (row + 8 <= m ? 1u : 0);
            valid = valid << 4 | (there & (one | two));
        }
    }
    // The square of the particle of row g or g + 8, if this lane has it.
    __device__ __forceinline__ float square(const float (&v)[4 * TILES], unsigned r) const {
        unsigned found = 0;
#pragma unroll
        for (unsigned t = 0; t < TILES; t++) {
            const unsigned one = to_bits(v[4 * t + 2 * r]), two = to_bits(v[4 * t + 2 * r + 1]), here = t - r - crossed;
            found |= here == 0 ? (self ? two : one) : 0;
        }
        return from_bits(found);
    }
    // Tiles come in pairs, the last of which may not be there.
    __device__ __forceinline__ bool has(unsigned t) const { return tile + t < 2 * blocks; }
};

// What a block shares beside the rows of its domain and the sums of its members.
struct wide_shared {
    alignas(16) float value[32]; // of pairs that are ranked
    float half[TILE_MOST];       // |y|^2 / 2
    unsigned count[2][WIDE_WARPS], peak[WIDE_WARPS];
    unsigned listed, below, above;
};

struct wide_room {
    uint4 *words;  // four coordinates of a particle: h, h, l, l; or rows in single precision
    float2 *drawn; // scores and places of members
    float *sums;   // of warps that share a row: four of each, of k or its third power, and of each member

    __device__ __forceinline__ wide_room(const pair_args &a, unsigned places, uint4 *memory)
        : words(memory), drawn((float2 *)(words + steps(a.longest) * places * 4)),
          sums((float *)(drawn + (unsigned)a.most_members * places)) {}
    static __host__ __device__ __forceinline__ unsigned steps(size_t rows) {
        return (unsigned)((rows + WIDE_DEPTH - 1) / WIDE_DEPTH);
    }
    static size_t bytes(const pair_args &a, unsigned places, unsigned splits) {
        const size_t members = a.most_members;
        return places * (steps(a.longest) * 64 + members * sizeof(float2) + splits * (1 + members) * sizeof(float4));
    }
    // Where four coordinates of a particle are: neither lanes that store particles side by side nor those that read
    // 16 bytes of a particle side by side meet in a bank.
    static __device__ __forceinline__ unsigned word(unsigned places, unsigned step, unsigned l, unsigned q) {
        return (step * places + l) * 4 + (q ^ (l >> 1 & 3u));
    }
};

// The largest or the sum of what the warps have left in shared memory.
static __device__ __forceinline__ unsigned wide_peak(const unsigned *of) {
    const unsigned lane = threadIdx.x % 32;
    return warp_max(lane < blockDim.x / 32 ? of[lane] : 0);
}
static __device__ __forceinline__ unsigned wide_total(const unsigned *of) {
    const unsigned lane = threadIdx.x % 32;
    return warp_sum(lane < blockDim.x / 32 ? of[lane] : 0);
}

// ---- rows of the domain ---------------------------------------------------------------------------------------------

// Groups of four rows of one particle: those of a thread are `part`, part + parts, ... It keeps HELD of them while the
// largest number is found, and reads the others twice.
template <int TILES> struct wide_rows {
    enum { HELD = 4 };
    unsigned l, part, index[HELD][4];
    float at[HELD][4];

    __device__ __forceinline__ explicit wide_rows(const wide_lane<TILES> &has)
        : l(threadIdx.x % has.places), part(threadIdx.x / has.places) {}

    // Which rows these are.
    __device__ __forceinline__ void find(const uint32_t *domain, unsigned rows, unsigned parts) {
#pragma unroll
        for (unsigned i = 0; i < HELD; i++) {
            const unsigned first = 4 * (part + parts * i);
#pragma unroll
            for (unsigned k = 0; k < 4; k++) index[i][k] = first + k < rows ? domain[first + k] : 0;
        }
    }
    __device__ __forceinline__ const float *at_row(const pair_args &a, unsigned row) const {
        const float *place;
        asm("mad.wide.u32 %0, %1, %2, %3;"
            : "=l"(place)
            : "r"(row), "r"(4 * (unsigned)a.n), "l"((const float *)a.z + l));
        return place;
    }
    // The rows that this thread reads end here.
    __device__ __forceinline__ unsigned end(const pair_args &a, unsigned rows, unsigned parts) const {
        return part < parts && l < (unsigned)a.n ? rows : 0;
    }
    __device__ __forceinline__ void read(const pair_args &a, const uint32_t *domain, unsigned end, unsigned first,
                                         float (&to)[4]) const {
#pragma unroll
        for (unsigned k = 0; k < 4; k++) to[k] = first + k < end ? *at_row(a, domain[first + k]) : 0;
    }
    __device__ __forceinline__ void load(const pair_args &a, unsigned rows, unsigned parts) {
        const unsigned last = end(a, rows, parts);
#pragma unroll
        for (unsigned i = 0; i < HELD; i++) {
            const unsigned first = 4 * (part + parts * i);
#pragma unroll
            for (unsigned k = 0; k < 4; k++) at[i][k] = first + k < last ? *at_row(a, index[i][k]) : 0;
        }
    }

    // The largest number of the block, as bits. NaN is the largest.
    __device__ __forceinline__ unsigned peak(const pair_args &a, const uint32_t *domain, unsigned rows, unsigned parts,
                                             wide_shared &shared) const {
        const unsigned last = end(a, rows, parts);
        unsigned most = 0;
#pragma unroll
        for (unsigned i = 0; i < HELD; i++)
#pragma unroll
            for (unsigned k = 0; k < 4; k++) most = max(most, to_bits(at[i][k]) & 0x7fffffffu);
#pragma unroll 1
        for (unsigned e = 4 * (part + parts * HELD); e < last; e += 4 * parts) {
            float more[4];
            read(a, domain, last, e, more);
#pragma unroll
            for (unsigned k = 0; k < 4; k++) most = max(most, to_bits(more[k]) & 0x7fffffffu);
        }
        most = warp_max(most);
        if (threadIdx.x % 32 == 0) shared.peak[threadIdx.x / 32] = most;
        __syncthreads();
        return wide_peak(shared.peak);
    }

    static __device__ __forceinline__ uint4 split(const float (&x)[4], float scale) {
        uint4 word;
        word.x = to_halves(scale * x[0], scale * x[1]);
        word.y = to_halves(scale * x[2], scale * x[3]);
        const float2 one = from_halves(word.x), two = from_halves(word.y);
        word.z = to_halves(__fmaf_rn(scale, x[0], -one.x), __fmaf_rn(scale, x[1], -one.y));
        word.w = to_halves(__fmaf_rn(scale, x[2], -two.x), __fmaf_rn(scale, x[3], -two.y));
        return word;
    }

    // As numbers of half precision, in other units.
    __device__ __forceinline__ void store(const pair_args &a, const uint32_t *domain, unsigned rows, unsigned parts,
                                          unsigned places, float scale, uint4 *words) const {
        const unsigned groups = 4 * wide_room::steps(rows);
        if (part >= parts) return;
#pragma unroll
        for (unsigned i = 0; i < HELD; i++) {
            const unsigned j = part + parts * i;
            if (j < groups) words[wide_room::word(places, j / 4, l, j % 4)] = split(at[i], scale);
        }
#pragma unroll 1
        for (unsigned j = part + parts * HELD; j < groups; j += parts) {
            float more[4];
            read(a, domain, end(a, rows, parts), 4 * j, more);
            words[wide_room::word(places, j / 4, l, j % 4)] = split(more, scale);
        }
    }

    // As they are, one row after the other.
    __device__ __forceinline__ void store_plain(const pair_args &a, const uint32_t *domain, unsigned rows,
                                                unsigned parts, unsigned places, float *to) const {
        const unsigned n = (unsigned)a.n;
        if (part >= parts) return;
#pragma unroll 4
        for (unsigned e = part; e < rows; e += parts)
            to[e * places + l] = l < n ? *at_row(a, domain[e]) : nowhere<float>(l);
    }
};

// ---- distances ------------------------------------------------------------------------------------------------------

#if __CUDA_ARCH__ >= 800
static __device__ __forceinline__ void wide_multiply(float *v, const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(v[0]), "+f"(v[1]), "+f"(v[2]), "+f"(v[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#else // never launched
static __device__ __forceinline__ void wide_multiply(float *, const unsigned (&)[4], unsigned, unsigned) {}
#endif

// Halves of squared distances, in units of the words. Returns the largest |y|^2 / 2.
template <int TILES>
static __device__ __forceinline__ float wide_products(const uint4 *words, unsigned steps, const wide_lane<TILES> &has,
                                                      wide_shared &shared, float (&v)[4 * TILES]) {
    const unsigned lane = threadIdx.x % 32, q = lane % 4, g = lane / 4;
    float cross[4 * TILES];
#pragma unroll
    for (int e = 0; e < 4 * TILES; e++) v[e] = cross[e] = 0;
    const uint4 *at = words + wide_room::word(0, 0, g, q); // 8 particles further, the words are as far apart
    const unsigned down = 4 * (has.row - g), across = 32 * has.tile;
#pragma unroll 1
    for (unsigned s = 0; s < steps; s++, at += 4 * has.places) {
        const uint4 one = at[down], two = at[down + 32];
        const unsigned high[4] = {one.x, two.x, one.y, two.y}, low[4] = {one.z, two.z, one.w, two.w};
#pragma unroll
        for (int t = 0; t < TILES; t++) {
            if (!has.has(t)) break;
            const uint4 of = at[across + 32 * t];
            wide_multiply(&v[4 * t], high, of.x, of.y);
            wide_multiply(&cross[4 * t], high, of.z, of.w);
            wide_multiply(&cross[4 * t], low, of.x, of.y);
        }
    }
#pragma unroll
    for (int e = 0; e < 4 * TILES; e++) v[e] = __fadd_rn(v[e], cross[e]);
    if (has.self < 2 && has.crossed < TILES) {
#pragma unroll
        for (unsigned r = 0; r < 2; r++) {
            const unsigned l = has.row + 8 * r;
            shared.half[l] = l < has.n ? 0.5f * has.square(v, r) : TILE_FAR;
        }
    }
    __syncthreads();
    const float here = lane < has.n ? shared.half[lane] : 0, there = lane + 32 < has.n ? shared.half[lane + 32] : 0;
    const float row[2] = {shared.half[has.row], shared.half[has.row + 8]};
#pragma unroll
    for (int t = 0; t < TILES; t++) {
        const float2 of =
            has.has(t) ? *(const float2 *)&shared.half[has.column + 8 * t] : make_float2(TILE_FAR, TILE_FAR);
#pragma unroll
        for (int e = 0; e < 4; e++) v[4 * t + e] = __fadd_rn(__fadd_rn(row[e / 2], e % 2 ? of.y : of.x), -v[4 * t + e]);
    }
    return from_bits(warp_max(max(to_bits(here), to_bits(there))));
}

// Squared distances from differences.
template <int TILES>
static __device__ __forceinline__ void wide_differences(const float *plain, unsigned rows, const wide_lane<TILES> &has,
                                                        float (&v)[4 * TILES]) {
#pragma unroll
    for (int e = 0; e < 4 * TILES; e++) v[e] = 0;
#pragma unroll 2
    for (unsigned k = 0; k < rows; k++) {
        const float *at = plain + k * has.places;
        const float row[2] = {at[has.row], at[has.row + 8]};
#pragma unroll
        for (int t = 0; t < TILES; t++) {
            if (!has.has(t)) break;
            const float2 of = *(const float2 *)&at[has.column + 8 * t];
#pragma unroll
            for (int e = 0; e < 4; e++) v[4 * t + e] = fused_add(row[e / 2] - (e % 2 ? of.y : of.x), v[4 * t + e]);
        }
    }
#pragma unroll
    for (int t = 0; t < TILES; t++)
        if (!has.has(t)) {
#pragma unroll
            for (int e = 0; e < 4; e++) v[4 * t + e] = TILE_FAR;
        }
}
