// Pairs of particles for many_units.cuh: the rows of a domain as products want them, and all distances in the registers of a
// warp. Particles are NT blocks of 8. Lane 4 g + q has of row block r and column block j >= r the row g and the columns
// 2 q and 2 q + 1.

enum {
    MANY_DEPTH = 16, // rows of a domain that a product has
    MANY_UNIT = 2    // the exponent of the largest number of the first of them
};

template <int NT> struct alignas(16) many_room {
    enum {
        PLACES = 8 * NT,
        BLOCKS = (NT + 1) / 2, // of 16 rows
        // strides that keep banks apart
        COLUMNS = NT % 2 ? 4 * NT : 4 * NT + 4,
        ROWS = PLACES + 4,
        STRIDE = NT == 7 ? PLACES : PLACES + 8
    };
    union {
        struct {
            float4 column[8][COLUMNS]; // two sums of each particle, in slots of their own
            float2 row[4][ROWS];
        };
        struct {
            float column_of[8][STRIDE], row_of[4][STRIDE]; // the same of one sum
        };
        struct {
            float half[16 * BLOCKS]; // |y|^2 / 2
            float value[32];         // pairs that are ranked
        };
    };
    float pull[PLACES], push[PLACES];
    double score[PLACES], x[PLACES], first[PLACES], second[PLACES]; // of a member, and the state of its step
    float place[PLACES];
    double lower, upper, guess[3];
    unsigned variable[TILE_MEMBERS]; // the members of this unit
    alignas(16) unit_header head;    // of the next one
    size_t members;                  // where its members begin
};

#if __CUDA_ARCH__ >= 800
// Stores a number in shared memory where a bit is set, and goes on to the next place.
static __device__ __forceinline__ void store_if(unsigned word, unsigned bit, unsigned &to, float x) {
    asm volatile("{.reg .pred p; .reg .u32 t; and.b32 t, %2, %3; setp.ne.u32 p, t, 0; @p st.shared.f32 [%0], %1;"
                 "@p add.u32 %0, %0, 4;}"
                 : "+r"(to)
                 : "f"(x), "r"(word), "r"(bit)
                 : "memory");
}
#else // never launched
static __device__ __forceinline__ void store_if(unsigned, unsigned, unsigned &, float) {}
#endif

// Centred rows: in places of their own, where those that no particle has are 0, or one after the other.
template <int NT, bool PLACED> struct many_source {
    const float *z;
    unsigned n;

    __device__ __forceinline__ many_source(const pair_args &a, const whole_args &w)
        : z(PLACED ? w.placed : (const float *)a.z), n((unsigned)a.n) {}
    __device__ __forceinline__ const float *row(unsigned i, unsigned l) const {
        return (const float *)bytes_on(z + l, i, PLACED ? 4 * quick_stride<NT> : 4 * n);
    }
};

// Four rows of a domain, of the particles 8 b + g of a lane.
template <int NT> struct many_rows {
    enum { FULL = NT == 2 ? 0 : NT == 4 ? 2 : NT == 7 ? 4 : 7 }; // blocks all of whose particles are there, for all n
    float x[NT][4];

    // `mine`: a row of each lane, of 32.
    template <bool PLACED>
    __device__ __forceinline__ void read(const many_source<NT, PLACED> &from, unsigned mine, unsigned first,
                                         unsigned count, unsigned g, unsigned q) {
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            const unsigned row = __shfl_sync(0xffffffffu, mine, first + 4 * q + k);
            const float *at = from.row(row, g);
#pragma unroll
            for (int b = 0; b < NT; b++) x[b][k] = PLACED || b < FULL || 8 * b + g < from.n ? at[8 * b] : 0;
        }
        if (first + MANY_DEPTH <= count) return;
#pragma unroll
        for (unsigned k = 0; k < 4; k++)
#pragma unroll
            for (int b = 0; b < NT; b++)
                if (first + 4 * q + k >= count) x[b][k] = 0;
    }
    // The largest number of the warp, as bits. NaN is the largest.
    __device__ __forceinline__ unsigned peak() const {
        unsigned most = 0;
#pragma unroll
        for (int b = 0; b < NT; b++)
#pragma unroll
            for (int k = 0; k < 4; k++) most = max(most, to_bits(x[b][k]) & 0x7fffffffu);
        return warp_max(most);
    }
};

// The pairs of a lane: tiles of 16 rows and 8 columns on and above the diagonal. Number 2 (j (j + 1) / 2 + r) + c is
// that of row block r, column block j and column c.
template <int NT> struct many_pairs {
    enum {
        BLOCKS = many_room<NT>::BLOCKS,
        TILES = BLOCKS * NT - BLOCKS * (BLOCKS - 1),
        COUNT = NT * (NT + 1),
        WORDS = (COUNT + 31) / 32
    };
    float tile[TILES][4];

    static __device__ __forceinline__ constexpr int tile_of(int m, int j) { return m * NT - m * (m - 1) + j - 2 * m; }
    __device__ __forceinline__ float &at(int r, int j, int c) { return tile[tile_of(r / 2, j)][2 * (r % 2) + c]; }
    __device__ __forceinline__ float at(int r, int j, int c) const { return tile[tile_of(r / 2, j)][2 * (r % 2) + c]; }

    // Row block, column block, column and the distance of each pair.
    template <class What> __device__ __forceinline__ void each(What what) {
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int r = 0; r <= j; r++) what(r, j, 0, at(r, j, 0)), what(r, j, 1, at(r, j, 1));
    }

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int t = 0; t < TILES; t++) tile[t][0] = tile[t][1] = tile[t][2] = tile[t][3] = 0;
    }

    // Products of 16 rows. What stands on both sides of them is in registers of its own on either side: `nothing` is 0,
    // of which the compiler does not know.
    __device__ __forceinline__ void multiply(const many_rows<NT> &rows, float scale, unsigned nothing) {
        unsigned high[BLOCKS][4], low[BLOCKS][4];
#pragma unroll
        for (int b = 0; b < NT; b++)
#pragma unroll
            for (int k = 0; k < 2; k++) {
                const float one = rows.x[b][2 * k], two = rows.x[b][2 * k + 1];
                const unsigned word = to_halves(scale * one, scale * two);
                const float2 h = from_halves(word);
                high[b / 2][2 * k + b % 2] = word;
                low[b / 2][2 * k + b % 2] = to_halves(__fmaf_rn(scale, one, -h.x), __fmaf_rn(scale, two, -h.y));
            }
        if (NT % 2) high[BLOCKS - 1][1] = high[BLOCKS - 1][3] = low[BLOCKS - 1][1] = low[BLOCKS - 1][3] = 0;
#pragma unroll
        for (int j = 0; j < NT; j++) {
            const uint2 h = make_uint2(high[j / 2][j % 2] ^ nothing, high[j / 2][2 + j % 2] ^ nothing),
                        l = make_uint2(low[j / 2][j % 2] ^ nothing, low[j / 2][2 + j % 2] ^ nothing);
#pragma unroll
            for (int m = 0; 2 * m <= j; m++) wide_multiply(tile[tile_of(m, j)], high[m], l.x, l.y);
#pragma unroll
            for (int m = 0; 2 * m <= j; m++) wide_multiply(tile[tile_of(m, j)], low[m], h.x, h.y);
#pragma unroll
            for (int m = 0; 2 * m <= j; m++) wide_multiply(tile[tile_of(m, j)], high[m], h.x, h.y);
        }
    }

    // Products become halves of squared distances. Returns the largest |y|^2 / 2.
    __device__ __forceinline__ float finish(unsigned g, unsigned q, unsigned n, many_room<NT> &room) {
        unsigned most = 0;
        __syncwarp(); // all have read the sums
        if (q == g / 2) {
#pragma unroll
            for (int b = 0; b < NT; b++) {
                const unsigned l = 8 * b + g;
                const float half = 0.5f * (g % 2 ? at(b, b, 1) : at(b, b, 0));
                if (l < n) most = max(most, to_bits(half)); // NaN is the largest
                room.half[l] = l < n ? half : TILE_FAR;
            }
        }
        most = warp_max(most);
        __syncwarp();
        float row[NT];
#pragma unroll
        for (int r = 0; r < NT; r++) row[r] = room.half[8 * r + g];
#pragma unroll
        for (int j = 0; j < NT; j++) {
            const float2 of = *(const float2 *)&room.half[8 * j + 2 * q];
#pragma unroll
            for (int r = 0; r <= j; r++)
#pragma unroll
                for (int c = 0; c < 2; c++) at(r, j, c) = __fadd_rn(__fadd_rn(row[r], c ? of.y : of.x), -at(r, j, c));
        }
        return from_bits(most);
    }

    // Squared distances from differences.
    template <bool PLACED>
    __device__ __forceinline__ void subtract(const many_source<NT, PLACED> &from, const uint32_t *domain, unsigned rows,
                                             unsigned g, unsigned q) {
        const unsigned n = from.n, last = n - 1;
        clear();
#pragma unroll 1
        for (unsigned e = 0; e < rows; e++) {
            const float *x = from.row(domain[e], 0);
            float row[NT];
#pragma unroll
            for (int r = 0; r < NT; r++) row[r] = x[min(8 * r + g, last)];
#pragma unroll
            for (int j = 0; j < NT; j++) {
                const float of[2] = {x[min(8 * j + 2 * q, last)], x[min(8 * j + 2 * q + 1, last)]};
#pragma unroll
                for (int r = 0; r <= j; r++)
#pragma unroll
                    for (int c = 0; c < 2; c++) at(r, j, c) = fused_add(row[r] - of[c], at(r, j, c));
            }
        }
#pragma unroll
        for (int j = many_rows<NT>::FULL; j < NT; j++)
#pragma unroll
            for (int r = 0; r <= j; r++)
#pragma unroll
                for (int c = 0; c < 2; c++)
                    if (8 * j + 2 * q + c >= n) at(r, j, c) = TILE_FAR;
    }
};
